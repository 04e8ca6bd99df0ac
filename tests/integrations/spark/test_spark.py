"""Parsing with Spark, on a real session with two Python workers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pyspark = pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.sql import SparkSession  # noqa: E402

import easyfirst  # noqa: E402
from easyfirst import spark as module  # noqa: E402
from easyfirst.errors import InputError, ModelError  # noqa: E402
from tests.integrations.corpora import expected, named, save_text_model, texts, without_ids  # noqa: E402
from tests.patience import wait_until  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_text_model(tmp_path_factory.mktemp("models") / "text")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.task.maxFailures": "4",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    }
    builder = SparkSession.builder.master("local[2, 4]").appName("easyfirst")  # two cores, four attempts
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def in_order(frame: Any) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.sort("doc_id", "sentence").collect()]


def test_the_bundled_model(session: Any) -> None:
    given = named(texts(40))
    frame = session.createDataFrame(list(given.items()), ["id", "text"]).repartition(3)
    assert in_order(easyfirst.spark.parse(frame, "text", id_column="id")) == expected("en", given)


def test_ids_keep_the_order(session: Any, model: Path) -> None:
    given = texts(60)
    frame = session.createDataFrame([(text,) for text in given], ["text"]).coalesce(2)
    rows = in_order(easyfirst.spark.parse(frame, model=model))
    assert without_ids(rows) == without_ids(expected(model, named(given)))
    assert len({row["sent_id"] for row in rows}) == len(rows)


def test_kept_columns_nulls_and_parquet(session: Any, model: Path, tmp_path: Path) -> None:
    given = texts(30)
    records: list[tuple[Any, ...]] = [(n, text, [float(n)], {"k": n}) for n, text in enumerate(given)]
    records += [(99, None, None, None)]
    frame = session.createDataFrame(records, "n long, body string, scores array<double>, facts map<string, int>")
    found = easyfirst.spark.parse(frame, "body", id_column="n", keep=["n", "scores", "facts"], model=model)
    found.write.parquet(str(tmp_path / "out"))
    wanted = expected(model, {str(n): text for n, text in enumerate(given)})
    numbers = [int(row["doc_id"]) for row in wanted]
    wanted = [row | {"n": n, "scores": [n], "facts": {"k": n}} for n, row in zip(numbers, wanted, strict=True)]
    rows = session.read.parquet(str(tmp_path / "out")).sort("n", "sentence").collect()
    assert [row.asDict(recursive=True) for row in rows] == wanted
    read = {sentence.metadata["sent_id"]: sentence for sentence in easyfirst.read_parquet(tmp_path / "out")}
    for number, document in enumerate(easyfirst.load(model).read(given)):
        sentences = [read[f"{number}-{k}"].to_bytes() for k in range(1, len(document) + 1)]
        assert b"".join(sentences).decode() == document.to_conllu(name=f"{number}")


def test_json_lines_and_text_files(session: Any, model: Path, tmp_path: Path) -> None:
    lines = [text.replace("\n", " ") for text in texts(20) if text]
    (tmp_path / "in.txt").write_text("\n".join(lines), encoding="utf-8")
    rows = in_order(easyfirst.spark.parse(session.read.text(str(tmp_path / "in.txt")), "value", model=model))
    assert without_ids(rows) == without_ids(expected(model, named(lines)))
    records = (json.dumps({"body": line}) for line in lines)
    (tmp_path / "in.jsonl").write_text("\n".join(records), encoding="utf-8")
    assert rows == in_order(easyfirst.spark.parse(session.read.json(str(tmp_path / "in.jsonl")), "body", model=model))


def test_a_parser_that_is_sent(session: Any, model: Path) -> None:
    given = named(texts(12))
    frame = session.createDataFrame(list(given.items()), ["id", "text"])
    found = easyfirst.spark.parse(frame, id_column="id", model=easyfirst.load(model), one_sentence=True)
    assert in_order(found) == expected(model, given, one_sentence=True)


def test_columns_of_any_type_are_kept(session: Any, model: Path) -> None:
    """Arrow has no type for a time in the time zone of the session."""
    frame = session.sql(
        "select 'Yes. No.' text, timestamp'2026-02-03 04:05:06' ts, timestamp_ntz'2026-02-03 04:05:06' ntz,"
        " date'2026-02-03' day, 1.50 price, map('a', array(1)) nested, named_struct('x', 'y') inner"
    )
    names = ["ts", "ntz", "day", "price", "nested", "inner"]
    parsed = easyfirst.spark.parse(frame, model=model, keep=names, id_column="ts")
    assert [parsed.schema[name].dataType for name in names] == [frame.schema[name].dataType for name in names]
    [given] = frame.collect()
    for row in parsed.collect():
        assert [row[name] for name in names] == [given[name] for name in names]
        assert row.doc_id.startswith("2026-02-03 0")


def test_a_relative_path_and_a_model_that_does_not_exist(
    session: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = session.createDataFrame([("Yes.",)], ["text"])
    monkeypatch.chdir(model.parent)
    assert easyfirst.spark.parse(frame, model=f"./{model.name}").count() == 1
    with pytest.raises(ModelError, match="there is no model"):
        easyfirst.spark.parse(frame, model="./no-such")


def test_a_model_that_has_changed_is_loaded_again(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_parsers", {})
    shutil.copytree(model, tmp_path / "model")
    shipped = module._shipped(tmp_path / "model")
    first = module._loaded(shipped)
    assert module._loaded(shipped) is first
    os.utime(tmp_path / "model" / "tagger" / "weights.safetensors", (1, 1))
    assert module._loaded(shipped) is not first


def test_a_process_loads_a_model_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    load = module.load
    monkeypatch.setattr(module, "load", lambda name: loads.append(name) or load(name))  # type: ignore[func-returns-value]
    monkeypatch.setattr(module, "_parsers", {})
    shipped = module._shipped(model)
    assert module._loaded(shipped) is module._loaded(module._shipped(str(model)))
    assert loads == [str(model)]
    sent = module._shipped(load(model))
    assert module._loaded(sent) is module._loaded(module._shipped(load(model)))
    assert loads == [str(model)]
    module._loaded(shipped)
    assert loads == [str(model)] * 2  # only the last one is kept


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_killed_worker_loses_and_doubles_nothing(session: Any, model: Path) -> None:
    """Spark starts the task again. Workers are processes that Spark's own Python process has forked."""
    given = named(texts(1200, words=60))
    frame = session.createDataFrame(list(given.items()), ["id", "text"]).repartition(12, "id")
    parsed = easyfirst.spark.parse(frame, id_column="id", model=model)
    killed: list[int] = []
    tracker = session.sparkContext.statusTracker()

    def n_done() -> int:
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        return sum(stage.numCompletedTasks for stage in stages if stage is not None and stage.numTasks == 12)

    def kill() -> None:
        wait_until(lambda: n_done() >= 1 or has_ended)
        for pid in _python_workers():
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    has_ended: list[bool] = []
    thread = threading.Thread(target=kill)
    thread.start()
    rows = [row.asDict(recursive=True) for row in parsed.collect()]
    has_ended.append(True)
    thread.join()
    assert killed
    rows.sort(key=lambda row: (row["doc_id"], row["sentence"]))
    assert rows == expected(model, given)


