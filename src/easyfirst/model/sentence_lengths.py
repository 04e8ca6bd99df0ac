"""How long the sentences of a treebank are: a sentence far beyond that is improbable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from easyfirst.json_values import table, whole_number

MIN_SENTENCES = 100  # fewer tell too little about long sentences
LONG_SHARE, USUAL_SHARE = 0.9, 0.99  # the shares of sentences that are not long, and whose length is usual


@dataclass(frozen=True, slots=True)
class SentenceLengths:
    """The lengths that are exceeded by long sentences and by the longest ones, and by how much these exceed theirs on
    average."""

    long: int
    usual: int
    excess: int

    @classmethod
    def of(cls, lengths: Sequence[int]) -> SentenceLengths | None:
        """Measure the lengths of sentences in tokens; None if there are too few of them."""
        if len(lengths) < MIN_SENTENCES:
            return None
        long, usual = (max(1, int(length)) for length in np.quantile(lengths, (LONG_SHARE, USUAL_SHARE)))
        beyond = [length - usual for length in lengths if length > usual]
        return cls(long, usual, max(1, round(sum(beyond) / max(1, len(beyond)))))

    def to_dict(self) -> dict[str, int]:
        """Return the lengths as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> SentenceLengths:
        """Undo :meth:`to_dict`; raise a :class:`ValueError` if something is missing or of the wrong type."""
        found: dict[str, Any] = table(values, "sentence_lengths", keys=("long", "usual", "excess"))
        return cls(**{name: whole_number(value, name, least=1) for name, value in found.items()})
