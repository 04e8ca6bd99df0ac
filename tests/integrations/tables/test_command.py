"""Parquet on the command line: what ``parse`` writes, what it reads, and ``convert``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from easyfirst import load, read_parquet  # noqa: E402
from easyfirst.tables.arrow import VERSION_KEY  # noqa: E402
from tests.commands import run_here, run_process  # noqa: E402

DATA = Path(__file__).parents[2] / "data"
TREEBANK = DATA / "multiword.conllu"
TEXT = "Dear fox,\n\nI don't\n like   apples. Do you?\n\n\nBye — fox\n"


def out(*arguments: str | Path, stdin: bytes = b"") -> bytes:
    done = run_here(*arguments, "-q", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return done.stdout


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "letters.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.mark.parametrize(
    "options", [[], ["--confidence"], ["--deps", "--write-tags"], ["--predicted-tags", "--write-tags", "--no-valid"]]
)
@pytest.mark.parametrize("kind", ["text", "lines", "tokens", "conllu", "strange"])
def test_parquet_becomes_the_same_conllu(tmp_path: Path, texts: Path, kind: str, options: list[str]) -> None:
    """What is parsed to Parquet and converted is what is parsed to CoNLL-U."""
    given = texts
    if kind in ("conllu", "strange"):
        given = tmp_path / "x.conllu"
        raw = TREEBANK.read_bytes()
        given.write_bytes(raw if kind == "conllu" else b"\n# lost\n\n" + raw.replace(b"\n", b"\r\n") + b"\n# end")
    names = [given, given] if kind == "strange" else [given]
    arguments = ["parse", *names, "--from", "conllu" if kind == "strange" else kind, *options]
    out(*arguments, "--to", "parquet", "-o", tmp_path / "x.parquet")
    assert out("convert", tmp_path / "x.parquet") == out(*arguments, "--to", "conllu")


def test_confidence_is_always_there(tmp_path: Path, texts: Path) -> None:
    path = tmp_path / "x.parquet"
    out("parse", texts, "-o", path)  # Parquet by its name
    assert b"ArcConf" not in out("convert", path)
    found = out("convert", path, "--confidence").decode()
    expected = out("parse", texts, "--confidence", "--to", "conllu").decode()

    def values(conllu: str) -> list[list[str]]:
        cells = [line.split("\t")[-1].split("|") for line in conllu.splitlines() if "ArcConf" in line]
        return [[item for item in cell if item.startswith(("ArcConf", "LabelConf"))] for cell in cells]

    assert values(found) == values(expected)
    assert len(values(found)) > 10


def test_positions_are_those_of_the_text(tmp_path: Path, texts: Path) -> None:
    path = tmp_path / "x.parquet"
    out("parse", texts, "-o", path)
    rows = pq.read_table(path).to_pylist()
    assert [row["doc_id"] for row in rows] == ["letters-1", "letters-2", "letters-2", "letters-3"]
    assert rows[1]["text"] == "I don't\n like   apples."
    for row in rows:
        first, multiword = (
            row["start"][0],
            {m for token in row["multiword"] for m in range(token["first"], token["last"] + 1)},
        )
        for m, (form, start, end) in enumerate(zip(row["form"], row["start"], row["end"], strict=True), 1):
            if m not in multiword:
                assert row["text"][start - first : end - first] == form
    assert [token["form"] for token in rows[1]["multiword"]] == ["don't"]


def test_parsing_a_table_again_keeps_it(tmp_path: Path, texts: Path) -> None:
    """Sentences keep their words, ids and texts, and parses their trees."""
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    out("parse", texts, "-o", first)
    out("parse", first, "-o", second)
    assert pq.read_table(second).to_pylist() == pq.read_table(first).to_pylist()
    assert out("parse", first, "--to", "conllu") == out("convert", first)
    assert out("parse", "--from", "parquet", "--to", "conllu", stdin=first.read_bytes()) == out("convert", first)


def test_conllu_in_parquet_is_an_input(tmp_path: Path) -> None:
    table = tmp_path / "x.parquet"
    out("convert", TREEBANK, "-o", table)
    assert out("convert", table) == TREEBANK.read_bytes()
    assert out("parse", table, "--to", "conllu") == out("parse", TREEBANK, "--to", "conllu")
    parsed = [json.loads(line) for line in out("parse", table, "--to", "json").splitlines()]
    assert [value["file"] for value in parsed] == [str(table)] * 2
    assert out("parse", "--keep-heads", table, "--to", "conllu") == out(
        "parse", "--keep-heads", TREEBANK, "--to", "conllu"
    )
    assert out("convert", table, "--to", "json") == out("convert", TREEBANK, "--to", "json")
    assert out("convert", "--from", "parquet", stdin=table.read_bytes()) == TREEBANK.read_bytes()


def test_other_verbs_read_it(tmp_path: Path) -> None:
    table = tmp_path / "x.parquet"
    out("convert", TREEBANK, "-o", table)
    assert run_here("render", table).stdout == run_here("render", TREEBANK).stdout
    assert b"100.00" in run_here("evaluate", TREEBANK, table).stdout


def test_tables_are_joined(tmp_path: Path) -> None:
    """Also those whose CoNLL-U had a strange end, and parts of one document."""
    a, b, both = (tmp_path / f"{name}.parquet" for name in ("a", "b", "both"))
    raw = TREEBANK.read_bytes().rstrip(b"\n")
    out("convert", "-o", a, stdin=raw + b"\n\n\n# end")
    out("convert", "-o", b, stdin=raw)
    out("convert", a, b, "-o", both)
    assert out("convert", both) == raw + b"\n\n\n# end\n\n" + raw
    assert out("convert", a, b) == raw + b"\n\n\n# end\n\n" + raw
    assert out("convert", b, a) == raw + b"\n\n" + raw + b"\n\n\n# end"
    assert out("convert", b, b) == raw + b"\n\n" + raw
    out("convert", b, b, "-o", both)
    assert out("convert", both) == raw + b"\n\n" + raw


@pytest.mark.parametrize("end", [b"", b"\n\n\n", b"\n\n# lonely"])
@pytest.mark.parametrize("middle", [None, b"# tail", b"\xef\xbb\xbf# tail\n"])
def test_tables_are_joined_as_their_conllu_is(tmp_path: Path, end: bytes, middle: bytes | None) -> None:
    """Also those that begin with a byte order mark, or have no sentences."""
    raw = TREEBANK.read_bytes().rstrip(b"\n")
    contents = [raw + end, *([] if middle is None else [middle]), b"\xef\xbb\xbf" + raw + b"\n\n"]
    names = {kind: [tmp_path / f"{n}.{kind}" for n in range(len(contents))] for kind in ("conllu", "parquet")}
    for conllu, table, content in zip(names["conllu"], names["parquet"], contents, strict=True):
        conllu.write_bytes(content)
        out("convert", conllu, "-o", table)
    expected = out("convert", *names["conllu"])
    out("convert", *names["parquet"], "-o", tmp_path / "all.parquet")
    assert out("convert", tmp_path / "all.parquet") == expected
    assert out("convert", *names["parquet"]) == expected
    assert len(list(read_parquet(tmp_path / "all.parquet"))) == 4


def test_part_of_a_document_has_its_id(tmp_path: Path) -> None:
    table, part = tmp_path / "x.parquet", tmp_path / "part.parquet"
    out("convert", TREEBANK, "-o", table)
    pq.write_table(pq.read_table(table).slice(1), part)
    assert out("convert", part).startswith(b"# newdoc id = kitchen\n# sent_id = kitchen-2\n")


def test_a_directory_of_parts(tmp_path: Path) -> None:
    table, folder = tmp_path / "x.parquet", tmp_path / "parts"
    folder.mkdir()
    out("convert", TREEBANK, "-o", table)
    for number in (0, 1):
        pq.write_table(pq.read_table(table).slice(number, 1), folder / f"part-{number}.parquet")
    assert out("convert", folder, "--from", "parquet") == TREEBANK.read_bytes()
    assert out("convert", folder) == TREEBANK.read_bytes()
    assert out("parse", folder, "--to", "conllu") == out("parse", TREEBANK, "--to", "conllu")


class TestTexts:
    """A column of texts is parsed like files of text."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        path = tmp_path / "texts.parquet"
        columns = {"body": ["The fox jumps.\n\nIt\nlikes apples.", None, "", "So do I."], "key": ["a b", "x", "y", "c"]}
        pq.write_table(pa.table(columns | {"n": [1, 2, 3, 4]}), path)
        return path

    def test_columns(self, table: Path, tmp_path: Path) -> None:
        path = tmp_path / "out.parquet"
        out("parse", table, "--column", "body", "--id-column", "key", "-o", path)
        rows = pq.read_table(path).to_pylist()
        assert [(row["doc_id"], row["sent_id"]) for row in rows] == [("a b", "a_b-1"), ("a b", "a_b-2"), ("c", "c-1")]
        expected = [
            parse.heads for text in ("The fox jumps.\n\nIt\nlikes apples.", "So do I.") for parse in load("en")(text)
        ]
        assert [tuple(row["head"]) for row in rows] == expected
        assert "# newpar" in rows[1]["comments"]
        assert [s.metadata["sent_id"] for s in read_parquet(path)] == ["a_b-1", "a_b-2", "c-1"]

    def test_an_id_that_is_there_twice(self, tmp_path: Path) -> None:
        path = tmp_path / "texts.parquet"
        ids = ["a b", "c", "a\nb", "a_b"]
        pq.write_table(pa.table({"text": ["Yes."] * 4, "doc_id": ids}), path)
        found = out("parse", path, "--column", "text").decode().splitlines()
        assert [line for line in found if line.startswith("# newdoc")] == [
            f"# newdoc id = {name}" for name in ("a b", "c", "a b", "a_b")
        ]
        sent_ids = [line.removeprefix("# sent_id = ") for line in found if line.startswith("# sent_id")]
        assert sent_ids == ["a_b-1", "c-1", "a_b-2", "a_b-3"]

    def test_json_has_the_ids(self, table: Path) -> None:
        done = out("parse", table, "--column", "body", "--id-column", "n", "--to", "json").splitlines()
        assert [json.loads(line)["doc_id"] for line in done] == ["1", "1", "4"]

    def test_without_ids_documents_are_numbered(self, table: Path) -> None:
        done = out("parse", table, "--column", "body", "--to", "conllu")
        assert done.count(b"# newdoc id = texts-") == 2

    def test_defaults(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"text": ["The fox."], "doc_id": ["d"]}), path)
        assert out("parse", path, "--to", "conllu").startswith(b"# newdoc id = d\n# sent_id = d-1\n")

    def test_texts_of_parsed_sentences_can_be_parsed_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        out("convert", TREEBANK, "-o", path)
        done = out("parse", path, "--column", "text", "--to", "conllu")
        assert done.count(b"TokenRange=0:") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "{texts}"], "{texts}: there is no column 'text' (there are: body); name that of the texts with"),
        (["parse", "{texts}", "--column", "x"], "{texts}: there is no column 'x' (there are: body); choose another"),
        (["parse", "{texts}", "{table}"], "{table} has parsed sentences and {texts} has not; parse them separately"),
        (["parse", "{table}", "--encoding", "latin-1"], "--encoding is for text files; leave it out for Parquet"),
        (["parse", "{conllu}", "--column", "x"], "--column is for Parquet files; leave it out, or use --from parquet"),
        (["parse", "-t", "a", "--id-column", "x"], "--id-column is for Parquet files; leave it out for --text"),
        (["parse", "{table}", "{conllu}"], "{conllu} is CoNLL-U and {table} is Parquet; parse them separately"),
        (["parse", "{conllu}", "--from", "parquet"], "{conllu}: this is not a complete Parquet file ("),
        (["parse", "{unnamed}"], "{unnamed}: this is a Parquet file without .parquet at the end of its name; rename"),
        (["parse", "{newer}"], "{newer}: the table was written by a newer version of easyfirst (schema 9, "),
        (["convert", "{texts}"], "{texts}: the table has no column form with the words of each sentence"),
        (["convert", "{wrong}"], "{wrong}, row 2:1: HEAD is 7 but the sentence has 1 word; correct it or write _"),
        (["convert", "missing.parquet"], "missing.parquet: there is no such file; check the name"),
        (["parse", "missing.parquet"], "missing.parquet: there is no such file; check the name"),
        (["render", "missing.parquet"], "missing.parquet: there is no such file; check the name"),
        (["parse", "{table}", "--to", "parquet", "-o", "x.gz"], "Parquet is compressed by itself; leave out .gz"),
        (["parse", "{table}", "--to", "json", "--deps"], "--deps is for CoNLL-U"),
    ],
)
def test_errors(tmp_path: Path, arguments: list[str], message: str) -> None:
    names = {name: str(tmp_path / f"{name}.parquet") for name in ("texts", "table", "wrong", "newer")}
    names |= {"conllu": str(tmp_path / "x.conllu"), "unnamed": str(tmp_path / "unnamed")}
    pq.write_table(pa.table({"body": ["The fox."]}), names["texts"])
    pq.write_table(pa.table({"form": [["a"], ["b"]], "head": [[0], [7]]}), names["wrong"])
    pq.write_table(pa.table({"form": [["a"]]}).replace_schema_metadata({VERSION_KEY: b"9"}), names["newer"])
    (tmp_path / "x.conllu").write_bytes(TREEBANK.read_bytes())
    out("convert", TREEBANK, "-o", names["table"])
    (tmp_path / "unnamed").write_bytes(Path(names["table"]).read_bytes())
    done = run_here(*(argument.format(**names) for argument in arguments))
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1].startswith(f"error: {message.format(**names)}")


