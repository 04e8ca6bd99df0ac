"""``easyfirst convert`` between the formats that need no other package; Parquet is in tests/integrations/tables."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from easyfirst.tables.json_lines import from_object, to_object
from easyfirst.tables.parquet import rows_of_sentences
from easyfirst.tables.sentences import sentences_of
from tests.commands import Run
from tests.tables.corpora import canonical_files, read

WORD = b"1\tfox\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"


def test_conllu_comes_back_byte_for_byte(run: Run, data: Path) -> None:
    raw = b"\xef\xbb\xbf\n# lost\n\n" + (data / "multiword.conllu").read_bytes() + b"\n\n# the end"
    done = run("convert", stdin=raw)
    assert (done.returncode, done.stdout) == (0, raw)
    assert done.stderr == b"converted 2 sentences, 16 words\n"


def test_files_without_an_empty_line_at_the_end_are_joined(run: Run, tmp_path: Path) -> None:
    for name in ("a.conllu", "b.conllu"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + WORD)
    done = run("convert", tmp_path / "a.conllu", tmp_path / "b.conllu", "-q")
    assert done.stdout == b"\xef\xbb\xbf" + WORD + b"\n" + WORD
    assert done.stderr == b""


@settings(max_examples=30)
@given(canonical_files())
def test_json_holds_all_of_a_sentence(raw: bytes) -> None:
    rows = list(rows_of_sentences(read(raw)[0]))
    objects = [json.loads(json.dumps(to_object(row))) for row in rows]
    back = [from_object(value) for value in objects]
    assert b"".join(sentence.to_bytes() for sentence in sentences_of(back)) == raw


def test_json_and_back(run: Run, data: Path, tmp_path: Path) -> None:
    conllu, lines = data / "multiword.conllu", tmp_path / "x.jsonl"
    assert run("convert", conllu, "-o", lines).returncode == 0
    first, second = map(json.loads, lines.read_bytes().splitlines())
    assert list(first) == ["doc_id", "sent_id", "text", "words", "tokens", "comments"]
    assert first["words"][0] == {
        "id": 1,
        "form": "Do",
        "lemma": "do",
        "upos": "AUX",
        "xpos": "VB",
        "feats": "Mood=Imp|VerbForm=Fin",
        "head": 3,
        "relation": "aux",
        "deps": "3:aux",
        "misc": None,
        "arc_confidence": None,
        "label_confidence": None,
    }
    assert first["tokens"][0] == {"start": None, "end": None, "words": [1, 2], "form": "Don't", "misc": None}
    assert second["empty"][0]["id"] == "6.1"
    assert run("convert", lines, "--to", "conllu").stdout == conllu.read_bytes()


def test_what_parse_writes_as_json_is_read(run: Run, tmp_path: Path) -> None:
    """JSON of texts has no MISC; spaces follow from the positions."""
    text = tmp_path / "x.txt"
    text.write_text("The fox doesn't\n jump, or does it?\n\nNo.", encoding="utf-8")
    parsed = run("parse", text, "--to", "json", "-q")
    found = run("convert", "--from", "json", "-q", stdin=parsed.stdout)
    assert found.returncode == 0, found.stderr
    expected = run("parse", text, "--to", "conllu", "-q").stdout.decode()

    def shown(conllu: str) -> list[str]:
        """Words and their positions; a document of JSON has a number for an id, and no comments."""
        return [line.replace("SpaceAfter=No|", "") for line in conllu.splitlines() if line and line[0] != "#"]

    assert shown(found.stdout.decode()) == shown(expected)
    assert found.stdout.count(b"# newdoc id = ") == 2
    assert b"# text = The fox doesn't" in found.stdout


def test_lines_and_tokens(run: Run, data: Path) -> None:
    raw = (data / "multiword.conllu").read_bytes()
    assert run("convert", "--to", "lines", "-q", stdin=raw).stdout.decode().splitlines() == [
        "Don't salt the soup.",
        "Ana cooks rice, and Ben beans #1.",
    ]
    spaced = raw.replace(b"\tsoup\t", b"\tfish soup\t", 1)
    tokens = run("convert", "--to", "tokens", "-q", stdin=spaced).stdout.decode()
    assert tokens.splitlines()[0] == "Do n't salt the fish\u00a0soup ."
    assert run("convert", "--to", "tokens", "-q", stdin=b"\n").stdout == b""


def test_confidence_goes_to_misc(run: Run) -> None:
    word = {"form": "fox", "head": 0, "relation": "root", "arc_confidence": 0.98765, "label_confidence": 1, "misc": "A"}
    given = json.dumps({"words": [word]}).encode()
    plain, with_confidence = (
        run("convert", "--from", "json", *more, "-q", stdin=given) for more in ([], ["--confidence"])
    )
    assert plain.stdout == b"1\tfox\t_\t_\t_\t_\t0\troot\t_\tA\n\n"
    assert with_confidence.stdout == b"1\tfox\t_\t_\t_\t_\t0\troot\t_\tA|ArcConf=0.9877|LabelConf=1.0000\n\n"


def test_the_confidence_is_where_parse_writes_it(run: Run, tmp_path: Path) -> None:
    text = ("parse", "-q", "--text", "The fox doesn't jump.")
    expected = run(*text, "--confidence", "--to", "conllu").stdout
    assert b"SpaceAfter=No|TokenRange=16:20|ArcConf=" in expected
    assert run(*text, "-o", tmp_path / "a.jsonl").returncode == 0
    found = run("convert", tmp_path / "a.jsonl", "--confidence", "--to", "conllu").stdout
    keys = [re.findall(rb"(\w+)=", line.split(b"\t")[9]) for line in found.splitlines() if b"\t" in line]
    expected_lines = [line for line in expected.splitlines() if b"\t" in line]
    assert keys == [re.findall(rb"(?!Step)\b(\w+)=", line.split(b"\t")[9]) for line in expected_lines]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "<stdin>:2: this is not JSON (Expecting property name"),
        (b"[]", "<stdin>:2: a line must be an object, not []"),
        (b"{}", "<stdin>:2: words must be a list"),
        (b'{"words": []}', "<stdin>:2: words must have at least one word"),
        (b'{"words": [{}]}', "<stdin>:2: word 1 has no form"),
        (b'{"words": [{"form": 1}]}', "<stdin>:2: form of word 1 must be a string, not 1"),
        (b'{"words": [{"form": "a", "head": -1}]}', "<stdin>:2: head of word 1 must be a whole number from 0"),
        (b'{"words": [{"form": "a", "head": 5}]}', "<stdin>:2: head of word 1 is 5 in a sentence of 1 word"),
        (b'{"words": [{"form": "a", "head": 99999999999}]}', "<stdin>:2: head of word 1 is 99999999999"),
        (
            b'{"words": [{"form": "a\\ud800"}]}',
            "<stdin>:2: '\\ud800' is half of a surrogate pair, and no",
        ),
        (b'{"words": [{"form": "a"}], "comments": ["# \\udc00"]}', "<stdin>:2: '\\udc00' is half of a surrogate pair"),
        (b'{"words": [{"form": "a\\tb"}]}', "<stdin>:2: 'a\\tb' has a tab or a line end in it"),
        (b'{"words": [{"form": "a"}], "doc_id": "a\\nb"}', "<stdin>:2: the doc_id 'a\\nb' has a line end in it"),
        (b'{"words": [{"form": "a", "arc_confidence": 1.5}]}', "<stdin>:2: arc_confidence of word 1 must be a number"),
        (
            b'{"words": [{"form": "a"}], "tokens": [{"words": [1, 1], "start": 12345678901234567890123, "end": 2}]}',
            "<stdin>:2: start of a token must be less than 1000000000000000",
        ),
        (
            b'{"words": [{"form": "a"}, {"form": "b"}], "tokens": [{"words": [1, 2]}, {"words": [2, 2], "form": "b"}]}',
            "<stdin>:2: a token has the words 2 to 2 after one that ends with word 2",
        ),
        (b"[" * 100_000, "<stdin>:2: "),
        (b'{"words": [{"form": "a"}], "tokens": [{"words": [1, 2]}]}', "<stdin>:2: a token has the words 1 to 2"),
        (b'{"words": [{"form": "a"}], "tokens": [{"words": [1]}]}', "<stdin>:2: words of a token must be the ids"),
        (b'{"words": [{"form": "a"}], "empty": [{}]}', "<stdin>:2: an empty node must have an id and a form"),
        (b'{"words": [{"form": "\xff"}]}', "<stdin>:2: byte 0xFF is not valid UTF-8"),
    ],
)
def test_wrong_json(run: Run, line: bytes, message: str) -> None:
    done = run("convert", "--from", "json", stdin=b'{"words": [{"form": "a"}]}\n' + line + b"\n")
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"error: {message}")


def test_json_may_begin_with_a_byte_order_mark(run: Run) -> None:
    done = run("convert", "--from", "json", "-q", stdin=b'\xef\xbb\xbf{"words": [{"form": "a\\ud83d\\ude00"}]}\n')
    assert done.returncode == 0
    assert "1\ta\U0001f600\t" in done.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["c.conllu", "c.parquet"],
            "c.conllu is CoNLL-U, and c.parquet is Parquet; name an output with -o, as in -o c.parquet",
        ),
        (["x", "c.jsonl", "b.jsonl", "c.conllu"], "c.jsonl is JSON, and c.conllu is CoNLL-U; name an output"),
        (["missing.conllu"], "missing.conllu: there is no such file"),
        (["missing.jsonl"], "missing.jsonl: there is no such file"),
        (["--from", "json", "--encoding", "latin-1"], "--encoding is for CoNLL-U; leave it out for other input"),
        (["--to", "json", "--confidence"], "--confidence is for CoNLL-U; other formats have it if it is known"),
        (["--to", "parquet", "-o", "x.parquet.gz"], "Parquet is compressed by itself; leave out .gz"),
    ],
)
def test_wrong_options(run: Run, arguments: list[str], message: str) -> None:
    done = run("convert", *arguments, stdin=WORD + b"\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"error: {message}")


def test_an_input_is_not_replaced(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_bytes(WORD + b"\n")
    done = run("convert", path, "-o", path)
    assert (done.returncode, path.read_bytes()) == (2, WORD + b"\n")
    assert b"this is also an input, and would be lost" in done.stderr


def test_arrow_is_named_if_it_is_missing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for arguments in (["convert"], ["parse", "--from", "tokens"]):
        done = run(*arguments, "--to", "parquet", "-o", tmp_path / "x.parquet", stdin=WORD + b"\n")
        message = 'error: Arrow and Parquet need PyArrow; install it with: pip install "easyfirst[arrow]"\n'
        assert (done.returncode, done.stderr.decode()) == (2, message)
        assert list(tmp_path.iterdir()) == []
