"""The files of a corpus: those that a command names and those in directories, and the output of each."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath

from easyfirst.cli.files import STANDARD
from easyfirst.cli.formats import SUFFIXES
from easyfirst.cli.identifiers import name_of
from easyfirst.cli.ledger import outputs_in
from easyfirst.cli.options import Format
from easyfirst.cli.outputs import Target
from easyfirst.errors import DataError, InputError
from easyfirst.treebank.streams import open_file

PARSED = ".parsed"
"""What the names of outputs beside their inputs have before the ending, as in ``letters.parsed.conllu``."""

ENDINGS = {
    Target.conllu: ".conllu",
    Target.json: ".jsonl",
    Target.tree: ".txt",
    Target.parquet: ".parquet",
    Target.brackets: ".ptb",
}
GZIP = ".gz"
Errors = dict[str, DataError]
"""What is wrong with inputs, by their names."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to parse."""

    name: str
    """Its name for messages and for the output: as it was given, or below a directory that was given."""
    place: PurePath
    """Its path below that directory, or only the last part of the name for a file that was given."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to parse, and the file to write."""

    name: str
    output: Path
    n_bytes: int
    id: str
    """What the ids of its documents begin with, unless they have their own."""


def find_files(
    names: Sequence[str],
    suffixes: Sequence[str],
    source: Format | None,
    *,
    without: Path | None = None,
    errors: Errors | None = None,
) -> list[Found]:
    """Return the files that were given, and for each directory those in it and below, sorted by name.

    Of a directory, only the files with one of the ``suffixes`` count, before ``.gz``. The default are those of the
    format, or of all formats. Hidden files, the outputs of earlier runs over files in the directory, and the directory
    ``without`` do not count, and symbolic links to directories are not followed. ``errors`` receives the directories
    that cannot be read; if it is None, the first of them is raised.
    """
    wanted = tuple(suffixes) or suffixes_of(source)
    found: list[Found] = []

    def fail(name: str, message: str) -> None:
        error = DataError(message, source=name)
        if errors is None:
            raise error
        errors[name] = error

    for name in names:
        if name in ("", STANDARD) or not os.path.isdir(name):  # noqa: PTH112 (Path.is_dir may raise an error)
            found.append(Found(name, PurePath(PurePath(name).name)))
            continue
        n_errors = len(errors or ())
        inside = list(_walk(name, wanted, without, fail))
        if not inside and len(errors or ()) == n_errors:
            fail(name, f"there are no files to parse ({', '.join(wanted)}) in this directory; see --suffix")
        found += inside
    return found


def suffixes_of(source: Format | None) -> tuple[str, ...]:
    """Return the suffixes of a format, those of all formats without one. Lines and tokens are text files."""
    if source is None:
        return tuple(SUFFIXES)
    wanted = source if source in (Format.conllu, Format.parquet) else Format.text
    return tuple(suffix for suffix, found in SUFFIXES.items() if found is wanted)


def read_suffixes(given: Iterable[str]) -> tuple[str, ...]:
    """Return the suffixes of ``--suffix`` in lower case, each with its dot and without ``.gz``."""
    read = (suffix.strip().lower().removesuffix(GZIP) for suffix in given)
    suffixes = tuple(suffix if suffix.startswith(".") else f".{suffix}" for suffix in read)
    if any(len(suffix) < 2 or "/" in suffix or os.sep in suffix for suffix in suffixes):
        raise InputError("--suffix needs the end of a file name, such as .txt")
    return suffixes


def _walk(
    directory: str, suffixes: tuple[str, ...], without: Path | None, fail: Callable[[str, str], None]
) -> Iterator[Found]:
    def note(error: OSError) -> None:
        fail(str(error.filename or directory), f"the directory cannot be read: {error.strerror or error}")

    root = os.path.realpath(directory)
    for folder, folders, files in os.walk(directory, onerror=note):
        sources = outputs_in(Path(folder))
        outputs = {name for name, source in sources.items() if source is not None and source.is_relative_to(root)}
        kept = (name for name in sorted(folders) if not name.startswith("."))
        folders[:] = [name for name in kept if without is None or (Path(folder) / name).resolve() != without]
        for name in sorted(files):
            path = Path(folder) / name
            is_hidden = name.startswith(".") or name in outputs
            if not is_hidden and _stem(name, suffixes) is not None and _may_be_file(path):
                yield Found(str(path), path.relative_to(directory))


