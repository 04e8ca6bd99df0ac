"""Adam with the defaults of the paper's toolkit: norm clipping, a trace of weight decay, and look-up tables of which
only the rows in use are updated."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from easyfirst.model.config import TrainingConfig

SPARSE = ("words.embedding", "words.external", "words.upos", "words.xpos")
"""The tables whose gradient has few rows (``Namespace.embed``)."""


TINY = 1e-30


class Optimizer:
    """Updates named parameters from their gradients."""

    def __init__(self, parameters: Mapping[str, Tensor], config: TrainingConfig) -> None:
        self.parameters = parameters
        self.config = config
        betas = (config.adam_beta1, config.adam_beta2)
        rate = config.learning_rate
        dense = [tensor for name, tensor in parameters.items() if name not in SPARSE]
        sparse = [tensor for name, tensor in parameters.items() if name in SPARSE and tensor.requires_grad]
        self._dense = torch.optim.AdamW(
            dense, lr=rate, betas=betas, weight_decay=config.weight_decay / rate, fused=True
        )
        self._sparse = torch.optim.SparseAdam(sparse, lr=rate, betas=betas)

    def step(self, n_losses: int = 1) -> float:
        """One update by the mean of so many losses, whose gradients have been added up; the mean's norm, unclipped."""
        grads = self._gradients()
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads])) / n_losses
        scale = min(1.0, self.config.clip_norm / max(norm.item(), TINY)) / n_losses
        if scale != 1:
            for grad in grads:
                grad.mul_(scale)
        self._dense.step()
        self._sparse.step()
        for tensor in self.parameters.values():
            tensor.grad = None
        return norm.item()

    def _gradients(self) -> list[Tensor]:
        """The values of all gradients, to be changed in place."""
        grads: list[Tensor] = []
        for tensor in self.parameters.values():
            if tensor.grad is not None:
                if tensor.grad.is_sparse:
                    tensor.grad = tensor.grad.coalesce()
                grads.append(tensor.grad.values() if tensor.grad.is_sparse else tensor.grad)
        return grads

    def state(self) -> dict[str, Tensor]:
        """All that a resumed run needs, by name."""
        return {
            f"{name}/{key}": value
            for name, tensor in self.parameters.items()
            for key, value in self._state_of(name, tensor).items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a saved state."""
        for path, value in state.items():
            name, key = path.rsplit("/", 1)
            tensor = self.parameters[name]
            self._optimizer_of(name).state[tensor][key] = int(value) if key == "step" and name in SPARSE else value

    def _optimizer_of(self, name: str) -> torch.optim.Optimizer:
        return self._sparse if name in SPARSE else self._dense

    def _state_of(self, name: str, tensor: Tensor) -> dict[str, Tensor]:
        state = self._optimizer_of(name).state.get(tensor, {})
        return {key: torch.as_tensor(value) for key, value in state.items()}
