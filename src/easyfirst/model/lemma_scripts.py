"""Lemmas as edit scripts: what must be changed in a form to get its lemma, written so that many words share a script.

A script has three parts, as in ``lower||---+y`` (*Cities* -> *city*): how to case the lemma, how to edit the beginning
of the form, and how to edit its end. What lies between is kept. An edit is a sequence of ``.`` (keep a character),
``-`` (delete one) and ``+x`` (insert x). A lemma that shares no character with its form is stored itself, after ``=``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

ABSOLUTE = "="
BAR = "|"
IDENTITY = "keep||"


def _lower(text: str) -> str:
    return text.lower()


def _title(text: str) -> str:
    return text[:1].upper() + text[1:].lower()


def _keep(text: str) -> str:
    return text


def _upper(text: str) -> str:
    return text.upper()


CASINGS = {"lower": _lower, "title": _title, "keep": _keep, "upper": _upper}  # the first that fits is taken


@lru_cache(maxsize=1 << 16)
def script_of(form: str, lemma: str) -> str:
    """Return the script that makes the lemma of the form."""
    for name, cased in CASINGS.items():
        if cased(lemma) != lemma:
            continue
        source, target = (form, lemma) if name == "keep" else (form.lower(), lemma.lower())
        begin, there, length = _longest_common_part(source, target)
        if length == 0:
            continue
        prefix = "".join(_edits(source[:begin], target[:there]))
        suffix = "".join(_edits(source[begin + length :], target[there + length :]))
        script = f"{name}{BAR}{prefix}{BAR}{suffix}"
        if apply_script(form, script) == lemma:  # lower-casing may not be undone, as in some scripts
            return script
    return ABSOLUTE + lemma


@lru_cache(maxsize=1 << 16)
def apply_script(form: str, script: str) -> str | None:
    """Return the lemma, or None if the form is too short for the script."""
    if script.startswith(ABSOLUTE):
        return script[1:]
    casing, _, edits = script.partition(BAR)
    operations = list(_operations(edits))
    bar = operations.index(BAR)
    prefix, suffix = operations[:bar], operations[bar + 1 :]
    source = form if casing == "keep" else form.lower()
    begin, end = _n_read(prefix), len(source) - _n_read(suffix)
    if begin > end:
        return None
    edited = _edited(source[:begin], prefix) + source[begin:end] + _edited(source[end:], suffix)
    return CASINGS[casing](edited) or None


def check_script(script: str) -> None:
    """Raise :class:`ValueError` unless :func:`apply_script` can read the script."""
    casing, _, edits = script.partition(BAR)
    is_lemma = script.startswith(ABSOLUTE) and len(script) > 1
    if not is_lemma and (casing not in CASINGS or list(_operations(edits)).count(BAR) != 1):
        raise ValueError(f"{script!r} is not a lemma script")


def _operations(edits: str) -> Iterator[str]:
    """Yield the operations of two edits and the bar between them; raise :class:`ValueError` for anything else."""
    characters = iter(edits)
    for character in characters:
        if character == "+":
            inserted = next(characters, "")
            if not inserted:
                break
            yield character + inserted
        elif character in ("-", ".", BAR):
            yield character
        else:
            break
    else:
        return
    raise ValueError(f"{edits!r} are not the edits of a lemma script")


def _n_read(operations: list[str]) -> int:
    """Return the number of characters that an edit reads."""
    return sum(operation[0] != "+" for operation in operations)


def _edited(text: str, operations: list[str]) -> str:
    characters = iter(text)
    edited: list[str] = []
    for operation in operations:
        if operation[0] == "+":
            edited.append(operation[1])
        else:
            character = next(characters)
            edited += character if operation == "." else ""
    return "".join(edited)


def _longest_common_part(source: str, target: str) -> tuple[int, int, int]:
    """Return where the longest common substring begins in both texts, and its length; the first of several."""
    best = (0, 0, 0)
    lengths = [0] * (len(target) + 1)  # of the common suffixes of what was read of both texts
    for i, character in enumerate(source, 1):
        above = lengths[:]
        for j, other in enumerate(target, 1):
            lengths[j] = above[j - 1] + 1 if character == other else 0
            if lengths[j] > best[2]:
                best = (i - lengths[j], j - lengths[j], lengths[j])
    return best


def _edits(source: str, target: str) -> Iterator[str]:
    """Yield the fewest operations that make one text of another; deletions come before insertions."""
    n, m = len(source), len(target)
    costs = [[0] * (m + 1) for _ in range(n + 1)]  # of making target[j:] of source[i:]
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if i == n or j == m:
                costs[i][j] = n - i + m - j
            elif source[i] == target[j]:
                costs[i][j] = costs[i + 1][j + 1]
            else:
                costs[i][j] = 1 + min(costs[i + 1][j], costs[i][j + 1])
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and source[i] == target[j] and costs[i][j] == costs[i + 1][j + 1]:
            yield "."
            i, j = i + 1, j + 1
        elif i < n and costs[i][j] == 1 + costs[i + 1][j]:
            yield "-"
            i += 1
        else:
            yield "+" + target[j]
            j += 1
