"""Compare tree encoders on relatedness (SICK) and sentiment (SST), on the same word vectors and trees.

    python -m bench.meaning --data DATA --work DIR --tasks sick sst5 sst2
    python -m bench.meaning --report

DATA has the directories ``sick``, ``sst`` and ``embeddings``. Trees are those of the bundled model. Every system is
trained with three seeds, and the epoch is chosen on dev. Runs are written to ``results/meaning.jsonl`` one by one, and
those that are there are not repeated.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

import easyfirst
from bench import report
from bench.meaning_data import Data, Pairs, read_task
from bench.meaning_models import SYSTEMS, Batch, Phrases, Relatedness, Sentiment, target_distribution

RUNS = report.RESULTS / "meaning.jsonl"
SETTINGS: dict[str, dict[str, Any]] = {
    "sick": {"epochs": 12, "batch": 25, "rate": 3e-3, "dropout": 0.1, "patience": 4, "decay": 1e-5, "tuned": False},
    "sst5": {"epochs": 8, "batch": 25, "rate": 1e-3, "dropout": 0.3, "patience": 2, "decay": 1e-5, "tuned": True},
    "sst2": {"epochs": 8, "batch": 25, "rate": 1e-3, "dropout": 0.3, "patience": 2, "decay": 1e-5, "tuned": True},
}
TUNED_RATE = 0.1  # the learning rate of word vectors, as a share of that of the other weights
EVALUATED_AT_ONCE = 100


class Task:
    """A task with a model: batches, losses and scores."""

    def __init__(self, data: Data, model: nn.Module, *, with_parser: bool) -> None:
        self.data, self.model, self.with_parser = data, model, with_parser

    def size(self, split: str) -> int:
        """Return the number of examples in a split."""
        raise NotImplementedError

    def loss(self, examples: npt.NDArray[np.int64]) -> Tensor:
        """Return the loss of some examples of the training data."""
        raise NotImplementedError

    def scores(self, split: str) -> dict[str, float]:
        """Return the scores on a split. The first one is that which the epoch is chosen by."""
        raise NotImplementedError

    def chunks(self, split: str) -> Iterator[npt.NDArray[np.int64]]:
        """Yield all examples of a split."""
        for begin in range(0, self.size(split), EVALUATED_AT_ONCE):
            yield np.arange(begin, min(begin + EVALUATED_AT_ONCE, self.size(split)))


class SickTask(Task):
    """Relatedness: the mean of a distribution over the scores 1 to 5."""

    def size(self, split: str) -> int:
        return len(self.data.splits[split].scores)

    def _log_probabilities(self, split: str, examples: npt.NDArray[np.int64]) -> Tensor:
        pairs: Pairs = self.data.splits[split]
        numbers, places = np.unique(pairs.sentences[examples], return_inverse=True)
        corpus = self.data.corpora[split]
        heads = [np.array([corpus.trees[number].root - 1]) for number in numbers]
        spans = [np.array([[0, len(corpus.words[number])]]) for number in numbers]
        batch = Batch.of(corpus, numbers.tolist(), heads, spans, with_parser=self.with_parser)
        return self.model(batch, torch.from_numpy(places.reshape(-1, 2)))

    def loss(self, examples: npt.NDArray[np.int64]) -> Tensor:
        targets = target_distribution(torch.from_numpy(self.data.splits["train"].scores[examples]))
        found = self._log_probabilities("train", examples)
        return nn.functional.kl_div(found, targets, reduction="batchmean")

    def scores(self, split: str) -> dict[str, float]:
        found = torch.concat([self._log_probabilities(split, examples) for examples in self.chunks(split)])
        predicted, gold = (found.exp() @ torch.arange(1.0, 6.0)).numpy(), self.data.splits[split].scores
        pearson = float(np.corrcoef(predicted, gold)[0, 1])
        return {"pearson": pearson, "mse": float(np.square(predicted - gold).mean())}


class SstTask(Task):
    """Sentiment: the classes of all phrases in training, those of sentences in evaluation."""

    def size(self, split: str) -> int:
        return len(self.data.splits[split].labels)

    def _logits(self, split: str, examples: npt.NDArray[np.int64], *, n_phrases: int | None) -> Tensor:
        phrases = self.data.splits[split]
        heads = [phrases.heads[number][:n_phrases] for number in examples]
        spans = [phrases.spans[number][:n_phrases] for number in examples]
        corpus = self.data.corpora[split]
        return self.model(Batch.of(corpus, examples.tolist(), heads, spans, with_parser=self.with_parser))

    def loss(self, examples: npt.NDArray[np.int64]) -> Tensor:
        labels = np.concatenate([self.data.splits["train"].labels[number] for number in examples])
        logits = self._logits("train", examples, n_phrases=None)
        return nn.functional.cross_entropy(logits, torch.from_numpy(labels), reduction="sum") / len(examples)

    def scores(self, split: str) -> dict[str, float]:
        predicted = [self._logits(split, examples, n_phrases=1).argmax(1) for examples in self.chunks(split)]
        gold = np.array([labels[0] for labels in self.data.splits[split].labels])
        return {"accuracy": 100 * float((torch.concat(predicted).numpy() == gold).mean())}


def make_task(
    name: str, data: Data, system: str, parser: easyfirst.Parser, settings: dict[str, Any], seed: int
) -> Task:
    """Make the model of a system for a task."""
    torch.manual_seed(seed)
    dropout = settings["dropout"]
    phrases = Phrases(data, system, parser, seed=seed, dropout=dropout, tuned=settings["tuned"])
    if name == "sick":
        return SickTask(data, Relatedness(phrases), with_parser=phrases.with_parser)
    model = Sentiment(phrases, 5 if name == "sst5" else 2, dropout)
    return SstTask(data, model, with_parser=phrases.with_parser)


def train(task: Task, settings: dict[str, Any], seed: int, *, quiet: bool = False) -> dict[str, Any]:
    """Train until dev does not improve any more, and return the scores of the epoch that was best there."""
    table = [parameter for name, parameter in task.model.named_parameters() if "table" in name]
    others = [parameter for name, parameter in task.model.named_parameters() if "table" not in name]
    rate = settings["rate"]
    groups: list[dict[str, Any]] = [
        {"params": others, "lr": rate, "weight_decay": settings["decay"]},
        {"params": table, "lr": rate * (TUNED_RATE if settings["tuned"] else 1)},
    ]
    optimizer = torch.optim.Adam(groups)
    rng, started, epoch = np.random.default_rng(seed), time.process_time(), 0
    best_score, best_epoch, best_dev, weights = -np.inf, 0, dict[str, float](), dict[str, Tensor]()
    for epoch in range(1, settings["epochs"] + 1):
        task.model.train()
        total, order = 0.0, rng.permutation(task.size("train"))
        for begin in range(0, len(order), settings["batch"]):
            optimizer.zero_grad()
            loss = task.loss(order[begin : begin + settings["batch"]])
            loss.backward()
            nn.utils.clip_grad_norm_(others, 5.0)
            optimizer.step()
            total += float(loss.detach())
        task.model.eval()
        with torch.no_grad():
            dev = task.scores("dev")
            chosen = next(iter(dev.values()))
            if chosen > best_score:
                best_score, best_epoch, best_dev = chosen, epoch, dev
                weights = {name: value.clone() for name, value in task.model.state_dict().items()}
        if not quiet:
            shown = " ".join(f"{name} {score:.4f}" for name, score in dev.items())
            seconds = time.process_time() - started
            print(f"  epoch {epoch}  loss {total:.1f}  dev {shown}  {seconds:.0f} s", flush=True)
        if epoch - best_epoch >= settings["patience"]:
            break
    task.model.load_state_dict(weights)
    with torch.no_grad():
        test = task.scores("test")
    n_weights = sum(parameter.numel() for parameter in others)
    seconds = round(time.process_time() - started)
    found = {"epoch": best_epoch, "dev": best_dev, "test": test}
    return {**found, "epochs": epoch, "weights": n_weights, "cpu_seconds": seconds}


def read_runs(path: Path = RUNS) -> list[dict[str, Any]]:
    """Return the runs that were made."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(arguments: argparse.Namespace) -> None:
    """Make the runs that are missing: for each task, the first seed of all systems, then the second."""
    parser = easyfirst.load("en")
    for name in arguments.tasks:
        settings = SETTINGS[name] | {
            key: value for key, value in vars(arguments).items() if key in SETTINGS[name] and value
        }
        data = read_task(name, arguments.data, arguments.work, arguments.data / "embeddings" / "en-100d.npz")
        for seed in arguments.seeds:
            for system in arguments.systems:
                key = {"task": name, "system": system, "seed": seed, "settings": settings}
                if any(key.items() <= done.items() for done in read_runs(arguments.out)):
                    continue
                print(f"{name}, {SYSTEMS[system]}, seed {seed}", flush=True)
                found = train(make_task(name, data, system, parser, settings, seed), settings, seed)
                with arguments.out.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({**key, **found, **report.conditions()}) + "\n")
                print(f"  best epoch {found['epoch']}: dev {found['dev']}, test {found['test']}", flush=True)


