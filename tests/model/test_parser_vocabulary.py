"""Words, tags and relations become row numbers, and the tables survive being written down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import ModelError
from easyfirst.model.lexicon import NUMBER, normalise
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.sentence import Sentence


@pytest.mark.parametrize("form", ["1990", "3.14", "1,000", "-5", "+5", "12:30", "1/2", "2016-05-01", "1,000.50"])
def test_numbers_become_one_token(form: str) -> None:
    assert normalise(form) == NUMBER


@pytest.mark.parametrize("form", ["3rd", "1990s", "$5", "5%", "1.", ".5", "-", "1,", "1 000", "5\n", "²", "", "v1.2"])
def test_what_is_not_a_number_as_a_whole_stays_itself(form: str) -> None:
    assert normalise(form) == form


def test_words_are_lower_cased() -> None:
    assert normalise("ÉCOLE") == "école"


def test_rows_go_by_frequency_then_by_name(sentences: list[Sentence]) -> None:
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=["upos"])
    assert list(vocabulary.words) == ["fox", "10\u00a0000", NUMBER, "ate", "the", "🦊"]
    assert list(vocabulary.words.values()) == [1, 2, 3, 4, 5, 6]
    assert vocabulary.counts.tolist() == [0, 2, 1, 1, 1, 1, 1]
    assert vocabulary.tags == {"upos": {"NOUN": 1, "NUM": 2, "DET": 3, "SYM": 4, "VERB": 5}}


def test_the_roots_relation_is_kept_apart(sentences: list[Sentence]) -> None:
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=[])
    assert vocabulary.relations == ("det", "flat", "nsubj", "nummod", "obj")
    assert vocabulary.root_relation == "root"


def test_what_is_not_known_in_full_is_no_relation() -> None:
    sentence = Sentence.from_words(["a", "b", "c"], heads=[2, 0, None], relations=[None, None, "x"])
    vocabulary = ParserVocabulary.of([sentence], tag_kinds=[])
    assert (vocabulary.relations, vocabulary.root_relation) == ((), "root")


def test_no_sentences_make_an_empty_vocabulary() -> None:
    vocabulary = ParserVocabulary.of([], tag_kinds=["upos"])
    assert (len(vocabulary.words), vocabulary.relations, vocabulary.root_relation) == (0, (), "root")


def test_sentences_are_encoded_one_after_the_other(sentences: list[Sentence]) -> None:
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=["upos", "xpos"])
    new = Sentence.from_words(["FOX", "dog", "77"], upos=["NOUN", "X", "NUM"], xpos=["NN", "CD", "?"])
    ids = vocabulary.encode([new, sentences[1]])
    assert ids.words.tolist() == [1, 0, 3, 1]
    assert [tags.tolist() for tags in ids.tags] == [[1, 0, 2, 1], [2, 1, 0, 2]]
    assert ids.external is None


def test_external_vectors_are_looked_up_as_written_then_normalised(sentences: list[Sentence]) -> None:
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=[], external=["US", "us", "fox", "<number>", "1990"])
    ids = vocabulary.encode([Sentence.from_words(["US", "us", "Us", "FOX", "1990", "1991", "dog"])])
    assert ids.external is not None
    assert ids.external.tolist() == [1, 2, 2, 3, 5, 4, 0]
    assert ids.tags == ()


names = st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True)


@given(
    words=names, upos=names, relations=names.filter(bool), root=st.text(), external=st.none() | names, data=st.data()
)
def test_a_vocabulary_survives_json(
    words: list[str], upos: list[str], relations: list[str], root: str, external: list[str] | None, data: st.DataObject
) -> None:
    counts = data.draw(st.lists(st.integers(0, 2**62), min_size=len(words), max_size=len(words)))
    values = {
        "words": words,
        "counts": counts,
        "tags": {"upos": upos, "xpos": []},
        "relations": relations,
        "root_relation": root,
        "external": external,
    }
    vocabulary = ParserVocabulary.from_dict(json.loads(json.dumps(values)))
    assert vocabulary.to_dict() == values
    assert list(vocabulary.to_dict()["tags"]) == ["upos", "xpos"]
    assert vocabulary.words == {word: row for row, word in enumerate(words, 1)}


@pytest.mark.parametrize("external", [None, ["x", "10\u00a0000", "\u2028", '"', "אבא"]])
def test_a_vocabulary_of_odd_words_survives_json(sentences: list[Sentence], external: list[str] | None) -> None:
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=["upos", "xpos"], external=external)
    again = ParserVocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again.to_dict() == vocabulary.to_dict()
    assert again.counts.dtype == vocabulary.counts.dtype
    assert again.encode(sentences).words.tolist() == vocabulary.encode(sentences).words.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": ["a", "a"]}, "words must be different from each other"),
        ({"words": ["a", 1]}, "words must be a list of strings"),
        ({"words": "ab"}, "words must be a list of strings"),
        ({"words": ["a", ["b"]]}, "words must be a list of strings"),
        ({"counts": [1]}, "there must be as many counts as words"),
        ({"counts": [1, -1]}, "none of them negative"),
        ({"counts": [1, 1.5]}, "counts must be a list of whole numbers"),
        ({"counts": [1, "2"]}, "counts must be a list of whole numbers"),
        ({"counts": None}, "counts must be a list of whole numbers"),
        ({"counts": [1, 10**30]}, "too large|too big"),
        ({"tags": ["NOUN"]}, "tags must be an object"),
        ({"tags": {"upos": None}}, "upos must be a list of strings"),
        ({"relations": None}, "relations must be a list of strings"),
        ({"root_relation": None}, "root_relation must be a string"),
        ({"external": 3}, "external must be a list of strings"),
    ],
)
def test_a_damaged_vocabulary_is_refused(change: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {"words": ["a", "b"], "counts": [2, 1], "tags": {"upos": ["X"]}}
    values |= {"relations": ["det"], "root_relation": "root", "external": None}
    ParserVocabulary.from_dict(values)
    with pytest.raises(ModelError, match=f"the vocabulary is damaged.*({message})"):
        ParserVocabulary.from_dict(values | change)


@pytest.mark.parametrize("name", ["words", "counts", "tags", "relations", "root_relation", "external"])
def test_a_missing_part_is_named(name: str) -> None:
    values = ParserVocabulary.of([], tag_kinds=[]).to_dict()
    del values[name]
    with pytest.raises(ModelError, match=f"'{name}' is missing"):
        ParserVocabulary.from_dict(values)


def test_rare_words_can_be_left_out() -> None:
    sentences = [Sentence.from_words(["The", "fox"]), Sentence.from_words(["the", "dog"])]
    vocabulary = ParserVocabulary.of(sentences, tag_kinds=[], min_count=2)
    assert dict(vocabulary.words) == {"the": 1}
    assert vocabulary.counts.tolist() == [0, 2]
    assert vocabulary.encode(sentences).words.tolist() == [1, 0, 1, 0]
