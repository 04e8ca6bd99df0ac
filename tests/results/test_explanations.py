"""What else there was at each step, against an enumeration of all actions by the naive parser."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import Constraint, Constraints, FixedHead, FixedRelation
from easyfirst.errors import ConstraintError, InputError
from easyfirst.parser import Parser
from easyfirst.parsing.actions import Choose
from easyfirst.results.explanations import ARC, NOTHING, RELATION, Alternative, Explanation, Observer
from easyfirst.treebank.lifting import Label
from easyfirst.treebank.sentence import Sentence
from tests.constraints.test_chooser import constraint_sets
from tests.derivations import derive
from tests.nn.random_models import Model, models
from tests.parsing.small_parsers import small_parser, tagged
from tests.small_models import small_model, small_tagger, small_tokenizer
from tests.twins import Action, Scores, head_and_modifier

FORMS = ["The", "black", "fox", "likes", "apples", "."]


PLAIN = small_parser(tags="none")


@st.composite
def constrained_sentences(draw: st.DrawFn) -> tuple[Sentence, Constraints]:
    n = draw(st.integers(2, 6))
    return tagged(FORMS[:n]), Constraints(draw(constraint_sets(n, PLAIN.relations)))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(small_model("both"), tagger=small_tagger(), tokenizer=small_tokenizer(), valid=False)


def explained(parser: Parser, n: int = 3) -> Explanation:
    return parser.explain(FORMS, runners_up=n)


@settings(deadline=None, max_examples=40)
@given(models(), st.integers(2, 6), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3, 10_000]))
def test_runners_up_are_those_of_an_enumeration(model: Model, length: int, seed: int, n: int) -> None:
    batch = model.sentences([length], seed)
    observers: list[Observer] = []

    def observe(choose: Choose) -> Choose:
        observers.append(Observer([Label(name) for name in model.relation_names], n))
        return observers[0].wrap(choose)

    [found] = derive([model.network], model.vectors(batch), [length], model.relation_names, observe)
    todo = iter(zip(found, observers[0].seen, strict=True))

    def compare(pend: list[int], scores: Scores) -> Action:
        """Take the engine's action, after a look at all there are."""
        a, (pending, rival, runners_up) = next(todo)
        assert list(pending) == pend
        by_name = {(*head_and_modifier(pend, action), str(action[2])): (action, s) for action, s in scores.items()}
        chosen, _ = by_name.pop((a.head, a.modifier, a.relation))
        others = {name: float(score) for name, (_, score) in by_name.items()}
        assert len(runners_up) == min(n, len(others))
        best = sorted(others.values(), reverse=True)[: len(runners_up)]
        np.testing.assert_allclose([other.score for other in runners_up], best, atol=1e-4)
        for other in runners_up:
            assert other.score == pytest.approx(others[other.head, other.modifier, other.relation], abs=1e-4)
            assert other.changes == effect(other, a.head, a.modifier)
        changing = [score for (h, m, _), score in others.items() if m in (a.head, a.modifier) and h != a.head]
        assert rival is not None
        assert rival.changes == ARC
        assert rival.score == pytest.approx(max(changing), abs=1e-4)
        assert a.score - a.margin == pytest.approx(rival.score, abs=1e-4)
        return chosen

    model.twin.derive(model.twin_vectors(batch[0]), compare)
    assert next(todo, None) is None


def effect(other: Alternative, head: int, modifier: int) -> str:
    if (other.head, other.modifier) == (head, modifier):
        return RELATION
    return ARC if other.modifier in (head, modifier) else NOTHING


def test_the_steps_are_those_of_the_parse(parser: Parser) -> None:
    [parse] = parser.parse([FORMS])
    found = explained(parser)
    assert found.parse == parse
    assert tuple(step.attachment for step in found.steps) == found.parse.derivation == parse.derivation
    assert [len(step.pending) for step in found.steps] == [6, 5, 4, 3, 2]
    gone: list[int] = []
    for step in found.steps:
        assert list(step.pending) == [m for m in range(1, 7) if m not in gone]
        gone.append(step.attachment.modifier)


