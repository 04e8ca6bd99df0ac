"""The progress bar of a verb."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Report(Protocol):
    """A function that reports the words and bytes of the input that were processed."""

    def __call__(self, n_words: int, n_bytes: int = 0) -> None: ...


@contextmanager
def reporting(n_bytes: int | None, *, visible: bool) -> Generator[Report, None, None]:
    """Show a progress bar on stderr if it is ``visible``."""
    if not visible:
        yield lambda n_words, n_bytes=0: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total = 0
    begin = time.perf_counter()
    columns = (
        BarColumn(),
        TextColumn("{task.fields[words]:,} words"),
        TextColumn("{task.fields[rate]:,.0f} words/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=n_bytes, words=0, rate=0.0)

        def report(n_words: int, n_bytes: int = 0) -> None:
            nonlocal total
            total += n_words
            rate = total / (time.perf_counter() - begin)
            progress.update(task, advance=n_bytes, words=total, rate=rate)

        yield report
