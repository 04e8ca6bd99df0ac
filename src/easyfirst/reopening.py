"""Parsers that pickle: by the name or path of their model, or with its contents if it is not on disk.

A process that unpickles a parser opens its model once, and shares it among all parsers that come from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cached_property, lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from easyfirst.errors import ModelError
from easyfirst.model.bundled import find_known, find_model
from easyfirst.model.directory import CONFIDENCE, CONFIG, VOCABULARY, WEIGHTS, file_errors, require_model
from easyfirst.model.part import TAGGER, TOKENIZER, TRANSFORMER, VECTORS
from easyfirst.native.backend import ENGINE_VARIABLE, Backend

_Portable = TypeVar("_Portable", bound="Portable")
PARTS = ("", f"{TOKENIZER}/", f"{TAGGER}/", f"{VECTORS}/", f"{TRANSFORMER}/")
Fingerprint = tuple[tuple[str, int, int], ...]
_BLOCK = 1 << 20


class Origin(NamedTuple):
    """Where a parser was loaded from, and how."""

    open: Callable[..., Any]
    name: str
    """The name of a bundled or installed model, or the absolute path of a directory."""
    engine: str | None
    """The one that was asked for, by an argument or in the environment."""
    precision: str
    valid: bool
    fingerprint: Fingerprint
    """The sizes and times of the files, which change with the model."""
    parts: tuple[Any, ...]
    """The tokenizer and the tagger that were loaded, which a user may replace."""

    @property
    def arguments(self) -> tuple[str, str | None, str, bool]:
        """The arguments with which it was loaded."""
        return self.name, self.engine, self.precision, self.valid

    @property
    def is_current(self) -> bool:
        """Whether the model on disk is still the one that was loaded."""
        return bool(self.fingerprint) and fingerprint_of(self.name) == self.fingerprint


class Portable:
    """What pickles by its origin. Copies share the networks, which parsing does not change."""

    tokenizer: Any
    tagger: Any
    origin: Origin | None = None
    """Where it was loaded from; None if it was made from a model in memory."""

    def opened(
        self: _Portable,
        open_model: Callable[..., Any],
        name: str | PathLike[str],
        engine: str | None,
        precision: str | None,
        valid: bool,
    ) -> _Portable:
        """Note where the parser was loaded from, with which arguments, and return it."""
        place = place_of(name)
        asked = engine or os.environ.get(ENGINE_VARIABLE) or None
        precision = Backend.choose(engine, precision).precision
        parts = (self.tokenizer, self.tagger)
        self.origin = Origin(open_model, place, asked, precision, valid, fingerprint_of(place), parts)
        _alive[self.origin.arguments, self.origin.fingerprint] = self
        return self

    @property
    def is_as_opened(self) -> bool:
        """Whether opening the model again would give the same parser."""
        origin = self.origin
        has_parts = origin is not None and origin.parts[0] is self.tokenizer and origin.parts[1] is self.tagger
        return origin is not None and has_parts and origin.is_current

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is not None and self.is_as_opened:
            contents = _digest(self.origin.name, self.origin.fingerprint)
            return reopen, (self.origin.open, *self.origin.arguments, contents)
        kind = type(self)
        cached = {name for name in dir(kind) if isinstance(getattr(kind, name), cached_property)}
        contents = {name: value for name, value in self.__dict__.items() if name not in (*cached, "origin")}
        return _restore, (kind, contents)

    def __copy__(self: _Portable) -> _Portable:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self: _Portable, memo: dict[int, Any]) -> _Portable:
        return self.__copy__()


_alive: WeakValueDictionary[tuple[tuple[Any, ...], Fingerprint], Portable] = WeakValueDictionary()
"""The parsers that were loaded and are still in use."""


def _restore(kind: type[_Portable], contents: dict[str, Any]) -> _Portable:
    """Make a parser from the contents of its model."""
    made = object.__new__(kind)
    made.__dict__.update(contents)
    return made


def reopen(
    open_model: Callable[..., Any], name: str, engine: str | None, precision: str, valid: bool, contents: str
) -> Any:
    """Load a model, or return a parser that shares the networks of one that this process has loaded or inherited.

    Raise a :class:`ModelError` if it is not the model that was pickled, of which ``contents`` is a digest.
    """
    fingerprint = fingerprint_of(name)
    if fingerprint and _digest(name, fingerprint) != contents:
        raise ModelError(
            f"the model {name} differs from the one of the parser that was pickled; install the same version of it "
            "here, or pickle the parser again"
        )
    found = _alive.get(((name, engine, precision, valid), fingerprint))
    if found is not None and found.is_as_opened:
        return found.__copy__()
    try:
        found = _open(open_model, name, engine, precision, valid, fingerprint)
    except ModelError as error:
        hint = "a pickled parser has only the name of its model, which must be installed or at the same path here"
        raise ModelError(f"{error} ({hint})") from None
    return found.__copy__()


@lru_cache(maxsize=4)
def _open(
    open_model: Callable[..., Any],
    name: str,
    engine: str | None,
    precision: str,
    valid: bool,
    fingerprint: Fingerprint,
) -> Portable:
    return open_model(name, engine=engine, precision=precision, valid=valid)


def place_of(name: str | PathLike[str]) -> str:
    """Return the name of a bundled or installed model, or the absolute path of another one."""
    return name if isinstance(name, str) and find_known(name) else str(Path(fspath(name)).resolve())


def checked_place(name: str | PathLike[str]) -> str:
    """Return the same. Raise a :class:`ModelError` if there is no such model."""
    require_model(find_model(name))
    return place_of(name)


@lru_cache(maxsize=8)
def _digest(name: str, fingerprint: Fingerprint) -> str:
    """Return a digest of the files of a model, which does not depend on the machine."""
    directory, found = find_model(name), hashlib.sha256()
    for file, n_bytes, _ in fingerprint:
        found.update(f"{file}:{n_bytes}\n".encode())
        with file_errors(f"{directory / file} cannot be read"), (directory / file).open("rb") as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
    return found.hexdigest()[:32]


def fingerprint_of(name: str) -> Fingerprint:
    """Return the sizes and times of the files of a model; none if there is no such model."""
    try:
        directory = find_model(name)
    except ModelError:
        return ()
    names = [f"{part}{file}" for part in PARTS for file in (CONFIG, VOCABULARY, WEIGHTS, CONFIDENCE)]
    facts = [(name, (directory / name).stat()) for name in names if (directory / name).is_file()]
    return tuple((name, fact.st_size, fact.st_mtime_ns) for name, fact in facts)
