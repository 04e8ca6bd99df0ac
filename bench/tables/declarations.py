"""Convert TOML files to dataclasses. Errors name the place of a missing, unknown or mistyped value."""

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
        "error: easyfirst is not installed for this Python; activate its environment, or run: pip install '.[train]'",
        file=sys.stderr,
    )
    sys.exit(2)


class DeclarationError(EasyFirstError):
    """An invalid declaration in a TOML file."""


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeclarationError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # invalid TOML or invalid UTF-8
        raise DeclarationError(f"{path.name}: {error}") from error


def tables_of(values: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    """Return all [[name]] entries of a TOML table; there may be none."""
    found = values.get(name, [])
    if not isinstance(found, list):
        raise DeclarationError(f"{where}: write [[{name}]], not [{name}]")
    return [as_table(each, f"{where}: {name}") for each in found]


def as_table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DeclarationError(f"{where} must be a table, not {value!r}")
    return value


def build(
    kind: type[Any],
    values: Mapping[str, Any],
    where: str,
    called: Mapping[str, str] = MappingProxyType({}),
    others: Sequence[str] = (),
    **given: Any,
) -> Any:
    """Build a dataclass from a TOML table, or raise :class:`DeclarationError` for a missing, unknown or mistyped key.

    ``called`` maps names in the file to fields with another name, ``others`` are further keys to list as allowed in
    error messages, and ``given`` holds the fields that the file must not set.
    """
    known = {one.name: one for one in fields(kind) if one.name not in given}
    if unknown := {*values} - {*known}:
        names = [*(name for name in known if name not in called.values()), *called, *others]
        raise DeclarationError(f"{where}: unknown key {', '.join(sorted(unknown))}; allowed are {', '.join(names)}")
    wanted = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if missing := [name for name in wanted if name not in values]:
        raise DeclarationError(f"{where}: missing {', '.join(missing)}")
    for name, value in values.items():
        if not _fits(value, str(known[name].type)):
            raise DeclarationError(f"{where}: {name} must be {in_words(str(known[name].type))}, not {value!r}")
    return kind(**values, **given)


def in_words(annotation: str) -> str:
    """Describe the values that a field with this annotation accepts."""
    if " | " in annotation:
        return ", or ".join(in_words(one) for one in annotation.split(" | ") if one != "None")
    name, _, inside = annotation.removesuffix("]").partition("[")
    if name == "Sequence":
        return f"a list ([…]), each {in_words(inside)}"
    if name == "Mapping":
        return f"a table ({{ name = … }}), each {in_words(inside.partition(', ')[2])}"
    words = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false"}
    return words.get(name, "a value")


def _fits(value: Any, annotation: str) -> bool:
    """Return whether a value from a TOML file matches a field's annotation."""
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
