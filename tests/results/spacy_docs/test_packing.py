"""Documents as plain values: they come back equal, once and for all of their kinds."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import easyfirst
from easyfirst.errors import DataError
from easyfirst.parser import Parser, load
from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.results.spacy_docs.packing import KEY, pack, unpack
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.parsing.small_parsers import DATA, small_parser, tagged


def stored_fields(kind: Any) -> list[str]:
    """Return the fields of a class but those that belong to the process that made the record."""
    return [field.name for field in dataclasses.fields(kind) if field.metadata.get("stored", True)]


def deep(value: Any) -> Any:
    """Return all that a value holds, also what does not count for equality."""
    if dataclasses.is_dataclass(value):
        return type(value), [deep(getattr(value, name)) for name in stored_fields(type(value))]
    if isinstance(value, tuple):
        return type(value), [deep(each) for each in value]
    return (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value


def plain(value: Any) -> Iterator[type]:
    """Yield the types in a packed value."""
    if isinstance(value, list):
        for each in value:
            yield from plain(each)
    else:
        yield type(value)


@cache
def documents() -> dict[str, Document]:
    parser = small_parser()
    multiword = parser.parse(list(read_conllu(DATA / "multiword.conllu")))[0]
    known = easyfirst.Constraints.of(heads={1: 2}, relations={2: "root"}, forbidden=[(3, 1)], brackets=[(1, 2)])
    [constrained] = parser.parse([tagged(["the", "fox", "jumps"])], constraints=[known])
    fox = Sentence.from_words(["The", "fox", "jumps"], ["DET", "NOUN", "VERB"], ["DT", "NN", "VBZ"])
    [calibrated] = Parser(load("en").model).parse([fox.with_tags(feats=["Definite=Def", "Number=Sing", "Tense=Pres"])])
    return {
        "text": load("en")("The fox can't jump.\n\nIt is gonna try."),
        "empty": load("en")(" "),
        "file": Document.of_parse(multiword),
        "constraints": Document.of_parse(constrained),
        "calibrated": Document.of_parse(calibrated),
    }


@pytest.mark.parametrize("name", ["text", "empty", "file", "constraints", "calibrated"])
def test_round_trip(name: str) -> None:
    document = documents()[name]
    packed = pack(document)
    assert set(plain(packed[KEY])) <= {int, str, float, bool, bytes, np.ndarray, type(None)}
    assert deep(unpack(packed)) == deep(document)
    assert [parse.place for parse in unpack(packed)] == [parse.place for parse in document]


def test_shared_records_are_stored_once() -> None:
    document = load("en")("The fox jumps. It likes apples.")
    unpacked = unpack(pack(document))
    assert unpacked[0].calibration is unpacked[1].calibration
    assert all(parse.sentence is parse.tagged for parse in unpacked)
    [one, two] = (len(pickle.dumps(pack(load("en")(text)))) for text in ("It jumps.", "It jumps. It jumps."))
    assert two < 2 * one


def test_records_of_earlier_versions() -> None:
    """A field that was appended to a class has its default value."""
    [parse] = documents()["constraints"]
    packed = pack(documents()["constraints"])
    kind, text, sentences, tokens = packed[KEY]
    *fields, changes = sentences[1]
    assert changes == [0]
    assert len(fields) == len(stored_fields(Parse))
    [old] = unpack({KEY: [kind, text, [0, fields], tokens]})
    assert deep(old) == deep(parse)


@pytest.mark.parametrize(
    "packed",
    [
        {},
        {KEY: None},
        {KEY: [99]},
        {KEY: [1]},
        {KEY: [0]},
        {KEY: [-2, 5]},
        {KEY: []},
        {KEY: [1, 1, 2, 3, 4, 5]},
        {KEY: [1, "a", [0, 5], [0, [0]]]},
    ],
)
def test_other_values(packed: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="upgrade easyfirst"):
        unpack(packed)
