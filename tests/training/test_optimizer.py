"""The optimizer against Adam written out, its state across a restart, and the average of the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import Tensor

from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.parser_config import TrainingConfig
from easyfirst.training.optimizer import HEAD_START, Average, Optimizer

SHAPES = {"words.embedding": (6, 3), "words.upos": (4, 2), "words.project": (5, 4), "words.bias": (4,)}
TABLES = ("words.embedding", "words.upos")


def fresh(dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    rng = np.random.default_rng(1)
    return {name: torch.from_numpy(rng.normal(size=shape)).to(dtype).requires_grad_() for name, shape in SHAPES.items()}


def give_gradients(parameters: Mapping[str, Tensor], step: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Random gradients, of the look-up tables in a few rows only and one of those twice; as dense arrays."""
    rng = np.random.default_rng([7, step])
    dense: dict[str, np.ndarray] = {}
    for name, tensor in parameters.items():
        if name in TABLES:
            rows = rng.permutation(len(tensor))[:2]
            values = torch.from_numpy(scale * rng.normal(size=(3, tensor.shape[1]))).to(tensor.dtype)
            index = torch.tensor([[rows[0], rows[1], rows[0]]])
            tensor.grad = torch.sparse_coo_tensor(index, values, tensor.shape, check_invariants=True)
        else:
            tensor.grad = torch.from_numpy(scale * rng.normal(size=tensor.shape)).to(tensor.dtype)
        dense[name] = tensor.grad.to_dense().double().numpy().copy()
    return dense


class NaiveAdam:
    """Kingma & Ba, with clipping by the gradients' norm, weight decay, and tables updated where they are used."""

    def __init__(self, parameters: Mapping[str, Tensor], config: TrainingConfig) -> None:
        self.config = config
        self.values = {name: x.detach().double().numpy().copy() for name, x in parameters.items()}
        self.m = {name: np.zeros_like(x) for name, x in self.values.items()}
        self.v = {name: np.zeros_like(x) for name, x in self.values.items()}
        self.t = 0

    def step(self, grads: Mapping[str, np.ndarray]) -> float:
        c = self.config
        self.t += 1
        norm = math.sqrt(sum((grad**2).sum() for grad in grads.values()))
        for name, grad in grads.items():
            used = np.any(grad != 0, axis=-1) if name in TABLES else np.full(grad.shape[0], True)
            g = grad[used] * min(1.0, c.clip_norm / norm)
            x, m, v = self.values[name], self.m[name], self.v[name]
            m[used] = c.adam_beta1 * m[used] + (1 - c.adam_beta1) * g
            v[used] = c.adam_beta2 * v[used] + (1 - c.adam_beta2) * g * g
            m_hat, v_hat = m[used] / (1 - c.adam_beta1**self.t), v[used] / (1 - c.adam_beta2**self.t)
            if name not in TABLES:
                x *= 1 - c.weight_decay
            x[used] -= c.learning_rate * m_hat / (np.sqrt(v_hat) + 1e-8)
        return norm


@pytest.mark.parametrize("clip_norm", [5.0, 0.5, 1000.0])
def test_updates_are_adams(clip_norm: float) -> None:
    """The gradients vary in size, which shows whether they were clipped before Adam scaled them."""
    config = TrainingConfig(learning_rate=0.01, weight_decay=1e-3, clip_norm=clip_norm)
    parameters = fresh()
    optimizer, naive = Optimizer(parameters, config, sparse=TABLES), NaiveAdam(parameters, config)
    for step, scale in enumerate([1.0, 0.01, 30.0, 1.0, 1.0]):
        grads = give_gradients(parameters, step, scale)
        assert optimizer.step() == pytest.approx(naive.step(grads), rel=1e-5)
        for name, tensor in parameters.items():
            np.testing.assert_allclose(tensor.detach().numpy(), naive.values[name], atol=2e-6, err_msg=name)
            assert tensor.grad is None


def test_rows_not_in_use_stay_bit_for_bit() -> None:
    parameters = fresh()
    optimizer = Optimizer(parameters, TrainingConfig(weight_decay=0.1), sparse=TABLES)
    before = parameters["words.embedding"].detach().clone()
    used = give_gradients(parameters, 0)["words.embedding"].any(axis=1)
    optimizer.step()
    changed = (parameters["words.embedding"].detach() != before).any(1).numpy()
    assert changed.tolist() == used.tolist()


def test_a_frozen_table_is_left_alone() -> None:
    parameters = fresh() | {"words.external": torch.ones(3, 2)}
    optimizer = Optimizer(parameters, TrainingConfig(freeze_external=True), sparse=TABLES)
    give_gradients({name: x for name, x in parameters.items() if x.requires_grad}, 0)
    optimizer.step()
    assert (parameters["words.external"] == 1).all()


