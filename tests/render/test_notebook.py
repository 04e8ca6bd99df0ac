"""Trees in the cells of notebooks: nothing but pictures, with the colours of the notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from easyfirst.render.drawing import Drawing
from easyfirst.render.notebook import Display, notebook_steps, notebook_trees
from easyfirst.render.svg import COLOURS
from tests.render.browser import Browser, find_browser
from tests.render.drawings import FOX, HEBREW
from tests.render.drawings import NASTY as NASTY_FORMS

NASTY = Drawing(NASTY_FORMS, [0] + [1] * (len(NASTY_FORMS) - 1), NASTY_FORMS, title=NASTY_FORMS[0])


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def test_pictures_have_no_script_and_load_nothing() -> None:
    html = notebook_trees([FOX, HEBREW, NASTY], note="<b>more</b>")
    page = ElementTree.fromstring(html)
    names = {item.tag.rpartition("}")[2] for item in page.iter()}
    assert names <= {"div", "style", "p", "svg", "g", "path", "text", "tspan", "title", "desc", "rect"}
    attributes = {name for item in page.iter() for name in item.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("href", "src")]
    assert not re.search(r"<script|@import|url\(|<link", html)
    assert '<p style="margin:.5em 0;opacity:.8">&lt;b&gt;more&lt;/b&gt;</p>' in html


def test_the_style_names_nothing_but_pictures() -> None:
    [style] = re.findall(r"<style>(.*?)</style>", notebook_trees([FOX, HEBREW]))
    rules = style.replace("@media (prefers-color-scheme:dark){", "")
    selectors = [selector for rule in re.findall(r"([^{}]+)\{", rules) for selector in re.split(r",(?![^(]*\))", rule)]
    assert len(selectors) > 30
    assert all(".easyfirst-auto .easyfirst ." in selector for selector in selectors)


def test_ids_are_unique() -> None:
    ids = re.findall(r' id="([^"]+)"', notebook_trees([FOX, HEBREW, NASTY]))
    assert len(ids) == len(set(ids)) == 6
    assert notebook_trees([FOX]) == notebook_trees([FOX])  # a notebook that is executed again does not change


def test_a_fixed_theme_needs_no_style() -> None:
    html = notebook_trees([FOX], theme="dark")
    assert "<style>" not in html
    assert COLOURS["dark"]["background"] in html


def test_steps_are_in_a_frame_of_their_own() -> None:
    html = notebook_steps([FOX, NASTY])
    frame = ElementTree.fromstring(html)
    assert frame.tag == "iframe"
    assert frame.attrib["sandbox"] == "allow-scripts"  # not of the origin of the notebook
    assert frame.attrib["srcdoc"].count("<svg ") == 2
    assert frame.attrib["height"] == "800"


def test_displays() -> None:
    display = Display("<p>x</p>", "1 sentence")
    assert (repr(display), display._repr_html_()) == ("<Display: 1 sentence>", "<p>x</p>")


@pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")
class TestBrowser:
    """Pictures are readable whatever the theme of the notebook and the preference of the viewer are."""

    @pytest.mark.parametrize("prefers_dark", [False, True])
    @pytest.mark.parametrize(
        ("body", "is_dark"),
        [
            ('<body data-jp-theme-light="true">', False),
            ('<body data-jp-theme-light="false">', True),
            ('<body class="vscode-light">', False),
            ('<body class="vscode-dark">', True),
            ("<body>", None),
        ],
    )
    def test_themes(
        self, browser: Browser, tmp_path: Path, body: str, is_dark: bool | None, prefers_dark: bool
    ) -> None:
        path = tmp_path / "page.html"
        cells = [notebook_trees([FOX]), notebook_trees([FOX], theme="light"), notebook_trees([FOX], theme="dark")]
        path.write_text(f"<!DOCTYPE html><html>{body}<p>x</p>{''.join(cells)}</body></html>", encoding="utf-8")
        browser.open(path, dark=prefers_dark)
        fills = "[...document.querySelectorAll('{}')].map(item => getComputedStyle(item).fill)"
        forms, backgrounds = (browser.evaluate(fills.format(part)) for part in (".form", ".background"))
        dark, light = (self.rgb(COLOURS[theme]["form"]) for theme in ("dark", "light"))
        expected = dark if (prefers_dark if is_dark is None else is_dark) else light
        n = len(FOX)
        assert forms == [expected] * n + [light] * n + [dark] * n
        assert backgrounds[1:] == [self.rgb(COLOURS[theme]["background"]) for theme in ("light", "dark")]
        colour = browser.evaluate("getComputedStyle(document.querySelector('p')).color")
        assert colour == "rgb(0, 0, 0)"  # the rest of the page is as it was
        assert browser.complaints == []

    def rgb(self, colour: str) -> str:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        return f"rgb({red}, {green}, {blue})"

    def test_the_script_of_the_steps_runs(self, browser: Browser, tmp_path: Path) -> None:
        """It hides nothing and reports no error; its controls appear only if it runs, which makes the frame differ."""
        path = tmp_path / "page.html"
        pictures: list[bytes] = []
        for html in (notebook_steps([FOX]), notebook_steps([FOX]).replace("allow-scripts", "")):
            path.write_text(f"<!DOCTYPE html><html><body>{html}</body></html>", encoding="utf-8")
            browser.open(path)
            complaints = [text for text in browser.complaints if "sandboxed" not in text]
            assert complaints == []
            pictures.append(browser.screenshot())
        assert pictures[0] != pictures[1]
