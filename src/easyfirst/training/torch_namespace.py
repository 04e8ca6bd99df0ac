"""The network's array functions in PyTorch (see ``easyfirst.nn.namespace``), and dropout."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.namespace import Namespace
from easyfirst.nn.rnn import Layer
from easyfirst.nn.sequences import Drop
from easyfirst.training.kernels import LstmLayer


def _run_lstm_layer(layer: Layer, x: Tensor, n_active: list[int]) -> Tensor:
    return LstmLayer.apply(x, layer.input, layer.recurrent, layer.bias, n_active)


TORCH = Namespace(
    matmul=torch.matmul,
    tanh=torch.tanh,
    sigmoid=torch.sigmoid,
    lstm_layer=_run_lstm_layer,
    concat=torch.concat,
    stack=torch.stack,
    embed=lambda table, ids: torch.nn.functional.embedding(ids, table, sparse=True),
    take=lambda x, rows: torch.index_select(x, 0, rows),
    index=torch.from_numpy,
)


def dropout(share: float, rng: np.random.Generator) -> Drop | None:
    """Return a function that sets this share of an array to zero and scales up the rest to keep the mean, with a new
    mask in each call; None if the share is 0. The same state of ``rng`` gives the same masks."""
    if share == 0:
        return None
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))

    def drop(x: Tensor) -> Tensor:
        return x * torch.empty_like(x).bernoulli_(1 - share, generator=generator).div_(1 - share)

    return drop
