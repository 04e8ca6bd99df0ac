"""Models as Python packages: a wheel with the files of a model, its card as the description, and an entry point.

The format is that of the specification (https://packaging.python.org/en/latest/specifications/binary-distribution-format),
written with the standard library. The same model gives the same bytes, as long as zlib is the same.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.card_updates import packaged_card
from easyfirst.model.directory import CARD, file_errors, read_file
from easyfirst.model.installed import GROUP, NAME
from easyfirst.model.part import TAGGER, TOKENIZER, TRANSFORMER, VECTORS
from easyfirst.model.transaction import read_consistently
from easyfirst.replacing import replacement

PREFIX = "easyfirst"
TAG = "py3-none-any"
PYTHON = ">=3.10"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip file

_MODEL_FILE = re.compile(r"[\w-]+\.(json|safetensors)")
_LICENCE_FILE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)([.-][\w-]+)*?(\.(md|txt|rst))?", re.IGNORECASE)
_VERSION = re.compile(  # the canonical form of PEP 440, which file names need
    r"([1-9][0-9]*!)?(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*((a|b|rc)(0|[1-9][0-9]*))?(\.post(0|[1-9][0-9]*))?"
    r"(\.dev(0|[1-9][0-9]*))?"
)
_SPDX = {
    *("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "LGPLLR", "ODbL-1.0", "PDDL-1.0"),
    *(f"{name}-{number}" for name in ("CC-BY", "CC-BY-SA", "CC-BY-NC", "CC-BY-NC-SA") for number in ("3.0", "4.0")),
    *(f"{name}-{kind}" for name in ("GPL-2.0", "GPL-3.0", "LGPL-3.0", "AGPL-3.0") for kind in ("only", "or-later")),
}
"""Usual identifiers of licences; others are given as free text."""
_LOAD = '''"""The model {name} for easyfirst."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__version__ = "{version}"


def path() -> Path:
    """Return the directory of the model."""
    return Path(__file__).parent / "{name}"


def load(**options: Any) -> Any:
    """Load the model, with the options of ``easyfirst.load``."""
    import easyfirst

    return easyfirst.load(path(), **options)
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFacts:
    """The names and the legal terms of a package."""

    name: str  # of the model: ``pt``
    version: str
    easyfirst_version: str  # that made the package, and which it needs
    licence: str | None = None
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ModelError(
                f"{self.name!r} cannot be the name of a model in a package; use lower-case letters and digits, with "
                "hyphens between them, as in pt or pt-news"
            )
        if not _VERSION.fullmatch(self.version):
            raise ModelError(
                f"{self.version!r} is not a version in the normal form of Python packages; write it as in 1.0.0 or "
                "1.0.0rc1"
            )
        if self.licence is not None and not (self.licence.strip() and self.licence.isprintable()):
            raise ModelError("the licence is empty or has control characters; write it on one line, as in CC BY-SA 4.0")
        for language in self.languages:
            if not (language.strip() and language.isprintable() and "," not in language):
                raise ModelError(f"{language!r} cannot be a language; use its code, as in pt or zh-Hant")

    @property
    def package(self) -> str:
        """The name for pip: ``easyfirst-pt``."""
        return f"{PREFIX}-{self.name}"

    @property
    def module(self) -> str:
        """The name for ``import``: ``easyfirst_pt``."""
        return self.package.replace("-", "_")

    @property
    def file(self) -> str:
        """The name of the wheel."""
        return f"{self.module}-{self.version}-{TAG}.whl"


def write_wheel(model: Path, out: Path, facts: PackageFacts) -> Path:
    """Write the wheel of a model into the directory ``out``, all at once, and return its path."""
    path = out / facts.file
    with file_errors(f"{model} cannot be read"):
        contents = read_consistently(model, lambda place: list(_contents(place, facts)))
    with file_errors(f"{path} cannot be written"):
        out.mkdir(parents=True, exist_ok=True)
        with replacement(path) as stream, zipfile.ZipFile(stream, "w") as wheel:
            record: list[str] = []
            for name, content in contents:
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(content)}\n")
                _add(wheel, name, content)
            name = f"{_information(facts)}/RECORD"
            _add(wheel, name, "".join([*record, f"{name},,\n"]).encode())
    return path


def _contents(model: Path, facts: PackageFacts) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the wheel, except its record: the name and the content of each."""
    yield f"{facts.module}/__init__.py", _LOAD.format(name=facts.name, version=facts.version).encode()
    card_file = model / CARD
    card = read_file(card_file).decode(errors="replace") if card_file.is_file() else f"# {model.name}\n"
    card = packaged_card(card, facts.name, facts.package, licence=facts.licence, languages=facts.languages)
    yield f"{facts.module}/{facts.name}/{CARD}", card.encode()
    for file in model_files(model):
        yield f"{facts.module}/{facts.name}/{file.relative_to(model).as_posix()}", file.read_bytes()
    information = _information(facts)
    licences = _licence_files(model)
    for file in licences:
        yield f"{information}/licenses/{file.name}", file.read_bytes()
    yield (
        f"{information}/METADATA",
        _metadata(
            facts, [file.name for file in licences], card, needs_transformers=(model / TRANSFORMER).is_dir()
        ).encode(),
    )
    generator = f"Generator: easyfirst {facts.easyfirst_version}"
    yield f"{information}/WHEEL", f"Wheel-Version: 1.0\n{generator}\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    yield f"{information}/entry_points.txt", f"[{GROUP}]\n{facts.name} = {facts.module}\n".encode()


def model_files(model: Path) -> list[Path]:
    """Return the files of a model and its parts, except the card: no training runs, and nothing that is not ours."""
    folders = (model, *(model / part for part in (TAGGER, TOKENIZER, VECTORS, TRANSFORMER)))
    return [file for folder in folders for file in _files(folder, _MODEL_FILE)] + _licence_files(model)


def _licence_files(model: Path) -> list[Path]:
    return _files(model, _LICENCE_FILE)


def _files(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    return [file for file in sorted(folder.glob("*")) if pattern.fullmatch(file.name) and file.is_file()]


def _metadata(facts: PackageFacts, licence_files: list[str], card: str, *, needs_transformers: bool) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {facts.package}",
        f"Version: {facts.version}",
        f"Summary: The model {facts.name} for the dependency parser easyfirst",
        f"Keywords: {','.join(('easyfirst', 'dependency parsing', 'universal dependencies', *facts.languages))}",
    ]
    if facts.licence is not None:
        identifier = "-".join(facts.licence.split())
        known = f"License-Expression: {identifier}" if identifier in _SPDX else f"License: {facts.licence}"
        lines.append(known)
    lines += [f"License-File: {name}" for name in licence_files]
    lines += [
        f"Requires-Python: {PYTHON}",
        f"Requires-Dist: {PREFIX}{'[transformers]' if needs_transformers else ''}>={facts.easyfirst_version}",
        "Description-Content-Type: text/markdown; charset=UTF-8",
    ]
    return "\n".join([*lines, "", card])


def _information(facts: PackageFacts) -> str:
    return f"{facts.module}-{facts.version}.dist-info"


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file without anything of this machine: date, owner and permissions are always the same."""
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    entry.create_system = 3  # Unix, whatever this is
    wheel.writestr(entry, content, compresslevel=9)
