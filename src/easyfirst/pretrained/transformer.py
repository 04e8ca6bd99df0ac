"""A transformer that reads words: the vector of a word is the mean over its subwords of a mix of all layers.

The mix is learnt with the parser, since syntax is in the middle layers of most transformers rather than in the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call
from transformers import AutoConfig, AutoModel

from easyfirst.errors import ModelError
from easyfirst.pretrained.subwords import Splitter, batches_of

MAX_SUBWORDS = 4096  # read at once, which bounds the memory
POOLER = "pooler"  # an output of some transformers that is not needed


class Transformer:
    """A transformer without weights of its own: they are given where it reads."""

    def __init__(self, settings: Mapping[str, Any], tokenizer: str, device: str = "cpu") -> None:
        """``settings``: those of ``easyfirst.model.encoder_store.EncoderSettings``, as plain values."""
        self._ends = {"before": settings["before"], "after": settings["after"]}
        self._room = settings["window"] - len(settings["before"]) - len(settings["after"])
        self._dim = settings["dim"]
        self._split = Splitter(tokenizer, settings["unknown"])
        self.device = torch.device(device)
        self.module = make_module(settings["transformer"]).to(self.device)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights, by name."""
        return {name: tuple(weight.shape) for name, weight in self.module.named_parameters()}

    def read(self, sentences: Sequence[Sequence[str]], mix: Tensor, weights: Mapping[str, Tensor] | None) -> Tensor:
        """Return the vectors of the words of all sentences, on the CPU: (n_words, dim). ``mix``: the weights of the
        layers, before the softmax; ``weights``: those of the transformer, or None for those of the module."""
        subwords = self._split(sentences)
        shares = torch.softmax(mix.to(self.device), 0)
        run: Any = self.module if weights is None else partial(self._run, dict(weights))
        found: list[Tensor] = []
        places: list[Any] = []
        for batch in batches_of(subwords, room=self._room, max_subwords=MAX_SUBWORDS, **self._ends):
            inputs = {"input_ids": self._tensor(batch.ids), "attention_mask": self._tensor(batch.is_given)}
            inputs |= {"output_hidden_states": True, "return_dict": True}
            output = run(**inputs)
            mixed = torch.stack([share * layer for share, layer in zip(shares, output.hidden_states, strict=True)])
            found.append(mixed.sum(0).reshape(-1, self._dim).index_select(0, self._tensor(batch.kept)))
            places.append(batch.places)
        order = np.argsort(np.concatenate(places)) if places else np.zeros(0, dtype=np.int64)
        vectors = torch.cat(found).index_select(0, self._tensor(order)) if found else torch.zeros(0, self._dim)
        return _means(vectors, self._tensor(subwords.counts)).cpu()

    def _run(self, weights: dict[str, Tensor], **inputs: Any) -> Any:
        return functional_call(self.module, weights, (), inputs)

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def make_module(configuration: Mapping[str, Any]) -> torch.nn.Module:
    """Make a transformer of this configuration, with random weights and without outputs that are not read."""
    values = dict(configuration)
    try:
        config = AutoConfig.for_model(values.pop("model_type"), **values)
        with torch.random.fork_rng(devices=[]):  # the global generator stays as it is
            module: Any = AutoModel.from_config(config, dtype=torch.float32)
    except (KeyError, ValueError, TypeError, AttributeError, ImportError) as error:
        raise ModelError(f"this version of transformers cannot make the model's encoder: {error}") from None
    if getattr(module, POOLER, None) is not None:
        setattr(module, POOLER, None)
    return module


def _means(vectors: Tensor, counts: Tensor) -> Tensor:
    """Return the mean of the subwords of each word."""
    words = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    sums = torch.zeros(len(counts), vectors.shape[1], device=vectors.device, dtype=vectors.dtype)
    return sums.index_add(0, words, vectors) / counts[:, None]
