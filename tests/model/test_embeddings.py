"""Word vectors of every usual kind are read, and a file that is none of them says what to do."""

from __future__ import annotations

import contextlib
import errno
import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError
from easyfirst.model.embeddings import (
    Embeddings,
    concatenate_embeddings,
    external_table,
    read_embeddings,
    scaled,
    write_embeddings,
)
from easyfirst.model.initial_values import EMBEDDING_LENGTH


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_reads(path: Path, expected: dict[str, list[float]]) -> None:
    vectors = read_embeddings(path)
    assert vectors.words == tuple(expected)
    assert vectors.vectors.dtype == np.float32
    assert vectors.vectors.flags.c_contiguous
    assert vectors.vectors.flags.writeable
    assert vectors.vectors.tolist() == list(expected.values())


# Text


@pytest.mark.parametrize(
    "text",
    [
        "a 1 2.5\nb -3e0 4\n",  # GloVe
        "2 2\na 1 2.5\nb -3e0 4\n",  # word2vec
        "2 2 \na 1 2.5 \nb -3e0 4 \n",  # word2vec as the original program writes it
        "2 2\r\na 1 2.5\r\nb -3e0 4",
        "2\t2\na\t1\t2.5\nb\t-3e0\t4\n",
        "\ufeff2 2\na 1  2.5\nb -3e0 4\n\n",
        "\n\na 1 2.5\nb -3e0 4\na 7 7\n",  # of two equal words the first counts
        "3 2\na 1 2.5\nb -3e0 4\nb 7 7\n",
    ],
)
@pytest.mark.parametrize("name", ["v.txt", "v.gz"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_is_read_plain_and_gzipped_whatever_its_name(tmp_path: Path, text: str, name: str, packed: bool) -> None:
    content = text.encode()
    path = write(tmp_path / name, gzip.compress(content) if packed else content)
    assert_reads(path, {"a": [1, 2.5], "b": [-3, 4]})


def test_words_may_hold_anything_but_a_line_end(tmp_path: Path) -> None:
    path = write(
        tmp_path / "v", "x 0 0\n10\u00a0000 1 2\n🦊 3 4\n. . . 5 6\nat a@b.c 7 8\n\u3000 9 10\n\x85 1 1\n5 2 2\n"
    )
    words = ["x", "10\u00a0000", "🦊", ". . .", "at a@b.c", "\u3000", "\x85", "5"]
    assert read_embeddings(path).words == tuple(words)


word_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"), min_size=1)
tables = st.integers(1, 4).flatmap(
    lambda dim: st.dictionaries(
        word_texts,
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=dim, max_size=dim),
        min_size=1,
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(tables)
def test_what_is_written_is_read(tmp_path: Path, table: dict[str, list[float]]) -> None:
    dim = len(next(iter(table.values())))
    lines = [f"{len(table)} {dim}", *(f"{word} {' '.join(map(str, row))}" for word, row in table.items())]
    assert_reads(write(tmp_path / "v.txt", "\n".join(lines) + "\n"), table)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "there are no word vectors in this file"),
        ("\n \n", None, "there are no word vectors in this file"),
        ("0 5\n", None, "there are no word vectors in this file"),
        ("word\n", 1, "a word without a vector"),
        ("5 0\n", 1, "a word without a vector"),
        ("a 1 2\nb 3\n", 2, "1 numbers after the word, but there should be 2"),
        ("a 1 2\n 3 4\n", 2, "1 numbers after the word, but there should be 2"),
        ("a 1 2\n\nb 3 4 5\n", 3, "3 numbers after the word, but there should be 2"),
        ("1 2\na 1 2 3\n", 2, "3 numbers after the word, but there should be 2"),
        ("a 1 2\nb x 4\n", 2, "'x' is not a number"),
        ("some text that is no table\n", 1, "'text' is not a number"),
        ("a 1 2\nb nan 4\n", 2, "a value that is not a finite number"),
        ("a 1 2\nb 4 -inf\n", 2, "a value that is not a finite number"),
        ("a 1 2\nb 4 1e39\n", 2, "a value that is not a finite number"),
        ("3 2\na 1 2\nb 3 4\n", None, "the first line promises 3 words, but there are 2; is it cut short?"),
        ("1 2\na 1 2\nb 3 4\n", None, "the first line promises 1 word, but there are 2"),
    ],
)
def test_text_that_is_wrong_names_file_and_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = write(tmp_path / "v.txt", text)
    with pytest.raises(DataError) as error:
        read_embeddings(path)
    place = str(path) if line is None else f"{path}:{line}"
    assert str(error.value).startswith(f"{place}: {message}")
    assert (error.value.source, error.value.line) == (str(path), line)


def test_a_word_that_is_not_utf8_names_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", b"a 1 2\n\xe9t\xe9 1 2\n")
    with pytest.raises(DataError, match=r"v\.txt:2: byte 0xE9 is not valid UTF-8; convert the file"):
        read_embeddings(path)


