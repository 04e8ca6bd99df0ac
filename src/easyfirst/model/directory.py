"""The files of a model directory: their names, replacing them, reading and writing JSON, and recognising models."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, cast

from easyfirst.errors import ConfigError, ModelError

KIND = "easyfirst-parser"
CONFIG, VOCABULARY, WEIGHTS, CARD = "config.json", "vocab.json", "weights.safetensors", "README.md"
CONFIDENCE = "confidence.json"
REQUIRED = (CONFIG, VOCABULARY, WEIGHTS)

_FOREIGN = {
    "spaCy": ("meta.json", "config.cfg"),
    "Hugging Face": ("tokenizer.json", "tokenizer_config.json", "pytorch_model.bin", "model.safetensors"),
    "Stanza": ("resources.json", "depparse"),
    "PyTorch": ("*.pt", "*.pth", "*.ckpt", "*.bin", "data.pkl"),
    "the authors' own parser": ("params.pickle",),
}


@contextmanager
def errors_in(path: Path) -> Generator[None, None, None]:
    """Prefix errors about settings, vocabularies and weights with the path they were read from."""
    try:
        yield
    except (ConfigError, ModelError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from None


@contextmanager
def file_errors(problem: str) -> Generator[None, None, None]:
    """Raise a :class:`ModelError` that starts with ``problem`` where the system refuses to read or write a file."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{problem}: {error.strerror or error}") from error


def replace_file(path: Path, content: bytes) -> None:
    """Write and sync ``<name>.tmp``, then rename it: a crash at any moment leaves the old file or the new one. A killed
    process may also leave the temporary file; the next write reuses it."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with file_errors(f"{path} cannot be written"):
            with temporary.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
            _sync_directory(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    """Sync the new name too, on systems that can open a directory."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def to_json(values: Mapping[str, Any], *, indent: int | None) -> bytes:
    return (json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent) + "\n").encode()


def from_json(content: bytes, path: Path) -> dict[str, Any]:
    try:
        values: object = json.loads(content.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # invalid UTF-8 and invalid JSON are both ValueErrors
        raise ModelError(f"{path} is damaged or cut short: it is not valid JSON ({error})") from None
    if not isinstance(values, dict):
        raise ModelError(f"{path} is damaged: it must hold a JSON object")
    return cast("dict[str, Any]", values)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def require_model(directory: Path) -> None:
    if directory.is_file():
        raise ModelError(f"{directory} is a file, but a model is a directory; name the directory")
    if not directory.is_dir():
        raise ModelError(f"there is no model {directory}; check the name")
    missing = [name for name in REQUIRED if not (directory / name).is_file()]
    if not missing:
        return
    for maker, patterns in _FOREIGN.items():
        if any(any(directory.glob(pattern)) for pattern in patterns):
            raise ModelError(
                f"{directory} is a foreign model (it looks like one of {maker}): easyfirst reads only models trained "
                f"with easyfirst; {', '.join(missing)} missing"
            )
    if len(missing) < len(REQUIRED):
        raise ModelError(f"{directory} is an incomplete model: {', '.join(missing)} missing")
    if parts := [part for part in ("tokenizer", "tagger") if (directory / part / CONFIG).is_file()]:
        raise ModelError(
            f"{directory} has a {' and a '.join(parts)}, but no parser yet; train one with 'easyfirst train TREEBANK "
            f"--parts parser --out {directory}', or continue an interrupted training with --resume"
        )
    hint = ""
    with suppress(OSError):
        if inside := [path.parent for path in sorted(directory.glob(f"*/{CONFIG}")) if _has_kind(path, KIND)]:
            hint = f"; do you mean {directory}{os.sep}{inside[0].name}?"  # ./en: en may be a bundled model
    raise ModelError(f"{directory} is not an easyfirst model: {', '.join(missing)} missing{hint}")


def prepare_directory(directory: Path, kind: str = KIND) -> None:
    """Create the directory. Refuse an existing one that holds anything but a model, or part, of this kind."""
    with file_errors(f"{directory} cannot be written"):
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise ModelError(f"{directory} is a file, but a model is a directory; choose another name") from None
        others = [name for name in (*REQUIRED, CARD) if (directory / name).exists()]
        if others and not (CONFIG in others and _has_kind(directory / CONFIG, kind)):
            what = f"files of something else ({', '.join(others)})"
            raise ModelError(f"{directory} holds {what}, which a model would replace; choose another directory")


def remove_part(directory: Path, kind: str) -> None:
    """Remove the directory of a part if it is of this kind."""
    with file_errors(f"{directory} is of another model and cannot be removed"):
        if (directory / CONFIG).is_file() and _has_kind(directory / CONFIG, kind):
            shutil.rmtree(directory)


def _has_kind(config: Path, kind: str) -> bool:
    try:
        return from_json(config.read_bytes(), config).get("kind") == kind
    except ModelError:
        return False
