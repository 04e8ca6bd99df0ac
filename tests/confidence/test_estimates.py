"""From margins to probabilities: by hand, and what must hold whatever the numbers."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.confidence.estimates import confidence_of, rounded
from easyfirst.errors import ModelError
from easyfirst.parser import Parser
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.calibrations import BY_HAND, steps_of
from tests.small_models import TREEBANK, small_model


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_by_hand() -> None:
    """Word 1 under 2 with margin 2, then 3 under 2 with margin 0.5; 2 is the root. Word 3 lost a head by 0.4 when 1 was
    attached, and 2 lost 3 by 1.2."""
    found = confidence_of(steps_of((2, 0, 2), [1, 3], [2.0, 0.5], [1.0, 5.0], [math.inf, 1.2, 0.4]), BY_HAND)
    doubts = [math.exp(-2 / 1.5), math.exp(-0.5 / 1.5)]
    late, n = (1 / 3, 2 / 3), math.log(3)
    [(_, of_arc, of_label), _] = BY_HAND.relations
    of_margins = 1.0 + 0.5 * 1.0 + 0.7 * 1.5
    first = of_arc + 0.1 + of_margins - 0.4 * math.log(0.02 + doubts[1]) - 0.3 * late[0] + 0.1 * n - 0.2 * math.log(1)
    second = of_arc + 0.1 + 0.5 + 0.7 * 0.4 - 0.4 * math.log(0.02 + doubts[0]) - 0.3 * late[1] + 0.1 * n
    root = -0.2 + 0.8 * 0.5 + 0.2 * 0.5 - 0.5 * math.log(0.02 + sum(doubts) / 2) + 0.05 * n
    arcs = [sigmoid(first), sigmoid(root), sigmoid(second)]
    assert found.arcs == pytest.approx(arcs)
    log_odds = (0.3 + 0.9 * 1.0 - 0.1 * late[0], 0.3 + 0.9 * 2.0 - 0.1 * late[1])
    given_arc = [sigmoid(log_odds[0] + of_label), 0.98, sigmoid(log_odds[1] + of_label)]
    labels = [a * b for a, b in zip(arcs, given_arc, strict=True)]
    assert found.labels == pytest.approx(labels)
    product = math.prod(labels)
    tree = sigmoid(0.2 + 0.8 * math.log(product / (1 - product)) - 0.1 * n)
    assert found.tree == pytest.approx(min(tree, *labels))


def test_a_relation_that_was_too_rare_is_like_the_average() -> None:
    plain = replace(BY_HAND, relations=())
    known, unknown = (steps_of((2, 0), [1], [1.0], [1.0], relation=name) for name in ("dep", "xcomp"))
    assert confidence_of(unknown, BY_HAND) == confidence_of(unknown, plain) == confidence_of(known, plain)
    assert confidence_of(known, BY_HAND).arcs[0] > confidence_of(known, plain).arcs[0]


def test_one_word_is_certain() -> None:
    found = confidence_of(steps_of((0,), [], [], []), BY_HAND)
    assert (found.tree, found.arcs, found.labels) == (1.0, (1.0,), (1.0,))


def test_what_is_fixed_is_certain() -> None:
    """The rest is what it was; the tree's probability is that of what is in doubt."""
    steps = steps_of((2, 0, 2), [1, 3], [2.0, 0.5], [1.0, 5.0])
    free = confidence_of(steps, BY_HAND)
    found = confidence_of(steps, BY_HAND, fixed_heads=[1, 2], fixed_relations=[1])
    assert found.arcs == pytest.approx((1, 1, free.arcs[2]))
    assert found.labels == pytest.approx((1, 0.98, free.labels[2]))
    product = 0.98 * free.labels[2]
    tree = sigmoid(0.2 + 0.8 * math.log(product / (1 - product)) - 0.1 * math.log(2))
    assert found.tree == pytest.approx(min(tree, free.labels[2]))
    every = confidence_of(steps, BY_HAND, fixed_heads=[1, 2, 3], fixed_relations=[1, 2, 3])
    assert (every.tree, every.arcs, every.labels) == (1.0, (1.0,) * 3, (1.0,) * 3)


margins = st.floats(0, 20) | st.just(math.inf)


@st.composite
def derivations(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int], list[float], list[float], list[float]]:
    """Heads of a projective tree in an order a parser may take them, with any margins."""
    n = draw(st.integers(2, 9))
    pending, heads, order = list(range(1, n + 1)), [0] * n, list[int]()
    while len(pending) > 1:
        i = draw(st.integers(0, len(pending) - 2))
        h, m = draw(st.permutations(pending[i : i + 2]))
        heads[m - 1] = h
        order.append(m)
        pending.remove(m)
    numbers = st.lists(margins, min_size=n - 1, max_size=n - 1)
    return tuple(heads), order, draw(numbers), draw(numbers), draw(st.lists(margins, min_size=n, max_size=n))


@settings(deadline=None)
@given(derivations(), st.data())
def test_nothing_falls_when_a_margin_rises(
    given_: tuple[tuple[int, ...], list[int], list[float], list[float], list[float]], data: st.DataObject
) -> None:
    heads, order, arc_margins, label_margins, lost_margins = given_
    before = confidence_of(steps_of(*given_), BY_HAND)
    for values in (before.arcs, before.labels):
        assert all(0 < p < 1 for p in values)
    assert all(label <= arc for label, arc in zip(before.labels, before.arcs, strict=True))
    assert 0 < before.tree <= min(before.labels)
    numbers = data.draw(st.sampled_from([arc_margins, label_margins, lost_margins]))
    which = data.draw(st.integers(0, len(numbers) - 1))
    numbers[which] += data.draw(st.floats(0, 5))
    after = confidence_of(steps_of(heads, order, arc_margins, label_margins, lost_margins), BY_HAND)
    for old, new in ((before.arcs, after.arcs), (before.labels, after.labels)):
        assert all(b >= a - 1e-6 for a, b in zip(old, new, strict=True))
    assert after.tree >= before.tree - 1e-6


