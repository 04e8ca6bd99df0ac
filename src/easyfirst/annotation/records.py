"""Annotated sentences in CoNLL-U: who annotated them, in comments, and what was confirmed, in MISC.

The comments of a sentence are ``# annotation_number = 17``, its number in the corpus, ``# annotation_status = done`` or
``partial``, ``# annotation_by = anna, ben`` and ``# annotation_time = 2026-11-19T21:40:12Z``. A word whose arc somebody
looked at has ``Confirmed=seen`` in MISC, and one whose arc somebody changed ``Confirmed=corrected``. In a sentence that
is not done, all other words have ``_`` as HEAD and DEPREL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum

from easyfirst.errors import DataError, InputError
from easyfirst.treebank.comments import with_comments
from easyfirst.treebank.misc import entries
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_known_arcs, check_tree

CONFIRMED = "Confirmed"
"""The MISC key of words whose arcs somebody confirmed."""
NUMBER, STATUS, BY, TIME = "annotation_number", "annotation_status", "annotation_by", "annotation_time"
_OWN = tuple(name.encode() for name in (NUMBER, STATUS, BY, TIME))
MAX_NAME = 60
_RELATION = re.compile(r"\S{1,200}")


class Status(str, Enum):
    """How far a sentence is annotated."""

    done = "done"
    partial = "partial"


class Check(str, Enum):
    """How the arc of a word was confirmed."""

    seen = "seen"
    corrected = "corrected"


@dataclass(frozen=True, slots=True)
class Annotation:
    """The tree of a sentence as far as people confirmed it."""

    status: Status
    heads: tuple[int | None, ...]
    """The head of each word; None where it is not known."""
    relations: tuple[str | None, ...]
    """The relation of each word; None where it is not known."""
    checks: Mapping[int, Check] = field(default_factory=dict[int, Check])
    """How the arcs of words were confirmed, by the ids of the words."""
    annotators: tuple[str, ...] = ()
    """The names of the people who saved the sentence, the last one last."""
    time: str = ""
    """When it was saved."""

    @classmethod
    def of(
        cls,
        sentence: Sentence,
        status: Status,
        heads: Sequence[int | None],
        relations: Sequence[str | None],
        checks: Mapping[int, Check],
        *,
        by: str,
        before: Annotation | None = None,
        time: datetime | None = None,
    ) -> Annotation:
        """Make the annotation that somebody saves. ``before``: the one that it replaces. Raise an :class:`InputError`
        unless it is a tree or, if it is partial, a part of one."""
        name = check_name(by)
        n = len(sentence)
        if not len(heads) == len(relations) == n:
            raise InputError(f"the sentence has {n} words; give a head and a relation for each")
        for m, relation in enumerate(relations, 1):
            if relation is not None and not (_RELATION.fullmatch(relation) and relation.isprintable()):
                raise InputError(f"the relation of word {m} is {relation!r}; it must be a name without spaces")
        if wrong := [m for m in checks if not 1 <= m <= n]:
            raise InputError(f"word {wrong[0]} is confirmed, but the sentence has {n} words")
        if status is Status.partial:
            heads = [head if m in checks else None for m, head in enumerate(heads, 1)]
            relations = [relation if m in checks else None for m, relation in enumerate(relations, 1)]
        own = dict(sorted(checks.items()))
        annotators = (*(other for other in (before.annotators if before else ()) if other != name), name)
        when = (time or datetime.now(timezone.utc)).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = cls(status, tuple(heads), tuple(relations), own, annotators, when)
        found.check(sentence)
        return found

    @classmethod
    def read(cls, sentence: Sentence) -> Annotation | None:
        """Return the annotation of a sentence that was read from an output; None if it has none."""
        facts = sentence.metadata
        try:
            status = Status(facts[STATUS])
        except (KeyError, ValueError):
            return None
        annotators = tuple(name for part in facts.get(BY, "").split(",") if (name := part.strip()))
        return cls(status, sentence.heads, sentence.relations, checks_of(sentence), annotators, facts.get(TIME, ""))

    def check(self, sentence: Sentence) -> None:
        """Raise an :class:`InputError` unless this is a tree of a sentence or, if it is partial, a part of one."""
        plain = Sentence.unannotated(sentence.forms).with_tree(self.heads, self.relations)
        try:
            if self.status is Status.done:
                check_tree(plain)
            else:
                check_known_arcs(plain)
        except DataError as error:
            raise InputError(str(error)) from None

    def write(self, sentence: Sentence, number: int) -> bytes:
        """Return a sentence of the corpus with this annotation. Everything but HEAD, DEPREL, the key in MISC and the
        comments is as it was."""
        misc = [
            {CONFIRMED: check.value if (check := self.checks.get(m)) else None} for m in range(1, len(sentence) + 1)
        ]
        annotated = sentence.with_tree(self.heads, self.relations).with_misc(misc)
        facts = {NUMBER: str(number), STATUS: self.status.value, BY: ", ".join(self.annotators), TIME: self.time}
        comments = [f"# {key} = {value}" for key, value in facts.items() if value]
        return with_comments(annotated.to_bytes(), comments, keeps=_is_of_corpus)


def checks_of(sentence: Sentence) -> dict[int, Check]:
    """Return how the arcs of words were confirmed, as MISC has it."""
    found: dict[int, Check] = {}
    for m, (cell, head) in enumerate(zip(sentence.misc, sentence.heads, strict=True), 1):
        for key, _, value in entries(cell):
            if key == CONFIRMED and head is not None and value in Check.__members__:
                found[m] = Check(value)
    return found


def number_of(sentence: Sentence) -> int | None:
    """Return the number that an annotated sentence has in the corpus."""
    value = sentence.metadata.get(NUMBER, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def check_name(name: str) -> str:
    """Return the name of an annotator without white space around it. Raise an :class:`InputError` if it cannot be
    written into a comment."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "," in name or not name.isprintable():
        raise InputError(f"the annotator's name is {name[:MAX_NAME]!r}; give 1 to {MAX_NAME} characters without commas")
    return name


def _is_of_corpus(line: bytes) -> bool:
    return not (line.startswith(b"#") and line[1:].strip().partition(b"=")[0].strip() in _OWN)
