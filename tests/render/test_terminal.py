"""Drawn trees can be read back: from the lines alone, the head of every word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.render import terminal
from easyfirst.render.terminal import display_width, draw_tree

FORMS = ["The", "black", "fox", "who", "really", "likes", "apples", "did"]
FORMS += ["not", "jump", "over", "a", "lazy", "dog", "yesterday", "."]
RELATIONS = ["det", "amod", "nsubj", "nsubj", "advmod", "acl:relcl", "obj", "aux"]
RELATIONS += ["advmod", "root", "case", "det", "amod", "obl", "obl:tmod", "punct"]
HEADS = [3, 3, 10, 6, 6, 3, 6, 10, 10, 0, 14, 14, 14, 10, 10, 10]

DRAWN = """\
        ╭───► The        det
        │ ╭─► black      amod
    ╭─┬─┴─┴─► fox        nsubj
    │ │ ╭───► who        nsubj
    │ │ │ ╭─► really     advmod
    │ ╰─┴─┼─► likes      acl:relcl
    │     ╰─► apples     obj
    │   ╭───► did        aux
    │   │ ╭─► not        advmod
╭─┬─┼───┴─┴── jump       root
│ │ │ ╭─────► over       case
│ │ │ │ ╭───► a          det
│ │ │ │ │ ╭─► lazy       amod
│ │ ╰─┴─┴─┴─► dog        obl
│ ╰─────────► yesterday  obl:tmod
╰───────────► .          punct"""


def test_a_tree() -> None:
    assert draw_tree(FORMS, HEADS, RELATIONS) == DRAWN


def test_tags_stand_between_forms_and_relations() -> None:
    lines = draw_tree(["The", "fox"], [2, 0], ["det", "root"], ["DET", "NOUN"]).splitlines()
    assert lines == ["╭─► The  DET   det", "╰── fox  NOUN  root"]
    assert draw_tree(["The"], [0], ["root"], ["_"]) == "  The  root"


def trees(n_words: int) -> st.SearchStrategy[list[int]]:
    """Heads of projective trees: attach neighbours until one is left, as the parser does."""

    def build(choices: list[int]) -> list[int]:
        heads, pending = [0] * n_words, list(range(1, n_words + 1))
        for choice in choices:
            i = choice // 2 % (len(pending) - 1)
            head, modifier = (pending[i], pending[i + 1]) if choice % 2 else (pending[i + 1], pending[i])
            heads[modifier - 1] = head
            pending.remove(modifier)
        return heads

    return st.lists(st.integers(0, 99), min_size=n_words - 1, max_size=n_words - 1).map(build)


GOES_DOWN, GOES_UP = set("╭├┬┼│┤╮╷"), set("╰├┴┼│┤╯╵")


def read_back(drawing: str, n_words: int) -> list[int]:
    """The heads, by following each word's outermost or innermost line to the other word it leads to."""
    rows = [line.ljust(400) for line in drawing.splitlines()]
    arcs: set[tuple[int, int]] = set()
    for x in range(0, max(len(row) for row in rows)):
        start = None
        for y, row in enumerate(rows):
            if row[x] in "╭╰├┬┴┼" and row[x + 1] in "─┬┴┼►╭╰├":
                if start is not None and row[x] in GOES_UP:
                    arcs.add((start, y))
                start = y if row[x] in GOES_DOWN else None
            elif row[x] not in GOES_DOWN | GOES_UP:
                start = None
    return [sum(y in arc for arc in arcs) for y in range(n_words)]


@settings(deadline=None)
@given(st.integers(1, 12).flatmap(trees))
def test_every_arc_is_drawn(heads: list[int]) -> None:
    """Each word touches as many arcs as it has a head and modifiers."""
    n = len(heads)
    drawing = draw_tree(["w"] * n, heads, ["x"] * n)
    degrees = [(head > 0) + heads.count(m) for m, head in enumerate(heads, 1)]
    assert read_back(drawing, n) == degrees
    for line, head in zip(drawing.splitlines(), heads, strict=True):
        assert ("►" in line) == (head > 0)


@settings(deadline=None)
@given(st.integers(1, 40).flatmap(trees), st.integers(24, 80))
def test_lines_fit_the_width(heads: list[int], width: int) -> None:
    n = len(heads)
    drawing = draw_tree(["words"] * n, heads, ["relation"] * n, ["TAG"] * n, width=width)
    assert len(drawing.splitlines()) == n
    assert all(display_width(line) <= width for line in drawing.splitlines())


def test_tags_give_way_to_relations() -> None:
    words = (["black", "hovercraft-owning-foxes"], [2, 0], ["amod", "root"])
    whole = draw_tree(*words, ["ADJ", "NOUN"])
    widest = max(map(display_width, whole.splitlines()))
    assert draw_tree(*words, ["ADJ", "NOUN"], width=widest) == whole
    assert draw_tree(*words, ["ADJ", "NOUN"], width=widest - 1) == draw_tree(*words)


def test_a_deep_tree_is_indented_where_arcs_do_not_fit() -> None:
    n = 60
    drawing = draw_tree(["w"] * n, [*range(2, n + 1), 0], ["x"] * n, width=60)
    assert "►" in drawing
    heads = [n] * (n - 1) + [0]
    drawing = draw_tree(["w"] * n, heads, ["x"] * n, width=60)
    assert "►" not in drawing
    assert drawing.splitlines()[0].startswith("  ·")


