"""What is saved is loaded bit for bit, a crash never leaves a mixture, and every damage has its own clear error."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open

from easyfirst.errors import ModelError
from easyfirst.model.parser_store import ParserModel, load_parser, save_parser, sizes_of
from easyfirst.model.part import FORMAT_VERSION, installed_version
from easyfirst.model.weight_files import checksum
from easyfirst.parser import load

MakeModel = Callable[..., ParserModel]
FILES = ["README.md", "config.json", "vocab.json", "weights.safetensors"]


def assert_same(left: ParserModel, right: ParserModel) -> None:
    assert left.config == right.config
    assert left.vocabulary.to_dict() == right.vocabulary.to_dict()
    assert left.card == right.card
    assert left.arrays.keys() == right.arrays.keys()
    for name, array in left.arrays.items():
        assert array.tobytes() == right.arrays[name].tobytes(), name


@pytest.fixture
def saved(tmp_path: Path, make_model: MakeModel) -> Path:
    save_parser(tmp_path / "model", make_model())
    return tmp_path / "model"


def edit_config(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((directory / "config.json").read_bytes())
    change(values)
    (directory / "config.json").write_text(json.dumps(values))


def repack(directory: Path, arrays: dict[str, np.ndarray], **header: Any) -> None:
    """Write weights whose header fits them, to reach what the checksum guards."""
    values = {
        "network": json.loads((directory / "config.json").read_bytes())["network"],
        "vocabulary_sha256": hashlib.sha256((directory / "vocab.json").read_bytes()).hexdigest(),
        "arrays_sha256": checksum(arrays),
    }
    content = safetensors.numpy.save(arrays, {"easyfirst": json.dumps(values | header)})
    (directory / "weights.safetensors").write_bytes(content)


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


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
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
    """As for a model written before the setting was there."""
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


# Writing can stop anywhere


def replace_that_stops_at(n: int, error: BaseException) -> Callable[[Path, Path], Path]:
    calls = iter(range(100))
    really_replace = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if next(calls) == n:
            raise error
        return really_replace(self, target)

    return replace


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("stop", range(4))
def test_weights_are_replaced_alone(
    saved: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    """After each epoch: whenever the process is killed, the old or the new weights load."""
    old, new = make_model(), make_model(seed=1)
    training = dataclasses.replace(new.config.training, epochs=30)
    new = dataclasses.replace(new, config=dataclasses.replace(new.config, training=training), card="# Better\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(saved, new)
    expected = new if stop > 2 else old
    loaded = load_parser(saved)
    assert all(np.array_equal(loaded.arrays[name], array) for name, array in expected.arrays.items())
    assert loaded.config == (new.config if stop > 0 else old.config)
    assert loaded.card == old.card
    save_parser(saved, new)
    assert_same(load_parser(saved), new)


@pytest.mark.parametrize(
    ("network", "mixed"),
    [
        ({"hidden_dim": 5}, {1, 2}),  # another network, the same vocabulary
        ({"external": ["a"]}, {2}),  # the same network, another vocabulary
        ({"external": ["a"], "word_dim": 9}, {1, 2}),
    ],
)
@pytest.mark.parametrize("stop", range(4))
def test_a_mixture_of_two_models_never_loads(
    saved: Path,
    make_model: MakeModel,
    monkeypatch: pytest.MonkeyPatch,
    stop: int,
    network: dict[str, Any],
    mixed: set[int],
) -> None:
    old, new = make_model(), make_model(seed=1, **network)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(saved, new)
    if stop in mixed:
        with pytest.raises(ModelError, match="of different models"):
            load_parser(saved)
    else:
        assert_same(load_parser(saved), old if stop < 3 else dataclasses.replace(new, card=old.card))
    save_parser(saved, new)
    assert_same(load_parser(saved), new)


@pytest.mark.parametrize("stop", range(4))
def test_a_first_save_that_stops_can_be_repeated(
    tmp_path: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_that_stops_at(stop, Killed()))
        with pytest.raises(Killed):
            save_parser(tmp_path, make_model())
    if stop < 3:
        with pytest.raises(ModelError, match=r"weights\.safetensors missing"):
            load_parser(tmp_path)
    save_parser(tmp_path, make_model())
    assert_same(load_parser(tmp_path), make_model())


@pytest.mark.parametrize("stop", range(4))
def test_a_full_disk_is_reported_and_leaves_no_litter(
    saved: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(Path, "replace", replace_that_stops_at(stop, full))
    with pytest.raises(ModelError, match=f"cannot be written: {os.strerror(errno.ENOSPC)}"):
        save_parser(saved, make_model(seed=1))
    assert sorted(path.name for path in saved.iterdir()) == FILES
    load_parser(saved)


def test_what_a_killed_process_left_behind_is_no_harm(saved: Path, make_model: MakeModel) -> None:
    (saved / "weights.safetensors.tmp").write_bytes(b"half a fi")
    load_parser(saved)
    save_parser(saved, make_model(seed=1))
    assert sorted(path.name for path in saved.iterdir()) == FILES


def test_a_system_that_cannot_open_directories_still_saves(
    tmp_path: Path, make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        save_parser(tmp_path, make_model())
    assert_same(load_parser(tmp_path), make_model())


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


# What is not a model


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"there is no model .*nothing; check the name"):
        load_parser(tmp_path / "nothing")


def test_a_file_is_not_a_model(saved: Path) -> None:
    with pytest.raises(ModelError, match=r"weights\.safetensors is a file, but a model is a directory"):
        load_parser(saved / "weights.safetensors")


def test_an_empty_directory_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"not an easyfirst model: config\.json, vocab\.json, weights\.safetensors missing"
    ):
        load_parser(tmp_path)


def test_a_folder_around_models_names_the_first(saved: Path) -> None:
    shutil.copytree(saved, saved.parent / "other")
    (saved.parent / "a-tagger").mkdir()
    (saved.parent / "a-tagger" / "config.json").write_text('{"kind": "easyfirst-tagger"}', encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_parser(saved.parent)
    assert str(caught.value).endswith(f"weights.safetensors missing; do you mean {saved}?")


def test_a_model_in_this_directory_is_not_taken_for_a_bundled_one(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved.parent)
    with pytest.raises(ModelError, match=re.escape(f"do you mean .{os.sep}model?")):
        load_parser(Path())


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(ModelError, match=f"is an incomplete model: {name} missing"):
        load_parser(saved)


@pytest.mark.parametrize(
    ("file", "maker"),
    [
        ("meta.json", "spaCy"),
        ("tokenizer.json", "Hugging Face"),
        ("resources.json", "Stanza"),
        ("en_ewt.pt", "PyTorch"),
        ("params.pickle", "the authors' own parser"),
    ],
)
def test_a_foreign_model_is_called_so(tmp_path: Path, file: str, maker: str) -> None:
    (tmp_path / file).write_text("")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=rf"is a foreign model \(it looks like one of {maker}\).*vocab\.json, weights"):
        load_parser(tmp_path)


def test_a_config_of_another_kind_is_foreign(saved: Path) -> None:
    edit_config(saved, lambda values: values.update(kind="another-parser"))
    with pytest.raises(ModelError, match=r"config\.json belongs to a foreign model"):
        load_parser(saved)


def test_another_part_of_a_model_is_named(saved: Path) -> None:
    edit_config(saved, lambda values: values.update(kind="easyfirst-tagger"))
    with pytest.raises(ModelError, match=r"model is an easyfirst-tagger, and an easyfirst-parser is needed here"):
        load_parser(saved)


def test_a_directory_that_cannot_be_read_says_why(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ModelError, match="model cannot be read: Permission denied"):
        load_parser(saved)


# Damaged settings and vocabulary


@pytest.mark.parametrize("name", ["config.json", "vocab.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b'{"kind": "easyfirst-par', "not valid JSON"),
        (b'{"kind": "\xff"}', "not valid JSON"),
        (b'{"kind": NaN}', "NaN is not a number of JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "it must hold a JSON object"),
    ],
)
def test_damaged_json_names_the_file(saved: Path, name: str, content: bytes, message: str) -> None:
    (saved / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name} is damaged.*{message}"):
        load_parser(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": FORMAT_VERSION + 1, "beam": 8}, "written by a newer version of easyfirst .*; upgrade"),
        ({"format_version": "1"}, "format_version must be a whole number from 1, not '1'"),
        ({"format_version": True}, "format_version must be a whole number from 1, not True"),
        ({"format_version": 0}, "format_version must be a whole number from 1, not 0"),
        ({"format_version": None}, "format_version must be a whole number from 1, not None"),
        ({"beam": 8}, "unknown setting 'beam'.*written by easyfirst"),
        ({"network": {"depth": 3}}, "unknown setting network.depth"),
        ({"training": {"margin": -1}}, "margin must be positive"),
        ({"network": {}}, r"weights\.safetensors and config\.json are of different models"),
    ],
)
def test_settings_that_do_not_fit_are_explained(saved: Path, change: dict[str, Any], message: str) -> None:
    edit_config(saved, lambda values: values.update(change))
    with pytest.raises(ModelError, match=message):
        load_parser(saved)


def test_training_settings_do_not_bind_the_weights(saved: Path) -> None:
    edit_config(saved, lambda values: values["training"].update(epochs=99))
    assert load_parser(saved).config.training.epochs == 99


def test_a_damaged_vocabulary_names_its_file(saved: Path) -> None:
    arrays = load_parser(saved).arrays
    (saved / "vocab.json").write_text('{"words": []}')
    repack(saved, arrays)
    with pytest.raises(ModelError, match=r"vocab\.json: the vocabulary is damaged \('external' is missing\)"):
        load_parser(saved)


def test_a_vocabulary_of_another_model_is_noticed(saved: Path, tmp_path: Path, make_model: MakeModel) -> None:
    save_parser(tmp_path / "other", make_model(external=["a"]))
    shutil.copy(tmp_path / "other" / "vocab.json", saved)
    with pytest.raises(ModelError, match=r"weights\.safetensors and vocab\.json are of different models"):
        load_parser(saved)


def test_a_vocabulary_of_another_size_is_noticed(saved: Path, make_model: MakeModel) -> None:
    values = json.loads((saved / "vocab.json").read_bytes())
    values["relations"].append("new")
    (saved / "vocab.json").write_text(json.dumps(values))
    repack(saved, make_model().arrays)
    with pytest.raises(ModelError, match=r"has shape \(.*\), but network and vocabulary need \("):
        load_parser(saved)


def test_tags_the_network_does_not_read_are_noticed(saved: Path, make_model: MakeModel) -> None:
    values = json.loads((saved / "vocab.json").read_bytes())
    values["tags"] = {"xpos": values["tags"]["upos"]}
    (saved / "vocab.json").write_text(json.dumps(values))
    repack(saved, make_model().arrays)
    with pytest.raises(ModelError, match=r"model: the network needs tags of 'upos', the vocabulary has \['xpos'\]"):
        load_parser(saved)


def test_external_vectors_must_be_known_to_both(make_model: MakeModel) -> None:
    assert sizes_of(make_model(external=["a", "b"]).vocabulary, (3, 5)).external == (3, 5)
    assert sizes_of(make_model().vocabulary, None).external is None
    for model, shape in [(make_model(), (3, 5)), (make_model(external=["a", "b"]), None)]:
        with pytest.raises(ModelError, match="must both have external vectors, or neither"):
            sizes_of(model.vocabulary, shape)
    for shape in [(2, 5), (3,)]:
        with pytest.raises(ModelError, match="has 2 words with external vectors, which does not fit"):
            sizes_of(make_model(external=["a", "b"]).vocabulary, shape)


# Damaged weights


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickled", b"PK\x03\x04" + b"\0" * 100, b"\xff" * 64])
def test_weights_that_are_not_safetensors_are_refused(saved: Path, content: bytes) -> None:
    (saved / "weights.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors is damaged, cut short or not a safetensors file"):
        load_parser(saved)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_weights_cut_anywhere_are_refused(saved: Path, data: st.DataObject) -> None:
    content = (saved / "weights.safetensors").read_bytes()
    cut = data.draw(st.integers(0, len(content) - 1))
    try:
        (saved / "weights.safetensors").write_bytes(content[:cut])
        with pytest.raises(ModelError, match=r"weights\.safetensors is damaged, cut short"):
            load_parser(saved)
    finally:
        (saved / "weights.safetensors").write_bytes(content)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_changed_byte_is_noticed_or_changes_nothing(saved: Path, make_model: MakeModel, data: st.DataObject) -> None:
    file = saved / data.draw(st.sampled_from(["weights.safetensors", "vocab.json"]))
    content = file.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    changed = bytes([content[at] ^ data.draw(st.integers(1, 255))])
    try:
        file.write_bytes(content[:at] + changed + content[at + 1 :])
        assert_same(load_parser(saved), make_model())
    except ModelError:
        pass
    finally:
        file.write_bytes(content)


def test_changed_values_fail_the_checksum(saved: Path) -> None:
    content = bytearray((saved / "weights.safetensors").read_bytes())
    content[-1] ^= 1
    (saved / "weights.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="do not have the checksum in its header; fetch it again"):
        load_parser(saved)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_weights_of_another_program_are_foreign(
    saved: Path, make_model: MakeModel, metadata: dict[str, str] | None
) -> None:
    (saved / "weights.safetensors").write_bytes(safetensors.numpy.save(make_model().arrays, metadata))
    with pytest.raises(ModelError, match=r"weights\.safetensors belongs to a foreign model"):
        load_parser(saved)


def test_a_header_that_does_not_fit_is_refused(saved: Path, make_model: MakeModel) -> None:
    repack(saved, make_model().arrays, network=None)
    with pytest.raises(ModelError, match=r"weights\.safetensors: network must be a table of settings"):
        load_parser(saved)


def add_array(arrays: dict[str, np.ndarray]) -> None:
    arrays["words.more"] = np.zeros(1, np.float32)


def widen(arrays: dict[str, np.ndarray]) -> None:
    arrays["words.bias"] = np.zeros(5, np.float32)


def make_infinite(arrays: dict[str, np.ndarray]) -> None:
    arrays["words.bias"][0] = -np.inf


def make_double(arrays: dict[str, np.ndarray]) -> None:
    arrays["words.bias"] = arrays["words.bias"].astype(np.float64)


def make_bytes(arrays: dict[str, np.ndarray]) -> None:
    arrays["words.bias"] = arrays["words.bias"].astype(np.int8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (make_bytes, r"words\.bias is of type int8; float32 or float16 is needed"),
        (lambda arrays: arrays.pop("words.bias"), r"model: the weights lack words\.bias"),
        (add_array, r"the weights have arrays this network does not: words\.more"),
        (widen, r"words\.bias has shape \(5,\), but network and vocabulary need \(4,\)"),
        (make_infinite, r"words\.bias holds values that are not finite numbers"),
        (make_double, r"words\.bias is stored as F64; only F32, F16 and I8 can be read"),
    ],
)
def test_arrays_that_do_not_fit_are_named(
    saved: Path, make_model: MakeModel, change: Callable[[dict[str, np.ndarray]], object], message: str
) -> None:
    arrays = make_model().arrays
    change(arrays)
    repack(saved, arrays)
    with pytest.raises(ModelError, match=message):
        load_parser(saved)
