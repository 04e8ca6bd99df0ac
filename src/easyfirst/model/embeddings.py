"""Files of external word vectors: word2vec text (with a header), GloVe text (without one), either of them gzipped, or
``.npz`` with the arrays ``words`` and ``vectors``.

The format is detected from the first bytes of a file, not from its name. In text, ASCII spaces and tabs separate the
columns and the numbers come last, so a word may contain no-break spaces. If a word occurs twice, its first vector
counts.
"""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from array import array
from dataclasses import dataclass
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
import numpy.typing as npt

from easyfirst.counting import count
from easyfirst.errors import DataError
from easyfirst.model.initial_values import EMBEDDING_LENGTH
from easyfirst.model.lexicon import external_ids, numbered
from easyfirst.model.memory import gigabytes, memory_size
from easyfirst.nn.arrays import Floats
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, read_lines

MAX_WORD_LENGTH = 100  # the longest words that are written
_HEADER = re.compile(rb"([0-9]{1,12})[ \t]+([0-9]{1,6})\s*")
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
_UNREADABLE = {
    b"\x93NUMPY": "a single NumPy array; save words and vectors together: numpy.savez(FILE, words=..., vectors=...)",
    b"\xba\x16\x4f\x2f": "a binary fastText model; use its text file (.vec) instead",
}
_BINARY = (
    "this looks like binary word2vec; convert it to text, for example with gensim: "
    "KeyedVectors.load_word2vec_format(FILE, binary=True).save_word2vec_format('vectors.txt')"
)
_DAMAGED = (
    ValueError,
    KeyError,
    OverflowError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Distinct words and their vectors."""

    words: tuple[str, ...]
    vectors: Floats  # (n_words, dim) float32

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])


def read_embeddings(path: str | PathLike[str]) -> Embeddings:
    """Read a file of word vectors in any of the formats above."""
    name = fspath(path)
    with _open(name) as stream:
        start = stream.peek(8)
        for magic, what in _UNREADABLE.items():
            if start.startswith(magic):
                raise DataError(f"this is {what}", source=name)
        if start.startswith(_ZIP):
            return _read_npz(stream, name)
        if name.endswith(".npz"):
            raise DataError("damaged, or no .npz file at all: it does not start like one; fetch it again", source=name)
        if start.startswith(_GZIP):
            with cast(BinaryIO, gzip.open(stream, "rb")) as unpacked:
                return _TextReader(name).read(unpacked)
        return _TextReader(name).read(stream)


def first_embeddings(vectors: Embeddings, n: int | None) -> Embeddings:
    """Return the first ``n`` vectors, usually those of the most frequent words; None: all."""
    return vectors if n is None else Embeddings(vectors.words[:n], vectors.vectors[:n])


def scaled(vectors: Embeddings, length: float = EMBEDDING_LENGTH) -> Embeddings:
    """Multiply all vectors by the same factor, so that their mean length is that of a newly initialised embedding and
    neither table dominates W^v's input."""
    mean_length = float(np.sqrt(np.square(vectors.vectors, dtype=np.float64).sum(axis=1)).mean())
    factor = length / mean_length if mean_length else 1
    return Embeddings(vectors.words, (vectors.vectors * factor).astype(np.float32))


def concatenate_embeddings(one: Embeddings, other: Embeddings) -> Embeddings:
    """Concatenate the vectors of each word that either has, the first's words in front. A word that one of them lacks
    gets the vector of its normalised form, else zeros. Both are scaled to a mean length of 1."""
    words = tuple(dict.fromkeys((*one.words, *other.words)))
    parts = [external_table(scaled(part, 1))[external_ids(numbered(part.words), words)] for part in (one, other)]
    return Embeddings(words, np.concatenate(parts, axis=1))


def write_embeddings(stream: BinaryIO, vectors: Embeddings) -> None:
    """Write ``.npz``, with 16-bit numbers if all fit. Words that end in a null character, which NumPy strips, are left
    out, and so are those longer than :data:`MAX_WORD_LENGTH`, because all words take the space of the longest."""
    kept = [row for row, word in enumerate(vectors.words) if len(word) <= MAX_WORD_LENGTH and not word.endswith("\0")]
    table = vectors.vectors[kept]
    with np.errstate(over="ignore"):
        short = table.astype(np.float16)
    words = np.array([vectors.words[row] for row in kept], dtype=np.str_)
    packed = io.BytesIO()  # np.savez needs to seek
    np.savez(packed, words=words, vectors=short if np.isfinite(short).all() else table)
    stream.write(packed.getbuffer())


def external_table(vectors: Embeddings) -> Floats:
    """Return the vectors as a table whose row 0 is the unknown word (zeros)."""
    return np.concatenate([np.zeros((1, vectors.dim), dtype=np.float32), vectors.vectors])


def _open(name: str) -> io.BufferedReader:
    try:
        if Path(name).is_dir():
            raise DataError("this is a directory; name a file in it", source=name)
        return Path(name).open("rb")
    except FileNotFoundError:
        raise DataError("there is no such file; check the name", source=name) from None
    except OSError as error:
        raise DataError(f"the file cannot be opened: {error.strerror or error}", source=name) from None


class _TextReader:
    """Reads word2vec and GloVe text line by line into one growing buffer."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0
        self._dim = 0  # unknown before the first line
        self._n_promised: int | None = None  # the number of words in the header of word2vec
        self._n_words = 0
        self._words: dict[str, None] = {}
        self._values = array("f")

    def read(self, stream: BinaryIO) -> Embeddings:
        with np.errstate(over="ignore"):  # numbers too large for 32 bits become infinite and are refused
            for line in read_lines(stream, self._name):
                self._line += 1
                if self._line == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                if not line.isspace() and (self._dim or not self._is_header(line)):
                    self._take(line)
        if not self._n_words:
            raise DataError("there are no word vectors in this file", source=self._name)
        if self._n_promised not in (None, self._n_words):
            message = f"the first line promises {count(self._n_promised, 'word')}, but there are {self._n_words}"
            raise DataError(f"{message}; is it cut short?", source=self._name)
        values = np.frombuffer(self._values, dtype=np.float32)
        return Embeddings(tuple(self._words), np.reshape(values, (len(self._words), self._dim)))

    def _is_header(self, line: bytes) -> bool:
        """Set the number of columns from the first line, and return whether that is the header of word2vec."""
        if header := _HEADER.fullmatch(line):
            self._n_promised, self._dim = int(header[1]), int(header[2])
        else:
            self._dim = len(line.split()) - 1
        if self._dim == 0:
            self._fail(line, "a word without a vector; each line must be a word and its numbers")
        return header is not None

    def _take(self, line: bytes) -> None:
        fields = line.rsplit(None, self._dim)
        extra = fields[0].split()[1:]  # all numbers: too many columns, not a word with spaces
        if len(fields) != self._dim + 1 or (extra and all(map(_is_number, extra))):
            self._fail(line, f"{len(line.split()) - 1} numbers after the word, but there should be {self._dim}")
        try:
            row = np.array(fields[1:], dtype=np.float32)
        except ValueError:
            bad = next(field for field in fields[1:] if not _is_number(field)).decode(errors="replace")
            self._fail(line, f"{bad!r} is not a number; each line must be a word and its numbers")
        if not np.isfinite(row).all():
            self._fail(line, "a value that is not a finite number (or too large for 32 bits)")
        word = decode(fields[0], name=self._name, line=self._line)
        self._n_words += 1
        if word not in self._words:
            self._words[word] = None
            self._values.frombytes(row.tobytes())

    def _fail(self, line: bytes, message: str) -> NoReturn:
        if self._n_words == 0 and not _is_text(line):
            message = "this is not a text file of word vectors" if self._n_promised is None else _BINARY
        raise DataError(message, source=self._name, line=self._line)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_text(line: bytes) -> bool:
    try:
        return "\0" not in line.decode()
    except UnicodeDecodeError:
        return False


def _check_npz(stream: BinaryIO) -> None:
    """Raise a :class:`ValueError` if arrays have other sizes than their headers say, or do not fit into memory."""
    with zipfile.ZipFile(stream) as archive:
        for entry in archive.infolist():
            if entry.filename not in ("words.npy", "vectors.npy"):
                continue
            if entry.file_size > memory_size() // 2:
                raise ValueError(f"{entry.filename} has {gigabytes(entry.file_size)}, too much for the memory")
            with archive.open(entry) as file:
                version = np.lib.format.read_magic(file)
                read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                if version in read_header:
                    shape, _, dtype = read_header[version](file)
                    if prod(shape) * dtype.itemsize != entry.file_size - file.tell():
                        raise ValueError(f"{entry.filename} is not as large as its shape {shape} needs")
    stream.seek(0)


def _read_npz(stream: BinaryIO, name: str) -> Embeddings:
    try:
        _check_npz(stream)
        with np.load(stream, allow_pickle=False) as file:
            if absent := [key for key in ("words", "vectors") if key not in file]:
                message = f"there is no array {absent[0]!r}, only: {', '.join(file.files) or 'nothing'}"
                raise DataError(f"{message}; save the arrays 'words' and 'vectors'", source=name)
            words: npt.NDArray[Any] = file["words"]
            vectors: npt.NDArray[Any] = file["vectors"]
    except _DAMAGED as error:
        message = f"damaged, or not two plain arrays ({error}); pickled arrays are never read"
        raise DataError(message, source=name) from None
    if words.ndim != 1 or words.dtype.kind != "U":
        raise DataError(f"'words' must be a list of strings, not {words.dtype} of shape {words.shape}", source=name)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or vectors.shape[1] == 0:
        message = f"'vectors' must be a table of numbers, not {vectors.dtype} of shape {vectors.shape}"
        raise DataError(message, source=name)
    if len(words) != len(vectors):
        raise DataError(f"there are {count(len(words), 'word')} but {count(len(vectors), 'vector')}", source=name)
    if len(words) == 0:
        raise DataError("there are no word vectors in this file", source=name)
    with np.errstate(over="ignore"):  # as above
        vectors = vectors.astype(np.float32, order="C")
    names: list[str] = words.tolist()
    is_finite = np.isfinite(vectors).all(axis=1)
    if not is_finite.all():
        word = names[int(is_finite.argmin())]
        raise DataError(f"the vector of {word!r} holds a value that is not a finite number", source=name)
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        raise DataError("'words' are not valid Unicode", source=name) from None
    rows: dict[str, int] = {}
    for row, word in enumerate(names):
        rows.setdefault(word, row)
    return Embeddings(tuple(rows), vectors if len(rows) == len(names) else vectors[list(rows.values())])
