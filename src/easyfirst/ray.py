"""Parsing with Ray Data: texts in a dataset become a dataset of sentences, on all machines of a cluster.

>>> import easyfirst, ray
>>> texts = ray.data.read_parquet("texts")  # doctest: +SKIP
>>> easyfirst.ray.parse(texts, column="text").write_parquet("parsed")  # doctest: +SKIP

It needs the extra ``ray``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from easyfirst.batches import ID, Columns, Options, empty_result, parse_batch
from easyfirst.errors import InputError
from easyfirst.tables.packages import pyarrow, require

if TYPE_CHECKING:
    from easyfirst.parser import Parser

MISSING = "Ray is missing"
TEXTS_AT_ONCE = 256
"""The default of ``texts_at_once``."""


def parse(
    dataset: Any,
    column: str = "text",
    *,
    model: str | PathLike[str] | Parser = "en",
    id_column: str | None = None,
    keep: Sequence[str] = (),
    concurrency: int | tuple[int, int] | None = None,
    threads: int = 1,
    texts_at_once: int = TEXTS_AT_ONCE,
    batch_size: int = 256,
    one_sentence: bool = False,
) -> Any:
    """Parse the texts in a column of a ``ray.data.Dataset``, and return a dataset with a row for each sentence.

    The result has the columns of ``easyfirst parse --to parquet``: ``doc_id``, ``sent_id``, ``text``, ``form``,
    ``head``, ``deprel`` and so on. Ray computes it when it is used, for example by ``write_parquet``.

    - ``model`` is a name or a path, which must exist on every machine, or a :class:`Parser`. One from ``load`` is sent
      as the name or path of its model, and one that exists only in memory with its weights.
    - ``id_column`` has the ids of the texts, which become ``doc_id``. By default, texts get ids that sort in the order
      in which they arrive, which is that of the dataset if all stages before keep it. Rows may come in any order; sort
      by ``doc_id`` and ``sentence``, the number of a sentence in its text, to restore it.
    - ``keep`` names columns of the dataset that each sentence gets from its text.
    - ``concurrency`` is the number of actors, or the smallest and the largest number. Each loads the model once. The
      default is as many as the cluster has CPUs for.
    - ``threads`` is the number of threads, and of Ray's CPUs, for each actor. The smallest number of actors should
      leave CPUs for reading and writing; if they take all CPUs that the cluster has now, there is a warning.
    - ``texts_at_once`` texts are sent to an actor at a time. ``batch_size`` and ``one_sentence`` as for
      :meth:`Parser.read`.

    If a worker or a machine dies, Ray repeats what it was doing, and no sentence is lost or comes twice. Texts that are
    null or empty have no sentences. Raise an :class:`easyfirst.errors.InputError` for arguments that cannot be used,
    and a :class:`easyfirst.errors.ModelError` if there is no such model.
    """
    from easyfirst.parser import Parser
    from easyfirst.reopening import checked_place

    data = require("ray.data", MISSING, "ray")
    if not isinstance(dataset, data.Dataset):
        raise InputError(f"the dataset is of type {type(dataset).__name__}; give a ray.data.Dataset")
    if texts_at_once < 1:
        raise InputError(f"texts_at_once is {texts_at_once}; it must be at least 1")
    columns = Columns(column, ID if id_column is None else id_column, tuple(keep))
    options = Options(batch_size, threads, one_sentence)
    shipped = model if isinstance(model, Parser) else checked_place(model)
    smallest, largest = _n_actors(concurrency)
    _check_resources(smallest, threads)
    if (names := dataset.columns(fetch_if_missing=False)) is not None:
        columns.check([*names, ID])
    if id_column is None:
        expressions = require("ray.data.expressions", MISSING, "ray")
        dataset = dataset.with_column(ID, expressions.monotonically_increasing_id())
    return dataset.map_batches(
        _Actor,
        fn_constructor_kwargs={"model": shipped, "columns": columns, "options": options},
        batch_format="pyarrow",
        batch_size=texts_at_once,
        compute=data.ActorPoolStrategy(min_size=smallest, max_size=largest),
        num_cpus=threads,
    )


class _Actor:
    """A worker of Ray that has loaded the model."""

    def __init__(self, model: str | Parser, columns: Columns, options: Options) -> None:
        from easyfirst.parser import Parser, load

        self._parser = model if isinstance(model, Parser) else load(model)
        self._columns, self._options = columns, options

    def __call__(self, texts: Any) -> Iterator[Any]:
        """Parse a table of texts, and yield tables of sentences."""
        table, has_sentences = pyarrow().Table, False
        for batch in parse_batch(self._parser, texts, self._columns, self._options):
            has_sentences = True
            yield table.from_batches([batch])
        if not has_sentences:
            yield table.from_batches([empty_result(texts, self._columns)])


def _n_actors(concurrency: int | tuple[int, int] | None) -> tuple[int, int | None]:
    """Return the smallest and the largest number of actors; None is no limit."""
    if concurrency is None:
        return 1, None
    smallest, largest = concurrency if isinstance(concurrency, tuple) else (concurrency, concurrency)
    if not 1 <= smallest <= largest:
        raise InputError(f"concurrency is {concurrency}; give the number of actors, or the smallest and the largest")
    return smallest, largest


def _check_resources(n_actors: int, threads: int) -> None:
    """Warn if actors leave no CPU for Ray's own tasks, which would wait for one forever."""
    ray = require("ray", MISSING, "ray")
    available = ray.cluster_resources().get("CPU", 0) if ray.is_initialized() else 0
    if available and n_actors * threads >= available:
        warnings.warn(
            f"{n_actors} actors with threads={threads} take all {available:g} CPUs of the cluster, and Ray waits for "
            "others to read and write data; give fewer threads or a smaller concurrency, such as (1, "
            f"{max(n_actors, 2)})",
            RuntimeWarning,
            stacklevel=3,
        )
