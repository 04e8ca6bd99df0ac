"""The progress of a corpus run on stderr: a bar on a terminal, else a line every minute."""

from __future__ import annotations

import sys
import time
from threading import Lock
from typing import TYPE_CHECKING

from easyfirst.cli.messages import printable, say
from easyfirst.cli.outputs import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress

EVERY = 60.0
"""The seconds between two lines."""


class CorpusReport:
    """Shows the progress of a run: files, words, words a second and the time left. Threads may share one."""

    def __init__(self, n_files: int, n_bytes: int, *, quiet: bool) -> None:
        self._n_files, self._n_bytes, self._quiet = n_files, n_bytes, quiet
        self._files = self._words = self._bytes = 0
        self._lock = Lock()
        self._begin = self._shown = time.monotonic()
        self._progress: Progress | None = None

    def __enter__(self) -> CorpusReport:
        if not self._quiet and is_terminal(sys.stderr):
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            counts = TextColumn("{task.fields[counts]}")
            columns = BarColumn(), counts, TimeElapsedColumn(), TimeRemainingColumn()
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.add_task("", total=self._n_bytes, counts=self._counts())
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, n_words: int, n_bytes: int) -> None:
        """Count words that were parsed, and the bytes of input that they took."""
        with self._lock:
            self._words += n_words
            self._bytes += n_bytes
            self._show()

    def file_end(self) -> None:
        """Count a file, parsed or not."""
        with self._lock:
            self._files += 1
            self._show()

    def note(self, text: str) -> None:
        """Print something that cannot wait until the end."""
        for line in text.splitlines():
            if self._progress is not None:
                self._progress.console.print(printable(line), highlight=False, markup=False)
            else:
                say(line)

    def _counts(self) -> str:
        rate = self._words / max(time.monotonic() - self._begin, 1e-9)
        return f"{self._files:,} of {self._n_files:,} files  {self._words:,} words  {rate:,.0f} words/s"

    def _show(self) -> None:
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], completed=self._bytes, counts=self._counts())
        elif not self._quiet and time.monotonic() - self._shown >= EVERY:
            self._shown = time.monotonic()
            say(f"{self._counts()}  {self._left()}")

    def _left(self) -> str:
        """Return the time left, if the rest takes as long as what was read until now."""
        if not self._bytes:
            return "time left unknown"
        seconds = (time.monotonic() - self._begin) * (self._n_bytes - self._bytes) / self._bytes
        hours, minutes = divmod(max(0, round(seconds / 60)), 60)
        return f"about {hours} h {minutes:02} min left" if hours else f"about {minutes} min left"
