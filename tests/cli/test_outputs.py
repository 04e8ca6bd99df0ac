"""Where the command writes: files that appear all at once, devices, and streams that are closed or full."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.rows import ROWS, blanked, sentences
from tests.commands import Run


class TestOutput:
    def test_a_file(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, data / "multiword.conllu", "-o", tmp_path / "out.conllu")
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr.startswith(b"parsed 2 sentences, 16 words in ")
        assert blanked((tmp_path / "out.conllu").read_bytes()) == blanked((data / "multiword.conllu").read_bytes())
        assert [path.name for path in tmp_path.iterdir()] == ["out.conllu"]

    def test_quiet(self, run: Run, model: Path) -> None:
        assert run("parse", "-m", model, "--quiet", stdin=ROWS).stderr == b""

    def test_gzip(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in.gz").write_bytes(gzip.compress(ROWS))
        assert run("parse", "-m", model, tmp_path / "in.gz", "-o", tmp_path / "out.gz").returncode == 0
        assert blanked(gzip.decompress((tmp_path / "out.gz").read_bytes())) == blanked(ROWS)

    def test_the_input_itself(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "same.conllu"
        path.write_bytes(ROWS)
        path.chmod(0o640)
        assert run("parse", "-m", model, path, "-o", path).returncode == 0
        assert blanked(path.read_bytes()) == blanked(ROWS)
        assert path.read_bytes() != ROWS
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_failed_run_leaves_the_old_output(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "out.conllu"
        path.write_bytes(b"old")
        done = run("parse", "-m", model, "-o", path, stdin=ROWS + b"\nbroken\tline\n")
        assert done.returncode == 2
        assert path.read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == ["out.conllu"]

    def test_a_link_stays_a_link(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("target")
        assert run("parse", "-m", model, "-o", tmp_path / "link", stdin=ROWS).returncode == 0
        assert (tmp_path / "link").is_symlink()
        assert blanked((tmp_path / "target").read_bytes()) == blanked(ROWS)

    def test_a_device(self, run: Run, model: Path) -> None:
        assert run("parse", "-m", model, "-o", os.devnull, stdin=ROWS).returncode == 0

    def test_missing_directory(self, run: Run, model: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, "-o", tmp_path / "no" / "out", stdin=ROWS)
        assert done.returncode == 2
        assert b"there is no directory" in done.stderr

    def test_a_directory(self, run: Run, model: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, "-o", tmp_path, stdin=ROWS)
        assert done.returncode == 2
        assert b"this is a directory" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("content", [ROWS, (ROWS + b"\n") * 200], ids=["when it is closed", "while it is written"])
def test_a_full_disk_is_an_error_and_no_traceback(model: Path, content: bytes) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "-q", "--model", model]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, input=content, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"error: <stdout>: No space left on device\n")


def test_a_closed_input_is_an_error_and_no_traceback(model: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


@pytest.mark.parametrize("verb", ["parse --model", "info"])
def test_a_closed_output_is_an_error_and_no_traceback(model: Path, verb: str) -> None:
    command = f"exec {sys.executable} -m easyfirst {verb} '{model}' >&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: <stdout>: standard output is closed")


def test_a_closed_output_does_not_matter_for_a_file(model: Path, tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' -o '{tmp_path / 'out'}' >&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [len(sentence) for sentence in sentences((tmp_path / "out").read_bytes())] == [2]


def test_a_closed_error_stream_prints_nothing(model: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' 2>&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 0
    assert [len(sentence) for sentence in sentences(done.stdout)] == [2]
    assert b"parsed" not in done.stdout
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}/none' 2>&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
