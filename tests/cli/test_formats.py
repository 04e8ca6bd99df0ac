"""Inputs without ``--from``: recognised by name or by their first lines, and streams stay streams."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from easyfirst.cli.formats import SUFFIXES, by_suffix, format_of_lines
from easyfirst.cli.options import Format
from tests.cli.rows import BOM, ROWS, blanked
from tests.commands import Run
from tests.patience import PATIENCE

TEXT = "The fox jumps. It likes apples.\n"
DATA = Path(__file__).parent.parent / "data"
NOTE = "reading {} as {}; use --from to choose another format"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("notes.txt", Format.text),
        ("NOTES.TXT", Format.text),
        ("notes.text.gz", Format.text),
        ("a/b.conllu", Format.conllu),
        ("b.conllu.gz", Format.conllu),
        ("b.CoNLL", Format.conllu),
        ("b.conllx", Format.conllu),
        ("my.txt/notes", None),
        ("notes.md", None),
        ("notes.gz", None),
        (".txt", None),
        ("-", None),
        ("/dev/fd/63", None),
    ],
)
def test_names(name: str, expected: Format | None) -> None:
    assert by_suffix(name, SUFFIXES) is expected


WORD = b"1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n"


class TestLines:
    @pytest.mark.parametrize("before", [b"", BOM, b"\n", b" \r\n\n", BOM + b"\r\n", b"# a comment\n", b"#\n\n# b\r\n"])
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            (WORD, Format.conllu),
            (b"1-2\tdu" + b"\t_" * 8 + b"\n", Format.conllu),
            (b"0.1\tdu" + b"\t_" * 8 + b"\n", Format.conllu),
            (b"2\tfox" + b"\t_" * 8 + b"\n", Format.conllu),  # the rest is refused with a message that says why
            (b"fox" + b"\t_" * 9 + b"\n", Format.conllu),
            (b"1\tYes\t_\tINTJ\tUH\t_\t0\troot\n", Format.conllu),
            (WORD.replace(b"\t", b" "), Format.conllu),
            (b"# sent_id = 1\n", Format.conllu),
            (b"# text = The fox\n", Format.conllu),
            (b"# text_en = The fox\n", Format.conllu),
            (b"# newdoc id = 1\n", Format.conllu),
            (b"# newpar\n", Format.conllu),
            (b"The fox jumps.\n", Format.text),
            ("„Füchse“ springen.\n".encode(), Format.text),
            (b"1 Samuel was a man of great faith in God\n", Format.text),  # ten words
            (b"1. The fox\n", Format.text),
            (b"1\tThe fox\tjumps\n", Format.text),
            (b"1 2 3 4 5 6 7 8 9\n", Format.text),
            (b"\tAn indented line.\n", Format.text),
        ],
    )
    def test_the_first_line_with_content_decides(
        self, before: bytes, line: bytes, end: bytes, expected: Format
    ) -> None:
        content = (before + line).replace(b"\r\n", b"\n").replace(b"\n", end)
        assert format_of_lines(content.splitlines(keepends=True)) is expected

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"", None),
            (BOM, None),
            (b"\n \r\n", None),
            (b"# A heading\n", Format.text),
            (b"#hashtag yes\n", Format.text),
            (b"# newdoc\n", Format.conllu),
            (b"# Newdoc and text\n", Format.text),
            (b"# newdocs are fine\n", Format.text),
        ],
    )
    def test_without_such_a_line(self, content: bytes, expected: Format | None) -> None:
        assert format_of_lines(content.splitlines(keepends=True)) is expected

    @pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.name)
    def test_real_treebanks(self, path: Path) -> None:
        assert format_of_lines(path.read_bytes().splitlines(keepends=True)) is Format.conllu
        uncommented = [line for line in path.read_bytes().splitlines(keepends=True) if not line.startswith(b"#")]
        assert format_of_lines(uncommented) is Format.conllu

    @pytest.mark.parametrize("line", [WORD, b"The fox\n", b"# sent_id = 1\n"])
    def test_no_more_is_read(self, line: bytes) -> None:
        def lines() -> Iterator[bytes]:
            yield b"\n"
            yield line
            raise AssertionError("read on")

        assert format_of_lines(lines()) is not None


class TestInputs:
    def test_a_text_file(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(TEXT, encoding="utf-8")
        done = run("parse", "-m", text_model, path)
        assert done.returncode == 0
        assert b"reading" not in done.stderr
        assert done.stdout.replace(b"notes", b"text") == run("parse", "-m", text_model, "--text", TEXT).stdout
        with gzip.open(tmp_path / "notes.txt.gz", "wb") as packed:
            packed.write(TEXT.encode())
        assert run("parse", "-m", text_model, tmp_path / "notes.txt.gz").stdout == done.stdout

    def test_text_on_standard_input(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, stdin=TEXT.encode())
        assert done.stdout == run("parse", "-m", text_model, "--text", TEXT).stdout
        assert done.stderr.decode().splitlines()[0] == NOTE.format("standard input", "text")
        assert done.stderr.count(b"reading") == 1
        assert run("parse", "-q", "-m", text_model, stdin=TEXT.encode()).stderr == b""

    def test_conllu_on_standard_input(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, stdin=BOM + b"\r\n# a\r\n" + ROWS)
        assert done.stderr.decode().splitlines()[0] == NOTE.format("standard input", "CoNLL-U")
        assert blanked(done.stdout) == blanked(BOM + b"\r\n# a\r\n" + ROWS)

    def test_files_with_other_suffixes(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        for name in ("notes.md", "notes", "notes.doc"):
            (tmp_path / name).write_text("# Foxes\n\n" + TEXT, encoding="utf-8")
        (tmp_path / "empty").touch()
        done = run("parse", "-m", text_model, tmp_path / "notes.md")
        assert done.stderr.decode().splitlines()[0] == NOTE.format(tmp_path / "notes.md", "text")
        done = run("parse", "-m", text_model, *sorted(tmp_path.iterdir()))
        assert done.returncode == 0
        assert done.stderr.decode().splitlines()[0] == NOTE.format(f"{tmp_path / 'notes'} and 2 more", "text")

    def test_from_decides(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = tmp_path / "treebank.txt"
        path.write_bytes(ROWS)
        done = run("parse", "-m", text_model, "--from", "conllu", path)
        assert (done.returncode, blanked(done.stdout)) == (0, blanked(ROWS))
        assert b"reading" not in done.stderr
        done = run("parse", "-m", text_model, path)
        assert (done.returncode, done.stderr.decode()) == (
            2,
            f"error: {path}:1: this looks like CoNLL-U; use --from conllu\n",
        )

    def test_a_text_that_is_named_as_a_treebank(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = tmp_path / "text.conllu"
        path.write_text(TEXT, encoding="utf-8")
        done = run("parse", "-m", text_model, path)
        assert done.returncode == 2
        assert f"error: {path}:1: this is not CoNLL-U" in done.stderr.decode()
        assert b"if it is raw text, use --from text" in done.stderr

    def test_a_mistaken_guess(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, stdin=b"7\tfoxes" + b"\tx" * 8 + b"\n")
        assert done.returncode == 2
        assert b"error: <stdin>:1: word ID 7 where 1 was expected" in done.stderr
        assert b"the input seems to be CoNLL-U; if it is raw text, use --from text\n" in done.stderr
        later = run("parse", "-m", text_model, stdin=ROWS + b"\n7\tfoxes" + b"\tx" * 8 + b"\n")
        assert later.returncode == 2
        assert b"--from text" not in later.stderr

    def test_two_formats(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
        done = run("parse", "-m", text_model, tmp_path / "a.txt", "-", stdin=ROWS)
        assert (done.returncode, done.stdout) == (2, b"")
        expected = f"error: {tmp_path / 'a.txt'} is text and standard input is CoNLL-U; parse them separately, "
        assert done.stderr.decode() == f"{expected}each to its own output with --out-dir, or choose with --from\n"
        done = run("parse", "-m", text_model, tmp_path / "a.txt", "-", stdin=TEXT.encode())
        assert (done.returncode, done.stdout.count(b"# newdoc")) == (0, 2)

    def test_explain(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(TEXT, encoding="utf-8")
        expected = run("explain", "-m", text_model, "--from", "text", path).stdout
        assert expected
        assert run("explain", "-m", text_model, path).stdout == expected
        assert run("explain", "-m", text_model, stdin=TEXT.encode()).stdout == expected

    @pytest.mark.parametrize("verb", [("render",), ("evaluate", DATA / "multiword.conllu")])
    def test_verbs_for_trees_say_how_to_make_them(self, run: Run, tmp_path: Path, verb: tuple[str | Path, ...]) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(TEXT, encoding="utf-8")
        done = run(*verb, path)
        assert done.returncode == 2
        assert f"error: {path}:1: this is not CoNLL-U" in done.stderr.decode()
        assert b"use 'easyfirst parse' first" in done.stderr

    def test_keeping_heads_of_text(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, "--keep-heads", stdin=TEXT.encode())
        assert done.returncode == 2
        assert b"error: --keep-heads is for CoNLL-U" in done.stderr

    def test_a_text_is_not_replaced(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(TEXT, encoding="utf-8")
        done = run("parse", "-m", text_model, path, "-o", path, "--to", "conllu")
        assert done.returncode == 2
        assert b"this is also an input" in done.stderr
        assert path.read_text(encoding="utf-8") == TEXT

    def test_a_pdf_file(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, stdin=b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        assert done.returncode == 2
        assert done.stderr == b"error: <stdin>: this is a PDF file; extract its text first: pdftotext FILE\n"


class TestStreams:
    @pytest.mark.parametrize(("given", "n_lines"), [(ROWS + b"\n", 3), (b"# newdoc\n" + ROWS + b"\n", 4)])
    def test_each_sentence_is_written_before_the_next_is_read(
        self, text_model: Path, given: bytes, n_lines: int
    ) -> None:
        with _process(text_model) as process:
            assert process.stdin
            assert process.stdout
            for _ in range(3):
                process.stdin.write(given)
                process.stdin.flush()
                assert b"".join(process.stdout.readline() for _ in range(n_lines)).endswith(b"\n\n")
            process.stdin.close()
            assert process.wait(PATIENCE) == 0

    def test_so_are_texts(self, text_model: Path) -> None:
        with _process(text_model) as process:
            assert process.stdin
            assert process.stdout
            for number in range(1, 4):
                process.stdin.write(b"Yes.\n\n")
                process.stdin.flush()
                assert process.stdout.readline() == f"# newdoc id = text-{number}\n".encode()
                assert b"\n" in iter(process.stdout.readline, b"")
            process.stdin.close()
            assert process.wait(PATIENCE) == 0

    @pytest.mark.skipif(os.name == "nt", reason="no named pipes on Windows")
    def test_a_pipe_is_opened_once(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(TEXT.encode(),), daemon=True)
        writer.start()
        done = run("parse", "-m", text_model, pipe)
        writer.join(PATIENCE)
        assert done.stdout.replace(b"pipe", b"text") == run("parse", "-m", text_model, "--text", TEXT).stdout


@contextmanager
def _process(model: Path) -> Generator[subprocess.Popen[bytes], None, None]:
    """Run the command as a stream; a process that waits for more input is killed in the end."""
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "--batch-size", "1", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        yield process
        timer.cancel()
