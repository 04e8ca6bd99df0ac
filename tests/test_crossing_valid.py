"""Parsers that restore crossing arcs and then make trees obey the rules of Universal Dependencies."""

from __future__ import annotations

import json
import random
from functools import lru_cache

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from easyfirst.constraints.checking import hold
from easyfirst.constraints.records import Constraints
from easyfirst.errors import ConstraintError
from easyfirst.model.parser_config import preset
from easyfirst.model.parser_store import ParserModel, initial_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parser import Parser
from easyfirst.parsing.finishing import finish
from easyfirst.render.drawing import Drawing
from easyfirst.render.html import draw_html
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.guidelines import TAGS
from easyfirst.treebank.lifting import HEAD_AND_PATH
from easyfirst.treebank.misc import entries
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.tree import check_tree
from tests.calibrations import BY_HAND
from tests.constraints.test_chooser import constraint_sets
from tests.small_models import SMALL

PLAIN = ("nsubj", "obj", "punct", "det", "advmod", "conj", "acl", "dep")
MARKED = ("obj↑acl", "nsubj↑conj", "acl↓", "conj↓", "dep↑obj", "advmod↑dep", "punct↑acl", "obj↓", "dep↓", "acl↑conj↓")
TAGSET = sorted(TAGS)


@lru_cache(maxsize=64)
def parser_of(seed: int, *, valid: bool = True) -> Parser:
    """An untrained parser: its relations are random, and so are their marks."""
    config = preset("paper", network={**SMALL, "tags": "none", "relation_dim": 4})
    words = {f"w{m}": m for m in range(1, 20)}
    vocabulary = ParserVocabulary(words, np.arange(20), {}, (*PLAIN, *MARKED), "root", crossing=HEAD_AND_PATH)
    arrays = initial_parser(config.network, sizes_of(vocabulary, None), np.random.default_rng(seed))
    arrays["scorer.labelled"] *= 20
    arrays["words.embedding"] *= 30
    return Parser(ParserModel(config, vocabulary, arrays, "# a card\n", calibration=BY_HAND), valid=valid)


def tagged_words(n: int, seed: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)
    return [(f"w{chance.randint(1, 19)}", chance.choice(["PUNCT", *TAGSET])) for _ in range(n)]


def some_parses() -> list[tuple[Parser, Parse]]:
    """Parses with words that were moved and changed."""
    found: list[tuple[Parser, Parse]] = []
    for seed in range(12):
        parser = parser_of(seed)
        parses = parser.parse([tagged_words(14, n) for n in range(12)])
        found += [(parser, parse) for parse in parses if parse.moved.keys() & {change.word for change in parse.changes}]
    assert len(found) > 5
    return found


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 40), st.integers(2, 12), st.integers(0, 1000), st.data())
def test_constraints_hold(seed: int, n: int, of_words: int, data: st.DataObject) -> None:
    known = Constraints(data.draw(constraint_sets(n, (*PLAIN, "root"))))
    try:
        [parse] = parser_of(seed).parse([tagged_words(n, of_words)], constraints=[known])
    except ConstraintError:
        reject()
    check_tree(parse.to_sentence())
    assert hold(known, parse.heads, parse.relations)
    assert set(parse.relations) <= {*PLAIN, "root"}


def test_a_relation_that_is_forbidden_at_the_restored_head() -> None:
    """The scores belong to the arc before it was moved, where the relation is allowed."""
    n_tested = 0
    for parser, free in some_parses():
        words = list(zip(free.sentence.forms, free.sentence.upos, strict=True))
        for m in free.moved.keys() & {*free.changed_relations}:
            known = Constraints.of(forbidden=[(free.decided_heads[m - 1], m, free.relations[m - 1])])
            [parse] = parser.parse([words], constraints=[known])
            assert hold(known, parse.heads, parse.relations)
            n_tested += parse.moved.get(m) == free.moved[m]
    assert n_tested


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 40), st.integers(1, 14), st.integers(0, 1000))
def test_changes_come_after_restoring(seed: int, n: int, of_words: int) -> None:
    words = tagged_words(n, of_words)
    [parse], [decided] = (parser_of(seed, valid=valid).parse([words]) for valid in (True, False))
    check_tree(parse.to_sentence())
    assert finish(parse.steps) == (decided.heads, decided.relations)
    assert parse.decided_heads == decided.heads
    assert parse.moved == decided.moved
    assert parse.heads.index(0) == decided.heads.index(0)
    changed = {change.word: (change.head, change.relation) for change in parse.changes}
    pairs = enumerate(zip(parse.heads, parse.relations, strict=True), 1)
    assert [changed.get(m, pair) for m, pair in pairs] == list(zip(decided.heads, decided.relations, strict=True))
    assert not is_projective(decided.heads) or is_projective(parse.heads)
    assert parse.decided_confidence == decided.confidence


def test_json_and_conllu_say_both() -> None:
    heads_changed = 0
    for _, parse in some_parses():
        words = parse.to_dict()["words"]
        assert {word["id"]: word["moved_from"] for word in words if "moved_from" in word} == parse.moved
        assert {word["id"] for word in words if "decided" in word} == {change.word for change in parse.changes}
        written = parse.to_bytes(confidence=True)
        assert "↑" not in json.dumps(words, ensure_ascii=False) + written.decode()
        [sentence] = ConlluReader([line + b"\n" for line in written.split(b"\n")[:-1]], "some.conllu")
        misc = [{key: value for key, _, value in entries(cell)} for cell in sentence.misc]
        assert {m: int(cell["MovedFrom"]) for m, cell in enumerate(misc, 1) if "MovedFrom" in cell} == parse.moved
        decided = {change.word: f"{change.head}:{change.relation}" for change in parse.changes}
        assert {m: cell["Decided"] for m, cell in enumerate(misc, 1) if "Decided" in cell} == decided
        assert Drawing.of(sentence).moved_from == parse.drawing().moved_from
        heads_changed += len(parse.changed_heads)
    assert heads_changed


def test_pictures_say_where_a_step_attached_a_word() -> None:
    for _, parse in some_parses():
        html = draw_html([parse.drawing()])
        for step in parse.derivation:
            end = parse.heads[step.modifier - 1]
            moved = f' data-moved="{end}"' if step.head != end else ""
            assert f'data-modifier="{step.modifier}" data-head="{step.head}"{moved}' in html


def test_explanations_say_both() -> None:
    for parser, parse in some_parses():
        words = list(zip(parse.sentence.forms, parse.sentence.upos, strict=True))
        explanation = parser.explain(words)
        assert explanation.parse == parse
        notes, forms = explanation.drawing().notes, parse.tagged.forms
        assert notes is not None
        for m, of_word in enumerate(notes, 1):
            decided, head = parse.decided_heads[m - 1], parse.heads[m - 1]
            moved = [note for note in of_word if f": moved to {forms[decided - 1]} {decided}" in note]
            changed = [note for note in of_word if note.startswith("changed afterwards: ")]
            assert len(moved) == (m in parse.moved)
            assert len(changed) == (m in {change.word for change in parse.changes})
            assert all(f"as {parse.relations[m - 1]} of {forms[head - 1]} {head} " in note for note in changed)


def test_confidence() -> None:
    """A moved arc has the probability of the decision, and a changed one that of an error."""
    for _, parse in some_parses():
        now, decided = parse.confidence, parse.decided_confidence
        assert now is not None
        assert decided is not None
        for m in range(1, len(parse) + 1):
            same = m not in parse.changed_heads
            assert (now.arcs[m - 1] == decided.arcs[m - 1]) == same or decided.arcs[m - 1] == 0.5
