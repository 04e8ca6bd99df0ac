"""Runs over many files, each parsed into an output of its own. An error in a file does not stop the others."""

from __future__ import annotations

import errno
import hashlib
import time
import traceback
import warnings
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, Lock, local
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from easyfirst import __version__
from easyfirst.cli.corpus_reports import CorpusReport
from easyfirst.cli.ledger import Ledger, Version, digest_of_model, digest_of_values
from easyfirst.cli.listing import Errors, Job
from easyfirst.cli.messages import say
from easyfirst.cli.outputs import OutputError, exit_on_sigterm, open_output
from easyfirst.cli.parsing import Settings, Tally
from easyfirst.cli.sources import SentenceFiles, open_inputs
from easyfirst.counting import count
from easyfirst.errors import DataError, EasyFirstError, LanguageWarning
from easyfirst.treebank.streams import is_gzip

if TYPE_CHECKING:
    from easyfirst.parser import Parser
    from easyfirst.results.parses import Parse

FAILED = 1
"""The exit code if files could not be parsed and others could."""

LARGE = 1_000_000
"""The size in bytes from which on a file is parsed by all threads. Smaller files are parsed by one thread each."""


class _StopError(Exception):
    """The run was interrupted while this file was parsed."""


def settings_digest(settings: Settings, model: Path) -> str:
    """Return a digest of all that decides what is written for an input: the options, the model, the version of this
    package, and whether the core parses and in which precision. The instruction set of the CPU does not count."""
    from easyfirst.native.backend import Backend

    backend = Backend.choose()
    engine = "numpy" if backend.core is None else backend.precision
    model_digest = digest_of_model(model)
    return digest_of_values({**asdict(settings), "model": model_digest, "version": __version__, "engine": engine})


class JobsLeft(NamedTuple):
    """What a run has to do."""

    jobs: list[Job]
    n_complete: int


def jobs_left(jobs: Sequence[Job], ledger: Ledger, errors: Errors, *, resume: bool, overwrite: bool) -> JobsLeft:
    """Return the files to parse: all, or with ``resume`` those whose outputs are not complete.

    Unless ``overwrite``, ``errors`` receives the files whose outputs would replace a file that no run of this command
    has written, that was changed since, or that is the output for another file.
    """
    incomplete = [job for job in jobs if not (resume and ledger.is_complete(job.output, Path(job.name), job.id))]
    left: list[Job] = []
    for job in incomplete:
        reason = None
        with suppress(OSError):  # too long a name, for example; parsing reports it
            reason = _why_refused(job, ledger, overwrite=overwrite)
        if reason is None:
            left.append(job)
        else:
            errors[job.name] = DataError(reason, source=job.name)
    return JobsLeft(left, len(jobs) - len(incomplete))


def _why_refused(job: Job, ledger: Ledger, *, overwrite: bool) -> str | None:
    """Return why the output for a file cannot be written and what to do, or None if it can be."""
    if job.output.is_dir():
        return f"{job.output} is a directory, so an output of this name cannot be written; move it away"
    if overwrite or not job.output.exists():
        return None
    reason = ledger.why_kept(job.output, Path(job.name))
    return reason and f"{reason}; move it away, choose another --out-dir, or replace it with --overwrite"


def show_failures(failures: Mapping[str, str], n_files: int) -> None:
    """Print why files could not be parsed, and how many of all."""
    for name in sorted(failures):
        message = failures[name]
        say(f"error: {message if message.startswith(name) else f'{name}: {message}'}")
    if failures:
        say(f"{len(failures):,} of {count(n_files, 'file')} failed")


