"""Values of JSON are checked, and an error names the one that is wrong."""

from __future__ import annotations

import math
from typing import Any

import pytest

from easyfirst import json_values
from easyfirst.errors import ModelError


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (lambda v: json_values.scalar(str, v, "x"), 1, "x must be a string, not 1"),
        (lambda v: json_values.scalar(bool, v, "x"), 0, "x must be true or false, not 0"),
        (lambda v: json_values.scalar(int, v, "x"), True, "x must be a whole number, not True"),
        (lambda v: json_values.whole_number(v, "x", least=1), 0, "x must be a whole number from 1, not 0"),
        (lambda v: json_values.whole_number(v, "x"), False, "x must be a whole number from 0, not False"),
        (lambda v: json_values.number(v, "x"), math.inf, "x must be a number, not inf"),
        (lambda v: json_values.numbers(v, "x"), [1, "2"], "x must be a number, not '2'"),
        (lambda v: json_values.numbers(v, "x"), {}, "x must be a list of numbers, not {}"),
        (lambda v: json_values.list_of(int, v, "x"), [1, True], "x must be a list of whole numbers"),
        (lambda v: json_values.list_of(str, v, "x"), "ab", "x must be a list of strings"),
        (lambda v: json_values.distinct_strings(v, "x"), ["a", "a"], "x must be different from each other"),
        (lambda v: json_values.table(v, "x"), [], r"x must be an object, not \[\]"),
        (lambda v: json_values.table(v, "x", keys=("a", "b")), {"a": 1}, "x must have a, b and nothing else"),
    ],
)
def test_a_wrong_value_is_named(check: Any, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(value)


def test_a_right_value_is_returned() -> None:
    assert json_values.scalar(bool, False, "x") is False
    assert json_values.numbers([1, 2.5], "x") == (1.0, 2.5)
    assert json_values.distinct_strings(["b", "a"], "x") == ["b", "a"]
    assert json_values.table({"a": 1}, "x", keys=("a",)) == {"a": 1}


def test_long_values_are_shortened() -> None:
    with pytest.raises(ValueError, match=r"not \[0, 1, 2, 3, 4, 5, \.\.\.\]"):
        json_values.whole_number(list(range(1000)), "x")


@pytest.mark.parametrize(("error", "message"), [(KeyError("a"), "'a' is missing"), (ValueError("b"), "b")])
def test_a_failed_check_is_a_model_error(error: Exception, message: str) -> None:
    with pytest.raises(ModelError, match=rf"^the file is damaged \({message}\)$"), json_values.checking("the file"):
        raise error
