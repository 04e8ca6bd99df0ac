"""Constraints that cannot hold are named, with their words and the reason, and no more of them than needed."""

from __future__ import annotations

import io
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import Bracket, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.errors import ConstraintError
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence

VOCABULARY = ParserVocabulary(
    words={}, counts=np.zeros(1, dtype=np.int64), tags={}, relations=("det", "nsubj", "obj"), root_relation="root"
)
FORMS = ["The", "old", "man", "the", "boats", "."]
TOGETHER = "these cannot hold together: "


def error_of(constraints: Constraints, sentence: Sentence | None = None, **names: str) -> ConstraintError:
    sentence = Sentence.from_words(FORMS) if sentence is None else sentence
    with pytest.raises(ConstraintError) as caught:
        compile_constraints(sentence, constraints, VOCABULARY, **names)
    return caught.value


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            {"heads": {1: 3, 6: 5, 2: 4}},
            "1 'The' has the head 3 'man'; 2 'old' has the head 4 'the' (the arcs cross; remove one of them)",
        ),
        (
            {"heads": {6: 5, 1: 2, 2: 3, 3: 1}},
            "1 'The' has the head 2 'old'; 2 'old' has the head 3 'man'; 3 'man' has",
        ),
        ({"heads": {1: 2, 2: 1}}, "1 'The' has the head 2 'old'; 2 'old' has the head 1 'The' (they form a cycle;"),
        ({"heads": {4: 0, 1: 2, 5: 0}}, "4 'the' is the root; 5 'boats' is the root (a tree has one root;"),
        ({"heads": {2: 0, 1: 4}}, "2 'old' is the root; 1 'The' has the head 4 'the' (the arc spans the root;"),
        ({"heads": {1: 4, 4: 2}}, "(an arc spans an ancestor of its head;"),
        (
            {"brackets": [(1, 3), (5, 6), (2, 4)]},
            "1 'The' to 3 'man' are a bracket; 2 'old' to 4 'the' are a bracket (brackets may be nested",
        ),
        (
            {"brackets": [(2, 4)], "heads": {2: 1, 4: 5}},
            "2 'old' has the head 1 'The'; 4 'the' has the head 5 'boats'; 2 'old' to 4 'the' are a bracket (only one",
        ),
        (
            {"heads": {1: 2}, "forbidden": [(3, 1), (2, 1)]},
            "1 'The' has the head 2 'old'; 1 'The' does not have the head 2 'old' (the arc is fixed and forbidden;",
        ),
        (
            {"heads": {2: 3}, "relations": {2: "root"}},
            "2 'old' has the head 3 'man'; 2 'old' has the relation 'root' (only the root has that relation;",
        ),
        (
            {"heads": {1: 2}, "relations": {1: "det"}, "forbidden": [(2, 1, "det")]},
            "1 'The' does not have the head 2 'old' with the relation 'det' (no projective tree with one root",
        ),
        (
            {"forbidden": [(0, m) for m in range(1, 7)]},
            "5 'boats' is not the root; 6 '.' is not the root (no projective tree",
        ),
    ],
)
def test_what_cannot_hold_together(known: dict[str, Any], message: str) -> None:
    error = str(error_of(Constraints.of(**known)))
    assert error.startswith(f"this sentence: {TOGETHER}")
    assert message in error


def test_two_of_one_word() -> None:
    heads = (FixedHead(modifier=1, head=2), FixedHead(modifier=1, head=3))
    assert "(a word has one head;" in str(error_of(Constraints(heads)))
    relations = (FixedRelation(modifier=1, relation="det"), FixedRelation(modifier=1, relation="obj"))
    assert "(a word has one relation;" in str(error_of(Constraints(relations)))


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"heads": {1: 2}, "forbidden": [(2, 1)]}, "the arc is fixed and forbidden"),
        ({"heads": {1: 2}, "forbidden": [(0, 2)]}, "no projective tree with one root satisfies all of them"),
        ({"relations": {1: "root", 2: "root"}}, "a tree has one root"),
        ({"relations": {1: "det", 2: "det"}}, "no word is left to be the root"),
        ({"heads": {1: 0}, "relations": {2: "root"}}, "a tree has one root"),
        ({"heads": {2: 1}, "relations": {2: "root"}}, "only the root has that relation"),
        ({"heads": {1: 2}, "brackets": [(1, 2)], "forbidden": [(0, 2)]}, "no projective tree with one root satisfies"),
    ],
)
def test_the_reason_in_any_order(known: dict[str, Any], reason: str) -> None:
    sentence = Sentence.from_words(FORMS[:2])
    for items in permutations(Constraints.of(**known).items):
        assert f" ({reason}" in str(error_of(Constraints(items), sentence))


