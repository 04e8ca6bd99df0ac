"""Measure what parsed text takes in files and in pickles, in bytes a word, and how fast tables are written and read.

    python -m bench.storage UD_English-EWT/en_ewt-ud-dev.conllu --name EWT-dev

The raw text of the treebank is parsed with the bundled model. The speeds are those of one thread, without parsing, with
the load average of the machine beside them. PyArrow is needed (the extra ``arrow``).
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import os
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from easyfirst.results.tables import document_rows
from easyfirst.tables.packages import pyarrow
from easyfirst.tables.parquet import read_parquet, read_rows, write_rows
from easyfirst.treebank.raw_text import raw_text, read_paragraphs


def columns_of(path: Path, n_words: int) -> dict[str, float]:
    """Return the bytes a word of each column."""
    metadata: Any = pyarrow("pyarrow.parquet").ParquetFile(path).metadata
    sizes: dict[str, float] = {}
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            found = metadata.row_group(group).column(column)
            name = found.path_in_schema.partition(".")[0]
            sizes[name] = sizes.get(name, 0) + found.total_compressed_size / n_words
    return {name: round(size, 3) for name, size in sorted(sizes.items(), key=lambda item: -item[1])}


def rate(n_words: int, action: Callable[[], object]) -> int:
    """Return the words a second of the fastest of three runs."""
    seconds: list[float] = []
    for _ in range(3):
        begin = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begin)
    return round(n_words / min(seconds))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebank", type=Path)
    options.add_argument("--name", required=True)
    given = options.parse_args()
    text = raw_text(read_paragraphs(easyfirst.read_conllu(given.treebank)))
    parser = easyfirst.load("en")
    document, carried = parser(text), copy.copy(parser)
    carried.origin = None  # as if it had no model on disk
    parses = list(document)
    n_words = sum(map(len, parses))
    rows = list(document_rows(document, doc_id="text"))
    conllu = document.to_conllu(confidence=True).encode()
    lines = "".join(json.dumps(sentence) + "\n" for sentence in document.sentence_dicts()).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        speeds = {
            "document to rows": rate(n_words, lambda: list(document_rows(document, doc_id="text"))),
            "rows to Parquet": rate(n_words, lambda: write_rows(path, rows)),
            "Parquet to rows": rate(n_words, lambda: list(read_rows(path))),
            "Parquet to sentences": rate(n_words, lambda: list(read_parquet(path))),
            "pickle a document": rate(n_words, lambda: pickle.dumps(document)),
            "unpickle a document": rate(n_words, lambda: pickle.loads(pickle.dumps(document))),
        }
        sizes = {
            "raw text": len(text.encode()),
            "CoNLL-U with confidence": len(conllu),
            "CoNLL-U with confidence, gzip": len(gzip.compress(conllu)),
            "JSON": len(lines),
            "JSON, gzip": len(gzip.compress(lines)),
            "Parquet": path.stat().st_size,
            "a pickled `Document`": len(pickle.dumps(document)),
            "a pickled list of `Parse`": len(pickle.dumps(parses)),
            "each `Parse` pickled alone": sum(len(pickle.dumps(parse)) for parse in parses),
            "each `Tree` pickled alone": sum(len(pickle.dumps(parse.tree)) for parse in parses),
        }
        columns = columns_of(path, n_words)
    bytes_a_word = {name: round(size / n_words, 2) for name, size in sizes.items()}
    rows_written = [[name, f"{size:.1f} bytes a word"] for name, size in bytes_a_word.items()]
    large = {name: size for name, size in columns.items() if size >= 0.005}
    rows_written += [[f"column `{name}`", f"{size:.2f} bytes a word"] for name, size in large.items()]
    rows_written += [[name, f"{speed:,} words a second"] for name, speed in speeds.items()]
    version, load = pyarrow().__version__, round(os.getloadavg()[0], 1)
    measured = f"{given.name}: {len(parses):,} sentences, {n_words:,} words, parsed from text"
    facts: dict[str, Any] = {"text": given.name, "words": n_words, "sentences": len(parses)}
    facts |= {"bytes_per_word": bytes_a_word, "columns": columns, "words_per_second": speeds}
    facts["parser_bytes"] = {"by name": len(pickle.dumps(parser)), "with its weights": len(pickle.dumps(carried))}
    rows_written += [[f"a pickled `Parser`, {how}", f"{n:,} bytes"] for how, n in facts["parser_bytes"].items()]
    facts |= {"pyarrow": version, "load_average": load, "cores": os.cpu_count()}
    report.write("storage", facts, [measured, f"PyArrow {version}, load {load}"], rows_written)


if __name__ == "__main__":
    main()
