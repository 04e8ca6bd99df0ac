"""Whether ``easyfirst train`` would take what a row declares: said before the first run, not when its turn comes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import typer

from easyfirst.cli import build_app
from easyfirst.errors import ConfigError, EasyFirstError
from easyfirst.model.config import preset


class DeclarationError(EasyFirstError):
    """A TOML file that does not say what it should."""


@cache
def known_options() -> frozenset[str]:
    """Of ``easyfirst train``, without dashes."""
    train = typer.main.get_command(build_app()).commands["train"]  # pyright: ignore[reportAttributeAccessIssue]
    names = (option for parameter in train.params for option in parameter.opts)
    return frozenset(name.removeprefix("--") for name in names if name.startswith("--"))


def check_options(place: str, options: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Unknown options, presets and settings; those of the tagger and the tokenizer are left to the training."""
    if unknown := sorted({*options} - known_options()):
        raise DeclarationError(f"{place}: easyfirst train has no option {', '.join(f'--{name}' for name in unknown)}")
    tables: dict[str, dict[str, Any]] = {name: {} for name in ("network", "training", "tagger", "tokenizer")}
    for key, value in settings.items():
        table, dot, name = key.partition(".")
        if not dot or table not in tables:
            raise DeclarationError(
                f"{place}: unknown setting {key}; write TABLE.NAME, where TABLE is {', '.join(tables)}"
            )
        tables[table][name] = value
    try:
        preset(options.get("preset", "paper"), network=tables["network"], training=tables["training"])
    except ConfigError as error:
        raise DeclarationError(f"{place}: {error}") from None