def test_binary_word2vec_says_how_to_convert_it(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(3, 50)).astype(np.float32)
    content = b"3 50\n" + b"".join(b"w%d " % i + row.tobytes() + b"\n" for i, row in enumerate(rows))
    with pytest.raises(DataError, match=r"looks like binary word2vec; convert it to text.*save_word2vec_format"):
        read_embeddings(write(tmp_path / "v.bin", content))


@pytest.mark.parametrize("content", [b"\x00\x01\x02 \x03 \x04\n", b"\x89PNG\r\n\x1a\n\x00\x00", b"\xfe \xff\n"])
def test_a_file_that_is_no_text_is_called_so(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match=r"v:1: this is not a text file of word vectors"):
        read_embeddings(write(tmp_path / "v", content))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"\xfd7zXZ\0", "this is an xz file; unpack it first"),
        (b"BZh91AY&SY", "this is a bzip2 file"),
        (b"\x28\xb5\x2f\xfd", "this is a Zstandard file"),
        (b"\x93NUMPY\x01\x00", "this is a single NumPy array"),
        (b"\xba\x16\x4f\x2f", "this is a binary fastText model"),
    ],
)
def test_a_kind_that_is_not_read_says_what_to_do(tmp_path: Path, start: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_embeddings(write(tmp_path / "v", start + b"\0" * 20))


def test_an_npz_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"v\.npz: damaged, or no \.npz file at all"):
        read_embeddings(write(tmp_path / "v.npz", b"\0" * 50))


def test_a_gzip_file_cut_short_is_called_so(tmp_path: Path) -> None:
    lines = "".join(f"w{i} {i * 0.37} {i * 1.71}\n" for i in range(1000))
    path = write(tmp_path / "v.gz", gzip.compress(lines.encode())[:-500])
    with pytest.raises(DataError, match=r"v\.gz: damaged or incomplete gzip file"):
        read_embeddings(path)


def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="nothing: there is no such file; check the name"):
        read_embeddings(tmp_path / "nothing")
    with pytest.raises(DataError, match="this is a directory; name a file in it"):
        read_embeddings(tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="v: the file cannot be opened: Permission denied"):
        read_embeddings("v")


# NumPy


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "int8"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_is_read_as_float32(tmp_path: Path, dtype: str, save: Any) -> None:
    table = np.array([[1, 2], [-3, 4], [5, 6]]).astype(dtype)
    save(tmp_path / "v.npz", words=np.array(["a", "10\u00a0000", "a"]), vectors=table, unk=np.zeros(2))
    assert_reads(tmp_path / "v.npz", {"a": [1, 2], "10\u00a0000": [-3, 4]})


