"""Rows as JSON objects: those that ``easyfirst parse --to json`` writes, with the other columns of a row added."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from easyfirst.counting import count
from easyfirst.errors import DataError
from easyfirst.json_values import list_of, scalar, table, whole_number
from easyfirst.tables.rows import PROBABILITIES, EmptyNode, MultiwordToken, Row, shortened
from easyfirst.tables.sentences import problems_of
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, read_lines

_NAMES = {"deprel": "relation", "confidence": "arc_confidence"}  # of columns, in JSON
_CELLS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc", *PROBABILITIES)
_TEXTS = ("doc_id", "sent_id", "text")
MAX_PLACE = 10**15
"""Positions of tokens are smaller than this."""


def to_object(row: Row) -> dict[str, Any]:
    """Return the object of a row. Its verbatim bytes are left out."""
    found: dict[str, Any] = {name: value for name in _TEXTS if (value := getattr(row, name)) is not None}
    names = ["id", *(_NAMES.get(name, name) for name in _CELLS)]
    cells = zip(range(1, len(row) + 1), *(getattr(row, name) for name in _CELLS), strict=True)
    found["words"] = [dict(zip(names, values, strict=True)) for values in cells]
    for word in found["words"]:
        for name in map(_name, PROBABILITIES):
            word[name] = None if word[name] is None else round(word[name], 4)
    if row.multiword or any(start is not None for start in row.start):
        found["tokens"] = list(_tokens(row))
    if row.empty:
        found["empty"] = [node._asdict() for node in row.empty]
    if row.comments is not None:
        found["comments"] = list(row.comment_lines())
    return found


def _tokens(row: Row) -> Iterator[dict[str, Any]]:
    multiword = {token.first: token for token in row.multiword}
    m = 1
    while m <= len(row):
        token = multiword.get(m)
        last = m if token is None else token.last
        place = {"start": row.start[m - 1], "end": row.end[m - 1], "words": [m, last]}
        yield place if token is None else place | {"form": token.form, "misc": token.misc}
        m = last + 1


def read_objects(lines: Iterable[bytes], source: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a stream with a JSON object in each line, and the numbers of the lines; empty lines are
    skipped."""
    for line_number, line in enumerate(read_lines(lines, source), 1):
        if line_number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if not line.strip():
            continue
        try:
            yield line_number, from_object(json.loads(decode(line, name=source, line=line_number)))
        except json.JSONDecodeError as error:
            message = f"this is not JSON ({error.msg} at character {error.pos + 1}); give an object in each line"
            raise DataError(message, source=source, line=line_number) from None
        except (ValueError, RecursionError) as error:
            message = f"{error}; give sentences as 'easyfirst parse --to json' writes them"
            raise DataError(message, source=source, line=line_number) from None


def from_object(value: object) -> Row:
    """Return the row of an object. Raise a :class:`ValueError` if it is not the object of a sentence."""
    found = table(value, "a line")
    words = _list(found.get("words"), "words")
    if not words:
        raise ValueError("words must have at least one word")
    cells = [_word(word, m, len(words)) for m, word in enumerate(words, 1)]
    columns: dict[str, Any] = {name: tuple([cell[name] for cell in cells]) for name in _CELLS}
    texts = {name: _text(found, name) for name in _TEXTS}
    if texts["doc_id"] is None and "document" in found:
        texts["doc_id"] = str(whole_number(found["document"], "document", least=1))
    nothing = (None,) * len(cells)
    row = Row(**texts, start=nothing, end=nothing, **columns)
    if "comments" in found:
        row = replace(row, comments=shortened(row, list_of(str, found["comments"], "comments")))
    if "empty" in found:
        row = replace(row, empty=tuple(_node(node) for node in _list(found["empty"], "empty")))
    if "tokens" in found:
        has_misc = any("misc" in table(word, "a word") for word in words)
        row = _with_tokens(row, [_token(each) for each in _list(found["tokens"], "tokens")], has_misc=has_misc)
    for problem in problems_of(row):
        raise ValueError(problem.rpartition(";")[0])
    _check_characters(row)
    return row


