"""The levels of a head, against all ways to merge both sides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easyfirst.constituents.merging import merge, primed

LABELS = ("NP", "NP'", "NP''", "VP", "S", "H+NP", "S/VP")
sides = st.lists(st.sampled_from(LABELS), max_size=4)


def grouped(labels: list[str]) -> list[str]:
    return [label for n, label in enumerate(labels) if n == 0 or labels[n - 1] != label]


def all_ways(left: list[str], right: list[str]) -> list[list[str]]:
    """Return the labels of the levels for every way to merge groups of both sides."""
    if not left and not right:
        return [[]]
    ways: list[list[str]] = []
    if left:
        ways += [[left[0], *rest] for rest in all_ways(left[1:], right)]
    if right:
        ways += [[right[0], *rest] for rest in all_ways(left, right[1:])]
    if left and right and left[0] == right[0]:
        ways += [[left[0], *rest] for rest in all_ways(left[1:], right[1:])]
    return ways


def n_violations(labels: list[str]) -> int:
    pairs = zip(["", *labels], labels, strict=False)
    return sum(
        before == label or (label.endswith("'") and label[:-1] != before) or ("/" in label and n > 0)
        for n, (before, label) in enumerate(pairs)
    )


@given(left=sides, right=sides)
def test_fewest_violations_then_fewest_levels(left: list[str], right: list[str]) -> None:
    head = len(left) + 1
    levels = merge(
        [(head - n, label) for n, label in enumerate(left, 1)], [(head + n, label) for n, label in enumerate(right, 1)]
    )
    found = [level.label for level in levels]
    best = min((n_violations(way), len(way)) for way in all_ways(grouped(left), grouped(right)))
    assert (n_violations(found), len(found)) == best
    placed = [modifier for level in levels for modifier in level.modifiers]
    assert sorted(placed) == [*range(1, head), *range(head + 1, head + len(right) + 1)]
    assert [m for m in placed if m > head] == sorted(m for m in placed if m > head)
    assert [m for m in placed if m < head] == sorted((m for m in placed if m < head), reverse=True)


def test_right_modifiers_are_inside() -> None:
    assert [level.label for level in merge([(1, "S")], [(3, "VP"), (4, "S")])] == ["VP", "S"]
    assert [level.label for level in merge([(1, "S")], [(3, "VP")])] == ["VP", "S"]
    assert [level.label for level in merge([(1, "NP")], [(3, "NP'")])] == ["NP", "NP'"]
    assert [level.label for level in merge([(1, "NP")], [(3, "H+NP")])] == ["NP", "H+NP"]


def test_primes() -> None:
    assert primed(["NP", "NP", "NP", "S", "NP"]) == ["NP", "NP'", "NP''", "S", "NP"]
    assert primed(["NP/NP", "NP", "NP"]) == ["NP/NP", "NP", "NP'"]