def cell(values: Sequence[float], digits: int) -> str:
    """Return a mean with the standard deviation of the sample."""
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def write_report() -> None:
    """Write the table of all runs."""
    runs = read_runs()
    columns = [("sick", "dev", "pearson", 4), ("sick", "test", "pearson", 4), ("sick", "test", "mse", 4)]
    columns += [(name, split, "accuracy", 1) for name in ("sst5", "sst2") for split in ("dev", "test")]
    rows: list[list[object]] = []
    for system, title in SYSTEMS.items():
        made = [found for found in runs if found["system"] == system]
        if not made:
            continue
        cells: list[object] = [title]
        for name, split, score, digits in columns:
            cells.append(cell([found[split][score] for found in made if found["task"] == name], digits))
        seeds = "/".join(str(sum(found["task"] == name for found in made)) for name in SETTINGS)
        rows.append([*cells, seeds, max(found["weights"] for found in made)])
    header = ["system", *(f"{name} {split} {score}" for name, split, score, _ in columns), "seeds", "weights"]
    report.write("meaning", {"runs": runs}, header, rows)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the directory of the data")
    parser.add_argument("--work", type=Path, help="a directory for the trees, which are parsed once")
    parser.add_argument("--tasks", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--out", type=Path, default=RUNS, help="the file of the runs")
    parser.add_argument("--report", action="store_true", help="only write the table")
    for name, kind in (("epochs", int), ("rate", float), ("dropout", float), ("decay", float), ("batch", int)):
        parser.add_argument(f"--{name}", type=kind, help="instead of the usual value, for a one-off experiment")
    arguments = parser.parse_args()
    if arguments.report:
        write_report()
        return
    if arguments.data is None or arguments.work is None:
        parser.error("--data and --work are needed")
    torch.set_num_threads(1)
    run(arguments)
    if arguments.out == RUNS:
        write_report()


if __name__ == "__main__":
    main()
