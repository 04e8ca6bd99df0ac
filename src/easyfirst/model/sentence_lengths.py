"""How long the sentences of a treebank are: a sentence far beyond that is improbable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from easyfirst.json_values import table, whole_number

MIN_SENTENCES = 100  # fewer tell too little about long sentences
USUAL_SHARE = 0.99  # the share of sentences whose length is usual


@dataclass(frozen=True, slots=True)
class SentenceLengths:
    """The longest usual sentence, and by how many tokens longer ones exceed it on average.

    Beyond the usual length, the number of sentences decays about exponentially: with each further token a sentence is
    less probable by a factor of ``exp(-1 / excess)``.
    """

    usual: int
    excess: int

    @classmethod
    def of(cls, lengths: Sequence[int]) -> SentenceLengths | None:
        """Measure the lengths of sentences in tokens; None if there are too few of them."""
        if len(lengths) < MIN_SENTENCES:
            return None
        usual = max(1, int(np.quantile(lengths, USUAL_SHARE)))
        beyond = [length - usual for length in lengths if length > usual]
        return cls(usual, max(1, round(sum(beyond) / max(1, len(beyond)))))

    def to_dict(self) -> dict[str, int]:
        """Return the lengths as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> SentenceLengths:
        """Undo :meth:`to_dict`; raise a :class:`ValueError` if something is missing or of the wrong type."""
        found: dict[str, Any] = table(values, "sentence_lengths", keys=("usual", "excess"))
        return cls(**{name: whole_number(value, name, least=1) for name, value in found.items()})
