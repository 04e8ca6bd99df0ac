"""The page in a real browser: the trees are drawn, the slider works, and there are no errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from easyfirst.render.drawing import Drawing
from easyfirst.render.html import FOLDED_AFTER, draw_html
from easyfirst.render.svg import draw_svg
from tests.render.browser import Browser, find_browser
from tests.render.drawings import FOX, HEBREW, NASTY

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

ARCS = "[...document.querySelectorAll('section:first-of-type .arc')]"
SHOWN = f"{ARCS}.filter(arc => arc.getBoundingClientRect().width).map(arc => arc.dataset.modifier).join(' ')"
PENDING = "[...document.querySelectorAll('section:first-of-type .pending li')]"
LISTED = (
    f"{PENDING}.filter(item => item.offsetParent).map(item => item.innerText.replace(/\\s+/g, ' ').trim()).join(', ')"
)
NOW = "document.querySelector('.now').textContent.replace(/[\\u2068\\u2069]/g, '')"
SLIDER = "document.querySelector('input[type=range]')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    path = tmp_path / "trees.html"
    path.write_text(draw_html([FOX, HEBREW], shows_steps=True), encoding="utf-8")
    browser.open(path)
    return browser


def test_at_first_the_whole_tree_is_there(page: Browser) -> None:
    assert page.evaluate(SHOWN) == "1 2 3 4 5"
    assert page.evaluate(LISTED) == "likes"
    assert page.evaluate(NOW) == "Done after 4 steps. “likes” is left: it is the root."
    assert page.evaluate(f"{SLIDER}.offsetParent !== null")
    assert page.evaluate("document.querySelectorAll('svg text').length") > 20
    assert page.complaints == []


def test_the_keyboard_moves_the_slider_and_the_list_shrinks(page: Browser) -> None:
    page.evaluate(f"{SLIDER}.focus()")
    page.press("Home")
    assert page.evaluate(SHOWN) == ""
    assert page.evaluate(LISTED) == "The, black, fox, likes, apples"
    assert page.evaluate(NOW) == "Start: all 5 words are pending."
    seen = []
    for _ in range(5):
        page.press("ArrowRight")
        seen.append((page.evaluate(SHOWN), page.evaluate(LISTED)))
    assert seen == [
        ("2", "The, black modifier, fox head, likes, apples"),
        ("1 2", "The modifier, fox head, likes, apples"),
        ("1 2 5", "fox, likes head, apples modifier"),
        ("1 2 3 5", "fox modifier, likes head"),
        ("1 2 3 4 5", "likes"),
    ]
    assert page.evaluate(f"{SLIDER}.value") == "5"
    page.press("ArrowLeft")
    assert page.evaluate(NOW) == "Step 4 of 4: “fox” becomes nsubj of “likes”, confidence 80 %."
    assert page.evaluate(f"{SLIDER}.getAttribute('aria-valuetext') === document.querySelector('.now').textContent")
    assert page.complaints == []


def test_runners_up_change_with_the_step(browser: Browser, tmp_path: Path) -> None:
    notes = [["one", "two"], ["three"], [], [], []]
    path = tmp_path / "steps.html"
    path.write_text(draw_html([replace(FOX, notes=notes)], shows_steps=True), encoding="utf-8")
    browser.open(path)
    others = "[...document.querySelectorAll('.others li')].map(item => item.textContent).join(', ')"
    title = "document.querySelector('#others-1').offsetParent !== null"
    assert (browser.evaluate(others), browser.evaluate(title)) == ("", False)
    browser.evaluate(f"{SLIDER}.focus()")
    browser.press("Home")
    seen = []
    for _ in range(3):
        browser.press("ArrowRight")
        seen.append((browser.evaluate(others), browser.evaluate(title)))
    assert seen == [("three", True), ("one, two", True), ("", False)]
    assert browser.complaints == []


def test_buttons_step_too_and_stop_at_the_ends(page: Browser) -> None:
    back, forward = (f"document.querySelectorAll('button')[{i}]" for i in (0, 1))
    assert page.evaluate(f"{forward}.disabled")
    for _ in range(7):
        page.evaluate(f"{back}.click()")
    assert page.evaluate(f"[{SLIDER}.value, {back}.disabled, {forward}.disabled].join()") == "0,true,false"
    page.evaluate(f"{forward}.click()")
    assert page.evaluate(SHOWN) == "2"
    assert page.complaints == []


def test_each_sentence_has_a_slider_of_its_own(page: Browser) -> None:
    page.evaluate("document.querySelectorAll('button')[2].click()")
    assert (
        page.evaluate("[...document.querySelectorAll('input[type=range]')].map(slider => slider.value).join()") == "5,4"
    )
    assert page.evaluate(SHOWN) == "1 2 3 4 5"


def test_screen_readers_find_names_for_all(page: Browser) -> None:
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = {(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes if not node["ignored"]}
    assert ("slider", "Step") in named
    assert ("button", "Back") in named
    assert ("region", "fox-1") in named
    images = [name for role, name in named if role in ("image", "img")]
    assert any("apples 5: obj of likes 4" in name for name in images)


def test_steps_are_folded_until_asked_for(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "trees.html"
    path.write_text(draw_html([FOX, HEBREW]), encoding="utf-8")
    browser.open(path)
    assert browser.evaluate(f"{SLIDER} === null")
    browser.click("document.querySelector('.steps summary')")
    browser.wait_for(f"{SLIDER} !== null")
    browser.evaluate(f"{SLIDER}.focus()")
    browser.press("Home")
    assert browser.evaluate(SHOWN) == ""
    browser.click("document.querySelector('.steps summary')")
    browser.wait_for(f"{SHOWN} === '1 2 3 4 5'")
    assert browser.complaints == []


def test_switches_hide_parts_of_all_pictures(page: Browser) -> None:
    for name, part in (("Tags", ".tag"), ("Step numbers", ".step")):
        shown = (
            f"[...document.querySelectorAll('svg {part}')].filter((each) => each.getBoundingClientRect().width).length"
        )
        assert page.evaluate(shown) > 0
        page.click(f"[...document.querySelectorAll('.switch')].find((each) => each.textContent.includes('{name}'))")
        assert page.evaluate(shown) == 0
    punctuation = "document.querySelectorAll('section')[1].querySelectorAll('.is-punctuation .line')"
    shown = f"[...{punctuation}].filter((each) => each.getBoundingClientRect().width).length"
    assert page.evaluate(shown) == 2
    page.click("[...document.querySelectorAll('.switch')].find((each) => each.textContent.includes('Punctuation'))")
    assert page.evaluate(shown) == 0
    assert page.complaints == []


def test_a_long_page_folds_its_sentences(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "trees.html"
    path.write_text(draw_html([FOX] * (FOLDED_AFTER + 2)), encoding="utf-8")
    browser.open(path)
    folded = "document.querySelectorAll('details.sentence')"
    assert browser.evaluate(f"{folded}.length") == 2
    assert browser.evaluate(f"{folded}[1].querySelector('svg').checkVisibility()") is False
    browser.click(f"{folded}[1].querySelector('summary')")
    assert browser.evaluate(f"{folded}[1].querySelector('svg').checkVisibility()") is True
    assert browser.complaints == []


def test_no_request_leaves_the_page(page: Browser) -> None:
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "data"}
    assert sum(url.startswith("file:") for url in page.requests) == 1


def test_hostile_words_stay_words(browser: Browser, tmp_path: Path) -> None:
    forms = [form.replace("\ud800", "x") for form in NASTY]
    n = len(forms)
    path = tmp_path / "nasty.html"
    path.write_text(draw_html([Drawing(forms, [*range(2, n + 1), 0], forms, forms)], title=forms[0]), encoding="utf-8")
    browser.open(path)
    assert browser.complaints == []
    assert browser.evaluate("document.querySelectorAll('script').length") == 1
    assert browser.evaluate("document.querySelectorAll('svg .form').length") == n
    assert browser.evaluate("document.querySelector('svg .form').textContent") == forms[0]


@pytest.mark.parametrize("is_dark", [False, True])
def test_an_svg_alone_suits_the_background(browser: Browser, tmp_path: Path, is_dark: bool) -> None:
    path = tmp_path / "tree.svg"
    path.write_text(draw_svg(FOX), encoding="utf-8")
    browser.open(path, dark=is_dark)
    color = browser.evaluate("getComputedStyle(document.querySelector('.background')).fill")
    assert color == ("rgb(23, 23, 28)" if is_dark else "rgb(255, 255, 255)")
    assert browser.complaints == []


def test_words_have_the_room_they_need(browser: Browser, tmp_path: Path) -> None:
    """The estimated widths hold in a real font: no two words, and no two labels on a level, overlap."""
    forms = ["Internationalization", "WWW", "mmmm", "illicit", "Übergröße"]
    forms += ["Ελληνικά", "Кириллица", "MIXEDcase", "1,234.56", "fox"]
    n = len(forms)
    path = tmp_path / "tree.svg"
    path.write_text(draw_svg(Drawing(forms, [*range(2, n + 1), 0], ["acl:relcl"] * n, ["PROPN"] * n)), encoding="utf-8")
    browser.open(path)
    for name in ("form", "label"):
        overlaps = browser.evaluate(
            f"(() => {{ const boxes = [...document.querySelectorAll('.{name}')].map(e => e.getBoundingClientRect());"
            "return boxes.filter((a, i) => boxes.slice(i + 1).some(b => a.left < b.right && b.left < a.right"
            " && Math.abs(a.top - b.top) < 8)).length; })()"
        )
        assert overlaps == 0, name