def _may_be_file(path: Path) -> bool:
    """Return whether a path in a directory is a regular file, or one of which this is not known."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:  # a link to nothing
        return False
    except OSError:
        return True


def _stem(name: str, suffixes: tuple[str, ...]) -> str | None:
    """Return a name without the suffix, or None if it has none of them."""
    plain = name[: -len(GZIP)] if name.lower().endswith(GZIP) else name
    ends = (suffix for suffix in suffixes if plain.lower().endswith(suffix) and len(plain) > len(suffix))
    longest = max(ends, key=len, default=None)
    return None if longest is None else plain[: -len(longest)]


def output_name(name: str, target: Target, suffixes: Sequence[str] = (), *, beside: bool = False) -> str:
    """Return the name of the output for the name of an input: ``a.txt.gz`` becomes ``a.conllu.gz``, or
    ``a.parsed.conllu.gz`` if it is beside the input. A suffix that is not known stays."""
    zipped = GZIP if name.lower().endswith(GZIP) else ""
    stem = _stem(name, (*suffixes, *SUFFIXES)) or (name[: -len(GZIP)] if zipped else name)
    zipped = "" if target is Target.parquet else zipped  # which is compressed by itself
    return f"{stem}{PARSED if beside else ''}{ENDINGS[target]}{zipped}"


def plan(
    found: Sequence[Found], target: Target, suffixes: Sequence[str], out: Path | None, errors: Errors
) -> list[Job]:
    """Return what to write for each file: into the directory ``out``, as the files lie in theirs, or beside the files.

    Raise an error if two files would be written to the same output, or an output would replace an input. A file that
    was given twice counts once. ``errors`` receives the inputs that are missing or no regular files.
    """
    ids = _ids(found)
    jobs: dict[str, Job] = {}
    inputs: dict[Path, str] = {}  # absolute paths, and the names that were given
    for each in found:
        try:
            path = _regular(each.name)
            n_bytes = path.stat().st_size
        except DataError as error:
            errors[each.name] = error
            continue
        if path.absolute() in inputs:
            continue
        inputs[path.absolute()] = each.name
        name = output_name(each.place.name, target, suffixes, beside=out is None)
        output = path.parent / name if out is None else out / each.place.parent / name
        job = Job(each.name, output, n_bytes, ids[each.name])
        other = jobs.setdefault(os.path.normcase(output.absolute()), job)
        if other is not job and not path.samefile(other.name):
            hint = "rename one of them, name the directory above both, or choose one kind of files with --suffix"
            raise InputError(f"{other.name} and {each.name} would both be written to {output}; {hint}")
    real = {path.resolve(): name for path, name in inputs.items()}
    for job in jobs.values():
        if (replaced := real.get(job.output.resolve())) is not None:
            raise InputError(f"the output for {job.name} would replace the input {replaced}; choose another --out-dir")
    return list(jobs.values())


def _ids(found: Sequence[Found]) -> dict[str, str]:
    """Return an id for each name, and none twice: made from the path below the directory, else from the whole name,
    else from the name with a checksum, since ``a/b.txt`` and ``a_b.txt`` look alike."""
    short = {each.name: name_of(each.place) for each in found}
    counts = Counter(short.values())
    ids = {name: own if counts[own] == 1 else name_of(PurePath(name)) for name, own in short.items()}
    counts = Counter(ids.values())
    return {
        name: own if counts[own] == 1 else f"{own}.{sha256(os.fsencode(name)).hexdigest()[:8]}"
        for name, own in ids.items()
    }


def _regular(name: str) -> Path:
    """Return the path of an input, which must be a regular file."""
    if name == STANDARD:
        raise InputError("standard input has no name to make that of an output from; use --output")
    path = Path(name)
    if not name:
        raise InputError("the name of an input is empty; check the command")
    try:
        if not path.exists():
            open_file(path)  # raises an error that says what is wrong
        if not path.is_file():
            raise DataError("this is not a regular file; parse it on its own, with --output", source=name)
    except OSError as error:
        raise DataError(f"the file cannot be opened: {error.strerror or error}", source=name) from None
    return path
