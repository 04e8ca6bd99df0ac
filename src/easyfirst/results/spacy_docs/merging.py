"""Several words that are one token: the head and the columns of the token.

A token has the head, the relation and the UPOS of its highest word, which is the first if several are equally high. Its
XPOS and its lemma are those of all words, joined, and its features those of all words, united. spaCy merges the words
of its own training data in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from easyfirst.treebank.tree import Tree


class Merged(NamedTuple):
    """A token that consists of words, which are all counted from 0."""

    head: int | None
    """The token of the head; None for the root."""
    top: int
    """The highest word."""
    words: slice


def merge_words(heads: Sequence[int], n_words: Sequence[int]) -> Iterator[Merged]:
    """Yield the tokens of a sentence, given the head of each word, counted from 1, and the number of words of each
    token. The tokens form a tree, because the head of a token's highest word is higher than all words of the token."""
    if set(n_words) == {1}:
        for m, head in enumerate(heads):
            yield Merged(head - 1 if head else None, m, slice(m, m + 1))
        return
    token_of = [token for token, n in enumerate(n_words) for _ in range(n)]
    tree = Tree(tuple(heads), ("",) * len(heads))
    first = 0
    for n in n_words:
        words = range(first, first + n)
        top = first if n == 1 else min(words, key=lambda m: tree.depth(m + 1))
        yield Merged(token_of[heads[top] - 1] if heads[top] else None, top, slice(first, words.stop))
        first = words.stop


def join_cells(separator: str, cells: Sequence[str]) -> str:
    """Join the values of a column; the result is empty if one of them is not given."""
    return "" if "_" in cells else separator.join(cells)


def unite_features(cells: Sequence[str]) -> str:
    """Return the features of all words as one cell; a feature with several values has all of them."""
    if len(cells) == 1:
        return cells[0]
    values: dict[str, set[str]] = {}
    for feature in (feature for cell in cells if cell != "_" for feature in cell.split("|")):
        name, _, value = feature.partition("=")
        values.setdefault(name, set()).update(value.split(","))
    return "|".join(f"{name}={','.join(sorted(values[name]))}" for name in sorted(values, key=str.lower)) or "_"
