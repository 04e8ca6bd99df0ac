"""Contextual vectors of words: the core reads them as NumPy does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import initial_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.backend import Backend
from easyfirst.native.encoder import Encoder, Given
from easyfirst.native.library import Core
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.engine import NumpyEngine
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.treebank.conllu import read_conllu
from tests.parsing.small_parsers import DATA, FORMS, SMALL, tagged

DIM = 7


class ByForm:
    """Stands in for a transformer: vectors that depend on the word, its position and its sentence."""

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        seeds = [[crc32(word.encode()), place, len(words)] for words in sentences for place, word in enumerate(words)]
        return np.array([np.random.default_rng(seed).normal(size=DIM) for seed in seeds], dtype=np.float32)


@pytest.mark.parametrize("spelling_dim", [0, 5])
@pytest.mark.parametrize("layers", [0, 2])
def test_the_core_and_numpy(core: Core, spelling_dim: int, layers: int) -> None:
    network = {**SMALL, "spelling_dim": spelling_dim, "bilstm_layers": layers}
    config = preset("paper", network=network)
    sentences = list(read_conllu(DATA / "multiword.conllu"))
    plain = ParserVocabulary.of(sentences, tag_kinds=("upos",), reads_characters=spelling_dim > 0)
    arrays = initial_parser(config.network, sizes_of(plain, None, DIM), np.random.default_rng(1))
    weights = network_of(arrays, rnn="lstm").words
    assert weights.contextual_dim == DIM
    vocabulary = replace(plain, reader=ByForm())
    given = [tagged(FORMS), tagged(FORMS[::-1]), tagged(["zebra", "the", "salt", "the"]), tagged(["soup"])]
    lengths = [len(sentence) for sentence in given]
    ids = vocabulary.encode(given)
    expected = encode_words(NUMPY, weights, ids, Packing.of(lengths))
    found = Encoder.of_words(core, weights, "float32")
    words = Given.of_words(lengths, ids)
    found.check(words)
    with pytest.raises(ValueError, match="do not have the inputs"):
        found.check(Given.of_words(lengths, plain.encode(given)))
    numpy_engine = NumpyEngine.of(arrays, config, vocabulary)
    native_engine = make_engine(arrays, config, vocabulary, Backend(core, "float32"))
    np.testing.assert_allclose(numpy_engine.encode(given), expected)
    for one, other in zip(numpy_engine.derive(given), native_engine.derive(given), strict=True):
        assert one.heads.tolist() == other.heads.tolist()
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)
    changed = replace(ids, contextual=2 * ids.contextual)
    assert not np.allclose(expected, encode_words(NUMPY, weights, changed, Packing.of(lengths)))
