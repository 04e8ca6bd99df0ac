"""The columns that are drawn with the words, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import InputError
from easyfirst.nn.tagger_network import OUTPUTS
from easyfirst.parser import Parser
from easyfirst.render.columns import columns_of, read_columns
from easyfirst.render.displacy import to_displacy
from easyfirst.render.dot import draw_dot
from easyfirst.render.drawing import Drawing
from easyfirst.render.latex import draw_latex
from easyfirst.render.layout import TAG_HEIGHT, lay_out
from easyfirst.render.svg import draw_svg
from easyfirst.render.terminal import MIN_COLUMN_WIDTH, display_width, draw_tree
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.small_models import small_model, small_tagger

DATA = Path(__file__).parent.parent / "data"
SENTENCE = next(iter(read_conllu(DATA / "multiword.conllu")))
BUNDLE = "Case=Nom|Definite=Def|Gender=Masc|Number=Plur"
DRAWING = Drawing(
    ["The", "foxes"],
    [2, 0],
    ["det", "root"],
    columns={"upos": ["DET", "NOUN"], "lemma": ["the", "_"], "feats": ["_", BUNDLE]},
)


# Names


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("lemma", ("lemma",)),
        ("feats,lemma", ("feats", "lemma")),
        (["feats", "lemma"], ("feats", "lemma")),
        (["upos, XPOS", "feats"], ("upos", "xpos", "feats")),
        (["upos", "upos"], ("upos",)),
        ("none", ()),
        (["none"], ()),
        ([], ()),
    ],
)
def test_columns_are_named_one_by_one_or_with_commas(show: str | list[str], names: tuple[str, ...]) -> None:
    assert read_columns(show) == names
    assert read_columns(iter([show] if isinstance(show, str) else show)) == names
    assert list(columns_of(SENTENCE, show)) == list(names)


@pytest.mark.parametrize("show", ["lema", "lemma,none", "", "lemma,", "misc", ["lemmas"]])
def test_other_names_are_refused(show: str | list[str]) -> None:
    with pytest.raises(InputError, match=r"'.*' is not a column that can be shown; choose lemma, upos, xpos, feats"):
        read_columns(show)


def test_columns_have_the_values_of_the_sentence() -> None:
    assert columns_of(SENTENCE, "feats,lemma") == {"feats": SENTENCE.feats, "lemma": SENTENCE.lemmas}


# Drawings


def test_each_feature_has_a_line() -> None:
    assert DRAWING.lines() == [
        ("upos", ["DET", "NOUN"]),
        ("lemma", ["the", ""]),
        ("feats", ["", "Case=Nom"]),
        ("feats", ["", "Definite=Def"]),
        ("feats", ["", "Gender=Masc"]),
        ("feats", ["", "Number=Plur"]),
    ]
    assert replace(DRAWING, columns={}).lines() == []
    assert replace(DRAWING, columns={"lemma": ["_", "_"]}).lines() == []
    assert replace(DRAWING, columns=None, tags=["X|Y", "_"]).lines() == [("tag", ["X|Y", ""])]


def test_a_drawing_of_conllu_shows_what_is_chosen() -> None:
    assert Drawing.of(SENTENCE).lines() == [("tag", list(SENTENCE.upos))]
    assert Drawing.of(SENTENCE, "none").lines() == []
    assert [name for name, _ in Drawing.of(SENTENCE, ["lemma", "xpos"]).lines()] == ["lemma", "xpos"]
    bare = Sentence.from_words(["a", "b"], xpos=["X", "Y"], heads=[2, 0], relations=["x", "root"])
    assert Drawing.of(bare).lines() == [("tag", ["X", "Y"])]
    assert Drawing.of(bare, "upos").lines() == []


def test_a_column_has_a_cell_for_each_word() -> None:
    with pytest.raises(InputError, match="2 forms but 1 cells of lemma: give one for each word"):
        replace(DRAWING, columns={"lemma": ["a"]})


# Formats


def test_svg_has_the_lines_below_the_words() -> None:
    root = ElementTree.fromstring(draw_svg(DRAWING))
    texts = [
        (element.get("data-column"), element.text, float(element.get("y", "0")))
        for element in root.iter("{http://www.w3.org/2000/svg}text")
        if element.get("class") == "tag"
    ]
    assert [(name, text) for name, text, _ in texts] == [
        ("upos", "DET"),
        ("lemma", "the"),
        ("upos", "NOUN"),
        *(("feats", feature) for feature in BUNDLE.split("|")),
    ]
    heights = {text: y for _, text, y in texts}
    assert heights["DET"] == heights["NOUN"]
    assert heights["Case=Nom"] == pytest.approx(heights["the"] + TAG_HEIGHT, abs=0.1)
    assert max(heights.values()) < float(root.get("height", "0"))


def test_words_have_room_for_what_is_below_them() -> None:
    wide = replace(DRAWING, columns={"lemma": ["a-very-long-lemma", "another-long-lemma"]})
    (first, second), (a, b) = (lay_out(drawing, 960).places for drawing in (DRAWING, wide))
    assert b.x - a.x > second.x - first.x


def test_a_line_is_as_high_as_its_own_words_need() -> None:
    """In a picture of two lines, the features of the second do not move the lines apart."""
    n = 12
    plain = Drawing(["word"] * n, [2, 0, *range(2, n)], ["x"] * n, columns={"feats": ["A=a"] * n})
    high = replace(plain, columns={"feats": ["A=a"] * (n - 1) + ["A=a|B=b|C=c"]})
    low, tall = (lay_out(drawing, 300) for drawing in (plain, high))
    assert [place.y for place in low.places] == [place.y for place in tall.places]
    assert tall.height == pytest.approx(low.height + 2 * TAG_HEIGHT)


def test_latex_has_a_row_for_each_line() -> None:
    rows = [line for line in draw_latex(DRAWING).splitlines() if line.endswith(r"\\")]
    assert rows[1:4] == [r"    DET \& NOUN \\", r"    the \& {} \\", r"    {} \& Case=Nom \\"]
    assert len(rows) == 7


def test_dot_has_lines_in_the_label() -> None:
    assert rf'  w2 [label="foxes\nNOUN\n{BUNDLE}"];'.replace("|", r"\n") in draw_dot(DRAWING).splitlines()
    assert r'  w1 [label="The\nDET\nthe"];' in draw_dot(DRAWING).splitlines()


def test_displacy_has_the_columns() -> None:
    assert to_displacy(DRAWING)["words"] == [
        {"text": "The", "tag": "DET", "lemma": "the"},
        {"text": "foxes", "tag": "NOUN", "feats": BUNDLE},
    ]
    columns = {"xpos": ["DT", "NNS"], "text": ["x", "y"]}
    assert to_displacy(replace(DRAWING, columns=columns))["words"][1] == {"text": "foxes", "tag": "NNS"}
    both = {"xpos": ["DT", "NNS"], "upos": ["DET", "NOUN"]}
    assert to_displacy(replace(DRAWING, columns=both))["words"][0] == {"text": "The", "tag": "DET", "xpos": "DT"}


# The terminal


def draw(width: int | None = None, **columns: list[str]) -> list[str]:
    return draw_tree(["The", "foxes"], [2, 0], ["det", "root"], ["X", "Y"], columns=columns, width=width).splitlines()


def test_columns_stand_between_words_and_relations() -> None:
    assert draw(lemma=["the", "fox"], feats=["_", "Number=Plur"]) == [
        "╭─► The    the  _            det",
        "╰── foxes  fox  Number=Plur  root",
    ]
    assert draw() == ["╭─► The    det", "╰── foxes  root"]
    assert draw(lemma=["_", "_"]) == ["╭─► The    _  det", "╰── foxes  _  root"]  # asked for, and there is none


def test_wide_columns_are_shortened_before_others_are_left_out() -> None:
    columns = {"lemma": ["the", "fox"], "feats": ["_", BUNDLE]}
    assert draw(**columns)[1] == f"╰── foxes  fox  {BUNDLE}  root"
    assert draw(width=40, **columns)[1] == "╰── foxes  fox  Case=Nom|Definite…  root"
    assert display_width(draw(width=40, **columns)[1]) == 40
    assert draw(width=34, **columns)[1] == "╰── foxes  fox  Case=Nom|De…  root"
    assert draw(width=33, **columns) == ["╭─► The    the  det", "╰── foxes  fox  root"]
    assert draw(width=33, feats=columns["feats"], lemma=columns["lemma"])[1] == "╰── foxes  Case=Nom|Defini…  root"


@given(st.lists(st.lists(st.text("ab|=狐", max_size=60), min_size=3, max_size=3), max_size=4), st.integers(40, 120))
def test_lines_fit_the_width_and_show_as_many_columns_as_they_can(cells: list[list[str]], width: int) -> None:
    words = (["The", "black", "fox"], [3, 3, 0], ["det", "amod", "root"])
    columns = {str(n): column for n, column in enumerate(cells)}
    found, whole = (draw_tree(*words, columns=columns, width=limit) for limit in (width, None))
    widest = max(map(display_width, found.splitlines()))
    assert widest <= width
    assert found == whole or max(map(display_width, whole.splitlines())) > width
    bare = max(map(display_width, draw_tree(*words).splitlines()))
    widths = [max(map(display_width, column)) for column in cells]
    least = [bare + sum(min(each, MIN_COLUMN_WIDTH) + 2 for each in widths[:n]) for n in range(len(cells) + 1)]
    n = max(n for n, needed in enumerate(least) if needed <= width)
    assert widest >= least[n] - n  # a broad character may not fit into the last column of a cell
    assert found == draw_tree(*words, columns=dict(list(columns.items())[:n]), width=width)


# Parses


def test_a_parse_draws_its_predicted_columns() -> None:
    [parse] = Parser(small_model("all"), tagger=small_tagger(kinds=OUTPUTS)).parse([["The", "foxes", "bark"]])
    tagged = parse.tagged
    drawn = (tagged.forms, parse.heads, parse.relations)
    assert parse.draw() == parse.draw(show="upos") == draw_tree(*drawn, tagged.upos)
    assert parse.draw(show=["lemma", "feats"]) == draw_tree(
        *drawn, columns={"lemma": tagged.lemmas, "feats": tagged.feats}
    )
    assert parse.draw(show="none") == draw_tree(*drawn)
    assert parse.drawing().tags == tagged.upos
    assert parse.drawing(show="lemma").columns == {"lemma": tagged.lemmas}
    with pytest.raises(InputError, match="'lemmas' is not a column"):
        Parse.draw(parse, show="lemmas")
