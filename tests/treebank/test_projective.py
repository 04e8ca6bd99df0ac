"""Projectivity against its definition, over all small trees and random larger ones."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.projective import is_projective, non_projective_arcs
from easyfirst.treebank.tree import check_tree, find_cycle

DATA = Path(__file__).parent.parent / "data"


def dominates(heads: tuple[int, ...], h: int, m: int) -> bool:
    while m not in (0, h):
        m = heads[m - 1]
    return m == h


def by_definition(heads: tuple[int, ...]) -> list[int]:
    """The modifiers with a word between them and their head that the head does not dominate."""
    return [
        m for m, h in enumerate(heads, 1) if not all(dominates(heads, h, k) for k in range(min(h, m) + 1, max(h, m)))
    ]


def arcs_cross(heads: tuple[int, ...]) -> bool:
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_small_trees_agree_with_the_definition(n: int) -> None:
    trees = [heads for heads in product(range(n + 1), repeat=n) if not find_cycle(heads)]
    assert len(trees) == (n + 1) ** (n - 1)  # Cayley's formula, several roots allowed
    for heads in trees:
        assert non_projective_arcs(heads) == by_definition(heads)
        assert is_projective(heads) == (not by_definition(heads)) == (not arcs_cross(heads))


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, ...]:
    """Words in a random order, each attached to one before it in that order."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 30)) + 1)))
    heads = [0] * len(order)
    for position, m in enumerate(order[1:], 1):
        heads[m - 1] = order[draw(st.integers(0, position - 1))]
    return tuple(heads)


@settings(deadline=None)
@given(trees())
def test_random_trees_agree_with_the_definition(heads: tuple[int, ...]) -> None:
    assert non_projective_arcs(heads) == by_definition(heads)
    assert is_projective(heads) == (not arcs_cross(heads))


def test_the_extraposed_phrase_is_the_non_projective_arc() -> None:
    hearing, *others = (check_tree(sentence).heads for sentence in read_conllu(DATA / "nonprojective.conllu"))
    assert non_projective_arcs(hearing) == [7]
    assert all(map(is_projective, others))


@pytest.mark.parametrize("heads", [tuple(range(2000)), (0,) + (1,) * 1999, (*range(2, 2001), 0)])
def test_sentences_of_2000_words_are_no_trouble(heads: tuple[int, ...]) -> None:
    assert is_projective(heads)


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        is_projective((0, 3, 2))
