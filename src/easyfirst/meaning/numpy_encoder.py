"""The tree encoder for inference, in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

import numpy as np
import numpy.typing as npt

from easyfirst.meaning.encoder_model import EncoderConfig, EncoderModel, HasModel, describe, relation_table, weights_of
from easyfirst.meaning.given_trees import TreeLike, check_vectors, root_rows, trees_of
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.tree_levels import OUTWARD, TreePlan
from easyfirst.nn.trees import TreeWeights
from easyfirst.treebank.tree import Tree


class Described:
    """The facts about a tree encoder that its NumPy and its PyTorch form share."""

    _contents: EncoderModel

    @property
    def config(self) -> EncoderConfig:
        return self._contents.config

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations it reads; none if it does not read relations."""
        return self._contents.relations

    @property
    def dim(self) -> int:
        """The width of the vectors of subtrees."""
        return self.config.node_dim

    @staticmethod
    def roots(trees: Iterable[TreeLike]) -> Ints:
        """Return the rows of the roots in the result for these trees."""
        return root_rows(trees)


class NumpyTreeEncoder(Described):
    """Encodes every subtree of trees as a vector, without PyTorch.

    It computes what :class:`easyfirst.TreeEncoder` does, and loads the same files:

    >>> encoder = easyfirst.NumpyTreeEncoder.load("my-encoder")  # doctest: +SKIP
    >>> vectors = encoder(trees, word_vectors)  # doctest: +SKIP
    """

    def __init__(self, model: EncoderModel) -> None:
        """Make an encoder of the contents of a directory. Usually :meth:`load` or :meth:`of_parser` does it."""
        self._contents = model
        self._weights = weights_of(model.arrays, model.config.rnn)

    def __repr__(self) -> str:
        return f"NumpyTreeEncoder({describe(self.config, self.relations)})"

    @classmethod
    def of_parser(cls, parser: HasModel, *, order: str = OUTWARD) -> NumpyTreeEncoder:
        """Return the encoder of a parser, as :meth:`easyfirst.TreeEncoder.of_parser` does."""
        return cls(EncoderModel.of_parser(parser, order=order))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> NumpyTreeEncoder:
        """Read an encoder from a directory."""
        return cls(EncoderModel.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the encoder to a directory, from which :meth:`load` restores it."""
        self._contents.save(path)

    @property
    def model(self) -> EncoderModel:
        """The contents of the directory."""
        return self._contents

    def __call__(self, trees: Iterable[TreeLike], vectors: npt.ArrayLike) -> Floats:
        """Return the vector of every subtree: (n_words, dim).

        ``vectors`` has the vectors of the words of all trees, one after the other: (n_words, vector_dim). The row of a
        word in the result is the encoding of the subtree whose head it is.
        """
        found, given = trees_of(trees), np.asarray(vectors, dtype=np.float32)
        check_vectors(given.shape, found, self.config.vector_dim)
        return encode_trees(self._weights, self.config.order, found, self._contents.relation_rows(found), given)


def encode_trees(
    weights: TreeWeights, order: str, of_trees: Sequence[Tree], relations: Ints, vectors: Floats
) -> Floats:
    """Return c of every subtree: (n_words, node_dim). ``relations``: rows of :func:`relation_table`."""
    plan = TreePlan.of([tree.heads for tree in of_trees], order)
    with overflow_is_fine():
        inputs = np.concatenate([vectors, relation_table(NUMPY, weights)])[plan.input_rows(relations)]
        width = weights.cell.n_parts * sum(layer.dim for layer in weights.layers)
        pool = np.zeros((len(inputs) + 1, width), dtype=vectors.dtype)
        for level in plan.levels:
            above = slice(1 + level.rows.start, 1 + level.rows.stop)
            pool[above] = level.climb(NUMPY, weights, pool, inputs)
    return pool[:, -weights.output_dim :][plan.last].reshape(len(vectors), weights.node_dim)
