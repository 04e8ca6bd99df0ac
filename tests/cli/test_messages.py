"""Names with characters that a terminal obeys, or that break lines, are escaped in all messages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from easyfirst.cli import messages
from easyfirst.cli.messages import printable
from tests.cli.corpora import TEXT
from tests.commands import Run
from tests.small_models import TREEBANK

EVIL = "a\x1b[31m\nerror: b\u202e\x9b"
ESCAPED = b"a\\x1b[31m\\nerror: b\\u202e\\x9b"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no such names on Windows")


def check(said: bytes) -> None:
    """The name occurs once or more, always escaped."""
    assert b"\x1b" not in said
    assert "\u202e".encode() not in said
    assert b"\nerror: b" not in said
    assert ESCAPED in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("päck 日本 👩‍👩‍👧 a\u00a0b", "päck 日本 👩‍👩‍👧 a\u00a0b"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("\u202egnp\u2069\u2028", "\\u202egnp\\u2069\\u2028"),
        ("\udcff", "\\udcff"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["parse", "-m", EVIL, "--text", "a"],
        ["parse", EVIL],
        ["parse", "--text", "a", "-o", f"{EVIL}/x.conllu"],
        ["evaluate", EVIL, EVIL],
        ["train", EVIL, "-o", "m"],
        ["pack", "en", "-o", f"{TREEBANK}/{EVIL}"],
        ["calibrate", EVIL, TREEBANK],
        ["combine", EVIL, EVIL, "-o", "m"],
        ["package", EVIL, "--name", "x"],
        ["vectors", EVIL, "-o", "m.npz"],
        ["render", EVIL],
    ],
)
def test_errors(run: Run, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if arguments[0] in ("train", "vectors"):
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 2
    check(done.stderr)
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_reports(run: Run, text_model: Path, tmp_path: Path) -> None:
    model, folder = tmp_path / EVIL, tmp_path / "in"
    shutil.copytree(text_model, model)
    folder.mkdir()
    (folder / EVIL).write_bytes(TEXT)
    done = run("parse", "-m", model, folder / EVIL)
    assert done.returncode == 0
    check(done.stderr)
    check(run("info", model).stdout)
    check(run("pack", model, "-o", tmp_path / f"2{EVIL}").stderr)
    check(run("calibrate", model, TREEBANK).stderr)
    (folder / f"{EVIL}.conllu").write_bytes(b"not CoNLL-U\n")
    done = run("parse", "-m", model, folder, "-d", tmp_path / "out")
    assert done.returncode == 1
    check(done.stderr)


def test_ids_in_conllu(run: Run, text_model: Path, tmp_path: Path) -> None:
    (tmp_path / f"{EVIL}.txt").write_bytes(TEXT)
    done = run("parse", "-m", text_model, tmp_path / f"{EVIL}.txt", "--to", "conllu")
    assert done.returncode == 0
    assert done.stdout.startswith(b"# newdoc id = a_31m_error_b")


def test_all_messages_are_escaped() -> None:
    """Nothing else prints on stderr."""
    modules = Path(messages.__file__).parent.glob("*.py")
    assert [path.name for path in modules if "file=sys.stderr" in path.read_text(encoding="utf-8")] == ["messages.py"]
