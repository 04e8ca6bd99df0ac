"""A pretrained encoder as a part of a model. None of this needs transformers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model import encoder_store
from easyfirst.model.encoder_store import MIX, PREFIX, EncoderSettings, LazyReader, PretrainedEncoder
from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.ensemble import make_ensemble
from easyfirst.model.parser_store import ParserModel, initial_parser, load_parser, save_parser, sizes_of
from easyfirst.model.saving import load_model, save_model
from easyfirst.model.wheel import model_files
from tests.model.conftest import MakeModel

FILES = [f"transformer/{name}" for name in ("config.json", "vocab.json", "weights.safetensors")]


def small_encoder(seed: int = 0) -> PretrainedEncoder:
    """Numbers in the right form, which no transformer has."""
    rng = np.random.default_rng(seed)
    arrays = {MIX: np.zeros(3, dtype=np.float32)}
    for name, shape in (("layer.weight", (40, 30)), ("layer.bias", (30,))):
        arrays[PREFIX + name] = rng.normal(size=shape).astype(np.float32)
    settings = EncoderSettings({"model_type": "bert", "layers": 2}, 5, 3, 64, (2,), (3,), 1)
    return PretrainedEncoder(settings, '{"model": {"a": 1, "ñ": 2}}', arrays, "tiny", "Apache-2.0")


@pytest.fixture
def model(make_model: MakeModel) -> ParserModel:
    plain, encoder = make_model(), small_encoder()
    network, vocabulary = plain.config.network, plain.vocabulary
    arrays = initial_parser(network, sizes_of(vocabulary, None, 5), np.random.default_rng(0))
    config = replace(plain.config, encoder=EncoderTraining(warmup=0.2, frozen=True))
    return replace(plain, config=config, arrays=arrays, encoder=encoder)


def test_written_and_read(tmp_path: Path, model: ParserModel) -> None:
    save_parser(tmp_path, model)
    loaded = load_parser(tmp_path)
    assert loaded.encoder is not None
    assert loaded.config == model.config
    assert loaded.vocabulary.reader == LazyReader(loaded.encoder)
    expected = small_encoder()
    assert (loaded.encoder.settings, loaded.encoder.name) == (expected.settings, "tiny")
    assert json.loads(loaded.encoder.tokenizer) == json.loads(expected.tokenizer)
    assert loaded.encoder.licence == "Apache-2.0"
    assert {name: array.tobytes() for name, array in loaded.encoder.arrays.items()} == {
        name: array.tobytes() for name, array in expected.arrays.items()
    }
    assert json.loads((tmp_path / "config.json").read_text())["format_version"] == 5
    assert {file.relative_to(tmp_path).as_posix() for file in model_files(tmp_path)} >= set(FILES)


@pytest.mark.parametrize(("bits", "error"), [(16, 1e-3), (8, 2e-2)])
def test_fewer_bits(tmp_path: Path, model: ParserModel, bits: int, error: float) -> None:
    save_parser(tmp_path, model, bits=bits)
    encoder = load_parser(tmp_path).encoder
    assert encoder is not None
    for name, array in small_encoder().arrays.items():
        assert encoder.arrays[name].dtype == np.float32
        np.testing.assert_allclose(encoder.arrays[name], array, atol=error * max(1, np.abs(array).max()))
    assert (tmp_path / FILES[2]).stat().st_size < 1200 * bits // 8 + 1500


def test_a_model_without_one_replaces_it(tmp_path: Path, model: ParserModel, make_model: MakeModel) -> None:
    save_parser(tmp_path / "parser", model)
    save_parser(tmp_path / "parser", make_model())
    save_model(tmp_path / "all", model, None, None, bits=16)
    save_model(tmp_path / "all", make_model(), None, None, bits=16)
    for name in ("parser", "all"):
        assert load_parser(tmp_path / name).encoder is None
        assert not (tmp_path / name / "transformer").exists()


def test_the_encoder_of_another_model(tmp_path: Path, model: ParserModel) -> None:
    save_parser(tmp_path / "one", model)
    save_parser(tmp_path / "two", replace(model, encoder=small_encoder(seed=1)))
    for name in FILES:
        (tmp_path / "one" / name).write_bytes((tmp_path / "two" / name).read_bytes())
    with pytest.raises(ModelError, match="is not the encoder that the model was trained with; copy the whole model"):
        load_parser(tmp_path / "one")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (FILES[0], (b'"dim": 5', b'"dim": 6'), "of different models, or config.json was changed"),
        (FILES[0], (b'"window": 64', b'"window": 3'), "window must have room for some subwords"),
        (FILES[0], (b'"before": [', b'"before": ["a",'), "before must be a list of whole numbers"),
        (FILES[1], (b"tokenizer", b"something"), "of different models, or vocab.json was changed"),
        (FILES[2], (b"layer.weight", b"layer.weighs"), "damaged"),
    ],
)
def test_damage(tmp_path: Path, model: ParserModel, name: str, change: tuple[bytes, bytes], message: str) -> None:
    save_parser(tmp_path, model)
    before = (tmp_path / name).read_bytes()
    assert change[0] in before
    (tmp_path / name).write_bytes(before.replace(*change))
    with pytest.raises(ModelError, match=re.escape(message)):
        load_parser(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ModelError, match="missing"):
        load_parser(tmp_path)


def test_missing_packages(tmp_path: Path, model: ParserModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a model reports them; its files can be read without."""
    monkeypatch.setattr(encoder_store, "NEEDED", ("numpy", "tokenizers_of_nowhere", "transformers_of_nowhere"))
    save_parser(tmp_path, model)
    message = (
        f"{tmp_path} has a transformer encoder, which needs tokenizers_of_nowhere and transformers_of_nowhere; "
        'install: pip install "easyfirst[transformers]"'
    )
    with pytest.raises(ModelError, match=re.escape(message)):
        load_model(tmp_path)
    loaded = load_parser(tmp_path)
    assert loaded.vocabulary.reader is not None
    with pytest.raises(ModelError, match="this model has a transformer encoder, which needs"):
        loaded.vocabulary.reader.vectors([["a"]])


def test_no_ensembles(model: ParserModel, make_model: MakeModel) -> None:
    with pytest.raises(ModelError, match=r"b does not fit .* a parser with a transformer encoder cannot be a member"):
        make_ensemble([make_model(), model], ["a", "b"])


def test_settings_without_an_encoder(model: ParserModel, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="must have both a pretrained encoder and the settings of its training"):
        save_parser(tmp_path, replace(model, encoder=None))


class TestTraining:
    def test_the_learning_rate(self) -> None:
        """It grows from 0 to the highest and then decays linearly."""
        shares = [EncoderTraining(warmup=0.2).rate_share(past) for past in (0, 0.1, 0.2, 0.6, 1, 1.5)]
        np.testing.assert_allclose(shares, [0, 0.5, 1, 0.5, 0, 0], atol=1e-9)
        shares = [EncoderTraining(warmup=0, final_rate=0.5).rate_share(past) for past in (0, 0.5, 1)]
        np.testing.assert_allclose(shares, [1, 0.75, 0.5])

    @pytest.mark.parametrize(
        ("name", "value"),
        [("learning_rate", 0), ("warmup", 1), ("final_rate", 1.1), ("weight_decay", -1), ("clip_norm", float("nan"))],
    )
    def test_limits(self, name: str, value: float) -> None:
        with pytest.raises(ConfigError, match=f"^{name} must be"):
            EncoderTraining(**{name: value})
