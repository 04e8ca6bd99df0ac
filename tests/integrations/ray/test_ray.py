"""Parsing with Ray Data on real local clusters, of one raylet and of two, with workers that are killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import easyfirst  # noqa: E402
from easyfirst import ray as module  # noqa: E402
from easyfirst.errors import InputError, ModelError  # noqa: E402
from tests.integrations.corpora import expected, named, save_text_model, texts, without_ids  # noqa: E402
from tests.patience import wait_until  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

START: dict[str, Any] = {"include_dashboard": False, "logging_level": "ERROR", "log_to_driver": False}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_text_model(tmp_path_factory.mktemp("models") / "text")


@pytest.fixture(scope="module", params=["one raylet", "two raylets"])
def cluster(request: pytest.FixtureRequest) -> Iterator[str]:
    """A cluster with two CPUs."""
    made = None
    if request.param == "one raylet":
        ray.init(address="local", num_cpus=2, **START)
    else:
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        made.add_node(num_cpus=1)
        made.wait_for_nodes()
        ray.init(address=made.address, **{**START, "include_dashboard": None})
    yield request.param
    ray.shutdown()
    if made is not None:
        made.shutdown()


def in_order(dataset: Any) -> list[dict[str, Any]]:
    return dataset.sort(["doc_id", "sentence"]).take_all()


def workers() -> dict[int, int]:
    """Return the processes of this test's actors, and the raylet of each."""
    found: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            command = path.read_bytes()
            pid, parent = int(path.parent.name), _parent(int(path.parent.name))
            if command.startswith(b"ray::MapWorker") and _parent(parent) == os.getpid():
                found[pid] = parent
    return found


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def test_the_bundled_model(cluster: str) -> None:
    given = named(texts(60))
    dataset = ray.data.from_items([{"id": name, "text": text} for name, text in given.items()], override_num_blocks=4)
    found = easyfirst.ray.parse(dataset, id_column="id", concurrency=(1, 2))
    assert in_order(found) == expected("en", given)


