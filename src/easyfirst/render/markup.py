"""XML and HTML elements. Text is escaped, so nothing in a treebank can start or end an element."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Characters that XML does not allow or HTML reinterprets:
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})


def escape(text: str) -> str:
    """Escape text for an element or a double-quoted attribute. Characters that XML does not allow become U+FFFD.

    >>> escape('<a href="x">')
    '&lt;a href=&quot;x&quot;&gt;'
    """
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text).translate(_ESCAPES)


def element(name: str, content: str = "", attributes: Mapping[str, object] | None = None, **more: object) -> str:
    """Return an element. ``content`` must be markup already; attributes are escaped, and omitted if None or False.

    >>> element("text", "a &lt; b", x=1.50, class_="word")
    '<text x="1.5" class="word">a &lt; b</text>'
    """
    pairs = {**(attributes or {}), **{key.rstrip("_").replace("_", "-"): value for key, value in more.items()}}
    given = "".join(
        f' {key}="{escape(number(value) if isinstance(value, float) else str(value))}"'
        for key, value in pairs.items()
        if value is not None and value is not False
    )
    return f"<{name}{given}>{content}</{name}>"


def number(value: float) -> str:
    """Format with at most one decimal and without a trailing zero."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
