"""Files that are replaced at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst import replacing
from easyfirst.replacing import is_leftover, remove_leftovers, replacement
from tests.kills import kills

FIRST, SECOND = ".easyfirst-0123456789abcdef", ".easyfirst-fedcba9876543210.tmp"


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "_cleaned", set())


def write(path: Path, content: bytes) -> None:
    with replacement(path) as stream:
        stream.write(content)


def test_killed_at_each_file_event(tmp_path: Path) -> None:
    path = tmp_path / "file"
    found: list[bytes] = []
    for _ in kills(lambda: write(path, b"new" * 1000), tmp_path, lambda: path.write_bytes(b"old")):
        found.append(path.read_bytes())
        replacing._cleaned.clear()
        write(path, b"newer")
        assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert set(found) == {b"old", b"new" * 1000}


def test_a_link_with_the_old_name_of_a_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "confidence.json.tmp").symlink_to(tmp_path / "secret")
    write(tmp_path / "dir" / "confidence.json", b"{}")
    assert (tmp_path / "secret").read_text() == "mine"


@pytest.mark.parametrize("target", ["secret", "nothing"])
def test_a_link_is_never_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """Even if the name were guessed."""
    (tmp_path / "secret").write_text("mine")
    (tmp_path / FIRST).with_suffix(".tmp").symlink_to(tmp_path / target)
    monkeypatch.setattr(replacing, "random_name", lambda: FIRST)
    with pytest.raises(FileExistsError):
        write(tmp_path / "file", b"new")
    assert (tmp_path / "secret").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_names_are_random(tmp_path: Path) -> None:
    names: set[str] = set()
    for _ in range(3):
        with replacement(tmp_path / "file"):
            names |= {path.name for path in tmp_path.iterdir()} - {"file"}
    assert len(names) == 3
    assert not any(str(os.getpid()) in name for name in names)


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / FIRST).mkdir()
    (tmp_path / FIRST / "file").write_text("half")
    (tmp_path / SECOND).write_text("half")
    others = (".easyfirst-parse.jsonl", ".easyfirst-0123.tmp", "file.tmp", ".file.17.tmp", f"{FIRST}.json")
    for name in others:
        (tmp_path / name).write_text("stays")
    write(tmp_path / "file", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"file", *others}


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom easyfirst.replacing import replacement\n"
        "with replacement(Path(sys.argv[1])) as stream:\n"
        "    stream.write(b'theirs')\n    print(flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdout.readline()
        remove_leftovers(tmp_path)
        write(tmp_path / "file", b"ours")
        other.stdin.close()
        assert other.wait() == 0
    assert (tmp_path / "file").read_bytes() == b"theirs"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "file", b"new")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~umask
        (tmp_path / "file").chmod(0o640)
        write(tmp_path / "file", b"newer")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    write(tmp_path / "file", b"old")

    def fail() -> None:
        with replacement(tmp_path / "file") as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "file").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_name_of_255_bytes(tmp_path: Path) -> None:
    write(tmp_path / ("x" * 255), b"new")


def test_files_and_names_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file before it is renamed, and the directory afterwards."""
    synced: list[str] = []
    sync = os.fsync

    def record(descriptor: int) -> None:
        is_there = (tmp_path / "file").exists()
        synced.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) and is_there else "file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    write(tmp_path / "file", b"new")
    assert synced == ["file", "directory"]


def test_a_directory_of_leftovers(tmp_path: Path) -> None:
    assert is_leftover(tmp_path)
    (tmp_path / FIRST).mkdir()
    assert is_leftover(tmp_path)
    (tmp_path / "file").touch()
    assert not is_leftover(tmp_path)
    assert not is_leftover(tmp_path / "nothing")
