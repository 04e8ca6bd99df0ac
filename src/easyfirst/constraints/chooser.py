"""Constrained parsing: the same loop, in which only actions may be chosen that leave every constraint satisfiable.

An attachment is allowed if the modifier's set of heads has the head, no word that is fixed to the modifier is still
pending, and both are of one region (no unfinished bracket holds only one of them). If words are fixed or free, that is
enough (see :mod:`easyfirst.constraints.feasible`); else a :class:`Lookahead` is asked about the best actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from easyfirst.constraints.brackets import Regions
from easyfirst.constraints.lookahead import Lookahead
from easyfirst.constraints.rules import Rules
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT
from easyfirst.parsing.actions import Actions, Choose, easiest, head_and_modifier
from easyfirst.parsing.candidates import Candidates

FREE = -1


def constrain(lengths: Sequence[int], rules: Sequence[Rules | None], numbers: Sequence[int], choose: Choose) -> Choose:
    """Wrap the chooser of a batch so that it obeys the rules of its sentences. ``lengths`` and ``rules`` are those of
    all sentences, ``numbers`` says which are in the batch."""
    of_batch = [rules[number] for number in numbers]
    if not any(of_batch):
        return choose
    return Constrained([lengths[number] for number in numbers], of_batch, choose)


class Constrained:
    """A chooser for a batch of sentences, some of which have rules: the best-scored action that is allowed."""

    def __init__(self, lengths: Sequence[int], rules: Sequence[Rules | None], choose: Choose = easiest) -> None:
        """Longest sentence first, as the engine takes them. ``choose``: takes the best of what is allowed."""
        self._choose = choose
        outside = sum(lengths)
        self._heads = np.full(outside + 1, FREE, dtype=np.int64)
        """The row of a word's fixed head, the outside for a fixed root."""
        self._relations = np.full(outside + 1, FREE, dtype=np.int64)
        self._regions = np.zeros(outside + 1, dtype=np.int64)
        self._sentences: dict[int, _Sentence] = {}
        start = 0
        for number, (length, of_sentence) in enumerate(zip(lengths, rules, strict=True)):
            if of_sentence is not None:
                self._add(number, start, of_sentence, outside)
            start += length
        fixed = self._heads[self._heads != FREE]
        self._n_missing = np.bincount(fixed, minlength=outside + 1)
        self._n_missing[outside] = 0

    def _add(self, number: int, start: int, rules: Rules, outside: int) -> None:
        for m, head in enumerate(rules.wanted.fixed_heads):
            if m and head is not None:
                self._heads[start + m - 1] = start + head - 1 if head else outside
        for m, relation in rules.relations.items():
            self._relations[start + m - 1] = relation
        sentence = _Sentence(start, rules)
        self._regions[start : start + rules.wanted.n_words] = sentence.regions.regions[1:]
        if rules.wanted.brackets or rules.barred or sentence.lookahead is not None:
            self._sentences[number] = sentence

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        allowed = self._allowed(candidates, n_active)
        actions = self._choose(allowed, n_active)
        h, m = head_and_modifier(actions.left, candidates.pending.next[actions.left], actions.directions)
        heads = self._heads[m]
        np.subtract.at(self._n_missing, heads[heads != FREE], 1)
        for number, sentence in self._sentences.items():
            if number < n_active:
                sentence.attached(int(h[number]), int(m[number]))
                self._regions[h[number]] = sentence.region_of(int(h[number]))
        return actions

    def _allowed(self, candidates: Candidates, n_active: int) -> AllowedCandidates:
        rows, h, m = candidates.arcs(n_active)
        heads = self._heads[m]
        is_allowed = ((heads == FREE) | (heads == h)) & (self._n_missing[m] == 0)
        is_allowed &= self._regions[h] == self._regions[m]
        allowed = AllowedCandidates(candidates, self._relations, self._sentences)
        best, relations = allowed.best(n_active), allowed.best_relations(n_active)
        best[~is_allowed] = -np.inf
        lines, cells = np.nonzero((self._relations[m] != FREE) & (best > -np.inf))
        relations[lines, cells] = self._relations[m[lines, cells]]
        left = rows[lines, cells >> 1]
        best[lines, cells] = candidates.scores_of(left, cells & 1)[np.arange(len(left)), relations[lines, cells]]
        for number, sentence in self._sentences.items():
            if number < n_active:
                sentence.bar(allowed, best[number], relations[number])
                sentence.look_ahead(allowed, best[number], h[number], m[number])
        return allowed


