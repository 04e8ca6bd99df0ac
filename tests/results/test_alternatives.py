"""What else a word could be, compared with a search through all actions of all steps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.records import Constraints
from easyfirst.parser import Parser
from easyfirst.results.alternatives import LEAST, MOST
from easyfirst.results.explanations import Explanation
from tests.calibrations import BY_HAND
from tests.small_models import small_model, small_tagger, small_tokenizer

ALL = 10**6
PARSER = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger(), valid=False)
FORMS = st.lists(st.sampled_from(["the", "fox", "saw", "apples", "of", "and", "."]), min_size=1, max_size=7)


def expected(explanation: Explanation, m: int) -> list[tuple[int, str]]:
    """The best other arcs of a word, by the lead of the chosen action over them."""
    gaps: dict[int, tuple[float, str]] = defaultdict(lambda: (float("-inf"), ""))
    same: list[tuple[float, int, str]] = []
    head = explanation.parse.heads[m - 1]
    for step in explanation.steps:
        for other in step.runners_up:
            gap = other.score - step.attachment.score
            if other.modifier == m and other.head != head:
                gaps[other.head] = max(gaps[other.head], (gap, other.relation))
            elif other.modifier == m and step.attachment.modifier == m:
                same.append((gap, other.head, other.relation))
    found = [*same, *((gap, h, relation) for h, (gap, relation) in gaps.items())]
    return [(h, relation) for gap, h, relation in sorted(found, key=lambda each: (-each[0], each[1]))][: MOST - 1]


@settings(max_examples=40, deadline=None)
@given(FORMS)
def test_they_are_the_best_actions_of_all_steps(forms: list[str]) -> None:
    explanation = PARSER.explain(forms, runners_up=ALL)
    for m, (own, *others) in enumerate(explanation.alternatives, 1):
        assert (own.head, own.relation) == (explanation.parse.heads[m - 1], explanation.parse.relations[m - 1])
        assert [(other.head, other.relation) for other in others] == expected(explanation, m)


def test_probabilities_share_what_the_arc_leaves() -> None:
    parser = Parser(replace(PARSER.model, calibration=BY_HAND), tagger=PARSER.tagger, valid=False)
    explanation = parser.explain(["the", "fox", "saw", "the", "apples"])
    confidence = explanation.parse.confidence
    assert confidence is not None
    for m, (own, *others) in enumerate(explanation.alternatives):
        assert own.probability == confidence.labels[m]
        likely = [other.probability or 0.0 for other in others]
        assert likely == sorted(likely, reverse=True)
        assert all(each >= LEAST for each in likely)
        elsewhere = sum(other.probability or 0.0 for other in others if other.head != own.head)
        assert elsewhere <= 1 - confidence.arcs[m] + 1e-9


def test_what_constraints_forbid_is_no_alternative() -> None:
    known = Constraints.of(heads={1: 2}, forbidden=[(5, 4)])
    explanation = PARSER.explain(["the", "fox", "saw", "the", "apples"], constraints=known)
    assert {other.head for other in explanation.alternatives[0]} == {2}
    assert 5 not in {other.head for other in explanation.alternatives[3]}


@settings(max_examples=15, deadline=None)
@given(FORMS)
def test_forbidden_arcs_are_no_alternatives(forms: list[str]) -> None:
    free = PARSER.parse([forms])[0]
    for m, head in enumerate(free.heads, 1):
        if len(forms) == 1 or head == 0:
            continue
        known = Constraints.of(forbidden=[(head, m)])
        others = PARSER.explain(forms, constraints=known, runners_up=ALL).alternatives[m - 1]
        assert head not in {each.head for each in others}
