"""Relatedness of sentences with the tree encoder: SICK or the STS benchmark.

    python examples/relatedness.py train SICK_train.txt --dev SICK_trial.txt --test SICK_test_annotated.txt \
        --embeddings glove.npz --out my-model
    python examples/relatedness.py predict my-model "A man is singing." "Somebody sings."

It is the model of Tai et al. (2015): the product and the difference of two sentence vectors, a hidden layer, and a
distribution over the scores, whose mean is the prediction. SICK has scores from 1 to 5, the STS benchmark from 0 to 5.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentences import Item, SentenceEncoder, add_training, load, parse_texts, read_lines, run, train_on_pairs
from torch import Tensor, nn

import easyfirst
from easyfirst.errors import DataError

Pair = tuple[str, str, float]
HIGHEST = 5  # of the scores; there is a class for each whole number from 0 on


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs of sentences with their scores, in the format of SICK (with a header) or of the STS benchmark."""
    lines = read_lines(path)
    is_sick = lines[0].startswith("pair_ID\t")
    one, other, score = (1, 2, 3) if is_sick else (5, 6, 4)
    pairs: list[Pair] = []
    for number, line in enumerate(lines[is_sick:], 1 + is_sick):
        cells = line.split("\t")
        try:
            pairs.append((cells[one], cells[other], float(cells[score])))
        except (IndexError, ValueError):
            message = f"expected two sentences and a score in the columns {one + 1}, {other + 1} and {score + 1}"
            raise DataError(message, source=str(path), line=number) from None
    return pairs


class Relatedness(nn.Module):
    """The score of two sentences."""

    def __init__(self, sentences: SentenceEncoder, hidden_dim: int = 50) -> None:
        super().__init__()
        self.sentences = sentences
        self.product = nn.Linear(sentences.dim, hidden_dim)
        self.difference = nn.Linear(sentences.dim, hidden_dim, bias=False)
        self.output = nn.Linear(hidden_dim, HIGHEST + 1)

    def forward(self, ones: Sequence[Item], others: Sequence[Item]) -> Tensor:
        """Return the log-probabilities of the scores 0 to 5."""
        one, other = self.sentences([*ones, *others]).split(len(ones))
        hidden = torch.sigmoid(self.product(one * other) + self.difference((one - other).abs()))
        return torch.log_softmax(self.output(hidden), dim=1)


def distribution(scores: Sequence[float]) -> Tensor:
    """Return a distribution over 0 to 5 for each score, which is its mean: 3.2 is 3 with 0.8 and 4 with 0.2."""
    distances = (torch.tensor(scores)[:, None] - torch.arange(HIGHEST + 1)).abs()
    return (1 - distances).clamp(min=0)


def predict_scores(model: nn.Module, items: dict[str, Item], pairs: Sequence[Pair]) -> np.ndarray:
    """Return the mean of the predicted distribution for each pair."""
    means: list[Tensor] = []
    for begin in range(0, len(pairs), 100):
        chunk = pairs[begin : begin + 100]
        found = model([items[one] for one, *_ in chunk], [items[other] for _, other, _ in chunk])
        means.append(found.exp() @ torch.arange(HIGHEST + 1.0))
    return torch.concat(means).numpy()


def evaluate(model: nn.Module, items: dict[str, Item], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return Pearson's correlation with the scores of annotators, and the mean squared error."""
    predicted, gold = predict_scores(model, items, pairs), np.array([score for *_, score in pairs])
    is_constant = predicted.std() == 0 or gold.std() == 0
    pearson = 0.0 if is_constant else float(np.corrcoef(predicted, gold)[0, 1])
    return {"pearson": pearson, "mse": float(np.square(predicted - gold).mean())}


def train(options: argparse.Namespace) -> None:
    """Train a model and save it."""

    def loss(found: Tensor, pairs: Sequence[Pair]) -> Tensor:
        return nn.functional.kl_div(found, distribution([score for *_, score in pairs]), reduction="batchmean")

    train_on_pairs(options, read_pairs, Relatedness, loss, evaluate)


def predict(options: argparse.Namespace) -> None:
    """Print the score of two sentences."""
    model, settings = load(options.model, lambda sentences, _: Relatedness(sentences))
    pair = (options.one, options.other, 0.0)
    items = parse_texts(easyfirst.load(settings["parser"]), pair[:2], pretrained=settings["pretrained"])
    with torch.no_grad():
        print(f"{predict_scores(model, items, [pair])[0]:.2f}")


def add_prediction(parser: Any) -> None:
    """Add the arguments of ``predict``."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a directory that 'train' wrote")
    parser.add_argument("one", metavar="ONE", help="a sentence")
    parser.add_argument("other", metavar="OTHER", help="another sentence")


if __name__ == "__main__":
    run(__doc__, {"train": (add_training, train), "predict": (add_prediction, predict)})
