"""The tokenizer: tokens, sentences and trees are those of the library, and the text is kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy")

import easyfirst.spacy  # noqa: E402
from easyfirst.errors import InputError, ModelError  # noqa: E402
from easyfirst.parser import Parser  # noqa: E402
from tests.integrations.spacy.conftest import TEXTS  # noqa: E402
from tests.integrations.spacy.test_component import rows  # noqa: E402


def blank(**values: Any) -> Any:
    return spacy.blank("en", config={"nlp": {"tokenizer": {"@tokenizers": easyfirst.spacy.TOKENIZER, **values}}})


@pytest.fixture(scope="module")
def nlp() -> Any:
    return blank()


@pytest.mark.parametrize("text", TEXTS)
def test_all_is_that_of_the_library(nlp: Any, parser: Parser, text: str) -> None:
    doc, document = nlp(text), parser(text)
    assert doc.text == text
    assert doc._.easyfirst == document
    sentences = [sent for sent in doc.sents if not sent.text.isspace()]
    assert len(sentences) == len(document)
    for sent, parse in zip(sentences, document, strict=True):
        words = [token for token in sent if not token.is_space]
        assert tuple(word.text for word in words) == parse.sentence.forms
        assert [0 if word.head.i == word.i else words.index(word.head) + 1 for word in words] == list(parse.heads)
        assert [word.dep_.replace("ROOT", "root") for word in words] == list(parse.relations)
        assert [word.tag_ for word in words] == list(parse.tagged.xpos)


def test_without_parsing(nlp: Any) -> None:
    doc = blank(parse=False)(TEXTS[0])
    assert [token.text for token in doc] == [token.text for token in nlp(TEXTS[0])]
    assert [sent.text for sent in doc.sents] == [sent.text for sent in nlp(TEXTS[0]).sents]
    assert not doc.has_annotation("DEP")
    assert doc.user_data == {}


def test_with_the_component(nlp: Any) -> None:
    """The tokenizer cuts the texts, and the component parses them in batches."""
    batches = blank(parse=False)
    batches.add_pipe("easyfirst")
    assert batches.get_pipe("easyfirst").parser is batches.tokenizer.parser
    assert list(map(rows, batches.pipe(TEXTS))) == list(map(rows, nlp.pipe(TEXTS)))


def test_no_parses() -> None:
    doc = blank(keep_parses=False)("The fox jumps.")
    assert doc._.easyfirst is None
    assert doc[1]._.arc_confidence > 0


def test_errors(small: Any) -> None:
    with pytest.raises(InputError, match="the model has no tokenizer"):
        blank(model=str(small))
    with pytest.raises(ModelError, match=r"no model nosuch.* set by nlp.tokenizer.model"):
        blank(model="nosuch")


@given(st.text(st.sampled_from("ab. \n\t'!\u00a0é"), max_size=30))
def test_any_text(text: str) -> None:
    doc = _english()(text)
    assert doc.text == text
    assert "".join(sent.text_with_ws for sent in doc.sents) == text
    assert all(token.is_space == token.text.isspace() for token in doc)


def _english(made: list[Any] = []) -> Any:  # noqa: B006 (one pipeline for all examples)
    if not made:
        made.append(blank(parse=False))
    return made[0]
