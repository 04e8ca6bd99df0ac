"""The networks of the tokenizer and the tagger, in NumPy and in the compiled core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.native.backend import Backend
from easyfirst.native.encoder import Encoder
from easyfirst.native.library import Core
from easyfirst.native.matrix import Matrix
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.characters import Spelling, last_states
from easyfirst.nn.lstm import TableReader
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.sequences import Packing
from easyfirst.nn.tagger_network import LEMMAS, TaggerIds, TaggerWeights, encode_tagged, score_outputs
from easyfirst.nn.tokenizer_network import TokenizerWeights, score_boundaries, score_tokens


class TokenizerNetwork(Protocol):
    """What the tokenizer computes. Sequences are concatenated, longest first."""

    def read_characters(self, rows: Ints, lengths: Sequence[int]) -> Floats:
        """Return the states of the first BiLSTM: (n_characters, 2 * hidden_dim)."""
        ...

    def score_boundaries(self, h: Floats) -> Floats:
        """Return the scores of the classes of each character: (n_characters, N_BOUNDARIES)."""
        ...

    def score_tokens(self, vectors: Floats, lengths: Sequence[int]) -> Floats:
        """Return the log-odds of each decision: (n_tokens, N_QUESTIONS)."""
        ...


class NumpyTokenizerNetwork:
    """The tokenizer's network in NumPy."""

    def __init__(self, weights: TokenizerWeights) -> None:
        self._weights = weights
        self._characters = TableReader(weights.characters, weights.character_layers)

    def read_characters(self, rows: Ints, lengths: Sequence[int]) -> Floats:
        with overflow_is_fine():
            return self._characters.read(rows, Packing.of(lengths))

    def score_boundaries(self, h: Floats) -> Floats:
        return score_boundaries(NUMPY, self._weights, h)

    def score_tokens(self, vectors: Floats, lengths: Sequence[int]) -> Floats:
        with overflow_is_fine():
            return score_tokens(NUMPY, self._weights, vectors, Packing.of(lengths))


class NativeTokenizerNetwork:
    """The tokenizer's network in the compiled core."""

    def __init__(self, weights: TokenizerWeights, core: Core, precision: str) -> None:
        characters, tokens = [weights.character_layers], [weights.token_layers]
        width = len(weights.boundary)
        self._characters = Encoder(core, tables=[weights.characters], stacks=characters, precision=precision)
        self._tokens = Encoder(core, width=width, stacks=tokens, precision=precision)
        self._boundary = Matrix(core, weights.boundary, weights.boundary_bias)
        self._question = Matrix(core, weights.question, weights.question_bias)

    def read_characters(self, rows: Ints, lengths: Sequence[int]) -> Floats:
        return self._characters.read(lengths, [rows])

    def score_boundaries(self, h: Floats) -> Floats:
        return self._boundary.product(h)

    def score_tokens(self, vectors: Floats, lengths: Sequence[int]) -> Floats:
        return self._question.product(self._tokens.read(lengths, vectors=vectors))


def tokenizer_network(weights: TokenizerWeights, backend: Backend) -> TokenizerNetwork:
    if backend.core is None:
        return NumpyTokenizerNetwork(weights)
    return NativeTokenizerNetwork(weights, backend.core, backend.precision)


class TaggerNetwork(Protocol):
    """What one member of a tagger computes."""

    def encode(self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling) -> Floats:
        """Return the vector of each word. ``external`` has the external vector of each form, ``spelling`` its
        characters."""
        ...

    def score(self, encoded: Floats) -> Mapping[str, Floats]:
        """Return the scores of each output but the lemmas: (n_words, n_names)."""
        ...

    def score_lemmas(self, encoded: Floats) -> Floats:
        """Return the scores of lemma scripts: (n_words, n_scripts)."""
        ...


class NumpyTaggerNetwork:
    """A member in NumPy."""

    def __init__(self, weights: TaggerWeights) -> None:
        characters = weights.characters
        self._weights = weights
        self._reader = None if characters is None else TableReader(characters.embedding, characters.layers)

    def encode(self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling) -> Floats:
        vectors = None if external is None else external[ids.forms]
        with overflow_is_fine():
            spelt = None
            if self._reader is not None:
                states = self._reader.read(spelling.characters, Packing.of(spelling.lengths.tolist()))
                spelt = last_states(NUMPY, states, spelling)
            return encode_tagged(NUMPY, self._weights, ids, Packing.of(lengths), external=vectors, spelt=spelt)

    def score(self, encoded: Floats) -> Mapping[str, Floats]:
        return score_outputs(NUMPY, self._weights, encoded, [kind for kind in self._weights.outputs if kind != LEMMAS])

    def score_lemmas(self, encoded: Floats) -> Floats:
        return score_outputs(NUMPY, self._weights, encoded, [LEMMAS])[LEMMAS]


class NativeTaggerNetwork:
    """A member in the compiled core."""

    def __init__(self, weights: TaggerWeights, external_dim: int, core: Core, precision: str) -> None:
        tables, characters, stacks = [weights.words], weights.characters, weights.stacks
        self._encoder = Encoder(
            core, tables=tables, form_dim=external_dim, characters=characters, stacks=stacks, precision=precision
        )
        others = {kind: output for kind, output in weights.outputs.items() if kind != LEMMAS}
        outputs, biases = zip(*others.values(), strict=True)
        self._outputs = Matrix(core, np.concatenate(outputs, axis=1), np.concatenate(biases))
        self._ends = dict(zip(others, np.cumsum([len(bias) for bias in biases]).tolist(), strict=True))
        self._lemmas = Matrix(core, *weights.outputs[LEMMAS]) if LEMMAS in weights.outputs else None

    def encode(self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling) -> Floats:
        return self._encoder.read(lengths, [ids.words], forms=ids.forms, form_vectors=external, spelling=spelling)

    def score(self, encoded: Floats) -> Mapping[str, Floats]:
        scores = self._outputs.product(encoded)
        found: dict[str, Floats] = {}
        begin = 0
        for kind, end in self._ends.items():
            found[kind] = scores[:, begin:end]
            begin = end
        return found

    def score_lemmas(self, encoded: Floats) -> Floats:
        if self._lemmas is None:
            raise ModelError("this tagger has no lemmas")
        return self._lemmas.product(encoded)


def tagger_network(weights: TaggerWeights, external_dim: int, backend: Backend) -> TaggerNetwork:
    if backend.core is None:
        return NumpyTaggerNetwork(weights)
    return NativeTaggerNetwork(weights, external_dim, backend.core, backend.precision)
