"""Adam with the defaults of the paper's toolkit (gradient clipping, slight weight decay, sparse updates of look-up
tables), and the average of the weights over the updates, which generalises better than the last weights. A transformer
that is fine-tuned has a learning rate, a weight decay and a clipping of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import torch
from torch import Tensor

from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.parser_config import TrainingConfig
from easyfirst.model.settings import TrainingSettings
from easyfirst.nn.arrays import Floats

TINY = 1e-30
HEAD_START = 10  # the delay of the average's warm-up: its memory grows, so that untrained weights are forgotten quickly


class Optimizer:
    """Updates named parameters by their gradients. ``sparse``: the look-up tables, whose gradients have few rows;
    ``tuned``: the parameters of a transformer, which is trained as ``tuning`` says."""

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        config: TrainingConfig | TrainingSettings,
        *,
        sparse: Collection[str],
        tuned: Collection[str] = (),
        tuning: EncoderTraining | None = None,
    ) -> None:
        self.parameters = {name: tensor for name, tensor in parameters.items() if tensor.requires_grad}
        self.config = config
        self._sparse_names = frozenset(sparse)
        rate, betas = config.learning_rate, (config.adam_beta1, config.adam_beta2)
        self._tuned_names = frozenset(tuned) & self.parameters.keys()
        others = self._sparse_names | self._tuned_names
        self.dense = [tensor for name, tensor in self.parameters.items() if name not in others]
        self.tables = [tensor for name, tensor in self.parameters.items() if name in self._sparse_names]
        decay = config.weight_decay / rate
        self._dense = torch.optim.AdamW(self.dense, lr=rate, betas=betas, weight_decay=decay, fused=True)
        self._sparse = torch.optim.SparseAdam(self.tables, lr=rate, betas=betas) if self.tables else None
        self._tuning, self._tuned = tuning, None
        if tuning is not None and self._tuned_names:
            self._tuned = _transformer_optimizer([self.parameters[name] for name in sorted(self._tuned_names)], tuning)

    def step(self, n_losses: int = 1, *, rate_share: float = 1.0, past: float = 0.0) -> float:
        """Update by the mean of ``n_losses`` losses with summed gradients; return the norm of the mean before clipping,
        without a transformer's. ``rate_share``: the factor of the learning rate, for a decaying rate; ``past``: the
        share of training that is done, for a transformer's learning rate."""
        rates: dict[torch.optim.Optimizer, float] = {self._dense: rate_share * self.config.learning_rate}
        if self._sparse is not None:
            rates[self._sparse] = rates[self._dense]
        norm = _clip(self._gradients(self.parameters.keys() - self._tuned_names), n_losses, self.config.clip_norm)
        if self._tuning is not None and self._tuned is not None:
            rates[self._tuned] = self._tuning.rate_share(past) * self._tuning.learning_rate
            _clip(self._gradients(self._tuned_names), n_losses, self._tuning.clip_norm)
        for optimizer, rate in rates.items():
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        for tensor in self.parameters.values():
            tensor.grad = None
        return norm

    def _gradients(self, names: Collection[str]) -> list[Tensor]:
        """Return the values of the gradients of these parameters, to be changed in place."""
        grads: list[Tensor] = []
        for name, tensor in self.parameters.items():
            if name in names and tensor.grad is not None:
                if tensor.grad.is_sparse:
                    tensor.grad = tensor.grad.coalesce()
                grads.append(tensor.grad.values() if tensor.grad.is_sparse else tensor.grad)
        return grads

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint must hold, by name."""
        return {
            f"{name}/{key}": torch.as_tensor(value).cpu()
            for name, tensor in self.parameters.items()
            for key, value in self._optimizer_of(name).state.get(tensor, {}).items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the state from a checkpoint."""
        for path, value in state.items():
            name, key = path.rsplit("/", 1)
            is_count = key == "step" and name in self._sparse_names
            parameter = self.parameters[name]
            self._optimizer_of(name).state[parameter][key] = int(value) if is_count else value.to(parameter.device)

    def _optimizer_of(self, name: str) -> torch.optim.Optimizer:
        if self._tuned is not None and name in self._tuned_names:
            return self._tuned
        return self._sparse if self._sparse is not None and name in self._sparse_names else self._dense


def _transformer_optimizer(parameters: Iterable[Tensor], tuning: EncoderTraining) -> torch.optim.Optimizer:
    """Make the optimizer of a transformer. Only matrices decay, not biases and the scales of layers."""
    parts: list[list[Tensor]] = [[], []]
    for parameter in parameters:
        parts[parameter.ndim < 2].append(parameter)
    groups = [
        {"params": part, "weight_decay": decay} for part, decay in zip(parts, (tuning.weight_decay, 0.0), strict=True)
    ]
    return torch.optim.AdamW(groups, lr=tuning.learning_rate, fused=True)


def _clip(grads: Iterable[Tensor], n_losses: int, clip_norm: float) -> float:
    """Turn summed gradients into those of the mean loss, scale them down to the largest norm that is allowed, and
    return their norm before."""
    grads = list(grads)
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads])) / n_losses
    scale = min(1.0, clip_norm / max(norm.item(), TINY)) / n_losses
    if scale != 1:
        for grad in grads:
            grad.mul_(scale)
    return norm.item()


class Average:
    """The mean of parameters: ``mean += (1 - memory) * (weights - mean)`` after each update."""

    def __init__(self, parameters: Mapping[str, Tensor], memory: float) -> None:
        self._parameters, self._memory, self.n_updates = dict(parameters), memory, 0
        trained = {name: tensor for name, tensor in parameters.items() if tensor.requires_grad}
        self._mean = {name: tensor.detach().clone() for name, tensor in trained.items()} if memory else {}

    def update(self) -> None:
        """Add the current parameters to the mean. Call it after each update."""
        if not self._mean:
            return
        self.n_updates += 1
        memory = min(self._memory, self.n_updates / (HEAD_START + self.n_updates))
        means, weights = list(self._mean.values()), [self._parameters[name] for name in self._mean]
        with torch.no_grad():
            torch._foreach_lerp_(means, weights, 1 - memory)  # pyright: ignore[reportPrivateUsage, reportPrivateImportUsage]

    @property
    def arrays(self) -> dict[str, Floats]:
        """The averaged weights, or the last ones without averaging, as views of the tensors."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in (self._parameters | self._mean).items()}

    def state(self) -> dict[str, Floats]:
        """Return what a checkpoint must hold besides ``n_updates``."""
        return {name: tensor.cpu().numpy() for name, tensor in self._mean.items()}

    def load_state(self, state: Mapping[str, Floats], n_updates: int) -> None:
        """Restore the mean from a checkpoint."""
        self.n_updates = n_updates
        for name, array in state.items():
            self._mean[name].copy_(torch.from_numpy(array.copy()))
