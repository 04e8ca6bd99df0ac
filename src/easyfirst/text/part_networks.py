"""The networks of the tokenizer and the tagger, in NumPy and in the compiled core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.native.backend import Backend
from easyfirst.native.encoder import Encoder, Given
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
    """What a tagger computes. The scores of an ensemble are the means of its members' scores, which rank like the
    products of their probabilities."""

    def encode(
        self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling
    ) -> list[Floats]:
        """Return each member's vectors of the words. ``external`` has the external vector of each form, ``spelling``
        its characters."""
        ...

    def score(self, encoded: Sequence[Floats]) -> Mapping[str, Floats]:
        """Return the scores of each output but the lemmas, given each member's vectors: (n_words, n_names)."""
        ...

    def score_lemmas(self, encoded: Sequence[Floats]) -> Floats:
        """Return the scores of lemma scripts: (n_words, n_scripts)."""
        ...


class NumpyTaggerNetwork:
    """A tagger in NumPy."""

    def __init__(self, members: Sequence[TaggerWeights]) -> None:
        self._members = members
        spelling = (weights.characters for weights in members)
        self._readers = [None if each is None else TableReader(each.embedding, each.layers) for each in spelling]

    def encode(
        self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling
    ) -> list[Floats]:
        vectors = None if external is None else external[ids.forms]
        packing, encoded = Packing.of(lengths), list[Floats]()
        with overflow_is_fine():
            for weights, reader in zip(self._members, self._readers, strict=True):
                spelt = None
                if reader is not None:
                    states = reader.read(spelling.characters, Packing.of(spelling.lengths.tolist()))
                    spelt = last_states(NUMPY, states, spelling)
                encoded.append(encode_tagged(NUMPY, weights, ids, packing, external=vectors, spelt=spelt))
        return encoded

    def score(self, encoded: Sequence[Floats]) -> Mapping[str, Floats]:
        return self._scores(encoded, [kind for kind in self._members[0].outputs if kind != LEMMAS])

    def score_lemmas(self, encoded: Sequence[Floats]) -> Floats:
        return self._scores(encoded, [LEMMAS])[LEMMAS]

    def _scores(self, encoded: Sequence[Floats], kinds: Sequence[str]) -> dict[str, Floats]:
        members = zip(self._members, encoded, strict=True)
        scores = [score_outputs(NUMPY, weights, of_member, kinds) for weights, of_member in members]
        return {kind: _mean([of_member[kind] for of_member in scores]) for kind in kinds}


class NativeTaggerNetwork:
    """A tagger in the compiled core."""

    def __init__(self, members: Sequence[TaggerWeights], external_dim: int, core: Core, precision: str) -> None:
        self._encoders = [
            Encoder(
                core,
                tables=[weights.words],
                form_dim=external_dim,
                characters=weights.characters,
                stacks=weights.stacks,
                precision=precision,
            )
            for weights in members
        ]
        kinds = [kind for kind in members[0].outputs if kind != LEMMAS]
        outputs = [list(zip(*(weights.outputs[kind] for kind in kinds), strict=True)) for weights in members]
        self._outputs = [Matrix(core, np.concatenate(w, axis=1), np.concatenate(bias)) for w, bias in outputs]
        ends = np.cumsum([len(bias) for bias in outputs[0][1]]).tolist()
        self._places = dict(zip(kinds, map(slice, [0, *ends[:-1]], ends), strict=True))
        has_lemmas = LEMMAS in members[0].outputs
        self._lemmas = [Matrix(core, *weights.outputs[LEMMAS]) for weights in members] if has_lemmas else []

    def encode(
        self, ids: TaggerIds, lengths: Sequence[int], external: Floats | None, spelling: Spelling
    ) -> list[Floats]:
        given = Given.of(lengths, [ids.words], forms=ids.forms, form_vectors=external, spelling=spelling)
        return [encoder.read_given(given) for encoder in self._encoders]

    def score(self, encoded: Sequence[Floats]) -> Mapping[str, Floats]:
        scores = _mean(_products(self._outputs, encoded))
        return {kind: scores[:, place] for kind, place in self._places.items()}

    def score_lemmas(self, encoded: Sequence[Floats]) -> Floats:
        if not self._lemmas:
            raise ModelError("this tagger has no lemmas")
        return _mean(_products(self._lemmas, encoded))


def tagger_network(members: Sequence[TaggerWeights], external_dim: int, backend: Backend) -> TaggerNetwork:
    """Make the network of a tagger with one member or several."""
    if backend.core is None:
        return NumpyTaggerNetwork(members)
    return NativeTaggerNetwork(members, external_dim, backend.core, backend.precision)


def _products(matrices: Sequence[Matrix], encoded: Sequence[Floats]) -> list[Floats]:
    return [matrix.product(of_member) for matrix, of_member in zip(matrices, encoded, strict=True)]


def _mean(scores: Sequence[Floats]) -> Floats:
    """Return the mean of the members' scores."""
    total = scores[0]
    for of_member in scores[1:]:
        total = total + of_member
    return total if len(scores) == 1 else total / len(scores)
