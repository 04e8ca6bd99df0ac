"""How far two annotations agree: precision, recall and F1 from counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """The number of units in the gold and in the system's trees, and of correct ones; scores are in per cent."""

    gold: int
    system: int
    correct: int
    aligned: int | None = None  # the number of aligned words, for metrics of words

    def __add__(self, other: Agreement) -> Agreement:
        has_aligned = self.aligned is not None or other.aligned is not None
        aligned = (self.aligned or 0) + (other.aligned or 0) if has_aligned else None
        return Agreement(
            self.gold + other.gold, self.system + other.system, self.correct + other.correct, aligned=aligned
        )

    @property
    def precision(self) -> float:
        return percent(self.correct, self.system)

    @property
    def recall(self) -> float:
        return percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        return percent(2 * self.correct, self.gold + self.system)

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of aligned words that are correct."""
        return None if self.aligned is None else percent(self.correct, self.aligned)

    def to_dict(self) -> dict[str, float]:
        names = ("gold", "system", "correct", "precision", "recall", "f1", "aligned", "aligned_accuracy")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def percent(part: int, whole: int) -> float:
    """Return a share in per cent; 0 if the whole is 0."""
    return 100 * part / whole if whole else 0.0
