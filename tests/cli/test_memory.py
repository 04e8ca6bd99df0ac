"""Inputs, models and settings that are too large for the memory: an error, before anything is allocated."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model import memory
from easyfirst.model.embeddings import Embeddings, read_embeddings, write_embeddings
from easyfirst.model.settings import build_settings
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.parser import load
from easyfirst.treebank import streams
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.streams import read_lines
from tests.cli.tiny_training import FOX, TRAIN
from tests.commands import Run
from tests.patience import PATIENCE

LIMIT = 1 << 30  # of the address space, in bytes
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from easyfirst.cli import main
sys.argv[0] = "easyfirst"
main()
"""


def run_limited(*arguments: str | Path) -> str:
    """Run a command that may not use much memory; return its one-line error."""
    command = [sys.executable, "-c", LIMITED.format(limit=LIMIT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, text=True)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    [error] = [line for line in done.stderr.splitlines() if not line.startswith(("reading ", "warning: "))]
    return error.removeprefix("error: ")


@pytest.fixture
def copy(text_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(text_model, tmp_path / "m"))


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory on Windows")
class TestLimited:
    def test_a_gzip_file_of_one_endless_line(self, text_model: Path, tmp_path: Path) -> None:
        with gzip.open(tmp_path / "x.txt.gz", "wb", compresslevel=1) as stream:
            for _ in range(2 * streams.MAX_LINE >> 20):
                stream.write(b"a" * (1 << 20))
        for form in ("tokens", "lines", "text", "conllu"):
            error = run_limited("parse", "-m", text_model, "--from", form, tmp_path / "x.txt.gz")
            assert error.startswith(f"{tmp_path / 'x.txt.gz'}:1: this line has more than 67,108,864 bytes; ")

    @pytest.mark.parametrize("name", ["vocab.json", "config.json", "README.md", "tagger/vocab.json"])
    def test_a_file_of_a_model_with_five_gigabytes_of_nothing(self, copy: Path, name: str) -> None:
        with (copy / name).open("r+b") as stream:
            stream.truncate(5 * 10**9)
        error = run_limited("parse", "-m", copy, "--text", "a")
        assert error.startswith(f"{copy / name} is damaged: it has 5,000,000,000 bytes, and a model at most ")

    def test_weights_of_much_nothing(self, copy: Path) -> None:
        with (copy / "weights.safetensors").open("r+b") as stream:
            stream.truncate(5 * 10**9)
        error = run_limited("parse", "-m", copy, "--text", "a")
        assert "weights.safetensors has 5.0 GB, which is too large for the memory (1.1 GB)" in error

    def test_memory_that_is_used_up(self, model: Path, tmp_path: Path) -> None:
        """A sentence that fits, but whose parse does not."""
        (tmp_path / "x.txt").write_bytes(b"a " * 1_000_000)
        error = run_limited("parse", "-m", model, "--from", "tokens", tmp_path / "x.txt", "--threads", "1")
        assert error == "there is not enough memory; parse less at a time, or use a smaller model"


def test_a_network_that_cannot_be_trained(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for setting in ("network.vector_dim=200000", "network.hidden_dim=1000000"):
        done = run("train", TRAIN, "-o", tmp_path / "m", "--set", setting)
        assert done.returncode == 2
        last = done.stderr.decode().splitlines()[-1]
        assert last.startswith("error: a network of these sizes has ")
        assert last.endswith("; choose smaller sizes")
    assert not (tmp_path / "m").exists()


def test_no_memory_is_one_line(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("easyfirst.parsing.native_engine.NativeEngine.derive", fail)
    monkeypatch.setattr("easyfirst.parsing.engine.NumpyEngine.derive", fail)
    (tmp_path / "x.conllu").write_text(FOX)
    done = run("parse", "-m", model, tmp_path / "x.conllu")
    assert (done.returncode, done.stderr) == (
        2,
        b"error: there is not enough memory; parse less at a time, or use a smaller model\n",
    )
    done = run("parse", "-q", "-m", model, tmp_path / "x.conllu", "-d", tmp_path / "out")
    assert done.returncode == 1
    assert b"x.conllu: there is not enough memory to parse it; split it into smaller files\n" in done.stderr


def test_blocks_have_a_limit(run: Run, text_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence or a document without an end."""
    monkeypatch.setattr(streams, "MAX_BLOCK", 1000)
    with pytest.raises(DataError, match="x:4: 1,000 bytes without an empty line"):
        list(ConlluReader(io.BytesIO(FOX.encode() + FOX.strip().encode() * 1000), "x"))
    assert len(list(ConlluReader(io.BytesIO(FOX.encode() * 1000), "x"))) == 1000
    (tmp_path / "x.txt").write_text("a word\n" * 1000)
    done = run("parse", "-m", text_model, "--from", "text", tmp_path / "x.txt")
    assert done.returncode == 2
    assert b"x.txt:1: 1,000 bytes without an empty line" in done.stderr


def test_lines_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE", 10)
    assert list(read_lines(io.BytesIO(b"a" * 9 + b"\n\nb"), "x")) == [b"a" * 9 + b"\n", b"\n", b"b"]
    with pytest.raises(DataError, match="x:2: this line has more than 10 bytes"):
        list(read_lines(io.BytesIO(b"a\n" + b"b" * 11), "x"))


def npz(words: bytes, vectors: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.npy", words)
        archive.writestr("vectors.npy", vectors)
    return stream.getvalue()


def array(shape: tuple[int, ...], kind: str, content: bytes = b"") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue() + content


@pytest.mark.parametrize("shape", [(10**12, 300), (1 << 62, 1 << 62), (10**400, 1), (2, 3)])
def test_vectors_of_impossible_shapes(tmp_path: Path, shape: tuple[int, int]) -> None:
    (tmp_path / "x.npz").write_bytes(npz(array((2,), "<U1", b"\0" * 8), array(shape, "<f4")))
    with pytest.raises(DataError, match=r"x\.npz: damaged, or not two plain arrays"):
        read_embeddings(tmp_path / "x.npz")


def test_vectors_that_unpack_to_more_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "x.npz").open("wb") as stream:
        write_embeddings(stream, Embeddings(("a", "b"), np.ones((2, 3), dtype=np.float32)))
    assert read_embeddings(tmp_path / "x.npz").words == ("a", "b")
    monkeypatch.setattr("easyfirst.model.embeddings.memory_size", lambda: 100)
    with pytest.raises(DataError, match="too much for the memory"):
        read_embeddings(tmp_path / "x.npz")


def places(values: dict[str, Any]) -> Iterator[Callable[[Any], None]]:
    """Yield a function for each value in a JSON object that replaces it."""
    for key, value in values.items():
        yield lambda new, key=key: values.__setitem__(key, new)
        if isinstance(value, dict):
            yield from places(value)
        elif isinstance(value, list) and value:
            yield lambda new, value=value: value.__setitem__(0, new)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("file", ["config.json", "confidence.json", "tagger/config.json", "tokenizer/vocab.json"])
@pytest.mark.parametrize("value", [10**400, -(10**400), 10**4000, nested(500), nested(900), 1e999, -1])
def test_strange_values_in_json(model: Path, copy: Path, run: Run, data: Path, file: str, value: Any) -> None:
    """They are refused, or they mean nothing; nothing else happens."""
    if file == "confidence.json":
        assert run("calibrate", copy, data / "multiword.conllu").returncode == 0
    content = (copy / file).read_text()
    for number, _ in enumerate(places(json.loads(content))):
        values = json.loads(content)
        list(places(values))[number](value)
        with pytest.MonkeyPatch.context() as patch:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(10_000)
            try:
                text = json.dumps(values)
            finally:
                sys.setrecursionlimit(limit)
            (copy / file).write_text(text)
            patch.setattr(memory, "memory_size", lambda: 1 << 30)
            try:
                load(copy)
            except (ModelError, ConfigError):
                continue


def test_json_that_is_nested_deeply(run: Run, copy: Path, tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    (copy / "confidence.json").write_text(deep)
    with pytest.raises(ModelError, match="is damaged"):
        load(copy)
    pytest.importorskip("torch")
    done = run("train", TRAIN, "-o", tmp_path / "x", "--set", f"network.word_dim={deep}")
    assert done.returncode == 2
    assert b"network.word_dim must be of type int, not '[[[" in done.stderr
    with pytest.raises(ConfigError, match="must be of type int, not "):
        build_settings(TokenizerConfig(), {"hidden_dim": nested(3000)})


@pytest.mark.parametrize("timeout", ["inf", "nan", "1e300", "0"])
def test_timeouts(run: Run, timeout: str) -> None:
    done = run("serve", "--timeout", timeout)
    assert done.returncode == 2
    assert b"--timeout" in done.stderr
