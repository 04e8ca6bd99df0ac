"""The parser's loop (Algorithms 1 and 2), for a batch of sentences in lock step: the only greedy loop there is.

Every step, every sentence that still has a pair takes one action. Which one is up to ``choose``: the best
(:func:`easiest`) to parse, an oracle-guided one to learn.

What makes it fast is what it does not compute again. The scorer's hidden layer is linear in each slot of the window,
so every node keeps its projection by every slot, and a pair's hidden layer is a sum of rows. An attachment
changes one side of one node: its projections are updated by the difference, and only the pairs whose
window holds the head are scored anew. A sentence's last attachment changes nothing that is still looked at.

A parser may have several networks, its members: each keeps nodes of its own, and the score of an action is the mean.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn import scorer, trees
from easyfirst.nn.activations import MINUS_TWO, TWO, overflow_is_fine, sigmoid_of_negated_
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network
from easyfirst.nn.stacks import Stack, stack_of
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Actions, Derivations, head_and_modifier
from easyfirst.parsing.pending import Pending
from easyfirst.parsing.workspace import Workspace

BLOCK = 128
"""How many rows are worked on at a time where there are many: their intermediate results should stay in the cache."""

FEW_WINDOWS = 24
"""Up to so many windows, gathering all their rows at once takes less time than slot by slot."""

Choose = Callable[[Candidates, int], Actions]
"""``choose(candidates, n_active)``: an action for each of the first ``n_active`` sentences."""


@dataclass(frozen=True, slots=True)
class Member:
    """A network, and what the loop needs of it in a handier form, made once for given weights."""

    network: Network
    stack: Stack

    slots: Floats  # (2 * tree_dim, n_slots * hidden)
    hidden_bias: Floats  # (hidden,)
    relations: Floats | None  # (n_relations, vector_dim)
    unlabelled: Floats  # (hidden_dim, 2)
    labelled: Floats  # (hidden_dim, 2 * n_relations)
    output_bias: Floats  # (2 * n_relations,) of both

    @classmethod
    def of(cls, network: Network, n_members: int) -> Member:
        """Of a network whose scores are to be added to those of others, so many in all."""
        share = np.float32(1 / n_members)
        slots = scorer.slot_weights(network.scorer, network.n_slots)
        relations = trees.relation_table(NUMPY, network.trees) if network.trees.has_layers else None
        weights = network.scorer
        output, output_bias = scorer.output_weights(NUMPY, weights)
        # tanh(x) = 2 sigmoid(2x) - 1: with the factors in the tables only the sigmoid of the negated sum is left to do
        return cls(
            network=network,
            stack=stack_of(network.trees),
            slots=slots * MINUS_TWO,
            hidden_bias=weights.hidden_bias * MINUS_TWO,
            relations=relations,
            unlabelled=weights.unlabelled * (TWO * share),
            labelled=weights.labelled * (TWO * share),
            output_bias=(output_bias - output.sum(axis=0)) * share,
        )


class Engine:
    """Parses batches with fixed weights."""

    def __init__(self, *networks: Network) -> None:
        """The members' networks, which have the same window and the same relations."""
        self.members = [Member.of(network, len(networks)) for network in networks]

    def run(
        self, vectors: Floats, lengths: Sequence[int], choose: Choose, workspace: Workspace | None = None
    ) -> Derivations:
        """Parse sentences given by the vectors v_i of their words, those of all members side by side, longest sentence
        first. ``workspace``: to be given by those who parse many batches, one after the other."""
        pending = Pending(lengths)
        derivations = Derivations(pending.starts, pending.lengths, [], [], [])
        if not len(pending.lengths):
            return derivations
        candidates = Candidates(pending, self.members[0].network.n_relations)
        with overflow_is_fine():
            nodes = list(self._leaves(vectors, workspace or Workspace()))
            self._run(candidates, choose, derivations, nodes)
        return derivations

    def _leaves(self, vectors: Floats, workspace: Workspace) -> Iterator[_Nodes]:
        """The nodes of each member before anything is attached."""
        begin = 0
        for number, member in enumerate(self.members):
            end = begin + len(member.network.trees.padding)
            yield _Nodes(member, vectors[:, begin:end], workspace.part(number))
            begin = end

    def _run(self, candidates: Candidates, choose: Choose, derivations: Derivations, nodes: Sequence[_Nodes]) -> None:
        pending = candidates.pending
        self._score_all(candidates, nodes)
        n_active = np.searchsorted(-pending.lengths, -np.arange(1, candidates.width + 1)).tolist()  # longer than 1, ..
        for n, n_next in itertools.pairwise(n_active):
            actions = choose(candidates, n)
            h, m = head_and_modifier(actions.left, pending.next.take(actions.left), actions.directions)
            if n_next:  # what a sentence's last attachment makes of its head, nobody will ask
                self._attach(candidates, nodes, h[:n_next], m[:n_next], actions)
            derivations.heads.append(h)
            derivations.modifiers.append(m)
            derivations.actions.append(actions)

    def _attach(self, candidates: Candidates, nodes: Sequence[_Nodes], h: Ints, m: Ints, actions: Actions) -> None:
        """Heads take their modifiers, in the first sentences for which actions were chosen."""
        for of_member in nodes:
            of_member.attach(h, m, actions.directions[: len(h)], actions.relations[: len(h)])
        candidates.pending.remove(m)
        candidates.withdraw(np.concatenate([h, m]))
        self._rescore(candidates, nodes, h)

    @staticmethod
    def _score_all(candidates: Candidates, nodes: Sequence[_Nodes]) -> None:
        """Score every pair there is."""
        pending, k = candidates.pending, nodes[0].n_slots // 2 - 1
        left = np.flatnonzero(pending.next[:-1] != pending.outside)
        for begin in range(0, len(left), BLOCK):
            rows = left[begin : begin + BLOCK]
            candidates.update(rows, _score(nodes, pending.around(rows, k, k + 1)))

    @staticmethod
    def _rescore(candidates: Candidates, nodes: Sequence[_Nodes], h: Ints) -> None:
        """Score again the pairs whose window holds a head: at most as many as the window has slots."""
        pending, n_slots = candidates.pending, nodes[0].n_slots
        around = pending.around(h, n_slots - 1, n_slots - 1)  # (n, 2 * n_slots - 1)
        windows = around.take(nodes[0].window_columns, axis=1).reshape(-1, n_slots)
        k = n_slots // 2 - 1
        is_pair = np.maximum(windows[:, k], windows[:, k + 1]) != pending.outside  # the last row of all
        windows = windows.compress(is_pair, 0)
        candidates.update(windows[:, k], _score(nodes, windows))


