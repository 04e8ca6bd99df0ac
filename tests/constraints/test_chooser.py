"""Constrained parsing against brute force: the best-scored action after which a satisfying tree can still be built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.chooser import ConstrainedChooser
from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import (
    Bracket,
    Constraint,
    Constraints,
    FixedHead,
    FixedRelation,
    ForbiddenArc,
)
from easyfirst.constraints.rules import Rules
from easyfirst.errors import ConstraintError
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parser import Parser
from easyfirst.parsing.derivation import Attachment
from easyfirst.treebank.sentence import Sentence
from tests.constraints.all_trees import RELATIONS, ROOT, can_become, fixed_roots, good_labels, good_trees, obeys
from tests.derivations import derive
from tests.nn.random_models import Model, Sample, kinds_of_models, lengths_of
from tests.parsing.small_parsers import small_parser, tagged
from tests.parsing.test_oracle import Tree
from tests.twins import Action, Scores, head_and_modifier

KINDS = kinds_of_models()
VOCABULARY = ParserVocabulary(
    words={}, counts=np.zeros(1, dtype=np.int64), tags={}, relations=RELATIONS, root_relation=ROOT
)


@st.composite
def constraint_sets(draw: st.DrawFn, n: int, names: Sequence[str] = (*RELATIONS, ROOT)) -> tuple[Constraint, ...]:
    words, heads = st.integers(1, n), st.integers(0, n)
    relations = st.sampled_from(names)
    kinds = [
        st.builds(lambda m, h: FixedHead(modifier=m, head=h), words, heads).filter(lambda c: c.modifier != c.head),
        st.builds(lambda m, r: FixedRelation(modifier=m, relation=r), words, relations),
        st.builds(
            lambda h, m, r: ForbiddenArc(head=h, modifier=m, relation=r), heads, words, st.none() | relations
        ).filter(lambda c: c.modifier != c.head),
        st.builds(lambda a, b: Bracket(first=min(a, b), last=max(a, b)), words, words),
    ]
    return tuple(draw(st.lists(st.one_of(kinds), max_size=5, unique=True)))


@st.composite
def cases(draw: st.DrawFn) -> list[tuple[int, tuple[Constraint, ...]]]:
    """A batch: the lengths of its sentences, longest first, and what is known of each."""
    lengths = sorted(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)), reverse=True)
    return [(n, draw(constraint_sets(n))) for n in lengths]


def rules_of(n: int, constraints: Sequence[Constraint]) -> Rules | None:
    sentence = Sentence.from_words([f"w{m}" for m in range(1, n + 1)])
    return compile_constraints(sentence, Constraints(tuple(constraints)), VOCABULARY)


class Selector:
    """Among all actions, the best after which one of the trees can still be built; notes its lead over the next one,
    and its margins over the best that would change the arc, and over heads that its modifier lost before."""

    def __init__(self, trees: Sequence[Tree], constraints: Sequence[Constraint]) -> None:
        self.trees = trees
        self.constraints = constraints
        self.arcs: dict[int, int] = {}
        self.leads: list[float] = []
        self.margins: list[float] = []
        self.lost: dict[int, float] = {}
        self.lost_margins: list[float] = []

    def __call__(self, pend: list[int], scores: Scores) -> Action:
        allowed = sorted((a for a in scores if self._is_allowed(pend, a)), key=scores.__getitem__, reverse=True)
        h, m = head_and_modifier(pend, allowed[0])
        arcs = [(head_and_modifier(pend, a), float(scores[allowed[0]] - scores[a])) for a in allowed[1:]]
        self.leads.append(min((lead for _, lead in arcs), default=math.inf))
        rivals = [lead for arc, lead in arcs if arc[1] in (h, m) and arc != (h, m)]
        self.margins.append(min(rivals, default=math.inf))
        self.lost_margins.append(self.lost.get(m, math.inf))
        for (head, word), lead in arcs:
            if head == m:
                self.lost[word] = min(self.lost.get(word, math.inf), lead)
        self.arcs[m] = h
        return allowed[0]

    def _is_allowed(self, pend: list[int], action: Action) -> bool:
        h, m = head_and_modifier(pend, action)
        for c in self.constraints:
            if isinstance(c, Bracket):  # is finished first
                inside = [word for word in pend if c.first <= word <= c.last]
                if len(inside) > 1 and (h in inside) != (m in inside):
                    return False
        arcs = {**self.arcs, m: h}
        return any(
            can_become(tree, arcs) and RELATIONS[action[2]] in good_labels(tree, m, self.constraints, set())
            for tree in self.trees
        )


def constrained_derivations(
    model: Model, batch: Sequence[Sample], rules: Sequence[Rules | None]
) -> list[list[Attachment]]:
    lengths = lengths_of(batch)
    constrain = partial(ConstrainedChooser, lengths, rules)
    return derive([model.network], model.vectors(batch), lengths, RELATIONS, constrain)


@settings(max_examples=120, deadline=None)
@given(cases(), st.sampled_from(KINDS[:4]), st.integers(0, 1000))
def test_the_best_action_that_can_still_obey(case, model: Model, seed: int) -> None:
    batch = model.sentences([n for n, _ in case], seed)
    rules: list[Rules | None] = []
    known: list[tuple[Constraint, ...]] = []
    for n, constraints in case:
        possible = list(good_trees(n, constraints))
        try:
            rules.append(rules_of(n, constraints))
            assert possible, constraints
            known.append(constraints)
        except ConstraintError as error:
            assert not possible, constraints
            check_conflict(n, error.conflict, fixed_roots(constraints), str(error))  # pyright: ignore[reportArgumentType]
            rules.append(None)
            known.append(())
    plain = derive([model.network], model.vectors(batch), lengths_of(batch), RELATIONS)
    for number, found in enumerate(constrained_derivations(model, batch, rules)):
        n, constraints = len(batch[number]), known[number]
        if not constraints:
            assert_same(found, plain[number], to_the_bit=not any(known))
            continue
        heads, relations = tree_of(n, found, constraints)
        assert all(obeys(heads, relations, constraint) for constraint in constraints)
        selector = Selector(list(good_trees(n, constraints)), constraints)
        steps, _ = model.twin.derive(model.twin_vectors(batch[number]), selector)
        margins = zip(selector.margins, selector.lost_margins, strict=True)
        for a, step, lead, (margin, lost_margin) in zip(found, steps, selector.leads, margins, strict=True):
            assert a.score == pytest.approx(step.score, abs=1e-4)
            if lead < 1e-3:
                break
            assert (a.margin, a.lost_margin) == pytest.approx((margin, lost_margin), abs=1e-4)
            assert (a.head, a.modifier, a.relation) == (step.h, step.m, RELATIONS[step.relation])


def assert_same(found: Sequence[Attachment], expected: Sequence[Attachment], *, to_the_bit: bool) -> None:
    """With other sentences that go other ways in the batch, products have other rows, and may be rounded otherwise."""
    if to_the_bit:
        assert found == expected
    for a, b in zip(found, expected, strict=True):
        assert (a.head, a.modifier, a.relation) == (b.head, b.modifier, b.relation)
        assert (a.score, a.margin, a.label_margin) == pytest.approx((b.score, b.margin, b.label_margin), abs=1e-5)


def tree_of(n: int, found: Sequence[Attachment], constraints: Sequence[Constraint]) -> tuple[Tree, list[str]]:
    heads = tuple(next((a.head for a in found if a.modifier == m), 0) for m in range(1, n + 1))
    relations = [next((a.relation for a in found if a.modifier == m), "") for m in range(1, n + 1)]
    root = heads.index(0) + 1
    relations[root - 1] = good_labels(heads, root, constraints, fixed_roots(constraints))[0]
    return heads, relations


def check_conflict(n: int, conflict: Sequence[Constraint], roots: set[int], said: str) -> None:
    """What is named cannot hold, but without any one of it the rest can."""
    assert conflict
    assert not list(good_trees(n, conflict, roots))
    if "a cycle" in said:
        heads = {constraint.modifier: constraint.head for constraint in conflict if isinstance(constraint, FixedHead)}
        assert set(heads) == set(heads.values())
        assert len(heads) == len(conflict)
        return
    for left_out in conflict:
        rest = [constraint for constraint in conflict if constraint is not left_out]
        assert list(good_trees(n, rest, roots)), (conflict, left_out)


class TestParse:
    """As a part of the parser."""

    @pytest.fixture
    def parser(self) -> Parser:
        return small_parser(tags="none")

    def parse(self, parser: Parser, n: int = 5, **known):
        sentence = tagged(["Do", "n't", "salt", "the", "soup"][:n])
        return parser.parse([sentence], constraints=[Constraints.of(**known)])[0]

    def test_a_fixed_root_may_have_a_relation_of_its_own(self, parser: Parser) -> None:
        relation = parser.model.vocabulary.relations[0]
        parse = self.parse(parser, heads={4: 0}, relations={4: relation})
        assert (parse.tree.root, parse.relations[3]) == (4, relation)
        assert self.parse(parser, heads={4: 0}).relations[3] == "root"

    def test_a_relation_of_others_keeps_a_word_from_being_the_root(self, parser: Parser) -> None:
        root = self.parse(parser).tree.root
        parse = self.parse(parser, relations={root: parser.model.vocabulary.relations[1]})
        assert parse.tree.root != root
        assert parse.relations[root - 1] == parser.model.vocabulary.relations[1]
        assert self.parse(parser, relations={2: "root"}).tree.root == 2

    def test_what_was_fixed(self, parser: Parser) -> None:
        parse = self.parse(parser, heads={5: 3, 1: 3}, relations={2: "punct"})
        assert (parse.fixed_heads, parse.fixed_relations) == ((1, 5), (2,))
        assert [word["fixed"] for word in parse.to_dict()["words"]] == [["head"], ["relation"], [], [], ["head"]]
        plain = parser.parse([tagged(["Do"])])[0]
        assert (plain.fixed_heads, plain.fixed_relations) == ((), ())
        assert "fixed" not in plain.to_dict()["words"][0]

    def test_where_there_is_no_choice_the_margin_is_none(self, parser: Parser) -> None:
        parse = self.parse(parser, 2, heads={1: 2}, relations={1: "obj"})
        assert parse.derivation[0].margin == math.inf
        assert parse.to_dict()["words"][0]["margin"] is None

    def test_one_word(self, parser: Parser) -> None:
        assert self.parse(parser, 1, heads={1: 0}, brackets=[(1, 1)]).heads == (0,)
        with pytest.raises(ConstraintError, match=r"sentence 1: this cannot hold: 1 'Do' is not the root"):
            self.parse(parser, 1, forbidden=[(0, 1)])

    def test_a_whole_tree(self, parser: Parser) -> None:
        heads = {1: 3, 2: 1, 3: 0, 4: 5, 5: 3}
        assert dict(enumerate(self.parse(parser, heads=heads).heads, 1)) == heads

    def test_two_thousand_words(self, parser: Parser) -> None:
        sentence = tagged(["salt", "soup"] * 1000)
        known = Constraints.of(
            heads={2000: 1, 500: 600}, relations={7: "obj"}, forbidden=[(8, 9)], brackets=[(5, 90), (20, 30)]
        )
        [parse] = parser.parse([sentence], constraints=[known])
        assert parse.tree.is_projective
        assert (parse.heads[1999], parse.heads[499], parse.relations[6]) == (1, 600, "obj")
        assert parse.heads[8] != 8
        for first, last in ((5, 90), (20, 30)):
            assert sum(not first <= parse.heads[m - 1] <= last for m in range(first, last + 1)) == 1
