"""Texts and models for the tests of tables, Ray and Spark, and what the library itself makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import easyfirst
from easyfirst.results.tables import document_rows
from easyfirst.tables.arrow import sentence_batch
from tests.small_models import small_model, small_tagger, small_tokenizer

SENTENCE = "the fox likes apples and dogs but it does not like this old black cat which I'll see again"


def texts(n: int, *, words: int = 12) -> list[str]:
    """Return texts that all differ, some of them empty and some with several sentences."""
    made, known = list[str](), SENTENCE.split()
    for number in range(n):
        chosen = [known[(number * 7 + k * k) % len(known)] for k in range(number % words)]
        made.append(f"Text {number} {' '.join(chosen)}. It can't end here!\nYes, fox {number}." if number % 9 else "")
    return made


def save_text_model(path: Path) -> Path:
    """Save a small model that reads texts."""
    easyfirst.Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(path)
    return path


def expected(model: str | Path, named: dict[str, str], **options: Any) -> list[dict[str, Any]]:
    """Return the rows that the library makes of texts with ids, in order, with the number of each sentence."""
    rows: list[dict[str, Any]] = []
    for (name, _), document in zip(named.items(), easyfirst.load(model).read(named.values(), **options), strict=True):
        found = sentence_batch(list(document_rows(document, doc_id=name))).to_pylist()
        rows += [row | {"sentence": number} for number, row in enumerate(found, 1)]
    return rows


def named(given: list[str]) -> dict[str, str]:
    """Give texts ids that sort in their order."""
    return {f"{number:06}": text for number, text in enumerate(given)}


def without_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the ids of documents and sentences, and what depends on them."""
    return [{name: value for name, value in row.items() if not name.endswith("_id")} for row in rows]
