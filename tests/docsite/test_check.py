"""The check of the finished site finds broken links, and what pages load from the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docsite.check import problems

GOOD = {
    "index.html": '<a href="sub/page.html#there">x</a> <a href="#top" id="top">y</a> <a href="https://a.b">z</a>'
    '<img src="a%20b.svg"> <link rel="stylesheet" href="a.css"> <link rel="canonical" href="https://a.b/">'
    '<a href="sub">',
    "sub/page.html": '<h1 id="there">A</h1> <a href="../index.html?q=1">back</a> <a href="..">up</a>',
    "sub/index.html": "",
    "404.html": '<a href="/nowhere">x</a>',
    "a b.svg": "",
    "a.css": "body { background: url(a.svg) }",
}


def problems_of(place: Path, **changes: str) -> list[str]:
    for name, text in {**GOOD, **{key.replace("_", "."): value for key, value in changes.items()}}.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return list(problems(place))


def test_a_good_site(tmp_path: Path) -> None:
    assert problems_of(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"index_html": '<a href="no.html">'}, "index.html links to no.html: there is no such file"),
        ({"index_html": '<a href="#no">'}, "index.html links to #no: there is no such anchor"),
        (
            {"index_html": '<a href="sub/page.html#no">'},
            "index.html links to sub/page.html#no: there is no such anchor",
        ),
        ({"index_html": '<img src="no.svg">'}, "index.html links to no.svg: there is no such file"),
        ({"index_html": '<script src="https://a.b/c.js">'}, "index.html loads https://a.b/c.js from the network"),
        ({"404_html": '<script src="//a.b/c.js">'}, "404.html loads //a.b/c.js from the network"),
        ({"a_css": "@import 'https://a.b/c.css';"}, "a.css loads @import 'https://a.b/c.css from the network"),
        ({"a_css": "a { src: url(//a.b/c.woff) }"}, "a.css loads url(//a.b/c.woff from the network"),
    ],
)
def test_a_problem(tmp_path: Path, changes: dict[str, str], problem: str) -> None:
    assert problems_of(tmp_path, **changes) == [problem]


def test_a_site_without_pages(tmp_path: Path) -> None:
    assert list(problems(tmp_path)) == [f"{tmp_path}: there are no pages"]