@pytest.mark.parametrize(
    ("form", "width"), [("fox", 3), ("狐", 2), ("e\u0301", 1), ("\u200d", 0), ("ｆ", 2), ("שועל", 4)]
)
def test_columns_of_a_form(form: str, width: int) -> None:
    assert display_width(form) == width


def test_characters_that_would_break_a_line_are_shown_as_a_box() -> None:
    assert draw_tree(["a\u2028b\x1b"], [0], ["root"]) == "  a␣b␣  root"


CODE = re.compile("\x1b\\[[0-9;]*m")


def test_steps_and_confidence_stand_behind_the_relation() -> None:
    drawn = draw_tree(["The", "fox"], [2, 0], ["det", "root"], confidence=[0.25, None], steps=[1, None])
    assert drawn.splitlines() == ["╭─► The  det   1  25 %", "╰── fox  root"]


@settings(deadline=None)
@given(st.integers(1, 20).flatmap(trees), st.none() | st.integers(24, 60), st.floats(0, 1))
def test_colours_change_nothing_else(heads: list[int], width: int | None, confidence: float) -> None:
    n = len(heads)
    arguments = (["word"] * n, heads, ["relation"] * n, ["TAG"] * n)
    plain = draw_tree(*arguments, confidence=[confidence] * n, width=width)
    coloured = draw_tree(*arguments, confidence=[confidence] * n, width=width, color=True)
    assert CODE.sub("", coloured) == plain
    assert "\x1b" not in plain
    assert all(line.count("\x1b[0m") * 2 == len(CODE.findall(line)) for line in coloured.splitlines())
    assert "\x1b[1m" in coloured


def test_words_without_a_head_and_cycles_are_drawn_too() -> None:
    assert draw_tree(["a", "b"], [None, 1], [None, "x"]).splitlines() == ["╭── a  _", "╰─► b  x"]
    assert len(draw_tree(["a"] * 50, [*range(2, 51), 1], ["x"] * 50, width=25).splitlines()) == 50


def test_arcs_that_end_at_one_word_are_not_taken_for_one() -> None:
    """The article hangs on the noun, not on the verb."""
    drawing = draw_tree(
        ["The", "fox", "likes", "apples", "."], [2, 3, 0, 3, 3], ["det", "nsubj", "root", "obj", "punct"]
    )
    assert drawing.splitlines() == [
        "  ╭─► The     det",
        "╭─┴─► fox     nsubj",
        "├─┬── likes   root",
        "│ ╰─► apples  obj",
        "╰───► .       punct",
    ]


def test_an_arc_that_runs_past_a_word_interrupts_its_line() -> None:
    """A crossing looks different from a junction, such as that of c, whose modifiers share a column."""
    relations = ["x", "x", "x", "x", "root"]
    assert draw_tree(["a", "b", "c", "d", "e"], [3, 5, 5, 3, 0], relations) == (
        "    ╭─► a  x\n╭───│─► b  x\n│ ╭─┼─► c  x\n│ │ ╰─► d  x\n╰─┴──── e  root"
    )


def slow_levels(heads: list[int | None]) -> dict[int, int]:
    """The level of each arc by its modifier, found by comparing all pairs of arcs."""
    arcs = [(min(m, head), max(m, head), m) for m, head in enumerate(heads, 1) if head]
    levels: dict[int, int] = {}
    for first, last, m in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc)):
        shorter = [arc for arc in arcs if arc[2] in levels]
        level = 1 + max((levels[other] for a, b, other in shorter if a < last and first < b), default=0)
        taken: set[int] = set()
        for a, b, other in shorter:
            ends, begins = (b == first, last == a)
            same_head = (ends and (m, other) == (last, a)) or (begins and (m, other) == (first, b))
            if (ends or begins) and not same_head:
                taken.add(levels[other])
        while level in taken:
            level += 1
        levels[m] = level
    return levels


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(-1, n), min_size=n, max_size=n)))
def test_levels_equal_those_of_all_pairs(numbers: list[int]) -> None:
    """For any heads: trees, crossing arcs, cycles, and words without a head."""
    heads = [None if head < 0 or head == m else head for m, head in enumerate(numbers, 1)]
    arcs = [(min(m, head), max(m, head), m) for m, head in enumerate(heads, 1) if head]
    assert terminal._levels(arcs, heads) == slow_levels(heads)


@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_depths(heads: list[int]) -> None:
    def depth(m: int) -> int:
        found, head = 0, heads[m - 1]
        while head and found < len(heads):
            found, head = found + 1, heads[head - 1]
        return found

    assert terminal._depths(heads) == [depth(m) for m in range(1, len(heads) + 1)]


@pytest.mark.parametrize("width", [None, 80])
@pytest.mark.parametrize(
    "heads",
    [
        [0, *range(1, 20_000)],
        [0, *[1] * 19_999],
        [*range(2, 20_001), 0],
        [0, *[max(1, m // 2) for m in range(2, 20_001)]],
    ],
)
def test_very_long_sentences(heads: list[int], width: int | None) -> None:
    """The work does not grow with the square of the length, so this ends soon."""
    words = ["word"] * len(heads)
    lines = draw_tree(words, heads, ["dep"] * len(heads), width=width).splitlines()
    assert len(lines) == len(heads)
    assert max(map(len, lines)) <= (width or terminal.MAX_ARC_WIDTH + 20)