class AllowedCandidates(Candidates):
    """A masked view of candidates for one step: actions that are not allowed have minus infinity."""

    __slots__ = ("_barred", "_fixed", "_sentences")

    def __init__(self, candidates: Candidates, fixed: Ints, sentences: Mapping[int, _Sentence]) -> None:
        """``fixed``: the relations that rows have as modifiers."""
        super().__init__(
            candidates.pending,
            candidates.n_relations,
            candidates.grid,
            candidates.scores,
            *candidates.copy_grid(),
        )
        self._fixed = fixed
        self._sentences = sentences
        self._barred: dict[tuple[int, int], list[int]] = {}

    def bar(self, left: int, direction: int, relations: Sequence[int]) -> None:
        """A pair must not have these relations in this direction."""
        self._barred[left, direction] = list(relations)

    def scores_of(self, left: Ints, directions: Ints) -> Floats:
        scores = super().scores_of(left, directions)
        _, m = head_and_modifier(left, self.pending.next[left], directions)
        fixed = self._fixed[m]
        is_other = (fixed[:, None] != FREE) & (fixed[:, None] != np.arange(self.n_relations))
        scores[is_other] = -np.inf
        if self._barred:
            for line, pair in enumerate(zip(left.tolist(), directions.tolist(), strict=True)):
                scores[line, self._barred.get(pair, [])] = -np.inf
        return scores

    def is_open(self, left: int, direction: int) -> bool:
        """Whether a tree remains possible: known already of the best action of a sentence and those that the margin
        compares it with, which else have minus infinity."""
        number = int(np.searchsorted(self.pending.starts, left, side="right")) - 1
        ends = (int(self.pending.next[left]), left)
        h, m = ends if direction == LEFT else ends[::-1]
        return number not in self._sentences or self._sentences[number].allows(h, m)


class _Sentence:
    """One sentence whose rules concern more than one word at a time."""

    def __init__(self, start: int, rules: Rules) -> None:
        wanted = rules.wanted
        self._start = start
        self._barred = rules.barred
        self.regions = Regions(wanted.n_words, wanted.brackets)
        self.lookahead = None if wanted.is_simple else Lookahead(wanted, rules.tree, self.regions)

    def region_of(self, row: int) -> int:
        return self.regions.regions[row - self._start + 1]

    def attached(self, h: int, m: int) -> None:
        """Rows."""
        h, m = h - self._start + 1, m - self._start + 1
        if self.lookahead is not None:
            self.lookahead.attached(h, m)
        self.regions.attach(h, m)

    def allows(self, h: int, m: int) -> bool:
        """Whether a tree remains possible. Rows."""
        return self.lookahead is None or self.lookahead.allows(h - self._start + 1, m - self._start + 1)

    def bar(self, allowed: AllowedCandidates, best: Floats, relations: Ints) -> None:
        """Of the arcs that must not have some relations, those that could be made now are scored with the others."""
        after = allowed.pending.next
        for (h, m), numbers in self._barred.items():
            left, direction = min(h, m), int(m > h)
            cell = 2 * (left - 1) + direction
            row = self._start + left - 1
            if best[cell] == -np.inf or after[row] != self._start + max(h, m) - 1:
                continue
            allowed.bar(row, direction, sorted(numbers))
            scores = allowed.scores_of(np.array([row]), np.array([direction]))[0]
            relations[cell] = scores.argmax()
            best[cell] = scores[relations[cell]]

    def look_ahead(self, allowed: AllowedCandidates, best: Floats, h: Ints, m: Ints) -> None:
        """Take out what leads into a dead end, until the best action does not, nor any that the margin compares it
        with."""
        if self.lookahead is None:
            return

        def is_good(cell: int) -> bool:
            if best[cell] > -np.inf and not self.allows(int(h[cell]), int(m[cell])):
                best[cell] = -np.inf
            return bool(best[cell] > -np.inf)

        while not is_good(cell := int(best.argmax())):
            if best.max() == -np.inf:
                return
        for rival in allowed.rival_cells(self._start, cell):
            is_good(rival)
