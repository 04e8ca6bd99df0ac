"""Whether a satisfying tree exists, and whether one remains after an attachment: all trees of up to five words."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.brackets import OpenBrackets, has_crossing
from easyfirst.constraints.chart import search_tree
from easyfirst.constraints.feasible import HeadSets, all_heads, find_tree
from easyfirst.constraints.lookahead import Lookahead
from tests.constraints.all_trees import can_become, is_bracket
from tests.parsing.test_oracle import Tree, all_trees


def satisfying_trees(head_sets: HeadSets) -> list[Tree]:
    return [
        tree
        for tree in all_trees(head_sets.n_words)
        if all(head_sets.allows(h, m) for m, h in enumerate(tree, 1))
        and all(is_bracket(tree, *b) for b in head_sets.brackets)
    ]


@st.composite
def problems(draw: st.DrawFn, max_words: int = 5) -> HeadSets:
    """Words that are fixed, free, or something in between, and brackets that do not cross."""
    n = draw(st.integers(1, max_words))
    ids = st.integers(0, n)
    heads = [0]
    for m in range(1, n + 1):
        kind = draw(st.sampled_from(["free", "fixed", "not", "some"]))
        chosen = draw(st.sets(ids, max_size=n) if kind != "fixed" else ids.map(lambda h: {h}))
        bits = sum(1 << h for h in chosen)
        heads.append(all_heads(m, n) & {"free": -1, "fixed": bits, "not": ~bits, "some": bits}[kind])
    spans = st.tuples(st.integers(1, n), st.integers(1, n)).map(lambda span: (min(span), max(span)))
    brackets = draw(st.lists(spans, max_size=3).filter(lambda some: not has_crossing(some)))
    return HeadSets(heads, brackets)


SMALL_BRACKETS = [some for size in range(3) for some in combinations([(1, 2), (2, 3), (1, 3)], size)]


@pytest.mark.parametrize("brackets", [some for some in SMALL_BRACKETS if not has_crossing(some)], ids=str)
def test_all_head_sets_of_three_words(brackets: tuple[tuple[int, int], ...]) -> None:
    sets = [[bits for bits in range(16) if not bits >> m & 1] for m in (1, 2, 3)]
    n_possible = 0
    for heads in product(*sets):
        head_sets = HeadSets([0, *heads], brackets)
        check_that_a_tree_is_found(head_sets)
        n_possible += bool(satisfying_trees(head_sets))
    assert 50 < n_possible < 450


@settings(max_examples=400, deadline=None)
@given(problems())
def test_a_tree_is_found_if_there_is_one(head_sets: HeadSets) -> None:
    check_that_a_tree_is_found(head_sets)


def check_that_a_tree_is_found(head_sets: HeadSets) -> None:
    expected = satisfying_trees(head_sets)
    tree = find_tree(head_sets)
    searched = search_tree(range(1, head_sets.n_words + 1), head_sets.heads, head_sets.brackets)
    assert (tree is None) == (searched is None) == (not expected)
    if tree is not None and searched is not None:
        assert tuple(tree[1:]) in expected
        assert tuple(searched[m] for m in range(1, head_sets.n_words + 1)) in expected


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_set_of_fixed_heads(n: int) -> None:
    for heads in product([None, *range(n + 1)], repeat=n):
        fits = any(all(h in (None, g) for h, g in zip(heads, tree, strict=True)) for tree in all_trees(n))
        assert (find_tree(HeadSets.fixed(heads)) is not None) == fits, heads


@settings(max_examples=300, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_what_is_allowed_leaves_a_tree_and_nothing_else_does(head_sets: HeadSets, random) -> None:
    """Along a derivation that takes any allowed attachment; where words are fixed or free, head sets suffice."""
    expected = satisfying_trees(head_sets)
    if not expected:
        return
    tree = find_tree(head_sets)
    assert tree is not None
    brackets = OpenBrackets(head_sets.n_words, head_sets.brackets)
    lookahead = Lookahead(head_sets, tree, brackets)
    pend, done = list(range(1, head_sets.n_words + 1)), {}
    while len(pend) > 1:
        allowed = []
        for p, q in pairwise(pend):
            for h, m in ((p, q), (q, p)):
                is_complete = all(head_sets.fixed_heads[other] != m for other in pend)
                if brackets.innermost[p] == brackets.innermost[q] and is_complete:
                    remains = any(can_become(tree, {**done, m: h}) for tree in expected)
                    assert lookahead.allows(h, m) == remains
                    if head_sets.is_simple:
                        assert head_sets.allows(h, m) == remains
                    allowed += [(h, m)] * remains
        h, m = random.choice(allowed)  # there always is one
        lookahead.attach(h, m)
        brackets.attach(h, m)
        pend.remove(m)
        done[m] = h
        witness = {**done, **lookahead.witness}
        assert tuple(witness[m] for m in range(1, head_sets.n_words + 1)) in expected
    assert tuple(done.get(m, 0) for m in range(1, head_sets.n_words + 1)) in expected


def test_a_bracket_whose_head_is_attached_in_it_keeps_one_head() -> None:
    head_sets = HeadSets([0, *(all_heads(m, 5) for m in range(1, 6))], [(2, 4)])
    lookahead = Lookahead(head_sets, [0, 0, 3, 1, 3, 1], OpenBrackets(5, head_sets.brackets))
    assert lookahead.allows(2, 3)
    lookahead.attach(2, 3)
    assert sorted((lookahead.witness[2], lookahead.witness[4])) in ([1, 2], [1, 4])


def test_two_thousand_words_with_a_forbidden_root_for_each_but_one() -> None:
    n = 2000
    heads = [0, *(all_heads(m, n) & (-1 if m == 1200 else ~1) for m in range(1, n + 1))]
    tree = find_tree(HeadSets(heads, [(1, 900), (100, 200), (1000, 2000)]))
    assert tree is not None
    assert tree[1200] == 0


@pytest.mark.parametrize(
    ("brackets", "is_crossing"),
    [([], False), ([(1, 2), (3, 4)], False), ([(1, 4), (2, 3), (2, 4)], False), ([(1, 2), (2, 3)], True)],
)
def test_crossing(brackets: list[tuple[int, int]], is_crossing: bool) -> None:
    assert has_crossing(brackets) == is_crossing
    assert (find_tree(HeadSets([0, *(all_heads(m, 4) for m in range(1, 5))], brackets)) is None) == is_crossing
