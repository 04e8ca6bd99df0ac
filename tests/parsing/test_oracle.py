"""The dynamic oracle against brute force, in every state that any derivation of any small projective tree can reach.

What is still possible depends only on which words are pending. Every set of pending words but the empty one can be
reached, so all derivations of a sentence of n words pass through 2^n - 1 states, and a state's best future is found by
trying all actions in it. With relations, an arc under a wrong one is lost like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from easyfirst.parsing.oracle import Gold, Oracle
from tests.twins import LEFT, RIGHT, Action, head_and_modifier, is_correct

N_RELATIONS = 2
Tree = tuple[int, ...]
Pend = tuple[int, ...]


def is_tree(heads: Tree) -> bool:
    """One root, to which every word leads, and under every arc only words that its head dominates."""

    def ancestors(m: int) -> list[int]:
        way = [m]
        while way[-1] and len(way) <= len(heads):
            way.append(heads[way[-1] - 1])
        return way

    return (
        heads.count(0) == 1
        and all(ancestors(m)[-1] == 0 for m in range(1, len(heads) + 1))
        and all(h in ancestors(k) for m, h in enumerate(heads, 1) for k in range(min(h, m) + 1, max(h, m)))
    )


@cache
def all_trees(n: int) -> list[Tree]:
    return [heads for heads in product(range(n + 1), repeat=n) if is_tree(heads)]


TREES = [heads for n in range(1, 6) for heads in all_trees(n)]


def relations_of(heads: Tree) -> list[int]:
    return [m % N_RELATIONS for m in range(len(heads))]


def states_of(n: int) -> Iterator[Pend]:
    for size in range(2, n + 1):
        yield from combinations(range(1, n + 1), size)


def actions_in(pend: Pend) -> list[Action]:
    return list(product(range(len(pend) - 1), (LEFT, RIGHT), range(N_RELATIONS)))


def after(pend: Pend, action: Action) -> Pend:
    _, m = head_and_modifier(pend, action)
    return tuple(word for word in pend if word != m)


def gain(heads: Tree, pend: Pend, action: Action) -> int:
    """1 if the action makes a gold arc under its gold relation."""
    h, m = head_and_modifier(pend, action)
    return int(heads[m - 1] == h and relations_of(heads)[m - 1] == action[2])


def best_futures(heads: Tree, *, of_root: int) -> dict[Pend, int]:
    """The most gold arcs that can still be made from each state, found by trying everything. ``of_root``: what
    it is worth that the gold root is the last to be left, which is the arc from outside."""
    futures: dict[Pend, int] = {(m,): of_root * (heads[m - 1] == 0) for m in range(1, len(heads) + 1)}
    for pend in states_of(len(heads)):
        futures[pend] = max(gain(heads, pend, action) + futures[after(pend, action)] for action in actions_in(pend))
    return futures


def oracle_at(heads: Tree, pend: Pend) -> Oracle:
    oracle = Oracle(Gold.of([heads], [relations_of(heads)]))
    for m in sorted(set(range(1, len(heads) + 1)) - set(pend)):
        oracle.attached(np.array([m - 1]))
    return oracle


def correct_actions(heads: Tree, pend: Pend) -> set[Action]:
    """What the package's oracle allows."""
    actions = actions_in(pend)
    rows = np.array([head_and_modifier(pend, action) for action in actions]) - 1
    under_gold, under_any = oracle_at(heads, pend).judge(rows[:, 0], rows[:, 1])
    return {
        action
        for action, m, is_gold, is_free in zip(actions, rows[:, 1], under_gold, under_any, strict=True)
        if is_free or (is_gold and action[2] == relations_of(heads)[m])
    }


