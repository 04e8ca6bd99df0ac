"""Write docs/results.md: the paper's figures beside ours, from the declared tables and the recorded results.

    python bench/tables/render.py
    python bench/tables/render.py bench/tables/paper.toml --treebanks mine.toml --results mine.jsonl --page mine.md

What is said of the results in words is written by hand, of those on the open treebanks in findings.md; whatever has
not been run is said to be so.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tomllib
from experiments import FILES, FOLDER, TREEBANKS, DeclarationError, Plan, Reference, Row, Table, read_plan
from results import RESULTS, Line, Results, is_done
from summary import SCORES, Score, largest_spread, lines_of, score, verdict

sys.path.append(str(FOLDER.parent))

import report

from easyfirst.errors import EasyFirstError

PAGE = FOLDER.parents[1] / "docs" / "results.md"
FINDINGS = FOLDER / "findings.md"
PUBLISHED = FOLDER / "published.toml"
LANGUAGES = {"en": "English", "zh": "Chinese"}
PAPERS_DATA = {"en": "PTB, Stanford Dependencies, predicted tags", "zh": "CTB 5, gold tags"}
SHOWN = {"conllx": "CoNLL-X", "ud": "UD"}
NOT_RUN = "not run yet"
FIRST = {"summary": "In short", "differences": "How ours differ from the paper's"}
"""The headings, among those of the findings, of what is to be known before all tables, and what the page calls it."""
BELOW = "below "
"""The heading of what is said below a table, before the table's id."""
INTRODUCTION = """# Results{what} on {treebanks}

This page is written by `bench/tables/render.py`; do not edit it. The experiments are declared in
{declared}, every result is a line of `{results}`, and what is said of them in words
{prose}. `docs/recipe.md` tells how to run all this, also on the paper's own treebanks.
"""
PAPER = """\
- **Paper** columns quote Kiperwasser & Goldberg (2016): PTB with Stanford Dependencies and predicted tags, CTB 5 with
  gold tags. Beside any other treebank they are **other data and other tags**: compare differences between rows, not
  the figures."""
OURS = """\
- **Ours** are made by `easyfirst train` with gold tokens, and with the tags that are named above each table unless a
  row says otherwise. The epoch is selected on dev (LAS, all words, full relations); the test set is parsed once, by
  the selected model. Rows of trainings *put together* are made from the selected models by `easyfirst combine`.
- UAS / LAS in per cent. **CoNLL-X**: without punctuation, full relations, as in the paper. **UD**: all words, relation
  subtypes ignored.
- With several seeds: the mean, and in brackets the spread, the largest minus the smallest. A difference that is not
  larger than the spread is called a tie. If one of the two rows has fewer than three seeds, the largest spread of all
  rows of the language counts too (that of rows with predicted tags only if both have such).
"""
OTHERS = """## Other systems, as the paper quotes them (its table 5)

UAS, test. **None of these figures can be compared with those on other data**: they are on PTB (Yamada & Matsumoto's
head rules, or some version of the Stanford converter) with predicted tags, and on CTB with gold tags, and they differ
among themselves in head rules, tags and vectors. Dyer et al. (2015) and Chen & Manning (2014) are in the main tables.
Times are those of the algorithms: a plus marks a large constant, and rerankers have the time of their base parsers.
"""


def cells(lines: Sequence[Line], part: str, convention: str) -> str:
    """UAS / LAS of a row."""
    found = [score(lines, part, convention, name) for name in SCORES]
    return " / ".join(map(str, found)) if None not in found else NOT_RUN


def paper_cell(row: Row, language: str, part: str) -> str:
    figures = row.paper.get(language, {}).get(part)
    return " / ".join(f"{figure:.1f}" for figure in figures) if figures else ""


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table, and the blank line after it."""
    return [*report.table(header, rows), ""]


def table_lines(plan: Plan, table: Table, language: str, recorded: dict[str, Line]) -> Iterator[str]:
    """One table in one language."""
    rows = [row for row in table.rows if language in (row.languages if row.is_ours else row.paper)]
    parts = ("dev", "test") if table.test else ("dev",)
    papers = [part for part in parts if any(paper_cell(row, language, part) for row in rows)]
    header = ["", *(f"paper, {part}" for part in papers)]
    header += [f"ours, {part}, {name}" for part in parts for name in SHOWN.values()]
    header += ["dev, CoNLL-X, against the first", "verdict"] if table.against else []
    shown: list[list[object]] = []
    for row in rows:
        line: list[object] = [row.label, *(paper_cell(row, language, part) for part in papers)]
        shown.append(line + our_cells(plan, table, row, language, recorded))
    treebank = plan.treebanks[language]
    paper = f"; paper: {PAPERS_DATA[language]}" if papers and language in PAPERS_DATA else ""
    tags = table.tags or ("predicted tags" if _only_predicted(rows) else treebank.tags)
    yield f"**{LANGUAGES.get(language, language)}** (ours: {treebank.name}, {tags}{paper})"
    yield ""
    yield from markdown([*header, "seeds"], shown)


def _only_predicted(rows: Sequence[Row]) -> bool:
    """Whether all that is trained is scored with predicted tags."""
    trained = [row.predicted_tags for row in rows if row.options is not None]
    return bool(trained) and all(trained)


def our_cells(plan: Plan, table: Table, row: Row, language: str, recorded: dict[str, Line]) -> list[object]:
    """Scores, what they are against the table's first row, and how many seeds."""
    parts = ("dev", "test") if table.test else ("dev",)
    n_cells = len(parts) * len(SHOWN) + 2 * bool(table.against)
    if not row.is_ours:
        return [*["–"] * n_cells, ""]
    found = lines_of(plan, table, row, language, recorded)
    line: list[object] = [cells(found, part, convention) for part in parts for convention in SHOWN]
    if table.against and row.id != table.against:
        line += comparison(plan, (f"{table.id}.{row.id}", f"{table.id}.{table.against}"), language, "dev", recorded)
    elif table.against:
        line += ["", ""]
    return [*line, "together" if row.combines else f"{len(found)} of {len(row.seeds_of(language))}"]


