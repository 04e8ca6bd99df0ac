"""Partially annotated trees: heads and relations that are ``_`` are unknown."""

from __future__ import annotations

from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_shape


def check_known_arcs(sentence: Sentence) -> None:
    """Raise :class:`DataError` if the given heads cannot belong to a tree because of a cycle or two roots."""
    heads = sentence.heads
    root = next((m for sought in (0, None) for m, head in enumerate(heads, 1) if head == sought), 0)
    others = (0 if m == root else root for m in range(1, len(heads) + 1))  # the simplest tree with the given arcs
    check_shape(sentence, [other if head is None else head for head, other in zip(heads, others, strict=True)])


def knows_nothing(sentence: Sentence) -> bool:
    """Whether no word has a head."""
    return all(head is None for head in sentence.heads)
