"""The second task of training: against a plain loop over words, and what learning from it does and does not change."""

from __future__ import annotations

import resource
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.errors import ConfigError
from easyfirst.model.parser_config import ParserConfig, TrainingConfig
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold
from easyfirst.training.attention import ARC_DIM, RELATION_DIM, SLOPE, Attention, initial_attention
from easyfirst.training.data import Job, TrainingData
from easyfirst.training.parser_task import ParserTask
from easyfirst.training.training_loop import TrainingLoop
from tests.training.parser_runs import TOY
from tests.training.test_parser_loss import SMALL, Model, batch_of, random_sentences

DIM, N_RELATIONS = 6, 3
HEADS = [[2, 0, 2, 5, 3], [0, 1], [0]]
RELATIONS = [[0, 1, 2, 1, 0], [2, 1], [0]]
LENGTHS = np.array([len(heads) for heads in HEADS])


def attention_with_random_weights() -> Attention:
    rng = np.random.default_rng(3)
    arrays = initial_attention(DIM, N_RELATIONS, rng)
    return Attention.of(
        {name: torch.from_numpy(rng.normal(size=array.shape).astype(np.float32)) for name, array in arrays.items()}
        | {"words.embedding": torch.zeros(1)}
    )


def vectors() -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(4).normal(size=(int(LENGTHS.sum()), DIM)).astype(np.float32))


def log_softmax(scores: list[float], at: int) -> float:
    return scores[at] - max(scores) - float(np.log(np.exp(np.array(scores) - max(scores)).sum()))


def plain_loss(attention: Attention, rows: torch.Tensor, heads: list[list[int]], relations: list[list[int]]) -> float:
    """Word by word, from the definition."""
    w = {name: getattr(attention, name).numpy().astype(np.float64) for name in Attention.__slots__}
    total, start = 0.0, 0
    for sentence_heads, sentence_relations in zip(heads, relations, strict=True):
        n = len(sentence_heads)
        v = np.concatenate([w["outside"][None], rows[start : start + n].numpy()])  # by word id
        hidden = v @ w["hidden"] + w["hidden_bias"]
        hidden = np.where(hidden > 0, hidden, SLOPE * hidden)
        parts = np.split(hidden, np.cumsum([ARC_DIM, ARC_DIM, RELATION_DIM]), axis=1)
        for m, (head, relation) in enumerate(zip(sentence_heads, sentence_relations, strict=True), 1):
            if head == NOT_ANNOTATED:
                continue
            query = np.append(parts[1][m], 1) @ w["arcs"]
            total -= log_softmax([float(query @ parts[0][h]) for h in range(n + 1)], head)
            if head and relation != NOT_ANNOTATED:
                left, right = np.append(parts[3][m], 1), np.append(parts[2][head], 1)
                total -= log_softmax([float(left @ matrix @ right) for matrix in w["relations"]], relation)
        start += n
    return total / len(rows)


@pytest.mark.parametrize(
    ("heads", "relations"),
    [
        (HEADS, RELATIONS),
        ([[2, 0, NOT_ANNOTATED, 5, 3], [0, NOT_ANNOTATED], [0]], RELATIONS),
        (HEADS, [[NOT_ANNOTATED, 1, 2, 1, 0], [2, NOT_ANNOTATED], [0]]),
        ([[NOT_ANNOTATED] * 4 + [0], [NOT_ANNOTATED, 0], [0]], RELATIONS),
    ],
    ids=["all-known", "unknown-heads", "unknown-relations", "roots-only"],
)
def test_the_loss_is_that_of_a_plain_loop(heads: list[list[int]], relations: list[list[int]]) -> None:
    attention, rows = attention_with_random_weights(), vectors()
    loss = attention.mean_loss(rows, LENGTHS, Gold.of(heads, relations))
    assert loss.item() == pytest.approx(plain_loss(attention, rows, heads, relations), rel=1e-4)


def test_other_sentences_of_a_batch_do_not_matter() -> None:
    attention, rows = attention_with_random_weights(), vectors()
    parts, start = 0.0, 0
    for heads, relations in zip(HEADS, RELATIONS, strict=True):
        n = len(heads)
        alone = attention.mean_loss(rows[start : start + n], np.array([n]), Gold.of([heads], [relations]))
        parts += n * alone.item()
        start += n
    together = attention.mean_loss(rows, LENGTHS, Gold.of(HEADS, RELATIONS))
    assert len(rows) * together.item() == pytest.approx(parts, rel=1e-4)


