"""The best derivations of sentences, as a beam finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.actions import head_and_modifier
from easyfirst.parsing.beam import Hypotheses, Measure, paths_of, search
from easyfirst.parsing.derivation import Derivation, derivations_of
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.subtrees import Subtrees
from easyfirst.treebank.lifting import Label


class Scored(NamedTuple):
    """A derivation and the score of its tree."""

    derivation: Derivation
    score: float


def best_derivations(
    members: Sequence[Member],
    vectors: Floats,
    lengths: Sequence[int],
    width: int,
    measure: Measure,
    labels: Sequence[Label],
    root: str,
) -> list[list[Scored]]:
    """Return the derivations of each sentence that a beam of this width finds, best first, to different trees.

    ``vectors``: v_i of the words, of all members side by side; ``labels``: those of the actions; ``root``: the relation
    of roots."""
    with overflow_is_fine():
        subtrees = Subtrees(members, vectors)
        found = search(subtrees, lengths, width, [measure] * len(lengths))
    for steps, length in zip(found, lengths, strict=True):
        if len(steps) < length or not np.isfinite(steps[-1].totals).all():
            raise ModelError("the model computes scores that are not finite numbers; its weights are corrupted")
    return [
        list(map(Scored, _derivations(steps, subtrees, labels, root), steps[-1].totals.tolist())) for steps in found
    ]


def _derivations(
    steps: Sequence[Hypotheses], subtrees: Subtrees, labels: Sequence[Label], root: str
) -> list[Derivation]:
    """Return the derivation of each hypothesis of the last step."""
    n, n_words = len(steps[-1]), len(steps)
    heads, modifiers, numbers = (np.zeros((n, n_words), dtype=np.int32) for _ in range(3))
    scores, margins, label_margins = (np.zeros((n, n_words), dtype=np.float32) for _ in range(3))
    by_relation = np.zeros((n, n_words, subtrees.n_relations), dtype=np.float32)
    lost_margins = np.full((n, n_words + 1), np.inf, dtype=np.float32)  # the last one is that of the outside
    each = np.arange(n)
    for t, (before, after, chosen) in enumerate(zip(steps, steps[1:], paths_of(steps), strict=False)):
        parents, places = after.parents[chosen], after.places[chosen]
        directions, relations = after.directions[chosen], after.relations[chosen]
        ends = before.words[parents, places] + 1, before.words[parents, places + 1] + 1
        heads[:, t], modifiers[:, t] = head_and_modifier(*ends, directions)
        of_pairs = subtrees.scores_at(before.pairs[parents])
        of_arc = of_pairs[each, places, directions]
        numbers[:, t], by_relation[:, t] = relations, of_arc
        scores[:, t] = score = of_arc[each, relations]
        best = np.pad(of_pairs.max(axis=3), ((0, 0), (1, 1), (0, 0)), constant_values=-np.inf)
        rivals = best[each, places, RIGHT], best[each, places + 2, LEFT], best[each, places + 1, 1 - directions]
        margins[:, t] = score - np.maximum.reduce(rivals)
        words = np.pad(before.words, ((0, 0), (1, 1)), constant_values=n_words)
        other = words[parents, places + 3 * directions]  # the other neighbour of the modifier
        for m, of_lost in ((heads[:, t] - 1, rivals[-1]), (other, best[each, places + 2 * directions, directions])):
            lost_margins[each, m] = np.minimum(lost_margins[each, m], score - of_lost)
        others = of_arc.copy()
        others[each, relations] = -np.inf
        label_margins[:, t] = score - others.max(axis=1)
    return list(
        derivations_of(
            [n_words] * n,
            *(heads.reshape(-1), modifiers.reshape(-1), numbers.reshape(-1)),
            *(scores.reshape(-1), margins.reshape(-1), label_margins.reshape(-1)),
            lost_margins[:, :-1].reshape(-1),
            by_relation.reshape(n * n_words, -1),
            labels,
            root,
        )
    )
