"""The vectors nearest to a query in a stream of vectors, by their cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from easyfirst.nn.arrays import Floats

_Item = TypeVar("_Item")
SMALLEST = 1e-9  # the length below which a vector has no direction


def cosines(vectors: Floats, query: Floats) -> Floats:
    """Return the cosine of each row with a vector; 0 where one of the two is zero."""
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    return vectors @ query / np.maximum(lengths, SMALLEST)


class Best(Generic[_Item]):
    """The items with the highest scores of those that were offered, and of equal keys only the first of the best."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._found: dict[str, tuple[float, int, _Item]] = {}
        self._n_offered = 0

    @property
    def bar(self) -> float:
        """The score below which nothing is kept any more."""
        if len(self._found) < self._top:
            return -np.inf
        return min(score for score, *_ in self._found.values())

    def offer(self, scores: Floats, keys: Sequence[str], make: Callable[[int], _Item]) -> None:
        """Keep the rows that are among the best; ``make`` is called for these only."""
        start, bar = self._n_offered, self.bar
        self._n_offered += len(scores)
        order: list[int] = np.argsort(-scores, kind="stable").tolist()
        for row in order:
            score, key = float(scores[row]), keys[row]
            if score <= bar:
                return
            if key in self._found and self._found[key][0] >= score:
                continue
            self._found[key] = (score, start + row, make(row))
            if len(self._found) > self._top:
                worst = min(self._found, key=lambda found: (self._found[found][0], -self._found[found][1]))
                del self._found[worst]
            bar = self.bar

    def items(self) -> list[tuple[float, _Item]]:
        """Return the items with their scores, the best first."""
        ordered = sorted(self._found.values(), key=lambda found: (-found[0], found[1]))
        return [(score, item) for score, _, item in ordered]
