"""Pictures of constituency trees hold every phrase and word, whatever their characters are."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given

from easyfirst.constituents.brackets import read_bracket_lines
from easyfirst.constituents.tree import Constituents
from easyfirst.render.constituents import draw_constituents, draw_constituents_latex, draw_constituents_svg
from tests.constituents.strategies import trees

SVG = "{http://www.w3.org/2000/svg}"


@given(tree=trees())
def test_a_line_for_each_phrase_and_word(tree: Constituents) -> None:
    lines = draw_constituents(tree).split("\n")
    names = [line.lstrip("│├└─ ") for line in lines]
    words = [f"{tag} {form}" for tag, form in zip(tree.tags, tree.forms, strict=True)]
    assert sorted(names) == sorted([*words, *(node.label for node in tree.nodes)])
    assert [name for name in names if " " in name] == words


@given(tree=trees())
def test_svg(tree: Constituents) -> None:
    root = ET.fromstring(draw_constituents_svg(tree, theme="dark"))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts[: len(tree.nodes)] == [node.label for node in tree.nodes]
    assert texts[len(tree.nodes) + 1 :: 2] == list(tree.forms)
    assert len(list(root.iter(f"{SVG}line"))) == max(len(tree.nodes) + len(tree) - 1, 0)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter(f"{SVG}text"):
        assert 0 <= float(element.attrib["x"]) <= width
        assert 0 <= float(element.attrib["y"]) <= height


def test_svg_escapes() -> None:
    [tree] = read_bracket_lines([b"(S<P (A&B <b>) (NN x))"], "test")
    root = ET.fromstring(draw_constituents_svg(tree))
    assert [element.text for element in root.iter(f"{SVG}text")] == ["S<P", "A&B", "<b>", "NN", "x"]
    assert "prefers-color-scheme:dark" in draw_constituents_svg(tree)


def test_latex() -> None:
    [tree] = read_bracket_lines([b"(S (NP (NN R&D)) ($ $) (-LRB- [))"], "test")
    text = draw_constituents_latex(tree)
    inside = r"[{S} [{NP} [{NN} [{R\char38{}D}]]] [{\$} [{\$}]] [{-{}LRB-{}} [{{[}}]]]"
    assert text == f"\\begin{{forest}}\n  {inside}\n\\end{{forest}}\n"
