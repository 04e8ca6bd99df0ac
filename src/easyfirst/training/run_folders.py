"""The files of training runs in a model's directory: where they are, and what a new run may replace.

``training`` holds the parser's run, and ``training/<part>`` the run of each other part. Where a whole model is trained
again, its new tokenizer and tagger wait in ``training/new`` until there is a parser that was trained with them, and
replace the old parts together with it. So the directory holds the old model until the new one can be used.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import (
    CARD,
    CONFIDENCE,
    CONFIG,
    REQUIRED,
    VOCABULARY,
    WEIGHTS,
    refuse_others,
    replace_file,
)
from easyfirst.model.parser_store import ParserModel, write_parser
from easyfirst.model.part import TAGGER, TOKENIZER, TRANSFORMER, VECTORS
from easyfirst.model.transaction import replacing
from easyfirst.replacing import PREFIX
from easyfirst.training.checkpoint import FILE as CHECKPOINT
from easyfirst.training.checkpoint import has_checkpoint
from easyfirst.training.jackknife import fold_files
from easyfirst.training.training_loop import METRICS

PARSER = "parser"
PARTS = (TOKENIZER, TAGGER, PARSER)  # the parts, in the order of their training
FOLDER = "training"
JACKKNIFE = "jackknife"
NEW = "new"  # the folder in ``training`` of parts that wait for their parser
_FORGETTING = "forgetting"  # the file in ``training`` with the parts whose runs are being deleted
MEMBER = "member-"  # the prefix of the folders for the other members of a tagger ensemble, from ``member-2`` on


def run_folder(out: Path, part: str) -> Path:
    """Return the folder of a part's run."""
    return out / FOLDER if part == PARSER else out / FOLDER / part


def settings_file(out: Path, part: str) -> Path:
    """Return the file that a model has if it has this part."""
    return out / CONFIG if part == PARSER else out / part / CONFIG


def has_run(out: Path, part: str) -> bool:
    """Return whether a part has a run to resume. A parser's run may begin with jackknifing."""
    return has_checkpoint(run_folder(out, part)) or (part == PARSER and bool(fold_files(run_folder(out, JACKKNIFE))))


def waits_for_parser(out: Path, parts: Sequence[str]) -> bool:
    """Return whether new parts must wait: they are for a new parser, and the model still has its old one."""
    return PARSER in parts and settings_file(out, PARSER).is_file() and not has_checkpoint(run_folder(out, PARSER))


def place_to_write(out: Path, part: str, parts: Sequence[str]) -> Path:
    """Return where a tokenizer or tagger is written while ``parts`` are trained."""
    return out / FOLDER / NEW / part if waits_for_parser(out, parts) else out / part


def place_to_read(out: Path, part: str) -> Path:
    """Return where the newest tokenizer or tagger is."""
    return new if (new := out / FOLDER / NEW / part).is_dir() else out / part


def save_with_parts(out: Path, model: ParserModel) -> None:
    """Write a parser, together with the parts that wait for it."""
    folder = out / FOLDER / NEW
    with replacing(out) as changes:
        write_parser(changes, model)
        for part in (TOKENIZER, TAGGER):
            for name in REQUIRED if (folder / part).is_dir() else ():
                refuse_others(out / part, f"easyfirst-{part}")
                changes.write(f"{part}/{name}", (folder / part / name).read_bytes())
    shutil.rmtree(folder, ignore_errors=True)


def forget_runs(out: Path, parts: Sequence[str]) -> None:
    """Delete the old runs of all parts, so that none of them is resumed if this training is killed: either all are
    resumed, or none. Where a part is replaced, leave metrics, by which ``--resume`` recognises that its run has begun.
    """
    folders = [run_folder(out, part) for part in parts]
    paths = [path for folder in folders for path in (folder / CHECKPOINT, *folder.glob(f"{MEMBER}*/{CHECKPOINT}"))]
    if PARSER in parts or TAGGER in parts:
        paths += fold_files(run_folder(out, JACKKNIFE))
    try:
        if any(path.exists() for path in paths) or any(settings_file(out, part).exists() for part in parts):
            (out / FOLDER).mkdir(exist_ok=True)
            replace_file(out / FOLDER / _FORGETTING, ",".join(parts).encode())
        for part, folder in zip(parts, folders, strict=True):
            if settings_file(out, part).exists():
                folder.mkdir(exist_ok=True)
                replace_file(folder / METRICS, b"")
        for path in paths:
            path.unlink(missing_ok=True)
        if (out / FOLDER / NEW).is_dir():
            shutil.rmtree(out / FOLDER / NEW)
        (out / FOLDER / _FORGETTING).unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(f"{out / FOLDER} cannot be written: {error.strerror or error}") from error


def finish_forgetting(out: Path) -> None:
    """Delete the old runs that a killed training has begun to delete."""
    with suppress(FileNotFoundError, NotADirectoryError):
        parts = (out / FOLDER / _FORGETTING).read_text(encoding="utf-8").split(",")
        forget_runs(out, [part for part in parts if part in PARTS])


def resumes(out: Path, parts: Sequence[str], *, resume: bool, overwrite: bool) -> bool:
    """Return whether a training with these options continues a run, or else begins one. Raise an error if it would
    replace something that it must not."""
    if not resume and not overwrite:
        _refuse_to_overwrite(out, parts)
    if not resume:
        return False
    for part in parts:
        if settings_file(out, part).exists() and not has_run(out, part) and not _has_begun(out, part):
            raise ModelError(
                f"{out}: has a {part}, but no training run of it to resume; choose another --out, or start with "
                "--overwrite"
            )
    if any(has_run(out, part) for part in parts):
        return True
    if not any(_has_begun(out, part) for part in parts):
        _refuse_to_overwrite(out, parts)
    return False


def _refuse_to_overwrite(out: Path, parts: Sequence[str]) -> None:
    """Raise an error if a new run would replace something."""
    for part in parts:
        if has_run(out, part) or (settings_file(out, part).exists() and _has_begun(out, part)):
            raise ModelError(f"{out}: a training run is there; continue with --resume, or start again with --overwrite")
        if settings_file(out, part).exists():
            raise ModelError(f"{out}: exists already, with a {part}; choose another --out, or use --overwrite")
    ours = (CONFIG, VOCABULARY, WEIGHTS, CARD, CONFIDENCE, TOKENIZER, TAGGER, VECTORS, TRANSFORMER, FOLDER)
    others = [path.relative_to(out) for path in out.rglob("*") if not path.is_dir()]
    if any(path.parts[0] not in ours and not _is_temporary(path) for path in others):
        raise ModelError(f"{out}: exists already; choose another --out, or use --overwrite")


def _has_begun(out: Path, part: str) -> bool:
    """Return whether a run of a part has begun, though it may have no checkpoint yet."""
    return (run_folder(out, part) / METRICS).is_file()


def _is_temporary(path: Path) -> bool:
    """Return whether a killed process may have left a file."""
    return path.suffix == ".tmp" or path.parts[0].startswith(PREFIX)
