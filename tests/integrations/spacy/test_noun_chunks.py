"""Noun chunks in Universal Dependencies trees."""

from __future__ import annotations

from typing import Any

import pytest

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc  # noqa: E402

from easyfirst.parser import Parser  # noqa: E402
from easyfirst.results.spacy_docs.noun_chunks import NounChunks, noun_chunks_for  # noqa: E402


def chunks(doc: Any) -> list[str]:
    return [chunk.text for chunk in doc.noun_chunks]


def tree(nlp: Any, *rows: str) -> Any:
    """Make a Doc of rows such as ``fox NOUN 3 nsubj``."""
    words, pos, heads, deps = zip(*(row.split() for row in rows), strict=True)
    numbers = [int(head) - 1 for head in heads]
    return Doc(nlp.vocab, words=words, pos=pos, heads=numbers, deps=deps)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The black fox who likes green apples jumped over the lazy dog.",
            ["The black fox", "who", "green apples", "the lazy dog"],
        ),
        ("Barack Obama met the king of France.", ["Barack Obama", "the king", "France"]),
        ("She is a doctor in my father's old hospital.", ["She", "a doctor", "my father's old hospital"]),
        ("Apples and two ripe pears were eaten by us.", ["Apples", "two ripe pears", "us"]),
    ],
)
def test_english(nlp: Any, text: str, expected: list[str]) -> None:
    assert chunks(nlp(text)) == expected


def test_what_spacy_alone_would_find(nlp: Any) -> None:
    """The reason for an iterator of our own: with UD, spaCy misses objects, and takes prepositions as parts."""
    original = spacy.blank("en").vocab.get_noun_chunks
    doc = nlp("The fox likes apples from the garden.")
    assert [doc[start:end].text for start, end, _ in original(doc)] == ["The fox"]
    assert chunks(doc) == ["The fox", "apples", "the garden"]


def test_trees_of_other_schemes(nlp: Any) -> None:
    doc = tree(nlp, "fox NOUN 2 nsubj", "sat VERB 2 ROOT", "on ADP 2 prep", "the DET 5 det", "mat NOUN 3 pobj")
    assert chunks(doc) == ["fox", "the mat"]


def test_parts_of_a_chunk(nlp: Any) -> None:
    """Conjoined compounds are one chunk, and punctuation is inside only between parts."""
    doc = tree(
        nlp,
        *("( PUNCT 7 punct", "sales NOUN 6 compound", "and CCONJ 4 cc", "marketing NOUN 2 conj", "- PUNCT 6 punct"),
        *("team NOUN 7 nsubj", "slept VERB 7 ROOT"),
    )
    assert chunks(doc) == ["sales and marketing - team"]


def test_a_span(nlp: Any) -> None:
    doc = nlp("The fox sleeps. The dog eats green apples.")
    assert [chunk.text for chunk in list(doc.sents)[1].noun_chunks] == ["The dog", "green apples"]


def test_no_tree(nlp: Any) -> None:
    with pytest.raises(ValueError, match="need a dependency tree"):
        list(Doc(nlp.vocab, words=["a", "b"]).noun_chunks)


def test_converted_docs(parser: Parser) -> None:
    """A Doc has chunks even if its vocabulary has no iterator, and the vocabulary is not changed."""
    vocab = spacy.blank("en").vocab
    assert chunks(parser("The fox likes apples.").to_spacy(vocab)) == ["The fox", "apples"]
    assert not isinstance(vocab.get_noun_chunks, NounChunks)
    assert chunks(parser("The fox likes apples.").to_spacy(spacy.blank("xx").vocab)) == ["The fox", "apples"]


def test_a_component_of_another_pipeline(nlp: Any) -> None:
    other = spacy.blank("en")
    other.add_pipe("easyfirst", source=nlp)
    assert chunks(other("The fox likes apples.")) == ["The fox", "apples"]


def test_languages_with_ud_in_spacy() -> None:
    vocab = spacy.blank("fr").vocab
    assert noun_chunks_for(vocab) is vocab.get_noun_chunks
    vocab = spacy.blank("en").vocab
    vocab.get_noun_chunks = noun_chunks_for(vocab)
    assert noun_chunks_for(vocab) is vocab.get_noun_chunks