def comparison(plan: Plan, pair: Sequence[str], language: str, part: str, recorded: dict[str, Line]) -> tuple[str, str]:
    """A row minus another one in the paper's convention, and what may be said of the difference."""
    scores: list[list[Score]] = []
    for place in pair:
        [table] = [table for table in plan.tables if table.id == place.partition(".")[0]]
        lines = lines_of(plan, table, plan.row(place), language, recorded)
        found = [score(lines, part, "conllx", name) for name in SCORES]
        scores.append([each for each in found if each is not None])
    one, other = scores
    if len(one) < len(SCORES) or len(other) < len(SCORES):
        return NOT_RUN, ""
    predicted = all(plan.row(place).predicted_tags for place in pair)
    fallback = [largest_spread(plan, recorded, language, part, name, predicted_tags=predicted) for name in SCORES]
    said = [verdict(a, b, spread) for a, b, spread in zip(one, other, fallback, strict=True)]
    both = said[0] if len(set(said)) == 1 else "; ".join(f"{n}: {v}" for n, v in zip(SCORES, said, strict=True))
    return _differences([each.mean for each in one], [each.mean for each in other], digits=2), both


def pair_line(plan: Plan, pair: Sequence[str], language: str, recorded: dict[str, Line]) -> list[object]:
    """A row against another one, in the paper and here."""
    rows = [plan.row(place) for place in pair]
    names = [row.label.removeprefix("+ ") for row in rows]
    line: list[object] = [LANGUAGES.get(language, language), " against ".join(names)]
    for part in ("dev", "test"):
        figures = [row.paper.get(language, {}).get(part, ()) for row in rows]
        line.append(_differences(figures[0], figures[1]) if all(figures) else "")
        line += comparison(plan, pair, language, part, recorded)
    return line


def _differences(one: Sequence[float], other: Sequence[float], digits: int = 1) -> str:
    return " / ".join(f"{round(a - b, digits) + 0.0:+.{digits}f}" for a, b in zip(one, other, strict=True))


def read_findings(path: Path = FINDINGS) -> dict[str, str]:
    """The paragraphs by the ids that their headings are; comments are for the writer only. Links to docs, where our
    page is, lead there from the page, too."""
    text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL).replace("](../../docs/", "](")
    _, *sections = re.split(r"^## +", text, flags=re.MULTILINE)
    parts = [section.partition("\n") for section in sections]
    return {heading.strip(): body.strip() for heading, _, body in parts}


def finding_lines(plan: Plan, recorded: dict[str, Line], prose: dict[str, str]) -> Iterator[str]:
    yield from ["## What the paper found, and what came out here", ""]
    yield from ["Differences are UAS / LAS, CoNLL-X convention.", ""]
    header = ["", "difference"]
    for part in ("dev", "test"):
        header += [f"paper, {part}", f"ours, {part}", "verdict"]
    for finding in plan.findings:
        yield from [f"### {finding.claim}", ""]
        yield from markdown(
            header,
            [pair_line(plan, pair, language, recorded) for pair in finding.pairs for language in plan.treebanks],
        )
        if prose:
            yield from [prose.get(finding.id) or "*Not written yet: the runs come first.*", ""]


def reference_lines(plan: Plan, reference: Reference, recorded: dict[str, Line]) -> Iterator[str]:
    """Epoch by epoch beside another implementation; ``full`` convention, which results keep by epoch."""
    [table] = [table for table in plan.tables if table.id == reference.row.partition(".")[0]]
    row = plan.row(reference.row)
    lines = lines_of(plan, table, row, reference.language, recorded)
    yield from [f"Beside {reference.label}, dev, all words and full relations, UAS / LAS after each epoch:", ""]
    shown: list[list[object]] = []
    for number, figures in enumerate(reference.epochs, 1):
        ours = [line["dev_by_epoch"][number - 1] for line in lines if len(line["dev_by_epoch"]) >= number]
        theirs = " / ".join(f"{figure:.2f}" for figure in figures)
        shown.append(
            [number, theirs, " / ".join(str(Score.of(values)) for values in zip(*ours, strict=True)) or NOT_RUN]
        )
    yield from markdown(["epoch", "theirs", f"ours ({row.label})"], shown)


