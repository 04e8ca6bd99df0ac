"""Text files, plain or gzipped, as streams of byte lines; errors name the file and what to do."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.errors import DataError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_LINE = 1 << 26
"""The largest size of a line in bytes. What is read at once has a limit: a small gzip file may unpack to terabytes."""
MAX_BLOCK = 1 << 28
"""The largest size of a sentence in CoNLL-U, and of a text between empty lines."""

_PACKED = {  # the first bytes of packed files, and what to do with them
    rb"\xfd7zXZ\0": "an xz file; unpack it first: xz -dk FILE",
    rb"BZh[1-9]1AY&SY": "a bzip2 file; unpack it first: bunzip2 -k FILE",
    rb"\x28\xb5\x2f\xfd": "a Zstandard file; unpack it first: zstd -dk FILE",
    rb"\x1f\x8b": "a gzip file without .gz at the end of its name; rename it, or unpack it first: gunzip -c FILE",
    rb"PK\x03\x04": "a zip file; unpack it first: unzip FILE (save an office document as plain text)",
    rb"PAR1": "a Parquet file without .parquet at the end of its name; rename it, or use --from parquet",
    rb"%PDF-": "a PDF file; extract its text first: pdftotext FILE",
}


def is_gzip(name: str) -> bool:
    """Return whether the name of a file ends in ``.gz``, in upper or lower case."""
    return name.lower().endswith(".gz")


def open_file(path: str | PathLike[str]) -> BinaryIO:
    """Open a file for reading bytes; a file whose name ends in ``.gz`` is unpacked."""
    name = fspath(path)
    try:
        return cast(BinaryIO, gzip.open(name, "rb")) if is_gzip(name) else Path(name).open("rb")
    except FileNotFoundError:
        raise DataError("there is no such file; check the name", source=name) from None
    except (IsADirectoryError, PermissionError):  # some systems report a directory as "permission denied"
        what = "this is a directory; name a file in it" if Path(name).is_dir() else "no permission to read this file"
        raise DataError(what, source=name) from None
    except OSError as error:
        raise DataError(f"the file cannot be opened: {error.strerror}", source=name) from None


def read_lines(stream: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a stream with their line ends, each as soon as it arrives. Only a line feed ends a line."""
    try:
        lines = _lines(stream, name)
        if first := next(lines, b""):
            for start, what in _PACKED.items():
                if re.match(start, first):
                    raise DataError(f"this is {what}", source=name)
            yield first
        yield from lines
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"damaged or incomplete gzip file ({error}); fetch it again", source=name) from None
    except OSError as error:
        raise DataError(f"reading failed: {error.strerror or error}", source=name) from None


def _lines(stream: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a stream. Raise an error for one that is too long to be read into memory."""
    read_line: Callable[[int], bytes] | None = getattr(stream, "readline", None)
    if read_line is None:
        yield from stream
        return
    number = 0
    while line := read_line(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            message = f"this line has more than {MAX_LINE:,} bytes; put line feeds between sentences or paragraphs"
            raise DataError(message, source=name, line=number)
        yield line


def check_block(size: int, name: str, line: int) -> None:
    """Raise an error if the lines of one sentence or document, of which ``line`` is the first, are too many bytes."""
    if size > MAX_BLOCK:
        message = f"{MAX_BLOCK:,} bytes without an empty line; put one between sentences of CoNLL-U, or documents"
        raise DataError(message, source=name, line=line)


def line_ends_missing(end: bytes) -> bytes:
    """Return the line ends that make up the empty line between a file with this end and the next file."""
    if not end or end.endswith((b"\n\n", b"\n\r\n")) or end in (b"\n", b"\r\n"):
        return b""
    if end.endswith(b"\n"):
        return b"\r\n" if end.endswith(b"\r\n") else b"\n"
    return b"\n\n"


def decode_text(block: bytes, *, name: str, line: int) -> str:
    """Decode UTF-8 in which there must be no NUL, as in texts. CoNLL-U comes back as it is."""
    if b"\0" in block:
        hint = "take it out, or convert the file to UTF-8 if it is UTF-16"
        number = line + block.count(b"\n", 0, block.index(b"\0"))
        raise DataError(f"this line has a NUL character (U+0000) in it; {hint}", source=name, line=number)
    return decode(block, name=name, line=line)


def decode(block: bytes, *, name: str, line: int) -> str:
    """Decode UTF-8; ``line`` is the number of the block's first line, for the error message."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte 0x{block[error.start]:02X} is not valid UTF-8; convert the file to UTF-8 first"
        raise DataError(message, source=name, line=line + block.count(b"\n", 0, error.start)) from None