def easiest(candidates: Candidates, n_active: int) -> Actions:
    """``select`` of section 4.4: in every sentence the best-scored action of all."""
    cells: Ints = candidates.best(n_active).argmax(axis=1)
    left = candidates.pending.starts[:n_active] + (cells >> 1)
    directions = cells & 1
    places = cells + candidates.lines[:n_active]
    scores, relations = candidates.best_at(places)
    return Actions(
        left,
        directions,
        relations,
        scores,
        margins=scores - candidates.rival_arcs(left, places),
        label_margins=scores - candidates.rival_relations(left, directions, relations),
    )


def _score(nodes: Sequence[_Nodes], windows: Ints) -> Floats:
    """The scores of pairs by their windows, by all members: (n, n_slots) rows -> (n, 2 * n_relations)."""
    total = nodes[0].score(windows)
    for of_member in nodes[1:]:
        total += of_member.score(windows)
    return total


class _Nodes:
    """The states of all nodes and their projections by each slot of the window, by one member."""

    def __init__(self, member: Member, vectors: Floats, workspace: Workspace) -> None:
        network, stack = member.network, member.stack
        self.weights = network.trees
        self.member = member
        self.n_slots = network.n_slots
        self.dim = network.trees.output_dim
        padded = np.concatenate([vectors, self.weights.padding[None]])
        n_rows, width = len(padded), len(member.hidden_bias)
        pair_slot = (self.n_slots // 2 - 1) * width  # pend[i] is always there: let it bring the bias
        self.slots = np.arange(self.n_slots)
        self.window_columns = self.slots[:, None] + self.slots
        self.projections = workspace.array("projections", (n_rows, self.n_slots * width), padded.dtype)
        self.by_slot = self.projections.reshape(-1, width)  # row * n_slots + slot
        self.c = workspace.array("c", (n_rows, 2 * self.dim), padded.dtype)
        self.by_side = self.c.reshape(-1, self.dim)  # row * 2 + side
        parts: list[Floats] = []
        for begin in range(0, n_rows, BLOCK):
            rows = slice(begin, min(begin + BLOCK, n_rows))
            leaves = stack.start(padded[rows])
            if not parts:
                shape = (2, n_rows, self.dim)
                parts = [workspace.array(f"part {k}", shape, padded.dtype) for k in range(len(leaves))]
            for part, leaf_part in zip(parts, leaves, strict=True):
                part[:, rows] = leaf_part
            for side in (LEFT, RIGHT):
                self.c[rows, side * self.dim : (side + 1) * self.dim] = leaves[-1][side]
            projections = np.matmul(self.c[rows], member.slots, out=self.projections[rows])
            projections[:, pair_slot : pair_slot + width] += member.hidden_bias
        self.parts = [[part[side] for part in parts] for side in (LEFT, RIGHT)]

    def score(self, windows: Ints) -> Floats:
        """What the member adds to the scores of pairs."""
        hidden = self._sum_projections(windows * self.n_slots + self.slots)
        sigmoid_of_negated_(hidden)
        middle = len(self.member.unlabelled)
        scores = hidden[:, middle:] @ self.member.labelled
        scores += self.member.output_bias
        unlabelled = hidden[:, :middle] @ self.member.unlabelled
        by_direction = scores.reshape(len(scores), 2, -1)
        by_direction += unlabelled[:, :, None]
        return scores

    def _sum_projections(self, rows: Ints) -> Floats:
        """(n, n_slots) rows of ``by_slot`` -> (n, hidden)."""
        if len(rows) <= FEW_WINDOWS:
            return np.add.reduce(self.by_slot.take(rows, 0), axis=1)
        by_column: list[Ints] = list(rows.T.copy())
        total = self.by_slot.take(by_column[0], 0)
        for column in by_column[1:]:
            total += self.by_slot.take(column, 0)
        return total

    def attach(self, h: Ints, m: Ints, directions: Ints, relations: Ints) -> None:
        """Heads take their modifiers (lines 7 to 18 of Algorithm 2)."""
        if self.member.relations is None:
            return
        of_relations = self.member.relations.take(relations, 0)
        encoded = trees.encode_modifiers(NUMPY, self.weights, self.c.take(m, 0), of_relations)
        is_right = directions == RIGHT
        n_right = np.count_nonzero(is_right)
        if n_right in (0, len(h)):
            self._attach_on_side(h, encoded, RIGHT if n_right else LEFT)
            return
        for side, here in ((LEFT, np.flatnonzero(~is_right)), (RIGHT, np.flatnonzero(is_right))):
            self._attach_on_side(h.take(here), encoded.take(here, 0), side)

    def _attach_on_side(self, h: Ints, encoded: Floats, side: int) -> None:
        parts = self.parts[side]
        old = [part.take(h, 0) for part in parts]
        new = self.member.stack.advance(old, encoded, side=side)
        for part, rows in zip(parts, new, strict=True):
            part[h] = rows
        self.by_side[2 * h + side] = new[-1]
        change = new[-1] - old[-1]
        projections = self.projections.take(h, 0)
        projections += change @ self.member.slots[side * self.dim : (side + 1) * self.dim]
        self.projections[h] = projections
