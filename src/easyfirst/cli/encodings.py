"""The encodings of inputs: lines in any encoding become lines in UTF-8, and errors name the byte and its place."""

from __future__ import annotations

import codecs
import difflib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from easyfirst.errors import DataError, InputError
from easyfirst.treebank.streams import BYTE_ORDER_MARK, read_lines

UTF8 = "utf-8"
_MARKS = {  # byte order marks and their encodings; that of UTF-32 begins with that of UTF-16
    BYTE_ORDER_MARK: UTF8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_N_BEGIN, _N_LEAST = 16, 4  # how many bytes UTF-16 without a mark is recognised by, and at least
_SUGGESTED = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "latin-1", "mac-roman", "koi8-r", "koi8-u"),
    *(f"iso-8859-{number}" for number in range(1, 17) if number != 12),
    *(f"{family}{number}" for family in ("windows-", "cp") for number in range(1250, 1259)),
    *("shift-jis", "euc-jp", "iso-2022-jp", "gb2312", "gbk", "gb18030", "big5", "euc-kr", "tis-620"),
)


class EncodingError(DataError):
    """Bytes that are not text in the encoding of the input."""


def check_encoding(name: str | None) -> str | None:
    """Return the standard name of an encoding. Raise an :class:`InputError` with suggestions if there is none."""
    if name is None:
        return None
    try:
        with suppress(UnicodeError):  # an encoding that has no character of one byte
            b"a".decode(name)
        return codecs.lookup(name).name
    except LookupError:  # also for codecs that are not text encodings
        raise InputError(f"--encoding {name!r}: there is no such encoding; {_suggestion(name)}") from None


def utf8_lines(stream: Iterable[bytes], source: str, encoding: str | None) -> Iterator[bytes]:
    """Yield the lines of a stream in UTF-8, each as soon as it arrives.

    A byte order mark decides the encoding, then ``encoding``; the default is UTF-8. Lines in UTF-8 stay as they are,
    with their mark. Marks of other encodings are dropped.
    """
    lines = read_lines(stream, source)
    first = next(lines, b"")
    marked = (found for mark, found in _MARKS.items() if first.startswith(mark))
    chosen = next(marked, encoding or UTF8)
    if chosen.startswith(UTF8):
        begin, n_begin = [first], len(first)
        while n_begin < _N_BEGIN and b"\0" in begin[0] and (line := next(lines, b"")):
            begin.append(line)
            n_begin += len(line)
        _reject_utf16(b"".join(begin)[:_N_BEGIN], source)
        yield from _checked(chain(begin, lines) if first else lines, source)
    else:
        yield from _transcoded(chain([first], lines), source, chosen)


def _checked(lines: Iterable[bytes], source: str) -> Iterator[bytes]:
    offset = 0
    for number, line in enumerate(lines, 1):
        if not line.isascii():
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start]
                other = "cp1252" if 0x80 <= byte < 0xA0 else "latin-1"  # in latin-1 these are control characters
                message = (
                    f"byte 0x{byte:02X} at offset {offset + error.start} is not valid UTF-8; if the file has another "
                    f"encoding, name it, for example --encoding {other}"
                )
                raise EncodingError(message, source=source, line=number) from None
        yield line
        offset += len(line)


def _transcoded(lines: Iterable[bytes], source: str, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    number, offset, text = 1, 0, ""  # the number of the next line, the bytes before it, and its beginning
    is_begin = True
    for block in chain(lines, [b""]):
        state = decoder.getstate()
        try:
            text += decoder.decode(block, final=not block)
            if is_begin and text:
                text, is_begin = text.removeprefix("\ufeff"), False
            *complete, text = text.split("\n")
            made = [f"{line}\n".encode() for line in complete]
        except UnicodeError as error:
            place = f"the text cannot be decoded as {encoding} ({error})"
            if isinstance(error, UnicodeDecodeError):
                n_waiting = len(state[0])  # bytes of the blocks before that do not make up a character yet
                decoder.setstate(state)
                number += decoder.decode(block[: max(0, error.start - n_waiting)]).count("\n")
                byte = error.object[error.start]
                place = f"byte 0x{byte:02X} at offset {offset - n_waiting + error.start} is not valid {encoding}"
            raise EncodingError(f"{place}; check --encoding", source=source, line=number) from None
        yield from made
        number += len(made)
        offset += len(block)
    if text:
        yield text.encode()


def _reject_utf16(begin: bytes, source: str) -> None:
    """Raise an error for UTF-16 without a byte order mark, which is valid UTF-8 if all letters are ASCII. It is
    recognised by the first bytes. A NUL elsewhere is an error of its line, which what decodes the line raises."""
    for order, (low, high) in {"le": (begin[::2], begin[1::2]), "be": (begin[1::2], begin[::2])}.items():
        if len(begin) >= _N_LEAST and not any(high) and all(low):
            message = f"every second byte is null, as in UTF-16; if it is text, use --encoding utf-16-{order}"
            raise EncodingError(message, source=source, line=1)


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name.lower().replace("_", "-"), _SUGGESTED, n=2, cutoff=0.7)
    return f"did you mean {' or '.join(close)}?" if close else "use a name such as latin-1, cp1252 or utf-16"
