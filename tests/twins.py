"""Brute-force twins: the network and both algorithms of the paper, one sentence and one vector at a time.

Nothing here is fast and nothing is shared with the package but the names and shapes of the arrays. The twin is written
with what NumPy and PyTorch spell alike (``tanh``, ``exp``, ``concatenate``), so the same lines that parse in NumPy give
the plain step-by-step loss that PyTorch differentiates.

Words are numbered from 1 and 0 is the root; an action is (i, d, l): position, direction and relation, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

Vector = Any
Action = tuple[int, int, int]
Scores = dict[Action, Any]
LEFT, RIGHT = 0, 1
NOWHERE = (-1, -1, -1)


def _lstm(xp: Any, wx: Vector, recurrent: Vector, state: list[Vector]) -> list[Vector]:
    c, h = state
    dim = len(h)
    z = wx + h @ recurrent
    f, i, o = (1 / (1 + xp.exp(-z[k * dim : (k + 1) * dim])) for k in range(3))
    new_c = f * c + i * xp.tanh(z[3 * dim :])
    return [new_c, o * xp.tanh(new_c)]


def _gru(xp: Any, wx: Vector, recurrent: Vector, state: list[Vector]) -> list[Vector]:
    (h,) = state
    dim = len(h)
    reset = 1 / (1 + xp.exp(-(wx[:dim] + h @ recurrent[:, :dim])))
    update = 1 / (1 + xp.exp(-(wx[dim : 2 * dim] + h @ recurrent[:, dim : 2 * dim])))
    candidate = xp.tanh(wx[2 * dim :] + (reset * h) @ recurrent[:, 2 * dim :])
    return [(1 - update) * h + update * candidate]


def _elman(xp: Any, wx: Vector, recurrent: Vector, state: list[Vector]) -> list[Vector]:
    return [xp.tanh(wx + state[0] @ recurrent)]


CELLS = {"lstm": (_lstm, 2), "gru": (_gru, 1), "elman": (_elman, 1)}  # and how many vectors a state is made of


N_CHARACTERS = 6


def spelling(word: int) -> list[int]:
    """The characters of a word that is known by its number, from one to four of them."""
    return [int(word * 7 + place * place) % N_CHARACTERS for place in range(1 + word % 4)]


class Rnn:
    """``RNN.initial()``, ``append`` and ``output`` of section 2.2: a stack of layers in one direction."""

    def __init__(self, twin: Twin, prefix: str, side: int, *, rnn: str | None = None) -> None:
        self._xp = twin.xp
        self._cell, n_parts = CELLS[rnn or twin.rnn]
        self._weights: list[tuple[Vector, Vector, Vector]] = []
        while f"{prefix}.{len(self._weights)}.input" in twin.arrays:
            name = f"{prefix}.{len(self._weights)}"
            parts = (twin.arrays[f"{name}.{part}"][side] for part in ("input", "recurrent", "bias"))
            self._weights.append(tuple(parts))
        self._states = [[0 * recurrent[:, 0]] * n_parts for _, recurrent, _ in self._weights]

    def append(self, x: Vector) -> Rnn:
        for number, (weights, recurrent, bias) in enumerate(self._weights):
            self._states[number] = self._cell(self._xp, x @ weights + bias, recurrent, self._states[number])
            x = self._states[number][-1]
        return self

    @property
    def output(self) -> Vector:
        return self._states[-1][-1]


@dataclass
class Node:
    """An item of the pending list."""

    id: int
    v: Vector
    e_l: Rnn
    e_r: Rnn


@dataclass
class Step:
    """One attachment, and how the action stood among all others."""

    h: int
    m: int
    relation: int
    score: float
    margin: float
    """Over the best action that would have changed the arc."""
    label_margin: float
    """Over the best other relation of the arc."""
    lead: float
    """Over the best other action of all."""
    lost_margin: float
    """The smallest one, of all earlier steps, over an arc to the modifier from a word that was attached."""


class Twin:
    """The network, read word for word from sections 3 and 4."""

    def __init__(self, arrays: Mapping[str, Any], *, rnn: str, xp: Any = np) -> None:
        self.xp = xp
        self.rnn = rnn
        self.arrays = {name: array.astype(np.float64) for name, array in arrays.items()} if xp is np else arrays
        self.has_trees = "trees.encode" in arrays

    def word_vectors(self, words: Sequence[int], tags: Sequence[Sequence[int]], external: Any = None) -> list[Vector]:
        """v_i of one sentence: v'_i = g(W^v (w_i ∘ p_i) + b), and f_i ∘ b_i if there is a BiLSTM."""
        p, xp = self.arrays, self.xp
        tables = [p[f"words.{kind}"] for kind in ("upos", "xpos") if f"words.{kind}" in p]
        plain = []
        for i, word in enumerate(words):
            parts = [p["words.embedding"][word]]
            if external is not None:
                parts.append(p["words.external"][external[i]])
            parts += [table[of_kind[i]] for table, of_kind in zip(tables, tags, strict=True)]
            if "characters.embedding" in p:
                parts += self.spell(spelling(word))
            plain.append(xp.tanh(xp.concatenate(parts) @ p["words.project"] + p["words.bias"]))
        stacks = [prefix for prefix in ("words.rnn", "words.rnn0", "words.rnn1") if f"{prefix}.0.input" in p]
        for prefix in stacks:
            forward, backward = Rnn(self, prefix, 0), Rnn(self, prefix, 1)
            f = [forward.append(v).output for v in plain]
            b = [backward.append(v).output for v in reversed(plain)][::-1]
            plain = [xp.concatenate(pair) for pair in zip(f, b, strict=True)]
        return plain

    def spell(self, characters: Sequence[int]) -> list[Vector]:
        """The last states of two LSTMs that read a word's characters, forward and backward."""
        forward, backward = (Rnn(self, "characters.rnn", side, rnn="lstm") for side in (0, 1))
        for character in characters:
            forward.append(self.arrays["characters.embedding"][character])
        for character in reversed(characters):
            backward.append(self.arrays["characters.embedding"][character])
        return [forward.output, backward.output]

    def node(self, id: int, v: Vector) -> Node:
        node = Node(id, v, Rnn(self, "trees.rnn", LEFT), Rnn(self, "trees.rnn", RIGHT))
        if self.has_trees:
            node.e_l.append(v)
            node.e_r.append(v)
        return node

    def c(self, node: Node) -> Vector:
        return self.xp.concatenate([node.e_l.output, node.e_r.output]) if self.has_trees else node.v

    def enc(self, c: Vector, relation: int) -> Vector:
        p, xp = self.arrays, self.xp
        return xp.tanh(xp.concatenate([c, p["trees.relation"][relation]]) @ p["trees.encode"] + p["trees.bias"])

    def c_of_tree(self, t: int, vectors: Sequence[Vector], heads: Sequence[int], relations: Sequence[int]) -> Vector:
        """e_l ∘ e_r of the subtree under word ``t``, by the recursive definition of section 3."""
        if not self.has_trees:
            return vectors[t - 1]
        node = self.node(t, vectors[t - 1])
        outward = [(node.e_l, range(t - 1, 0, -1)), (node.e_r, range(t + 1, len(heads) + 1))]
        for rnn, words in outward:
            for m in words:
                if heads[m - 1] == t:
                    rnn.append(self.enc(self.c_of_tree(m, vectors, heads, relations), relations[m - 1]))
        return self.c(node)

    def scores(self, subtrees: Sequence[Vector]) -> Scores:
        """Score(pend, i, d, l) of every action, given the c of the whole pending list."""
        p, xp = self.arrays, self.xp
        hidden_dim, n_relations = len(p["scorer.unlabelled"]), len(p["scorer.labelled_bias"]) // 2
        padding = self.c(self.node(0, p["trees.padding"]))
        k = len(p["scorer.hidden"]) // len(padding) // 2 - 1
        padded = [padding] * k + list(subtrees) + [padding] * k
        scores: Scores = {}
        for i in range(len(subtrees) - 1):
            x = xp.concatenate(padded[i : i + 2 * k + 2])
            of_u, of_l = slice(0, hidden_dim), slice(hidden_dim, None)
            hidden_u = xp.tanh(x @ p["scorer.hidden"][:, of_u] + p["scorer.hidden_bias"][of_u])
            hidden_l = xp.tanh(x @ p["scorer.hidden"][:, of_l] + p["scorer.hidden_bias"][of_l])
            mlp_u = hidden_u @ p["scorer.unlabelled"] + p["scorer.unlabelled_bias"]
            mlp_l = hidden_l @ p["scorer.labelled"] + p["scorer.labelled_bias"]
            for d in (LEFT, RIGHT):
                for relation in range(n_relations):
                    scores[i, d, relation] = mlp_u[d] + mlp_l[d * n_relations + relation]
        return scores

    def derive(
        self, vectors: Sequence[Vector], select: Callable[[list[int], Scores], Action]
    ) -> tuple[list[Step], Node]:
        """Algorithm 2: the attachments, and the one node that is left."""
        pend = [self.node(id, v) for id, v in enumerate(vectors, 1)]
        steps: list[Step] = []
        lost: dict[int, float] = {}
        while len(pend) > 1:
            scores = self.scores([self.c(node) for node in pend])
            action = select([node.id for node in pend], scores)
            i, d, relation = action
            m, h = (pend[i], pend[i + 1]) if d == LEFT else (pend[i + 1], pend[i])
            if self.has_trees:
                (h.e_l if d == LEFT else h.e_r).append(self.enc(self.c(m), relation))
            others = {other: number(score) for other, score in scores.items() if other != action}
            arcs = {other: head_and_modifier([node.id for node in pend], other) for other in others}
            rivals = [others[o] for o, arc in arcs.items() if arc[1] in (h.id, m.id) and arc != (h.id, m.id)]
            labels = [others[o] for o, arc in arcs.items() if arc == (h.id, m.id)]
            pend.remove(m)
            best = (max(scores, default=-np.inf) for scores in (rivals, labels, others.values()))
            margins = [number(scores[action]) - rival for rival in best]
            margins.append(lost.get(m.id, np.inf))
            steps.append(Step(h.id, m.id, relation, number(scores[action]), *margins))
            for other, (head, word) in arcs.items():
                if head == m.id:
                    lost[word] = min(lost.get(word, np.inf), number(scores[action]) - others[other])
        return steps, pend[0]

    def parse(self, vectors: Sequence[Vector]) -> list[Step]:
        """``select`` of section 4.4: the best-scored action of all."""
        return self.derive(vectors, lambda _, scores: max(scores, key=scores.__getitem__))[0]


