"""The subtrees of parsed sentences as a parser's own network encodes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from easyfirst.errors import InputError
from easyfirst.meaning.encoder_model import EncoderModel, weights_of
from easyfirst.meaning.numpy_encoder import encode_trees
from easyfirst.model.parser_store import ParserModel
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import split_members
from easyfirst.nn.parser_network import Network, networks_of
from easyfirst.nn.sequences import longest_first
from easyfirst.nn.tree_levels import OUTWARD
from easyfirst.nn.trees import TreeWeights
from easyfirst.parsing.engine import encode_sentences
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree

MAX_ROWS = 2048  # the words that are encoded at once


class HasVectors(Protocol):
    """A parse."""

    @property
    def tagged(self) -> Sentence:
        """Its sentence, with the tags it was parsed with."""
        ...

    @property
    def tree(self) -> Tree:
        """Its tree."""
        ...

    @property
    def encoder(self) -> SubtreeEncoder | None:
        """The encoder of its parser."""
        ...


class SubtreeEncoder:
    """Encodes words and subtrees with the weights of a parser. Making one takes no time; the first use does."""

    def __init__(self, model: ParserModel) -> None:
        self._model = model

    @cached_property
    def _networks(self) -> list[Network]:
        return networks_of(self._model.arrays, self._model.config.members, rnn=self._model.config.network.rnn)

    @cached_property
    def _encoders(self) -> list[tuple[EncoderModel, TreeWeights]]:
        """The tree encoder of each member of an ensemble; none if the network has no tree layers."""
        if not self._model.config.network.tree_layers:
            return []
        models = [
            EncoderModel.of_arrays(self._model.config.network, self._model.vocabulary.labels, member)
            for member in split_members(self._model.arrays, self._model.config.members)
        ]
        return [(model, weights_of(model.arrays, model.config.rnn)) for model in models]

    @property
    def dim(self) -> int:
        """The width of the vectors of subtrees."""
        return sum(2 * network.trees.output_dim for network in self._networks)

    def __call__(self, parses: Sequence[HasVectors]) -> list[Floats]:
        """Return :attr:`Parse.vectors` of many parses, which is faster than one by one."""
        return self.subtrees([parse.tagged for parse in parses], [parse.tree for parse in parses])

    def words(self, sentences: Sequence[Sentence]) -> list[Floats]:
        """Return the vectors v_i of the words of each sentence, which must have the tags that the parser reads."""
        found: dict[int, Floats] = {}
        for batch, vectors in self._batches(sentences):
            found.update(zip(batch, vectors, strict=True))
        return [found[number] for number in range(len(sentences))]

    def subtrees(self, sentences: Sequence[Sentence], trees: Sequence[Tree]) -> list[Floats]:
        """Return the vector of the subtree of every word, for each sentence: (n_words, dim). Those of an ensemble's
        members are side by side. Without tree layers, they are those of the words."""
        found: dict[int, Floats] = {}
        for batch, vectors in self._batches(sentences):
            encoded = self._encode([trees[number] for number in batch], np.concatenate(vectors))
            bounds = np.cumsum([len(of_sentence) for of_sentence in vectors])[:-1]
            found.update(zip(batch, np.split(encoded, bounds), strict=True))
        return [found[number] for number in range(len(sentences))]

    def _batches(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], list[Floats]]]:
        lengths = [len(sentence) for sentence in sentences]
        for batch in longest_first(lengths, max_rows=MAX_ROWS):
            vectors = encode_sentences(self._model.vocabulary, self._networks, [sentences[number] for number in batch])
            yield batch, np.split(vectors, np.cumsum([lengths[number] for number in batch])[:-1])

    def _encode(self, trees: Sequence[Tree], vectors: Floats) -> Floats:
        if not self._encoders:
            return vectors
        parts = np.split(vectors, len(self._encoders), axis=1)
        found = [
            encode_trees(weights, OUTWARD, trees, model.relation_rows(trees), part)
            for (model, weights), part in zip(self._encoders, parts, strict=True)
        ]
        return np.concatenate(found, axis=1)


def vectors_of(parse: HasVectors) -> Floats:
    """Return the vectors of a parse; raise an :class:`InputError` if it has no encoder."""
    if parse.encoder is None:
        hint = "a pickled parse has no model; with the parser that made it, use parser.encoder([parse])"
        raise InputError(f"this parse cannot be encoded: {hint}")
    [found] = parse.encoder([parse])
    return found