def test_an_error_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"old")
    done = run_here("parse", "-o", path, stdin=TREEBANK.read_bytes() + b"1\twrong\n")
    assert (done.returncode, path.read_bytes()) == (2, b"old")
    assert list(tmp_path.iterdir()) == [path]


def test_pipes_as_processes(tmp_path: Path) -> None:
    """A table goes through a pipe as well as through a file."""
    table = run_process("convert", TREEBANK, "--to", "parquet", "-q")
    assert table.returncode == 0
    assert run_process("convert", "--from", "parquet", "-q", stdin=table.stdout).stdout == TREEBANK.read_bytes()


def test_each_file_into_its_own_table(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "in").mkdir()
    texts.rename(tmp_path / "in" / "letters.txt")
    out("parse", tmp_path / "in", "--out-dir", tmp_path / "out", "--to", "parquet")
    found = [path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")]
    assert found == ["letters.parquet"]
    out("parse", tmp_path / "out", "--from", "parquet", "--out-dir", tmp_path / "again")
    assert (tmp_path / "again" / "letters.conllu").is_file()


def test_other_formats_do_not_import_arrow() -> None:
    code = (
        "import sys, easyfirst\n"
        "from easyfirst.cli import main\n"
        "sys.argv = ['easyfirst', 'parse', '-t', 'The fox.', '--to', 'json']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    pass\n"
        "for name in easyfirst.__all__:\n"
        "    getattr(easyfirst, name)\n"
        "assert not {'pyarrow', 'pandas', 'nltk'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
