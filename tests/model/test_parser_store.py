"""What is saved is loaded bit for bit, and what could not be loaded is never saved."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open

from easyfirst.errors import ModelError
from easyfirst.model.parser_store import ParserModel, load_parser, save_parser
from easyfirst.model.part import installed_version
from easyfirst.parser import load
from tests.model.conftest import MakeModel
from tests.model.stored import FILES, assert_same, edit_config, repack

# What is saved is loaded


@pytest.mark.parametrize(
    "network",
    [
        {},
        {"tags": "none", "rnn": "gru"},
        {"tags": "both", "rnn": "elman", "window": 0},
        {"bilstm_layers": 0, "tree_layers": 0, "tags": "xpos"},
        {"external": ["fox", "10\u00a0000", "🦊"]},
    ],
)
def test_a_model_is_loaded_as_it_was_saved(tmp_path: Path, make_model: MakeModel, network: dict[str, Any]) -> None:
    model = make_model(**network)
    save_parser(tmp_path / "deep" / "model", model)
    assert sorted(path.name for path in (tmp_path / "deep" / "model").iterdir()) == FILES
    assert_same(load_parser(str(tmp_path / "deep" / "model")), model)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(min_size=4, max_size=4), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_finite_value_and_any_card_are_kept(tmp_path: Path, make_model: MakeModel, value: bytes, card: str) -> None:
    model = dataclasses.replace(make_model(), card=card)
    number = np.frombuffer(value, dtype=np.float32)[0]
    model.arrays["words.bias"][0] = number if np.isfinite(number) else 0
    save_parser(tmp_path / "model", model)
    assert_same(load_parser(tmp_path / "model"), model)


def test_a_model_without_relations_is_refused(tmp_path: Path, make_model: MakeModel) -> None:
    model = make_model()
    vocabulary = dataclasses.replace(model.vocabulary, relations=())
    arrays = dict(model.arrays)
    arrays["trees.relation"] = np.zeros((0, 2), np.float32)
    arrays["scorer.labelled"] = np.zeros((2, 0), np.float32)
    arrays["scorer.labelled_bias"] = np.zeros(0, np.float32)
    model = ParserModel(model.config, vocabulary, arrays)
    save_parser(tmp_path, model)
    with pytest.raises(ModelError, match="no relations"):
        load_parser(tmp_path)


def test_loaded_arrays_can_be_trained_on_in_place(saved: Path) -> None:
    for name, array in load_parser(saved).arrays.items():
        assert array.dtype == np.float32, name
        assert array.flags.writeable, name
        assert array.flags.c_contiguous, name


def test_arrays_that_are_views_are_saved_by_value(tmp_path: Path, make_model: MakeModel) -> None:
    model = make_model()
    turned = {name: np.asfortranarray(array) for name, array in model.arrays.items()}
    save_parser(tmp_path / "model", dataclasses.replace(model, arrays=turned))
    loaded = load_parser(tmp_path / "model")
    assert all(np.array_equal(loaded.arrays[name], array) for name, array in model.arrays.items())


def test_half_precision_is_stored_as_such_and_loaded_as_float32(tmp_path: Path, make_model: MakeModel) -> None:
    model = make_model()
    halves = {name: array.astype(np.float16) for name, array in model.arrays.items()}
    save_parser(tmp_path, dataclasses.replace(model, arrays=halves))
    with safe_open(tmp_path / "weights.safetensors", framework="np") as file:
        assert file.get_slice("words.bias").get_dtype() == "F16"
    for name, array in load_parser(tmp_path).arrays.items():
        assert array.dtype == np.float32
        assert array.flags.writeable
        assert np.array_equal(array, halves[name])


def test_the_same_model_is_the_same_bytes(tmp_path: Path, make_model: MakeModel) -> None:
    for name in ("a", "b"):
        save_parser(tmp_path / name, make_model())
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_config_says_what_wrote_it(saved: Path) -> None:
    values = json.loads((saved / "config.json").read_bytes())
    assert (values["kind"], values["format_version"]) == ("easyfirst-parser", 1)
    assert values["easyfirst_version"] == importlib.metadata.version("easyfirst")


def test_a_package_that_is_not_installed_has_an_unknown_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", fail)
    assert installed_version() == "unknown"


def test_a_model_needs_no_card(saved: Path) -> None:
    (saved / "README.md").unlink()
    assert load_parser(saved).card == ""


def test_a_setting_added_later_has_its_default(saved: Path, make_model: MakeModel) -> None:
    """A model may have been written before the setting existed."""
    edit_config(saved, lambda values: values["network"].pop("rnn"))
    network = json.loads((saved / "config.json").read_bytes())["network"]
    repack(saved, make_model().arrays, network=network)
    assert load_parser(saved).config.network.rnn == "lstm"


def test_a_model_of_version_0_1_0(tmp_path: Path, make_model: MakeModel) -> None:
    """External vectors were part of the weights, and fewer settings of training were known."""
    tables = make_model(external=["fox", "dog"])
    network = {"word_dim": 3, "tag_dim": 2, "relation_dim": 2, "vector_dim": 4, "bilstm_layers": 2, "tree_dim": 3}
    network |= {"tree_layers": 2, "hidden_dim": 2, "window": 2, "rnn": "lstm", "tags": "upos"}
    training = {"epochs": 20, "seed": 1, "use_dynamic_oracle": True, "explore_prob": 0.1, "margin": 1.0}
    training |= {"update_after": 50, "word_dropout": 0.25, "learning_rate": 0.001, "adam_beta1": 0.9}
    training |= {"adam_beta2": 0.999, "clip_norm": 5.0, "weight_decay": 1e-6, "freeze_external": False}
    config = {"kind": "easyfirst-parser", "format_version": 1, "easyfirst_version": "0.1.0", "preset": "paper"}
    (tmp_path / "config.json").write_text(json.dumps(config | {"network": network, "training": training}, indent=2))
    vocabulary = {
        "words": ["fox", "<number>", "10\u00a0000", "ate", "the", "🦊"],
        "counts": [2, 1, 1, 1, 1, 1],
        "tags": {"upos": ["NOUN", "NUM", "DET", "SYM", "VERB"]},
        "relations": ["det", "flat", "nsubj", "nummod", "obj"],
        "root_relation": "root",
        "external": ["fox", "dog"],
    }
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    assert tables.arrays["words.external"].dtype == np.float32
    repack(tmp_path, tables.arrays)
    parser = load(tmp_path)
    assert np.array_equal(parser.model.arrays["words.external"], tables.arrays["words.external"])
    assert parser.config.training.dropout == 0
    [parse] = parser.parse([[("The", "DET"), ("dog", "NOUN"), ("ate", "VERB")]])
    assert parse.heads.count(0) == 1


# What is never saved


def test_a_model_that_could_not_be_loaded_replaces_nothing(saved: Path, make_model: MakeModel) -> None:
    model = make_model(seed=1)
    model.arrays["words.bias"][0] = np.nan
    with pytest.raises(ModelError, match=r"words\.bias holds values that are not finite numbers"):
        save_parser(saved, model)
    assert_same(load_parser(saved), make_model())


def test_double_precision_is_not_saved(tmp_path: Path, make_model: MakeModel) -> None:
    model = make_model()
    model.arrays["words.bias"] = model.arrays["words.bias"].astype(np.float64)
    with pytest.raises(ModelError, match=r"words\.bias is of type float64; float32 or float16 is needed"):
        save_parser(tmp_path, model)


@pytest.mark.parametrize("name", FILES)
def test_files_of_something_else_are_not_replaced(tmp_path: Path, make_model: MakeModel, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(ModelError, match=rf"holds files of something else \({name}\).*choose another directory"):
        save_parser(tmp_path, make_model())
    assert (tmp_path / name).read_text() == "{}"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_config_that_is_no_json_is_something_else(tmp_path: Path, make_model: MakeModel) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="something else"):
        save_parser(tmp_path, make_model())


def test_other_files_in_the_directory_stay(tmp_path: Path, make_model: MakeModel) -> None:
    (tmp_path / "metrics.jsonl").write_text("{}\n")
    save_parser(tmp_path, make_model())
    assert (tmp_path / "metrics.jsonl").read_text() == "{}\n"


def test_a_file_is_not_a_place_for_a_model(tmp_path: Path, make_model: MakeModel) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="file is a file, but a model is a directory; choose another name"):
        save_parser(tmp_path / "file", make_model())
    with pytest.raises(ModelError, match="cannot be written: Not a directory"):
        save_parser(tmp_path / "file" / "model", make_model())
