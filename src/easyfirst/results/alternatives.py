"""What else each word could be: other heads and other relations, with their probabilities.

The actions of every step are compared with the action that was chosen there. A head that a word nearly had at some step
counts, even if it was lost later because another action took it away. The probability of the arc and of its relation
are those of :mod:`easyfirst.confidence`. The rest is divided among the other relations of the same head, and among the
other heads, in the ratio of the exponentials of their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easyfirst.confidence.estimates import rounded
from easyfirst.constraints.records import Constraints, ForbiddenArc
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.treebank.lifting import Label

if TYPE_CHECKING:
    from easyfirst.results.parses import Parse

MOST = 6
"""The most alternatives of a word, its arc included."""
LEAST = 0.001
"""The least probability that is worth showing."""


@dataclass(frozen=True, slots=True)
class WordAlternative:
    """A head and a relation that a word could have."""

    head: int
    relation: str
    probability: float | None
    """None if the model has no calibration."""

    def to_dict(self) -> dict[str, Any]:
        probability = None if self.probability is None else rounded(self.probability)
        return {"head": self.head, "relation": self.relation, "probability": probability}


class Rivals:
    """The lead of the chosen action over every other arc, the least of all steps. Words are numbered from 0."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._labels = labels
        self._is_plain = np.array([label.mark is None or not label.mark.is_lifted for label in labels])
        self._gaps: dict[tuple[int, int], tuple[float, int]] = {}  # of arcs (modifier, head), with the relation
        self._relations: dict[int, Floats] = {}  # of modifiers: the gaps of the relations of their arc

    def see(self, h: Ints, m: Ints, scores: Floats, arc: int, relation: int) -> None:
        """Record the scores of all possible arcs at a step, (n_arcs, n_labels), where one arc with a relation was
        chosen."""
        gaps = np.where(self._is_plain, scores, -np.inf) - scores[arc, relation]
        self._relations[int(m[arc])] = gaps[arc]
        best = gaps.argmax(axis=1)
        for head, modifier, label, gap in zip(
            h.tolist(), m.tolist(), best.tolist(), gaps[np.arange(len(best)), best].tolist(), strict=True
        ):
            if gap > self._gaps.get((modifier, head), (-np.inf, 0))[0]:
                self._gaps[modifier, head] = gap, label

    def of(self, parse: Parse) -> tuple[tuple[WordAlternative, ...], ...]:
        """Return the alternatives of each word, the most probable first, with its own arc. Forbidden arcs are none."""
        forbidden = _forbidden(parse.constraints)
        by_word: list[list[tuple[int, int, float]]] = [[] for _ in range(len(parse))]
        for (m, head), (gap, label) in self._gaps.items():
            by_word[m].append((head + 1, label, gap))
        confidence, beam = parse.confidence, parse.calibration and parse.calibration.beam
        temperature = beam.temperature if beam else 1.0
        found: list[tuple[WordAlternative, ...]] = []
        for m, (head, relation) in enumerate(zip(parse.heads, parse.relations, strict=True)):
            heads = [(h, self._labels[label].relation, gap) for h, label, gap in by_word[m] if h != head]
            gaps = self._relations.get(m, np.empty(0))
            same = [
                (head, label.relation, float(gap))
                for label, gap in zip(self._labels, gaps, strict=False)
                if label.relation != relation and np.isfinite(gap) and (m, head - 1) in self._gaps
            ]
            heads, same = (
                [each for each in arcs if not {(m + 1, each[0], None), (m + 1, each[0], each[1])} & forbidden]
                for arcs in (heads, same)
            )
            arc, label = (confidence.arcs[m], confidence.labels[m]) if confidence else (None, None)
            rest = _share(same, None if arc is None or label is None else max(arc - label, 0.0), temperature)
            rest += _share(heads, None if arc is None else 1 - arc, temperature)
            own = WordAlternative(head, relation, label)
            found.append((own, *_likeliest(rest)))
        return tuple(found)


def _forbidden(constraints: Constraints | None) -> set[tuple[int, int, str | None]]:
    """Return the forbidden arcs as (modifier, head, relation), where None is any relation."""
    items = constraints.items if constraints else ()
    return {(item.modifier, item.head, item.relation) for item in items if isinstance(item, ForbiddenArc)}


def _likeliest(rest: list[tuple[WordAlternative, float]]) -> list[WordAlternative]:
    """Return the alternatives with the highest probabilities, or scores if these are not known, without repetitions."""
    ranked = sorted(rest, key=lambda each: (-(each[0].probability or 0.0), -each[1], each[0].head))
    distinct: dict[tuple[int, str], WordAlternative] = {}
    for each, _ in ranked:
        if each.probability is None or each.probability >= LEAST:
            distinct.setdefault((each.head, each.relation), each)
    return list(distinct.values())[: MOST - 1]


def _share(
    arcs: list[tuple[int, str, float]], mass: float | None, temperature: float
) -> list[tuple[WordAlternative, float]]:
    """Divide a probability among arcs (head, relation, gap)."""
    if not arcs:
        return []
    gaps = np.array([gap for *_, gap in arcs])
    weights = np.exp((gaps - gaps.max()) / temperature)
    shares: list[float | None] = [None] * len(arcs) if mass is None else (mass * weights / weights.sum()).tolist()
    return [
        (WordAlternative(head, relation, share), gap) for (head, relation, gap), share in zip(arcs, shares, strict=True)
    ]
