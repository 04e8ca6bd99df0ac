"""The page: what it is made of, and how it works in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.confidence.calibration import Calibration
from easyfirst.parser import Parser
from easyfirst.render.bands import per_cent
from easyfirst.render.markup import escape
from easyfirst.results.parses import Parse
from easyfirst.server.answers import Answer
from easyfirst.server.limits import RefusedError
from easyfirst.server.page import Form, draw_page, read_form
from easyfirst.treebank.sentence import Sentence
from tests.calibrations import BY_HAND, steps_of
from tests.render.browser import Browser, find_browser
from tests.server.conftest import Server

in_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")
NASTY = "</textarea><script>alert(1)</script> & \"quotes\" 'here' <b>"


def parsed(*forms: str, calibration: Calibration | None = None) -> Answer:
    """An answer of one sentence, in which every word is a modifier of the first."""
    n = len(forms)
    sentence = Sentence.from_words(forms, upos=["X"] * n)
    steps = steps_of([min(m, 1) for m in range(n)], range(2, n + 1), [0.25] * (n - 1), [0.125] * (n - 1))
    return Answer((Parse.of(sentence, sentence, steps, calibration=calibration),))


def test_a_form_as_browsers_send_it(parser: Parser) -> None:
    form = Form.of(parser)
    assert (form.kinds, form.kind) == (("text", "lines", "tokens", "conllu"), "text")
    assert read_form(b"text=a%0D%0A%C3%BC+b&kind=lines", form) == Form(form.kinds, "lines", "a\nü b")
    assert read_form(b"", form) == form
    for body in (b"text=%FF", b"text=\xfc", b"&".join([b"text=a"] * 11), b"text=a&kind=magic"):
        with pytest.raises(RefusedError) as refused:
            read_form(body, form)
        assert refused.value.status == 400


@pytest.mark.parametrize(
    ("kind", "n_sentences"), [("text", None), ("lines", 2), ("tokens", 2)], ids=["text", "lines", "tokens"]
)
def test_the_form_sent(server: Server, kind: str, n_sentences: int | None) -> None:
    answer = server.ask("POST", "/", f"text=A+fox.%0D%0A%0D%0AIt+jumps.&kind={kind}".encode())
    page = answer.body.decode()
    assert answer.status == 200
    assert ">\nA fox.\n\nIt jumps.</textarea>" in page
    assert f'<option value="{kind}" selected="selected">' in page
    assert page.count("<svg ") == page.count("<section ") >= 2
    if n_sentences is not None:
        assert page.count("<svg ") == n_sentences


def test_runners_up_are_on_the_page(server: Server, parser: Parser) -> None:
    explanation = parser.explain(["The", "fox", "jumps"])
    page = server.ask("POST", "/", b"text=The+fox+jumps&kind=tokens").body.decode()
    notes = explanation.drawing().notes
    assert notes is not None
    assert sum(map(len, notes)) >= 2 * (1 + 3)
    for note in (note for of_word in notes for note in of_word):
        assert f"<li>{escape(note.partition('  ')[2])}" in re.sub(r"<li>-?[0-9.]+  ", "<li>", page)
    assert page.count(": chosen<") == 2
    assert "Runners-up are shown for" not in page
    assert "Margin of the relation" in page


def test_so_many_words_are_explained(server: Server) -> None:
    line = "a+" * 99 + "a%0D%0A"
    page = server.ask("POST", "/", f"text={line * 6}&kind=tokens".encode()).body.decode()
    assert page.count(": chosen<") == 99 * 5
    assert "Runners-up are shown for 500 words at most, so not for those after the first 5." in page
    assert page.count("<svg ") == 6


def test_errors_are_on_the_page(server: Server) -> None:
    for body, status, message in (
        (b"text=%00", 422, "NUL character"),
        (b"text=%FF", 400, "not what the form of this page sends"),
        (b"text=" + b"a+" * 2001, 413, "has at least 2,001 words; this server takes up to 2,000 at a time"),
    ):
        answer = server.ask("POST", "/", body)
        page = answer.body.decode()
        assert (answer.status, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert 'role="alert"' in page
        assert message in page


def test_nothing_typed_in_can_become_markup() -> None:
    form = Form(("tokens",), "tokens", NASTY)
    page = draw_page(form, name=NASTY, answer=parsed(NASTY, NASTY), message=NASTY)
    assert [page.count(tag) for tag in ("<script", "</script", "</textarea", "<b>")] == [1, 1, 1, 0]


def test_confidences_are_shown_where_the_model_gives_them() -> None:
    form = Form(("text",), "text", "A fox")
    without = draw_page(form, name="x", answer=parsed("A", "fox"))
    assert "onfidence" not in without.partition("<main>")[2].partition("</main>")[0]
    answer = parsed("A", "fox", calibration=BY_HAND)
    confidence = answer.parses[0].confidence
    assert confidence is not None
    page = draw_page(form, name="x", answer=answer)
    for text in (
        f"Sentence 1 (confidence {per_cent(confidence.tree)})",
        "Confidence of the head",
        "Confidence of head and relation",
        f"{confidence.arcs[1]:.3f}",
        f"{confidence.labels[1]:.3f}",
        f"<td>{per_cent(confidence.arcs[1])}</td>",
    ):
        assert text in page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@in_browser
def test_typing_and_stepping_through_with_the_keyboard_alone(browser: Browser, server: Server) -> None:
    browser.open(server.address)
    browser.wait_for("document.activeElement.id === 'text'")
    browser.type(f"A fox {NASTY}")
    for _ in range(2):
        browser.press("Tab")
    assert browser.evaluate("document.activeElement.textContent") == "Parse"
    browser.press("Enter")
    browser.wait_for("document.querySelector('.editor svg') !== null && !document.querySelector('[aria-busy]')")
    assert browser.evaluate("document.querySelector('textarea').value") == f"A fox {NASTY}"
    slider = "document.querySelector('section input[type=range]')"
    browser.click("document.querySelector('.steps summary')")
    browser.wait_for(f"{slider} !== null")
    last = int(browser.evaluate(f"{slider}.max"))
    arcs = f"[...{slider}.closest('section').querySelectorAll('.arc')]"  # a sentence of one word has no slider
    shown = f"{arcs}.filter(arc => !arc.hasAttribute('hidden')).length"
    assert browser.evaluate(shown) == last
    browser.evaluate(f"{slider}.focus()")
    browser.press("Home")
    assert browser.evaluate(shown) == 0
    browser.press("ArrowRight")
    assert browser.evaluate(shown) == 1
    assert browser.complaints == []
    assert {request for request in browser.requests if not request.startswith(server.address)} <= {"data:,"}


@in_browser
def test_screen_readers_find_names_for_all(browser: Browser, server: Server) -> None:
    browser.open(server.address)
    browser.evaluate("document.querySelector('textarea').value = 'A fox jumps.'")
    browser.evaluate("document.querySelector('form').requestSubmit()")
    browser.wait_for("document.querySelector('.editor svg') !== null && !document.querySelector('[aria-busy]')")
    browser.click("document.querySelector('.steps summary')")
    browser.wait_for("document.querySelector('section input[type=range]') !== null")
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {(node["role"]["value"], node.get("name", {}).get("value")) for node in nodes if not node["ignored"]}
    roles = {role for role, _ in named}
    assert {"main", "heading", "status", "slider", "form"} - roles <= {"form"}
    assert ("textbox", "Text") in named
    assert ("combobox", "Input") in named
    assert ("button", "Parse") in named
    assert ("slider", "Step") in named


@in_browser
def test_without_scripts_the_page_is_a_form_and_pictures(browser: Browser, server: Server) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(server.address)
        browser.click("document.querySelector('.examples button')")
        browser.wait_for("document.readyState === 'complete' && document.querySelector('main section svg') !== null")
        assert "telescope" in browser.evaluate("document.querySelector('main').innerText")
        assert browser.evaluate("document.querySelector('.editor')") is None
        browser.click("document.querySelector('.steps summary')")
        browser.wait_for("document.querySelector('.steps table').checkVisibility()")
        assert "sentence" in browser.evaluate("document.title")
        assert browser.complaints == []
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@in_browser
def test_the_page_of_the_api(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}docs")
    assert "POST /parse" in browser.evaluate("document.body.innerText")
    assert browser.complaints == []
    assert set(browser.requests) <= {f"{server.address}docs", "data:,"}
