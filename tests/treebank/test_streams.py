"""A file that cannot be read says which one and why."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import random
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from easyfirst.errors import DataError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.streams import open_file, read_lines


@pytest.mark.parametrize("name", ["missing.conllu", "missing.conllu.gz"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(DataError, match="there is no such file; check the name") as error:
        list(read_conllu(path))
    assert error.value.source == str(path)


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is a directory; name a file in it"):
        list(read_conllu(tmp_path))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EACCES, "no permission to read this file"),
        (errno.ELOOP, f"the file cannot be opened: {os.strerror(errno.ELOOP)}"),
    ],
)
def test_a_file_the_system_refuses_to_open_says_why(monkeypatch: pytest.MonkeyPatch, number: int, message: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=f"^locked.conllu: {message}"):
        open_file("locked.conllu")


def test_a_directory_that_the_system_refuses_to_open_is_still_called_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="this is a directory"):
        open_file(tmp_path)


@pytest.mark.parametrize("damage", ["not gzip at all", "cut short", "overwritten"])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, damage: str) -> None:
    rng = random.Random(1)
    sentences = (f"1\t{rng.getrandbits(64):x}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for _ in range(200))
    packed = bytearray(gzip.compress("".join(sentences).encode()))
    if damage == "not gzip at all":
        packed = bytearray(b"1\ta\t_\n")
    elif damage == "cut short":
        packed = packed[:1000]
    else:
        packed[10:30] = b"\xff" * 20
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r"x\.conllu\.gz: damaged or incomplete gzip file"):
        list(read_conllu(path))


def test_a_stream_that_fails_while_read_is_named() -> None:
    class Failing(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(DataError, match=r"^pipe: reading failed: Input/output error"):
        list(read_lines(Failing(), "pipe"))


@pytest.mark.parametrize(
    ("pack", "message"),
    [
        (gzip.compress, "a gzip file without .gz at the end of its name; rename it"),
        (bz2.compress, "a bzip2 file; unpack it first"),
        (partial(bz2.compress, compresslevel=1), "a bzip2 file; unpack it first"),
        (lzma.compress, "an xz file; unpack it first"),
    ],
)
def test_a_file_that_is_packed_otherwise_says_how_to_unpack_it(
    tmp_path: Path, pack: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "x.conllu"
    path.write_bytes(pack(b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"))
    with pytest.raises(DataError, match=rf"x\.conllu: this is {message}"):
        list(read_conllu(path))


def test_a_zip_file_says_how_to_unpack_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("x.conllu", "1\ta\n")
    with pytest.raises(DataError, match="this is a zip file; unpack it first"):
        list(read_conllu(tmp_path / "x.zip"))
