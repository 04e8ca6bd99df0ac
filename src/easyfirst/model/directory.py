"""The files of a model directory: their names, reading and writing JSON, and recognising models."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, cast

from easyfirst.errors import ConfigError, ModelError
from easyfirst.replacing import replacement

KIND = "easyfirst-parser"
CONFIG, VOCABULARY, WEIGHTS, CARD = "config.json", "vocab.json", "weights.safetensors", "README.md"
CONFIDENCE = "confidence.json"
REQUIRED = (CONFIG, VOCABULARY, WEIGHTS)
MAX_TEXT, MAX_VOCABULARY = 1 << 24, 1 << 29  # the largest sizes in bytes of JSON and cards, and of a vocabulary
PART_FOLDERS = ("tokenizer", "tagger", "vectors", "transformer")  # the directories of a model's other parts

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
    """Replace a file by one with this content, or create it. A crash at any moment leaves the old file or the new."""
    with file_errors(f"{path} cannot be written"), replacement(path) as stream:
        stream.write(content)


def read_file(path: Path, limit: int = MAX_TEXT) -> bytes:
    """Return the contents of a file of a model; raise an error for one that is too large to be of a model, before it is
    read."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read(limit + 1) if size <= limit else b""
    if size > limit or len(content) > limit:
        found = max(size, len(content))
        raise ModelError(f"{path} is damaged: it has {found:,} bytes, and a model at most {limit:,}; fetch it again")
    return content


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
        if inside := [path.parent for path in sorted(directory.glob(f"*/{CONFIG}")) if has_kind(path.parent, KIND)]:
            hint = f"; do you mean {directory}{os.sep}{inside[0].name}?"  # ./en: en may be a bundled model
    raise ModelError(f"{directory} is not an easyfirst model: {', '.join(missing)} missing{hint}")


def make_directory(directory: Path) -> None:
    """Create the directory of a model, unless it is there."""
    with file_errors(f"{directory} cannot be written"):
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise ModelError(f"{directory} is a file, but a model is a directory; choose another name") from None


def refuse_others(directory: Path, kind: str = KIND) -> None:
    """Raise an error if a directory holds anything but a model, or part, of this kind."""
    with file_errors(f"{directory} cannot be written"):
        others = [name for name in (*REQUIRED, CARD) if (directory / name).exists()]
        if others and not has_kind(directory, kind):
            what = f"files of something else ({', '.join(others)})"
            raise ModelError(f"{directory} holds {what}, which a model would replace; choose another directory")


def has_kind(directory: Path, kind: str) -> bool:
    """Return whether a directory holds a model or part of this kind."""
    config = directory / CONFIG
    try:
        return config.is_file() and from_json(read_file(config), config).get("kind") == kind
    except ModelError:
        return False
