"""Averaged weights: a running mean over the updates, which generalises better than the last weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from easyfirst.nn.arrays import Floats

HEAD_START = 10
"""The delay of the warm-up: the memory grows with the updates, so that untrained weights are forgotten quickly."""


class Average:
    """The mean of parameters: ``mean += (1 - memory) * (weights - mean)`` after each update."""

    def __init__(self, parameters: Mapping[str, Tensor], memory: float) -> None:
        self._now = {name: tensor for name, tensor in parameters.items() if tensor.requires_grad}
        self._fixed = {name: tensor for name, tensor in parameters.items() if not tensor.requires_grad}
        self._mean = {name: tensor.detach().clone() for name, tensor in self._now.items()} if memory else {}
        self._memory = memory
        self.n_updates = 0

    def update(self) -> None:
        """Add the current parameters to the mean. Call it after each update."""
        if not self._mean:
            return
        self.n_updates += 1
        memory = min(self._memory, self.n_updates / (HEAD_START + self.n_updates))
        with torch.no_grad():
            torch._foreach_lerp_(  # pyright: ignore[reportPrivateUsage, reportPrivateImportUsage]
                list(self._mean.values()), list(self._now.values()), 1 - memory
            )

    @property
    def arrays(self) -> dict[str, Floats]:
        """The averaged weights, or the last ones without averaging, as views of the tensors."""
        tensors = (self._mean or self._now) | self._fixed
        return {name: tensor.detach().numpy() for name, tensor in tensors.items()}

    def state(self) -> dict[str, Floats]:
        """Return what a checkpoint must hold besides ``n_updates``."""
        return {name: tensor.numpy() for name, tensor in self._mean.items()}

    def load_state(self, state: Mapping[str, Floats], n_updates: int) -> None:
        """Restore the mean from a checkpoint."""
        self.n_updates = n_updates
        for name, array in state.items():
            self._mean[name].copy_(torch.from_numpy(array.copy()))