def _check_characters(row: Row) -> None:
    """Raise a :class:`ValueError` for half of a surrogate pair, which JSON can escape but UTF-8 cannot hold."""
    cells = [value for name in _CELLS for value in getattr(row, name) if isinstance(value, str)]
    cells += [value for node in (*row.multiword, *row.empty) for value in node if isinstance(value, str)]
    cells += [value for value in (row.doc_id, row.sent_id, row.text, *(row.comments or ())) if value is not None]
    try:
        "".join(cells).encode()
    except UnicodeEncodeError as error:
        wrong = str(error.object[error.start : error.end])
        raise ValueError(f"{wrong!r} is half of a surrogate pair, and no character") from None


def _with_tokens(row: Row, tokens: list[dict[str, Any]], *, has_misc: bool) -> Row:
    """Add the positions of tokens, multiword tokens and, if MISC is not given, ``SpaceAfter=No``."""
    start, end, misc = list(row.start), list(row.end), list(row.misc)
    multiword: list[MultiwordToken] = []
    before = 0
    for n, token in enumerate(tokens):
        first, last = token["words"]
        if first <= before:
            raise ValueError(f"a token has the words {first} to {last} after one that ends with word {before}")
        before = last
        if not 1 <= first <= last <= len(row):
            raise ValueError(f"a token has the words {first} to {last} in a sentence of {count(len(row), 'word')}")
        places = slice(first - 1, last)
        start[places], end[places] = [token["start"]] * (last - first + 1), [token["end"]] * (last - first + 1)
        follows = n + 1 < len(tokens) and token["end"] is not None and tokens[n + 1]["start"] == token["end"]
        cell = "SpaceAfter=No" if follows and not has_misc else None
        if first == last and "form" not in token:
            misc[first - 1] = cell or misc[first - 1]
            continue
        form = token.get("form") or _slice(row, token, tokens[0]) or "".join(row.form[places])
        multiword.append(MultiwordToken(first, last, form, cell or token.get("misc")))
    return replace(row, start=tuple(start), end=tuple(end), misc=tuple(misc), multiword=tuple(multiword))


def _slice(row: Row, token: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """Return the form of a multiword token in the text of its sentence."""
    if row.text is None or token["start"] is None or first["start"] is None:
        return ""
    return " ".join(row.text[token["start"] - first["start"] : token["end"] - first["start"]].split())


def _word(value: object, m: int, n: int) -> dict[str, Any]:
    word, name = table(value, f"word {m}"), f"of word {m}"
    cells: dict[str, Any] = {}
    for column in _CELLS:
        cell = word.get(_name(column))
        if cell is None:
            cells[column] = None
        elif column == "head":
            cells[column] = whole_number(cell, f"head {name}")
            if cells[column] > n:
                raise ValueError(f"head {name} is {reprlib.repr(cell)} in a sentence of {count(n, 'word')}")
        elif column in PROBABILITIES:
            cells[column] = _probability(cell, f"{_name(column)} {name}")
        else:
            cells[column] = scalar(str, cell, f"{_name(column)} {name}")
    if cells["form"] is None:
        raise ValueError(f"word {m} has no form")
    return cells


def _token(value: object) -> dict[str, Any]:
    token = table(value, "a token")
    words = list_of(int, token.get("words"), "words of a token")
    if len(words) != 2:
        raise ValueError("words of a token must be the ids of the first and the last one")
    places = {name: _place(token.get(name), name) for name in ("start", "end")}
    return {**places, "words": words, **{name: _text(token, name) for name in ("form", "misc") if name in token}}


def _place(value: object, name: str) -> int | None:
    place = None if value is None else whole_number(value, f"{name} of a token")
    if place is not None and place >= MAX_PLACE:
        raise ValueError(f"{name} of a token must be less than {MAX_PLACE}, not {reprlib.repr(place)}")
    return place


def _probability(value: object, name: str) -> float:
    if type(value) not in (int, float) or not 0 <= cast(float, value) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {reprlib.repr(value)}")
    return float(cast(float, value))


def _node(value: object) -> EmptyNode:
    node = table(value, "an empty node")
    cells = {name: _text(node, name) for name in EmptyNode._fields}
    if cells["id"] is None or cells["form"] is None:
        raise ValueError("an empty node must have an id and a form")
    return EmptyNode(**cells)  # pyright: ignore[reportArgumentType]


def _text(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    return None if value is None else scalar(str, value, name)


def _list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list")
    return cast("list[object]", value)


def _name(column: str) -> str:
    return _NAMES.get(column, column)
