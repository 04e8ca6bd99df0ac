"""The workbench in a real browser, by clicks and keys, with the bundled model."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from tests.render.browser import Browser, find_browser
from tests.server.conftest import Server, running
from tests.server.workbenches import EDITOR, PROBLEM, REFUSED, STATUS, button, drawn, fixed, heads, type_in, word

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

SAW, TELESCOPE = 2, 7
AXE = "axe-core@4.10.2"  # fetched by npm when the test runs: MPL 2.0


def test_a_word_and_its_head_are_clicked(saw: Browser) -> None:
    assert heads(saw)[TELESCOPE] == SAW
    saw.click(word(7))
    assert saw.evaluate(STATUS) == "“telescope” is chosen: click its head, or take an alternative."
    saw.click(word(4))
    saw.wait_for(f"{STATUS}.startsWith('The head of “telescope” is “man”.')")
    assert (heads(saw)[TELESCOPE], fixed(saw)) == (4, [TELESCOPE])
    saw.click(button("Undo"))
    saw.wait_for(f"{STATUS}.startsWith('Undone.')")
    assert (heads(saw)[TELESCOPE], fixed(saw)) == (SAW, [])
    saw.click(button("Redo"))
    saw.wait_for(f"{STATUS}.startsWith('Done again.')")
    assert (heads(saw)[TELESCOPE], fixed(saw)) == (4, [TELESCOPE])


def test_a_word_is_dragged_to_its_head(saw: Browser) -> None:
    saw.drag(word(7), word(4))
    saw.wait_for(f"{STATUS}.startsWith('The head of “telescope” is “man”.')")
    assert (heads(saw)[TELESCOPE], fixed(saw)) == (4, [TELESCOPE])
    saw.click(word(1))  # the next click is a choice again
    assert saw.evaluate(STATUS).startswith("“I” is chosen")


def test_an_alternative_is_taken(saw: Browser) -> None:
    saw.click(word(7))
    saw.click(button("nmod of", f"{EDITOR}.querySelector('.choices')"))
    saw.wait_for(f"{STATUS}.startsWith('“telescope” is nmod of “man”.')")
    assert heads(saw)[TELESCOPE] == 4
    assert "underline" in saw.evaluate(f"{EDITOR}.querySelector('.arc[data-modifier=\"7\"]').outerHTML")


def test_a_relation_is_chosen_and_an_arc_forbidden_and_released(saw: Browser) -> None:
    saw.click(word(7))
    saw.evaluate(f"{EDITOR}.querySelector('.relation').value = 'nmod'")
    saw.evaluate(f"{EDITOR}.querySelector('.relation').dispatchEvent(new Event('change'))")
    saw.wait_for(f"{STATUS}.startsWith('telescope is nmod.')")
    saw.click(word(7))
    saw.click(button("Release"))
    saw.wait_for(f"{STATUS}.startsWith('“telescope” is free.')")
    assert heads(saw)[TELESCOPE] == SAW
    saw.click(word(7))
    saw.click(button("Not this arc"))
    saw.wait_for(f"{STATUS}.startsWith('The head of “telescope” is not “saw”.')")
    assert heads(saw)[TELESCOPE] != SAW
    saw.click(word(4))
    saw.click(button("Make it the root"))
    saw.wait_for(f"{STATUS}.startsWith('“man” is the root.')")
    assert heads(saw)[4] == 0


def test_the_keyboard_does_all_of_it(saw: Browser) -> None:
    saw.evaluate(f"{EDITOR}.querySelector('.word[tabindex=\"0\"]').focus()")
    saw.press("End")
    saw.press("ArrowLeft")
    saw.press("Enter")
    for _ in range(3):
        saw.press("ArrowLeft")
    saw.press("Enter")
    saw.wait_for(f"{STATUS}.startsWith('The head of “telescope” is “man”.')")
    assert heads(saw)[TELESCOPE] == 4
    focused = "document.activeElement.getAttribute('aria-label')"
    assert saw.evaluate(focused) == "telescope 7, nmod of man, 100 %, fixed"
    saw.press("b")
    for _ in range(4):
        saw.press("ArrowLeft")
    saw.press("Enter")
    saw.wait_for(f"{STATUS}.startsWith('The words 3 to 7 are a bracket.')")
    assert saw.evaluate(f"{EDITOR}.querySelectorAll('.bracket').length") == 1
    saw.press("z", control=True)
    saw.wait_for(f"{EDITOR}.querySelectorAll('.bracket').length === 0")
    saw.press("y")
    saw.wait_for(f"{EDITOR}.querySelectorAll('.bracket').length === 1")
    saw.press("End")
    saw.press("f")
    saw.wait_for(f"{STATUS}.startsWith('“.” is punct of “saw”.')")
    saw.press("Backspace")
    saw.wait_for(f"{STATUS}.startsWith('“.” is free.')")
    saw.press("r")
    assert saw.evaluate("document.activeElement.className") == "relation"
    saw.press("Escape")
    assert saw.evaluate("document.activeElement.getAttribute('data-id')") == "8"
    saw.press("a")
    saw.wait_for(f"{EDITOR}.classList.contains('is-done')")


def test_a_conflict_is_named_and_one_constraint_dropped(saw: Browser) -> None:
    saw.drag(word(7), word(4))
    saw.wait_for(f"{STATUS}.startsWith('The head of “telescope” is “man”.')")
    saw.drag(word(5), word(2))
    saw.wait_for(f"!{PROBLEM}.hidden")
    assert "these cannot hold together: 5 'with' has the head 2 'saw'; 7 'telescope'" in saw.evaluate(
        f"{PROBLEM}.textContent"
    )
    assert fixed(saw) == [TELESCOPE]  # nothing was changed
    saw.click(button("Drop: the head of “\\u2068telescope", PROBLEM))
    saw.wait_for(f"{STATUS}.startsWith('One constraint was dropped.')")
    assert (fixed(saw), heads(saw)[5]) == ([5], 2)
    assert saw.evaluate(f"{PROBLEM}.hidden")
    saw.complaints.remove(REFUSED)


def test_the_doubtful_words_come_in_the_order_of_the_derivation(page: Browser) -> None:
    page.click("document.querySelectorAll('.examples button')[2]")
    drawn(page)
    seen: list[str] = []
    for _ in range(12):
        page.click(button("Next doubtful word"))
        seen.append(page.evaluate(f"{EDITOR}.querySelector('.is-chosen').dataset.id"))
    n = len(set(seen))
    assert seen[n:] == seen[: 12 - n]  # around and around
    step_of = f'(m) => Number({EDITOR}.querySelector(`.arc[data-modifier="${{m}}"]`).dataset.step)'
    found = page.evaluate(f"{json.dumps(seen[:n])}.map({step_of})")
    assert found == sorted(found)


def test_switches(saw: Browser) -> None:
    tags = f"[...{EDITOR}.querySelectorAll('.tag')].map((each) => each.textContent)"
    assert saw.evaluate(tags)[:2] == ["PRON", "VERB"]
    switch = "[...document.querySelectorAll('.toolbar label')].find((each) => each.textContent.includes('{}'))"
    saw.click(switch.format("Lemmas"))
    saw.wait_for(f"{tags}.includes('see')")
    saw.click(switch.format("Tags"))
    saw.wait_for(f"!{tags}.includes('VERB')")
    arc = f"{EDITOR}.querySelector('.arc[data-modifier=\"8\"]').getBoundingClientRect().width"
    assert saw.evaluate(arc) > 0
    saw.click(switch.format("Punctuation"))
    assert saw.evaluate(arc) == 0


def test_the_steps_are_folded_until_asked_for(saw: Browser) -> None:
    assert saw.evaluate(f"{EDITOR}.querySelector('.stepper')") is None
    saw.click(button("Steps"))
    saw.wait_for(f"{EDITOR}.querySelector('.stepper') !== null")
    assert saw.evaluate(f"{EDITOR}.querySelector('.steps .legend').textContent").startswith(
        "The number after the relation"
    )
    assert saw.evaluate(f"{EDITOR}.querySelector('.now').textContent").startswith("Done after 7 steps.")
    saw.drag(word(7), word(4))
    saw.wait_for(f"{EDITOR}.querySelector('.is-fixed') !== null")
    assert saw.evaluate(f"{EDITOR}.querySelector('details.steps').open")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(page: Browser, english: Server, width: int) -> None:
    page.open("about:blank")
    page.open(english.address, width=width)
    for example in range(3):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelector('.examples').hidden = false")
        page.click(f"document.querySelectorAll('.examples button')[{example}]")
        drawn(page)
        page.click(word(2))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_server_that_stops_is_named(chromium: Browser) -> None:
    with running("en") as server:
        chromium.open(server.address)
        type_in(chromium, "It rains.")
        server.stop()
        chromium.drag(word(1), word(2))
        chromium.wait_for(f"{PROBLEM}.textContent.startsWith('The server does not answer.')")
    chromium.open("about:blank")


def test_axe_finds_no_serious_fault(chromium: Browser, english: Server, tmp_path: Path) -> None:
    axe = fetched_axe(tmp_path)
    for path, is_dark in (("", False), ("", True), ("model", False), ("docs", False)):
        chromium.open("about:blank")
        chromium.open(f"{english.address}{path}", dark=is_dark)
        if not path:
            assert faults(chromium, axe) == []
            chromium.click("document.querySelectorAll('.examples button')[2]")
            drawn(chromium)
            for name in ("Steps", "All words", "Keys", "Download"):
                chromium.click(button(name))
            chromium.click(word(2))
        assert faults(chromium, axe) == []


def fetched_axe(folder: Path) -> str:
    """The script of axe-core, or skip the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    packed = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, check=False, timeout=120)
    found = list(folder.glob("axe-core-*.tgz"))
    if packed.returncode or not found:
        pytest.skip("axe-core cannot be fetched")
    with tarfile.open(found[0]) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def faults(page: Browser, axe: str) -> list[Any]:
    """The serious and critical violations on the page."""
    page.evaluate(axe + "; window.found = null; axe.run().then((each) => { window.found = each.violations; }); 0")
    page.wait_for("window.found !== null")
    found = page.evaluate(
        "window.found.map((each) => [each.impact, each.id, each.nodes.map((n) => n.html).slice(0, 3)])"
    )
    return [each for each in found if each[0] in ("serious", "critical")]
