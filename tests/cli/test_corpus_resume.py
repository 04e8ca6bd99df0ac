"""Runs over many files that are interrupted, and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from easyfirst.cli.ledger import NAME
from tests.cli.corpora import BAD, OUTPUTS, TEXT, tree
from tests.cli.rows import ROWS
from tests.commands import Run, unmeasured
from tests.patience import PATIENCE, wait_until


class TestResume:
    @pytest.fixture
    def parse(self, run: Run, text_model: Path, corpus: Path) -> Callable[..., set[str]]:
        """Parse the corpus, and return the outputs that were written."""
        out = corpus.parent / "out"

        def identity() -> dict[str, tuple[int, int]]:
            paths = {name: out / name for name in (tree(out) if out.exists() else ())}
            return {name: (path.stat().st_ino, path.stat().st_mtime_ns) for name, path in paths.items()}

        def call(*options: str | Path) -> set[str]:
            before = identity()
            done = run("parse", "-m", text_model, corpus, "-d", out, "--resume", *options)
            assert done.returncode == 0, done.stderr
            return {name for name, found in identity().items() if found != before.get(name)}

        return call

    def test_what_is_complete_is_skipped(self, parse: Callable[..., set[str]], run: Run, corpus: Path) -> None:
        assert parse() == OUTPUTS
        assert parse() == set()
        assert parse("--threads", "2", "-q") == set()

    def test_a_new_output(self, parse: Callable[..., set[str]], corpus: Path) -> None:
        parse()
        (corpus / "new.txt").write_bytes(TEXT)
        assert parse() == {"new.conllu"}

    def test_a_changed_input(self, parse: Callable[..., set[str]], corpus: Path) -> None:
        parse()
        (corpus / "a.txt").write_bytes(TEXT.replace(b"fox", b"cat"))
        assert parse() == {"a.conllu"}
        (corpus / "a.txt").write_bytes(TEXT)
        assert parse() == {"a.conllu"}

    def test_the_time_of_an_input_alone_does_not_matter(self, parse: Callable[..., set[str]], corpus: Path) -> None:
        parse()
        os.utime(corpus / "a.txt", (1, 1))
        assert parse() == set()

    def test_a_changed_output(self, parse: Callable[..., set[str]], corpus: Path) -> None:
        parse()
        content = (corpus.parent / "out" / "a.conllu").read_bytes()
        (corpus.parent / "out" / "a.conllu").write_bytes(content[:-9])
        (corpus.parent / "out" / "b.conllu").unlink()
        assert parse("--overwrite") == {"a.conllu", "b.conllu"}
        assert (corpus.parent / "out" / "a.conllu").read_bytes() == content

    @pytest.mark.parametrize("options", ["--no-valid", "--write-tags", "--batch-size 3", "--from text"])
    def test_changed_options(self, parse: Callable[..., set[str]], corpus: Path, options: str) -> None:
        (corpus / "b.conllu").unlink()
        assert parse() == OUTPUTS - {"b.conllu"}
        assert parse(*options.split()) == OUTPUTS - {"b.conllu"}
        assert parse(*options.split()) == set()

    def test_another_engine(self, parse: Callable[..., set[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        parse()
        monkeypatch.setenv("EASYFIRST_ENGINE", "numpy")
        assert parse() == OUTPUTS

    def test_a_changed_model(
        self, parse: Callable[..., set[str]], text_model: Path, whole_model: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(text_model, tmp_path / "training" / "model")
        assert parse("-m", tmp_path / "training" / "model") == OUTPUTS
        assert parse() == set()  # the same model in another place
        assert parse("-m", whole_model) == OUTPUTS

    def test_a_damaged_record(self, parse: Callable[..., set[str]], corpus: Path) -> None:
        parse()
        path = corpus.parent / "out" / NAME
        lines = path.read_bytes().splitlines(keepends=True)
        begun, done = json.loads(lines[0]), json.loads(lines[-1])
        assert set(begun) == {"output", "source", "contents"}
        assert set(done) == {*begun, "bytes", "mtime_ns", "settings", "name", "input"}
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])  # the process was killed while it wrote
        assert parse() == {done["output"]}
        assert parse() == set()
        path.write_bytes(b'null\n[1]\n{"output": "a.conllu", "input": 3}\n' + b'{"output": "b.conllu"}\n')
        assert parse("--overwrite") == {"a.conllu", "b.conllu"}

    @pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed on this system")
    @pytest.mark.parametrize("exists", [True, False])
    def test_a_record_that_is_a_link_is_not_followed(
        self, run: Run, text_model: Path, corpus: Path, tmp_path: Path, exists: bool
    ) -> None:
        """Someone else may have made it, in a directory that everyone can write to."""
        out, victim = corpus.parent / "out", tmp_path / "victim"
        out.mkdir()
        if exists:
            victim.write_text("mine\n")
        (out / NAME).symlink_to(victim)
        done = run("parse", "-m", text_model, corpus / "a.txt", "-d", out)
        assert done.returncode in (1, 2)
        assert b"the record cannot be written: " in done.stderr
        assert victim.exists() == exists
        assert not exists or victim.read_text() == "mine\n"

    def test_without_resume_all_is_parsed_again(
        self, parse: Callable[..., set[str]], run: Run, text_model: Path, corpus: Path
    ) -> None:
        parse()
        before = tree(corpus.parent / "out")
        done = run("parse", "-m", text_model, corpus, "-d", corpus.parent / "out")
        assert (done.returncode, tree(corpus.parent / "out")) == (0, before)
        assert done.stderr.startswith(b"parsed 4 files")

    def test_failed_files_are_tried_again(self, run: Run, text_model: Path, corpus: Path) -> None:
        (corpus / "bad.txt").write_bytes(BAD)
        command = ["parse", "-m", text_model, corpus, "-d", corpus.parent / "out", "--resume"]
        assert run(*command).returncode == 1
        done = run(*command)
        assert done.returncode == 1
        assert b"kept 4 files from an earlier run" in done.stderr
        (corpus / "bad.txt").write_bytes(TEXT)
        assert run(*command).returncode == 0
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, b"nothing to do: 5 files complete from an earlier run\n")


def records(out: Path) -> dict[str, list[dict[str, object]]]:
    """Return the lines of all records about each output."""
    found: dict[str, list[dict[str, object]]] = {}
    for path in out.rglob(NAME):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                record = json.loads(line)
                found.setdefault((path.parent / record["output"]).relative_to(out).as_posix(), []).append(record)
    return found


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of many files, of which one is large enough to be parsed by all threads."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(60):
        (folder / f"{number % 3}").mkdir(exist_ok=True)
        (folder / f"{number % 3}" / f"{number}.txt").write_bytes(TEXT * (number % 7 + 1) + b"\n" + TEXT)
    (folder / "large.conllu").write_bytes((ROWS + b"\n") * 20_000)
    return folder


@pytest.mark.skipif(os.name == "nt", reason="no such signals for a single process on Windows")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_killed_is_resumed(
    process: Run, text_model: Path, many: Path, tmp_path: Path, number: signal.Signals, threads: int
) -> None:
    """Kill a process again and again. What it has written is as it should be at any time."""
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert process("parse", "-q", "-m", text_model, many, "-d", whole, "--threads", "1").returncode == 0
    expected, codes = tree(whole), set[int]()
    command = [sys.executable, "-m", "easyfirst", "parse", "-q", "-m", str(text_model), str(many), "-d", str(out)]
    command += ["--resume", "--threads", str(threads)]
    kept: dict[str, int] = {}
    for step in (1, 5, 20, 40):
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=unmeasured()) as running:
            assert running.stderr
            enough = sum(map(len, records(out).values())) + step  # the first time, while the first file is parsed
            wait_until(lambda: sum(map(len, records(out).values())) >= enough or running.poll() is not None)  # noqa: B023
            running.send_signal(number)
            codes.add(running.wait(PATIENCE))
            assert running.stderr.read() == b""
        found = {path.relative_to(out).as_posix(): path for path in out.rglob("*.conllu") if path.name[0] != "."}
        assert {name: path.read_bytes() for name, path in found.items()}.items() <= expected.items()
        assert kept.items() <= {name: path.stat().st_ino for name, path in found.items()}.items()
        complete = {name for name, lines in records(out).items() if any("bytes" in line for line in lines)}
        kept = {name: path.stat().st_ino for name, path in found.items() if name in complete}
        if number != signal.SIGKILL:
            tree(out)  # no temporary files
    code = {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert code in codes <= {code, 0}
    assert process("parse", "-q", "-m", text_model, many, "-d", out, "--resume").returncode == 0
    assert tree(out) == expected  # also no temporary files
    assert kept.items() <= {name: (out / name).stat().st_ino for name in expected}.items()
