"""What is drawn: read from CoNLL-U, checked, and put into an order."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import given, settings

from easyfirst.errors import DataError, InputError
from easyfirst.render.bands import BANDS, band_of, per_cent
from easyfirst.render.drawing import Drawing
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from tests.render.drawings import FOX, HEBREW, drawings

LINE = "{}\tw{}\t_\t{}\tX\t_\t{}\t{}\t_\t{}\n"


def sentence(*rows: str) -> Sentence:
    """Rows of UPOS, HEAD, DEPREL and MISC."""
    lines = [LINE.format(m, m, *row.split()) for m, row in enumerate(rows, 1)]
    (found,) = ConlluReader(io.BytesIO("".join(["# sent_id = s1\n", *lines, "\n"]).encode()), "in.conllu")
    return found


def test_from_conllu() -> None:
    drawing = Drawing.of(
        sentence("NOUN 2 nsubj SpaceAfter=No|ArcConf=0.75|Step=1", "_ 0 root _", "X _ _ Step=x=1|a"[:7])
    )
    assert drawing.title == "s1"
    assert list(drawing.forms) == ["w1", "w2", "w3"]
    assert [drawing.tag(m) for m in (1, 2, 3)] == ["NOUN", "", "X"]
    assert list(drawing.heads) == [2, 0, None]
    assert [drawing.confidence_of(m) for m in (1, 2)] == [0.75, None]
    assert [drawing.step_of(m) for m in (1, 2)] == [1, None]
    assert drawing.has_steps


def test_without_upos_the_other_tags_are_shown() -> None:
    drawing = Drawing.of(sentence("_ 0 root _"))
    assert drawing.tags == ("X",)
    assert (drawing.confidence, drawing.steps) == (None, None)


@pytest.mark.parametrize("misc", ["ArcConf=1.5", "ArcConf=nan", "ArcConf=much", "Step=-1", "Step=²", "Step="])
def test_numbers_that_are_none_are_named_with_their_line(misc: str) -> None:
    with pytest.raises(DataError, match=rf"in\.conllu:3: .*{misc.split('=')[0]}=.* in MISC; it must be"):
        Drawing.of(sentence("X 0 root _", f"X 1 obj {misc}"))


def test_a_word_that_is_its_own_head_is_named() -> None:
    with pytest.raises(DataError, match=r"^in\.conllu:1: word 2 has the head 2"):
        Drawing.of(sentence("X 0 root _", "X 2 obj _"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "at least one word"),
        ((["a"], [0, 0], ["x"]), "1 form but 2 heads"),
        ((["a"], [0], []), "1 form but 0 relations"),
        ((["a"], [2], ["x"]), "the head 2 in a sentence of 1 word"),
        ((["a"], [0], ["x"], ["T"], [math.nan]), "the confidence nan"),
        ((["a"], [0], ["x"], ["T"], [1.01]), "from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(arguments: tuple[list[object], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Drawing(*arguments)  # type: ignore[arg-type]


def test_the_order_is_that_of_the_steps() -> None:
    assert FOX.order() == (2, 1, 5, 3)


@settings(max_examples=60, deadline=None)
@given(drawings())
def test_without_steps_words_come_after_their_modifiers(drawing: Drawing) -> None:
    bare = Drawing(drawing.forms, drawing.heads, drawing.relations)
    order = bare.order()
    assert sorted(order) == [m for _, m in bare.arcs]
    place = {m: i for i, m in enumerate(order)}
    for h, m in bare.arcs:
        if h in place and not on_cycle(bare, h):
            assert place[m] < place[h]


def on_cycle(drawing: Drawing, m: int) -> bool:
    """Whether the word is on a cycle or above nothing but words that lead to one: its own heads come back to it, or a
    modifier below it does."""
    below = {m}
    for _ in drawing.forms:
        below |= {modifier for head, modifier in drawing.arcs if head in below}
    return any(comes_back(drawing, word) for word in below)


def comes_back(drawing: Drawing, m: int) -> bool:
    node = drawing.heads[m - 1]
    for _ in drawing.forms:
        if node == m:
            return True
        node = drawing.heads[node - 1] if node else None
    return False


def test_direction() -> None:
    assert HEBREW.is_right_to_left
    assert not FOX.is_right_to_left
    assert not Drawing(["1", "("], [0, 1], ["a", "b"]).is_right_to_left


def test_bands_and_percentages() -> None:
    assert [band_of(band.least) for band in BANDS] == list(BANDS)
    assert band_of(1.0) is BANDS[-1]
    assert [per_cent(value) for value in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0 %", "1 %", "50 %", "99 %", "100 %"]
