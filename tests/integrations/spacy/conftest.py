"""Pipelines for the tests of the spaCy integration. Test modules skip themselves where spaCy is not installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from easyfirst.parser import Parser, load
from easyfirst.text.sentences import TokenizedText
from easyfirst.treebank.raw_text import Token
from tests.morphology import random_tagger
from tests.small_models import small_model, small_tokenizer

TEXTS = [
    "The black fox who really likes green apples didn't jump over the lazy dog. It slept.",
    "",
    " \n ",
    "  Two\n\nparagraphs,  and\tspaces ",
    "He's gonna see Dr. Smith at 5 p.m. on Monday! I can't... Why?",
    "fox",
]


class Regex:
    """A tokenizer of words and signs, of which a few are multiword tokens. A full stop ends a sentence."""

    model = small_tokenizer().model  # its letters tell the language of the parser
    rewritten = {"au": ("à", "le"), "dámelo": ("da", "me", "lo"), "don't": ("do", "n't")}  # noqa: RUF012

    def tokenize_texts(self, texts: Sequence[str], **_: Any) -> list[TokenizedText]:
        return [TokenizedText(text, tuple(self._sentences(text))) for text in texts]

    def _sentences(self, text: str) -> list[tuple[Token, ...]]:
        sentences: list[list[Token]] = [[]]
        for match in re.finditer(r"[\w']+|[^\w\s]", text):
            words = self.rewritten.get(match[0], (match[0],))
            sentences[-1].append(Token(match.start(), match.end(), words))
            sentences += [[]] if match[0] == "." else []
        return [tuple(sentence) for sentence in sentences if sentence]


@pytest.fixture(scope="session")
def parser() -> Parser:
    return load("en")


@pytest.fixture(scope="session")
def nlp() -> Any:
    """A pipeline with the component and the bundled model."""
    import spacy

    import easyfirst.spacy  # noqa: F401 (the entry points are those of an installed package)

    nlp = spacy.blank("en")
    nlp.add_pipe("easyfirst")
    return nlp


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with a tagger that predicts all columns, and without a tokenizer."""
    from easyfirst.text.tagging import Tagger

    path = tmp_path_factory.mktemp("models") / "small"
    Parser(small_model("upos"), tagger=Tagger(random_tagger())).save(path)
    return path


@pytest.fixture
def pipeline(small: Path) -> Callable[..., Any]:
    """Make a pipeline with the small model and the regular tokenizer."""
    import spacy

    import easyfirst.spacy  # noqa: F401

    def make(lang: str = "en", **config: Any) -> Any:
        nlp = spacy.blank(lang)
        component = nlp.add_pipe("easyfirst", config={"model": str(small), **config})
        component.parser = Parser(component.parser.model, tagger=component.parser.tagger, tokenizer=Regex())  # type: ignore[arg-type]
        return nlp

    return make
