"""Parsers that restore crossing arcs: valid trees, true explanations, and no marked relation in any output."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from easyfirst.confidence.estimates import confidence_of
from easyfirst.confidence.fitting import Example
from easyfirst.constraints.checking import hold
from easyfirst.constraints.records import Constraints
from easyfirst.errors import ConstraintError
from easyfirst.model.ensemble import make_ensemble
from easyfirst.model.parser_config import NO_CROSSING, ParserConfig, preset
from easyfirst.model.parser_store import ParserModel, initial_parser, sizes_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.native.backend import Backend
from easyfirst.parser import Parser, load
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.render.drawing import Drawing
from easyfirst.render.html import draw_html
from easyfirst.render.latex import draw_latex
from easyfirst.render.svg import draw_svg
from easyfirst.results.parses import Parse
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.lifting import HEAD_AND_PATH, Label, Mark, restore
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree
from tests.calibrations import BY_HAND
from tests.constraints.test_chooser import constraint_sets
from tests.small_models import SMALL

NAMES = ("a", "b", "c", "a↑b", "b↑a", "a↑a", "b↓", "a↓", "a↑b↓", "c↑b")
PLAIN = ("a", "b", "c")


@lru_cache(maxsize=64)
def parser_of(seed: int, crossing: str | None = HEAD_AND_PATH) -> Parser:
    """An untrained parser: its relations are random, and so are their marks."""
    return Parser(model_of(seed, crossing))


def model_of(seed: int, crossing: str | None = HEAD_AND_PATH) -> ParserModel:
    config = preset("paper", network={**SMALL, "tags": "none", "relation_dim": 4})
    words = {f"w{m}": m for m in range(1, 20)}
    vocabulary = ParserVocabulary(words, np.arange(20), {}, NAMES, "root", crossing=crossing)
    rng = np.random.default_rng(seed)
    arrays = initial_parser(config.network, sizes_of(vocabulary, None), rng)
    arrays["scorer.labelled"] *= 20
    arrays["words.embedding"] *= 30
    return ParserModel(config, vocabulary, arrays, "# a card\n", calibration=BY_HAND)


def words_of(n: int, seed: int) -> list[str]:
    return [f"w{m}" for m in np.random.default_rng(seed).integers(1, 20, n).tolist()]


def some_parses() -> list[tuple[Parser, Parse]]:
    """Parses in which arcs were moved."""
    found: list[tuple[Parser, Parse]] = []
    for seed in range(8):
        parser = parser_of(seed)
        found += [(parser, parse) for parse in parser.parse([words_of(14, n) for n in range(8)]) if parse.moved]
    assert len(found) > 5
    return found


class TestTrees:
    @settings(deadline=None, max_examples=60)
    @given(st.integers(0, 40), st.integers(1, 16), st.integers(0, 1000))
    def test_are_those_of_the_derivation_restored(self, seed: int, n: int, of_words: int) -> None:
        [parse] = parser_of(seed).parse([words_of(n, of_words)])
        check_tree(parse.to_sentence())
        heads, relations = [0] * n, ["root"] * n
        marks: list[Mark | None] = [None] * n
        for step in parse.derivation:
            heads[step.modifier - 1], relations[step.modifier - 1] = step.head, step.relation
            marks[step.modifier - 1] = step.mark
        assert is_projective(heads)
        assert parse.heads == restore(heads, relations, marks)
        assert list(parse.relations) == relations
        assert parse.moved == {
            m: old for m, (old, new) in enumerate(zip(heads, parse.heads, strict=True), 1) if old != new
        }
        assert is_projective(parse.heads) or parse.moved

    def test_some_cross(self) -> None:
        assert any(not is_projective(parse.heads) for _, parse in some_parses())

    def test_engines_agree(self) -> None:
        for seed in range(4):
            model, words = model_of(seed), [words_of(12, n) for n in range(6)]
            engines = [
                make_engine(model.arrays, model.config, model.vocabulary, Backend.choose(name, "float32"))
                for name in ("numpy", None)
            ]
            one, other = (Parser(model, engine=engine).parse(words) for engine in engines)
            assert [(p.heads, p.relations, p.moved) for p in one] == [(p.heads, p.relations, p.moved) for p in other]

    def test_without_a_scheme_names_mean_nothing(self) -> None:
        """A model of an earlier version may have any names for its relations."""
        for seed in range(4):
            old, new = (p.parse([words_of(12, seed)])[0] for p in (parser_of(seed, None), parser_of(seed)))
            assert old.moved == {}
            assert [Label.decode(step.relation) for step in old.derivation] == [
                Label(step.relation, step.mark) for step in new.derivation
            ]
            assert is_projective(old.heads)
        assert set(parser_of(0, None).relations) == {*NAMES, "root"}


class TestOutputs:
    def test_relations(self) -> None:
        parser = parser_of(1)
        assert parser.relations == (*PLAIN, "root")
        assert "4 relations" in repr(parser)

    def test_no_mark_is_shown(self) -> None:
        for parser, parse in some_parses():
            explanation = parser.explain(list(parse.sentence.forms), runners_up=20)
            assert explanation.parse == parse
            drawing = explanation.drawing()
            shown = [
                *(str(parse), repr(parse), parse.draw(), parse.to_conllu(confidence=True), json.dumps(parse.to_dict())),
                *(explanation.draw(), json.dumps(explanation.to_dict()), draw_svg(drawing), draw_html([drawing])),
                *(draw_latex(drawing), repr(parse.steps.relations), repr(parse.tree)),
            ]
            assert not [text for text in shown if "↑" in text or "↓" in text or "\\u219" in text]

    def test_json_says_what_was_moved(self) -> None:
        for _, parse in some_parses():
            words = parse.to_dict()["words"]
            assert {word["id"]: word["moved_from"] for word in words if "moved_from" in word} == parse.moved
            decided = {step.modifier: step for step in parse.derivation}
            for m, head in parse.moved.items():
                assert (decided[m].head, decided[m].step) == (head, words[m - 1]["step"])
                assert words[m - 1]["head"] == parse.heads[m - 1] != head

    def test_conllu_says_what_was_moved(self) -> None:
        for _, parse in some_parses():
            given = parse.sentence.with_misc([{"MovedFrom": "1", "Other": "2"}] * len(parse))
            parse = replace(parse, sentence=given)
            assert b"MovedFrom=1|Other=2" in parse.to_bytes()
            written = parse.to_bytes(confidence=True)
            [sentence] = ConlluReader([line + b"\n" for line in written.split(b"\n")[:-1]], "some.conllu")
            found = [dict(entry.split("=") for entry in misc.split("|")) for misc in sentence.misc]
            assert {m: int(misc["MovedFrom"]) for m, misc in enumerate(found, 1) if "MovedFrom" in misc} == parse.moved
            drawing = Drawing.of(sentence)
            assert drawing.moved_from == [parse.moved.get(m) for m in range(1, len(parse) + 1)]

    def test_pictures_say_what_was_moved(self) -> None:
        for _, parse in some_parses():
            svg, html = draw_svg(parse.drawing()), draw_html([parse.drawing()])
            forms = parse.tagged.forms
            for m, head in parse.moved.items():
                end = parse.heads[m - 1]
                assert f"moved from {forms[head - 1]} {head})" in svg
                assert f"{forms[head - 1]} {head}, moved to {forms[end - 1]} {end} at the end" in html
                assert f'data-modifier="{m}" data-head="{head}" data-moved="{end}"' in html
            assert svg.count("moved from") == 2 * len(parse.moved)  # in the description and on the arc

    def test_moved_arcs_have_the_confidence_of_the_decision(self) -> None:
        for _, parse in some_parses():
            confidence = parse.confidence
            assert confidence is not None
            assert confidence == confidence_of(parse.steps, BY_HAND)
            assert parse.drawing().confidence == confidence.arcs

    def test_calibration_judges_the_restored_arc(self) -> None:
        for _, parse in some_parses():
            example = Example.of(parse, parse.to_sentence())
            assert example.heads_right.all()
            assert example.labels_right.all()
            heads = [parse.moved.get(m, head) for m, head in enumerate(parse.heads, 1)]
            example = Example.of(parse, parse.sentence.with_tree(heads, parse.relations))
            assert (np.flatnonzero(~example.heads_right) + 1).tolist() == list(parse.moved)


class TestExplanations:
    def test_say_where_words_were_moved(self) -> None:
        for parser, parse in some_parses():
            explanation = parser.explain(list(parse.sentence.forms))
            drawn = explanation.draw()
            for m, head in parse.moved.items():
                end, forms = parse.heads[m - 1], parse.tagged.forms
                assert f": moved to {forms[end - 1]} {end}\n" in drawn + "\n"
                [step] = [step for step in explanation.steps if step.attachment.modifier == m]
                assert step.attachment.head == head
                assert step.to_dict()["mark"]["lifted"] is True
            lifted = [s for s in explanation.steps if s.attachment.mark and s.attachment.mark.is_lifted]
            assert drawn.count(" was lifted, to be moved below it to ") == len(lifted)
            assert drawn.count("not moved, since no word fits") == len(lifted) - len(parse.moved)

    def test_alternatives_that_differ_in_the_mark(self) -> None:
        parser, parse = some_parses()[0]
        explanation = parser.explain(list(parse.sentence.forms), runners_up=200)
        seen: set[str] = set()
        for step in explanation.steps:
            chosen = step.attachment
            for other in step.runners_up:
                assert Label(other.relation, other.mark).encode() in NAMES
                if (other.head, other.modifier) == (chosen.head, chosen.modifier):
                    assert other.changes == ("mark" if other.relation == chosen.relation else "relation")
                    assert (other.relation, other.mark) != (chosen.relation, chosen.mark)
                seen.add(other.changes)
        assert seen == {"mark", "relation", "arc", "nothing"}


class TestConstraints:
    @settings(deadline=None, max_examples=150)
    @given(st.integers(0, 40), st.integers(2, 12), st.integers(0, 1000), st.data())
    def test_hold_in_the_restored_tree(self, seed: int, n: int, of_words: int, data: st.DataObject) -> None:
        known = Constraints(data.draw(constraint_sets(n, (*PLAIN, "root"))))
        try:
            [parse] = parser_of(seed).parse([words_of(n, of_words)], constraints=[known])
        except ConstraintError:
            reject()
        check_tree(parse.to_sentence())
        assert hold(known, parse.heads, parse.relations)

    def test_a_fixed_relation_may_be_marked(self) -> None:
        moved = 0
        for seed in range(20):
            words = words_of(12, seed)
            fixed = Constraints.of(relations=dict.fromkeys(range(2, 13), "a"))
            [parse] = parser_of(seed).parse([words], constraints=[fixed])
            assert set(parse.relations[1:]) <= {"a", "root"}
            moved += len(parse.moved)
        assert moved

    def test_keeping_the_whole_tree_keeps_it(self) -> None:
        for seed in range(10):
            [free] = parser_of(seed, None).parse([words_of(10, seed)])
            fixed = Constraints.of(heads=dict(enumerate(free.heads, 1)))
            [parse] = parser_of(seed).parse([words_of(10, seed)], constraints=[fixed])
            assert parse.heads == free.heads
            assert parse.moved == {}

    def test_a_forbidden_arc_is_not_restored(self) -> None:
        for parser, parse in some_parses():
            m, old = next(iter(parse.moved.items()))
            known = Constraints.of(forbidden=[(parse.heads[m - 1], m)])
            [other] = parser.parse([list(parse.sentence.forms)], constraints=[known])
            assert other.heads[m - 1] != parse.heads[m - 1]
            assert old != parse.heads[m - 1]

    @pytest.mark.parametrize("relation", ["a↑b", "b↓"])
    def test_marked_relations_are_no_relations(self, relation: str) -> None:
        with pytest.raises(ConstraintError, match="the model has no such relation"):
            parser_of(0).parse([["w1", "w2"]], constraints=[Constraints.of(relations={1: relation})])


class TestModels:
    def test_come_back_as_they_were_saved(self, tmp_path: Path) -> None:
        parser_of(3).save(tmp_path / "m")
        loaded = load(tmp_path / "m")
        assert loaded.model.vocabulary.crossing == HEAD_AND_PATH
        words = [words_of(12, n) for n in range(6)]
        assert [p.heads for p in loaded.parse(words)] == [p.heads for p in parser_of(3).parse(words)]

    def test_models_of_earlier_versions(self, tmp_path: Path) -> None:
        """Neither their settings nor their vocabularies have a scheme."""
        parser_of(3, None).save(tmp_path / "m")
        config = json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))
        assert "crossing" not in json.loads((tmp_path / "m" / "vocab.json").read_text(encoding="utf-8"))
        del config["training"]["crossing"]
        (tmp_path / "m" / "config.json").write_text(json.dumps(config), encoding="utf-8")
        loaded = load(tmp_path / "m")
        assert loaded.config.training.crossing == NO_CROSSING
        assert loaded.model.vocabulary.crossing is None
        words = [words_of(12, n) for n in range(6)]
        assert [p.heads for p in loaded.parse(words)] == [p.heads for p in parser_of(3, None).parse(words)]

    def test_settings_without_a_scheme_are_of_projective_parsers(self) -> None:
        assert ParserConfig.from_dict({}).training.crossing == NO_CROSSING
        assert preset("paper").training.crossing != NO_CROSSING

    def test_a_vocabulary_with_an_unknown_scheme(self) -> None:
        values = model_of(0).vocabulary.to_dict() | {"crossing": "sideways"}
        with pytest.raises(Exception, match="crossing must be one of head, path, head\\+path, not 'sideways'"):
            ParserVocabulary.from_dict(values)

    def test_ensembles(self) -> None:
        ensemble = make_ensemble([model_of(1), model_of(2)], ["one", "two"])
        assert ensemble.vocabulary.crossing == HEAD_AND_PATH
        parses = Parser(ensemble).parse([words_of(12, n) for n in range(20)])
        for parse in parses:
            check_tree(parse.to_sentence())


def test_a_sentence_of_one_word() -> None:
    [parse] = parser_of(0).parse([["w1"]])
    assert (parse.heads, parse.moved) == ((0,), {})
    assert isinstance(parse.sentence, Sentence)
