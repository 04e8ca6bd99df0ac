"""Lemmas as edit scripts: what must be changed in a form to get its lemma, written so that many words share a script.

A script has three parts, as in ``lower||---+y`` (*Cities* -> *city*): how to case the lemma, how to edit the beginning
of the form, and how to edit its end. What lies between is kept. An edit is a sequence of ``.`` (keep a character),
``-`` (delete one) and ``+x`` (insert x). A lemma that shares no character with its form is stored itself, after ``=``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

ABSOLUTE = "="
_OPERATION = re.compile(r"[.-]|\+.", re.DOTALL)
_Edit = tuple[tuple[str, ...], int]  # its operations, and the number of characters that it reads
_EDIT = r"((?:[.-]|\+.)*)"


def _lower(text: str) -> str:
    return text.lower()


def _title(text: str) -> str:
    return text[:1].upper() + text[1:].lower()


def _keep(text: str) -> str:
    return text


def _upper(text: str) -> str:
    return text.upper()


CASINGS = {"lower": _lower, "title": _title, "keep": _keep, "upper": _upper}  # the first that fits is taken
_SCRIPT = re.compile(rf"({'|'.join(CASINGS)})\|{_EDIT}\|{_EDIT}", re.DOTALL)


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
        script = f"{name}|{prefix}|{suffix}"
        if apply_script(form, script) == lemma:  # false if lower-casing loses something, as for a dotted capital I
            return script
    return ABSOLUTE + lemma


@lru_cache(maxsize=1 << 16)
def apply_script(form: str, script: str) -> str | None:
    """Return the lemma, or None if the script does not fit the form: it is too short, or no lemma would be left."""
    if script.startswith(ABSOLUTE):
        return script[1:]
    casing, (prefix, n_before), (suffix, n_after) = _parts_of(script)
    source = form if casing == "keep" else form.lower()
    begin, end = n_before, len(source) - n_after
    if begin > end:
        return None
    edited = _edited(source[:begin], prefix) + source[begin:end] + _edited(source[end:], suffix)
    lemma = CASINGS[casing](edited)
    return lemma if lemma == lemma.strip() and lemma not in ("", "_") else None


def check_script(script: str) -> None:
    """Raise a :class:`ValueError` unless :func:`apply_script` can read the script."""
    if not script.startswith(ABSOLUTE):
        _parts_of(script)
    elif script == ABSOLUTE:
        raise ValueError("the lemma after = is missing in a lemma script")


@lru_cache(maxsize=1 << 12)
def _parts_of(script: str) -> tuple[str, _Edit, _Edit]:
    """Return how to case the lemma, and the two edits."""
    match = _SCRIPT.fullmatch(script)
    if match is None:
        raise ValueError(f"{script!r} is not a lemma script")
    casing, prefix, suffix = match.groups()
    return casing, _edit_of(prefix), _edit_of(suffix)


def _edit_of(text: str) -> _Edit:
    operations: tuple[str, ...] = tuple(_OPERATION.findall(text))
    return operations, sum(operation[0] != "+" for operation in operations)


def _edited(text: str, operations: Sequence[str]) -> str:
    """Apply an edit to the characters that it reads."""
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
    if source == target:
        return 0, 0, len(source)
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