def test_an_own_margin_counts_most() -> None:
    low, high = (confidence_of(steps_of((2, 0), [1], [margin], [1.0]), BY_HAND) for margin in (0.1, 2.5))
    assert high.arcs[0] > low.arcs[0] + 0.1
    assert high.arcs[1] > low.arcs[1] + 0.1  # the root: it could have become a modifier of the other


def test_a_rival_that_was_lost_earlier_counts() -> None:
    """3 under 1, whatever came between, by a wide margin; but 2 could have been its head until it was attached."""
    lost, kept = (
        confidence_of(steps_of((0, 1, 1), [2, 3], [3.0, 3.0], [1.0, 1.0], [math.inf, math.inf, margin]), BY_HAND)
        for margin in (0.1, math.inf)
    )
    assert lost.arcs[2] < kept.arcs[2] - 0.02
    assert (lost.arcs[0], lost.arcs[1]) == (kept.arcs[0], kept.arcs[1])


@pytest.mark.parametrize(("p", "shown"), [(0.0, 0.0), (1e-9, 0.0001), (0.12345, 0.1235), (0.99999, 0.9999), (1.0, 1.0)])
def test_rounding_never_makes_certain(p: float, shown: float) -> None:
    assert rounded(p) == shown


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(replace(small_model("upos"), calibration=BY_HAND))


class TestParse:
    def test_confidence(self, parser: Parser) -> None:
        parse = max(parser.parse(read_conllu(TREEBANK)), key=len)
        assert parse.decided_confidence == confidence_of(parse.steps, BY_HAND)
        changed = {"changed_heads": parse.changed_heads, "changed_relations": parse.changed_relations}
        assert parse.confidence == confidence_of(parse.steps, BY_HAND, **changed)
        assert parse == replace(parse, calibration=None)  # it is no part of what a parse is

    def test_dict(self, parser: Parser) -> None:
        for parse in parser.parse(read_conllu(TREEBANK)):
            values, confidence = parse.to_dict(), parse.confidence
            assert confidence is not None
            assert values["confidence"] == rounded(confidence.tree)
            assert [word["arc_confidence"] for word in values["words"]] == [rounded(p) for p in confidence.arcs]
            assert [word["label_confidence"] for word in values["words"]] == [rounded(p) for p in confidence.labels]

    def test_misc(self, parser: Parser) -> None:
        for sentence in read_conllu(TREEBANK):
            [parse] = parser.parse([sentence])
            plain, rich = parse.to_bytes().split(b"\n"), parse.to_bytes(confidence=True).split(b"\n")
            step_of = {a.modifier: a.step for a in parse.derivation}
            confidence = parse.confidence
            assert confidence is not None
            for one, other in zip(plain, rich, strict=True):
                cells, more = one.split(b"\t"), other.split(b"\t")
                assert cells[:9] == more[:9]
                if not cells[0].isdigit():
                    assert one == other
                    continue
                m = int(cells[0])
                expected = [f"ArcConf={rounded(confidence.arcs[m - 1]):.4f}"]
                expected += [f"LabelConf={rounded(confidence.labels[m - 1]):.4f}"]
                expected += [f"Step={step_of[m]}"] if m in step_of else []
                decided = [f"Decided={c.head}:{c.relation}" for c in parse.changes if c.word == m]
                expected += decided if m in parse.changed_heads + parse.changed_relations else []
                kept = [] if cells[9] == b"_" else [cells[9].decode()]
                assert more[9].decode() == "|".join(kept + expected)

    def test_what_was_there_is_replaced(self, parser: Parser) -> None:
        parse = max(parser.parse(read_conllu(TREEBANK)), key=len)
        once = parse.to_bytes(confidence=True)
        root = f"LabelConf={rounded(parse.confidence.labels[parse.tree.root - 1]):.4f}\n".encode()  # type: ignore[union-attr]
        assert root in once
        changed = once.replace(b"Step=1\n", b"Step=77\n").replace(root, root.replace(b"\n", b"|Step=5\n"))
        [again] = parser.parse(ConlluReader(io.BytesIO(changed), "x"))
        assert again.to_bytes(confidence=True) == once

    def test_a_model_without_a_calibration(self) -> None:
        [parse] = Parser(small_model("none")).parse([["The", "fox", "jumps"]])
        assert parse.confidence is None
        values = parse.to_dict()
        assert values["confidence"] is None
        assert all(word["arc_confidence"] is word["label_confidence"] is None for word in values["words"])
        with pytest.raises(ModelError, match=r"no calibration.*easyfirst calibrate"):
            parse.to_conllu(confidence=True)

    def test_drawn(self, parser: Parser) -> None:
        [parse] = parser.parse([Sentence.from_words(["The", "fox"], upos=["DET", "NOUN"])])
        assert parse.draw(confidence=True).count("%") == 2
        assert "%" not in parse.draw()

    def test_long(self, parser: Parser) -> None:
        [parse] = parser.parse([[("word", "NOUN")] * 2000])
        confidence = parse.confidence
        assert confidence is not None
        assert 0 < confidence.tree < 1
        assert np.isfinite(confidence.labels).all()
