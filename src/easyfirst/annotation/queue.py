"""Which sentence an annotator gets next, so that several annotators do not get the same one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from easyfirst.annotation.store import Store

CLAIMED = 600.0
"""The seconds for which a sentence that an annotator has opened is not given to others."""


@dataclass
class Queue:
    """The sentences of a corpus in the order in which they are annotated."""

    store: Store
    order: Sequence[int]
    """The numbers of the sentences."""
    clock: Callable[[], float] = time.monotonic
    _claims: dict[int, tuple[str, float]] = field(default_factory=dict[int, tuple[str, float]], init=False)
    _places: dict[int, int] = field(init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self._places = {number: place for place, number in enumerate(self.order)}

    def place(self, number: int) -> int:
        """Return the place of a sentence in the queue, from 1."""
        return self._places[number] + 1

    def next(self, annotator: str, after: int | None = None) -> int | None:
        """Claim the next sentence that is not done and that nobody else has open, and return its number; None if there
        is none. The search begins ``after`` a sentence and goes on from the beginning of the queue; that sentence
        itself comes last."""
        with self._lock:
            start = 0 if after is None else self._places[after] + 1
            for number in (*self.order[start:], *self.order[:start]):
                if not self.store.is_done(number) and self._is_free(number, annotator):
                    self._claims[number] = annotator, self.clock()
                    return number
        return None

    def claim(self, number: int, annotator: str) -> str | None:
        """Claim a sentence. Return who else has it open, if anybody; then it stays theirs."""
        with self._lock:
            if not self._is_free(number, annotator):
                return self._claims[number][0]
            self._claims[number] = annotator, self.clock()
            return None

    def release(self, number: int, annotator: str) -> None:
        """Give up a claim."""
        with self._lock:
            if self._claims.get(number, ("", 0))[0] == annotator:
                del self._claims[number]

    def _is_free(self, number: int, annotator: str) -> bool:
        owner, since = self._claims.get(number, (annotator, 0.0))
        return owner == annotator or self.clock() - since > CLAIMED
