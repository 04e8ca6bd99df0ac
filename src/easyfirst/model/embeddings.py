"""External word vectors: word2vec text (a first line with the number of words and of columns), GloVe text (without
one), either of them gzipped, or ``.npz`` with the arrays ``words`` and ``vectors``.

What a file is, its first bytes tell, not its name. In text, ASCII spaces and tabs separate the columns and the last
ones are the numbers, so a word may hold no-break spaces. Of a word that comes more than once, the first vector counts.
"""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
import numpy.typing as npt

from easyfirst.errors import DataError
from easyfirst.model.initial_values import EMBEDDING_LENGTH
from easyfirst.model.lexicon import external_ids
from easyfirst.nn.arrays import Floats
from easyfirst.treebank.streams import BYTE_ORDER_MARK, decode, read_lines

LONGEST = 100
"""Characters of a word that is written; longer ones are hardly words."""
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
_DAMAGED = (ValueError, KeyError, OSError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Different words, and a row for each."""

    words: tuple[str, ...]
    vectors: Floats  # (n_words, dim) float32

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])


def read_embeddings(path: str | PathLike[str]) -> Embeddings:
    """Read a file of word vectors of any of the kinds above."""
    name = fspath(path)
    with _open(name) as stream:
        start = stream.peek(8)
        for magic, what in _UNREADABLE.items():
            if start.startswith(magic):
                raise DataError(f"this is {what}", source=name)
        if start.startswith(_ZIP):
            return _read_npz(stream, name)
        if name.endswith(".npz"):
            raise DataError("damaged, or no .npz file at all: it does not begin like one; fetch it again", source=name)
        if start.startswith(_GZIP):
            with cast(BinaryIO, gzip.open(stream, "rb")) as unpacked:
                return _TextReader(name).read(unpacked)
        return _TextReader(name).read(stream)


def first_embeddings(vectors: Embeddings, n: int | None) -> Embeddings:
    """So many vectors from the beginning of a file, where the most frequent words usually stand; None: all."""
    return vectors if n is None else Embeddings(vectors.words[:n], vectors.vectors[:n])


def scaled(vectors: Embeddings) -> Embeddings:
    """The same directions with the mean length of a fresh embedding, so that neither table drowns the other where they
    are added up. All are multiplied by one number."""
    return Embeddings(vectors.words, _of_mean_length(vectors.vectors, EMBEDDING_LENGTH))


def _of_mean_length(vectors: Floats, length: float) -> Floats:
    """All multiplied by one number, unless they are zeros."""
    mean_length = float(np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1)).mean())
    return (vectors * (length / mean_length if mean_length else 1)).astype(np.float32)


def side_by_side(one: Embeddings, other: Embeddings) -> Embeddings:
    """The words of either, those of the first in front, with the numbers of both: of the word as it is written, else of
    its normalised form, else zeros. Each is scaled to a mean length of one, so that neither drowns the other."""
    words = tuple(dict.fromkeys((*one.words, *other.words)))
    parts: list[Floats] = []
    for part in (one, other):
        rows = {word: row for row, word in enumerate(part.words, 1)}
        table = external_table(Embeddings(part.words, _of_mean_length(part.vectors, 1)))
        parts.append(table[external_ids(rows, words)])
    return Embeddings(words, np.concatenate(parts, axis=1))


def write_embeddings(stream: BinaryIO, vectors: Embeddings) -> None:
    """As ``.npz``, in 16 bits a number if all of them fit. Left out are words that such a file cannot hold, with null
    characters at their ends, and those of more than :data:`LONGEST` characters, whose room all words would take."""
    kept = [row for row, word in enumerate(vectors.words) if len(word) <= LONGEST and not word.endswith("\0")]
    table = vectors.vectors[kept]
    with np.errstate(over="ignore"):
        short = table.astype(np.float16)
    packed = io.BytesIO()  # not every stream can be gone back in
    np.savez(
        packed,
        words=np.array([vectors.words[row] for row in kept], dtype=np.str_),
        vectors=short if np.isfinite(short).all() else table,
    )
    stream.write(packed.getbuffer())


def external_table(vectors: Embeddings) -> Floats:
    """The rows as the network looks them up: row 0 is the unknown word (zeros), then the vectors."""
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


# Text


class _TextReader:
    """Reads word2vec and GloVe text, one line at a time, into one growing block of memory."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0
        self._dim = 0  # not yet known
        self._n_promised: int | None = None  # words, by the first line of word2vec
        self._n_words = 0
        self._words: dict[str, None] = {}
        self._values = array("f")

    def read(self, stream: BinaryIO) -> Embeddings:
        with np.errstate(over="ignore"):  # a number too large for 32 bits becomes infinite, which is refused
            for line in self._lines(stream):
                if self._dim or not self._is_header(line):
                    self._take(line)
        if not self._n_words:
            raise DataError("there are no word vectors in this file", source=self._name)
        if self._n_promised not in (None, self._n_words):
            message = (
                f"the first line promises {self._n_promised} words, but there are {self._n_words}; is it cut short?"
            )
            raise DataError(message, source=self._name)
        values = np.frombuffer(self._values, dtype=np.float32)
        return Embeddings(tuple(self._words), np.reshape(values, (len(self._words), self._dim)))

    def _lines(self, stream: BinaryIO) -> Iterator[bytes]:
        """The lines that are not blank; ``self._line`` is the number of the current one."""
        for number, line in enumerate(read_lines(stream, self._name), 1):
            self._line = number
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if not line.isspace():
                yield line

    def _is_header(self, line: bytes) -> bool:
        """Learn the number of columns from the first line, which may be the header of word2vec."""
        if header := _HEADER.fullmatch(line):
            self._n_promised, self._dim = int(header[1]), int(header[2])
        else:
            self._dim = len(line.split()) - 1
        if self._dim == 0:
            self._fail(line, "a word without a vector; each line must be a word and its numbers")
        return header is not None

    def _take(self, line: bytes) -> None:
        fields = line.rsplit(None, self._dim)
        if len(fields) != self._dim + 1 or _has_more_numbers(fields[0]):
            self._fail(line, f"{len(line.split()) - 1} numbers after the word, but there should be {self._dim}")
        try:
            row = np.array(fields[1:], dtype=np.float32)
        except ValueError:
            bad = next(field for field in fields[1:] if not _is_number(field))
            said = f"{bad.decode(errors='replace')!r} is not a number; each line must be a word and its numbers"
            self._fail(line, said)
        if not np.isfinite(row).all():
            self._fail(line, "a value that is not a finite number (or too large for one of 32 bits)")
        word = decode(fields[0], name=self._name, line=self._line)
        self._n_words += 1
        if word not in self._words:
            self._words[word] = None
            self._values.frombytes(row.tobytes())

    def _fail(self, line: bytes, message: str) -> NoReturn:
        if self._n_words == 0 and not _is_text(line):
            message = "this is not a text file of word vectors" if self._n_promised is None else _BINARY
        raise DataError(message, source=self._name, line=self._line)


def _has_more_numbers(field: bytes) -> bool:
    """Whether all that stands after the word's first space is numbers: columns too many, rather than a long name."""
    extra = field.split()[1:]
    return bool(extra) and all(map(_is_number, extra))


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


# NumPy


def _read_npz(stream: BinaryIO, name: str) -> Embeddings:
    try:
        with np.load(stream, allow_pickle=False) as file:
            if absent := [key for key in ("words", "vectors") if key not in file]:
                message = f"there is no array {absent[0]!r}, only: {', '.join(file.files) or 'nothing'}"
                raise DataError(f"{message}; 'words' and 'vectors' are needed", source=name)
            words: npt.NDArray[Any] = file["words"]
            vectors: npt.NDArray[Any] = file["vectors"]
    except _DAMAGED as error:
        message = f"damaged, or not two plain arrays ({error}); pickled arrays are never read"
        raise DataError(message, source=name) from None
    if words.ndim != 1 or words.dtype.kind != "U":
        raise DataError(f"'words' must be a list of texts, not {words.dtype} of shape {words.shape}", source=name)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or vectors.shape[1] == 0:
        message = f"'vectors' must be a table of numbers, not {vectors.dtype} of shape {vectors.shape}"
        raise DataError(message, source=name)
    if len(words) != len(vectors):
        raise DataError(f"there are {len(words)} words but {len(vectors)} vectors", source=name)
    if len(words) == 0:
        raise DataError("there are no word vectors in this file", source=name)
    return _from_arrays(words.tolist(), vectors, name)


def _from_arrays(words: list[str], vectors: npt.NDArray[Any], name: str) -> Embeddings:
    with np.errstate(over="ignore"):  # as above
        vectors = vectors.astype(np.float32, order="C")
    is_finite = np.isfinite(vectors).all(axis=1)
    if not is_finite.all():
        word = words[int(is_finite.argmin())]
        raise DataError(f"the vector of {word!r} holds a value that is not a finite number", source=name)
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        raise DataError("'words' are not valid Unicode", source=name) from None
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    if len(rows) < len(words):
        vectors = vectors[list(rows.values())]
    return Embeddings(tuple(rows), vectors)
