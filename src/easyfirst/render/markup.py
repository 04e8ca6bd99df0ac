"""Text inside XML and HTML: nothing that stands in a treebank can end an element or start another."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]")
"""What XML cannot hold, or HTML takes for something else."""
_NAMES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"}
_TABLE = str.maketrans(_NAMES)


def escape(text: str) -> str:
    """A text as the content of an element or, between double quotes, of an attribute. A character that XML cannot hold
    becomes a replacement character.

    >>> escape('<a href="x">')
    '&lt;a href=&quot;x&quot;&gt;'
    """
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text).translate(_TABLE)


def element(name: str, content: str = "", attributes: Mapping[str, object] | None = None, **more: object) -> str:
    """An element with its content, which must be markup already. Attributes are escaped; None and False leave one out.

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
    """At most one decimal, and no zero after it."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
