"""How tests use the workbench in a browser: what is on the page, typing and waiting."""

from __future__ import annotations

from tests.render.browser import Browser

EDITOR = "document.querySelector('.editor')"
STATUS = f"{EDITOR}.querySelector('.status').textContent.replace(/[\\u2068\\u2069]/g, '')"
PROBLEM = f"{EDITOR}.querySelector('.error')"
REFUSED = "Failed to load resource: the server responded with a status of 409 (Conflict)"


def drawn(page: Browser) -> None:
    page.wait_for("document.querySelector('.editor svg') !== null && !document.querySelector('[aria-busy]')")


def idle(page: Browser) -> None:
    page.wait_for("!document.querySelector('[aria-busy]')")


def word(m: int, editor: str = EDITOR) -> str:
    return f"{editor}.querySelector('.word[data-id=\"{m}\"] .form')"


def button(text: str, within: str = EDITOR) -> str:
    return f"[...{within}.querySelectorAll('button, summary')].find((each) => each.textContent.startsWith('{text}'))"


def heads(page: Browser) -> dict[int, int]:
    arcs = f"[...{EDITOR}.querySelectorAll('.arc')].map((arc) => [arc.dataset.modifier, arc.dataset.head])"
    return {int(m): int(h) for m, h in page.evaluate(arcs)}


def fixed(page: Browser) -> list[int]:
    return page.evaluate(f"[...{EDITOR}.querySelectorAll('.arc.is-fixed')].map((arc) => Number(arc.dataset.modifier))")


def type_in(page: Browser, text: str, kind: str = "text") -> None:
    page.evaluate(f"document.querySelector('textarea').value = ''; document.querySelector('#kind').value = '{kind}'")
    page.evaluate("document.querySelector('textarea').focus()")
    page.type(text)
    page.press("Enter", control=True)
    drawn(page)
