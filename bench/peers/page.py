"""Write what was measured: ``docs/peers.md``, the picture, and the table in the README."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.peers import columns, plot
from bench.peers.adapters.worker import BULK, TEXT, TOKENS
from bench.peers.columns import Column
from bench.peers.record import Record
from bench.peers.systems import OURS, ROOT, SYSTEMS, System
from bench.report import table
from easyfirst.replacing import replacement

PAGE, PICTURE, README = ROOT / "docs" / "peers.md", ROOT / "docs" / "img" / "peers.svg", ROOT / "README.md"
BEGIN, END = "<!-- peers: written by python -m bench.peers render -->", "<!-- end of peers -->"
NOT_YET = "Not measured yet."
SOURCES = {TEXT: "From raw text", TOKENS: "From gold tokens"}

INTRODUCTION = """\
# Side by side with other parsers

This page shows how easyfirst compares with spaCy, UDPipe 1, Stanza and supar: accuracy, speed and size, on the same
data, on the same machine, in the same run. One command measures all of it:

<!-- not run by the tests -->
```sh
python -m bench.peers all --treebank UD_English-EWT --work build/peers
```

All systems are trained on the training set of UD_English-EWT and scored on its test set. None of them is a transformer.
The best value of a column is bold.
"""
SHOWN = """
![Accuracy against speed of all systems, from raw text and from gold tokens](img/peers.svg)
"""
UNFINISHED = """
**This comparison is not complete:** still to be trained and measured are {}.
"""
ACCURACY = """
## Accuracy

