"""The network's array functions in PyTorch: see ``easyfirst.nn.namespace``."""

from __future__ import annotations

import torch
from torch import Tensor

from easyfirst.nn.namespace import Namespace
from easyfirst.nn.rnn import Layer
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
