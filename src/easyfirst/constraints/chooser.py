"""Constrained parsing: the same loop, which takes only actions that leave the constraints satisfiable.

An attachment is allowed if the head is in the head set of the modifier, no word fixed to the modifier is pending, and
both words share their innermost open bracket. If every word is fixed or free, an allowed attachment is feasible (see
:mod:`easyfirst.constraints.feasible`). Otherwise a :class:`Lookahead` tests the best actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from easyfirst.constraints.brackets import OpenBrackets
from easyfirst.constraints.lookahead import Lookahead
from easyfirst.constraints.rules import Rules
from easyfirst.constraints.time_limit import check_time
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.trees import LEFT
from easyfirst.parsing.actions import Actions, Choose, easiest, head_and_modifier
from easyfirst.parsing.candidates import Candidates

FREE = -1


def constrain(lengths: Sequence[int], rules: Sequence[Rules | None], numbers: Sequence[int], choose: Choose) -> Choose:
    """Wrap the chooser of a batch so that it obeys the rules of its sentences.

    ``lengths`` and ``rules`` are those of all sentences; ``numbers`` selects the sentences of the batch."""
    of_batch = [rules[number] for number in numbers]
    if not any(of_batch):
        return choose
    return ConstrainedChooser([lengths[number] for number in numbers], of_batch, choose)


class ConstrainedChooser:
    """A chooser that takes the best-scored allowed action of each sentence; some sentences have rules."""

    def __init__(self, lengths: Sequence[int], rules: Sequence[Rules | None], choose: Choose = easiest) -> None:
        """``lengths``: longest first, as in the batch. ``choose``: selects among the allowed actions."""
        self._choose = choose
        outside = sum(lengths)
        self._heads = np.full(outside + 1, FREE, dtype=np.intp)
        """The row of each word's fixed head, ``outside`` for a fixed root."""
        self._relations = np.full(outside + 1, FREE, dtype=np.intp)
        """The fixed relation of each word: the first of the labels that it may have."""
        self._labels: dict[int, tuple[int, ...]] = {}
        """All labels of a fixed relation, by the first."""
        self._brackets = np.zeros(outside + 1, dtype=np.intp)
        """The innermost open bracket of each pending word, numbered within its sentence."""
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
        head_sets = rules.head_sets
        for m, head in enumerate(head_sets.fixed_heads):
            if m and head is not None:
                self._heads[start + m - 1] = start + head - 1 if head else outside
        for m, labels in rules.relations.items():
            self._relations[start + m - 1] = labels[0]
            self._labels[labels[0]] = labels
        sentence = _Sentence(start, rules)
        self._brackets[start : start + head_sets.n_words] = sentence.brackets.innermost[1:]
        if head_sets.brackets or rules.forbidden_relations or sentence.lookahead is not None:
            self._sentences[number] = sentence

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        check_time()
        actions = self._choose(self._masked(candidates, n_active), n_active)
        h, m = head_and_modifier(actions.left, candidates.pending.next[actions.left], actions.directions)
        heads = self._heads[m]
        np.subtract.at(self._n_missing, heads[heads != FREE], 1)
        for number, sentence in self._sentences.items():
            if number < n_active:
                self._brackets[h[number]] = sentence.attach(int(h[number]), int(m[number]))
        return actions

    def _masked(self, candidates: Candidates, n_active: int) -> MaskedCandidates:
        rows, h, m = candidates.arcs(n_active)
        heads = self._heads[m]
        is_allowed = ((heads == FREE) | (heads == h)) & (self._n_missing[m] == 0)
        is_allowed &= self._brackets[h] == self._brackets[m]
        first_labels = np.arange(candidates.n_relations)
        for first, labels in self._labels.items():
            first_labels[list(labels)] = first
        masked = MaskedCandidates(candidates, self._relations, first_labels, self._sentences)
        best, relations = masked.best(n_active), masked.best_relations(n_active)
        best[~is_allowed] = -np.inf
        lines, cells = np.nonzero((self._relations[m] != FREE) & (best > -np.inf))
        scores = masked.scores_of(rows[lines, cells >> 1], cells & 1)
        relations[lines, cells] = scores.argmax(axis=1)
        best[lines, cells] = scores.max(axis=1)
        for number, sentence in self._sentences.items():
            if number < n_active:
                sentence.forbid_relations(masked, best[number], relations[number])
                sentence.mask_dead_ends(masked, best[number], h[number], m[number])
        return masked


