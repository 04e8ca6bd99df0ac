"""A tokenizer as a directory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.settings import build_settings
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_store import TokenizerModel, load_tokenizer, save_tokenizer, tokenizer_shapes
from easyfirst.text.tokenizing import Tokenizer
from tests.text.random_tokenizers import CONFIG, random_model, random_tokenizer

TEXT = "ab c. 'ab A1! gf"


def test_it_is_the_same_when_loaded_again(tmp_path: Path) -> None:
    model = random_model(2, has_inner_spaces=True)
    save_tokenizer(tmp_path, model)
    loaded = load_tokenizer(tmp_path)
    assert (loaded.config, loaded.vocabulary) == (model.config, model.vocabulary)
    for name, array in model.arrays.items():
        np.testing.assert_array_equal(loaded.arrays[name], array)
    assert Tokenizer(load_tokenizer(tmp_path)).tokenize(TEXT) == random_tokenizer(2, has_inner_spaces=True).tokenize(
        TEXT
    )


def test_it_may_be_stored_in_half_the_space(tmp_path: Path) -> None:
    model = random_model(2)
    save_tokenizer(
        tmp_path, TokenizerModel(CONFIG, model.vocabulary, {n: a.astype(np.float16) for n, a in model.arrays.items()})
    )
    loaded = load_tokenizer(tmp_path)
    assert all(array.dtype == np.float32 for array in loaded.arrays.values())
    assert Tokenizer(load_tokenizer(tmp_path)).tokenize(TEXT) == random_tokenizer(2).tokenize(TEXT)


def test_the_first_arrays_have_the_shapes_they_need() -> None:
    model = random_model(1, config=TokenizerConfig(character_layers=2, token_layers=3))
    assert {name: array.shape for name, array in model.arrays.items()} == tokenizer_shapes(
        model.config, model.vocabulary
    )
    assert all(array.dtype == np.float32 for array in model.arrays.values())


def test_a_damaged_directory_is_refused(tmp_path: Path) -> None:
    model = random_model(2)
    save_tokenizer(tmp_path, model)
    vocabulary = tmp_path / "vocab.json"
    vocabulary.write_text(json.dumps(json.loads(vocabulary.read_text()) | {"characters": [" "]}))
    with pytest.raises(ModelError, match=r"vocab\.json"):
        load_tokenizer(tmp_path)
    with pytest.raises(ModelError, match="no model"):
        load_tokenizer(tmp_path / "x")
    with pytest.raises(ModelError, match="shape"):
        save_tokenizer(tmp_path / "y", TokenizerModel(TokenizerConfig(hidden_dim=5), model.vocabulary, model.arrays))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hidden_dim": 0}, "hidden_dim must be from 1"),
        ({"token_layers": 0}, "token_layers must be from 1"),
        ({"min_count": 0}, "min_count"),
        ({"hidden": 3}, "unknown setting network.hidden"),
        ({"hidden_dim": 3.5}, "must be of type int"),
        ([], "table of settings"),
    ],
)
def test_settings_are_checked(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_settings(TokenizerConfig(), values)
