"""Experiments: tables of rows, and the training runs that they need.

A row is a set of options of ``easyfirst train``. With a treebank and a seed it is a run. Rows with the same options
share a run, whatever their tables, and the run is trained once. A row may also be the ensemble that ``easyfirst
combine`` makes of all seeds of another row, which is one run. A run's key is a hash of everything that determines its
outcome except the code. A row whose options change therefore needs a new run, and old results stay valid.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.tables.declarations import DeclarationError
from bench.tables.options import VECTORS

FOLDER = Path(__file__).resolve().parent
COST_TO_COMBINE = 0.1
"""The estimated cost of building an ensemble, as a multiple of training the preset ``paper``."""


@dataclass(frozen=True, slots=True)
class Treebank:
    """The data of a language, as paths below the folders given on the command line."""

    language: str
    name: str
    tags: str
    """A description of the tags in the files."""
    train: str
    dev: str
    test: str
    vectors: str
    licence: str
    minutes: float
    """CPU minutes for the preset ``paper``, 20 epochs."""
    positional: str = ""
    """The same vectors, concatenated with those of ``easyfirst vectors``."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The default options of all rows on this treebank."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: an experiment, a published result, or both."""

    id: str
    label: str
    options: Mapping[str, Any] | None = None
    """Options of ``easyfirst train``, without dashes; true sets a flag, false omits the option. None: not trained."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The values for ``--set``."""
    predicted_tags: bool = False
    """Whether to score with tags predicted by the model's own tagger."""
    languages: Sequence[str] = ()
    seeds: Sequence[int] | Mapping[str, Sequence[int]] = (1,)
    """The seeds for all languages, or by language."""
    cost: float = 1.0
    """The estimated CPU time, as a multiple of the preset ``paper``."""
    combines: str = ""
    """The id of a row of the same table whose seeds form this ensemble; an ensemble has no options of its own."""
    paper: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict[str, Any])
    """The published UAS and LAS by language and part (dev or test)."""

    @property
    def is_ours(self) -> bool:
        """Whether the row has runs."""
        return self.options is not None or bool(self.combines)

    def seeds_of(self, language: str) -> Sequence[int]:
        return self.seeds.get(language, (1,)) if isinstance(self.seeds, Mapping) else self.seeds


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under one heading."""

    id: str
    title: str
    rows: Sequence[Row]
    languages: Sequence[str]
    note: str = ""
    test: bool = True
    """Whether the rows are scored on the test set."""
    against: str = ""
    """The baseline: the row that all others are compared with, on dev."""
    tags: str = ""
    """A description of the rows' tags, if they differ from those of the treebank."""

    def row(self, name: str) -> Row:
        """Return a row by its id."""
        for row in self.rows:
            if row.id == name:
                return row
        raise DeclarationError(f"there is no row {self.id}.{name}")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of the paper, and the pairs of rows ("table.row") that test it."""

    id: str
    claim: str
    pairs: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Reference:
    """The dev scores of another implementation after each epoch, to be compared with those of a row."""

    label: str
    row: str
    language: str
    epochs: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Run:
    """One training run (options, treebank and seed), or an ensemble of several."""

    treebank: Treebank
    options: Mapping[str, Any]
    settings: Mapping[str, Any]
    predicted_tags: bool
    seed: int
    places: tuple[str, ...]
    """The rows that share the run, as "table.row.language.seed"."""
    wants_test: bool
    minutes: float
    """The estimated CPU minutes."""
    members: tuple[Run, ...] = ()
    """The members of an ensemble, which share the options of the first; empty for a training run."""

    @property
    def name(self) -> str:
        return self.places[0]

    @property
    def vectors(self) -> dict[str, str]:
        """The placeholders in the options and the files that they stand for, below the folder of the word vectors."""
        used = [value for value in self.options.values() if value in VECTORS]
        return {value: getattr(self.treebank, VECTORS[value]) for value in used}

    @property
    def family(self) -> str:
        """A hash that is the same for runs that differ in the seed only."""
        return self._digest(None)

    @property
    def key(self) -> str:
        return self._digest(self.seed)

    def _digest(self, seed: int | None) -> str:
        treebank = self.treebank
        files = [treebank.name, treebank.train, treebank.dev, treebank.test, *self.vectors.values()]
        facts = [files, self.options, self.settings, self.predicted_tags, seed]
        facts += [[member.key for member in self.members]] if self.members else []
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is declared."""

    treebanks: Mapping[str, Treebank]
    tables: Sequence[Table]
    findings: Sequence[Finding]
    references: Sequence[Reference]
    files: Sequence[Path]
    """The files that declare the tables."""

    @property
    def quotes_paper(self) -> bool:
        """Whether any row quotes figures of the paper."""
        return any(row.paper for table in self.tables for row in table.rows)

    def row(self, place: str) -> Row:
        """Return a row by "table.row"."""
        name, _, row = place.partition(".")
        for table in self.tables:
            if table.id == name:
                return table.row(row)
        raise DeclarationError(f"there is no row {place}")

    def runs(self) -> list[Run]:
        """Return all runs, each once, in the order of the tables."""
        found: dict[str, Run] = {}
        for table in self.tables:
            for row in table.rows:
                for run in self.runs_of(table, row):
                    known = found.get(run.key)
                    found[run.key] = run if known is None else _merged(known, run)
        return list(found.values())

    def runs_of(self, table: Table, row: Row, language: str | None = None) -> list[Run]:
        """Return the runs of one row, in all its languages or in one."""
        if not row.is_ours:
            return []
        languages = [name for name in row.languages if language in (None, name)]
        if row.combines:
            return [self._ensemble(table, row, name) for name in languages]
        return [self._run(table, row, self.treebanks[name], seed) for name in languages for seed in row.seeds_of(name)]

    def _run(self, table: Table, row: Row, treebank: Treebank, seed: int) -> Run:
        merged = {**treebank.options, **(row.options or {})}
        options = {name: value for name, value in sorted(merged.items()) if value is not False}
        return Run(
            treebank=treebank,
            options=options,
            settings=dict(sorted(row.settings.items())),
            predicted_tags=row.predicted_tags,
            seed=seed,
            places=(f"{table.id}.{row.id}.{treebank.language}.{seed}",),
            wants_test=table.test,
            minutes=treebank.minutes * row.cost,
        )

    def _ensemble(self, table: Table, row: Row, language: str) -> Run:
        members = self.runs_of(table, table.row(row.combines), language)
        seeds = "+".join(str(run.seed) for run in members)
        place = f"{table.id}.{row.id}.{language}.{seeds}"
        return replace(
            members[0], places=(place,), minutes=members[0].treebank.minutes * COST_TO_COMBINE, members=tuple(members)
        )


def _merged(run: Run, other: Run) -> Run:
    """Merge two occurrences of the same run."""
    return replace(run, places=run.places + other.places, wants_test=run.wants_test or other.wants_test)