def test_there_are_as_many_projective_trees_as_there_should_be() -> None:
    assert [len(all_trees(n)) for n in range(1, 6)] == [1, 2, 7, 30, 143]  # A006013


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_oracle_is_the_definition_in_every_state(n: int) -> None:
    for heads in all_trees(n):
        for pend in states_of(n):
            expected = {action for action in actions_in(pend) if is_correct(heads, relations_of(heads), pend, action)}
            assert correct_actions(heads, pend) == expected, (heads, pend)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_there_is_always_a_correct_action_whatever_mistakes_came_before(n: int) -> None:
    for heads in all_trees(n):
        assert all(correct_actions(heads, pend) for pend in states_of(n)), heads


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_gold_root_is_never_attached_by_a_correct_action(n: int) -> None:
    for heads in all_trees(n):
        for pend in states_of(n):
            modifiers = {head_and_modifier(pend, action)[1] for action in correct_actions(heads, pend)}
            assert heads.index(0) + 1 not in modifiers


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_correct_actions_from_the_start_rebuild_the_gold_tree_in_any_order(n: int) -> None:
    for heads in all_trees(n):
        reached: set[Pend] = {tuple(range(1, n + 1))}
        for _ in range(n - 1):
            reached_next: set[Pend] = set()
            for pend in reached:
                actions = correct_actions(heads, pend)
                assert actions
                assert all(gain(heads, pend, action) for action in actions)
                reached_next |= {after(pend, action) for action in actions}
            reached = reached_next
        assert reached == {(heads.index(0) + 1,)}


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_an_action_is_correct_if_and_only_if_it_costs_nothing(n: int) -> None:
    """Cost: by how much an action lowers the number of gold arcs (the root's among them) that can still be had.

    The enumeration shows more than the paper claims: for projective trees the definition is exact in every state. A
    complete modifier's only arc at stake is its own, and taking a word out of the list never parts two others,
    so neither a gold arc nor a modifier whose head is gone can cost anything. The paper's three cases each lose an arc
    for good. Attaching the gold root is the fourth: it loses the arc from outside.
    """
    for heads in all_trees(n):
        futures = best_futures(heads, of_root=1)
        for pend in states_of(n):
            free = {
                action
                for action in actions_in(pend)
                if gain(heads, pend, action) + futures[after(pend, action)] == futures[pend]
            }
            assert correct_actions(heads, pend) == free, (heads, pend)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_without_the_arc_from_outside_only_a_complete_root_could_be_attached_for_nothing(n: int) -> None:
    """As the paper counts, arcs between words alone: all correct actions are free, and the only other free ones attach
    a gold root that has all its modifiers."""
    for heads in all_trees(n):
        futures = best_futures(heads, of_root=0)
        root = heads.index(0) + 1
        for pend in states_of(n):
            correct = correct_actions(heads, pend)
            for action in actions_in(pend):
                costs = futures[pend] - gain(heads, pend, action) - futures[after(pend, action)]
                attaches_root = head_and_modifier(pend, action)[1] == root
                is_complete = not any(heads[m - 1] == root for m in pend)
                assert (costs == 0) == (action in correct or (attaches_root and is_complete)), (heads, pend, action)


def test_every_gold_arc_between_pending_words_can_still_be_had() -> None:
    for heads in TREES:
        for pend, future in best_futures(heads, of_root=1).items():
            assert future == sum(heads[m - 1] in (0, *pend) for m in pend)


def test_a_batch_is_judged_like_its_sentences() -> None:
    """Rows of several sentences at once, with a word gone from each, against each sentence by itself."""
    batch = sorted(all_trees(4) + all_trees(3), key=len, reverse=True)
    lengths = np.array([len(heads) for heads in batch])
    starts = np.cumsum(lengths) - lengths
    oracle = Oracle(Gold.of(batch, [relations_of(heads) for heads in batch]))
    gone = np.arange(len(batch)) % 3  # the same word of its sentence that is attached below
    oracle.attached(starts + gone)
    for start, heads, m in zip(starts.tolist(), batch, gone.tolist(), strict=True):
        alone = oracle_at(heads, tuple(word for word in range(1, len(heads) + 1) if word != m + 1))
        arcs = np.array([(h, m) for h in range(len(heads)) for m in range(len(heads)) if h != m])
        for found, expected in zip(
            oracle.judge(start + arcs[:, 0], start + arcs[:, 1]), alone.judge(arcs[:, 0], arcs[:, 1]), strict=True
        ):
            assert found.tolist() == expected.tolist()


def test_a_mistake_frees_the_words_whose_head_it_takes_away() -> None:
    """The fox jumps: after "fox" is wrongly put under "The", "jumps" has lost its subject and "The" its head."""
    heads, pend = (2, 3, 0), (1, 3)
    assert correct_actions(heads, pend) == {(0, LEFT, 0), (0, LEFT, 1)}


def test_gold_numbers_rows_through_and_sends_roots_outside() -> None:
    gold = Gold.of([(2, 0, 2), (0, 1)], [(1, 0, 1), (0, 1)])
    assert gold.heads.tolist() == [1, 5, 1, 5, 3, 5]
    assert gold.relations.tolist() == [1, 0, 1, 0, 1, 0]
