"""Measure what a corpus costs: words a CPU second, memory, and bytes a word in files; and what a trillion words would.

    python -m bench.corpus UD_English-EWT/en_ewt-ud-train.conllu --name EWT-train

The raw text of the treebank is written to files and parsed by ``easyfirst parse --out-dir`` in processes of their own,
with the bundled model. The CPU time is that of the fastest of several runs, without that of a run over a single
sentence, which is the time to start. PyArrow is needed (the extra ``arrow``).
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import gzip
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import easyfirst
from bench import report
from easyfirst.batches import Columns, Options, parse_batch
from easyfirst.cli.ledger import NAME
from easyfirst.tables.packages import pyarrow
from easyfirst.treebank.raw_text import raw_text, read_paragraphs

TRILLION = 10**12
PART_BYTES = 1_000_000


class Case(NamedTuple):
    """A way to parse the corpus."""

    name: str
    corpus: str
    options: tuple[str, ...]
    precision: str = "int8"
    measures_size: bool = False


CASES = (
    Case("large files to CoNLL-U", "large", ("--to", "conllu"), measures_size=True),
    Case("large files to gzipped CoNLL-U", "zipped", ("--to", "conllu"), measures_size=True),
    Case(
        "large files to gzipped CoNLL-U with confidence",
        "zipped",
        ("--to", "conllu", "--confidence"),
        measures_size=True,
    ),
    Case("large files to JSON", "large", ("--to", "json"), measures_size=True),
    Case("large files to Parquet", "large", ("--to", "parquet"), measures_size=True),
    Case("large files to Parquet, int8-fast", "large", ("--to", "parquet"), precision="int8-fast"),
    Case("large files to Parquet, two threads", "large", ("--to", "parquet", "--threads", "2")),
    Case("a file a paragraph to CoNLL-U", "small", ("--to", "conllu"), measures_size=True),
    Case("a file a paragraph to Parquet", "small", ("--to", "parquet"), measures_size=True),
)


class Run(NamedTuple):
    """What a process has used and reported."""

    cpu: float
    memory: int  # in bytes
    words: int


def run(case: Case, corpus: Path, out: Path) -> Run:
    """Parse a corpus in a process of its own."""
    command = [sys.executable, "-m", "easyfirst", "parse", str(corpus), "--out-dir", str(out)]
    command += [] if "--threads" in case.options else ["--threads", "1"]
    environment = os.environ | {"EASYFIRST_PRECISION": case.precision}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*command, *case.options], stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        shown = errors.read().decode()
    found = re.search(r"([\d,]+) words in", shown)
    if process.returncode != 0 or found is None:
        raise SystemExit(shown)
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(usage.ru_utime + usage.ru_stime, memory, int(found[1].replace(",", "")))


def n_bytes(folder: Path) -> int:
    """Return the size of all outputs."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != NAME)


def write_corpora(folder: Path, paragraphs: list[str]) -> None:
    """Write the same text as a few large files, plain and gzipped, and as one file for each paragraph."""
    for name in ("large", "zipped", "small", "tiny"):
        (folder / name).mkdir()
    (folder / "tiny" / "0.txt").write_text("The fox jumps.\n", encoding="utf-8")
    part: list[str] = []
    for number, text in enumerate(paragraphs):
        (folder / "small" / f"{number:06}.txt").write_text(f"{text}\n", encoding="utf-8")
        part.append(text)
        if sum(map(len, part)) >= PART_BYTES or number == len(paragraphs) - 1:
            content = "\n\n".join(part).encode() + b"\n"
            (folder / "large" / f"{number:06}.txt").write_bytes(content)
            (folder / "zipped" / f"{number:06}.txt.gz").write_bytes(gzip.compress(content, mtime=0))
            part = []


def worker(paragraphs: list[str], n_runs: int) -> float:
    """Return the words a CPU second of what a worker of Ray or Spark does."""
    nlp = easyfirst.load("en")
    batch = pyarrow().record_batch({"text": paragraphs, "id": list(range(len(paragraphs)))})
    rates: list[float] = []
    for _ in range(n_runs):
        begin = time.process_time()
        made = list(parse_batch(nlp, batch, Columns("text", "id"), Options()))
        n_words = sum(len(found.column("form").flatten()) for found in made)
        rates.append(n_words / (time.process_time() - begin))
    return max(rates)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebank", type=Path)
    options.add_argument("--name", required=True)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    load = os.getloadavg()[0]
    text = raw_text(read_paragraphs(easyfirst.read_conllu(given.treebank)))
    paragraphs = text.split("\n\n")
    cases: dict[str, dict[str, Any]] = {}
    n_words = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpora(folder, paragraphs)
        for number, case in enumerate(CASES):
            start = min(run(case, folder / "tiny", folder / f"tiny-{number}").cpu for _ in range(given.runs))
            runs = [run(case, folder / case.corpus, folder / f"out-{number}") for _ in range(given.runs)]
            n_words = runs[0].words
            rate = n_words / (min(each.cpu for each in runs) - start)
            size = n_bytes(folder / f"out-{number}") / n_words if case.measures_size else None
            memory = max(each.memory for each in runs)
            cases[case.name] = {"words_per_cpu_second": rate, "memory": memory, "bytes_per_word": size}
            print(case.name, cases[case.name], file=sys.stderr)
    of_worker = worker(paragraphs, given.runs)
    cases["a worker of Ray or Spark"] = {"words_per_cpu_second": of_worker, "memory": None, "bytes_per_word": None}
    rows: list[list[object]] = []
    for name, found in cases.items():
        hours = TRILLION / found["words_per_cpu_second"] / 3600
        found["core_hours_of_a_trillion_words"] = hours
        size, memory = found["bytes_per_word"], found["memory"]
        rows.append(
            [
                name,
                f"{found['words_per_cpu_second']:,.0f}",
                "" if memory is None else f"{memory / 1e6:,.0f} MB",
                "" if size is None else f"{size:.1f}",
                f"{hours:,.0f}",
                "" if size is None else f"{size * TRILLION / 1e12:.1f} TB",
            ]
        )
    sizes = {"words": n_words, "files": len(paragraphs), "bytes_per_word_of_text": len(text.encode()) / n_words}
    facts = {"text": given.name, "runs": given.runs, "load_before": load, "load_after": os.getloadavg()[0], **sizes}
    rows.append(
        [f"the text: {given.name}, {n_words:,} words, {len(paragraphs):,} paragraphs", "", "", *_of_text(sizes)]
    )
    rows.append([f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after", "", "", "", "", ""])
    header = ["what", "words/CPU-s", "memory", "bytes/word", "core-hours/10¹² words", "storage/10¹² words"]
    report.write("corpus", {**facts, "cases": cases, "pyarrow": pyarrow().__version__}, header, rows)


def _of_text(sizes: dict[str, Any]) -> list[object]:
    size = sizes["bytes_per_word_of_text"]
    return [f"{size:.1f}", "", f"{size * TRILLION / 1e12:.1f} TB"]


if __name__ == "__main__":
    main()
