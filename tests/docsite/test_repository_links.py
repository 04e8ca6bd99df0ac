"""Links from the documentation to other files of the repository become links within the site."""

from __future__ import annotations

import doctest
import posixpath
from pathlib import Path

import pytest

from tools.docsite import repository_links
from tools.docsite.repository_links import as_page, is_code, linked, reached, rewritten, site_path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
OUTSIDE = reached(ROOT, PAGES)


def test_examples() -> None:
    assert doctest.testmod(repository_links).failed == 0


def test_files_are_found() -> None:
    assert {"bench/results/text.md", "CHANGELOG.md", "examples/toy/README.md", "bench/bundled.sh"} <= set(OUTSIDE)
    assert not [path for path in OUTSIDE if path.startswith("docs/")]


def test_files_that_are_reached_by_way_of_others_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[b](../b.md) [no](../no.md)")
    (tmp_path / "b.md").write_text("[a](docs/a.md) [c](c.py) [b](b.md)")
    (tmp_path / "c.py").write_text("[d](d.md)")
    (tmp_path / "d.md").write_text("")
    assert reached(tmp_path, ["docs/a.md"]) == ["b.md", "c.py"]


@pytest.mark.parametrize("page", [*PAGES, *(path for path in OUTSIDE if path.endswith(".md"))])
def test_every_link_of_a_page_leads_to_a_file_of_the_site(page: str) -> None:
    """Rewriting keeps what a link means: from the place of the page on the site, it leads to the file's place there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    on_site = {site_path(path) for path in (*PAGES, *OUTSIDE)}
    targets = linked(rewritten(text, page), site_path(page))
    assert targets == [site_path(path) for path in linked(text, page)]
    for target in targets:
        assert target in on_site or (ROOT / "docs" / target).exists(), target


def test_code_is_left_alone() -> None:
    text = "```md\n[a](../b.md)\n```\n`[c](../d.md)` [e](#f) [g](https://h.i/j) [k](mailto:l@m.n)\n"
    assert rewritten(text, "docs/tutorial.md") == text
    assert linked(text, "docs/tutorial.md") == []


def test_references_at_the_end_of_a_page_are_rewritten() -> None:
    assert rewritten("[a]: ../b.md\n", "docs/c.md") == "[a]: repository/b.md\n"


def test_code_becomes_a_page() -> None:
    assert is_code("bench/a.py")
    assert not is_code("bench/a.md")
    assert not is_code("docs/a.py")
    assert as_page("bench/a.py", "x = 1\n") == "# bench/a.py\n\n````python\nx = 1\n````\n"
    assert posixpath.basename(site_path("LICENSE")) == "LICENSE.md"
