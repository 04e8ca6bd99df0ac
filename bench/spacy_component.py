"""Measure how much the spaCy component adds to the time of the parser, in batches and one text at a time.

    python -m bench.spacy_component --model en --treebank dev.conllu

The texts are the paragraphs of a treebank. All ways take turns in one process, and a result is the median of several
runs, in CPU time. The library alone is compared with pipelines of spaCy: the component in ``nlp.pipe`` and with one
text at a time, and the tokenizer, with and without the component.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import spacy

import easyfirst
from bench import report
from easyfirst.treebank.raw_text import read_paragraphs

LIBRARY = "the library: parser.read(texts)"


def consume(results: Iterable[object]) -> None:
    deque(results, maxlen=0)


def cpu_seconds(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ways(model: str, texts: list[str]) -> dict[str, Callable[[], None]]:
    """Return what is measured, by name."""
    parser = easyfirst.load(model)
    component = spacy.blank("en")
    component.add_pipe("easyfirst", config={"model": model})
    tokenizer = {"@tokenizers": "easyfirst.Tokenizer.v1", "model": model}
    reader = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    batches = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer | {"parse": False}}})
    batches.add_pipe("easyfirst", config={"model": model})
    return {
        LIBRARY: lambda: consume(parser.read(texts)),
        "the component: nlp.pipe(texts)": lambda: consume(component.pipe(texts)),
        "the component: nlp(text) for each": lambda: consume(map(component, texts)),
        "the tokenizer: nlp.pipe(texts)": lambda: consume(reader.pipe(texts)),
        "the tokenizer without parsing, then the component: nlp.pipe(texts)": lambda: consume(batches.pipe(texts)),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    paragraphs = read_paragraphs(easyfirst.read_conllu(given.treebank))
    texts = [paragraph.text for paragraph in paragraphs]
    n_words = sum(len(token.words) for each in paragraphs for tokens in each.sentences for token in tokens)
    works = ways(given.model, texts)
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(given.runs):
        for name, work in works.items():
            seconds[name].append(cpu_seconds(work))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    library = medians[LIBRARY]
    rows = [
        [
            name,
            f"{1e6 * value / n_words:.0f} microseconds/word",
            f"{n_words / value:,.0f} words/s",
            f"{library / value:.0%}",
        ]
        for name, value in medians.items()
    ]
    rows.append(["load average of the machine", f"{os.getloadavg()[1]:.1f}", "", ""])
    result = {
        "model": given.model,
        "treebank": given.treebank.name,
        "texts": len(texts),
        "words": n_words,
        "runs": given.runs,
        "load_average": os.getloadavg()[1],
        "cpu_seconds": medians,
    }
    report.write("spacy_component", result, ["what", f"median of {given.runs}", "speed", "of the library"], rows)


if __name__ == "__main__":
    main()