def test_what_is_said_twice_is_said_once() -> None:
    twice = (FixedHead(modifier=1, head=2),) * 2
    assert compile_constraints(Sentence.from_words(FORMS), Constraints(twice), VOCABULARY)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (FixedHead(modifier=1, head=7), "there is no arc from 7 to 1 in a sentence of 6 words"),
        (FixedHead(modifier=0, head=1), "there is no arc from 1 to 0 in a sentence of 6 words"),
        (FixedHead(modifier=2, head=-1), "there is no arc from -1 to 2"),
        (FixedHead(modifier=2, head=2), "word 2 cannot be its own head"),
        (ForbiddenArc(head=1, modifier=7), "there is no arc from 1 to 7"),
        (FixedRelation(modifier=7, relation="det"), "there is no word 7 in a sentence of 6 words"),
        (FixedRelation(modifier=1, relation="Det"), "word 1 cannot have the relation 'Det'; the model has no"),
        (ForbiddenArc(head=1, modifier=2, relation="x"), "word 2 cannot have the relation 'x'"),
        (Bracket(first=3, last=2), "the bracket 3:2 is not a span of a sentence of 6 words"),
        (Bracket(first=3, last=7), "the bracket 3:7 is not a span"),
        (FixedHead(modifier="1", head=2), "give words by id (an integer)"),  # type: ignore[arg-type]
        (FixedRelation(modifier=1, relation=None), "relation=None) is not a constraint"),  # type: ignore[arg-type]
        (FixedRelation(modifier=1, relation=["x"]), "relations by name"),  # type: ignore[arg-type]
        (ForbiddenArc(head=1, modifier=2, relation=3), "relations by name"),  # type: ignore[arg-type]
        ((1, 2), "(1, 2) is not a constraint"),
    ],
)
def test_what_makes_no_sense_alone(constraint, message: str) -> None:
    error = error_of(Constraints((constraint,)))
    assert message in str(error)
    assert error.conflict == (constraint,)


def test_the_place_is_named() -> None:
    crossing = Constraints.of(heads={2: 4, 3: 5})
    assert str(error_of(crossing, name="sentence 3")).startswith(f"sentence 3: {TOGETHER}")
    rows = "".join(f"{m}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n" for m, form in enumerate(FORMS, 1))
    [sentence] = ConlluReader(io.BytesIO(f"# a comment\n{rows}\n".encode()), "some.conllu")
    error = error_of(crossing, sentence, name="sentence 3")
    assert str(error).startswith(f"some.conllu:3: {TOGETHER}")
    assert (error.source, error.line) == ("some.conllu", 3)
    assert error_of(Constraints.of(heads={9: 1}), sentence).line == 7  # of the last word there is
    nothing = Constraints((FixedHead(modifier="1", head=2),))  # type: ignore[arg-type]
    assert error_of(nothing, sentence).line == 2  # of the first word


def test_of_many_constraints_few_are_named() -> None:
    n = 400
    heads = {m: m + 1 for m in range(1, n)} | {200: 399}
    sentence, known = Sentence.from_words(["w"] * n), Constraints.of(heads={**heads, 300: 100})
    with pytest.raises(ConstraintError) as caught:
        compile_constraints(sentence, known, VOCABULARY)
    assert 2 <= len(caught.value.conflict) <= 3
    nobody = Constraints.of(forbidden=[(0, m) for m in range(1, 31)])
    message = str(error_of(nobody, Sentence.from_words(["w"] * 30)))
    assert message.count("is not the root") == 12
    assert "; and 18 more (" in message


def test_no_constraints_are_no_rules() -> None:
    sentence = Sentence.from_words(FORMS)
    assert compile_constraints(sentence, None, VOCABULARY) is None
    assert compile_constraints(sentence, Constraints(), VOCABULARY) is None
