"""What the three examples of the tree encoder share: parsed sentences, an encoder of sentences, training and saving.

``sentiment.py``, ``relatedness.py`` and ``entailment.py`` beside this file each have a task: its data, its loss and its
score. A sentence is parsed by easyfirst. Every subtree gets a vector from a ``TreeEncoder``, and the vector of a phrase
is the maximum over its subtrees in each dimension.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

import easyfirst
from easyfirst.errors import DataError, EasyFirstError
from easyfirst.model.embeddings import read_embeddings

UNKNOWN = "<unknown>"


@dataclass(frozen=True)
class Item:
    """A parsed sentence."""

    forms: tuple[str, ...]
    tree: easyfirst.Tree
    vectors: Tensor | None  # the parser's vectors of the words, if the encoder starts from the parser


def parse_texts(nlp: easyfirst.Parser, texts: Iterable[str], *, pretrained: bool) -> dict[str, Item]:
    """Parse texts that are one sentence each, every one once."""
    distinct = list(dict.fromkeys(texts))
    documents = track(nlp.read(distinct, one_sentence=True), "parsing", len(distinct), console=Console(stderr=True))
    parses = [document[0] for document in documents if len(document)]
    if len(parses) < len(distinct):
        raise DataError("a sentence has no words; remove the empty ones")
    return dict(zip(distinct, make_items(nlp, parses, pretrained=pretrained), strict=True))


def make_items(nlp: easyfirst.Parser, parses: Sequence[easyfirst.Parse], *, pretrained: bool) -> list[Item]:
    """Return what the encoder needs of parses."""
    vectors = nlp.encoder.words([parse.tagged for parse in parses]) if pretrained else [None] * len(parses)
    return [
        Item(parse.sentence.forms, parse.tree, None if found is None else torch.from_numpy(found.astype(np.float32)))
        for parse, found in zip(parses, vectors, strict=True)
    ]


class SentenceEncoder(nn.Module):
    """Word vectors and a tree encoder. Words with a given vector keep it, and the others learn theirs.

    From scratch, the tree encoder reads the word vectors. Pre-trained, it has the weights of the parser and reads the
    parser's own vectors of the words, to which a projection of the word vectors is added. The projection starts at
    zero, so that training starts with the parser's encoder.
    """

    def __init__(
        self, words: Sequence[str], encoder: easyfirst.TreeEncoder, table: Tensor, *, pretrained: bool
    ) -> None:
        super().__init__()
        self.words, self.encoder, self.pretrained = list(words), encoder, pretrained
        self._rows = {word: row for row, word in enumerate(words)}
        self.table = nn.Embedding.from_pretrained(table, freeze=False)
        self.project = nn.Linear(table.shape[1], encoder.config.vector_dim)
        if pretrained:
            nn.init.zeros_(self.project.weight)
            nn.init.zeros_(self.project.bias)
        self.dropout = nn.Dropout(0.1)

    @classmethod
    def make(cls, nlp: easyfirst.Parser, items: Iterable[Item], options: argparse.Namespace) -> SentenceEncoder:
        """Make an encoder for the words of the training sentences and all words with a given vector among them."""
        words = [UNKNOWN, *sorted({form.lower() for item in items for form in item.forms})]
        dim, given = 100, dict[str, np.ndarray]()
        if options.embeddings is not None:
            read = read_embeddings(options.embeddings)
            dim, given = read.dim, dict(zip(read.words, read.vectors, strict=True))
        rng = np.random.default_rng(options.seed)
        table = np.stack([given.get(word, rng.uniform(-0.05, 0.05, dim)) for word in words]).astype(np.float32)
        if options.pretrained:
            encoder = easyfirst.TreeEncoder.of_parser(nlp, order=options.order)
        else:
            sizes = {"vector_dim": dim, "tree_dim": options.tree_dim, "relations": nlp.relations}
            encoder = easyfirst.TreeEncoder(**sizes, order=options.order, seed=options.seed)
        made = cls(words, encoder, torch.from_numpy(table), pretrained=options.pretrained)
        is_free = torch.tensor([[float(word not in given)] for word in words])
        made.table.weight.register_hook(is_free.mul)
        return made

    @property
    def dim(self) -> int:
        """The width of the vector of a phrase."""
        return self.encoder.dim

    def subtrees(self, items: Sequence[Item]) -> Tensor:
        """Return the vector of every subtree of all sentences, one after the other."""
        rows = [self._rows.get(form.lower(), 0) for item in items for form in item.forms]
        vectors = self.project(self.dropout(self.table(torch.tensor(rows))))
        if self.pretrained:
            vectors = vectors + torch.concat([item.vectors for item in items if item.vectors is not None])
        return self.encoder([item.tree for item in items], vectors)

    def forward(self, items: Sequence[Item]) -> Tensor:
        """Return the vector of every sentence: (n, dim)."""
        found = self.subtrees(items).split([len(item.tree) for item in items])
        return torch.stack([of_sentence.amax(0) for of_sentence in found])


def fit(
    model: nn.Module,
    train: Sequence[Any],
    loss: Callable[[Sequence[Any]], Tensor],
    score: Callable[[], dict[str, float]],
    options: argparse.Namespace,
) -> None:
    """Train a model, and leave it with the weights of the epoch whose first score was best on dev."""
    torch.manual_seed(options.seed)
    rng, best, weights = np.random.default_rng(options.seed), -np.inf, model.state_dict()
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    for epoch in range(1, options.epochs + 1):
        model.train()
        order = rng.permutation(len(train))
        batches = [order[begin : begin + options.batch] for begin in range(0, len(order), options.batch)]
        total = 0.0
        for batch in track(batches, f"epoch {epoch}/{options.epochs}", console=Console(stderr=True), transient=True):
            optimizer.zero_grad()
            found = loss([train[number] for number in batch])
            found.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += float(found.detach())
        model.eval()
        with torch.no_grad():
            scores = score()
        is_best = next(iter(scores.values())) > best
        if is_best:
            best = next(iter(scores.values()))
            weights = {name: value.clone() for name, value in model.state_dict().items()}
        print(
            f"epoch {epoch}  loss {total / len(batches):.4f}  dev {shown(scores)}{'  best so far' if is_best else ''}"
        )
    model.load_state_dict(weights)
    model.eval()


def train_on_pairs(
    options: argparse.Namespace,
    read: Callable[[Path], Sequence[Any]],
    make: Callable[[SentenceEncoder], Any],
    loss: Callable[[Tensor, Sequence[Any]], Tensor],
    evaluate: Callable[[nn.Module, dict[str, Item], Sequence[Any]], dict[str, float]],
) -> None:
    """Train a model on pairs of sentences with a judgment each, save it, and score it on the test data, if any."""
    data = {name: read(path) for name in ("train", "dev", "test") if (path := getattr(options, name))}
    nlp = easyfirst.load(options.parser)
    texts = (text for pairs in data.values() for one, other, _ in pairs for text in (one, other))
    items = parse_texts(nlp, texts, pretrained=options.pretrained)
    known = [items[text] for one, other, _ in data["train"] for text in (one, other)]
    torch.manual_seed(options.seed)
    model = make(SentenceEncoder.make(nlp, known, options))

    def loss_of(pairs: Sequence[Any]) -> Tensor:
        found = model([items[one] for one, *_ in pairs], [items[other] for _, other, _ in pairs])
        return loss(found, pairs)

    fit(model, data["train"], loss_of, lambda: evaluate(model, items, data["dev"]), options)
    save(model, model.sentences, options.out, parser=options.parser)
    print(f"saved {options.out}")
    if "test" in data:
        with torch.no_grad():
            print(f"test {shown(evaluate(model, items, data['test']))}")


def shown(scores: dict[str, float]) -> str:
    """Return scores in one line."""
    return "  ".join(f"{name} {value:.4f}" for name, value in scores.items())


def save(model: nn.Module, sentences: SentenceEncoder, out: Path, **facts: Any) -> None:
    """Write a model to a directory: the tree encoder as easyfirst stores it, and the other weights beside it."""
    sentences.encoder.save(out / "encoder")
    prefix = "sentences.encoder."
    others = {name: value for name, value in model.state_dict().items() if not name.startswith(prefix)}
    save_file(others, out / "weights.safetensors")
    settings = {"words": sentences.words, "pretrained": sentences.pretrained, **facts}
    (out / "settings.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")


def load(out: Path, make: Callable[[SentenceEncoder, dict[str, Any]], nn.Module]) -> tuple[nn.Module, dict[str, Any]]:
    """Read a model; ``make`` makes one of the task around an encoder of sentences."""
    try:
        settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
        others = load_file(out / "weights.safetensors")
    except FileNotFoundError as error:
        raise DataError("there is no such file; name a directory that 'train' wrote", source=error.filename) from None
    encoder = easyfirst.TreeEncoder.load(out / "encoder")
    table = others["sentences.table.weight"]
    model = make(SentenceEncoder(settings["words"], encoder, table, pretrained=settings["pretrained"]), settings)
    model.load_state_dict(others, strict=False)
    return model.eval(), settings


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file; raise a :class:`DataError` if there are none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}", source=str(path)) from None
    if not lines:
        raise DataError("the file is empty", source=str(path))
    return lines


def add_training(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``train`` that all tasks have."""
    parser.add_argument("train", type=Path, metavar="TRAIN", help="the training data")
    parser.add_argument("--dev", type=Path, required=True, help="the data on which the epoch is chosen")
    parser.add_argument("--test", type=Path, help="the data that is scored at the end")
    parser.add_argument("--out", type=Path, required=True, help="the directory of the new model")
    parser.add_argument("--embeddings", type=Path, help="word vectors: word2vec or GloVe text, or .npz")
    parser.add_argument("--order", default="bidirectional", choices=["outward", "inward", "bidirectional"])
    parser.add_argument("--pretrained", action="store_true", help="start with the weights of the parser")
    parser.add_argument("--parser", default="en", help="the model that parses")
    parser.add_argument("--tree-dim", type=int, default=50, help="the width of an RNN, unless it is pre-trained")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--rate", type=float, default=3e-3, help="the learning rate")
    parser.add_argument("--seed", type=int, default=1)


def run(doc: str, commands: dict[str, tuple[Callable[[argparse.ArgumentParser], None], Callable[[Any], None]]]) -> None:
    """Run a command line with these commands: what adds the options of each, and what it does."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (add, do) in commands.items():
        verb = verbs.add_parser(name, help=do.__doc__, description=do.__doc__)
        add(verb)
        verb.set_defaults(do=do)
    options = parser.parse_args()
    try:
        options.do(options)
    except EasyFirstError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
