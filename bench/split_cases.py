"""Read the hand-written cases of tokens and sentences in ``tests/data/splits*.txt``.

A case is one line, which shows the text with its tokens and sentences marked:

======  ======================================================
blank   a token ends here, and the text has a space
``¦``   a token ends here, and the text has no space
``·``   a word ends inside a multiword token: ``do·n't``
``‖``   a sentence ends; the text has a space unless ``⏎`` or ``¦`` follows
``⏎``   a line ends; a sentence ends here only after ``‖``
======  ======================================================

Lines that begin with ``%%`` name the group of the cases that follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from easyfirst.treebank.raw_text import Token

FOLDER = Path(__file__).parents[1] / "tests" / "data"
FILES = ("splits.txt", "splits-heldout.txt")
GROUP = "%%"
_MARK = re.compile(r"\s*(‖\s*⏎|‖¦|‖|⏎|¦)\s*| ")
_BREAKS = {"": " ", "¦": "", "‖": " ", "‖¦": "", "‖⏎": "\n", "⏎": "\n"}

Words = list[list[tuple[str, ...]]]  # the words of each token of each sentence


@dataclass(frozen=True, slots=True)
class Case:
    """A text and the sentences that it should have."""

    group: str
    text: str
    expected: Words


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    cases: list[Case] = []
    group = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(GROUP):
            group = line.removeprefix(GROUP).strip()
        elif line.strip():
            cases.append(read_case(line.strip(), group))
    return cases


def read_case(line: str, group: str = "") -> Case:
    text = ""
    expected: Words = [[]]
    at = 0
    for match in [*_MARK.finditer(line), None]:
        token = line[at : match.start() if match else len(line)]
        mark = "" if match is None or match[1] is None else "".join(match[1].split())
        expected[-1].append(tuple(token.split("·")))
        text += token.replace("·", "") + (_BREAKS[mark] if match else "")
        if mark.startswith("‖"):
            expected.append([])
        at = match.end() if match else at
    return Case(group, text, expected)


def shown(sentences: Sequence[Sequence[Token | tuple[str, ...]]]) -> str:
    """Return sentences on one line, without the spaces of the text."""
    words = [[token.words if isinstance(token, Token) else token for token in sentence] for sentence in sentences]
    return " ‖ ".join(" ".join("·".join(token) for token in sentence) for sentence in words)
