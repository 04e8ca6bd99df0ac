"""Links from the pages of ``docs/`` to other files of the repository, such as ``../bench/results/text.md``.

In the repository these links work as they are. On the site, each file that a page links to becomes a page or a file
below ``repository/``, together with the files that those pages link to in turn.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import unquote

DOCS, OUTSIDE = "docs", "repository"
FENCE = re.compile(r"(^ *```.*?^ *```[ \t]*$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?P<before>\]\(\s*<?|^\[[^\]\n]+\]:[ \t]*<?)(?P<target>[^)\s>]+)", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//", re.IGNORECASE)
LANGUAGES = {".py": "python", ".sh": "sh", ".toml": "toml", ".log": "text", ".cff": "yaml", ".txt": "text", "": "text"}
"""The files that are shown as pages with their code, by their suffixes, and the language of the code."""


def site_path(path: str) -> str:
    """Return where a file of the repository is among the sources of the site.

    >>> site_path("docs/tutorial.md"), site_path("bench/results/text.md"), site_path("bench/bundled.sh")
    ('tutorial.md', 'repository/bench/results/text.md', 'repository/bench/bundled.sh.md')
    """
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return f"{OUTSIDE}/{path}.md" if is_code(path) else f"{OUTSIDE}/{path}"


def is_code(path: str) -> bool:
    """Return whether a file of the repository is shown as a page with its code."""
    return not path.startswith(f"{DOCS}/") and posixpath.splitext(path)[1] in LANGUAGES


def as_page(path: str, code: str) -> str:
    """Return a page that shows a file."""
    fence = "`" * 4
    return f"# {path}\n\n{fence}{LANGUAGES[posixpath.splitext(path)[1]]}\n{code.rstrip()}\n{fence}\n"


def linked(markdown: str, page: str) -> list[str]:
    """Return the files that a page of the repository links to, as paths from its root.

    >>> linked("[a](../bench/a.md#b) [c](https://d.e) `[f](g)`", "docs/tutorial.md")
    ['bench/a.md']
    """
    found: list[str] = []

    def collect(target: str) -> str:
        found.append(_path_of(target, page))
        return target

    _replace(markdown, collect)
    return found


def rewritten(markdown: str, page: str) -> str:
    """Return a page of the repository with links that work among the sources of the site.

    >>> rewritten("[a](../bench/a.md#b) [c](d.md)", "docs/tutorial.md")
    '[a](repository/bench/a.md#b) [c](d.md)'
    >>> rewritten("[a](../../docs/b.md)", "bench/results/c.md")
    '[a](../../../b.md)'
    """
    here = posixpath.dirname(site_path(page))

    def replace(target: str) -> str:
        _, mark, anchor = target.partition("#")
        return posixpath.relpath(site_path(_path_of(target, page)), here or ".") + mark + anchor

    return _replace(markdown, replace)


def reached(root: Path, pages: Iterable[str]) -> list[str]:
    """Return the files outside ``docs/`` that pages link to, and those that these link to, as sorted paths."""
    found: set[str] = set()
    waiting = list(pages)
    while waiting:
        page = waiting.pop()
        for path in linked((root / page).read_text(encoding="utf-8"), page):
            if path in found or path.startswith(f"{DOCS}/") or not (root / path).is_file():
                continue
            found.add(path)
            if path.endswith(".md"):
                waiting.append(path)
    return sorted(found)


def _path_of(target: str, page: str) -> str:
    name = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), name))


def _replace(markdown: str, replace: Callable[[str], str]) -> str:
    """Replace the targets of all links to files, except in code."""

    def of_match(match: re.Match[str]) -> str:
        target = match["target"]
        return match["before"] + (target if ELSEWHERE.match(target) else replace(target))

    parts = FENCE.split(markdown)  # code is at the odd places
    return "".join(part if i % 2 else LINK.sub(of_match, part) for i, part in enumerate(parts))
