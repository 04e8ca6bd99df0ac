"""Work on many sentences in the workbench: order, saving, links and files."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from tests.patience import wait_until
from tests.render.browser import Browser, find_browser
from tests.server.conftest import Server
from tests.server.workbenches import EDITOR, STATUS, button, drawn, fixed, heads, type_in, word

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

TELESCOPE = 7


def test_sentences_are_ordered_accepted_saved_and_restored(page: Browser, english: Server) -> None:
    type_in(page, "She likes apples. The old man the boat. It rains.")
    assert page.evaluate("document.querySelector('#result').textContent") == "3 sentences, 0 accepted"
    page.evaluate("document.querySelector('.toolbar select').value = 'doubt'")
    page.evaluate("document.querySelector('.toolbar select').dispatchEvent(new Event('change'))")
    page.wait_for(f"{EDITOR}.textContent.includes('The old man the boat.')")
    page.drag(word(5), word(2))
    page.wait_for(f"{STATUS}.startsWith('The head of “boat” is “old”.')")
    page.click(button("Accept"))
    page.wait_for("document.querySelector('#result').textContent === '3 sentences, 1 accepted'")
    assert page.evaluate("document.activeElement.closest('.editor') === document.querySelectorAll('.editor')[1]")
    page.open("about:blank")
    page.open(english.address)
    page.click("[...document.querySelectorAll('.saved button')][0]")
    drawn(page)
    assert page.evaluate("document.querySelector('#result').textContent") == "3 sentences, 1 accepted"
    assert page.evaluate("document.querySelectorAll('.is-done').length") == 1
    second = "document.querySelectorAll('.editor')[1]"
    assert page.evaluate(f"{second}.querySelector('.is-fixed').dataset.head") == "2"
    page.open("about:blank")
    page.open(english.address)
    page.click("[...document.querySelectorAll('.saved button')][1]")
    assert page.evaluate("localStorage.length") == 0


def test_a_correction_does_not_change_the_order_of_doubt(page: Browser) -> None:
    type_in(page, "She likes apples. The old man the boat. I saw the man with the telescope.")
    page.evaluate("document.querySelector('.toolbar select').value = 'doubt'")
    page.evaluate("document.querySelector('.toolbar select').dispatchEvent(new Event('change'))")
    page.wait_for(f"{EDITOR}.textContent.includes('The old man the boat.')")
    page.evaluate(f"{EDITOR}.querySelector('.word[data-id=\"5\"]').focus()")
    page.press("f")  # now its tree is likelier than that of the second sentence
    page.wait_for(f"{STATUS}.startsWith('“boat” is')")
    page.press("a")
    page.wait_for("document.querySelector('#result').textContent === '3 sentences, 1 accepted'")
    page.wait_for("document.activeElement.closest('.editor')?.textContent.includes('I saw the man')")


def test_the_keys_work_when_no_word_is_doubtful(page: Browser) -> None:
    type_in(page, "It rains.")
    page.click(button("Next doubtful word"))
    assert page.evaluate(STATUS) == "No word is doubtful."
    page.press("a")
    page.wait_for(f"{EDITOR}.classList.contains('is-done')")


def test_a_link_carries_the_text_and_sends_it_to_nobody(page: Browser, english: Server) -> None:
    page.evaluate("document.querySelector('textarea').value = 'Ünï & so = on #1'")
    page.click(button("Copy link", "document"))
    page.wait_for("location.hash.length > 1")
    link = page.evaluate("location.href")
    page.open("about:blank")
    page.open(link)
    drawn(page)
    assert page.evaluate("document.querySelector('textarea').value") == "Ünï & so = on #1"
    assert set(page.requests) - {"data:,"} == {english.address, f"{english.address}parse"}


def test_a_link_does_not_replace_what_was_saved(page: Browser, english: Server) -> None:
    type_in(page, "She likes apples.")
    page.click(button("Copy link", "document"))
    page.wait_for("location.hash.length > 1")
    page.click(button("Accept"))
    page.wait_for("document.querySelector('#result').textContent.startsWith('All sentences are accepted')")
    link, saved = page.evaluate("[location.href, localStorage.getItem('easyfirst.workbench')]")
    page.open("about:blank")
    page.open(link)  # as reloading the page does
    page.wait_for("document.querySelector('.saved') !== null")
    assert page.evaluate("document.querySelector('textarea').value") == "She likes apples."
    assert page.evaluate("localStorage.getItem('easyfirst.workbench')") == saved
    page.click("[...document.querySelectorAll('.saved button')][0]")
    drawn(page)
    assert page.evaluate("document.querySelectorAll('.is-done').length") == 1


def test_another_text_does_not_replace_corrections(page: Browser, english: Server) -> None:
    type_in(page, "She likes apples.")
    page.click(button("Accept"))
    page.wait_for("document.querySelector('#result').textContent.startsWith('All sentences are accepted')")
    type_in(page, "It rains.")
    page.wait_for("document.querySelector('.saved')?.textContent.startsWith('Go back to 1 sentence, 1 accepted')")
    page.open("about:blank")
    page.open(english.address)
    assert page.evaluate("document.querySelectorAll('.saved').length") == 2  # that of the new text, too
    page.click("[...document.querySelectorAll('.saved')][1].querySelector('button')")
    page.wait_for("document.querySelectorAll('.is-done').length === 1")
    assert page.evaluate("document.querySelector('textarea').value") == "She likes apples."
    assert page.evaluate("Object.keys(localStorage)") == ["easyfirst.workbench"]  # nobody had corrected the other one


def test_files_are_opened_and_downloaded(page: Browser, tmp_path: Path) -> None:
    rows = ["I", "saw", "the", "man", "with", "the", "telescope"]
    lines = [
        f"{m}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{'FixedHead=4' if m == TELESCOPE else 'Gloss=x'}"
        for m, form in enumerate(rows, 1)
    ]
    path = tmp_path / "mine.conllu"
    path.write_text("# sent_id = a-1\n" + "\n".join(lines) + "\n\n", encoding="utf-8")
    open_file(page, path)
    drawn(page)
    assert (heads(page)[TELESCOPE], fixed(page)) == (4, [TELESCOPE])
    assert "a-1" in page.evaluate(f"{EDITOR}.querySelector('h2').textContent")
    page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    page.click(button("Download"))
    for text, name, start in (
        ("CoNLL-U", "sentence-1.conllu", b"# sent_id = a-1\n1\tI\t_\t"),
        ("SVG", "sentence-1.svg", b"<svg "),
        ("PNG", "sentence-1.png", b"\x89PNG\r\n"),
        ("LaTeX", "sentence-1.tex", b"\\begin{dependency}"),
    ):
        page.click(button(text))
        assert downloaded(tmp_path / "saved" / name).startswith(start)
    page.click(button("Download CoNLL-U", "document"))
    written = downloaded(tmp_path / "saved" / "corrected.conllu").decode()
    assert written.count("Gloss=x") == 6
    assert "\t4\tnmod\t_\tFixedHead=4\n" in written


def open_file(page: Browser, path: Path) -> None:
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=document, selector="input[type=file]")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])


def downloaded(path: Path) -> bytes:
    wait_until(lambda: path.exists() and path.stat().st_size > 0 and not list(path.parent.glob("*.crdownload")))
    return path.read_bytes()


def test_long_files_are_shown_in_parts(page: Browser) -> None:
    type_in(page, "It rains. " * 23)
    assert page.evaluate("document.querySelectorAll('.editor').length") == 10
    page.click(button("Next sentences", "document"))
    page.wait_for("document.querySelector('nav').textContent.includes('11 to 20 of 23')")
    assert page.evaluate(f"{EDITOR}.querySelector('h2').textContent").startswith("Sentence 11")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(set(ids)) == len(ids)
