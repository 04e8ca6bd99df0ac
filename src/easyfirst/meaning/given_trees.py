"""The trees that encoders take: of several types, and each with as many vectors as words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from easyfirst.errors import DataError, InputError
from easyfirst.nn.arrays import Ints
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree, check_tree

NO_RELATION = ""


@runtime_checkable
class HasTree(Protocol):
    """A parse."""

    @property
    def tree(self) -> Tree:
        """Its tree."""
        ...


TreeLike: TypeAlias = Tree | HasTree | Sentence | Sequence[int]
"""A tree, a parse, a sentence with heads and relations, or only the heads of the words, counted from 1, 0 for roots."""


def trees_of(given: Iterable[TreeLike]) -> list[Tree]:
    """Return the trees; raise an :class:`InputError` that names the one that cannot be used."""
    if isinstance(given, Tree | HasTree | Sentence | str):
        raise InputError(f"expected a list of trees, got {type(given).__name__}; put a single tree into a list")
    return [_tree(item, number) for number, item in enumerate(given, 1)]


def _tree(item: TreeLike, number: int) -> Tree:
    try:
        if isinstance(item, Tree):
            return item
        if isinstance(item, HasTree):
            return item.tree
        if isinstance(item, Sentence):
            return check_tree(item)
        heads = tuple(map(int, item))
        return Tree(heads, (NO_RELATION,) * len(heads))
    except (InputError, DataError) as error:
        raise InputError(f"tree {number}: {error}") from None
    except (TypeError, ValueError):
        kinds = "a Tree, a Parse, a Sentence with heads, or a list of heads"
        raise InputError(f"tree {number} is {item!r}; give {kinds}") from None


def check_vectors(shape: Sequence[int], of_trees: Sequence[Tree], vector_dim: int) -> None:
    """Raise an :class:`InputError` unless there is a vector of this width for every word."""
    n_words = sum(map(len, of_trees))
    if tuple(shape) != (n_words, vector_dim):
        raise InputError(
            f"the vectors have the shape {tuple(shape)}; {len(of_trees)} trees of {n_words} words in all need "
            f"{(n_words, vector_dim)}, the vectors of all words one after the other"
        )


def root_rows(given: Iterable[TreeLike]) -> Ints:
    """Return the row of each tree's root among the words of all trees. A tree without words raises an
    :class:`InputError`."""
    rows: list[int] = []
    start = 0
    for tree in trees_of(given):
        rows.append(start + tree.root - 1)
        start += len(tree)
    return np.array(rows, dtype=np.int64)
