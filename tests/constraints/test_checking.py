"""Whether a tree satisfies constraints, against the head sets and brackets that the parser uses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.checking import hold
from easyfirst.constraints.records import Bracket, Constraints, FixedHead, FixedRelation, ForbiddenArc
from tests.treebank.test_projective import trees

RELATIONS = ("a", "b")


def test_each_kind() -> None:
    heads, relations = (2, 0, 2, 3), ("a", "root", "b", "a")
    cases = {
        FixedHead(modifier=1, head=2): True,
        FixedHead(modifier=2, head=0): True,
        FixedHead(modifier=1, head=3): False,
        FixedRelation(modifier=3, relation="b"): True,
        FixedRelation(modifier=3, relation="a"): False,
        ForbiddenArc(head=2, modifier=1): False,
        ForbiddenArc(head=3, modifier=1): True,
        ForbiddenArc(head=2, modifier=1, relation="b"): True,
        ForbiddenArc(head=2, modifier=1, relation="a"): False,
        ForbiddenArc(head=0, modifier=2): False,
        Bracket(first=3, last=4): True,
        Bracket(first=2, last=3): False,
        Bracket(first=1, last=3): False,
        Bracket(first=1, last=4): True,
    }
    for constraint, holds in cases.items():
        assert hold(Constraints((constraint,)), heads, relations) == holds, constraint
    assert hold(Constraints(tuple(c for c, holds in cases.items() if holds)), heads, relations)
    assert hold(Constraints(), heads, relations)


def test_the_head_of_a_bracket_may_have_modifiers_outside() -> None:
    assert hold(Constraints.of(brackets=[(2, 3)]), (3, 3, 0, 3), RELATIONS * 2)
    assert not hold(Constraints.of(brackets=[(2, 3)]), (2, 3, 0, 3), RELATIONS * 2)


@settings(deadline=None)
@given(trees(), st.data())
def test_brackets_by_their_definition(heads: tuple[int, ...], data: st.DataObject) -> None:
    """One word has its head outside, and only that word has modifiers outside."""
    first = data.draw(st.integers(1, len(heads)))
    last = data.draw(st.integers(first, len(heads)))
    inside = set(range(first, last + 1))
    links = {m for m in inside if heads[m - 1] not in inside}
    links |= {h for m, h in enumerate(heads, 1) if h in inside and m not in inside}
    n_out = sum(heads[m - 1] not in inside for m in inside)
    expected = n_out == 1 and len(links) == 1
    assert hold(Constraints.of(brackets=[(first, last)]), heads, ["x"] * len(heads)) == expected
