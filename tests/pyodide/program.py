"""What the tests run twice, under Pyodide and here, and compare: it uses every part of the library that parses."""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import easyfirst
from easyfirst.render.html import draw_html

PACKAGES = ("typer", "rich", "safetensors", "multiprocessing")  # not needed for parsing


def results(given: str) -> str:
    """Parse what is given as JSON, and return everything that a user could see of it."""
    inputs: dict[str, Any] = json.loads(given)
    nlp = easyfirst.load("en", engine="numpy")
    documents = [nlp(text) for text in inputs["texts"]]
    words = ["I", "saw", "the", "man", "with", "the", "telescope"]
    known = [
        easyfirst.Constraints.of(heads={7: 2}),
        easyfirst.Constraints.of(relations={7: "obl"}, forbidden=[(0, 2)], brackets=[(3, 4), (3, 7)]),
    ]
    found = {
        "documents": [document.to_dict() for document in documents],
        "conllu": [document.to_conllu() for document in documents],
        "read": _read(nlp, inputs["conllu"]),
        "constrained": [parse.to_dict() for parse in nlp.parse([words, words], constraints=known)],
        "explained": nlp.explain("The fox likes apples.").to_dict(),
        "drawn": draw_html([parse.drawing() for parse in documents[0]]).count('class="arc'),
        "threads": [document.to_dict() for document in nlp.read(inputs["texts"], threads=4)],
        "is_pickled": pickle.loads(pickle.dumps(documents)) == documents,
        "saved": _saved(nlp, inputs["texts"][0]),
        "error": _error(),
        "imported": sorted(set(PACKAGES) & set(sys.modules)),
    }
    return json.dumps({"engine": nlp.engine, "platform": sys.platform, "found": found})


def _read(nlp: easyfirst.Parser, conllu: str) -> list[str]:
    """Parse a file of CoNLL-U."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input.conllu")
        path.write_text(conllu, encoding="utf-8")
        return [parse.to_conllu() for parse in nlp.pipe(easyfirst.read_conllu(path))]


def _saved(nlp: easyfirst.Parser, text: str) -> dict[str, Any]:
    """Parse with a copy of the model that was written to a directory and read again."""
    with tempfile.TemporaryDirectory() as folder:
        nlp.save(folder, bits=16)
        return easyfirst.load(folder, engine="numpy")(text).to_dict()


def _error() -> str:
    try:
        easyfirst.load("no-such-model")
    except easyfirst.ModelError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.stdout.write(results(sys.stdin.read()))
