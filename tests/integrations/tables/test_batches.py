"""Batches of texts in Arrow become batches of sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import easyfirst  # noqa: E402
from easyfirst import batches  # noqa: E402
from easyfirst.batches import ID, Columns, Options, empty_result, parse_batch  # noqa: E402
from easyfirst.errors import InputError  # noqa: E402
from tests.integrations.corpora import expected, save_text_model, texts  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_text_model(tmp_path_factory.mktemp("models") / "text")


@pytest.mark.parametrize("kind", ["record batch", "table in chunks"])
@pytest.mark.parametrize("words", [1, 40, 20_000])
def test_sentences_are_those_of_the_library(
    model: Path, kind: str, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "WORDS", words)
    given = texts(40)
    values = {"n": list(range(40)), "body": given, "tags": [[number, None] for number in range(40)]}
    schema = pa.schema([("n", pa.int16()), ("body", pa.large_string()), ("tags", pa.list_(pa.int8()))])
    table = pa.table(values, schema=schema)
    batch = table.to_batches()[0] if kind == "record batch" else pa.concat_tables([table[:7], table[7:]])
    found = list(parse_batch(easyfirst.load(model), batch, Columns("body", "n", ("tags", "n")), Options(threads=2)))
    assert len(found) > 5 or words > 1
    assert (len(found) == 1) == (words == 20_000)
    wanted = expected(model, {str(number): text for number, text in enumerate(given)})
    wanted = [row | {"tags": [int(row["doc_id"]), None], "n": int(row["doc_id"])} for row in wanted]
    assert pa.Table.from_batches(found).to_pylist() == wanted
    assert found[0].schema == empty_result(batch, Columns("body", "n", ("tags", "n"))).schema
    assert found[0].schema.field("tags").type == pa.list_(pa.int8())


def test_a_text_as_one_sentence(model: Path) -> None:
    given = {"a": "One. Two. Three.", "b": ""}
    batch = pa.record_batch({"text": list(given.values()), "id": list(given)})
    [found] = parse_batch(easyfirst.load(model), batch, Columns("text", "id"), Options(one_sentence=True))
    assert found.to_pylist() == expected(model, given, one_sentence=True)
    assert found.num_rows == 1


def test_nulls_are_empty_texts(model: Path) -> None:
    batch = pa.record_batch({"text": pa.array([None, "Yes.", None]), "id": [1, 2, 3]})
    [found] = parse_batch(easyfirst.load(model), batch, Columns("text", "id"), Options())
    assert set(found.column("doc_id").to_pylist()) == {"2"}
    nothing = pa.record_batch({"text": pa.nulls(2), "id": [1, 2]})
    assert list(parse_batch(easyfirst.load(model), nothing, Columns("text", "id"), Options())) == []
    assert empty_result(nothing, Columns("text", "id")).num_rows == 0


def test_categories_are_texts(model: Path) -> None:
    given = ["Yes.", None, "No.", "Yes."]
    batch = pa.record_batch({"text": pa.array(given).dictionary_encode(), "id": list("abcd")})
    [found] = parse_batch(easyfirst.load(model), batch, Columns("text", "id"), Options())
    named = {name: text or "" for name, text in zip("abcd", given, strict=True)}
    assert found.to_pylist() == expected(model, named)


def test_ids_with_odd_characters_can_be_read_again(model: Path, tmp_path: Path) -> None:
    ids = {
        b"a\nb": "a b",
        b" c ": "c",
        "d\r\ne\tf": "d e f",
        b"abc": "abc",
        "g\u2028h\N{NO-BREAK SPACE}i": "g h i",
        "#=/": "#=/",
    }
    for given, wanted in ids.items():
        batch = pa.record_batch({"text": ["Yes. No."], "id": [given]})
        table = pa.Table.from_batches(parse_batch(easyfirst.load(model), batch, Columns("text", "id"), Options()))
        assert set(table["doc_id"].to_pylist()) == {wanted}
        pq.write_table(table, tmp_path / "x.parquet")
        text = b"".join(sentence.to_bytes() for sentence in easyfirst.read_parquet(tmp_path / "x.parquet")).decode()
        assert [line for line in text.split("\n") if line.startswith("# newdoc")] == [f"# newdoc id = {wanted}"]
        assert f"# sent_id = {wanted.replace(' ', '_')}-1\n" in text


def test_a_document_with_an_odd_name(model: Path) -> None:
    document = easyfirst.load(model)("Yes. No.")
    table = document.to_arrow(per="sentence", name="a\nb ")
    assert table["doc_id"].to_pylist() == ["a b"] * len(document)
    assert table["sent_id"][0].as_py() == "a_b-1"
    with pytest.raises(InputError, match="the id of a document is empty"):
        document.to_arrow(name=" ")


def test_numbers_of_parts_and_rows_sort_as_texts(model: Path) -> None:
    numbers = [0, 9, 10, 8_589_934_592, 8_589_934_592 + 11, 8_589_934_592 * 20]
    batch = pa.record_batch({"text": ["Yes."] * 6, ID: numbers})
    [found] = parse_batch(easyfirst.load(model), batch, Columns("text", ID), Options())
    ids = list(dict.fromkeys(found.column("doc_id").to_pylist()))
    assert ids == sorted(ids)
    assert ids[0] == "000000000-0000000000"
    assert ids[4] == "000000001-0000000011"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": "body"}, "there is no column body; the columns are: text, id, number, holes, "),
        ({"keep": ("url",)}, "there is no column url"),
        ({"text": "number"}, "the column number is of type int64; it must be a column of texts"),
        ({"doc_id": "holes"}, "the column holes has a null in it; every text needs an id"),
        ({"keep": ("text",)}, "the column text cannot be kept"),
        ({"keep": ("sentence",)}, "the column sentence cannot be kept"),
        ({"keep": "id"}, "give a list of columns"),
        ({"keep": ("number", "number")}, "the column number cannot be kept: it is named twice"),
        ({"keep": ("id", "ID")}, "the column ID cannot be kept: it is named twice, or differs .* in case only"),
        ({"keep": ("Head",)}, "the column Head cannot be kept: the result has another one of that name"),
        ({"doc_id": "blank"}, "the column blank has an empty id"),
        ({"doc_id": "bytes"}, "is not UTF-8; give texts or numbers as ids"),
    ],
)
def test_columns_that_cannot_be_used(model: Path, arguments: dict[str, object], message: str) -> None:
    others = {"holes": ["a", None], "blank": ["a", " "], "bytes": [b"a", b"\xff"]}
    batch = pa.record_batch({"text": ["Yes.", "No."], "id": [1, 2], "number": [3, 4], **others})
    with pytest.raises(InputError, match=message):
        list(
            parse_batch(
                easyfirst.load(model),
                batch,
                Columns(**{"text": "text", "doc_id": "id", **arguments}),  # type: ignore[arg-type]
                Options(),
            )
        )


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"threads": 0}])
def test_options_that_cannot_be_used(options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Options(**options)
