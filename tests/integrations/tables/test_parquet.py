"""Parquet files of parsed corpora: lossless, streamed, safely written, and refused with a message if they are wrong."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from easyfirst.errors import DataError  # noqa: E402
from easyfirst.tables import parquet  # noqa: E402
from easyfirst.tables.arrow import (  # noqa: E402
    VERSION_KEY,
    rows_of,
    sentence_batch,
    sentence_schema,
    sentence_table,
    word_table,
)
from easyfirst.tables.parquet import (  # noqa: E402
    ParquetEncoder,
    read_parquet,
    read_rows,
    read_texts,
    read_trailer,
    rows_of_sentences,
    write_rows,
)
from easyfirst.tables.rows import Row  # noqa: E402
from easyfirst.treebank.conllu import read_conllu  # noqa: E402
from tests.tables.corpora import canonical_files, read  # noqa: E402
from tests.treebank.test_conllu import files  # noqa: E402

DATA = Path(__file__).parents[2] / "data"
TREEBANK = DATA / "multiword.conllu"


def corpus(n: int) -> Iterator[Row]:
    """A corpus of any length."""
    rows = list(rows_of_sentences(read_conllu(TREEBANK)))
    return (replace(rows[number % len(rows)], sent_id=f"s{number}") for number in range(n))


def nearly(rows: list[Row]) -> list[Row]:
    """Return rows with probabilities as 32-bit floats hold them."""
    return [
        replace(row, **{name: tuple(None if p is None else round(p, 6) for p in getattr(row, name)) for name in names})
        for names in [("confidence", "label_confidence")]
        for row in rows
    ]


@settings(max_examples=40)
@given(files())
def test_any_file_comes_back_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, file: tuple[bytes, int]) -> None:
    path = tmp_path_factory.mktemp("any") / "x.parquet"
    sentences, trailer = read(file[0])
    encoder = ParquetEncoder()
    path.write_bytes(encoder.add(rows_of_sentences(sentences)) + encoder.end(trailer))
    assert b"".join(s.to_bytes() for s in read_parquet(path)) + read_trailer(path) == file[0]


@settings(max_examples=40)
@given(canonical_files())
def test_rows_come_back_from_arrow(raw: bytes) -> None:
    rows = list(rows_of_sentences(read(raw)[0]))
    batch = sentence_batch(rows)
    batch.validate(full=True)
    assert batch.schema.equals(sentence_schema(), check_metadata=True)
    assert nearly(list(rows_of(batch))) == rows


def test_row_groups_bound_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_WORDS", 2_000)
    monkeypatch.setattr(parquet, "BATCH_WORDS", 500)
    path = tmp_path / "x.parquet"
    n = 2_000

    def peak(n_sentences: int) -> int:
        tracemalloc.start()
        write_rows(path, corpus(n_sentences))
        for _ in read_rows(path):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    small, large = peak(n // 4), peak(n)
    assert pq.ParquetFile(path).num_row_groups > 5
    assert large < 2 * small
    assert [row.sent_id for row in read_rows(path)] == [f"s{number}" for number in range(n)]


def test_the_encoder_gives_bytes_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_WORDS", 100)
    monkeypatch.setattr(parquet, "BATCH_WORDS", 50)
    encoder = ParquetEncoder()
    pieces = [encoder.add([row]) for row in corpus(100)]
    assert sum(bool(piece) for piece in pieces) > 5
    assert pq.ParquetFile(pa.BufferReader(b"".join(pieces) + encoder.end())).metadata.num_rows == 100


def test_an_empty_corpus_is_a_table_too(tmp_path: Path) -> None:
    write_rows(tmp_path / "x.parquet", [])
    assert list(read_parquet(tmp_path / "x.parquet")) == []


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"old")

    def failing() -> Iterator[Row]:
        yield from corpus(2)
        raise DataError("broken")

    with pytest.raises(DataError, match="broken"):
        write_rows(path, failing())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_rows(path, corpus(2))
    assert len(list(read_rows(path))) == 2
    assert list(tmp_path.iterdir()) == [path]


def test_other_tools_read_it(tmp_path: Path) -> None:
    write_rows(tmp_path / "x.parquet", corpus(2))
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.schema.metadata[VERSION_KEY] == b"1"
    assert table.schema.equals(sentence_schema())
    assert table.column("form")[0].as_py() == ["Do", "n't", "salt", "the", "soup", "."]
    assert table.column("head").type == pa.list_(pa.field("element", pa.int32()))


def test_tables_of_other_tools_are_read(tmp_path: Path) -> None:
    """Only the forms are needed, and lists may be of other types."""
    table = pa.table(
        {
            "id": [1, 2],
            "form": pa.array([["The", "fox"], ["Jump"]], pa.large_list(pa.large_string())),
            "head": pa.array([[2, 0], [0]], pa.list_(pa.int64())),
            "deprel": [["det", None], None],
            "doc_id": pa.array(["d", "d"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    first, second = read_parquet(tmp_path / "x.parquet")
    assert first.to_bytes().decode() == (
        "# newdoc id = d\n1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tfox\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    )
    assert (second.forms, second.heads, second.comments) == (("Jump",), (0,), ())


def test_list_views_are_read() -> None:
    for kind in (pa.list_view, pa.large_list_view):
        columns = {"form": pa.array([["a", "b"]], kind(pa.string())), "head": pa.array([[2, 0]], kind(pa.int8()))}
        [row] = rows_of(pa.table(columns))
        assert (row.form, row.head) == (("a", "b"), (2, 0))


def test_a_directory_is_read_in_the_order_of_its_files(tmp_path: Path) -> None:
    place = tmp_path / "out.parquet"
    place.mkdir()
    rows = list(corpus(3))
    for number, row in enumerate(reversed(rows)):
        write_rows(place / f"part-{2 - number}.parquet", [row])
    (place / "_SUCCESS").write_bytes(b"")
    (place / ".part-0.parquet.crc").write_bytes(b"x")
    assert [s.metadata["sent_id"] for s in read_parquet(place)] == ["s0", "s1", "s2"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: the directory has no \.parquet files; check the name"):
        list(read_parquet(tmp_path / "empty"))


def test_word_tables(tmp_path: Path) -> None:
    table = word_table(corpus(2))
    assert table.num_rows == 16
    assert table.column_names[:5] == ["doc_id", "sent_id", "sentence", "id", "form"]
    assert table.slice(6, 1).to_pylist()[0] == {
        "doc_id": "kitchen",
        "sent_id": "s1",
        "sentence": 2,
        "id": 1,
        "form": "Ana",
        "lemma": "Ana",
        "upos": "PROPN",
        "xpos": "NNP",
        "feats": "Number=Sing",
        "head": 2,
        "deprel": "nsubj",
        "deps": "2:nsubj",
        "misc": None,
        "start": None,
        "end": None,
        "confidence": None,
        "label_confidence": None,
    }


class TestErrors:
    """Every message names the file, what is wrong and what to do."""

    def refused(self, path: Path) -> str:
        with pytest.raises(DataError) as raised:
            list(read_parquet(path))
        assert str(raised.value).startswith(str(path))
        return str(raised.value)

    def test_files(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        assert "there is no such file; check the name" in self.refused(path)
        path.write_bytes(b"# sent_id = 1\n")
        assert "this is not a complete Parquet file (" in self.refused(path)
        write_rows(path, corpus(50))
        path.write_bytes(path.read_bytes()[:-100])
        assert "this is not a complete Parquet file (" in self.refused(path)

    def test_damage(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        write_rows(path, corpus(50))
        raw = bytearray(path.read_bytes())
        raw[4:400] = bytes(396)
        path.write_bytes(raw)
        assert "the file is damaged (" in self.refused(path)

    def test_versions(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        table = sentence_table(corpus(1))
        pq.write_table(table.replace_schema_metadata({VERSION_KEY: b"2"}), path)
        message = "written by a newer version of easyfirst (schema 2, this one reads 1); upgrade easyfirst"
        assert message in self.refused(path)

    def test_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"text": ["a"], "n": [1]}), path)
        assert "no column form with the words of each sentence (its columns are: text, n); " in self.refused(path)
        pq.write_table(pa.table({"form": [["a"]], "head": [["zero"]]}), path)
        assert "the column head is of type list<element: string>; make it list<element: int32>" in self.refused(path)
        pq.write_table(pa.table({"form": ["a"]}), path)
        assert "the column form is of type string; make it a list of the words of each sentence" in self.refused(path)
        pq.write_table(pa.table({"form": [["a"], []]}), path)
        assert f"{path}:2: form is empty, but a sentence needs its words" in self.refused(path)
        pq.write_table(pa.table({"form": [["a"], ["a", None]]}), path)
        assert f"{path}:2: form has a null in it" in self.refused(path)


class TestTexts:
    """A column of texts is an input too."""

    def test_reading(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"body": ["a", None, "", "b"], "id": [7, 8, 9, None]}), path)
        assert [tuple(text) for text in read_texts(path, "body", "id")] == [("a", 1, "7"), ("", 3, "9"), ("b", 4, None)]
        assert [text.id for text in read_texts(path, "body")] == [None] * 3
        pq.write_table(pa.table({"body": pa.array(["a", "a"]).dictionary_encode()}), path)
        assert [text.text for text in read_texts(path, "body")] == ["a", "a"]

    def test_errors(self, tmp_path: Path) -> None:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"body": ["a"], "n": [1]}), path)
        with pytest.raises(DataError, match=r"there is no column 'text' \(there are: body, n\); choose another"):
            list(read_texts(path, "text"))
        with pytest.raises(DataError, match=r"there is no column 'key'"):
            list(read_texts(path, "body", "key"))
        with pytest.raises(DataError, match=r"the column 'n' is of type int64; choose one of strings"):
            list(read_texts(path, "n"))
