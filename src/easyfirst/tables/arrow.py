"""The schema of parsed corpora in Arrow, and conversion between rows and Arrow.

There are two forms: one row for each sentence, with lists, which is stored in Parquet, and one row for each word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from typing import Any

from easyfirst.errors import DataError
from easyfirst.tables.packages import pyarrow
from easyfirst.tables.rows import LISTS, PLACES, PROBABILITIES, EmptyNode, MultiwordToken, Row
from easyfirst.tables.words import STRINGS, WORD_COLUMNS, word_columns

VERSION = 1
"""The version of the schema. A file of a newer version cannot be read."""
VERSION_KEY = b"easyfirst.schema_version"
TRAILER_KEY = b"easyfirst.trailer"  # the bytes of CoNLL-U after the last sentence, if there are any


@cache
def sentence_schema() -> Any:
    """Return the ``pyarrow.Schema`` of one row for each sentence."""
    pa = pyarrow()
    element = {name: pa.string() for name in LISTS}
    element |= dict.fromkeys(PLACES, pa.int64()) | dict.fromkeys(PROBABILITIES, pa.float32()) | {"head": pa.int32()}
    token = pa.struct([("first", pa.int32()), ("last", pa.int32()), ("form", pa.string()), ("misc", pa.string())])
    node = pa.struct([(name, pa.string()) for name in EmptyNode._fields])
    types = {name: pa.string() for name in ("doc_id", "sent_id", "text")}
    types |= {name: _list(pa, element[name]) for name in LISTS}
    types |= {"multiword": _list(pa, token), "empty": _list(pa, node), "comments": _list(pa, pa.string())}
    types |= {"verbatim": pa.binary()}
    return pa.schema(list(types.items()), metadata={VERSION_KEY: str(VERSION).encode()})


@cache
def word_schema() -> Any:
    """Return the ``pyarrow.Schema`` of one row for each word."""
    pa = pyarrow()
    types = dict.fromkeys(WORD_COLUMNS, pa.int32()) | dict.fromkeys(STRINGS, pa.string())
    types |= dict.fromkeys(PLACES, pa.int64()) | dict.fromkeys(PROBABILITIES, pa.float32())
    return pa.schema(list(types.items()))


def sentence_table(rows: Iterable[Row]) -> Any:
    """Return a ``pyarrow.Table`` with one row for each sentence."""
    return pyarrow().Table.from_batches([sentence_batch(list(rows))])


def sentence_batch(rows: Sequence[Row]) -> Any:
    """Return a ``pyarrow.RecordBatch`` with one row for each sentence."""
    pa, schema = pyarrow(), sentence_schema()
    offsets = pa.array([0, *accumulate(map(len, rows))], pa.int32())
    arrays: list[Any] = []
    for field in schema:
        values = [getattr(row, field.name) for row in rows]
        if field.name in LISTS:
            flat = pa.array(list(chain.from_iterable(values)), field.type.value_type)
            arrays.append(pa.ListArray.from_arrays(offsets, flat, type=field.type))
        else:
            if field.name in ("multiword", "empty"):
                values = [[node._asdict() for node in nodes] for nodes in values]
            arrays.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def word_table(rows: Iterable[Row]) -> Any:
    """Return a ``pyarrow.Table`` with one row for each word."""
    return pyarrow().table(word_columns(rows), schema=word_schema())


def rows_of(batch: Any, *, source: str | None = None, first: int = 1) -> Iterator[Row]:
    """Yield the rows of a table or batch with one row for each sentence. Only ``form`` is needed; missing columns are
    empty. ``first`` is the number of the first row in its ``source``."""
    pa, schema = pyarrow(), sentence_schema()
    check_columns(batch.schema, source)
    names = [name for name in batch.schema.names if name in schema.names]
    columns = {name: _values(pa, batch.column(name), schema.field(name), source) for name in names}
    for number in range(batch.num_rows):
        yield _row({name: values[number] for name, values in columns.items()}, source, first + number)


def check_columns(schema: Any, source: str | None = None) -> None:
    """Raise a :class:`DataError` unless a schema is that of parsed corpora, in a version that can be read."""
    metadata: dict[bytes, bytes] = schema.metadata or {}
    version = metadata.get(VERSION_KEY, b"1").decode(errors="replace")
    if not version.isdecimal() or int(version) > VERSION:
        message = f"the table was written by a newer version of easyfirst (schema {version}, this one reads {VERSION})"
        raise DataError(f"{message}; upgrade easyfirst", source=source)
    if "form" in schema.names and not has_sentences(schema):
        kind = schema.field("form").type
        message = f"the column form is of type {kind}; make it a list of the words of each sentence"
        raise DataError(message, source=source)
    if not has_sentences(schema):
        names = ", ".join(schema.names) or "none"
        message = f"the table has no column form with the words of each sentence (its columns are: {names})"
        raise DataError(f"{message}; give a table of parsed sentences", source=source)


def has_sentences(schema: Any) -> bool:
    """Return whether a table has the words of sentences."""
    types = pyarrow().types
    return "form" in schema.names and _is_list(types, schema.field("form").type)


def is_text(kind: Any) -> bool:
    """Return whether a ``pyarrow.DataType`` is one of texts, also of those that are stored as categories."""
    types = pyarrow().types
    value = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(value) or types.is_large_string(value) or types.is_string_view(value)


def _list(pa: Any, element: Any) -> Any:
    return pa.list_(pa.field("element", element))  # named as in Parquet


def _is_list(types: Any, of: Any) -> bool:
    return types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of) or _is_view(of)


def _is_view(of: Any) -> bool:
    return str(of).startswith(("list_view<", "large_list_view<"))  # older versions of PyArrow have no such types


def _values(pa: Any, column: Any, field: Any, source: str | None) -> list[Any]:
    """Return the values of a column, one for each row."""
    try:
        if _is_view(column.type):  # some versions of PyArrow cast a view to an empty list
            return pa.array(column.to_pylist(), field.type).to_pylist()
        return column.cast(field.type).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        message = f"the column {field.name} is of type {column.type}; make it {field.type}"
        raise DataError(message, source=source) from None


def _row(values: Mapping[str, Any], source: str | None, number: int) -> Row:
    """Make a row of plain values, in which columns may be missing or None."""
    forms = values["form"]
    if not forms or None in forms:
        what = "form is empty" if not forms else "form has a null in it"
        raise DataError(f"{what}, but a sentence needs its words; correct it", source=source, line=number)
    nothing = (None,) * len(forms)
    lists: dict[str, Any] = {name: tuple(found) if (found := values.get(name)) else nothing for name in LISTS}
    comments = values.get("comments")
    return Row(
        **{name: values.get(name) for name in ("doc_id", "sent_id", "text", "verbatim")},
        **lists,
        multiword=tuple(MultiwordToken(**token) for token in values.get("multiword") or ()),
        empty=tuple(EmptyNode(**node) for node in values.get("empty") or ()),
        comments=None if comments is None else tuple(comments),
    )
