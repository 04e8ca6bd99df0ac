"""Settings are closed and checked, and survive being written down."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import ConfigError
from easyfirst.model.parser_config import PRESETS, TAGS, NetworkConfig, ParserConfig, TrainingConfig, preset

SETTINGS = Path(__file__).parent.parent.parent / "docs" / "settings.md"

sizes = st.integers(1, 1000)
networks = st.builds(
    NetworkConfig,
    word_dim=sizes,
    tag_dim=sizes,
    relation_dim=sizes,
    vector_dim=sizes.map(lambda n: 2 * n),
    bilstm_layers=st.integers(0, 4),
    tree_dim=sizes,
    tree_layers=st.integers(0, 4),
    hidden_dim=sizes,
    window=st.integers(0, 5),
    rnn=st.sampled_from(["lstm", "gru", "elman"]),
    tags=st.sampled_from(list(TAGS)),
)
trainings = st.builds(
    TrainingConfig,
    epochs=sizes,
    seed=st.integers(0, 2**63 - 1),
    use_dynamic_oracle=st.booleans(),
    explore_prob=st.floats(0, 1),
    margin=st.floats(0, 1e9, exclude_min=True),
    learning_rate=st.floats(0, 1e9, exclude_min=True),
    freeze_external=st.booleans(),
)


@given(st.builds(ParserConfig, st.text(), networks, trainings))
def test_settings_survive_json(config: ParserConfig) -> None:
    assert ParserConfig.from_dict(json.loads(json.dumps(config.to_dict(), allow_nan=False))) == config


def test_the_defaults_are_those_of_the_paper() -> None:
    network, training = NetworkConfig(), TrainingConfig()
    assert (network.word_dim, network.tag_dim, network.relation_dim, network.hidden_dim) == (100, 25, 25, 100)
    assert (network.bilstm_layers, network.tree_layers, network.tree_dim, network.n_slots) == (2, 2, 200, 6)
    assert (training.epochs, training.explore_prob, training.margin, training.update_after) == (20, 0.1, 1.0, 50)
    assert training.word_dropout == 0.25
    assert training.use_dynamic_oracle


def test_presets_are_the_rows_of_the_papers_tables() -> None:
    assert list(PRESETS) == ["bottom-up", "htlstm", "paper", "pipeline", "strong", "beam"]
    assert all(preset(name) == config and config.preset == name for name, config in PRESETS.items())
    assert preset("bottom-up").network.tree_layers == preset("htlstm").network.bilstm_layers == 0
    assert preset("paper") == ParserConfig()


def test_what_strong_changes_stands_in_the_docs() -> None:
    strong, paper = preset("strong"), preset("paper")
    changed = {
        name: value
        for ours, theirs in ((strong.network, paper.network), (strong.training, paper.training))
        for name, value in dataclasses.asdict(ours).items()
        if value != dataclasses.asdict(theirs)[name]
    }
    assert changed == {
        **{"vector_dim": 400, "deep_bilstm": True, "spelling_dim": 48, "epochs": 12, "min_count": 2},
        **{"freeze_external": True, "attention": 1.0, "dropout": 0.2, "averaging": 0.999},
    }
    said = ", ".join(f"`{name}` {json.dumps(value).removesuffix('.0')}" for name, value in changed.items())
    assert f"the preset `strong` changes some of them: {said}." in SETTINGS.read_text(encoding="utf-8")


def test_settings_of_a_preset_can_be_changed() -> None:
    config = preset("htlstm", network={"tags": "both"}, training={"epochs": 3})
    assert (config.preset, config.network.tag_kinds, config.training.epochs) == ("htlstm", ("upos", "xpos"), 3)
    assert config.network.bilstm_layers == 0


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown preset 'papr'; there are: bottom-up, htlstm, paper, pipeline, "):
        preset("papr")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"netwrok": {}}, "unknown setting 'netwrok'; there are: preset, network, training"),
        ({"network": {"depth": 3}}, "unknown setting network.depth; there are: word_dim, "),
        ({"training": {"lr": 0.1}}, "unknown setting training.lr; there are: epochs, "),
        ({"network": {"word_dim": "100"}}, "network.word_dim must be of type int, not '100'"),
        ({"network": {"word_dim": True}}, "network.word_dim must be of type int, not True"),
        ({"network": {"word_dim": 1.5}}, "network.word_dim must be of type int, not 1.5"),
        ({"training": {"margin": None}}, "training.margin must be of type float, not None"),
        ({"training": {"margin": True}}, "training.margin must be of type float, not True"),
        ({"training": {"freeze_external": 1}}, "training.freeze_external must be of type bool, not 1"),
        ({"network": [1]}, "network must be a table of settings"),
        ({"preset": 3}, "preset must be a string"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ParserConfig.from_dict(values)


def test_a_whole_number_is_a_number() -> None:
    assert ParserConfig.from_dict({"training": {"margin": 2}}).training.margin == 2.0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("word_dim", 0, "word_dim must be from 1 to 1,048,576"),
        ("window", -1, "window must be from 0 to 64"),
        ("vector_dim", 7, "vector_dim must be even"),
        ("rnn", "qrnn", "rnn must be one of lstm, gru, elman"),
        ("tags", "lemmas", "tags must be one of none, upos, xpos, both, feats, "),
    ],
)
def test_network_settings_out_of_range_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(NetworkConfig(), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("epochs", 0, "epochs must be at least 1"),
        ("explore_prob", 1.1, "explore_prob must be between 0 and 1"),
        ("margin", 0.0, "margin must be positive"),
        ("update_after", -1, "update_after must not be negative"),
        ("word_dropout", -0.1, "word_dropout must not be negative"),
        ("learning_rate", 0.0, "learning_rate must be positive"),
        ("adam_beta2", 1.0, r"Adam's betas must be in \[0, 1\)"),
        ("clip_norm", 0.0, "clip_norm must be positive"),
        ("weight_decay", 1.0, r"weight_decay must be in \[0, 1\)"),
        ("seed", 2**63, "seed must be a non-negative 63-bit integer"),
        ("clip_norm", math.inf, "clip_norm must be a finite number"),
        ("word_dropout", math.nan, "word_dropout must be a finite number"),
    ],
)
def test_training_settings_out_of_range_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(TrainingConfig(), **{name: value})