def published_lines() -> Iterator[str]:
    declared = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    yield OTHERS
    yield from markdown(declared["columns"], declared["rows"])


def run_lines(plan: Plan, recorded: dict[str, Line]) -> Iterator[str]:
    """Where the figures come from."""
    runs = plan.runs()
    done = [run for run in runs if is_done(run, recorded)]
    yield from ["## Runs", "", f"{len(done)} of {len(runs)} runs are done.", ""]
    if done:
        lines = [(run, recorded[run.key]) for run in done]
        rows = [
            (
                run.name,
                f"{line['best_epoch']} of {line['epochs']}" if line["epochs"] else "put together",
                f"{line['cpu_seconds'] / 60:.0f}",
                line["commit"],
                line["date"],
                line["cpu"],
            )
            for run, line in lines
        ]
        yield from markdown(["table.row.language.seed", "best epoch", "CPU minutes", "commit", "date", "CPU"], rows)
        yield "CPU minutes are those of learning alone. A commit with a plus had changes that were not committed."


def page(plan: Plan, results: Results, findings: Path | None) -> str:
    """The whole document; ``findings``: the file with what is said in words, if there is one."""
    recorded, prose = results.read(), read_findings(findings) if findings else {}
    lines: list[str] = [*introduction(plan, results, findings).splitlines(), ""]
    lines += [*PAPER.splitlines()] if plan.quotes_paper else []
    lines += [*OURS.splitlines(), ""]
    for heading, title in FIRST.items():
        lines += [f"## {title}", "", prose[heading], ""] if heading in prose else []
    for table in plan.tables:
        lines += [f"## {table.title}", ""]
        lines += [table.note, ""] if table.note else []
        for language in table.languages:
            lines += table_lines(plan, table, language, recorded)
        for reference in plan.references:
            if reference.row.partition(".")[0] == table.id:
                lines += reference_lines(plan, reference, recorded)
        lines += [prose[BELOW + table.id], ""] if BELOW + table.id in prose else []
    lines += finding_lines(plan, recorded, prose) if plan.findings else []
    lines += published_lines() if plan.quotes_paper else []
    lines += run_lines(plan, recorded)
    return "\n".join(lines).rstrip() + "\n"


def introduction(plan: Plan, results: Results, findings: Path | None) -> str:
    """What is to be known before everything else."""
    declared = [path.resolve() for path in plan.files]
    files = ["bench/tables/*.toml"] if declared == [*FILES] else [_shown(path) for path in declared]
    return INTRODUCTION.format(
        what=": the paper's tables" if plan.quotes_paper else "",
        treebanks=" and ".join(treebank.name for treebank in plan.treebanks.values()),
        declared=", ".join(f"`{name}`" for name in files),
        results=_shown(results.path),
        prose=f"is in `{_shown(findings)}`" if findings else "is not here",
    )


def _shown(path: Path) -> str:
    """A file as a page names it: below the checkout, or by its name alone."""
    place, root = path.resolve(), FOLDER.parents[1]
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else path.name


def write(path: Path, plan: Plan, results: Results, findings: Path | None = FINDINGS) -> None:
    path.write_text(page(plan, results, findings), encoding="utf-8")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to render, and to where; run.py has the same."""
    parser.add_argument("files", nargs="*", type=Path, default=list(FILES), help="TOML files; default: all tables")
    parser.add_argument("--treebanks", type=Path, default=TREEBANKS, help="TOML file that names the data")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of the results")
    parser.add_argument("--page", type=Path, help=f"the page to write; default: docs/{PAGE.name}")
    parser.add_argument(
        "--findings", type=Path, help="the file with the paragraphs on the findings; default: those on our treebanks"
    )


def check_results(options: argparse.Namespace) -> None:
    """Our file of results is not for others' tables."""
    declared = {path.resolve() for path in (options.treebanks, *options.files)}
    if options.results.resolve() == RESULTS and not declared <= {TREEBANKS, *FILES}:
        raise DeclarationError("--results: where to record what tables of your own give? Name a file")


def places(options: argparse.Namespace) -> tuple[Path, Path | None]:
    """The page, and the file of the findings, if any. Our page is not overwritten with other results or with a part of
    them, and what we say of ours is not said of others."""
    files = (options.treebanks, options.results, *options.files)
    is_ours = [path.resolve() for path in files] == [TREEBANKS, RESULTS, *FILES]
    if not is_ours and options.page is None:
        raise DeclarationError("--page: where to write other results, or a part of ours?")
    return options.page or PAGE, options.findings or (FINDINGS if is_ours else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    options = parser.parse_args()
    try:
        page, findings = places(options)
        if not options.results.exists():
            raise DeclarationError(f"--results: there is no {options.results}")
        write(page, read_plan(options.files, options.treebanks), Results(options.results), findings)
    except (EasyFirstError, OSError) as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main()
