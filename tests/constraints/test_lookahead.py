"""What the look-ahead decides without the chart. The brute force of test_feasible tests that its answers are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from easyfirst.constraints import lookahead as module
from easyfirst.constraints.brackets import OpenBrackets
from easyfirst.constraints.feasible import HeadSets, all_heads, find_tree
from easyfirst.constraints.lookahead import Lookahead


def lookahead_of(heads: Sequence[Iterable[int]]) -> Lookahead:
    """From the heads that each word may have."""
    head_sets = HeadSets([0, *(sum(1 << head for head in of_word) for of_word in heads)])
    tree = find_tree(head_sets)
    assert tree is not None
    return Lookahead(head_sets, tree, OpenBrackets(head_sets.n_words, ()))


@pytest.fixture
def no_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_tree(*_: object) -> None:
        raise AssertionError("searched the chart")

    monkeypatch.setattr(module, "search_tree", search_tree)


@pytest.mark.usefixtures("no_chart")
@pytest.mark.parametrize("root", [1, 20, 40])
def test_the_only_word_that_may_be_the_root_stays(root: int) -> None:
    everything = [[h for h in range(41) if all_heads(m, 40) >> h & 1] for m in range(1, 41)]
    lookahead = lookahead_of([heads if m == root else heads[1:] for m, heads in enumerate(everything, 1)])
    for h in {max(root - 1, 1), min(root + 1, 40)} - {root}:
        assert not lookahead.allows(h, root)
        assert lookahead.allows(root, h)


@pytest.mark.usefixtures("no_chart")
def test_the_last_head_that_a_word_may_have_stays() -> None:
    lookahead = lookahead_of([[0, 2, 3, 4], [0, 1, 3, 4], [1, 2], [0, 1, 2, 3]])
    assert lookahead.allows(1, 2)
    lookahead.attach(1, 2)
    assert not lookahead.allows(4, 1)  # 3 has 1 alone
    assert lookahead.allows(1, 3)
    lookahead.attach(1, 3)
    assert lookahead.allows(4, 1)
