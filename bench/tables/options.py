"""Whether ``easyfirst train`` would take what a row declares: said before the first run, not when its turn comes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Any

import typer
from declarations import DeclarationError

from easyfirst.cli import build_app
from easyfirst.errors import ConfigError
from easyfirst.model.parser_config import preset

VECTORS = {"{vectors}": "vectors", "{positional}": "positional"}
"""What stands in a row's options for a file of word vectors of the row's language, and what the treebank calls it."""
OURS = frozenset({"seed", "out", "dev", "resume", "overwrite", "set", "licence", "jobs", "threads", "quiet", "help"})
"""Options that are not for rows."""


@cache
def known_options() -> Mapping[str, Any]:
    """Of ``easyfirst train``, by their names without dashes."""
    train = typer.main.get_command(build_app()).commands["train"]  # pyright: ignore[reportAttributeAccessIssue]
    named = ((option, parameter) for parameter in train.params for option in parameter.opts)
    return {name.removeprefix("--"): parameter for name, parameter in named if name.startswith("--")}


def _check_value(place: str, name: str, value: Any) -> None:
    option = known_options()[name]
    if option.is_flag != isinstance(value, bool):
        said = "write true or false" if option.is_flag else "give it a value"
        raise DeclarationError(f"{place}: {name} is {str(value).lower()}; {said}")
    try:
        option.type.convert(value if option.is_flag else str(value), option, None)
    except typer.BadParameter as error:
        raise DeclarationError(f"{place}: {name}: {error.message}") from None


def check_options(place: str, options: Mapping[str, Any], settings: Mapping[str, Any], *, predicted_tags: bool) -> None:
    """Unknown options, presets and settings; those of the tagger and the tokenizer are left to the training."""
    if unknown := sorted({*options} - {*known_options()}):
        meant = difflib.get_close_matches(unknown[0], known_options(), 1)
        hint = f"; is --{meant[0]} meant?" if meant else ""
        raise DeclarationError(f"{place}: easyfirst train has no option --{unknown[0]}{hint}")
    if ours := sorted({*options} & OURS):
        raise DeclarationError(f"{place}: {', '.join(ours)}: the runner sets this itself; take it out")
    for name, value in options.items():
        if not isinstance(value, str | int | float):
            raise DeclarationError(f"{place}: {name} is {value!r}; give a text, a number, true or false")
        if str(value).startswith("{") and value not in VECTORS:
            raise DeclarationError(f"{place}: {name} is {value}; there are {' and '.join(VECTORS)}")
        _check_value(place, name, value)
    if predicted_tags and "tagger" not in str(options.get("parts", "")) and options.get("parts") != "all":
        raise DeclarationError(f"{place}: predicted_tags, but no tagger is trained: add parts = 'tagger,parser'")
    tables: dict[str, dict[str, Any]] = {name: {} for name in ("network", "training", "tagger", "tokenizer")}
    for key, value in settings.items():
        table, dot, name = key.partition(".")
        if not dot or table not in tables:
            raise DeclarationError(
                f"{place}: unknown setting {key}; write TABLE.NAME, where TABLE is {', '.join(tables)}"
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
