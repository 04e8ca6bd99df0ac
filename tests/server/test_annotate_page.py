"""The page of annotation in a real browser, by real keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.annotation.records import BY, STATUS
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.render.browser import Browser, find_browser
from tests.server.annotators import TOKENS, annotating, save

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

IS_READY = "document.activeElement?.classList.contains('word') && !document.querySelector('[aria-busy]')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(str(find_browser()), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def press(browser: Browser, *keys: str) -> None:
    """Press keys one after the other, each when the page is ready for it."""
    for key in keys:
        browser.wait_for(IS_READY)
        browser.press(key)


def read_state(browser: Browser) -> str:
    return browser.evaluate("document.querySelector('.editor .status').textContent")


def wait_for_progress(browser: Browser, text: str) -> None:
    browser.wait_for(f"document.querySelector('.progress p')?.textContent.startsWith({text!r})")


def saved(out: Path) -> list[Sentence]:
    return list(read_conllu(out))


def test_a_corpus_is_annotated_with_the_keyboard(browser: Browser, tmp_path: Path, model: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TOKENS)
    with annotating(corpus, out, model, "--order", "given") as server:
        browser.open(f"{server.address}annotate")
        wait_for_progress(browser, "0 done, 3 left")
        press(browser, "a")  # one key accepts a sentence
        wait_for_progress(browser, "1 done, 2 left")
        assert [sentence.metadata[STATUS] for sentence in saved(out)] == ["done"]

        press(browser, "f", "f", "s")  # two words of the second are right; then it is skipped
        wait_for_progress(browser, "1 done, 1 begun, 2 left")
        _, part = saved(out)
        assert (part.metadata[STATUS], part.heads.count(None)) == ("partial", 2)
        assert sum("Confirmed=seen" in cell for cell in part.misc) == 2

        browser.wait_for(IS_READY)
        first = browser.evaluate("document.activeElement.dataset.id")
        press(browser, "0")  # the word of the third at which the walk begins becomes the root
        wait_for_progress(browser, "1 done, 2 begun, 2 left")
        third = saved(out)[-1]
        assert third.heads[int(first) - 1] == 0
        assert third.relations[int(first) - 1] is None  # only its head was given
        assert third.misc[int(first) - 1] == "Confirmed=corrected"
        press(browser, "a")
        wait_for_progress(browser, "2 done, 1 begun, 1 left")
        third = saved(out)[-1]
        assert (third.metadata[STATUS], third.metadata[BY], third.heads.count(0)) == ("done", "anna", 1)
        assert third.heads[int(first) - 1] == 0

        press(browser, "a")  # the skipped sentence comes again at the end
        wait_for_progress(browser, "3 done, 0 left")
        browser.wait_for("document.querySelector('.annotating').textContent.includes('All sentences are done')")
        assert [sentence.metadata[STATUS] for sentence in saved(out)] == ["done"] * 3
        assert browser.complaints == []


def test_the_parser_tries_again_without_arcs_that_are_wrong(browser: Browser, tmp_path: Path, model: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TOKENS)
    with annotating(corpus, out, model, "--order", "given") as server:
        browser.open(f"{server.address}annotate")
        browser.wait_for(IS_READY)
        word = int(browser.evaluate("document.activeElement.dataset.id"))
        before = browser.evaluate(f"document.querySelector('.word[data-id=\"{word}\"]').getAttribute('aria-label')")
        press(browser, "x", "f", "f", "f")  # at the end of the walk, the parser tries again
        wait_for_progress(browser, "0 done, 1 begun, 3 left")
        browser.wait_for(IS_READY)
        after = browser.evaluate(f"document.querySelector('.word[data-id=\"{word}\"]').getAttribute('aria-label')")
        assert before.split(", ")[1] != after.split(", ")[1]
        press(browser, "p")  # nothing is before the first sentence
        assert "right" in read_state(browser)
        assert browser.complaints == []


def test_accepting_a_tree_with_wrong_arcs_says_that_the_parser_tried_again(
    browser: Browser, tmp_path: Path, model: Path
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TOKENS)
    with annotating(corpus, out, model, "--order", "given") as server:
        browser.open(f"{server.address}annotate")
        press(browser, "f", "x", "a")
        wait_for_progress(browser, "0 done, 1 begun, 3 left")
        browser.wait_for(IS_READY)
        state = read_state(browser)
        assert state.startswith("Some arcs were said to be wrong, so the parser tried again.")
        assert "right? " in state
        press(browser, "a")
        wait_for_progress(browser, "1 done, 2 left")
        assert browser.complaints == []


def test_it_says_when_somebody_else_was_faster(browser: Browser, tmp_path: Path, model: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TOKENS)
    with annotating(corpus, out, model, "--order", "given") as server:
        browser.open(f"{server.address}annotate")
        browser.wait_for(IS_READY)
        save(server, server.ask("GET", "/annotate/sentences/1").json["sentence"], "ben")
        press(browser, "a")
        browser.wait_for("document.querySelector('.annotating > .error')?.textContent.includes('ben has saved')")
        assert saved(out)[0].metadata[BY] == "ben"
        browser.evaluate("document.querySelector('.annotating > .error button').click()")
        browser.wait_for("document.querySelector('.annotating > .error').hidden")
        press(browser, "a")
        wait_for_progress(browser, "1 done, 2 left (anna 1)")


def test_who_has_no_name_is_asked_for_it(browser: Browser, tmp_path: Path, model: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TOKENS)
    with annotating(corpus, out, model, "--order", "given") as server:
        browser.open(f"{server.address}annotate")
        browser.evaluate("localStorage.setItem('easyfirst.annotator', '')")
        browser.open(f"{server.address}annotate?again")
        browser.wait_for("document.activeElement?.id === 'annotator'")
        assert browser.evaluate("document.querySelector('.editor')") is None
        browser.evaluate("document.activeElement.value = 'eve'")
        browser.evaluate("document.activeElement.dispatchEvent(new Event('change'))")
        wait_for_progress(browser, "0 done, 3 left")
        press(browser, "a")
        wait_for_progress(browser, "1 done, 2 left")
        assert saved(out)[0].metadata[BY] == "eve"
        browser.evaluate("localStorage.clear()")