def test_npz_in_fortran_order_is_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(["a", "b"]), vectors=np.array([[1, 2], [3, 4.0]], order="F"))
    assert_reads(tmp_path / "v.npz", {"a": [1, 2], "b": [3, 4]})


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vectors": np.ones((1, 2))}, "there is no array 'words', only: vectors; save the arrays 'words'"),
        ({"words": np.array(["a"])}, "there is no array 'vectors', only: words"),
        ({}, "there is no array 'words', only: nothing"),
        ({"words": np.array(["a", "b"]), "vectors": np.ones((3, 2))}, "there are 2 words but 3 vectors"),
        ({"words": np.array([], "U1"), "vectors": np.ones((0, 2))}, "there are no word vectors"),
        ({"words": np.array([["a"]]), "vectors": np.ones((1, 2))}, "'words' must be a list of strings"),
        ({"words": np.array([b"a"]), "vectors": np.ones((1, 2))}, "'words' must be a list of strings, not |S1"),
        ({"words": np.array(["a"]), "vectors": np.ones(1)}, "'vectors' must be a table of numbers"),
        ({"words": np.array(["a"]), "vectors": np.ones((1, 0))}, "'vectors' must be a table of numbers"),
        ({"words": np.array(["a"]), "vectors": np.array([["1"]])}, "'vectors' must be a table of numbers"),
        ({"words": np.array(["a", "b"]), "vectors": np.array([[1], [np.nan]])}, "the vector of 'b' holds a value"),
        ({"words": np.array(["a", "b"]), "vectors": np.array([[1], [1e39]])}, "the vector of 'b' holds a value"),
        ({"words": np.array(["a\ud800"]), "vectors": np.ones((1, 1))}, "'words' are not valid Unicode"),
        ({"words": np.array(["a"], object), "vectors": np.ones((1, 1))}, "pickled arrays are never read"),
    ],
)
def test_npz_that_is_wrong_says_how(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(DataError) as error:
        read_embeddings(tmp_path / "v.npz")
    assert message in str(error.value)
    assert error.value.source == str(tmp_path / "v.npz")


def test_a_zip_of_text_files_names_what_is_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as file:
        file.writestr("glove.50d.txt", "a 1 2\n")
    with pytest.raises(DataError, match=r"there is no array 'words', only: glove\.50d\.txt"):
        read_embeddings(tmp_path / "glove.zip")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_a_damaged_npz_never_fails_in_another_way(tmp_path: Path, data: st.DataObject) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(["a", "b"]), vectors=np.ones((2, 3), np.float32))
    content = bytearray((tmp_path / "v.npz").read_bytes())
    content[data.draw(st.integers(2, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.sampled_from([len(content), len(content) // 2, 10]))
    with contextlib.suppress(DataError):
        read_embeddings(write(tmp_path / "v.npz", bytes(content[:cut])))


# For the network


@pytest.mark.parametrize("length", [1e-3, 1.0, 28.0])
def test_scaled_vectors_have_the_mean_length_of_a_fresh_embedding(length: float) -> None:
    rows = np.random.default_rng(1).normal(size=(50, 10)).astype(np.float32)
    rows *= np.float32(length)
    vectors = Embeddings(tuple(map(str, range(50))), rows.copy())
    result = scaled(vectors)
    assert np.linalg.norm(result.vectors, axis=1).mean() == pytest.approx(EMBEDDING_LENGTH, rel=1e-5)
    assert result.vectors.dtype == np.float32
    assert result.words == vectors.words
    ratio = result.vectors / rows
    assert np.allclose(ratio, ratio[0, 0], rtol=1e-4)
    assert np.array_equal(vectors.vectors, rows)


def test_vectors_of_zeros_stay() -> None:
    vectors = Embeddings(("a",), np.zeros((1, 2), np.float32))
    assert not scaled(vectors).vectors.any()


def test_the_table_begins_with_the_unknown_word() -> None:
    table = external_table(Embeddings(("a", "b"), np.array([[1, 2], [3, 4]], np.float32)))
    assert table.dtype == np.float32
    assert table.tolist() == [[0, 0], [1, 2], [3, 4]]


# What is made of them


def test_side_by_side() -> None:
    one = Embeddings(("a", "b"), np.array([[3, 4], [0, 15]], dtype=np.float32))  # mean length 10
    other = Embeddings(("c", "b"), np.array([[0, 0, 1], [1, 0, 0]], dtype=np.float32))
    both = concatenate_embeddings(one, other)
    assert both.words == ("a", "b", "c")
    np.testing.assert_allclose(both.vectors, [[0.3, 0.4, 0, 0, 0], [0, 1.5, 1, 0, 0], [0, 0, 0, 0, 1]], rtol=1e-6)
    assert both.vectors.dtype == np.float32


def test_side_by_side_by_normalised_form() -> None:
    one = Embeddings(("fox", "<number>"), np.array([[1], [-1]], dtype=np.float32))
    other = Embeddings(("Fox", "1990", "zebra"), np.array([[1], [1], [1]], dtype=np.float32))
    both = concatenate_embeddings(one, other)
    assert both.words == ("fox", "<number>", "Fox", "1990", "zebra")
    assert both.vectors.tolist() == [[1, 0], [-1, 0], [1, 1], [-1, 1], [0, 1]]


def test_zeros_stay_zeros_side_by_side() -> None:
    nothing = Embeddings(("a",), np.zeros((1, 2), dtype=np.float32))
    assert not concatenate_embeddings(nothing, nothing).vectors.any()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    vectors = Embeddings(("a", "Ünï", "長い"), np.array([[0.5, -1], [2, 0.25], [0, 0]], dtype=np.float32))
    path = tmp_path / "vectors.npz"
    with path.open("wb") as stream:
        write_embeddings(stream, vectors)
    again = read_embeddings(path)
    assert again.words == vectors.words
    np.testing.assert_array_equal(again.vectors, vectors.vectors)


def test_what_sixteen_bits_cannot_hold_is_written_in_32(tmp_path: Path) -> None:
    vectors = Embeddings(("a", "b"), np.array([[1e6, 1], [0, 1e-3]], dtype=np.float32))
    with (tmp_path / "vectors.npz").open("wb") as stream:
        write_embeddings(stream, vectors)
    np.testing.assert_array_equal(read_embeddings(tmp_path / "vectors.npz").vectors, vectors.vectors)


def test_words_that_cannot_be_written_are_left_out(tmp_path: Path) -> None:
    words = ("a", "b\0", "\0", "x" * 101, "x" * 100)
    with (tmp_path / "vectors.npz").open("wb") as stream:
        write_embeddings(stream, Embeddings(words, np.arange(10, dtype=np.float32).reshape(5, 2)))
    assert_reads(tmp_path / "vectors.npz", {"a": [0, 1], "x" * 100: [8, 9]})
