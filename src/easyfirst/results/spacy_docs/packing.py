"""Documents as plain values that msgpack can hold, so that a spaCy Doc with a document can be stored and sent.

A tuple becomes a list that starts with 0, and a record of one of these classes a list that starts with the number of
its class and has its fields. A record that occurs more than once, such as the calibration of all parses, is stored
once. Unpacking makes records of these classes only, so data from elsewhere cannot run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from easyfirst.confidence.calibration import BeamCalibration, Calibration, FittedOn, Logistic, Scales
from easyfirst.constraints.records import Bracket, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.errors import DataError
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.validity import Change
from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.results.rankings import Ranking
from easyfirst.treebank.lifting import Mark
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Lines, Sentence, SurfaceToken

KEY = "easyfirst.Document"
TUPLE, RANGE, REFERENCE = 0, -1, -2
# The numbers of classes are in stored documents: append new ones, and new fields to classes, with a default value.
_CLASSES: tuple[Any, ...] = (
    *(Document, Token, Parse, Sentence, SurfaceToken, Lines, Derivation, Mark, Change),
    *(Calibration, Scales, Logistic, FittedOn),
    *(Constraints, FixedHead, FixedRelation, ForbiddenArc, Bracket),
    *(Ranking, BeamCalibration),
)
_NUMBERS: dict[Any, int] = {each: number for number, each in enumerate(_CLASSES, 1)}
_FIELDS: dict[Any, tuple[str, ...]] = {
    each: each._fields
    if hasattr(each, "_fields")
    else tuple(field.name for field in fields(each) if field.metadata.get("stored", True))
    for each in _CLASSES
}


def pack(document: Document) -> dict[str, Any]:
    """Return a document as a dict of plain values and NumPy arrays."""
    return {KEY: _Packer().pack(document)}


def unpack(packed: Mapping[str, Any]) -> Document:
    """Undo :func:`pack`. Raise a :class:`DataError` if the values are not those of a document."""
    try:
        document = _Unpacker().unpack(packed[KEY])
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        document = None
    if not isinstance(document, Document):
        raise DataError("doc._.easyfirst is not a document, or one of a newer version; upgrade easyfirst")
    return document


class _Packer:
    def __init__(self) -> None:
        self._seen: dict[int, int] = {}  # from the identity of a record to its position among all records

    def pack(self, value: Any) -> Any:
        kind = cast("Any", type(value))
        if (number := _NUMBERS.get(kind)) is not None:
            if (position := self._seen.get(id(value))) is not None:
                return [REFERENCE, position]
            self._seen[id(value)] = len(self._seen)
            return [number, *[self.pack(getattr(value, name)) for name in _FIELDS[kind]]]
        if isinstance(value, tuple):
            return [TUPLE, *map(self.pack, cast("tuple[Any, ...]", value))]
        return [RANGE, value.start, value.stop] if isinstance(value, range) else value


class _Unpacker:
    def __init__(self) -> None:
        self._seen: list[Any] = []

    def unpack(self, value: Any) -> Any:
        if not isinstance(value, list | tuple):  # the latter if msgpack was asked for tuples
            return value
        kind, *values = cast("list[Any]", value)
        if kind == TUPLE:
            return tuple(map(self.unpack, values))
        if kind == RANGE:
            return range(*values)
        if kind == REFERENCE:
            return self._seen[values[0]]
        made = _CLASSES[kind - 1]
        position = len(self._seen)
        self._seen.append(None)
        names = _FIELDS[made][: len(values)]  # a record of an earlier version may have fewer
        record = made(**dict(zip(names, map(self.unpack, values), strict=True)))
        self._seen[position] = record
        return record