def test_a_long_sentence_takes_no_more_memory_with_short_ones_beside_it() -> None:
    """Each group is padded for itself: padded together, these would take some gigabytes."""
    lengths = [3000] + [1] * 3000
    heads = [[0] + list(range(1, 3000))] + [[0]] * 3000
    rows = torch.zeros(sum(lengths), DIM)
    gold = Gold.of(heads, [[0] * n for n in lengths])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loss = attention_with_random_weights().mean_loss(rows, np.array(lengths), gold)
    assert torch.isfinite(loss)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # kB


def test_gradients_are_finite_and_reach_vectors_and_weights() -> None:
    attention, rows = attention_with_random_weights(), vectors().requires_grad_()
    weights: list[torch.Tensor] = [getattr(attention, name).requires_grad_() for name in Attention.__slots__]
    attention.mean_loss(rows, LENGTHS, Gold.of(HEADS, RELATIONS)).backward()
    for tensor in [rows, *weights]:
        assert tensor.grad is not None
        assert torch.isfinite(tensor.grad).all()
        assert tensor.grad.abs().sum() > 0


def test_dropout_is_applied() -> None:
    attention, rows = attention_with_random_weights(), vectors()
    gold = Gold.of(HEADS, RELATIONS)
    nothing_left = attention.mean_loss(rows, LENGTHS, gold, torch.zeros_like).item()
    by_chance = sum(np.log(n + 1) * n for n in LENGTHS)
    biases = attention.relations[:, -1, -1].tolist()  # all that is left of a relation's score
    asked = [r for h, r in zip(chain(*HEADS), chain(*RELATIONS), strict=True) if h]
    by_bias = -sum(log_softmax(biases, relation) for relation in asked)
    assert nothing_left == pytest.approx((by_chance + by_bias) / LENGTHS.sum(), rel=1e-4)


def test_training_with_it_is_learning_it(monkeypatch: pytest.MonkeyPatch) -> None:
    losses: list[float] = []
    mean_loss = Attention.mean_loss

    def noting(*arguments: Any) -> torch.Tensor:
        losses.append((loss := mean_loss(*arguments)).item())
        return loss

    monkeypatch.setattr(Attention, "mean_loss", noting)
    training = TrainingConfig(learning_rate=0.01, attention=1.0)
    model, batch = Model(ParserConfig(network=SMALL, training=training)), batch_of(random_sentences(SMALL, 20))
    for _ in range(25):
        model.learn(batch)
        model.update()
    assert len(losses) == 25
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_checkpoints_have_its_weights_and_models_do_not(tmp_path: Path, weight: float) -> None:
    data = TrainingData.read(Job(TOY, tmp_path), freeze_external=False).checked_for_parser(["upos"])
    training = TrainingConfig(attention=weight, averaging=0.9)
    task = ParserTask(Job(TOY, tmp_path), ParserConfig(network=SMALL, training=training), data)
    loop = TrainingLoop(task, tmp_path)
    added = {name for name in task.arrays if name.startswith("attention.")}
    assert added == task.auxiliary
    assert bool(added) == (weight > 0)
    assert set(loop.parameters) == set(task.arrays)
    assert set(loop.average.arrays) == set(task.arrays) - added


def test_its_weight_is_part_of_the_loss_of_every_violation() -> None:
    """Twice the weight is twice the gradient, of what only the second task uses."""
    grads: list[dict[str, torch.Tensor | None]] = []
    for weight in (0.5, 1.0):
        model = Model(ParserConfig(network=SMALL, training=TrainingConfig(attention=weight)))
        model.learn(batch_of(random_sentences(SMALL, 6)))
        grads.append({name: model.parameters[f"attention.{name}"].grad for name in Attention.__slots__})
    for name in ("arcs", "hidden_bias", "outside"):
        half, whole = (grad[name] for grad in grads)
        assert half is not None
        assert whole is not None
        torch.testing.assert_close(2 * half, whole)
    assert grads[0]["arcs"] is not None
    assert grads[0]["arcs"].abs().sum() > 0


def test_a_negative_weight_is_refused() -> None:
    with pytest.raises(ConfigError, match="attention must not be negative"):
        replace(TrainingConfig(), attention=-0.1)
