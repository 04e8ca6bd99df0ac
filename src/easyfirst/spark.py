"""Parsing with Spark: texts in a data frame become a data frame of sentences, on all machines of a cluster.

>>> import easyfirst
>>> texts = spark.read.parquet("texts")  # doctest: +SKIP
>>> easyfirst.spark.parse(texts, "text").write.parquet("parsed")  # doctest: +SKIP

It needs the extra ``spark`` and Java 17.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from threading import Lock
from typing import Any

from easyfirst.batches import ID, Columns, Options, own_schema, parse_batch
from easyfirst.errors import InputError
from easyfirst.parser import Parser, load
from easyfirst.reopening import Fingerprint, checked_place, fingerprint_of
from easyfirst.tables.packages import require

MISSING = "Spark is missing"


def parse(
    frame: Any,
    column: str = "text",
    *,
    model: str | PathLike[str] | Parser = "en",
    id_column: str | None = None,
    keep: Sequence[str] = (),
    batch_size: int = 256,
    one_sentence: bool = False,
) -> Any:
    """Parse the texts in a column of a ``pyspark.sql.DataFrame``, and return a data frame with a row for each sentence.

    The result has the columns of ``easyfirst parse --to parquet``: ``doc_id``, ``sent_id``, ``text``, ``form``,
    ``head``, ``deprel`` and so on. Spark computes it when it is used, for example by ``write.parquet``.

    - ``model`` is a name or a path, which must exist on every machine, or a :class:`Parser`. One from ``load`` is sent
      as the name or path of its model, and one that exists only in memory with its weights. Each of Spark's Python
      workers loads it once.
    - ``id_column`` has the ids of the texts, which become ``doc_id``. By default, texts get ids that sort in the order
      of the data frame. Sort by ``doc_id`` and ``sentence``, the number of a sentence in its text, to restore it.
    - ``keep`` names columns of the data frame that each sentence gets from its text.
    - ``batch_size`` and ``one_sentence`` as for :meth:`Parser.read`.

    Spark runs as many workers as it has cores, each with one thread. If a worker or a machine dies, Spark repeats what
    it was doing. Texts that are null or empty have no sentences. Raise an :class:`easyfirst.errors.InputError` for
    arguments that cannot be used, and a :class:`easyfirst.errors.ModelError` if there is no such model.
    """
    functions = require("pyspark.sql.functions", MISSING, "spark")
    types, from_arrow = (require(f"pyspark.sql.{name}types", MISSING, "spark") for name in ("", "pandas."))
    if not hasattr(frame, "mapInArrow"):
        raise InputError(f"the data frame is of type {type(frame).__name__}; give a pyspark.sql.DataFrame")
    columns = Columns(column, ID if id_column is None else id_column, tuple(keep))
    columns.check([*frame.columns, ID])
    needed = list(dict.fromkeys([column, *(() if id_column is None else (id_column,)), *keep]))
    for name in needed:
        if "." in name or "`" in name:
            raise InputError(f"the column {name} has a name that Spark cannot pass to Python; rename it")
    given = frame.select(*needed)
    if id_column is None:
        given = given.withColumn(ID, functions.monotonically_increasing_id())
    own = from_arrow.from_arrow_schema(own_schema()).fields
    result = types.StructType([*own, *(given.schema[name] for name in keep)])
    worker = _Worker(_shipped(model), columns, Options(batch_size, 1, one_sentence))
    return given.mapInArrow(worker, result)


@dataclass(frozen=True, slots=True)
class _Shipped:
    """What is sent to a worker to load a model: its name, or a pickled parser."""

    name: str  # of a pickled parser, the digest of its bytes
    content: bytes | None = None

    def load(self) -> Parser:
        return load(self.name) if self.content is None else pickle.loads(self.content)


def _shipped(model: str | PathLike[str] | Parser) -> _Shipped:
    if not isinstance(model, Parser):
        return _Shipped(checked_place(model))
    content = pickle.dumps(model)
    return _Shipped(hashlib.sha256(content).hexdigest(), content)


@dataclass(frozen=True, slots=True)
class _Worker:
    """The function that Spark calls with the batches of a part of the data."""

    model: _Shipped
    columns: Columns
    options: Options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        parser = _loaded(self.model)
        for batch in batches:
            yield from parse_batch(parser, batch, self.columns, self.options)


_parsers: dict[tuple[str, Fingerprint], Parser] = {}  # the last one that this process has loaded
_lock = Lock()


def _loaded(model: _Shipped) -> Parser:
    """Return the parser of a process, which Spark uses for one part of the data after the other. A model that has
    changed on disk is loaded again."""
    key = model.name, fingerprint_of(model.name) if model.content is None else ()
    with _lock:
        if key not in _parsers:
            _parsers.clear()
            _parsers[key] = model.load()
        return _parsers[key]
