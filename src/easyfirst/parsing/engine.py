"""The parser's loop (Algorithms 1 and 2), for a batch of sentences in lock step: the only greedy loop there is.

Every step, every sentence that still has a pair takes one action. Which one is up to ``choose``: the best
(:func:`easiest`) to parse, an oracle-guided one to learn.

What makes it fast is what it does not compute again. The scorer's hidden layer is linear in each slot of the window,
so every node keeps its projection by every slot, and a pair's hidden layer is a sum of rows. An attachment
changes one side of one node: its projections are updated by the difference, and only the pairs whose
window holds the head are scored anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from easyfirst.nn import scorer, trees
from easyfirst.nn.activations import MINUS_TWO, TWO, overflow_is_fine, sigmoid_of_negated_
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.network import Network
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Actions, Derivations, head_and_modifier
from easyfirst.parsing.pending import Pending

BLOCK = 128
"""How many rows are worked on at a time where there are many: their intermediate results should stay in the cache."""

Choose = Callable[[Candidates, int], Actions]
"""``choose(candidates, n_active)``: an action for each of the first ``n_active`` sentences."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What the loop needs of the network in a handier form, made once for given weights."""

    slots: np.ndarray  # (2, tree_dim, n_slots * hidden)
    hidden_bias: np.ndarray  # (hidden,)
    relations: np.ndarray | None  # (n_relations, vector_dim)
    output: np.ndarray  # (hidden, 2 * n_relations)
    output_bias: np.ndarray  # (2 * n_relations,)

    @classmethod
    def of(cls, network: Network) -> Tables:
        slots = scorer.slot_weights(network.scorer, network.n_slots)
        relations = trees.relation_table(NUMPY, network.trees) if network.trees.has_layers else None
        output, output_bias = scorer.output_weights(NUMPY, network.scorer)
        # tanh(x) = 2 sigmoid(2x) - 1: with the factors in the tables only the sigmoid of the negated sum is left to do
        return cls(slots * MINUS_TWO, network.scorer.hidden_bias * MINUS_TWO, relations, output * TWO, output_bias - output.sum(axis=0))


