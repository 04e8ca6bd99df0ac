"""The vectors of words, compared with the transformer run on one sequence at a time."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.encoder_store import MIX, PREFIX, PretrainedEncoder
from easyfirst.nn.windows import windows_of
from easyfirst.pretrained import transformer
from easyfirst.pretrained.reader import Reader, checked_device, make_reader
from easyfirst.pretrained.transformer import Transformer
from tests.pretrained.tiny_transformers import WINDOW

SENTENCES = [["The", "baker", "foxed", "\u200b", "Ñandu", "."], ["Bread"], [], ["a"] * 3 + ["kneading", "!"]]
LONG = ["the", "baker", "kneaded", "bread", "?"] * 9


def weights_of(encoder: PretrainedEncoder) -> dict[str, Tensor]:
    return {name.removeprefix(PREFIX): torch.from_numpy(a) for name, a in encoder.arrays.items() if name != MIX}


def slowly(directory: Path, words: list[str], mix: Tensor) -> Tensor:
    """The mean of the mixed layers over the subwords of each word, in windows if the sentence is long."""
    tokenizer, model = AutoTokenizer.from_pretrained(directory), AutoModel.from_pretrained(directory)
    pieces = [
        tokenizer(w, add_special_tokens=False, padding=False).input_ids or [tokenizer.unk_token_id] for w in words
    ]
    ids, shares = [number for word in pieces for number in word], torch.softmax(mix, 0)
    found = torch.zeros(len(ids), model.config.hidden_size)
    room = WINDOW - 2
    for window in windows_of(0, len(ids), size=room - 2 * (room // 4), context=room // 4):
        inside = [tokenizer.cls_token_id, *ids[window.begin : window.end], tokenizer.sep_token_id]
        layers = model(torch.tensor([inside]), output_hidden_states=True).hidden_states
        mixed = sum(share * layer[0, 1:-1] for share, layer in zip(shares, layers, strict=True))
        found[window.kept_begin : window.kept_end] = mixed[
            window.kept_begin - window.begin : window.kept_end - window.begin
        ]
    ends = np.cumsum([len(word) for word in pieces])
    return torch.stack([found[end - len(word) : end].mean(0) for word, end in zip(pieces, ends, strict=True)])


@pytest.mark.parametrize("max_subwords", [1, 4096])
def test_as_one_by_one(
    bert: Path, encoder: PretrainedEncoder, monkeypatch: pytest.MonkeyPatch, max_subwords: int
) -> None:
    monkeypatch.setattr(transformer, "MAX_SUBWORDS", max_subwords)
    made = Transformer(encoder.parts[0], encoder.tokenizer)
    made.module.eval()
    mix = torch.tensor([0.3, -1.0, 0.5])
    sentences = [*SENTENCES, LONG]
    with torch.no_grad():
        found = made.read(sentences, mix, weights_of(encoder))
        expected = torch.cat([slowly(bert, words, mix) for words in sentences if words])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_no_words(encoder: PretrainedEncoder) -> None:
    made = Transformer(encoder.parts[0], encoder.tokenizer)
    assert made.read([[]], torch.zeros(3), weights_of(encoder)).shape == (0, 16)


def test_gradients_reach_all_weights(encoder: PretrainedEncoder) -> None:
    made = Transformer(encoder.parts[0], encoder.tokenizer)
    weights = {name: weight.clone().requires_grad_() for name, weight in weights_of(encoder).items()}
    mix = torch.zeros(3, requires_grad=True)
    made.read(SENTENCES, mix, weights).square().sum().backward()
    assert mix.grad is not None
    assert mix.grad.abs().sum() > 0
    assert [name for name, weight in weights.items() if weight.grad is None] == []


def test_a_reader_and_its_copy(encoder: PretrainedEncoder) -> None:
    """It has no dropout, and threads may share it."""
    reader = make_reader(encoder.parts)
    found = reader.vectors(SENTENCES)
    assert found.dtype == np.float32
    assert (pickle.loads(pickle.dumps(reader)).vectors(SENTENCES) == found).all()
    with ThreadPoolExecutor(4) as threads:
        assert all((each == found).all() for each in threads.map(reader.vectors, [SENTENCES] * 40))


def test_other_weights_than_the_library_expects(encoder: PretrainedEncoder) -> None:
    settings, tokenizer, arrays = encoder.parts
    fewer = {name: array for name, array in arrays.items() if not name.endswith("LayerNorm.bias")}
    with pytest.raises(ModelError, match=r"has other weights for the model's encoder: embeddings\.LayerNorm\.bias"):
        Reader(settings, tokenizer, fewer, "cpu")
    unknown = {**settings, "transformer": {**settings["transformer"], "model_type": "nothing"}}
    with pytest.raises(ModelError, match="this version of transformers cannot make the model's encoder"):
        Reader(unknown, tokenizer, arrays, "cpu")


def test_a_device_that_is_not_there() -> None:
    assert checked_device("cpu") == "cpu"
    for name in ("tpu", "cuda:99"):
        with pytest.raises(ConfigError, match=f"the device '{name}' cannot be used"):
            checked_device(name)
