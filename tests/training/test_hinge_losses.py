"""Replay against what exploration saw, against finite differences, and against the plain loss of Algorithm 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from easyfirst.nn.parser_network import network_of
from easyfirst.nn.words import encode_words
from easyfirst.parsing.exploration import Attachments, Explorer, Violations
from easyfirst.parsing.loop import Loop
from easyfirst.training.parser_loss import hinge_losses
from easyfirst.training.torch_namespace import TORCH
from tests.nn.random_models import Model, Sample, gold_of, ids_of, kinds_of_models, lengths_of, models, packing_of
from tests.twins import Action, Teacher, Twin, always_bold, always_correct, never_bold

KINDS = kinds_of_models()
Follow = Callable[[Action, Action, float], Action]
POLICIES: list[tuple[Follow, bool, float]] = [
    (always_correct, False, 0.5),
    (never_bold, True, 0.0),
    (always_bold, True, 1.0),
]


@dataclass
class Replayed:
    """A batch explored, with the loss of its violations as a function of 64-bit parameters."""

    model: Model
    batch: Sequence[Sample]
    attachments: Attachments
    violations: Violations

    @classmethod
    def of(cls, model: Model, batch: Sequence[Sample], *, dynamic: bool = True, prob: float = 0.5) -> Replayed | None:
        """None if the margin was never violated."""
        explorer = Explorer(
            gold_of(batch),
            window=model.config.window,
            margin=1.0,
            explore_prob=prob,
            use_dynamic_oracle=dynamic,
            rng=np.random.default_rng(3),
        )
        Loop(model.network).run(model.vectors(batch), lengths_of(batch), explorer)
        return cls(model, batch, explorer.attachments(), explorer.violations()) if explorer.n_violations else None

    def parameters(self) -> dict[str, Tensor]:
        return {name: torch.from_numpy(x).double().requires_grad_() for name, x in self.model.arrays.items()}

    def losses(self, parameters: dict[str, Tensor]) -> Tensor:
        network = network_of(parameters, rnn=self.model.config.rnn)
        vectors = encode_words(TORCH, network.words, ids_of(self.batch), packing_of(self.batch))
        return hinge_losses(network, vectors, self.attachments, self.violations, margin=1.0)

    def gradients(self) -> tuple[float, dict[str, Tensor]]:
        """The sum of the losses, and its gradient by every parameter."""
        parameters = self.parameters()
        loss = self.losses(parameters).sum()
        loss.backward()
        return loss.item(), dense(parameters)


def dense(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.zeros_like(x) if x.grad is None else x.grad.to_dense() for name, x in parameters.items()}


def naive(model: Model, batch: Sequence[Sample], follow: Follow) -> tuple[float, dict[str, Tensor], float]:
    """The plain loss: every step of every sentence in PyTorch's graph. Also how near it was to another derivation."""
    parameters = {name: torch.from_numpy(x).double().requires_grad_() for name, x in model.arrays.items()}
    twin = Twin(parameters, rnn=model.config.rnn, xp=torch)
    losses: list[Tensor] = []
    closest = np.inf
    for sample in batch:
        teacher = Teacher(sample.heads, sample.relations, 1.0, follow)
        twin.derive(twin.word_vectors(sample.words, sample.tags, sample.external), teacher)
        losses += teacher.losses
        closest = min(closest, teacher.closest)
    loss = torch.stack(losses).sum()
    loss.backward()
    return loss.item(), dense(parameters), closest


def assert_same_gradients(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, grad in expected.items():
        torch.testing.assert_close(
            found[name], grad, atol=1e-8, rtol=1e-6, msg=lambda text, name=name: f"{name}: {text}"
        )


@settings(deadline=None, max_examples=40)
@given(models(), st.lists(st.integers(1, 9), max_size=3), st.integers(0, 2**32 - 1), st.booleans())
def test_losses_are_those_exploration_saw(model: Model, lengths: list[int], seed: int, dynamic: bool) -> None:
    replayed = Replayed.of(model, model.sentences([4, *lengths], seed), dynamic=dynamic)
    assume(replayed is not None)
    assert replayed is not None
    with torch.no_grad():
        losses = replayed.losses(replayed.parameters())
    np.testing.assert_allclose(losses.numpy(), replayed.violations.losses, atol=1e-4)


@pytest.mark.parametrize("model", KINDS)
@pytest.mark.parametrize(("follow", "dynamic", "prob"), POLICIES)
def test_loss_and_gradients_are_those_of_the_plain_algorithm(
    model: Model, follow: Follow, dynamic: bool, prob: float
) -> None:
    n_compared = 0
    for seed in range(30):
        batch = model.sentences([6, 5, 3, 1], seed=seed)
        replayed = Replayed.of(model, batch, dynamic=dynamic, prob=prob)
        loss, expected, closest = naive(model, batch, follow)
        if closest < 1e-4:
            continue  # 32 and 64 bits may part ways
        assert replayed is not None
        found_loss, found = replayed.gradients()
        assert found_loss == pytest.approx(loss, rel=1e-9)
        assert_same_gradients(found, expected)
        n_compared += 1
        if n_compared == 2:
            return
    pytest.fail("no batch was clear enough to compare")


@settings(deadline=None, max_examples=15)
@given(models(), st.lists(st.integers(1, 6), max_size=2), st.integers(0, 2**32 - 1))
def test_gradients_of_random_models_are_those_of_the_plain_algorithm(
    model: Model, lengths: list[int], seed: int
) -> None:
    batch = model.sentences([4, *lengths], seed)
    replayed = Replayed.of(model, batch, prob=0.0)
    assume(replayed is not None)
    loss, expected, closest = naive(model, batch, never_bold)
    assume(closest > 1e-4)
    assert replayed is not None
    found_loss, found = replayed.gradients()
    assert found_loss == pytest.approx(loss, rel=1e-9)
    assert_same_gradients(found, expected)


@pytest.mark.parametrize("model", KINDS)
def test_gradients_are_finite_differences(model: Model) -> None:
    """Each parameter is moved a little in a few random directions."""
    replayed = Replayed.of(model, model.sentences([8, 5, 5, 3], seed=11))
    assert replayed is not None
    _, grads = replayed.gradients()
    rng = np.random.default_rng(5)
    step = 1e-5
    for name, grad in grads.items():
        for _ in range(2):
            direction = torch.from_numpy(rng.normal(size=grad.shape))
            losses = []
            for sign in (1, -1):
                parameters = replayed.parameters()
                with torch.no_grad():
                    parameters[name] += sign * step * direction
                    losses.append(replayed.losses(parameters).sum().item())
            slope = (losses[0] - losses[1]) / (2 * step)
            assert slope == pytest.approx((grad * direction).sum().item(), rel=1e-5, abs=1e-6), name


def test_what_no_window_holds_has_no_gradient() -> None:
    """Only words of the batch, and only relations and slots that were used."""
    model = KINDS[0]
    batch = model.sentences([5, 3], seed=2)
    replayed = Replayed.of(model, batch)
    assert replayed is not None
    _, grads = replayed.gradients()
    used = set(ids_of(batch).words.tolist())
    for word, row in enumerate(grads["words.embedding"]):
        assert word in used or not row.any()
    for relation, row in enumerate(grads["trees.relation"]):
        assert relation in replayed.attachments.relations or not row.any()