@pytest.mark.parametrize("n_before", [0, 1, 3])
def test_a_restored_optimizer_goes_on_bit_for_bit(n_before: int) -> None:
    config = TrainingConfig(learning_rate=0.01)
    parameters = fresh()
    optimizer = Optimizer(parameters, config, sparse=TABLES)
    for step in range(n_before):
        give_gradients(parameters, step)
        optimizer.step()
    restored_parameters = {name: x.detach().clone().requires_grad_() for name, x in parameters.items()}
    restored = Optimizer(restored_parameters, config, sparse=TABLES)
    restored.load_state({name: value.clone() for name, value in optimizer.state().items()})
    for step in range(n_before, n_before + 3):
        for one, its_parameters in ((optimizer, parameters), (restored, restored_parameters)):
            give_gradients(its_parameters, step)
            one.step()
        for name, tensor in parameters.items():
            assert torch.equal(tensor, restored_parameters[name]), name
    assert optimizer.state().keys() == restored.state().keys()
    for name, value in optimizer.state().items():
        assert torch.equal(value, restored.state()[name]), name


def trained_and_frozen() -> dict[str, torch.Tensor]:
    return {"w": torch.ones(2, 3, requires_grad=True), "table": torch.full((4,), 5.0)}


def test_the_mean_forgets_fast_at_first_and_then_with_its_memory() -> None:
    given = trained_and_frozen()
    average = Average(given, 0.8)
    expected = 1.0
    for update in range(1, 80):
        given["w"].data.fill_(update)
        average.update()
        memory = min(0.8, update / (HEAD_START + update))
        expected = memory * expected + (1 - memory) * update
    np.testing.assert_allclose(average.arrays["w"], expected, rtol=1e-5)
    np.testing.assert_array_equal(average.arrays["table"], 5)


def test_without_memory_the_last_weights_are_used() -> None:
    given = trained_and_frozen()
    average = Average(given, 0.0)
    given["w"].data.fill_(7)
    average.update()
    np.testing.assert_array_equal(average.arrays["w"], 7)
    assert average.state() == {}


def test_a_restored_mean_goes_on_alike() -> None:
    given = trained_and_frozen()
    average = Average(given, 0.9)
    given["w"].data.fill_(3)
    average.update()
    other = Average(given, 0.9)
    other.load_state({name: array.copy() for name, array in average.state().items()}, average.n_updates)
    for either in (average, other):
        given["w"].data.fill_(4)
        either.update()
    np.testing.assert_array_equal(average.arrays["w"], other.arrays["w"])


class TestTransformer:
    """Some parameters are those of a transformer, with settings of its own."""

    TUNING = EncoderTraining(learning_rate=0.1, warmup=0.5, weight_decay=0.5, clip_norm=1e-6)
    TUNED = ("words.project", "layer.bias")

    def parameters(self) -> dict[str, Tensor]:
        return {**fresh(torch.float64), "layer.bias": torch.ones(3, dtype=torch.float64).requires_grad_()}

    def optimizer(self, parameters: Mapping[str, Tensor]) -> Optimizer:
        return Optimizer(parameters, TrainingConfig(), sparse=TABLES, tuned=self.TUNED, tuning=self.TUNING)

    def test_its_own_rate_decay_and_clipping(self) -> None:
        """Adam's first step is nearly the learning rate, but less where a gradient is clipped to next to nothing. Only
        matrices decay, and the gradients of the others are clipped as if there were no transformer."""
        parameters, before, others = self.parameters(), self.parameters(), self.parameters()
        gradients = give_gradients(parameters, 0, scale=100)
        give_gradients(others, 0, scale=100)
        for name in self.TUNED:
            del others[name]
        norm = self.optimizer(parameters).step(2, past=0.25)
        assert norm == Optimizer(others, TrainingConfig(), sparse=TABLES).step(2)
        total = math.sqrt(sum(float((gradients[name] ** 2).sum()) for name in self.TUNED))
        for name, decay in zip(self.TUNED, (0.5, 0.0), strict=True):
            rate, clipped = 0.1 * 0.25 / 0.5, gradients[name] / total * 1e-6
            moved = before[name].detach().numpy() * (1 - rate * decay) - rate * clipped / (np.abs(clipped) + 1e-8)
            np.testing.assert_allclose(parameters[name].detach().numpy(), moved, rtol=1e-5)
        for name, tensor in others.items():
            assert torch.equal(parameters[name], tensor)

    def test_continues_from_a_checkpoint(self) -> None:
        parameters = self.parameters()
        optimizer = self.optimizer(parameters)
        give_gradients(parameters, 0)
        optimizer.step(past=0.6)
        copies = {name: tensor.detach().clone().requires_grad_() for name, tensor in parameters.items()}
        resumed = self.optimizer(copies)
        resumed.load_state({name: value.clone() for name, value in optimizer.state().items()})
        for given, its in ((parameters, optimizer), (copies, resumed)):
            give_gradients(given, 1)
            its.step(past=0.7)
        assert all(torch.equal(tensor, copies[name]) for name, tensor in parameters.items())

    def test_a_frozen_one(self) -> None:
        parameters = self.parameters()
        for name in self.TUNED:
            parameters[name].requires_grad_(False)
        optimizer = self.optimizer(parameters)
        give_gradients({name: tensor for name, tensor in parameters.items() if name not in self.TUNED}, 0)
        optimizer.step(past=0.5)
        assert not any(name.startswith(self.TUNED) for name in optimizer.state())
