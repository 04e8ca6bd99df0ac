"""Inputs that are not UTF-8."""

from __future__ import annotations

import codecs
import io
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.cli.encodings import utf8_lines
from easyfirst.errors import DataError
from tests.cli.rows import BOM, ROWS, blanked
from tests.commands import Run

DATA = Path(__file__).parent.parent / "data"
TEXT = "Le café est à Zoë.\r\nElle l’aime.\n\nOui.\n"
SOME = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "shift_jis", "gb18030", "koi8-r")
TEXTS = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]) | st.just("\n"))


def converted(content: bytes, encoding: str | None = None) -> bytes:
    return b"".join(utf8_lines(io.BytesIO(content), "file", encoding))


@given(TEXTS, st.sampled_from(SOME))
def test_lines_are_those_of_the_decoded_text(text: str, encoding: str) -> None:
    text = text.encode(encoding, errors="ignore").decode(encoding)
    content = text.encode(encoding)
    if any(content.startswith(mark) for mark in (BOM, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-8"  # a mark takes precedence
    lines = list(utf8_lines(io.BytesIO(content), "file", encoding))
    assert b"".join(lines) == (content if encoding == "utf-8" and content.startswith(BOM) else text.encode())
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines[:-1])


@pytest.mark.parametrize("encoding", [None, "utf-8", "latin-1", "utf-16-le"])
@pytest.mark.parametrize(
    ("mark", "name"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (BOM, "utf-8"),
    ],
)
def test_a_byte_order_mark_decides(mark: bytes, name: str, encoding: str | None) -> None:
    found = converted(mark + TEXT.encode(name), encoding)
    assert found == (mark if name == "utf-8" else b"") + TEXT.encode()


@given(
    st.lists(TEXTS.filter(lambda text: len(text) > 1), min_size=1),
    st.sampled_from(["utf-8", "gbk", "utf-16-be", "utf-16-le"]),
)
def test_errors_name_line_and_offset(texts: list[str], encoding: str) -> None:
    """Whatever stands before a byte that is no character, its place is named."""
    before = "".join(texts).encode(encoding, errors="ignore").decode(encoding) + "a"
    content = before.encode(encoding)
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or content.startswith(BOM):
        return
    broken = {"utf-16-be": b"\xdc\x00", "utf-16-le": b"\x00\xdc"}.get(encoding, b"\xff")
    with pytest.raises(DataError, match=f"byte 0x{broken[0]:02X} at offset {len(content)} is not valid") as error:
        converted(content + broken + "b\n".encode(encoding), encoding)
    assert error.value.line == before.count("\n") + 1
    assert error.value.source == "file"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["ab", "a\nb", "The fox jumps.\nIt sleeps.", "x\n\n\ny"])
def test_utf_16_without_a_mark_is_recognised(text: str, encoding: str) -> None:
    with pytest.raises(DataError, match=f"every second byte is null, as in UTF-16; .* use --encoding {encoding}"):
        converted(text.encode(encoding))


@pytest.mark.parametrize("content", [b"a\0b c.", b"\0a", b"a\0", b"\0", b"\0\0\0\0\0", b"a\0b\0c d", b"a\0\n" * 2])
def test_other_null_bytes_are_not_utf_16(content: bytes) -> None:
    assert converted(content) == content  # what decodes a line raises the error