class MaskedCandidates(Candidates):
    """A view of the candidates of one step in which actions that are not allowed have the score minus infinity."""

    __slots__ = ("_first_labels", "_fixed", "_forbidden", "_sentences")

    def __init__(
        self, candidates: Candidates, fixed: Ints, first_labels: Ints, sentences: Mapping[int, _Sentence]
    ) -> None:
        """``fixed``: the fixed relation of each row as a modifier. ``first_labels``: that of each label."""
        c = candidates
        super().__init__(c.pending, c.n_relations, c.grid, c.scores, *c.copy_grid())
        self._fixed = fixed
        self._first_labels = first_labels
        self._sentences = sentences
        self._forbidden: dict[tuple[int, int], list[int]] = {}

    def forbid_relations(self, left: int, direction: int, relations: Set[int]) -> None:
        """Forbid some relations of a pair in one direction."""
        self._forbidden[left, direction] = list(relations)

    def scores_of(self, left: Ints, directions: Ints) -> Floats:
        scores = super().scores_of(left, directions)
        _, m = head_and_modifier(left, self.pending.next[left], directions)
        fixed = self._fixed[m][:, None]
        scores[(fixed != FREE) & (fixed != self._first_labels)] = -np.inf
        if self._forbidden:
            for line, pair in enumerate(zip(left.tolist(), directions.tolist(), strict=True)):
                scores[line, self._forbidden.get(pair, [])] = -np.inf
        return scores

    def is_feasible(self, left: int, direction: int) -> bool:
        """Return whether a satisfying tree remains after an action. The grid masks infeasible actions only where they
        would be a sentence's best one, or a rival in its margin."""
        number = int(np.searchsorted(self.pending.starts, left, side="right")) - 1
        ends = (int(self.pending.next[left]), left)
        h, m = ends if direction == LEFT else ends[::-1]
        return number not in self._sentences or self._sentences[number].allows(h, m)


class _Sentence:
    """The state of a sentence whose rules concern several words at a time. Its methods take rows."""

    def __init__(self, start: int, rules: Rules) -> None:
        head_sets = rules.head_sets
        self._start = start
        self._forbidden = rules.forbidden_relations
        self.brackets = OpenBrackets(head_sets.n_words, head_sets.brackets)
        self.lookahead = None if head_sets.is_simple else Lookahead(head_sets, rules.tree, self.brackets)

    def attach(self, h: int, m: int) -> int:
        """Attach m to h, and return the innermost open bracket of h."""
        h, m = h - self._start + 1, m - self._start + 1
        if self.lookahead is not None:
            self.lookahead.attach(h, m)
        self.brackets.attach(h, m)
        return self.brackets.innermost[h]

    def allows(self, h: int, m: int) -> bool:
        """Return whether a satisfying tree remains if m is attached to h."""
        return self.lookahead is None or self.lookahead.allows(h - self._start + 1, m - self._start + 1)

    def forbid_relations(self, masked: MaskedCandidates, best: Floats, relations: Ints) -> None:
        """Give each possible arc that has forbidden relations the best of its other relations."""
        after = masked.pending.next
        for (h, m), forbidden in self._forbidden.items():
            left, direction = min(h, m), int(m > h)
            cell = 2 * (left - 1) + direction
            row = self._start + left - 1
            if best[cell] == -np.inf or after[row] != self._start + max(h, m) - 1:
                continue
            masked.forbid_relations(row, direction, forbidden)
            scores = masked.scores_of(np.array([row]), np.array([direction]))[0]
            relations[cell] = scores.argmax()
            best[cell] = scores[relations[cell]]

    def mask_dead_ends(self, masked: MaskedCandidates, best: Floats, h: Ints, m: Ints) -> None:
        """Mask infeasible actions until the best one is feasible, and all that its margin compares it with."""
        if self.lookahead is None:
            return

        def mask(cell: int) -> bool:
            """Mask the action of a cell if it is infeasible, and return whether it was."""
            is_dead_end = bool(best[cell] > -np.inf) and not self.allows(int(h[cell]), int(m[cell]))
            if is_dead_end:
                best[cell] = -np.inf
            return is_dead_end

        while mask(cell := int(best.argmax())):
            pass
        for rival in masked.rival_cells(self._start, cell):
            mask(rival)
