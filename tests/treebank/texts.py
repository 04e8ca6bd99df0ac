"""Small treebanks in short hand, for tests of what is aligned by characters."""

from __future__ import annotations

import io
from typing import Any

import pytest

from easyfirst.treebank.conll18 import Conll18Scores
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence


def conllu(*sentences: str) -> str:
    """Tokens are separated by spaces; "bc=b+c" is a multiword token, "~" a space in a form, "b/3/obj" a word with its
    head and relation, which otherwise are the first word, and x."""
    blocks: list[str] = []
    for sentence in sentences:
        rows: list[str] = []
        n = 0
        for token in sentence.split(" "):
            form, equals, parts = token.partition("=")
            words = parts.split("+") if equals else [form]
            if equals:
                rows.append(f"{n + 1}-{n + len(words)}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n")
            for word in words:
                n += 1
                word_form, _, tree = word.partition("/")
                head, _, relation = tree.partition("/")
                head = head or ("0" if n == 1 else "1")
                rows.append(f"{n}\t{word_form}\t_\t_\t_\t_\t{head}\t{relation or 'x'}\t_\t_\n")
        blocks.append("".join(rows).replace("~", " ") + "\n")
    return "".join(blocks)


def treebank(*sentences: str, name: str = "x.conllu") -> list[Sentence]:
    return read(conllu(*sentences), name)


def read(text: str, name: str = "x.conllu") -> list[Sentence]:
    return list(ConlluReader(io.BytesIO(text.encode()), name))


def official_scores(gold: str, system: str) -> dict[str, Any]:
    """What the shared task's own scorer says of two treebanks."""
    udeval = pytest.importorskip("udtools.udeval")
    sides = (udeval.load_conllu(io.StringIO(side, newline="\n"), "x", {}) for side in (gold, system))
    return udeval.evaluate(*sides)


def check_official(ours: Conll18Scores, gold: str, system: str) -> None:
    """Every figure of every metric is the official one."""
    official = official_scores(gold, system)
    assert len(ours.metrics) == 13
    for name, metric in ours.metrics.items():
        theirs = official[name]
        assert (metric.gold, metric.system, metric.correct, metric.aligned) == (
            theirs.gold_total,
            theirs.system_total,
            theirs.correct,
            theirs.aligned_total,
        ), name
        for share, their_share in (
            (metric.precision, theirs.precision),
            (metric.recall, theirs.recall),
            (metric.f1, theirs.f1),
        ):
            assert share == pytest.approx(100 * their_share, abs=1e-9)
        if theirs.aligned_accuracy is None:
            assert metric.aligned_accuracy is None
        else:
            assert metric.aligned_accuracy == pytest.approx(100 * theirs.aligned_accuracy, abs=1e-9)