class TestCommands:
    @pytest.mark.parametrize("options", [[], ["--from", "lines"], ["--from", "tokens"], ["--encoding", "latin-1"]])
    def test_a_nul_in_a_text(self, run: Run, text_model: Path, options: list[str]) -> None:
        error = _error(run("parse", "-m", text_model, *options, stdin=b"The fox.\na\0b c.\n"))
        assert error.startswith("error: <stdin>:2: this line has a NUL character (U+0000) in it; take it out")

    def test_conllu_with_a_nul_comes_back(self, run: Run, text_model: Path) -> None:
        given = ROWS.replace(b"no", b"n\0o")
        done = run("parse", "-q", "-m", text_model, stdin=given)
        assert (done.returncode, b"\tn\0o\t" in done.stdout) == (0, True)

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "UTF_16", "shift-jis"])
    def test_text(self, run: Run, text_model: Path, tmp_path: Path, encoding: str) -> None:
        text = TEXT.encode(encoding, errors="ignore").decode(encoding)
        for name, content in (("notes.txt", text.encode(encoding)), ("utf8.txt", text.encode())):
            (tmp_path / name).write_bytes(content)
        expected = run("parse", "-q", "-m", text_model, tmp_path / "utf8.txt", "--to", "json").stdout
        done = run("parse", "-q", "-m", text_model, "--encoding", encoding, tmp_path / "notes.txt", "--to", "json")
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected.replace(b"utf8", b"notes")
        for options in (["--from", "lines"], ["--from", "tokens"], []):  # standard input, peeked at or not
            outputs = [
                run("parse", "-q", "-m", text_model, *options, *more, stdin=content).stdout
                for content, more in ((text.encode(), []), (text.encode(encoding), ["--encoding", encoding]))
            ]
            assert outputs[0]
            assert outputs[0] == outputs[1]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_marked_text_needs_no_option(self, run: Run, text_model: Path, encoding: str) -> None:
        expected = run("parse", "-q", "-m", text_model, "--text", TEXT.replace("\n\n", "\n")).stdout
        found = run("parse", "-q", "-m", text_model, stdin=TEXT.replace("\n\n", "\n").encode(encoding)).stdout
        assert found == expected

    def test_conllu_comes_back_in_utf_8(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        content = ROWS.replace(b"Yes", "Café".encode())
        (tmp_path / "a.conllu").write_bytes(content.decode().encode("latin-1"))
        done = run("parse", "-m", text_model, "--encoding", "latin-1", tmp_path / "a.conllu")
        assert blanked(done.stdout) == blanked(content)
        assert run("render", "--encoding", "latin-1", stdin=done.stdout.decode().encode("latin-1")).returncode == 0

    def test_trees(self, run: Run, tmp_path: Path) -> None:
        content = (DATA / "multiword.conllu").read_text(encoding="utf-8")
        (tmp_path / "a.conllu").write_bytes(content.encode("utf-16"))
        assert run("evaluate", tmp_path / "a.conllu", DATA / "multiword.conllu").returncode == 0
        assert run("render", tmp_path / "a.conllu").stdout == run("render", DATA / "multiword.conllu").stdout
        for option in (["--text"], []):
            done = run("evaluate", *(tmp_path / "a.conllu",) * 2, "--encoding", "utf-8", *option, "--json")
            assert done.returncode == 0

    def test_calibrate_and_combine_read_it(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        (tmp_path / "dev.conllu").write_bytes(ROWS.replace(b"Yes", b"Caf\xe9"))
        verbs = (["calibrate", text_model, tmp_path / "dev.conllu"],)
        verbs += (["combine", text_model, text_model, "-o", tmp_path / "out", "--dev", tmp_path / "dev.conllu"],)
        for verb in verbs:
            done = run(*verb, "--encoding", "latin-1")
            assert b"word 1 'Caf\xc3\xa9' has no head" in done.stderr

    @pytest.mark.parametrize("name", ["notes.txt", "notes.conllu", "notes"])
    def test_an_error_names_file_line_offset_and_option(
        self, run: Run, text_model: Path, tmp_path: Path, name: str
    ) -> None:
        (tmp_path / name).write_bytes(ROWS.replace(b"no", b"n\xe9") if "conllu" in name else b"Le\nlong caf\xe9.\n")
        done = run("parse", "-m", text_model, tmp_path / name)
        offset = 29 if "conllu" in name else 11
        assert _error(done) == (
            f"error: {tmp_path / name}:2: byte 0xE9 at offset {offset} is not valid UTF-8; if the file has another "
            "encoding, name it, for example --encoding latin-1"
        )

    def test_bytes_of_windows(self, run: Run, text_model: Path) -> None:
        assert _error(run("parse", "-m", text_model, stdin=b"l\x92amour")).endswith("--encoding cp1252")

    def test_utf_16_without_a_mark(self, run: Run, text_model: Path) -> None:
        for order in ("le", "be"):
            error = _error(run("parse", "-m", text_model, stdin=f"utf-16-{order}\n".encode(f"utf-16-{order}")))
            assert error.endswith(f"use --encoding utf-16-{order}")

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("latin1x", "did you mean latin-1?"),
            ("utf-61", "did you mean utf-16"),
            ("windows1252", "did you mean windows-1252"),
            ("base64", "use a name such as latin-1"),
            ("", "use a name such as latin-1"),
        ],
    )
    @pytest.mark.parametrize("verb", ["parse", "explain", "render", "evaluate", "vectors"])
    def test_unknown_names(self, run: Run, text_model: Path, tmp_path: Path, verb: str, name: str, hint: str) -> None:
        file = DATA / "multiword.conllu"
        options = {"evaluate": [file, file], "vectors": [file, "-o", tmp_path / "x.npz"], "render": [file]}
        arguments = options.get(verb, ["-m", text_model, file])
        error = _error(run(verb, *arguments, "--encoding", name))
        assert error.startswith(f"error: --encoding {name!r}: there is no such encoding; {hint}")

    def test_the_wrong_encoding(self, run: Run, text_model: Path) -> None:
        done = run("parse", "-m", text_model, "--encoding", "ascii", stdin="Le café".encode())
        assert _error(done) == "error: <stdin>:1: byte 0xC3 at offset 6 is not valid ascii; check --encoding"
        for odd in ("undefined", "idna", "utf-7"):
            done = run("parse", "-m", text_model, "--encoding", odd, stdin="Le café".encode())
            assert done.returncode == 2

    def test_a_given_text_has_none(self, run: Run, text_model: Path) -> None:
        error = _error(run("parse", "-m", text_model, "--text", "a", "--encoding", "latin-1"))
        assert error == "error: --text is the input itself; leave out INPUT, --from and --encoding"


def _error(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 2
    assert done.stdout == b""
    *notes, error = done.stderr.decode().splitlines()
    assert all(note.startswith("reading ") for note in notes)
    return error