F1 in per cent as defined by the CoNLL 2018 shared task, by [our scorer](evaluation.md). With gold tokens, the systems
also get the gold sentences. The time for training was limited ([how much each system got](#how-it-was-measured));
[published scores](#what-others-have-published) are below.
"""
SPEED = """
## Speed

Words per second of CPU time, on one thread, as the median of several rounds in which the systems take turns. "Two
threads" is how many times as fast two threads are in bulk by the clock.
"""
COSTS = """
## Start, size, memory and training

The first parse is that of a new process, from its start to the first tree. The installed size is that of all packages.
Peak memory is that of parsing the test set in bulk.
"""
LOSSES = """
## Where another system is better
"""
PUBLISHED = """
## What others have published
"""
METHOD = """
## How it was measured

- **Words.** Multiword ranges and empty nodes are stripped from the treebank once, so every system sees the same words.
  The words of a multiword token stand together without spaces.
- **easyfirst** is the bundled model. It also has word vectors of [openly licensed
  text](development/models.md), which the peers do not have. Its training time is the sum of its epochs.
- **spaCy** is the configuration that `spacy init config` writes for tagger, morphologizer, lemmatizer and parser,
  optimized for efficiency. With gold tokens, it gets the sentence starts. Its two threads are two processes.
- **UDPipe** has its default settings. The beam is an option of parsing, so both rows are one model.
- **Stanza** is trained without pretrained vectors and character language models, its parser on predicted tags.
- **supar** is its biaffine parser with characters and without pretrained vectors. It has no tokenizer and no tagger.
  Its first parse and its peak memory are those of parsing given words.
- **Training.** A peer gets up to 70 minutes of CPU time, which is what the epochs of our bundled model took. The list
  below says how much each had.
- **Time.** CPU time covers all threads and child processes, and what a system does from the input to its own objects.
  Reading files and writing CoNLL-U are left out.
"""
COMMAND = """
The command needs a clone of the repository. It gives each system an environment of its own, with the versions pinned in
`bench/peers/locks`, stores every result as it comes, and resumes when it is run again. `python -m bench.peers --help`
lists its steps.
"""


def rows_of(record: Record, systems: Sequence[System], chosen: Sequence[Column]) -> list[list[str]]:
    """Return the rows of a table; systems without any value are left out."""
    has_rival = [sum(column.read(record, system) is not None for system in systems) > 1 for column in chosen]
    best = [column.best(record, systems) if rival else None for column, rival in zip(chosen, has_rival, strict=True)]
    rows = [
        [system.title, *(column.cell(record, system, value) for column, value in zip(chosen, best, strict=True))]
        for system in systems
    ]
    return [row for row in rows if set(row[1:]) != {columns.MISSING}]


def table_of(record: Record, chosen: Sequence[Column], systems: Sequence[System] = SYSTEMS) -> Iterator[str]:
    """Yield the lines of a table."""
    rows = rows_of(record, systems, chosen)
    header, _, *lines = table(["System", *(column.title for column in chosen)], rows)
    yield ""
    if rows:
        yield from (header, "| --- |" + " ---: |" * len(chosen), *lines)
    else:
        yield NOT_YET


def wins(record: Record, column: Column) -> tuple[System, float, float] | None:
    """Return the best peer in a column if it is better than easyfirst, with its value and ours."""
    ours, *peers = SYSTEMS
    value = column.read(record, ours)
    best = column.best(record, peers)
    if value is None or best is None or column.form.format(value) == column.form.format(best):
        return None
    if (best > value) != column.is_better_high:
        return None
    return next(peer for peer in peers if column.read(record, peer) == best), best, value


def losses(record: Record) -> Iterator[str]:
    """Yield what peers do better, and what it would take."""
    found: list[str] = []
    for column in columns.REMARKED:
        if win := wins(record, column):
            peer, best, ours = win
            compared = f"{column.form.format(best)}, ours {column.form.format(ours)}"
            found.append(
                f"- **{column.name[0].upper()}{column.name[1:]}**: {peer.title} ({compared}). {column.remark}".strip()
            )
    yield ""
    ours, *peers = SYSTEMS
    is_compared = any(
        column.read(record, ours) is not None and any(column.read(record, peer) is not None for peer in peers)
        for column in columns.REMARKED
    )
    yield from found or ["In none of the columns that were measured." if is_compared else NOT_YET]


def training(record: Record) -> Iterator[str]:
    """Yield how much training each system got."""
    for system in SYSTEMS:
        cell = record.get(system.name, "training")
        if system.name == "udpipe-beam" or not cell:
            continue
        minutes = f"{cell['cpu_seconds'] / 60:,.0f} minutes of CPU time"
        if system.name == OURS:
            yield f"- **{system.title}**: {minutes} in its epochs, without jackknifing."
        elif cell.get("is_finished"):
            yield f"- **{system.title}**: {minutes} of a budget of {cell['minutes']:,.0f} ({settings(cell)})."
        else:
            yield f"- **{system.title}**: {minutes} so far; its training has not ended."


def settings(cell: dict[str, object]) -> str:
    """Return the settings and the end of a training."""
    given = cell.get("settings")
    return "; ".join(f"{key}: {value}" for key, value in given.items()) if isinstance(given, dict) else ""


def published(record: Record) -> Iterator[str]:
    """Yield published figures beside ours, as measured here."""
    header = ["System", "Input", "", *columns_of_scores()]
    rows: list[list[str]] = []
    for system in SYSTEMS:
        if not system.published:
            continue
        for source, scores in system.published.scores.items():
            here = [column.cell(record, system, None) for column in columns.ACCURACY[source]]
            there = [f"{scores[name]:.1f}" if name in scores else columns.MISSING for name in columns_of_scores()]
            rows += [[system.title, SOURCES[source].lower(), "published", *there], ["", "", "here", *here]]
        yield f"{system.title}: {system.published.source}."
    yield ""
    first, _, *lines = table(header, rows)
    yield from (first, "| --- | --- | --- |" + " ---: |" * len(columns_of_scores()), *lines)


def columns_of_scores() -> list[str]:
    """Return the titles of the columns of accuracy."""
    return [column.title for column in columns.ACCURACY[TEXT]]


def conditions(record: Record) -> Iterator[str]:
    """Yield the machine, the date, the load and the versions."""
    if not record.facts:
        yield NOT_YET
        return
    loads = [
        run["load"]
        for cells in record.systems.values()
        for cell in cells.values()
        for run in cell.get("runs", ())
        if "load" in run
    ]
    load = f", load average {min(loads):.1f} to {max(loads):.1f} while the speed was measured" if loads else ""
    yield f"Measured on {record.facts['date']}, {record.facts['cpu']}, Python {record.facts['python']}{load}."
    versions = {
        name: version
        for cells in record.systems.values()
        for name, version in cells.get("versions", {}).get("versions", {}).items()
    }
    yield "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."


def page(record: Record) -> str:
    """Return the page."""
    scored = scored_systems(record)
    missing = [system for system in SYSTEMS if system not in scored]
    lines = [INTRODUCTION.rstrip("\n")]
    lines += [UNFINISHED.format(in_words(missing)).rstrip("\n")] if missing else []
    lines += [SHOWN] if len(scored) > 1 else [""]
    lines += [*conditions(record), ACCURACY.rstrip("\n")]
    for source, title in SOURCES.items():
        lines += ["", f"### {title}", *table_of(record, columns.ACCURACY[source])]
    lines += [SPEED.rstrip("\n"), *table_of(record, columns.SPEED)]
    lines += [COSTS.rstrip("\n"), *table_of(record, columns.COSTS)]
    lines += [LOSSES.rstrip("\n"), *losses(record)]
    lines += [
        PUBLISHED,
        *published(record),
        METHOD.rstrip("\n"),
        "",
        "How much training each system got:",
        "",
        *(list(training(record)) or [NOT_YET]),
    ]
    return "\n".join([*lines, COMMAND.rstrip("\n"), ""])


def readme_block(record: Record) -> str:
    """Return the table of the README: the systems that have been scored. Without a peer, there is only the link."""
    scored = scored_systems(record)
    if len(scored) < 2:
        names = in_words([system for system in SYSTEMS if system not in scored])
        return f"\n[Side by side with other parsers](docs/peers.md): still to be measured are {names}.\n"
    link = "[Side by side with other parsers](docs/peers.md) has all columns, and says where another system is better."
    return "\n".join([*table_of(record, columns.README, scored), "", link, ""])


def scored_systems(record: Record) -> list[System]:
    """Return the systems that have a score."""
    return [system for system in SYSTEMS if any(c.read(record, system) is not None for c in columns.README[:2])]


def in_words(systems: Sequence[System]) -> str:
    """Return the names of systems, without their options, as a list in a sentence."""
    *others, last = dict.fromkeys(system.title.partition(",")[0] for system in systems)
    return f"{', '.join(others)} and {last}" if others else last


def with_block(text: str, block: str) -> str:
    """Return a text with the marked block replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there are no lines {BEGIN!r} and {END!r}")
    return f"{before}{begin}\n{block}\n{end}{after}"


def picture(record: Record) -> str:
    """Return the picture."""
    panels: list[plot.Panel] = []
    for source, title in SOURCES.items():
        read_speed, read_score = columns.speed(source, BULK), columns.score(source, "LAS")
        points: list[plot.Point] = []
        for system in SYSTEMS:
            value, accuracy = read_speed(record, system), read_score(record, system)
            if value is not None and accuracy is not None:
                points.append(plot.Point(system.name, system.title, value, accuracy))
        panels.append(plot.Panel(title, points))
    return plot.draw(panels)


def write(record: Record, files: Sequence[Path] = (PAGE, PICTURE, README)) -> None:
    """Write the page, the picture and the table of the README."""
    for path, text in zip(files, texts(record), strict=True):
        with replacement(path) as stream:
            stream.write(text.encode())


def texts(record: Record) -> tuple[str, str, str]:
    """Return the page, the picture and the README as they should be."""
    return page(record), picture(record), with_block(README.read_text(encoding="utf-8"), readme_block(record))
