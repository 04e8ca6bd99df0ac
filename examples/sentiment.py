"""Sentiment of sentences and their parts with the tree encoder: the Stanford Sentiment Treebank (SST).

    python examples/sentiment.py train train.txt --dev dev.txt --test test.txt --embeddings glove.npz --out my-model
    python examples/sentiment.py train train.txt --dev dev.txt --classes 2 --embeddings glove.npz --out my-binary-model
    python examples/sentiment.py predict my-model "A lovely film, but much too long."

SST has constituency trees with a label from 0 to 4 on every phrase. Here the trees are those of the parser, and a
subtree has a label if a phrase has the same words. Training uses the labels of all subtrees, and scores are those of
whole sentences. With two classes, neutral phrases and sentences are left out.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentences import (
    Item,
    SentenceEncoder,
    add_training,
    fit,
    load,
    make_items,
    parse_texts,
    read_lines,
    run,
    save,
    shown,
)
from torch import Tensor, nn

import easyfirst
from easyfirst.errors import DataError

NODE = re.compile(r"\((\d) |([^\s()]+)\)|\)")
PTB_TOKENS = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}
NAMES = {5: ("very negative", "negative", "neutral", "positive", "very positive"), 2: ("negative", "positive")}
Span = tuple[int, int]  # from the first word, counted from 0, to the one after the last


@dataclass(frozen=True)
class Labelled:
    """A sentence with the labels of some of its subtrees by their spans; the first is that of the sentence."""

    item: Item
    spans: tuple[Span, ...]
    labels: tuple[int, ...]


def read_trees(path: Path) -> list[tuple[list[str], dict[Span, int]]]:
    """Return the words of each sentence, and the label of each phrase by its span."""
    found: list[tuple[list[str], dict[Span, int]]] = []
    for number, line in enumerate(read_lines(path), 1):
        words: list[str] = []
        labels: dict[Span, int] = {}
        opened: list[tuple[int, int]] = []
        for match in NODE.finditer(line):
            if match[1] is not None:
                opened.append((int(match[1]), len(words)))
                continue
            if match[2] is not None:
                words.append(PTB_TOKENS.get(match[2], match[2].replace("\\/", "/")))
            if not opened:
                break
            label, begin = opened.pop()
            labels[begin, len(words)] = label
        if opened or (0, len(words)) not in labels:
            message = "expected a tree such as (3 (2 A) (3 (3 nice) (2 film)))"
            raise DataError(message, source=str(path), line=number)
        found.append((words, labels))
    return found


def label_subtrees(item: Item, labels: dict[Span, int], n_classes: int) -> Labelled | None:
    """Return a sentence with the labels of its subtrees; None if there are two classes and it is neutral."""
    tree, whole = item.tree, (0, len(item.tree))
    spans = {whole: None}
    for m in range(1, len(tree) + 1):
        inside = tree.subtree(m)
        if len(inside) == inside[-1] - inside[0] + 1:  # without gaps
            spans[inside[0] - 1, inside[-1]] = None
    found = {span: labels[span] for span in spans if span in labels}
    if n_classes == 2:
        found = {span: int(label > 2) for span, label in found.items() if label != 2}
    return Labelled(item, tuple(found), tuple(found.values())) if whole in found else None


class Sentiment(nn.Module):
    """A softmax over the vector of each phrase."""

    def __init__(self, sentences: SentenceEncoder, n_classes: int) -> None:
        super().__init__()
        self.sentences = sentences
        self.dropout = nn.Dropout(0.3)
        self.output = nn.Linear(sentences.dim, n_classes)

    def forward(self, items: Sequence[Item], spans: Sequence[Sequence[Span]]) -> Tensor:
        """Return the scores of the classes for the phrases of all sentences, one after the other."""
        of_sentences = self.sentences.subtrees(items).split([len(item.tree) for item in items])
        phrases = [
            vectors[begin:end].amax(0)
            for vectors, of_sentence in zip(of_sentences, spans, strict=True)
            for begin, end in of_sentence
        ]
        return self.output(self.dropout(torch.stack(phrases)))


def evaluate(model: nn.Module, data: Sequence[Labelled]) -> dict[str, float]:
    """Return the share of sentences whose class is right."""
    right = 0
    for begin in range(0, len(data), 100):
        chunk = data[begin : begin + 100]
        found = model([each.item for each in chunk], [each.spans[:1] for each in chunk]).argmax(1)
        right += int((found == torch.tensor([each.labels[0] for each in chunk])).sum())
    return {"accuracy": right / max(len(data), 1)}


def loss_of(model: nn.Module, batch: Sequence[Labelled]) -> Tensor:
    """Return the cross-entropy of all phrases, summed over a sentence."""
    found = model([each.item for each in batch], [each.spans for each in batch])
    labels = torch.from_numpy(np.concatenate([each.labels for each in batch]))
    return nn.functional.cross_entropy(found, labels, reduction="sum") / len(batch)


def train(options: argparse.Namespace) -> None:
    """Train a model and save it."""
    raw = {name: read_trees(path) for name in ("train", "dev", "test") if (path := getattr(options, name))}
    nlp = easyfirst.load(options.parser)
    data: dict[str, list[Labelled]] = {}
    for name, found in raw.items():
        parses = list(nlp.pipe(words for words, _ in found))
        items = make_items(nlp, parses, pretrained=options.pretrained)
        labelled = (
            label_subtrees(item, labels, options.classes) for item, (_, labels) in zip(items, found, strict=True)
        )
        data[name] = [each for each in labelled if each is not None]
        n_labels = sum(len(each.labels) for each in data[name])
        print(f"{name}: {len(data[name]):,} sentences, {n_labels:,} subtrees with labels")
    torch.manual_seed(options.seed)
    sentences = SentenceEncoder.make(nlp, (each.item for each in data["train"]), options)
    model = Sentiment(sentences, options.classes)
    fit(model, data["train"], partial(loss_of, model), lambda: evaluate(model, data["dev"]), options)
    save(model, sentences, options.out, parser=options.parser, classes=options.classes)
    print(f"saved {options.out}")
    if "test" in data:
        with torch.no_grad():
            print(f"test {shown(evaluate(model, data['test']))}")


def predict(options: argparse.Namespace) -> None:
    """Print the sentiment of a sentence and of each of its subtrees with more than one word."""
    model, settings = load(options.model, lambda sentences, facts: Sentiment(sentences, facts["classes"]))
    nlp = easyfirst.load(settings["parser"])
    [item] = parse_texts(nlp, [options.text], pretrained=settings["pretrained"]).values()
    inside = [item.tree.subtree(m) for m in range(1, len(item.tree) + 1)]
    spans = sorted(
        {(ids[0] - 1, ids[-1]) for ids in inside if len(ids) > 1} | {(0, len(inside))}, key=lambda s: s[0] - s[1]
    )
    with torch.no_grad():
        probabilities = model([item], [spans]).softmax(1)
    for (begin, end), of_phrase in zip(spans, probabilities, strict=True):
        name = NAMES[settings["classes"]][int(of_phrase.argmax())]
        print(f"{name} {float(of_phrase.max()):.2f}  {' '.join(item.forms[begin:end])}")


def add_sentiment_training(parser: Any) -> None:
    """Add the options of ``train``."""
    add_training(parser)
    parser.add_argument("--classes", type=int, default=5, choices=[5, 2])


def add_prediction(parser: Any) -> None:
    """Add the arguments of ``predict``."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a directory that 'train' wrote")
    parser.add_argument("text", metavar="TEXT", help="a sentence")


if __name__ == "__main__":
    run(__doc__, {"train": (add_sentiment_training, train), "predict": (add_prediction, predict)})
