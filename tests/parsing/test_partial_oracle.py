"""The oracle for trees known in part, against brute force: an action is correct if as many known arcs as before can
still be had, in every state that any derivation can reach."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from easyfirst.parsing.exploration import Explorer
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold, Oracle
from tests.nn.random_models import kinds_of_models, lengths_of
from tests.parsing.test_oracle import Pend, Tree, actions_in, after, all_trees, correct_actions, relations_of, states_of
from tests.twins import Action, head_and_modifier

Known = tuple[Tree, tuple[int, ...]]
"""Heads and relations, some of them NOT_ANNOTATED."""


def parts_of_trees(n: int) -> set[Known]:
    """Every way to forget heads of every projective tree; of the others, some relations are forgotten too."""
    found: set[Known] = set()
    for tree in all_trees(n):
        for kept in product([False, True], repeat=n):
            heads = tuple(h if is_kept else NOT_ANNOTATED for h, is_kept in zip(tree, kept, strict=True))
            relations = [NOT_ANNOTATED if (m + sum(kept)) % 3 == 0 else r for m, r in enumerate(relations_of(tree))]
            found.add((heads, tuple(relations)))
    return found


def gain(known: Known, pend: Pend, action: Action) -> int:
    """1 if the action makes a known arc under its relation, or under any if that is not known."""
    heads, relations = known
    h, m = head_and_modifier(pend, action)
    return int(heads[m - 1] == h and relations[m - 1] in (NOT_ANNOTATED, action[2]))


def best_futures(known: Known) -> dict[Pend, int]:
    """The most known arcs (the root's among them) that can still be made from each state."""
    heads, _ = known
    futures: dict[Pend, int] = {(m,): int(heads[m - 1] == 0) for m in range(1, len(heads) + 1)}
    for pend in states_of(len(heads)):
        futures[pend] = max(gain(known, pend, action) + futures[after(pend, action)] for action in actions_in(pend))
    return futures


def correct_in_part(known: Known, pend: Pend) -> set[Action]:
    """What the package's oracle allows."""
    heads, relations = known
    oracle = Oracle(Gold.of([heads], [relations]))
    for m in sorted(set(range(1, len(heads) + 1)) - set(pend)):
        oracle.attached(np.array([m - 1]))
    actions = actions_in(pend)
    rows = np.array([head_and_modifier(pend, action) for action in actions]) - 1
    under_gold, under_any = oracle.judge(rows[:, 0], rows[:, 1])
    assert not (under_gold & under_any).any()
    return {
        action
        for action, m, is_gold, is_free in zip(actions, rows[:, 1], under_gold, under_any, strict=True)
        if is_free or (is_gold and action[2] == relations[m])
    }


@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_action_is_correct_if_and_only_if_it_loses_no_known_arc(n: int) -> None:
    for known in parts_of_trees(n):
        futures = best_futures(known)
        for pend in states_of(n):
            free = {
                action
                for action in actions_in(pend)
                if gain(known, pend, action) + futures[after(pend, action)] == futures[pend]
            }
            assert correct_in_part(known, pend) == free, (known, pend)
            assert free


@pytest.mark.parametrize("n", [2, 3, 4])
def test_without_mistakes_an_action_is_correct_if_it_is_for_some_tree_that_has_the_known_arcs(n: int) -> None:
    """The action costs nothing for at least one complete tree that fits the partial one."""
    pend = tuple(range(1, n + 1))
    for heads, _ in parts_of_trees(n):
        fitting = [t for t in all_trees(n) if all(h in (NOT_ANNOTATED, g) for h, g in zip(heads, t, strict=True))]
        arcs = {head_and_modifier(pend, action) for tree in fitting for action in correct_actions(tree, pend)}
        found = correct_in_part((heads, (NOT_ANNOTATED,) * n), pend)
        assert {head_and_modifier(pend, action) for action in found} == arcs


def test_a_whole_tree_is_judged_as_ever() -> None:
    for tree in all_trees(4):
        for pend in states_of(4):
            assert correct_in_part((tree, tuple(relations_of(tree))), pend) == correct_actions(tree, pend)


@pytest.mark.parametrize("explore_prob", [0.0, 1.0])
def test_where_nothing_is_known_nothing_is_violated(explore_prob: float) -> None:
    model = kinds_of_models()[0]
    batch = model.sentences([7, 5, 2], seed=1)
    nothing = [[NOT_ANNOTATED] * len(sample) for sample in batch]
    explorer = Explorer(
        Gold.of(nothing, nothing),
        window=model.config.window,
        margin=100.0,
        explore_prob=explore_prob,
        use_dynamic_oracle=True,
        rng=np.random.default_rng(1),
    )
    Loop(model.network).run(model.vectors(batch), lengths_of(batch), explorer)
    assert (explorer.n_violations, explorer.loss) == (0, 0)


def test_unknown_heads_come_after_the_outside() -> None:
    gold = Gold.of([(2, NOT_ANNOTATED, 0), (NOT_ANNOTATED,)], [(1, NOT_ANNOTATED, 0), (0,)])
    assert gold.heads.tolist() == [1, 5, 4, 5, 4]
    assert gold.relations.tolist() == [1, NOT_ANNOTATED, 0, 0, 0]
