"""The columns of the comparison: how a value is read and written, and what it would take to do as well as a peer."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.peers.adapters.worker import BULK, SINGLE, TEXT, TOKENS
from bench.peers.measure import score_name
from bench.peers.record import Record
from bench.peers.speed import speed_name
from bench.peers.systems import System

MISSING = "–"
Read = Callable[[Record, System], float | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    name: str
    """What it is called in a sentence."""
    read: Read
    form: str = "{:.1f}"
    is_better_high: bool = True
    remark: str = ""
    """What it would take to do as well as the peer that wins."""

    def best(self, record: Record, systems: Sequence[System]) -> float | None:
        """Return the best value."""
        values = [value for system in systems if (value := self.read(record, system)) is not None]
        return (max if self.is_better_high else min)(values, default=None)

    def cell(self, record: Record, system: System, best: float | None) -> str:
        """Return a cell of a table; the best value is bold."""
        value = self.read(record, system)
        if value is None:
            return MISSING
        text = self.form.format(value)
        return f"**{text}**" if best is not None and text == self.form.format(best) else text


def score(source: str, metric: str) -> Read:
    """Return a reader of an F1 score."""

    def read(record: Record, system: System) -> float | None:
        return record.get(system.name, score_name(source)).get("f1", {}).get(metric)

    return read


def speed(source: str, way: str, threads: int = 1, clock: str = "cpu") -> Read:
    """Return a reader of a median speed, in words per second of CPU time or by the clock."""

    def read(record: Record, system: System) -> float | None:
        cell = record.get(system.name, speed_name(source, way, threads))
        return cell["words"] / statistics.median(run[clock] for run in cell["runs"]) if cell.get("runs") else None

    return read


def gain(source: str) -> Read:
    """Return a reader of how many times as fast two threads are, by the clock."""

    def read(record: Record, system: System) -> float | None:
        two, one = (speed(source, BULK, threads, "wall")(record, system) for threads in (2, 1))
        return two / one if two and one else None

    return read


def start(clock: str) -> Read:
    """Return a reader of the median time to the first parse."""

    def read(record: Record, system: System) -> float | None:
        runs = record.get(system.name, "start").get("runs")
        return statistics.median(run[clock] for run in runs) if runs else None

    return read


def number(name: str, key: str, divisor: float) -> Read:
    """Return a reader of a number in a cell."""

    def read(record: Record, system: System) -> float | None:
        value = record.get(system.name, name).get(key)
        return None if value is None else value / divisor

    return read


LARGER = "It would take larger networks or an [ensemble](ensembles.md). Both parse more slowly."
SPLITTER = "It would take a larger tokenizer, at a lower speed, or sentence boundaries that depend on the trees."
TAGGER = "It would take a larger tagger or more than the two networks of its ensemble, at a lower speed."
FEED_FORWARD = (
    "spaCy and UDPipe look at a fixed window of words or a few features of the parser's state, and need fewer "
    "multiplications than BiLSTMs. It would take a smaller encoder, which is less accurate."
)
ONE_CALL = (
    "UDPipe is C++ from text to tree, and a sentence costs the same alone as in a batch. easyfirst returns to Python "
    "between tokenizer, tagger and parser; it would take a single call into its core."
)
ACCURACY = {
    TEXT: (
        Column("Sentences", "sentences, from raw text", score(TEXT, "Sentences"), remark=SPLITTER),
        Column("UPOS", "UPOS, from raw text", score(TEXT, "UPOS"), remark=TAGGER),
        Column("Lemmas", "lemmas, from raw text", score(TEXT, "Lemmas"), remark=TAGGER),
        Column("UAS", "UAS, from raw text", score(TEXT, "UAS"), remark=LARGER),
        Column("LAS", "LAS, from raw text", score(TEXT, "LAS"), remark=LARGER),
    ),
    TOKENS: (
        Column("Sentences", "sentences, from gold tokens", score(TOKENS, "Sentences")),
        Column("UPOS", "UPOS, from gold tokens", score(TOKENS, "UPOS"), remark=TAGGER),
        Column("Lemmas", "lemmas, from gold tokens", score(TOKENS, "Lemmas"), remark=TAGGER),
        Column("UAS", "UAS, from gold tokens", score(TOKENS, "UAS"), remark=LARGER),
        Column("LAS", "LAS, from gold tokens", score(TOKENS, "LAS"), remark=LARGER),
    ),
}
WORDS = "{:,.0f}"
SPEED = (
    Column("Text, in bulk", "text in bulk", speed(TEXT, BULK), WORDS, remark=FEED_FORWARD),
    Column("Text, one sentence at a time", "text, one sentence at a time", speed(TEXT, SINGLE), WORDS, remark=ONE_CALL),
    Column("Tokens, in bulk", "tokens in bulk", speed(TOKENS, BULK), WORDS, remark=FEED_FORWARD),
    Column("Tokens, one at a time", "tokens, one sentence at a time", speed(TOKENS, SINGLE), WORDS, remark=ONE_CALL),
    Column("Two threads, text", "the gain of two threads, from text", gain(TEXT), "{:.2f} ×"),
    Column("Two threads, tokens", "the gain of two threads, from tokens", gain(TOKENS), "{:.2f} ×"),
)
COSTS = (
    Column(
        *("First parse, CPU s", "the time to the first parse", start("cpu"), "{:.2f}", False),
        remark="easyfirst imports NumPy and packs the weights of its model when it is loaded. It would take weights "
        "that are packed on disk.",
    ),
    Column("First parse, clock s", "the time to the first parse by the clock", start("wall"), "{:.2f}", False),
    Column(
        *("Installed, MB", "the installed size", number("installed", "bytes", 1e6), "{:,.0f}", False),
        remark="NumPy and the bundled model are most of ours. It would take a build that needs the compiled core only.",
    ),
    Column(
        *("Model, MB", "the size of the model", number("model", "bytes", 1e6), "{:,.1f}", False),
        remark="Our model holds the vectors of 50,000 words. It would take fewer of them, which is less accurate.",
    ),
    Column(
        *("Peak memory, MB", "the peak memory", number("memory", "bytes", 1e6), "{:,.0f}", False),
        remark="It would take smaller batches and weights that are not unpacked.",
    ),
    Column(
        *("Training, CPU min", "the training time", number("training", "cpu_seconds", 60), "{:,.0f}", False),
        remark="Its networks are smaller or were trained for less time. [Training](training.md) lists settings "
        "that make ours faster, at a lower accuracy.",
    ),
)
README = (
    Column("LAS, raw text", "", score(TEXT, "LAS")),
    Column("LAS, gold tokens", "", score(TOKENS, "LAS")),
    Column("Words/s, in bulk", "", speed(TEXT, BULK), WORDS),
    Column("Words/s, one at a time", "", speed(TEXT, SINGLE), WORDS),
    Column("First parse", "", start("cpu"), "{:.2f} s", False),
    Column("Installed", "", number("installed", "bytes", 1e6), "{:,.0f} MB", False),
)
REMARKED = (*ACCURACY[TEXT], *ACCURACY[TOKENS], *SPEED, *COSTS)
