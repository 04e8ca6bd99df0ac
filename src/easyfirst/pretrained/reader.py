"""A transformer with fixed weights, which parses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from easyfirst.errors import ConfigError, ModelError
from easyfirst.nn.arrays import Floats
from easyfirst.pretrained.transformer import Transformer

DEVICE_VARIABLE = "EASYFIRST_DEVICE"
MIX, PREFIX = "mix", "transformer."  # the names of arrays (``easyfirst.model.encoder_store``)


class Reader:
    """Reads sentences with fixed weights. Threads may share it."""

    def __init__(self, settings: Mapping[str, Any], tokenizer: str, arrays: Mapping[str, Floats], device: str) -> None:
        self._given = dict(settings), tokenizer, dict(arrays)
        self._transformer = Transformer(settings, tokenizer, device)
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self._mix = weights.pop(MIX)
        _load(self._transformer, {name.removeprefix(PREFIX): weight for name, weight in weights.items()})
        self._transformer.module.eval()

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return a vector for every word of all sentences: (n_words, dim)."""
        with torch.inference_mode():
            return self._transformer.read(sentences, self._mix, None).numpy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the weights; the process that loads them chooses its own device."""
        return make_reader, (self._given,)


def make_reader(parts: tuple[Mapping[str, Any], str, Mapping[str, Floats]]) -> Reader:
    """Make a reader on the device that the environment names (``EASYFIRST_DEVICE``), or on the CPU."""
    return Reader(*parts, checked_device(os.environ.get(DEVICE_VARIABLE) or "cpu"))


def checked_device(name: str) -> str:
    """Return the name of a device. Raise a :class:`ConfigError` if there is no such device here."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"the device {name!r} cannot be used ({reason}); use cpu") from None
    return name


def _load(transformer: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Make these the weights of the module, after checking their names and shapes. On the CPU they are not copied."""
    found = {name: tuple(weight.shape) for name, weight in weights.items()}
    if found != transformer.shapes:
        wrong = sorted({name for name, _ in found.items() ^ transformer.shapes.items()})
        raise ModelError(
            f"this version of transformers has other weights for the model's encoder: {', '.join(wrong[:3])}; "
            "install the version that the model was trained with"
        )
    for name, parameter in transformer.module.named_parameters():
        parameter.data = weights[name].to(transformer.device)
