"""Runs of small parsers in this process, and what the tests look at afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import safetensors.numpy

from easyfirst.model.parser_config import ParserConfig, preset
from easyfirst.parser import load
from easyfirst.training.data import DataReport, Job
from easyfirst.training.pipeline import PipelineConfig, train_pipeline
from easyfirst.training.run_folders import FOLDER, PARSER
from easyfirst.training.training_loop import METRICS
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Scores, score

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
TOY = ROOT / "examples" / "toy" / "handwritten.conllu"  # 27 sentences: one of one word, three non-projective
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
WORDS = ("the", "The", "dog", "never-seen", "bread", ".")
TIMES = {"seconds", "cpu_seconds", "words_per_second", "words_per_cpu_second"}
CHECKPOINT = f"{FOLDER}/checkpoint.safetensors"


def config_of(
    *, name: str = "paper", epochs: int = 1, network: dict[str, Any] | None = None, **training: Any
) -> ParserConfig:
    """A small network, with several updates an epoch of so few sentences."""
    network = SMALL | {"bilstm_layers": 1, "tree_layers": 1} | (network or {})
    return preset(name, network=network, training={"update_after": 20, "epochs": epochs} | training)


class Listener:
    """Records progress; ``on_batch`` may interrupt the run."""

    def __init__(self, on_batch: Callable[[int, Mapping[str, Any]], None] = lambda epoch, stats: None) -> None:
        self.calls: list[str] = []
        self.report: DataReport | None = None
        self.seen: list[tuple[int, Mapping[str, Any]]] = []
        self.metrics: list[dict[str, Any]] = []
        self.best: list[bool] = []
        self.notes: list[str] = []
        self._on_batch = on_batch

    def data(self, report: DataReport) -> None:
        self.calls.append("data")
        self.report = report

    def note(self, text: str) -> None:
        self.notes.append(text)

    def part(self, name: str, n_epochs: int) -> Listener:
        assert name == PARSER
        return self

    def batch_end(self, epoch: int, done: float, stats: Mapping[str, Any]) -> None:
        self.calls.append(f"batch {epoch}")
        self.seen.append((epoch, {**stats, "done": done}))
        self._on_batch(epoch, stats)

    def stalled(self, best_epoch: int) -> None:
        self.calls.append(f"stalled since {best_epoch}")

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self.calls.append(f"end {metrics['epoch']}")
        self.metrics.append(metrics)
        self.best.append(is_best)

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        raise NotImplementedError

    def ensemble_end(self, n_members: int, accuracy: Mapping[str, float]) -> None:
        raise NotImplementedError


def train(job: Job, config: ParserConfig, listener: Listener, **options: bool) -> list[dict[str, Any]]:
    """Train a parser alone."""
    pipeline = PipelineConfig(parts=(PARSER,), parser=config, predicted_tags=False)
    return train_pipeline(job, pipeline, listener, **options)[PARSER]


class StopHere(Exception):  # noqa: N818
    """Stands in for whatever ends a process."""


def interrupt_in(epoch: int, n_sentences: int = 12) -> Listener:
    """Stop in the middle of an epoch."""

    def on_batch(now: int, stats: Mapping[str, Any]) -> None:
        if now == epoch and stats["sentences"] >= n_sentences:
            raise StopHere

    return Listener(on_batch)


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def arrays_of(directory: Path, name: str = "weights.safetensors") -> dict[str, bytes]:
    arrays = safetensors.numpy.load_file(directory / name)
    return {name: array.tobytes() for name, array in arrays.items()}


def without_times(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key not in TIMES} for line in metrics]


def metrics_in(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / FOLDER / METRICS).read_text().splitlines()]


def scores_of(model: Path, gold: Path) -> Scores:
    system = [
        parse.sentence.with_tree(parse.heads, parse.relations)
        for parse in load(model, precision="float32", valid=False).parse(read_conllu(gold))
    ]
    return score(read_conllu(gold), system)


def best_of(history: list[dict[str, Any]]) -> dict[str, Any]:
    return max(history, key=lambda line: (line["dev"]["full"]["LAS"], -line["epoch"]))
