"""Whatever is wrong with the files of a model has its own clear error."""

from __future__ import annotations

import errno
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

from easyfirst.errors import ModelError
from easyfirst.model.parser_store import load_parser, save_parser, sizes_of
from easyfirst.model.part import FORMAT_VERSION
from tests.model.conftest import MakeModel
from tests.model.stored import FILES, assert_same, edit_config, repack

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
    def refuse(self: Path, *_: object) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
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


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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