def number(score: Any) -> float:
    """A score without its graph."""
    return float(score.detach() if hasattr(score, "detach") else score)


def head_and_modifier(pend: Sequence[int], action: Action) -> tuple[int, int]:
    i, d, _ = action
    return (pend[i + 1], pend[i]) if d == LEFT else (pend[i], pend[i + 1])


def is_correct(heads: Sequence[int], relations: Sequence[int], pend: Sequence[int], action: Action) -> bool:
    """The set G of section 5.2, by the three ways there are to do harm."""
    h, m = head_and_modifier(pend, action)
    if any(heads[other - 1] == m for other in pend):
        return False  # (1) premature: m still waits for modifiers of its own
    if heads[m - 1] == 0:
        return False  # the root belongs to no word
    if heads[m - 1] in pend:
        return heads[m - 1] == h and relations[m - 1] == action[2]  # (2) another head, (3) another relation
    return True


@dataclass
class Teacher:
    """Algorithm 4 as a way to select; ``follow(correct, wrong, lead)`` says which of the two to follow."""

    heads: Sequence[int]
    relations: Sequence[int]
    margin: float
    follow: Callable[[Action, Action, float], Action]
    losses: list[Any] = field(default_factory=list)
    seen: list[tuple[Action, Action, float]] = field(default_factory=list)
    """The best correct and the best wrong action of every step (NOWHERE if all are correct), and the lead."""
    closest: float = np.inf
    """How near any comparison was to turning out otherwise."""

    def __call__(self, pend: list[int], scores: Scores) -> Action:
        plain = {action: number(score) for action, score in scores.items()}
        ranked = sorted(plain, key=plain.__getitem__, reverse=True)
        good = [action for action in ranked if is_correct(self.heads, self.relations, pend, action)]
        bad = [action for action in ranked if action not in good]
        lead = plain[good[0]] - plain[bad[0]] if bad else np.inf
        if lead < self.margin:
            self.losses.append(self.margin - scores[good[0]] + scores[bad[0]])
        gaps = [plain[a] - plain[b] for some in (good[:2], bad[:2]) for a, b in pairwise(some)]
        self.closest = min(self.closest, abs(lead), abs(lead - self.margin), *gaps)
        self.seen.append((good[0], bad[0] if bad else NOWHERE, lead))
        return self.follow(*self.seen[-1])


def always_correct(correct: Action, wrong: Action, lead: float) -> Action:
    """Without the dynamic oracle."""
    return correct


def never_bold(correct: Action, wrong: Action, lead: float) -> Action:
    """p_aug = 0: the parser's own mistakes."""
    return wrong if lead < 0 else correct


def always_bold(correct: Action, wrong: Action, lead: float) -> Action:
    """p_aug = 1, for a margin of 1."""
    return wrong if lead < 1 else correct
