"""What a picture shows: the words of a sentence, its arcs, and what is known of how sure they are and when they were
decided. Every function of this package that makes a picture takes one of these.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from easyfirst.errors import DataError, EasyFirstError, InputError
from easyfirst.treebank.misc import read_confidence, read_steps
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Drawing:
    """A sentence to draw. Words are numbered from 1; all sequences have one value for each word.

    >>> Drawing(["The", "fox", "jumps"], [2, 3, 0], ["det", "nsubj", "root"]).order()
    (1, 2)
    """

    forms: Sequence[str]
    heads: Sequence[int | None]
    """0 is the root; None: not known, no arc is drawn."""
    relations: Sequence[str | None]
    tags: Sequence[str] | None = None
    confidence: Sequence[float | None] | None = None
    """How sure each arc is, from 0 to 1."""
    steps: Sequence[int | None] | None = None
    """When each arc was decided, from 1; the root has none."""
    title: str | None = None
    notes: Sequence[Sequence[str]] | None = None
    """What could have been done when each arc was decided, in words, for the page that goes through the steps."""

    def __post_init__(self) -> None:
        n = len(self.forms)
        if n == 0:
            raise InputError("a picture needs at least one word")
        for name in ("heads", "relations", "tags", "confidence", "steps", "notes"):
            values: Sequence[object] | None = getattr(self, name)
            if values is not None and len(values) != n:
                raise InputError(f"{n} forms but {len(values)} {name}: give one for each word")
        for m, head in enumerate(self.heads, 1):
            if head is not None and (not 0 <= head <= n or head == m):
                raise InputError(f"word {m} has the head {head} in a sentence of {n} words; it cannot be drawn")
        for m, value in enumerate(self.confidence or (), 1):
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"word {m} has the confidence {value}; it must be a number from 0 to 1")

    def __len__(self) -> int:
        return len(self.forms)

    @classmethod
    def of(cls, sentence: Sentence) -> Drawing:
        """From CoNLL-U: UPOS as tags, or XPOS if there is no UPOS; ``ArcConf=`` and ``Step=`` in MISC, if any."""
        tags = next((tags for tags in (sentence.upos, sentence.xpos) if any(tag != "_" for tag in tags)), None)
        confidence, steps = read_confidence(sentence), read_steps(sentence)
        try:
            return cls(
                sentence.forms,
                sentence.heads,
                sentence.relations,
                tags,
                confidence if any(value is not None for value in confidence) else None,
                steps if any(value is not None for value in steps) else None,
                sentence.metadata.get("sent_id"),
            )
        except EasyFirstError as error:
            raise DataError(str(error), source=sentence.source, line=sentence.line) from None

    @property
    def text(self) -> str:
        return " ".join(self.forms)

    @property
    def is_right_to_left(self) -> bool:
        """Whether most words that show a direction are written from right to left."""
        directions = [_direction(form) for form in self.forms]
        return directions.count("R") > directions.count("L")

    @property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """(head, modifier) of all arcs between words, by the modifier."""
        return tuple((h, m) for m, h in enumerate(self.heads, 1) if h)

    @property
    def has_steps(self) -> bool:
        """Whether it is known of every arc when it was decided."""
        return self.steps is not None and all(self.steps[m - 1] is not None for _, m in self.arcs)

    def relation(self, m: int) -> str:
        """The relation of a word; empty if not known."""
        return self.relations[m - 1] or ""

    def confidence_of(self, m: int) -> float | None:
        return None if self.confidence is None else self.confidence[m - 1]

    def step_of(self, m: int) -> int | None:
        return None if self.steps is None else self.steps[m - 1]

    def tag(self, m: int) -> str:
        """The tag of a word; empty if not known."""
        tag = self.tags[m - 1] if self.tags is not None else "_"
        return "" if tag == "_" else tag

    def order(self) -> tuple[int, ...]:
        """The modifiers in the order they found their heads; if that is not known, an order in which it may have been:
        a word after all its modifiers, short arcs before long ones."""
        modifiers = [m for _, m in self.arcs]
        steps = self.steps
        if steps is not None and self.has_steps:
            return tuple(sorted(modifiers, key=lambda m: (steps[m - 1] or 0, m)))
        return _bottom_up(self.heads)


def _bottom_up(heads: Sequence[int | None]) -> tuple[int, ...]:
    n_missing = [0] * (len(heads) + 1)  # modifiers that have not been attached
    for head in heads:
        n_missing[head or 0] += 1
    keys = {m: (abs(h - m), m) for m, h in enumerate(heads, 1) if h}
    ready = [key for m, key in keys.items() if not n_missing[m]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, m = heapq.heappop(ready)
        order.append(m)
        h = heads[m - 1] or 0
        n_missing[h] -= 1
        if h in keys and not n_missing[h]:
            heapq.heappush(ready, keys[h])
    in_cycles = sorted(keys[m] for m in keys.keys() - set(order))
    return (*order, *(m for _, m in in_cycles))


def _direction(form: str) -> str:
    """L or R by the first character that has a direction; else empty."""
    kinds = (unicodedata.bidirectional(c) for c in form)
    return next(("L" if kind == "L" else "R" for kind in kinds if kind in ("L", "R", "AL")), "")
