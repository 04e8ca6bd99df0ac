"""The page as a parser of HTML reads it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings

from easyfirst.render.drawing import Drawing
from easyfirst.render.html import draw_html, html_parts
from tests.render.drawings import FOX, HEBREW, drawings

VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """All elements with their attributes, in order; and that each is closed where it should be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[str, str] = {}  # of scripts and styles
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            assert self._open[-1] not in self.contents
            self.contents[self._open[-1]] = data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_each_sentence_has_its_picture_and_its_steps() -> None:
    page = Page(draw_html([FOX, HEBREW], title="Two <trees>"))
    assert len(page.all("svg")) == len(page.all("section")) == len(page.all("table")) == 2
    rows = [(row["data-modifier"], row["data-head"]) for row in page.all("tr") if "data-modifier" in row]
    assert rows[:4] == [("2", "3"), ("1", "3"), ("5", "4"), ("3", "4")]
    assert len(rows) == 8
    assert [section["data-steps"] for section in page.all("section")] == ["4", "4"]


def test_ids_are_unique_and_what_is_named_exists() -> None:
    page = Page(draw_html([FOX, FOX, HEBREW]))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in page.elements:
        for reference in (attributes.get("aria-labelledby") or attributes.get("for") or "").split():
            assert reference in ids


def test_the_page_allows_only_its_own_script_and_style() -> None:
    page = Page(draw_html([FOX]))
    (rules,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert rules is not None
    assert rules.startswith("default-src 'none'; ")
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.contents[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in rules
    assert not any("src" in attributes or "style" in attributes for _, attributes in page.elements)
    links = {attributes["href"] for _, attributes in page.elements if "href" in attributes}
    assert links == {"data:,"}
    assert set(re.findall(r"https?://[^\"' ]*", draw_html([FOX]))) == {"http://www.w3.org/2000/svg"}


def test_it_says_when_the_order_is_made_up() -> None:
    assert "the input has no steps" not in draw_html([FOX])
    assert "the input has no steps" in draw_html([HEBREW])


def test_one_word_has_nothing_to_step_through() -> None:
    page = Page(draw_html([Drawing(["Yes"], [0], ["root"])]))
    assert page.all("table") == []
    assert len(page.all("svg")) == 1


def test_it_is_written_sentence_by_sentence() -> None:
    asked: list[int] = []

    def endless() -> object:
        while True:
            asked.append(1)
            yield FOX

    parts = html_parts(endless())  # type: ignore[arg-type]
    for _ in range(3):
        next(parts)
    assert len(asked) == 2


@settings(max_examples=60, deadline=None)
@given(drawings(max_words=6))
def test_nothing_in_a_sentence_can_break_the_page(drawing: Drawing) -> None:
    page = Page(draw_html([drawing], title=drawing.forms[0]))
    assert len(page.all("script")) == 1
    assert page.contents["script"].startswith('(() => {\n"use strict";\n// The step-through')
    assert len(page.all("svg")) == 1
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    page_text = draw_html([drawing])
    assert "\0" not in page_text
    page_text.encode()  # no lone surrogates


def test_runners_up_stand_with_their_steps() -> None:
    notes = [["3.21  black 2 as amod of fox 3", "<b>"], [], ["no"], [], []]
    page = draw_html([replace(FOX, notes=notes), FOX])
    assert page.count('<th scope="col">Chosen, and runners-up</th>') == 1
    rows = re.findall(r"<tr data-modifier=\"(\d)\".*?</tr>", page)[:4]
    assert rows == ["2", "1", "5", "3"]
    row = re.search(r"<tr data-modifier=\"1\".*?</tr>", page)
    assert row is not None
    assert re.findall(r"<li>(.*?)</li>", row[0]) == ["3.21  black 2 as amod of fox 3", "&lt;b&gt;"]
    Page(page)  # which is well-formed
