"""Messages on stderr. Names of files and the like may hold any character, but a message is one line of plain text."""

from __future__ import annotations

import re
import sys

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, which a terminal obeys, other ends of lines, controls of the direction of writing, and bytes of
names that are not UTF-8."""


def printable(text: str) -> str:
    """Replace characters that would control a terminal, or break the line, by escapes such as ``\\x1b``."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(text: str) -> None:
    """Print a line on stderr."""
    print(printable(text), file=sys.stderr, flush=True)
