"""What the parser did: every attachment in the order it was decided (Algorithm 1's ``arcs``, with scores)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from easyfirst.nn.arrays import Floats, Ints
from easyfirst.parsing.actions import Actions
from easyfirst.treebank.lifting import Label, Mark


@dataclass(frozen=True, slots=True)
class Attachment:
    """One step of a derivation. Words are numbered from 1."""

    step: int
    """From 1: the first step is the decision the parser found easiest."""
    head: int
    """The word that the modifier is attached to."""
    modifier: int
    """The word that is attached, and leaves the pending list."""
    relation: str
    """The relation of the modifier to its head."""
    score: float
    """The score of the action."""
    margin: float
    """How far the action's score was above that of the best action that would have changed the arc.

    Such an action gives the modifier another head, or takes the head away: it makes one of the two a modifier of its
    other neighbour, or the head the modifier of its modifier. An action elsewhere in the sentence changes nothing,
    since this arc can still come after it, and neither does another relation. Infinite if there was no such action,
    which needs a constraint: any two neighbours can be attached the other way round."""
    label_margin: float
    """How far the action's score was above that of the same arc with the best other relation, or the same relation with
    another mark; infinite if there is none."""
    mark: Mark | None = None
    """What the action encoded about crossing arcs, beside the relation: whether the modifier is to be moved to a head
    below this one. The tree of a parse has it there, if there is a suitable word."""
    lost_margin: float = math.inf
    """By how little the modifier lost another head at an earlier step: the smallest difference between the score of the
    action that attached a neighbour of the modifier, and that of the best action that would have attached the modifier
    to this neighbour. Infinite if it lost none."""

    @property
    def direction(self) -> str:
        """The side of its head the modifier is on."""
        return "left" if self.modifier < self.head else "right"


@dataclass(frozen=True, slots=True)
class Derivation:
    """The attachments of one sentence: one value for each step, the easiest first, and never changed afterwards."""

    heads: npt.NDArray[np.int32]  # word ids, from 1
    modifiers: npt.NDArray[np.int32]
    relations: tuple[str, ...]
    root_relation: str
    scores: npt.NDArray[np.float32]
    margins: npt.NDArray[np.float32]
    label_margins: npt.NDArray[np.float32]
    relation_scores: npt.NDArray[np.float32] | None = None
    """The score of each step's arc with every label of the model, in its order: (n_words - 1, n_labels). Steps after
    decoding read them, and parses do without, since they take more memory than all else."""
    marks: tuple[Mark | None, ...] = ()
    """The mark of each step; none if there is no mark at all."""
    lost_margins: npt.NDArray[np.float32] | None = None
    """``Attachment.lost_margin`` of each word, not of each step; that of the root over all steps. None in derivations
    that an earlier version stored."""

    def without_relation_scores(self) -> Derivation:
        """Return the derivation as parses hold it."""
        return replace(self, relation_scores=None)

    @property
    def root(self) -> int:
        """The word that was never attached."""
        n = len(self.modifiers) + 1
        return n * (n + 1) // 2 - int(self.modifiers.sum(dtype=np.int64))

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the steps as records."""
        of_words = self.lost_margins
        lost_margins = np.full(len(self.scores), np.inf) if of_words is None else of_words[self.modifiers - 1]
        arrays = (self.heads, self.modifiers, self.scores, self.margins, self.label_margins, lost_margins)
        marks = self.marks or (None,) * len(self.relations)
        rows = zip(*(array.tolist() for array in arrays), self.relations, marks, strict=True)
        return tuple(
            Attachment(step, head, modifier, relation, score, margin, label_margin, mark, lost_margin)
            for step, (head, modifier, score, margin, label_margin, lost_margin, relation, mark) in enumerate(rows, 1)
        )


@dataclass(frozen=True, slots=True)
class BatchSteps:
    """The steps of a batch: ``heads[t]``, ``modifiers[t]`` and ``actions[t]`` hold the t-th attachment of every
    sentence that has one."""

    starts: Ints
    lengths: Ints
    heads: list[Ints] = field(default_factory=list[Ints])
    modifiers: list[Ints] = field(default_factory=list[Ints])
    actions: list[Actions] = field(default_factory=list[Actions])

    @classmethod
    def before(cls, lengths: Sequence[int]) -> BatchSteps:
        """Return the record of a batch without any step."""
        array = np.asarray(lengths, dtype=np.intp)
        return cls(np.cumsum(array) - array, array)

    def append(self, h: Ints, m: Ints, actions: Actions) -> None:
        """Record one step."""
        self.heads.append(h)
        self.modifiers.append(m)
        self.actions.append(actions)

    def split(
        self,
        margins: Sequence[Floats],
        label_margins: Sequence[Floats],
        lost_margins: Floats,
        relation_scores: Sequence[Floats],
        labels: Sequence[Label],
        root_relation: str,
    ) -> Iterator[Derivation]:
        """Yield the derivation of each sentence, given the margins and scores of each step, the lost margins of each
        word, and the relations with their marks."""
        n_words, starts = int(self.lengths.sum()), self.starts
        # from a sentence's first row on, step after step; the last row of each sentence is not used
        heads, modifiers, numbers = (np.zeros(n_words, dtype=np.int32) for _ in range(3))
        scores, arc_margins, relation_margins = (np.zeros(n_words, dtype=np.float32) for _ in range(3))
        by_relation = np.zeros((n_words, len(labels)), dtype=np.float32)
        if self.modifiers:
            n_active = [len(rows) for rows in self.modifiers]
            first = starts[np.concatenate([np.arange(n) for n in n_active])]  # of each attachment's sentence
            places = first + np.repeat(np.arange(len(n_active)), n_active)
            heads[places] = np.concatenate(self.heads) - first + 1
            modifiers[places] = np.concatenate(self.modifiers) - first + 1
            numbers[places] = np.concatenate([actions.relations for actions in self.actions])
            scores[places] = np.concatenate([actions.scores for actions in self.actions])
            arc_margins[places] = np.concatenate(margins)
            relation_margins[places] = np.concatenate(label_margins)
            by_relation[places] = np.concatenate(relation_scores)
        arrays = heads, modifiers, numbers, scores, arc_margins, relation_margins, lost_margins, by_relation
        return derivations_of(self.lengths.tolist(), *arrays, labels, root_relation)


def derivations_of(
    lengths: Sequence[int],
    heads: npt.NDArray[np.int32],
    modifiers: npt.NDArray[np.int32],
    numbers: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float32],
    margins: npt.NDArray[np.float32],
    label_margins: npt.NDArray[np.float32],
    lost_margins: npt.NDArray[np.float32],
    relation_scores: npt.NDArray[np.float32],
    labels: Sequence[Label],
    root_relation: str,
) -> Iterator[Derivation]:
    """Yield the derivation of each sentence. An array has a value for each word: those of a sentence's steps and one
    that is not used, except for ``lost_margins``. ``numbers`` are those of labels."""
    all_numbers: list[int] = numbers.tolist()
    relations, marks = [label.relation for label in labels], [label.mark for label in labels]
    names = [relations[number] for number in all_numbers]
    marked = [marks[number] for number in all_numbers] if any(marks) else []
    start = 0
    for length in lengths:
        row = slice(start, start + length - 1)
        by_step, of_row = (scores[row], margins[row], label_margins[row], relation_scores[row]), marked[row]
        lost, found = lost_margins[start : start + length], tuple(of_row) if any(of_row) else ()
        yield Derivation(heads[row], modifiers[row], tuple(names[row]), root_relation, *by_step, found, lost)
        start += length
