"""Pictures are read back as XML: the arcs from the very lines that are drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import InputError
from easyfirst.render.bands import BANDS
from easyfirst.render.drawing import Drawing
from easyfirst.render.layout import lay_out
from easyfirst.render.svg import draw_svg
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.tree import find_cycle
from tests.render.drawings import FOX, HEBREW, drawings
from tests.render.test_terminal import trees

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"(-?[0-9.]+)"


def parts(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    return [element for element in root.iter() if name in element.get("class", "").split()]


def word_at(root: ElementTree.Element, x: float, y: float) -> int:
    """The word of the nearest column in the line that begins just below a point."""
    words = []
    for word in parts(root, "word"):
        form = word.find(f"{SVG}text")
        assert form is not None
        words.append((float(form.get("y", "")), abs(float(form.get("x", "")) - x), int(word.get("data-id", ""))))
    line = min(top for top, _, _ in words if top >= y)
    return min((distance, m) for top, distance, m in words if top == line)[1]


def drawn_arcs(root: ElementTree.Element) -> set[tuple[int, int]]:
    """(head, modifier) of every arc, from where its lines begin and where its tip points."""
    arcs = set()
    for arc in parts(root, "arc"):
        head = None
        for line in parts(arc, "line"):
            if begin := re.match(f"M{NUMBER} {NUMBER}V", line.get("d", "")):
                head = word_at(root, float(begin[1]), float(begin[2]))
        (tip,) = parts(arc, "tip")
        point = re.match(f"M{NUMBER} {NUMBER}l", tip.get("d", ""))
        assert point is not None
        modifier = word_at(root, float(point[1]), float(point[2]))
        assert modifier == int(arc.get("data-modifier", ""))
        if arc.get("data-head") != "0":
            assert head == int(arc.get("data-head", ""))
            arcs.add((int(arc.get("data-head", "")), modifier))
    return arcs


def texts(root: ElementTree.Element, name: str) -> list[str]:
    return ["".join(element.itertext()) for element in parts(root, name)]


def test_a_picture() -> None:
    root = ElementTree.fromstring(draw_svg(FOX))
    assert root.tag == f"{SVG}svg"
    assert texts(root, "form") == FOX.forms
    assert texts(root, "tag") == FOX.tags
    assert drawn_arcs(root) == set(FOX.arcs)
    assert [label for label in texts(root, "label") if "%" not in label] == ["det2", "amod1", "nsubj4", "root", "obj3"]
    assert texts(root, "step") == ["2", "1", "4", "3"]


def test_confidence_is_colour_and_more() -> None:
    root = ElementTree.fromstring(draw_svg(FOX))
    names = [arc.get("class") for arc in parts(root, "arc")]
    assert names == ["arc c4", "arc c3", "arc c2", "arc c1", "arc c0"]
    dashed = [arc.get("class") for arc in parts(root, "arc") if parts(arc, "line")[0].get("stroke-dasharray")]
    assert dashed == ["arc c0"]
    assert [arc.findtext(f"{SVG}title") for arc in parts(root, "arc")][:2] == [
        "The 1: det of fox 3 (step 2, 99 %)",
        "black 2: amod of fox 3 (step 1, 93 %)",
    ]
    assert len(parts(root, "key")) == len(BANDS)
    plain = ElementTree.fromstring(draw_svg(replace(FOX, confidence=None)))
    assert not parts(plain, "key")
    assert {arc.get("class") for arc in parts(plain, "arc")} == {"arc"}


def test_those_who_cannot_see_it_are_told() -> None:
    root = ElementTree.fromstring(draw_svg(FOX, name="t7"))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "t7-title t7-desc"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert (title.get("id"), title.text) == ("t7-title", "fox-1")
    assert description.get("id") == "t7-desc"
    assert "apples 5: obj of likes 4 (step 3, 25 %)" in str(description.text)


def test_words_from_right_to_left_stand_that_way() -> None:
    root = ElementTree.fromstring(draw_svg(HEBREW))
    places = [float(form.get("x", "")) for form in parts(root, "form")]
    assert places == sorted(places, reverse=True)
    assert {form.get("direction") for form in parts(root, "form")} == {"rtl"}
    assert drawn_arcs(root) == set(HEBREW.arcs)


def test_themes() -> None:
    light, dark, auto = (draw_svg(FOX, theme=theme) for theme in ("light", "dark", "auto"))  # type: ignore[arg-type]
    assert "<style>" not in light + dark
    assert "prefers-color-scheme:dark" in auto
    assert 'fill="#ffffff"' in light
    assert 'fill="#ffffff"' not in dark
    assert "<style>" not in draw_svg(FOX, has_style=False)


def test_a_width_must_leave_room() -> None:
    with pytest.raises(InputError, match="give 160 or more"):
        draw_svg(FOX, width=100)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40).flatmap(trees), st.integers(160, 900), st.booleans())
def test_long_sentences_wrap_and_keep_their_arcs(heads: list[int], width: int, is_right_to_left: bool) -> None:
    n = len(heads)
    drawing = Drawing(["ספר" if is_right_to_left else "word"] * n, heads, ["obl:tmod"] * n)
    root = ElementTree.fromstring(draw_svg(drawing, width=width))
    assert float(root.get("width", "")) <= max(width, 420)  # a word with many arcs may be wider
    assert drawn_arcs(root) == set(drawing.arcs)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25).flatmap(trees), st.integers(160, 900))
def test_lines_of_a_projective_tree_do_not_cross(heads: list[int], width: int) -> None:
    """No arc's way down passes through another arc's level part."""
    drawing = Drawing(["word"] * len(heads), heads, ["x"] * len(heads))
    pieces = lay_out(drawing, width).pieces
    for piece in pieces:
        ends = [piece.start] * piece.has_head + [piece.end] * piece.has_modifier
        for other in pieces:
            left, right = sorted((other.start, other.end))
            if other is not piece and other.base == piece.base and other.head and other.top > piece.top:
                assert not any(left < x < right for x in ends), (piece, other)


@settings(max_examples=60, deadline=None)
@given(drawings())
def test_nothing_in_a_sentence_can_break_the_picture(drawing: Drawing) -> None:
    root = ElementTree.fromstring(draw_svg(drawing))
    allowed = {f"{SVG}{name}" for name in ["svg", "title", "desc", "style", "rect", "g", "path", "text", "tspan"]}
    assert {element.tag for element in root.iter()} <= allowed
    assert len(parts(root, "form")) == len(drawing)
    assert len(parts(root, "arc")) == sum(head is not None for head in drawing.heads)
    assert not any(name.startswith("on") or "href" in name for element in root.iter() for name in element.attrib)


@settings(max_examples=60, deadline=None)
@given(drawings(is_plain=True))
def test_any_graph_is_drawn_whole(drawing: Drawing) -> None:
    """Also cycles, several roots, and words without a head."""
    assert drawn_arcs(ElementTree.fromstring(draw_svg(drawing, width=300))) == set(drawing.arcs)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_crossing_is_found_in_all_small_trees(n: int) -> None:
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and not find_cycle(heads):
            drawing = Drawing(["w"] * n, heads, ["x"] * n)
            assert drawing.has_crossing == (not is_projective(heads))


def test_where_arcs_cross_labels_are_on_top() -> None:
    """The arc from 5 to 2 falls across the one from 3 to 1, whose label is drawn later and has a halo."""
    crossing = Drawing(["a", "b", "c", "d", "e"], [3, 5, 5, 5, 0], ["x", "y", "z", "x", "root"])
    root = ElementTree.fromstring(draw_svg(crossing))
    assert [arc.get("data-modifier") for arc in parts(root, "arc")] == ["5", "2", "1", "3", "4"]
    assert len(parts(root, "halo")) == 5
    projective = Drawing(["a", "b", "c", "d", "e"], [3, 3, 5, 5, 0], ["x", "y", "z", "x", "root"])
    root = ElementTree.fromstring(draw_svg(projective))
    assert [arc.get("data-modifier") for arc in parts(root, "arc")] == ["1", "2", "3", "4", "5"]
    assert not parts(root, "halo")
