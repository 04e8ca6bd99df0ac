"""Reading the directory of a Hugging Face model. Nothing is downloaded, unpickled or executed."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.encoder_store import MIX, PREFIX, EncoderSettings, PretrainedEncoder
from easyfirst.pretrained.transformer import POOLER

MAX_WINDOW = 512  # the most subwords that are read at once, even if the transformer can read more
LOCAL = {"local_files_only": True, "trust_remote_code": False}
OF_THIS_MACHINE = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
_LICENCE = re.compile(r"\A---\n(?:.*\n)*?license: *([^\n#]+?) *\n(?:.*\n)*?---\n")
"""The licence in the first lines of a model card."""


def read_hugging_face(directory: Path) -> PretrainedEncoder:
    """Read a transformer and its tokenizer. Raise a :class:`ModelError` if they cannot be used."""
    _check(directory)
    with _errors(directory), _no_progress_bars(), torch.random.fork_rng(devices=[]):
        given: Any = AutoTokenizer.from_pretrained(directory, use_fast=True, add_prefix_space=True, **LOCAL)
        options = {"use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
        module: Any
        module, info = AutoModel.from_pretrained(directory, **options, **LOCAL)
    if missing := sorted(name for name in info["missing_keys"] if not name.startswith(POOLER)):
        raise ModelError(f"{directory} has no weights for {', '.join(missing[:3])}; fetch the model again")
    if not getattr(given, "is_fast", False):
        raise ModelError(
            f"{directory} has no fast tokenizer; save one with 'tokenizer.save_pretrained', as tokenizer.json"
        )
    if module.config.is_encoder_decoder:
        raise ModelError(
            f"{directory} is an encoder with a decoder; name a model that is an encoder only, such as BERT"
        )
    tokenizer = given.backend_tokenizer.to_str()
    before, after = _ends(tokenizer)
    weights = {
        name: np.array(weight.detach().numpy(), dtype=np.float32)
        for name, weight in module.named_parameters()
        if not name.startswith(POOLER)
    }
    values = json.loads(module.config.to_json_string(use_diff=False))
    settings = EncoderSettings(
        transformer={name: value for name, value in values.items() if name not in OF_THIS_MACHINE},
        dim=module.config.hidden_size,
        n_layers=module.config.num_hidden_layers + 1,
        window=_window(module, given),
        before=before,
        after=after,
        unknown=next((each for each in (given.unk_token_id, given.pad_token_id) if each is not None), 0),
    )
    arrays = {MIX: np.zeros(settings.n_layers, dtype=np.float32)}
    arrays |= {PREFIX + name: weight for name, weight in weights.items()}
    return PretrainedEncoder(settings, tokenizer, arrays, directory.resolve().name, _licence(directory))


def _check(directory: Path) -> None:
    """Raise an error if this is not the directory of a model."""
    if not directory.is_dir():
        raise ConfigError(
            f"--encoder {directory}: there is no such directory; nothing is downloaded, so save a model there first, "
            "with 'save_pretrained' of transformers or 'hf download'"
        )
    if not (directory / "config.json").is_file():
        raise ModelError(f"{directory} is not a Hugging Face model: config.json is missing")
    if not any(directory.glob("*.safetensors")):
        raise ModelError(
            f"{directory} has no weights in the safetensors format; save the model again with a current version of "
            "transformers"
        )


@contextmanager
def _errors(directory: Path) -> Generator[None]:
    """Report what transformers cannot read."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"{directory} cannot be read as a Hugging Face model: {reason}") from error


@contextmanager
def _no_progress_bars() -> Generator[None]:
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def _ends(tokenizer: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the subwords that begin and end every sequence, such as [CLS] and [SEP]."""
    made = Tokenizer.from_str(tokenizer)
    made.no_padding()
    made.no_truncation()
    encoded = made.encode("a")
    mask = encoded.special_tokens_mask
    first = mask.index(0) if 0 in mask else len(mask)
    last = len(mask) - mask[::-1].index(0) if 0 in mask else len(mask)
    return tuple(encoded.ids[:first]), tuple(encoded.ids[last:])


def _window(module: torch.nn.Module, tokenizer: Any) -> int:
    """Return how many subwords the transformer can read at once. Some number positions from that of the padding on."""
    limits = [MAX_WINDOW, tokenizer.model_max_length]
    for name, layer in module.named_modules():
        if name.endswith("position_embeddings") and isinstance(layer, torch.nn.Embedding):
            offset = 0 if layer.padding_idx is None else layer.padding_idx + 1
            limits.append(layer.num_embeddings - offset)
    return int(min(limits))


def _licence(directory: Path) -> str | None:
    """Return the licence in the model's card."""
    card = directory / "README.md"
    found = _LICENCE.match(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else None
    return found[1].strip("\"'") if found else None