@settings(deadline=None, max_examples=60)
@given(constrained_sentences(), st.sampled_from([1, 10_000]))
def test_what_constraints_forbid_is_no_rival(case: tuple[Sentence, Constraints], n: int) -> None:
    sentence, constraints = case
    known: list[Constraint] = [*constraints.items]
    try:
        found = PLAIN.explain(sentence, runners_up=n, constraints=constraints)
    except ConstraintError:
        reject()
    assert found.parse == PLAIN.parse([sentence], constraints=[constraints])[0]
    for step in found.steps:
        a, others = step.attachment, [*step.runners_up]
        if step.rival is None:
            assert a.margin == math.inf
            assert not any(other.changes == ARC for other in others)
        else:
            assert a.margin == pytest.approx(a.score - step.rival.score, abs=1e-5)
            others.append(step.rival)
        same = [other.score for other in others if other.changes == RELATION]
        if n > 1:
            assert a.label_margin == pytest.approx(a.score - max(same, default=-math.inf), abs=1e-5)
        for other in others:
            assert other.score <= a.score
            compile_constraints(sentence, with_more(known, other), PLAIN.model.vocabulary)  # raises no error
        known.append(FixedHead(modifier=a.modifier, head=a.head))


def with_more(known: Sequence[Constraint], action: Alternative) -> Constraints:
    head = FixedHead(modifier=action.modifier, head=action.head)
    relation = FixedRelation(modifier=action.modifier, relation=action.relation)
    return Constraints((*known, head, relation))


def test_a_text_is_one_sentence(parser: Parser) -> None:
    found = parser.explain("The fox likes apples. It jumps.")
    assert "".join(found.parse.sentence.forms) == "Thefoxlikesapples.Itjumps."
    assert len(found.steps) == len(found.parse) - 1
    with pytest.raises(InputError, match="no words"):
        parser.explain("  ")


def test_a_sentence_from_a_file_keeps_its_tags(parser: Parser) -> None:
    from_file = replace(Sentence.from_words(["a", "b"]), line=3)
    found = parser.explain(from_file)
    assert found.parse.sentence is from_file
    assert "_" not in found.parse.tagged.upos


def test_one_word_has_no_steps(parser: Parser) -> None:
    found = parser.explain(["Yes"])
    assert found.steps == ()
    assert found.draw() == "step  modifier  relation  head  score  margin  label margin"
    assert found.drawing().order() == ()


def test_long_sentences_are_drawn_in_bounds(parser: Parser) -> None:
    found = parser.explain(["word"] * 60, runners_up=1)
    assert max(map(len, found.draw(width=60).splitlines())) <= 60
    assert all(line.count("word") <= 10 for line in found.draw().splitlines() if "[" in line)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_table(parser: Parser, n: int) -> None:
    found = explained(parser, n)
    lines = str(found).splitlines()
    steps = [line for line in lines if line[:4].strip().isdigit()]
    assert [int(line[:4]) for line in steps] == [1, 2, 3, 4, 5]
    for line, step in zip(steps, found.steps, strict=True):
        a = step.attachment
        assert f"{FORMS[a.modifier - 1]} {a.modifier}  " in line
        assert f"{a.score:.2f}" in line
        assert f"{a.margin:.2f}" in line
    n_notes = sum(line.startswith(" " * 8) for line in lines)
    assert n * 5 <= n_notes <= (n + 1) * 5 * (n > 0)


def test_json(parser: Parser) -> None:
    found = explained(parser)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["words"] == json.loads(json.dumps(found.parse.to_dict()))["words"]
    assert [step["pending"] for step in values["steps"]] == [list(step.pending) for step in found.steps]
    assert all(len(step["runners_up"]) == 3 for step in values["steps"])
    for step in values["steps"]:
        assert math.isclose(step["score"] - step["margin"], step["rival"]["score"], abs_tol=2e-4)


def test_a_wrong_number(parser: Parser) -> None:
    with pytest.raises(InputError, match="runners_up is -1"):
        parser.explain(FORMS, runners_up=-1)
