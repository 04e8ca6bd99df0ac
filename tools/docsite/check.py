"""Check a built site: every link has a target, and pages load nothing from the network.

python -m tools.docsite.check build/site
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
"""The attributes of elements that make a browser load something when it opens a page."""
HARMLESS_RELATIONS = {"canonical", "next", "prev", "alternate"}
REMOTE_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')]*")


class Page(HTMLParser):
    """The targets of the links of a page, what it loads, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the attributes of an element."""
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in LOADED and LOADED[tag] in given and given.get("rel") not in HARMLESS_RELATIONS:
            self.loaded.append(given[LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """Yield a line for everything that is wrong with a site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: there are no pages"
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for target in page.loaded:
            if urlsplit(target).netloc:
                yield f"{name} loads {target} from the network"
        if path.name == "404.html":
            continue  # its links start at the root of a server
        yield from (f"{name} links to {link}: {problem}" for link in (*page.links, *page.loaded)
                    if (problem := _problem(link, path, pages)))  # fmt: skip
    for path in sorted(site.rglob("*.css")):
        for found in REMOTE_IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site).as_posix()} loads {found} from the network"


def _problem(link: str, path: Path, pages: dict[Path, Page]) -> str | None:
    """Return what is wrong with a link of a page; None if it is to another site, or if nothing is wrong."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "there is no such anchor"
    return None


def main() -> None:
    """Check the site given on the command line."""
    found = list(problems(Path(sys.argv[1]).resolve()))
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