@pytest.mark.parametrize("options", [{}, {"concurrency": 1}, {"concurrency": (1, 2)}])
def test_text_files(cluster: str, model: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    """Ray reads a row for each line that is not empty."""
    lines = [text.replace("\n", " ") for text in texts(50) if text]
    for number in range(3):
        part = lines[number * 20 : number * 20 + 20]
        (tmp_path / f"{number}.txt").write_text("\n".join(part) + "\n", encoding="utf-8")
    found = easyfirst.ray.parse(ray.data.read_text(str(tmp_path)), model=model, texts_at_once=8, **options)
    rows = in_order(found)
    assert without_ids(rows) == without_ids(expected(model, named(lines)))
    assert [row["sent_id"] for row in rows] == [f"{row['doc_id']}-{row['sentence']}" for row in rows]
    assert len({row["sent_id"] for row in rows}) == len(rows)


def test_threads(cluster: str, model: Path) -> None:
    if cluster == "two raylets":
        pytest.skip("no raylet has two CPUs")
    given = named(texts(20))
    dataset = ray.data.from_items([{"id": name, "text": text} for name, text in given.items()])
    with pytest.warns(RuntimeWarning, match="threads=2 take all 2 CPUs of the cluster"):
        found = easyfirst.ray.parse(dataset, id_column="id", model=model, threads=2)
    assert in_order(found.materialize()) == expected(model, given)


def test_json_lines_to_parquet(cluster: str, model: Path, tmp_path: Path) -> None:
    given = texts(50)
    records = [{"url": f"u{n}", "body": text, "year": 1990 + n} for n, text in enumerate(given)]
    records += [{"url": "none", "body": None, "year": 2100}]
    content = "\n".join(json.dumps(record) for record in records)
    (tmp_path / "in.jsonl").write_text(content, encoding="utf-8")
    dataset = ray.data.read_json(str(tmp_path / "in.jsonl"))
    found = easyfirst.ray.parse(dataset, "body", id_column="url", keep=["year"], model=model)
    found.write_parquet(str(tmp_path / "out"))
    wanted = expected(model, {f"u{n}": text for n, text in enumerate(given)})
    wanted = [row | {"year": 1990 + int(row["doc_id"].removeprefix("u"))} for row in wanted]
    table = pq.read_table(tmp_path / "out").sort_by([("year", "ascending"), ("sentence", "ascending")])
    assert table.to_pylist() == wanted
    read = {sentence.metadata["sent_id"]: sentence for sentence in easyfirst.read_parquet(tmp_path / "out")}
    for number, document in enumerate(easyfirst.load(model).read(given)):
        sentences = [read[f"u{number}-{k}"].to_bytes() for k in range(1, len(document) + 1)]
        assert b"".join(sentences).decode() == document.to_conllu(name=f"u{number}")


def test_parquet_and_a_parser_that_is_sent(cluster: str, model: Path, tmp_path: Path) -> None:
    given = named(texts(30))
    table = pa.table({"id": list(given), "text": list(given.values())})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=4)
    parser = easyfirst.load(model)
    dataset = ray.data.read_parquet(str(tmp_path / "in.parquet"))
    found = easyfirst.ray.parse(dataset, id_column="id", model=parser, one_sentence=True)
    assert in_order(found) == expected(model, given, one_sentence=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_two_actors_are_on_two_raylets(cluster: str, model: Path) -> None:
    dataset = ray.data.from_items([{"text": text} for text in texts(600)], override_num_blocks=60)
    found = iter(easyfirst.ray.parse(dataset, model=model, concurrency=(2, 2)).iter_batches(batch_size=None))
    next(found)
    wait_until(lambda: len(workers()) == 2)
    assert len(set(workers().values())) == (2 if cluster == "two raylets" else 1)
    assert list(found)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_killed_worker_loses_and_doubles_nothing(cluster: str, model: Path) -> None:
    """Kill the actors again and again while results arrive."""
    given = named(texts(1500, words=60))
    items = [{"id": name, "text": text} for name, text in given.items()]
    dataset = ray.data.from_items(items, override_num_blocks=50)
    result = easyfirst.ray.parse(dataset, id_column="id", model=model, concurrency=(2, 2), texts_at_once=10)
    rows: list[dict[str, Any]] = []
    killed: set[int] = set()
    for number, batch in enumerate(result.iter_batches(batch_size=None, batch_format="pyarrow")):
        rows += batch.to_pylist()
        if number in (0, 3, 9):
            for pid in workers():
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
    assert len(killed) >= 2
    rows.sort(key=lambda row: (row["doc_id"], row["sentence"]))
    assert rows == expected(model, given)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_texts_without_ids_keep_their_numbers_if_a_worker_is_killed(cluster: str, model: Path) -> None:
    given = texts(600, words=60)
    dataset = ray.data.from_items([{"text": text} for text in given], override_num_blocks=30)
    result = easyfirst.ray.parse(dataset, model=model, concurrency=1, texts_at_once=10)
    rows: list[dict[str, Any]] = []
    killed: set[int] = set()
    for number, batch in enumerate(result.iter_batches(batch_size=None, batch_format="pyarrow")):
        rows += batch.to_pylist()
        if number in (0, 3):
            for pid in workers():
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
    assert killed
    rows.sort(key=lambda row: (row["doc_id"], row["sentence"]))
    assert without_ids(rows) == without_ids(expected(model, named(given)))
    assert len({row["sent_id"] for row in rows}) == len(rows)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_files_are_whole_if_a_worker_is_killed(cluster: str, model: Path, tmp_path: Path) -> None:
    given = named(texts(600, words=60))
    items = [{"id": name, "text": text} for name, text in given.items()]
    dataset = ray.data.from_items(items, override_num_blocks=30)
    result = easyfirst.ray.parse(dataset, id_column="id", model=model, concurrency=1, texts_at_once=10)

    import threading

    killed: list[int] = []

    def kill() -> None:
        wait_until(lambda: list((tmp_path / "out").glob("*.parquet")) or has_ended)
        for pid in workers():
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    has_ended: list[bool] = []
    thread = threading.Thread(target=kill)
    thread.start()
    result.write_parquet(str(tmp_path / "out"))
    has_ended.append(True)
    thread.join()
    table = pq.read_table(tmp_path / "out").sort_by([("doc_id", "ascending"), ("sentence", "ascending")])
    assert table.to_pylist() == expected(model, given)
    assert killed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": "body"}, "there is no column body; the columns are: id, text"),
        ({"id_column": "name"}, "there is no column name"),
        ({"keep": ["url"]}, "there is no column url"),
        ({"keep": ["text"]}, "cannot be kept"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"concurrency": (3, 2)}, "concurrency is"),
        ({"threads": 0}, "threads is 0"),
        ({"texts_at_once": 0}, "texts_at_once is 0"),
    ],
)
def test_arguments_that_cannot_be_used(cluster: str, arguments: dict[str, Any], message: str) -> None:
    dataset = ray.data.from_arrow(pa.table({"id": ["a"], "text": ["Yes."]}))
    with pytest.raises(InputError, match=message):
        easyfirst.ray.parse(dataset, **arguments)
    with pytest.raises(InputError, match=r"give a ray\.data\.Dataset"):
        easyfirst.ray.parse(["Yes."])
    with pytest.raises(ModelError, match="there is no model no-such"):
        easyfirst.ray.parse(dataset, model="no-such")


def test_concurrency_is_that_of_ray() -> None:
    assert [module._n_actors(given) for given in (4, (1, 4), None)] == [(4, 4), (1, 4), (1, None)]


def test_a_relative_path(cluster: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    dataset = ray.data.from_items([{"text": "Yes."}])
    assert len(easyfirst.ray.parse(dataset, model=f"./{model.name}").take_all()) == 1


def test_an_error_in_a_worker_names_the_column(cluster: str, model: Path) -> None:
    dataset = ray.data.from_items([{"id": 1, "text": 7}])
    with pytest.raises(Exception, match="the column text is of type int64; it must be a column of texts"):
        easyfirst.ray.parse(dataset, model=model).take_all()
