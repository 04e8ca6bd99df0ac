"""Check a row's options against ``easyfirst train`` before the first run starts."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Any

import typer

from bench.tables.declarations import DeclarationError
from easyfirst.cli import build_app
from easyfirst.errors import ConfigError
from easyfirst.model.parser_config import preset

VECTORS = {"{vectors}": "vectors", "{positional}": "positional"}
"""The placeholders for word vectors in a row's options, and the treebank's key that names the file."""
RESERVED = frozenset(
    {"seed", "out", "dev", "resume", "overwrite", "set", "licence", "jobs", "threads", "quiet", "help"}
)
"""Options that only the runner sets."""


@cache
def known_options() -> Mapping[str, Any]:
    """Return the options of ``easyfirst train`` by name, without dashes."""
    train = typer.main.get_command(build_app()).commands["train"]  # pyright: ignore[reportAttributeAccessIssue]
    named = ((option, parameter) for parameter in train.params for option in parameter.opts)
    return {name.removeprefix("--"): parameter for name, parameter in named if name.startswith("--")}


def _check_value(place: str, name: str, value: Any) -> None:
    option = known_options()[name]
    if option.is_flag != isinstance(value, bool):
        allowed = "true or false" if option.is_flag else "a value"
        raise DeclarationError(f"{place}: {name} must be {allowed}, not {str(value).lower()}")
    try:
        option.type.convert(value if option.is_flag else str(value), option, None)
    except typer.BadParameter as error:
        raise DeclarationError(f"{place}: {name}: {error.message}") from None


def check_options(place: str, options: Mapping[str, Any], settings: Mapping[str, Any], *, predicted_tags: bool) -> None:
    """Raise :class:`DeclarationError` for unknown options, presets and settings of the parser. The settings of the
    tagger and the tokenizer are checked by the training command."""
    if unknown := sorted({*options} - {*known_options()}):
        similar = difflib.get_close_matches(unknown[0], known_options(), 1)
        hint = f"; did you mean --{similar[0]}?" if similar else ""
        raise DeclarationError(f"{place}: easyfirst train has no option --{unknown[0]}{hint}")
    if reserved := sorted({*options} & RESERVED):
        raise DeclarationError(f"{place}: {', '.join(reserved)} is set by the runner; remove it")
    for name, value in options.items():
        if not isinstance(value, str | int | float):
            raise DeclarationError(f"{place}: {name} must be a string, a number, true or false, not {value!r}")
        if str(value).startswith("{") and value not in VECTORS:
            raise DeclarationError(f"{place}: unknown placeholder {value} for {name}; use {' or '.join(VECTORS)}")
        _check_value(place, name, value)
    if predicted_tags and "tagger" not in str(options.get("parts", "")) and options.get("parts") != "all":
        raise DeclarationError(f"{place}: predicted_tags needs a tagger; add parts = 'tagger,parser'")
    tables: dict[str, dict[str, Any]] = {name: {} for name in ("network", "training", "tagger", "tokenizer")}
    for key, value in settings.items():
        table, dot, name = key.partition(".")
        if not dot or table not in tables:
            raise DeclarationError(
                f"{place}: unknown setting {key}; write TABLE.NAME, where TABLE is one of {', '.join(tables)}"
            )
        tables[table][name] = value
    tags = {"tags": options["tags"]} if "tags" in options else {}
    epochs = {"epochs": options["epochs"]} if "epochs" in options else {}
    try:
        preset(
            options.get("preset", "paper"),
            network={**tags, **tables["network"]},
            training={**epochs, **tables["training"]},
        )
    except ConfigError as error:
        raise DeclarationError(f"{place}: {error}") from None
