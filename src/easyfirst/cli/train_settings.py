"""The settings that ``easyfirst train`` takes: ``--set`` and what belongs to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from easyfirst.errors import ConfigError

if TYPE_CHECKING:
    from easyfirst.model.constituency_config import ConstituencyConfig
    from easyfirst.model.encoder_training import EncoderTraining
    from easyfirst.training.pipeline import PipelineConfig

TABLES = ("network", "training", "encoder", "tagger", "tokenizer", "constituency")


def split_settings(settings: list[str]) -> dict[str, dict[str, Any]]:
    """Return ``network.x=1`` and ``training.y=0.5`` as tables."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for setting in settings:
        key, equals, text = setting.partition("=")
        table, dot, name = key.partition(".")
        if not (equals and dot and table in tables):
            raise ConfigError(f"--set {setting}: write it as TABLE.KEY=VALUE, where TABLE is {' or '.join(TABLES)}")
        try:
            tables[table][name] = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, or nested too deeply
            tables[table][name] = text
    return tables


def part_settings(part: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a tagger's or a tokenizer's network and of its training."""
    from easyfirst.model.settings import build_settings
    from easyfirst.training.pipeline import PipelineConfig

    default = PipelineConfig()
    network, training = getattr(default, part), getattr(default, f"{part}_training")
    of_network = {name: value for name, value in given.items() if hasattr(network, name)}
    of_training = {name: value for name, value in given.items() if name not in of_network}
    if "epochs" in of_training:  # exactly so many
        of_training = {"min_updates": 0, **of_training}
    for name in of_training:
        if not hasattr(training, name):
            there = [field.name for settings in (network, training) for field in fields(settings)]
            raise ConfigError(f"unknown setting {part}.{name}; there are: {', '.join(there)}")
    return {
        part: build_settings(network, of_network, f"{part}."),
        f"{part}_training": build_settings(training, of_training, f"{part}."),
    }


def unused_settings(names: Iterable[str], pipeline: PipelineConfig) -> Iterator[tuple[str, str]]:
    """Yield the settings that have no effect, each with its part. Jackknifing uses the tagger's settings too."""
    used = {*pipeline.parts, "tagger"} if pipeline.predicted_tags and "parser" in pipeline.parts else pipeline.parts
    for name in names:
        table = name.partition(".")[0]
        part = table if table in ("tagger", "tokenizer") else "parser"
        if part not in used:
            yield name, part


def constituency_settings(settings: dict[str, Any], strip: str | None, *, is_given: bool) -> ConstituencyConfig | None:
    """Return the settings of ``--constituency``, or None without it."""
    if not is_given:
        if strip is not None or settings:
            named = "--strip" if strip is not None else f"--set constituency.{next(iter(settings))}"
            raise ConfigError(f"{named} is for constituency trees; add --constituency")
        return None
    from easyfirst.model.constituency_config import ConstituencyConfig
    from easyfirst.model.settings import build_settings

    if strip is not None and "strip" in settings:
        raise ConfigError("--strip and --set constituency.strip cannot be combined; choose one of them")
    return build_settings(ConstituencyConfig(), settings | ({} if strip is None else {"strip": strip}), "constituency.")


def encoder_settings(settings: dict[str, Any], *, is_given: bool, freeze: bool, device: str) -> EncoderTraining | None:
    """Return the settings of ``--encoder``, or None without it."""
    if not is_given:
        given = {"--freeze-encoder": freeze, "--device": device != "cpu", "--set encoder": bool(settings)}
        for option in (name for name, is_set in given.items() if is_set):
            raise ConfigError(f"{option} is for a pretrained encoder; add --encoder DIR")
        return None
    from easyfirst.model.encoder_training import EncoderTraining
    from easyfirst.model.settings import build_settings

    if freeze and "frozen" in settings:
        raise ConfigError("--freeze-encoder and --set encoder.frozen cannot be combined; choose one of them")
    return build_settings(EncoderTraining(), settings | ({"frozen": True} if freeze else {}), "encoder.")
