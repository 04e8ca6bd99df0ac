"""The input of all drawing functions: the words and arcs of a sentence, with their confidence and steps if known."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

from easyfirst.counting import count
from easyfirst.errors import DataError, InputError
from easyfirst.render.columns import columns_of
from easyfirst.treebank.misc import read_confidence, read_moved, read_steps
from easyfirst.treebank.raw_text import text_of
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Drawing:
    """A sentence to draw. Words are numbered from 1, and every sequence has one value for each word.

    >>> Drawing(["The", "fox", "jumps"], [2, 3, 0], ["det", "nsubj", "root"]).order()
    (1, 2)
    """

    forms: Sequence[str]
    heads: Sequence[int | None]  # 0 for the root; None if unknown, then no arc is drawn
    relations: Sequence[str | None]
    tags: Sequence[str] | None = None
    confidence: Sequence[float | None] | None = None  # of each arc, from 0 to 1
    steps: Sequence[int | None] | None = None  # the step that added each arc, from 1; None for the root
    title: str | None = None
    notes: Sequence[Sequence[str]] | None = None  # on the action chosen at each step and the runners-up, for HTML
    moved_from: Sequence[int | None] | None = None  # the head a step attached the word to, if the arc was moved later
    columns: Mapping[str, Sequence[str]] | None = None  # what is written with the words in place of tags, by name
    written: str | None = None  # the sentence as it stands in its text; None: the words with spaces between
    fixed_heads: Collection[int] = ()  # the words whose heads a user has fixed
    fixed_relations: Collection[int] = ()  # the words whose relations a user has fixed
    brackets: Sequence[tuple[int, int]] = ()  # spans of words that a user has marked as subtrees: (first, last)

    def __post_init__(self) -> None:
        n = len(self.forms)
        if n == 0:
            raise InputError("a drawing needs at least one word")
        for name in ("heads", "relations", "tags", "confidence", "steps", "notes", "moved_from"):
            values: Sequence[object] | None = getattr(self, name)
            if values is not None and len(values) != n:
                raise InputError(f"{count(n, 'form')} but {len(values)} {name}: give one for each word")
        for name, cells in (self.columns or {}).items():
            if len(cells) != n:
                raise InputError(f"{count(n, 'form')} but {len(cells)} cells of {name}: give one for each word")
        for m, head in enumerate(self.heads, 1):
            if head is not None and (not 0 <= head <= n or head == m):
                message = f"word {m} has the head {head} in a sentence of {count(n, 'word')}"
                raise InputError(f"{message}; give the number of another word, or 0 for the root")
        for m, head in enumerate(self.moved_from or (), 1):
            if head is not None and (not 1 <= head <= n or head == m):
                raise InputError(
                    f"word {m} was moved from {head} in a sentence of {count(n, 'word')}; give another word"
                )
        for m, value in enumerate(self.confidence or (), 1):
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"word {m} has the confidence {value}; it must be a number from 0 to 1")

    def __len__(self) -> int:
        return len(self.forms)

    @classmethod
    def of(cls, sentence: Sentence, show: str | Iterable[str] | None = None) -> Drawing:
        """Draw a CoNLL-U sentence with ``ArcConf=``, ``Step=``, ``MovedFrom=`` and ``Decided=`` of MISC, and with
        the columns to ``show``: some of ``lemma``, ``upos``, ``xpos`` and ``feats``, or ``none``. By default they are
        UPOS, or XPOS if there is none."""
        tags = next((tags for tags in (sentence.upos, sentence.xpos) if set(tags) != {"_"}), None)
        columns = None if show is None else columns_of(sentence, show)
        confidence, steps, moved = read_confidence(sentence), read_steps(sentence), read_moved(sentence)
        drawn = (sentence.forms, sentence.heads, sentence.relations, tags)
        known = (None if set(confidence) == {None} else confidence, None if set(steps) == {None} else steps)
        try:
            moved_from = None if set(moved) == {None} else moved
            name, text = sentence.metadata.get("sent_id"), text_of(sentence)
            return cls(*drawn, *known, name, moved_from=moved_from, columns=columns, written=text)
        except InputError as error:
            raise DataError(str(error), source=sentence.source, line=sentence.line) from None

    @property
    def text(self) -> str:
        return " ".join(self.forms) if self.written is None else self.written

    @property
    def is_right_to_left(self) -> bool:
        """Whether more words are written from right to left than from left to right, by their first character that has
        a direction."""
        kinds = [[kind for kind in map(bidirectional, form) if kind in ("L", "R", "AL")] for form in self.forms]
        ways = ["L" if found[0] == "L" else "R" for found in kinds if found]
        return ways.count("R") > ways.count("L")

    @property
    def arcs(self) -> tuple[tuple[int, int], ...]:
        """(head, modifier) of all arcs between words, sorted by modifier."""
        return tuple((h, m) for m, h in enumerate(self.heads, 1) if h)

    @property
    def has_crossing(self) -> bool:
        """Whether two arcs cross, or one spans the root."""
        spans = sorted((min(arc), max(arc)) for arc in self.arcs)
        roots = [m for m, head in enumerate(self.heads, 1) if head == 0]
        if any(first < root < last for first, last in spans for root in roots):
            return True
        ends: list[int] = []  # of the spans that are open, the innermost last
        for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
            while ends and ends[-1] <= first:
                ends.pop()
            if ends and ends[-1] < last:
                return True
            ends.append(last)
        return False

    @property
    def has_steps(self) -> bool:
        """Whether the step of every arc is known."""
        return self.steps is not None and all(self.steps[m - 1] is not None for _, m in self.arcs)

    def relation(self, m: int) -> str:
        """Return the relation of a word, or "" if unknown."""
        return self.relations[m - 1] or ""

    def confidence_of(self, m: int) -> float | None:
        return None if self.confidence is None else self.confidence[m - 1]

    def step_of(self, m: int) -> int | None:
        return None if self.steps is None else self.steps[m - 1]

    def moved_head(self, m: int) -> int | None:
        """Return the head that a word's step attached it to, if its arc was moved afterwards."""
        return None if self.moved_from is None else self.moved_from[m - 1]

    def tag(self, m: int) -> str:
        """Return the tag of a word, or "" if unknown."""
        tags = self.tags if self.columns is None else self.columns.get("upos", self.columns.get("xpos"))
        tag = tags[m - 1] if tags is not None else "_"
        return "" if tag == "_" else tag

    def lines(self) -> list[tuple[str, list[str]]]:
        """Return the lines below the words: the name of each, and its text for each word, or "" if there is none. Each
        feature of a word has a line of its own."""
        shown = ({} if self.tags is None else {"tag": self.tags}) if self.columns is None else self.columns
        lines: list[tuple[str, list[str]]] = []
        for name, cells in shown.items():
            texts = [[] if cell == "_" else cell.split("|") if name == "feats" else [cell] for cell in cells]
            n_lines = max(map(len, texts))
            lines += [(name, [(text + [""] * n_lines)[place] for text in texts]) for place in range(n_lines)]
        return lines

    def order(self) -> tuple[int, ...]:
        """Return the modifiers in the order of their steps. If the steps are unknown, return an order in which an
        easy-first parser could attach them: a word after all its modifiers, short arcs before long ones."""
        steps = self.steps
        if steps is not None and self.has_steps:
            return tuple(sorted((m for _, m in self.arcs), key=lambda m: (steps[m - 1] or 0, m)))
        return _bottom_up(self.heads)


def _bottom_up(heads: Sequence[int | None]) -> tuple[int, ...]:
    n_missing = [0] * (len(heads) + 1)  # modifiers not attached yet
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
