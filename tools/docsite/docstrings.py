"""Docstrings as Markdown: examples become blocks of code, and roles such as ``:class:`Parse` `` become links."""

from __future__ import annotations

import re
from collections.abc import Iterator

ROLE = re.compile(r":(?P<kind>class|func|meth|attr|mod|data):`~?(?P<name>[\w.]+)`")
SKIPPED = re.compile(r"\s*# doctest: \+SKIP$", re.MULTILINE)
CONTINUED = re.compile(r"\\\n")


def as_markdown(text: str, owner: str = "") -> str:
    """Return a docstring as Markdown. ``owner`` is the class whose methods and attributes roles name by themselves.

    >>> print(as_markdown("Return a :class:`Parse`, as ``load`` does.").replace("><", "> <"))
    Return a <autoref optional identifier="easyfirst.Parse"> <code>Parse</code> </autoref>, as ``load`` does.
    """
    return "\n".join(_with_blocks(ROLE.sub(lambda match: _reference(match, owner), text)))


def _reference(match: re.Match[str], owner: str) -> str:
    """Return a link that is plain code where the site has no such target."""
    name = match["name"].removeprefix("easyfirst.").removeprefix("errors.")
    target = f"{owner}.{name}" if owner and match["kind"] in ("meth", "attr") and "." not in name else name
    return f'<autoref optional identifier="easyfirst.{target}"><code>{name}</code></autoref>'


def _with_blocks(text: str) -> Iterator[str]:
    """Yield the lines of a docstring, with every example in a block of code. A blank line ends an example."""
    inside = False
    for line in SKIPPED.sub("", text).splitlines():
        if not inside and line.startswith(">>> "):
            yield from ("", "```pycon")
            inside = True
        elif inside and not line.strip():
            yield "```"
            inside = False
        yield line
    if inside:
        yield "```"
