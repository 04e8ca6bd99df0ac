"""``Parse.vectors``: the encoding of every subtree by the parser that made the parse."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from easyfirst.errors import InputError
from easyfirst.meaning import subtrees
from easyfirst.meaning.numpy_encoder import NumpyTreeEncoder
from easyfirst.parser import Parser, combine
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.parsing.small_parsers import DATA, engine_of, small_parser
from tests.twins import Twin

SENTENCES = list(read_conllu(DATA / "multiword.conllu"))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return small_parser()


def twin_vectors(parser: Parser, parse: Any) -> np.ndarray:
    """c of every subtree by the recursive definition, from the vectors of the words."""
    twin = Twin(parser.model.arrays, rnn="lstm")
    rows = {relation: row for row, relation in enumerate(parser.model.vocabulary.relations)}
    relations = [rows.get(relation, 0) for relation in parse.relations]
    words = list(engine_of(parser).encode([parse.tagged]).astype(np.float64))
    return np.stack([twin.c_of_tree(t, words, parse.heads, relations) for t in range(1, len(parse) + 1)])


def test_they_are_those_of_the_recursive_definition(parser: Parser) -> None:
    for parse in parser.parse(SENTENCES):
        assert parse.vectors.shape == (len(parse), parser.encoder.dim) == (len(parse), 10)
        np.testing.assert_allclose(parse.vectors, twin_vectors(parser, parse), atol=1e-5)


def test_many_parses_at_once_are_encoded_like_each_alone(parser: Parser) -> None:
    parses = parser.parse([*SENTENCES, *SENTENCES[::-1]])
    with patch.object(subtrees, "MAX_ROWS", 20):
        found = parser.encoder(parses)
    for parse, vectors in zip(parses, found, strict=True):
        np.testing.assert_allclose(vectors, parse.vectors, atol=1e-6)
    assert parser.encoder([]) == []


def test_the_tree_counts_and_not_the_derivation(parser: Parser) -> None:
    [parse] = parser.parse(SENTENCES[:1])
    changed = replace(parse, heads=(3, 3, 0, 3, 3, 3))
    assert not np.allclose(changed.vectors, parse.vectors)
    encoder = NumpyTreeEncoder.of_parser(parser)
    [words] = parser.encoder.words([parse.tagged])
    np.testing.assert_allclose(changed.vectors, encoder([changed], words), atol=1e-6)


def test_a_model_without_tree_layers_has_the_vectors_of_the_words() -> None:
    parser = small_parser(name="bottom-up")
    [parse] = parser.parse(SENTENCES[:1])
    np.testing.assert_array_equal(parse.vectors, parser.encoder.words([parse.tagged])[0])


def test_the_vectors_of_an_ensemble_are_side_by_side(tmp_path: Path) -> None:
    members = [small_parser(seed=seed) for seed in (1, 2)]
    for name, member in zip("ab", members, strict=True):
        member.save(tmp_path / name)
    both = combine(tmp_path / "a", tmp_path / "b", valid=False)
    [parse] = both.parse(SENTENCES[:1])
    alone = [member.encoder.subtrees([parse.tagged], [parse.tree])[0] for member in members]
    np.testing.assert_allclose(parse.vectors, np.concatenate(alone, axis=1), atol=1e-6)


def test_parsing_does_not_compute_them(parser: Parser) -> None:
    with patch.object(subtrees, "encode_sentences", side_effect=AssertionError("computed")):
        [parse] = parser.parse(SENTENCES[:1])
        with pytest.raises(AssertionError, match="computed"):
            _ = parse.vectors


def test_a_pickled_parse_has_no_model(parser: Parser) -> None:
    [parse] = parser.parse(SENTENCES[:1])
    restored = pickle.loads(pickle.dumps(parse))
    assert restored == parse
    with pytest.raises(InputError, match=r"use parser\.encoder\(\[parse\]\)"):
        _ = restored.vectors
    np.testing.assert_array_equal(parser.encoder([restored])[0], parse.vectors)


def test_a_single_word(parser: Parser) -> None:
    [parse] = parser.parse([Sentence.from_words(["salt"], upos=["VERB"])])
    np.testing.assert_allclose(parse.vectors, twin_vectors(parser, parse), atol=1e-5)
