"""Read a plan from TOML files and check it. Reading TOML needs Python 3.11; the package itself does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.tables.declarations import DeclarationError, as_table, build, read_toml, tables_of
from bench.tables.experiments import FOLDER, Finding, Plan, Reference, Row, Table, Treebank
from bench.tables.options import VECTORS, check_options

FILES = tuple(FOLDER / name for name in ("paper.toml", "open.toml", "choices.toml", "strong.toml"))
TREEBANKS = FOLDER / "treebanks.toml"
LANGUAGES_OF_THE_PAPER = ("en", "zh")
COMMON = ("options", "settings", "seeds", "cost")
"""The keys that a table may set for all its rows."""


def read_plan(files: Sequence[Path] = FILES, treebanks: Path = TREEBANKS) -> Plan:
    """Read the tables of some files, on the treebanks of another."""
    languages: dict[str, Treebank] = {}
    for language, values in read_toml(treebanks).items():
        where = f"{treebanks.name}: [{language}]"
        _check_id(language, where)
        languages[language] = build(Treebank, as_table(values, where), where, language=language)
    tables: list[Table] = []
    findings: list[Finding] = []
    references: list[Reference] = []
    for path in files:
        declared = read_toml(path)
        if unknown := {*declared} - {"table", "finding", "reference"}:
            raise DeclarationError(
                f"{path.name}: unknown key {', '.join(sorted(unknown))}; allowed are [[table]], [[finding]] and "
                "[[reference]]"
            )
        tables += [_table(values, path, languages) for values in tables_of(declared, "table", path.name)]
        for kind, known in ((Finding, findings), (Reference, references)):
            name = kind.__name__.lower()
            known += [build(kind, values, f"{path.name}: {name}") for values in tables_of(declared, name, path.name)]
    plan = Plan(languages, tables, findings, references, files)
    _check(plan)
    return plan


def _table(values: dict[str, Any], path: Path, treebanks: Mapping[str, Treebank]) -> Table:
    """Build a table; its rows inherit its ``options``, ``settings``, ``seeds`` and ``cost`` and may override them."""
    where = f"{path.name}: table {values.get('id')}"
    values = dict(values)
    common = {name: values.pop(name) for name in COMMON if name in values}
    languages = values.setdefault("languages", list(treebanks))
    values["rows"] = [_row(row, common, languages, where) for row in tables_of(values, "row", where)]
    values.pop("row", None)
    return build(Table, values, where, {"row": "rows"}, COMMON)


def _row(values: Mapping[str, Any], common: Mapping[str, Any], languages: Sequence[str], where: str) -> Row:
    """Build a row; with ``inherit = false`` it ignores the options and settings of its table."""
    row: dict[str, Any] = {"languages": languages, **values}
    shared: Mapping[str, Any] = common if row.pop("inherit", True) else {}
    for name in ("options", "settings"):
        if "options" in values or "settings" in values:
            each = [as_table(given.get(name, {}), f"{where}: {name}") for given in (shared, values)]
            row[name] = {**each[0], **each[1]}
    for name in ("seeds", "cost"):
        if name in common and "combines" not in row:
            row.setdefault(name, common[name])
    return build(Row, row, f"{where}: row {values.get('id')}", {}, ("inherit",))


def _check(plan: Plan) -> None:
    for table in plan.tables:
        for name in (table.id, *(row.id for row in table.rows)):
            _check_id(name, f"table {table.id}")
    if twice := [name for name, n in Counter(table.id for table in plan.tables).items() if n > 1]:
        raise DeclarationError(f"{', '.join(twice)}: two tables have this id; rename one")
    places = [f"{table.id}.{row.id}" for table in plan.tables for row in table.rows]
    if twice := [place for place, n in Counter(places).items() if n > 1]:
        raise DeclarationError(f"{', '.join(twice)}: two rows have this id; rename one")
    for table in plan.tables:
        if table.against:
            _require(plan, f"{table.id}.{table.against}", f"against, in table {table.id}")
            if table.rows[0].id != table.against:
                raise DeclarationError(f"{table.id}: against is {table.against}, but it must be the table's first row")
        for row in table.rows:
            _check_row(plan, table, row)
    for finding in plan.findings:
        for pair in finding.pairs:
            if len(pair) != 2:
                raise DeclarationError(f"pairs, in finding {finding.id}: {list(pair)} is not a pair of rows")
            for place in pair:
                _require(plan, place, f"pairs, in finding {finding.id}")
    for reference in plan.references:
        _require(plan, reference.row, f"row, in reference {reference.label}")
        if reference.language not in {*plan.treebanks, *LANGUAGES_OF_THE_PAPER}:
            raise DeclarationError(f"reference {reference.label}: unknown language {reference.language}")


def _check_id(name: str, where: str) -> None:
    if not re.fullmatch(r"[\w-]+", name):
        raise DeclarationError(f"{where}: {name!r} becomes part of run names; use only letters, digits, - and _")


def _check_row(plan: Plan, table: Table, row: Row) -> None:
    place = f"{table.id}.{row.id}"
    if row.combines:
        _check_ensemble(plan, table, row)
    if not row.is_ours and not row.paper:
        raise DeclarationError(f"{place}: nothing to train; write options = {{}} to use the table's options")
    by_language = {*row.seeds} if isinstance(row.seeds, Mapping) else set[str]()
    unknown = {*row.languages} - {*plan.treebanks}
    unknown |= {*row.paper, *by_language} - {*plan.treebanks, *LANGUAGES_OF_THE_PAPER}
    if unknown:
        raise DeclarationError(
            f"{place}: unknown language {', '.join(sorted(unknown))}; the languages are {', '.join(plan.treebanks)}"
        )
    if wrong := {part for figures in row.paper.values() for part in figures} - {"dev", "test"}:
        raise DeclarationError(f"{place}: paper has only dev and test, not {', '.join(sorted(wrong))}")
    for run in plan.runs_of(table, row):
        check_options(place, run.options, run.settings, predicted_tags=run.predicted_tags)
        for placeholder, name in run.vectors.items():
            if not name:
                where = f"[{run.treebank.language}] in the treebanks' TOML file"
                raise DeclarationError(
                    f"{place}: embeddings is {placeholder}, but {where} has no {VECTORS[placeholder]}"
                )
    if any(len({*row.seeds_of(name)}) < len(row.seeds_of(name)) for name in row.languages):
        raise DeclarationError(f"{place}: a seed is listed twice")


def _check_ensemble(plan: Plan, table: Table, row: Row) -> None:
    """Raise unless the members are trained with several seeds and the ensemble declares no training of its own."""
    place = f"{table.id}.{row.id}"
    _require(plan, f"{table.id}.{row.combines}", f"combines, in {place}")
    other = table.row(row.combines)
    if row.options is not None or row.settings or row.predicted_tags or row.seeds != (1,):
        raise DeclarationError(
            f"{place}: an ensemble (combines = {other.id!r}) has no options, settings, seeds or predicted_tags of its "
            "own; remove them"
        )
    if other.options is None or not {*row.languages} <= {*other.languages}:
        raise DeclarationError(f"{place}: {other.id} is not trained in all its languages")
    if any(len(other.seeds_of(language)) < 2 for language in row.languages):
        raise DeclarationError(f"{place}: {other.id} has fewer than two seeds to combine")


def _require(plan: Plan, place: str, where: str) -> None:
    try:
        plan.row(place)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error}") from None