class Engine:
    """Parses batches with fixed weights."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.tables = Tables.of(network)

    def run(self, vectors: np.ndarray, lengths: Sequence[int], choose: Choose) -> Derivations:
        """Parse sentences given by the vectors v_i of their words, longest sentence first."""
        pending = Pending(lengths)
        derivations = Derivations(pending.starts, pending.lengths, [], [], [])
        if not len(pending.lengths):
            return derivations
        candidates = Candidates(pending, self.network.n_relations)
        with overflow_is_fine():
            self._run(candidates, choose, derivations, vectors)
        return derivations

    def _run(self, candidates: Candidates, choose: Choose, derivations: Derivations, vectors: np.ndarray) -> None:
        pending = candidates.pending
        nodes = _Nodes(self.network, self.tables, vectors)
        self._score_all(pending, candidates, nodes)
        n_active = np.searchsorted(-pending.lengths, -np.arange(1, pending.lengths[0]))  # longer than 1, 2, ..
        for n in n_active.tolist():
            actions = choose(candidates, n)
            h, m = head_and_modifier(actions.left, pending.next[actions.left], actions.directions)
            nodes.attach(h, m, actions)
            pending.remove(m)
            candidates.withdraw(m)
            self._rescore(pending, candidates, nodes, h)
            derivations.heads.append(h)
            derivations.modifiers.append(m)
            derivations.actions.append(actions)

    @staticmethod
    def _score_all(pending: Pending, candidates: Candidates, nodes: _Nodes) -> None:
        """Score every pair there is."""
        k = nodes.n_slots // 2 - 1
        for begin in range(0, pending.outside, BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, pending.outside))
            candidates.update(rows, pending.next[rows], nodes.score(pending.around(rows, k, k + 1)))

    @staticmethod
    def _rescore(pending: Pending, candidates: Candidates, nodes: _Nodes, h: np.ndarray) -> None:
        """Score again the pairs whose window holds a head: as many as the window has slots."""
        n_slots = nodes.n_slots
        around = pending.around(h, n_slots - 1, n_slots - 1)  # (n, 2 * n_slots - 1)
        windows = around[:, nodes.window_columns].reshape(-1, n_slots)
        k = n_slots // 2 - 1
        candidates.update(windows[:, k], windows[:, k + 1], nodes.score(windows))


def easiest(candidates: Candidates, n_active: int) -> Actions:
    """``select`` of section 4.4: in every sentence the best-scored action of all."""
    best = candidates.best(n_active)
    lines = np.arange(n_active)
    cells = best.argmax(axis=1)
    scores = best[lines, cells]
    left = candidates.pending.starts[:n_active] + (cells >> 1)
    directions = cells & 1
    relations = candidates.best_relations(n_active)[lines, cells]
    best[lines, cells] = -np.inf  # for a moment, to see the next best
    rivals = candidates.scores[left, directions]
    rivals[lines, relations] = -np.inf
    margins = scores - np.maximum(best.max(axis=1), rivals.max(axis=1))
    best[lines, cells] = scores
    return Actions(left, directions, relations, scores, margins)


class _Nodes:
    """The states of all nodes and their projections by each slot of the window."""

    def __init__(self, network: Network, tables: Tables, vectors: np.ndarray) -> None:
        self.weights = network.trees
        self.tables = tables
        self.n_slots = network.n_slots
        self.dim = network.trees.output_dim
        padded = np.concatenate([vectors, self.weights.padding[None]])
        n_rows, width = len(padded), tables.output.shape[0]
        pair_slot = (self.n_slots // 2 - 1) * width  # pend[i] is always there: let it bring the bias
        self.window_columns = np.arange(self.n_slots)[:, None] + np.arange(self.n_slots)
        self.projections = np.empty((n_rows, self.n_slots * width), dtype=padded.dtype)
        self.by_slot = self.projections.reshape(-1, width)  # row * n_slots + slot
        for begin in range(0, n_rows, BLOCK):
            rows = slice(begin, min(begin + BLOCK, n_rows))
            states = trees.leaf_states(NUMPY, self.weights, padded[rows])
            if begin == 0:
                self.states = np.empty((2, n_rows, states.shape[-1]), dtype=states.dtype)
            self.states[:, rows] = states
            projections = np.matmul(states[LEFT, :, -self.dim :], tables.slots[LEFT], out=self.projections[rows])
            projections += states[RIGHT, :, -self.dim :] @ tables.slots[RIGHT]
            projections[:, pair_slot : pair_slot + width] += tables.hidden_bias

    def score(self, windows: np.ndarray) -> np.ndarray:
        """The scores of pairs by their windows: (n, n_slots) rows -> (n, 2 * n_relations)."""
        rows = windows * self.n_slots
        hidden = self.by_slot[rows[:, 0]]
        for slot in range(1, self.n_slots):
            hidden += self.by_slot[rows[:, slot] + slot]
        sigmoid_of_negated_(hidden)
        scores = hidden @ self.tables.output
        scores += self.tables.output_bias
        return scores

    def attach(self, h: np.ndarray, m: np.ndarray, actions: Actions) -> None:
        """Heads take their modifiers (lines 7 to 18 of Algorithm 2)."""
        if self.tables.relations is None:
            return
        c = np.concatenate([self.states[LEFT, m, -self.dim :], self.states[RIGHT, m, -self.dim :]], axis=1)
        encoded = trees.encode_modifiers(NUMPY, self.weights, c, self.tables.relations[actions.relations])
        for side in (LEFT, RIGHT):
            here = np.flatnonzero(actions.directions == side)
            if not len(here):
                continue
            rows = h[here]
            old = self.states[side, rows]
            new = trees.attach(NUMPY, self.weights, old, encoded[here], side=side)
            self.states[side, rows] = new
            change = new[:, -self.dim :]
            change -= old[:, -self.dim :]
            self.projections[rows] += change @ self.tables.slots[side]
