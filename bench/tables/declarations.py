"""TOML files as dataclasses: what is missing, unknown or of another type is told with the place where it stands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomllib

try:
    from easyfirst.errors import EasyFirstError
except ModuleNotFoundError:
    print(
        "error: this Python has no easyfirst; activate the environment it is in, or: pip install '.[train]'",
        file=sys.stderr,
    )
    sys.exit(2)


class DeclarationError(EasyFirstError):
    """A TOML file that does not say what it should."""


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeclarationError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # not TOML, or not even UTF-8
        raise DeclarationError(f"{path.name}: {error}") from error


def tables_of(values: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    """All [[name]] of a TOML table, of which there may be none."""
    found = values.get(name, [])
    if not isinstance(found, list):
        raise DeclarationError(f"{where}: write [[{name}]], not [{name}]")
    return [as_table(each, f"{where}: {name}") for each in found]


def as_table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DeclarationError(f"{where} is {value!r}, where a table is wanted")
    return value


def build(
    kind: type[Any],
    values: Mapping[str, Any],
    where: str,
    called: Mapping[str, str] = MappingProxyType({}),
    others: Sequence[str] = (),
    **given: Any,
) -> Any:
    """A dataclass from a TOML table; a missing or unknown key is an error, and a value of another type. ``called``: the
    names in the file of fields that have another one, ``others``: what else a file may have there, ``given``: fields
    that are not for the file."""
    known = {one.name: one for one in fields(kind) if one.name not in given}
    if unknown := {*values} - {*known}:
        names = [*(name for name in known if name not in called.values()), *called, *others]
        raise DeclarationError(f"{where}: unknown {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    wanted = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if lacking := [name for name in wanted if name not in values]:
        raise DeclarationError(f"{where}: lacks {', '.join(lacking)}")
    for name, value in values.items():
        if not _fits(value, str(known[name].type)):
            raise DeclarationError(f"{where}: {name} is {value!r}; give {in_words(str(known[name].type))}")
    return kind(**values, **given)


def in_words(annotation: str) -> str:
    """What a file may have where a field has this annotation."""
    if " | " in annotation:
        return ", or ".join(in_words(one) for one in annotation.split(" | ") if one != "None")
    name, _, inside = annotation.removesuffix("]").partition("[")
    if name == "Sequence":
        return f"a list ([…]), each {in_words(inside)}"
    if name == "Mapping":
        return f"a table ({{ name = … }}), each {in_words(inside.partition(', ')[2])}"
    words = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false"}
    return words.get(name, "a value")


def _fits(value: Any, annotation: str) -> bool:
    """Whether a value out of a TOML file is what a field's annotation says."""
    if " | " in annotation:
        return any(_fits(value, one) for one in annotation.split(" | "))
    name, _, inside = annotation.removesuffix("]").partition("[")
    if name == "Sequence":
        return isinstance(value, list | tuple) and all(_fits(each, inside) for each in value)
    if name == "Mapping":
        return isinstance(value, dict) and all(_fits(each, inside.partition(", ")[2]) for each in value.values())
    if name == "float":
        return isinstance(value, int | float) and not isinstance(value, bool)
    simple = {"str": str, "int": int, "bool": bool}.get(name, object)
    return isinstance(value, simple) and (simple is not int or not isinstance(value, bool))