class CorpusRun:
    """A run over the files of a corpus."""

    def __init__(self, parser: Parser, settings: Settings, ledger: Ledger, threads: int, *, quiet: bool) -> None:
        self._parser, self._settings, self._ledger = parser, settings, ledger
        self._threads, self._quiet = threads, quiet
        self._tally = Tally(parser)
        self._failures: dict[str, str] = {}
        self._foreign: list[str] = []  # files that do not seem to be in the language of the model
        self._n_parsed = 0
        self._lock, self._stop, self._here = Lock(), Event(), local()

    def run(self, jobs: Sequence[Job], n_complete: int = 0, errors: Errors | None = None) -> None:
        """Parse files, and report on stderr. Exit with code 1 if any of them failed, or there are ``errors`` of others.
        ``n_complete`` more are not parsed again."""
        self._failures |= {name: str(error) for name, error in (errors or {}).items()}
        n_files = len(jobs) + len(self._failures)
        begin = time.perf_counter()
        has_ended = False
        try:
            with (
                self._noticing_languages(),
                exit_on_sigterm(),
                CorpusReport(len(jobs), sum(job.n_bytes for job in jobs), quiet=self._quiet) as report,
            ):
                self._parse_all(jobs, report)
            has_ended = True
        finally:
            self._show(n_files, n_complete, time.perf_counter() - begin, has_ended=has_ended)
        if self._failures:
            raise typer.Exit(FAILED)

    def _parse_all(self, jobs: Sequence[Job], report: CorpusReport) -> None:
        """Parse large files by all threads, one after the other, then small files by a thread each."""
        for job in jobs:
            if self._threads == 1 or job.n_bytes >= LARGE:
                self._try(job, self._threads, report)
        small = [job for job in jobs if self._threads > 1 and job.n_bytes < LARGE]
        running: set[Future[None]] = set()
        with ThreadPoolExecutor(self._threads, "easyfirst-file") as pool:
            try:
                for job in small:
                    running.add(pool.submit(self._try, job, 1, report))
                    if len(running) == 2 * self._threads:
                        running = _wait(running)
                while running:
                    running = _wait(running)
            except BaseException:  # an error in writing, Ctrl-C or SIGTERM
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _try(self, job: Job, threads: int, report: CorpusReport) -> None:
        """Parse a file. An error in it is stored; an error in writing ends the run."""
        self._here.name = job.name
        try:
            tally = self._parse(job, threads, report)
        except OutputError as error:
            if not _is_of_name(error):
                raise
            self._fail(job, str(error))
        except _StopError:
            raise
        except EasyFirstError as error:
            self._fail(job, str(error))
        except MemoryError:
            self._fail(job, "there is not enough memory to parse it; split it into smaller files")
        except Exception as error:  # a bug; the other files do not have to wait until it is fixed
            report.note("".join(traceback.format_exception(error)).rstrip())
            self._fail(job, f"internal error, see the traceback above ({type(error).__name__}: {error})")
        else:
            with self._lock:
                self._tally.merge(tally)
                self._n_parsed += 1
        report.file_end()

    def _fail(self, job: Job, message: str) -> None:
        with self._lock:
            self._failures[job.name] = message

    def _parse(self, job: Job, threads: int, report: CorpusReport) -> Tally:
        path, tally = Path(job.name), Tally(self._parser)
        version = Version.of(path)
        try:
            job.output.parent.mkdir(parents=True, exist_ok=True)
            job.output.exists()  # raises an error for a name that no file can have
        except OSError as error:
            message = f"the output cannot be written: {error.strerror or error}"
            raise OutputError(message, source=str(job.output)) from error
        self._ledger.begin(job.output, path)
        contents, settings = hashlib.sha256(), self._settings
        columns = {"column": settings.column, "id_column": settings.id_column}
        given = open_inputs([job.name], None, settings.source, encoding=settings.encoding, quiet=True, **columns)
        is_tagged = isinstance(given, SentenceFiles) and not settings.predicted_tags
        left = job.n_bytes
        try:
            with (
                open_output(str(job.output)) as stream,
                closing(settings.pieces(self._parser, given, threads, job.id)) as pieces,
            ):
                for piece, parses in pieces:
                    if self._stop.is_set():
                        raise _StopError
                    stream.write(piece)
                    contents.update(piece)
                    n_read = 0 if is_gzip(job.name) else min(left, sum(map(_n_bytes, parses)))
                    left -= n_read
                    report.advance(sum(map(len, parses)), n_read)
                    for parse in parses:
                        tally.add(parse, tagged=is_tagged)
                if not version.is_of(path):
                    raise DataError("the file has changed while it was read; parse it again", source=job.name)
                self._ledger.will_appear(job.output, path, contents.hexdigest())
        finally:
            report.advance(0, left)
        self._ledger.complete(job.output, path, contents.hexdigest(), version, job.id)
        return tally

    @contextmanager
    def _noticing_languages(self) -> Generator[None, None, None]:
        """Store the files that cause a :class:`LanguageWarning`, instead of printing one for each of them."""
        before = warnings.showwarning

        def notice(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
            if issubclass(category, LanguageWarning):
                with self._lock:
                    self._foreign.append(self._here.name)
            else:
                before(message, category, *place, **options)

        with warnings.catch_warnings():
            warnings.showwarning = notice
            yield

    def _show(self, n_files: int, n_complete: int, seconds: float, *, has_ended: bool) -> None:
        """Report what was parsed, what was not, and why."""
        if not self._quiet:
            self._tally.show(seconds, f"{count(self._n_parsed, 'file')}, ")
            if n_complete:
                say(f"kept {count(n_complete, 'file')} from an earlier run")
            if foreign := sorted(set(self._foreign)):
                which = f"{foreign[0]} does" if len(foreign) == 1 else f"{len(foreign):,} files do"
                example = "" if len(foreign) == 1 else f", such as {foreign[0]}"
                say(f"warning: {which} not seem to be in the language of the model{example}")
        show_failures(self._failures, n_files)
        if not has_ended and not self._quiet:
            say("the run has not ended; the same command with --resume continues it")


def _is_of_name(error: OutputError) -> bool:
    """Return whether a file system cannot have an output of this name, which says nothing about other outputs."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


def _wait(running: set[Future[None]]) -> set[Future[None]]:
    """Wait until a file has ended, and return those that have not. Raise the error that ends the run, if any."""
    done, still_running = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
    return still_running


def _n_bytes(parse: Parse) -> int:
    """Return about how many bytes of its input a sentence takes."""
    return len(parse.sentence.original or " ".join(parse.sentence.forms).encode(errors="replace")) + 1
