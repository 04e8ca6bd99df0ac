"""Text files, plain or gzipped, as streams of byte lines; errors name the file and what to do."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO, cast

from easyfirst.errors import DataError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_PACKED = {  # the first bytes of packed files, and what to do with them
    rb"\xfd7zXZ\0": "an xz file; unpack it first: xz -dk FILE",
    rb"BZh[1-9]1AY&SY": "a bzip2 file; unpack it first: bunzip2 -k FILE",
    rb"\x28\xb5\x2f\xfd": "a Zstandard file; unpack it first: zstd -dk FILE",
    rb"\x1f\x8b": "a gzip file without .gz at the end of its name; rename it, or unpack it first: gunzip -c FILE",
    rb"PK\x03\x04": "a zip file; unpack it first: unzip FILE (save an office document as plain text)",
    rb"%PDF-": "a PDF file; extract its text first: pdftotext FILE",
}


def open_file(path: str | PathLike[str]) -> BinaryIO:
    """Open a file for reading bytes; a file whose name ends in ``.gz`` is unpacked."""
    name = fspath(path)
    try:
        return cast(BinaryIO, gzip.open(name, "rb")) if name.endswith(".gz") else Path(name).open("rb")
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
        lines = iter(stream)
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


def decode(block: bytes, *, name: str, line: int) -> str:
    """Decode UTF-8; ``line`` is the number of the block's first line, for the error message."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte 0x{block[error.start]:02X} is not valid UTF-8; convert the file to UTF-8 first"
        raise DataError(message, source=name, line=line + block.count(b"\n", 0, error.start)) from None
