"""Reading directories of Hugging Face models, offline, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, T5Config, T5Model

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.encoder_store import PREFIX, PretrainedEncoder
from easyfirst.pretrained.subwords import Splitter
from easyfirst.pretrained.transformer import Transformer
from easyfirst.training.hugging_face import read_hugging_face
from tests.pretrained.tiny_transformers import WINDOW, make_roberta


@pytest.fixture
def copy(bert: Path, tmp_path: Path) -> Path:
    """A copy that can be changed."""
    return Path(shutil.copytree(bert, tmp_path / "copy"))


def test_what_is_read(bert: Path, encoder: PretrainedEncoder) -> None:
    settings = encoder.settings
    assert (encoder.name, encoder.licence) == ("tiny-bert", "apache-2.0")
    assert (settings.dim, settings.n_layers, settings.window, settings.room) == (16, 3, WINDOW, WINDOW - 2)
    assert (settings.before, settings.after, settings.unknown) == ((2,), (3,), 1)
    expected = dict(AutoModel.from_pretrained(bert).named_parameters())
    found = {name.removeprefix(PREFIX): array for name, array in encoder.arrays.items() if name.startswith(PREFIX)}
    assert found.keys() == {name for name in expected if not name.startswith("pooler")}
    assert all((array == expected[name].detach().numpy()).all() for name, array in found.items())
    assert str(bert) not in json.dumps(encoder.parts[0])


def test_the_global_generator_is_left_alone(bert: Path) -> None:
    before = torch.random.get_rng_state()
    read_hugging_face(bert)
    assert (torch.random.get_rng_state() == before).all()


def test_positions_that_begin_after_the_padding(tmp_path: Path) -> None:
    encoder = read_hugging_face(make_roberta(tmp_path / "roberta"))
    assert (encoder.settings.window, encoder.licence) == (WINDOW, None)
    assert (encoder.settings.before, encoder.settings.after) == ((0,), (2,))
    split = Splitter(encoder.tokenizer, encoder.settings.unknown)
    names = [split._tokenizer.id_to_token(number) for number in split([["at"]]).ids.tolist()]
    assert names == ["Ġ", "a", "t"]  # as after a space
    made = Transformer(encoder.parts[0], encoder.tokenizer)
    with torch.no_grad():  # the longest window needs the last position
        assert made.read([["bread"] * 40], torch.zeros(3), None).shape == (40, 16)


def test_no_directory(tmp_path: Path) -> None:
    for name in ("bert-base-cased", str(tmp_path / "nothing")):
        with pytest.raises(ConfigError, match="there is no such directory; nothing is downloaded"):
            read_hugging_face(Path(name))


def test_incomplete_directories(copy: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no weights in the safetensors format"):
        read_hugging_face(copy)
    (copy / "pytorch_model.bin").rename(copy / "model.safetensors")
    (copy / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="cannot be read as a Hugging Face model"):
        read_hugging_face(copy)
    (copy / "config.json").unlink()
    with pytest.raises(ModelError, match=r"is not a Hugging Face model: config.json is missing"):
        read_hugging_face(copy)


def test_code_of_others_is_not_executed(copy: Path) -> None:
    settings = json.loads((copy / "config.json").read_text())
    settings |= {"model_type": "new", "auto_map": {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}}
    (copy / "config.json").write_text(json.dumps(settings))
    (copy / "evil.py").write_text("raise SystemExit('executed')")
    with pytest.raises(ModelError, match="cannot be read as a Hugging Face model"):
        read_hugging_face(copy)


def test_weights_of_fewer_layers(copy: Path) -> None:
    settings = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 3}))
    with pytest.raises(ModelError, match=r"has no weights for encoder.layer.2"):
        read_hugging_face(copy)


def test_an_encoder_with_a_decoder(copy: Path) -> None:
    config = T5Config(vocab_size=99, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2)
    T5Model(config).save_pretrained(copy)
    with pytest.raises(ModelError, match="is an encoder with a decoder"):
        read_hugging_face(copy)
