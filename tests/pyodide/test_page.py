"""The page in a real browser: it loads Pyodide and the wheel, parses, draws, stops, and says what goes wrong."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from tests.patience import wait_until
from tests.pyodide.sites import BUILD, served
from tests.render.browser import Browser, find_browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "browser.md"
TEXT = "The black fox who really likes apples did not jump over a lazy dog yesterday. It doesn't jump."
STATUS = "document.getElementById('status').textContent"
PROBLEM = "document.getElementById('problem').textContent"
SECTIONS = "document.querySelectorAll('#trees section')"
DOWNLOAD = "document.getElementById('download')"
ARCS = "[...document.querySelectorAll('#trees section:first-of-type .arc')]"
SHOWN = f"{ARCS}.filter(arc => arc.getBoundingClientRect().width).length"
STOP = "document.getElementById('stop')"
CONTROL = 2  # the modifier in the protocol of the browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def loaded(browser: Browser, site: Path) -> Iterator[Browser]:
    """The page after it has parsed the text that is in it at first, which it was asked for before it was ready."""
    with served(site) as address:
        browser.open(address)
        assert browser.evaluate(STATUS).startswith("Loading")
        assert browser.evaluate("document.querySelector('progress').hidden") is False
        browser.evaluate("document.getElementById('parse').click()")
        browser.wait_for(f"{STATUS}.endsWith('words.') || {PROBLEM}")
        assert browser.evaluate(PROBLEM) == ""  # else every test would wait for trees that never come
        yield browser


def parse(page: Browser, text: str, *, end: str) -> None:
    """Type a text, press Ctrl+Enter, and wait until the status ends like this."""
    page.evaluate("document.getElementById('text').focus(); document.getElementById('text').select()")
    page.type(text) if text else page.evaluate("document.getElementById('text').value = ''")
    page.evaluate(f"{STATUS} = ''")
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": CONTROL}
    page.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
    page.call("Input.dispatchKeyEvent", type="keyUp", **key)
    page.wait_for(f"{STATUS}.endsWith({json.dumps(end)}) || (!{STATUS} && {PROBLEM})")
    assert page.evaluate(f"{STATUS}.endsWith({json.dumps(end)})"), page.evaluate(PROBLEM)


def test_the_first_text_is_parsed_as_soon_as_the_parser_is_there(loaded: Browser) -> None:
    assert loaded.evaluate(PROBLEM) == ""
    assert loaded.evaluate(STATUS) == "2 sentences, 21 words."
    assert loaded.evaluate("document.querySelector('progress').hidden")
    assert loaded.evaluate(f"{SECTIONS}.length") == 2
    assert loaded.evaluate(f"{SECTIONS}[0].querySelector('h2').textContent").startswith("Sentence 1 (confidence ")
    assert loaded.evaluate(f"{ARCS}.every(arc => arc.dataset.confidence > 0)")
    assert loaded.evaluate("document.getElementById('versions').textContent").startswith("easyfirst ")
    assert loaded.complaints == []


def test_trees_are_those_of_the_library(loaded: Browser, tmp_path: Path) -> None:
    text = "Anna's brother didn't say what he'd seen.\n\nNothing – he was asleep! 🦊"
    parse(loaded, text, end="words.")
    assert loaded.evaluate(f"{DOWNLOAD}.download") == "trees.conllu"
    loaded.evaluate(f"fetch({DOWNLOAD}.href).then(file => file.text()).then(text => {{ window.found = text; }}); 0")
    loaded.wait_for("window.found !== undefined")
    (tmp_path / "found").write_text(loaded.evaluate("window.found"), encoding="utf-8")
    (tmp_path / "expected").write_text(load("en", engine="numpy")(text).to_conllu(), encoding="utf-8")
    found, expected = (list(read_conllu(tmp_path / name)) for name in ("found", "expected"))
    assert [sentence.comments for sentence in found] == [sentence.comments for sentence in expected]
    for one, other in zip(found, expected, strict=True):
        assert (one.forms, one.lemmas, one.upos, one.feats) == (other.forms, other.lemmas, other.upos, other.feats)
        assert (one.heads, one.relations) == (other.heads, other.relations)
        assert all("ArcConf=" in cell for cell in one.misc)


def test_the_slider_steps_through_a_derivation(loaded: Browser) -> None:
    for text in (TEXT, "The fox likes apples."):  # the second text replaces the first
        parse(loaded, text, end="words.")
        n_words = loaded.evaluate("document.querySelectorAll('#trees section:first-of-type svg .word').length")
        assert loaded.evaluate(SHOWN) == n_words
        loaded.evaluate("document.querySelector('#trees .steps').open = true")
        loaded.wait_for("document.querySelector('#trees input') !== null")
        loaded.evaluate("document.querySelector('#trees input').focus()")
        loaded.press("Home")
        assert loaded.evaluate(SHOWN) == 0
        loaded.press("ArrowRight")
        assert loaded.evaluate(SHOWN) == 1
    assert loaded.evaluate(f"{SECTIONS}.length") == 1


def test_a_text_without_words(loaded: Browser) -> None:
    parse(loaded, "", end="The text has no words.")
    assert loaded.evaluate(f"{SECTIONS}.length") == 0
    assert loaded.evaluate(f"{DOWNLOAD}.hidden")


def test_another_language_is_noticed(loaded: Browser) -> None:
    parse(loaded, "Быстрая лиса не любит яблоки и охотнее спит под старым деревом.", end="words.")
    assert loaded.evaluate(PROBLEM).startswith("Warning: the text does not seem to be in the language of the model")
    parse(loaded, "The fox likes apples.", end="words.")
    assert loaded.evaluate("document.getElementById('problem').hidden")


def test_parsing_stops(loaded: Browser) -> None:
    parse(loaded, "The black fox who really likes apples did not jump over a lazy dog. " * 60, end="sentences …")
    loaded.wait_for(f"{SECTIONS}.length > 0")
    assert loaded.evaluate(f"{STOP}.hidden") is False
    loaded.evaluate(f"{STOP}.click()")
    assert loaded.evaluate(STATUS) == "Stopped."
    assert loaded.evaluate(f"{STOP}.hidden && {DOWNLOAD}.hidden")
    n_sections = loaded.evaluate(f"{SECTIONS}.length")
    assert 0 < n_sections < 60
    parse(loaded, "The fox likes apples.", end="words.")
    assert loaded.evaluate(f"{SECTIONS}.length") == 1


@pytest.mark.parametrize("width", [320, 400, 1100])
def test_trees_fit_the_screen(loaded: Browser, width: int) -> None:
    loaded.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    parse(loaded, TEXT, end="words.")
    assert loaded.evaluate("document.documentElement.scrollWidth") <= width
    assert loaded.evaluate("[...document.querySelectorAll('#trees .picture')].length") == 2
    lines = loaded.evaluate(
        "new Set([...document.querySelectorAll('section:first-of-type .form')].map(w => w.getAttribute('y'))).size"
    )
    assert (lines > 2) == (width < 1100)


def test_dark_mode(loaded: Browser) -> None:
    def colours(scheme: str) -> tuple[str, str]:
        loaded.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        form = "getComputedStyle(document.querySelector('#trees .form')).fill"
        return loaded.evaluate("getComputedStyle(document.body).backgroundColor"), loaded.evaluate(form)

    parse(loaded, "The fox likes apples.", end="words.")
    (light_page, light_word), (dark_page, dark_word) = colours("light"), colours("dark")
    assert light_page == "rgb(255, 255, 255)"
    assert dark_page == "rgb(23, 23, 28)"
    assert light_word != dark_word


def test_missing_files_are_named(browser: Browser, tmp_path: Path) -> None:
    wheel = tmp_path / "easyfirst-0-py3-none-any.whl"
    wheel.touch()
    BUILD.build(tmp_path / "site", "http://127.0.0.1:9/pyodide", wheel)
    with served(tmp_path / "site") as address:
        browser.open(address)
        browser.wait_for(PROBLEM)
        assert browser.evaluate(PROBLEM).startswith(
            "The parser cannot be loaded. Pyodide cannot be loaded from http://127.0.0.1:9/pyodide/."
        )
        assert browser.evaluate("document.getElementById('parse').disabled")
        (tmp_path / "site" / "site.json").unlink()
        browser.open(f"{address}index.html")
        browser.wait_for(PROBLEM)
        assert "site.json cannot be fetched (status 404). Build the page again." in browser.evaluate(PROBLEM)


def test_the_example_of_the_documentation(browser: Browser, site: Path, tmp_path: Path) -> None:
    [code] = re.findall(r"^<!-- run by the tests of Pyodide -->\n```js\n(.*?)^```$", DOCS.read_text(), re.DOTALL | re.M)
    [wheel] = site.glob("easyfirst-*.whl")
    shutil.copytree(site, tmp_path / "site")
    page = code.replace("easyfirst-0.3.0-py3-none-any.whl", wheel.name)
    (tmp_path / "site" / "own.html").write_text(f'<!DOCTYPE html><script type="module">{page}</script>')
    with served(tmp_path / "site") as address:
        browser.open(f"{address}own.html")
        wait_until(lambda: browser.evaluate("1") and any("likes" in said for said in browser.complaints))
    assert "\\tlike\\tVERB\\t" in browser.complaints[-1]
