"""The output of annotation: a CoNLL-U file with the sentences that were annotated, in the order of the corpus.

Each save replaces the whole file at once (:mod:`easyfirst.replacing`) and is on disk when it returns. While a process
saves, it locks the directory and first reads what other processes have saved, so that several may share one file. A
save names the revision of the sentence that it replaces, and is refused if somebody else has saved the sentence since.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from easyfirst.annotation.records import Annotation, Status, number_of
from easyfirst.errors import DataError, InputError
from easyfirst.replacing import hold, open_directory, replacement
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.streams import is_gzip, line_ends_missing

if TYPE_CHECKING:
    from easyfirst.annotation.corpus import Corpus

UNTOUCHED = ""
"""The revision of a sentence that nobody has annotated."""
OTHERS = "the file has sentences that were not written by 'easyfirst annotate'; choose another --out"


class ChangedError(InputError):
    """The error for a save that would overwrite what somebody else has saved since."""


@dataclass(frozen=True, slots=True)
class Record:
    """An annotated sentence as it is in the output."""

    block: bytes
    annotation: Annotation

    @property
    def revision(self) -> str:
        """A name for these contents."""
        return sha256(self.block).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Progress:
    """How many sentences are done, are annotated in part, and are left."""

    done: int
    partial: int
    total: int
    words_done: int
    words: int
    by: dict[str, int]
    """The number of sentences that each annotator was the last to finish."""

    @property
    def left(self) -> int:
        return self.total - self.done


class Store:
    """The annotated sentences of a corpus. Threads and processes may share a file."""

    def __init__(self, path: Path, corpus: Corpus) -> None:
        """Read the output, if there is one. Raise a :class:`DataError` if it is not an output of annotation."""
        self.corpus = corpus
        self._name = str(path)
        if is_gzip(path.name):
            raise DataError("annotations are saved to plain files; leave out .gz", source=self._name)
        if path.is_dir():
            raise DataError("this is a directory; name a file for the output", source=self._name)
        self._path = path.resolve()  # through symbolic links, so that they stay
        if not self._path.parent.is_dir():
            raise DataError(f"there is no directory {path.parent} for the output; make it first", source=self._name)
        self._records: dict[int, Record] = {}  # replaced as a whole, never changed
        self._strangers: list[tuple[int, bytes]] = []  # sentences that are not in the corpus, and their numbers
        self._stamp: tuple[int, ...] | None = None  # of the file when it was read or written
        self._lock = RLock()
        self._read_again()

    @property
    def name(self) -> str:
        """The name of the file, as it was given."""
        return self._name

    def __getitem__(self, number: int) -> Record | None:
        """Return the record of a sentence; None if nobody has annotated it."""
        return self._records.get(number)  # without the lock, which a save holds while it waits for other processes

    @property
    def n_strangers(self) -> int:
        """The number of annotated sentences that are not in the corpus. They stay in the file as they are."""
        return len(self._strangers)

    @property
    def progress(self) -> Progress:
        records = self._records
        done = [number for number, record in records.items() if record.annotation.status is Status.done]
        by = Counter(records[number].annotation.annotators[-1:] for number in done)
        return Progress(
            done=len(done),
            partial=len(records) - len(done),
            total=len(self.corpus),
            words_done=sum(self.corpus.items[number - 1].n_words for number in done),
            words=self.corpus.n_words,
            by={name: n for names, n in sorted(by.items()) for name in names},
        )

    def is_done(self, number: int) -> bool:
        """Return whether a sentence is done."""
        record = self[number]
        return record is not None and record.annotation.status is Status.done

    def refresh(self) -> None:
        """Read what other processes have saved."""
        with self._exclusive():
            pass

    def save(self, number: int, annotation: Annotation, *, revision: str) -> str:
        """Write a sentence and return its new revision; it is on disk then. ``revision``: the one that it replaces.

        Raise a :class:`ChangedError` if somebody else has saved the sentence since, and a :class:`DataError` if the
        file cannot be written. Either way, the file is as before. A partial annotation in which nothing is confirmed
        removes the sentence from the file."""
        with self._exclusive():
            before = self._records.get(number)
            if revision != (UNTOUCHED if before is None else before.revision):
                raise ChangedError(_who(number, before))
            records = {other: record for other, record in self._records.items() if other != number}
            if annotation.status is Status.done or annotation.checks:
                record = Record(annotation.write(self.corpus.sentence(number), number), annotation)
                records[number] = record
            self._write(records)
            self._records = records
            return records[number].revision if number in records else UNTOUCHED

    @contextmanager
    def _exclusive(self) -> Generator[None, None, None]:
        """Lock the file, for the threads of this process and for others, and read it if others have changed it."""
        with self._lock, self._errors("written"):
            directory = open_directory(self._path.parent)
            try:
                hold(directory)
                self._read_again()
                yield
            finally:
                if directory is not None:
                    os.close(directory)

    @contextmanager
    def _errors(self, what: str) -> Generator[None, None, None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"the file cannot be {what}: {error.strerror or error}", source=self._name) from error

    def _read_again(self) -> None:
        """Read the file, unless it is as it was. If it has vanished, what was read before is kept."""
        stamp = _stamp_of(self._path)
        if stamp is None or stamp == self._stamp:
            return
        records: dict[int, Record] = {}
        strangers: list[tuple[int, bytes]] = []
        for sentence in read_conllu(self._path):
            annotation, number = Annotation.read(sentence), number_of(sentence)
            if annotation is None or number is None:
                raise DataError(OTHERS, source=self._name, line=sentence.line)
            is_ours = number in self.corpus and self.corpus.sentence(number).forms == sentence.forms
            if is_ours and number not in records:
                records[number] = Record(sentence.original, annotation)
            else:
                strangers.append((number, sentence.original))
        self._records, self._strangers, self._stamp = records, strangers, stamp

    def _write(self, records: dict[int, Record]) -> None:
        with replacement(self._path) as stream:
            end = b""
            for block in self._blocks(records):
                stream.write(line_ends_missing(end) + block)
                end = block[-4:]
            if len(self.corpus) in records:
                stream.write(self.corpus.trailer)
        self._stamp = _stamp_of(self._path)

    def _blocks(self, records: dict[int, Record]) -> Iterator[bytes]:
        numbered = [(number, 0, record.block) for number, record in records.items()]
        numbered += [(number, 1, block) for number, block in self._strangers]
        return (block for _, _, block in sorted(numbered))


def _stamp_of(path: Path) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _who(number: int, record: Record | None) -> str:
    if record is None:
        return f"sentence {number} was reopened by somebody else; load it again"
    last = record.annotation.annotators[-1:] or ("somebody else",)
    return f"{last[0]} has saved sentence {number} since; load it again to see what was saved"
