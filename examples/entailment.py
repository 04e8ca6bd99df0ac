"""Entailment between sentences with the tree encoder: SICK or SNLI.

    python examples/entailment.py train SICK_train.txt --dev SICK_trial.txt --test SICK_test_annotated.txt \
        --embeddings glove.npz --out my-model
    python examples/entailment.py predict my-model "A man is singing loudly." "Somebody sings."

Two sentence vectors, their product and their difference are the input of a hidden layer and a softmax over the three
classes: ENTAILMENT, NEUTRAL and CONTRADICTION.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentences import Item, SentenceEncoder, add_training, load, parse_texts, read_lines, run, train_on_pairs
from torch import Tensor, nn

import easyfirst
from easyfirst.errors import DataError

CLASSES = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
NUMBERS = {name: number for number, name in enumerate(CLASSES)} | {str(number): number for number in range(3)}
Pair = tuple[str, str, int]


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs of sentences with their classes: SICK, which has a header, or premise, hypothesis and 0, 1 or 2 in
    the order of ``CLASSES``."""
    lines = read_lines(path)
    is_sick = lines[0].startswith("pair_ID\t")
    one, other, judgment = (1, 2, 4) if is_sick else (0, 1, 2)
    pairs: list[Pair] = []
    for number, line in enumerate(lines[is_sick:], 1 + is_sick):
        cells = line.split("\t")
        try:
            pairs.append((cells[one], cells[other], NUMBERS[cells[judgment]]))
        except (IndexError, KeyError):
            message = f"expected two sentences and a class in the columns {one + 1}, {other + 1} and {judgment + 1}"
            raise DataError(message, source=str(path), line=number) from None
    return pairs


class Entailment(nn.Module):
    """The class of two sentences."""

    def __init__(self, sentences: SentenceEncoder, hidden_dim: int = 100) -> None:
        super().__init__()
        self.sentences = sentences
        self.hidden = nn.Linear(4 * sentences.dim, hidden_dim)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(hidden_dim, len(CLASSES))

    def forward(self, ones: Sequence[Item], others: Sequence[Item]) -> Tensor:
        """Return the scores of the classes."""
        one, other = self.sentences([*ones, *others]).split(len(ones))
        joined = torch.concat([one, other, one * other, (one - other).abs()], dim=1)
        return self.output(self.dropout(torch.tanh(self.hidden(joined))))


def predict_classes(model: nn.Module, items: dict[str, Item], pairs: Sequence[Pair]) -> Tensor:
    """Return the probabilities of the classes for each pair."""
    found: list[Tensor] = []
    for begin in range(0, len(pairs), 100):
        chunk = pairs[begin : begin + 100]
        found.append(model([items[one] for one, *_ in chunk], [items[other] for _, other, _ in chunk]))
    return torch.concat(found).softmax(1)


def evaluate(model: nn.Module, items: dict[str, Item], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the share of pairs whose class is right."""
    gold = torch.tensor([judgment for *_, judgment in pairs])
    return {"accuracy": float((predict_classes(model, items, pairs).argmax(1) == gold).float().mean())}


def train(options: argparse.Namespace) -> None:
    """Train a model and save it."""

    def loss(found: Tensor, pairs: Sequence[Pair]) -> Tensor:
        return nn.functional.cross_entropy(found, torch.tensor([judgment for *_, judgment in pairs]))

    train_on_pairs(options, read_pairs, Entailment, loss, evaluate)


def predict(options: argparse.Namespace) -> None:
    """Print the class of two sentences and its probability."""
    model, settings = load(options.model, lambda sentences, _: Entailment(sentences))
    pair = (options.premise, options.hypothesis, 0)
    items = parse_texts(easyfirst.load(settings["parser"]), pair[:2], pretrained=settings["pretrained"])
    with torch.no_grad():
        [probabilities] = predict_classes(model, items, [pair]).tolist()
    best = max(range(len(CLASSES)), key=probabilities.__getitem__)
    print(f"{CLASSES[best]} {probabilities[best]:.2f}")


def add_prediction(parser: Any) -> None:
    """Add the arguments of ``predict``."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a directory that 'train' wrote")
    parser.add_argument("premise", metavar="PREMISE", help="a sentence")
    parser.add_argument("hypothesis", metavar="HYPOTHESIS", help="a sentence that may follow from it")


if __name__ == "__main__":
    run(__doc__, {"train": (add_training, train), "predict": (add_prediction, predict)})