def _python_workers() -> list[int]:
    """Return the processes that a Python process below this one has forked, by their command and their ancestors."""
    parents: dict[int, int] = {}
    daemons: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            pid = int(path.parent.name)
            parents[pid] = int(path.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            if b"pyspark.daemon" in (path.parent / "cmdline").read_bytes():
                daemons.add(pid)

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [pid for pid in daemons if parents[pid] in daemons and is_ours(pid)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "body"}, "there is no column body; the columns are: id, text, dotted.name"),
        ({"id_column": "name"}, "there is no column name"),
        ({"keep": ["url"]}, "there is no column url"),
        ({"keep": ["dotted.name"]}, r"the column dotted.name has a name that Spark cannot pass to Python"),
        ({"keep": ["text"]}, "cannot be kept"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_arguments_that_cannot_be_used(session: Any, arguments: dict[str, Any], message: str) -> None:
    frame = session.createDataFrame([("a", "Yes.", 1)], ["id", "text", "dotted.name"])
    with pytest.raises(InputError, match=message):
        easyfirst.spark.parse(frame, **arguments)
    with pytest.raises(InputError, match="give a pyspark"):
        easyfirst.spark.parse(["Yes."])


def test_an_error_in_a_worker_names_the_column(session: Any, model: Path) -> None:
    frame = session.createDataFrame([(1, 7)], ["id", "text"])
    with pytest.raises(Exception, match="the column text is of type int64; it must be a column of texts"):
        easyfirst.spark.parse(frame, model=model).collect()
