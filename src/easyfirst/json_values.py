"""Checks of values read from JSON. Each returns the value or raises a :class:`ValueError` that names it."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from easyfirst.errors import ModelError

MAX_NUMBER = sys.float_info.max  # whole numbers of JSON may be larger, and floats infinite
_Value = TypeVar("_Value")
_KINDS: dict[type, tuple[str, str]] = {
    str: ("a string", "strings"),
    int: ("a whole number", "whole numbers"),
    bool: ("true or false", "booleans"),
}


@contextmanager
def checking(what: str) -> Generator[None, None, None]:
    """Raise a :class:`ModelError` that ``what`` is damaged if a check fails or a key is missing."""
    try:
        yield
    except KeyError as error:
        raise ModelError(f"{what} is damaged ({error} is missing)") from None
    except ValueError as error:
        raise ModelError(f"{what} is damaged ({error})") from None


def scalar(kind: type[_Value], value: object, name: str) -> _Value:
    """Check a string, whole number or boolean. The type must be exact: ``True`` is not a whole number."""
    if type(value) is not kind:
        raise ValueError(f"{name} must be {_KINDS[kind][0]}, not {reprlib.repr(value)}")
    return value


def whole_number(value: object, name: str, *, least: int = 0) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, not {reprlib.repr(value)}")
    return value


def number(value: object, name: str) -> float:
    if type(value) not in (int, float) or not -MAX_NUMBER <= cast(float, value) <= MAX_NUMBER:
        raise ValueError(f"{name} must be a number, not {reprlib.repr(value)}")
    return float(cast(float, value))


def numbers(value: object, name: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list of numbers, not {reprlib.repr(value)}")
    return tuple(number(item, name) for item in cast("list[object]", value))


def list_of(kind: type[_Value], value: object, name: str) -> list[_Value]:
    """Check a list of strings or whole numbers."""
    if not isinstance(value, list) or set(map(type, cast("list[object]", value))) - {kind}:
        raise ValueError(f"{name} must be a list of {_KINDS[kind][1]}")
    return cast("list[_Value]", value)


def distinct_strings(value: object, name: str) -> list[str]:
    strings = list_of(str, value, name)
    if len(set(strings)) != len(strings):
        raise ValueError(f"{name} must be different from each other")
    return strings


def table(value: object, name: str, *, keys: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Check a JSON object that has exactly these keys, or any."""
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else None
    if keys is not None and (found is None or found.keys() != set(keys)):
        raise ValueError(f"{name} must have {', '.join(keys)} and nothing else")
    if found is None:
        raise ValueError(f"{name} must be an object, not {reprlib.repr(cast(object, value))}")
    return found
