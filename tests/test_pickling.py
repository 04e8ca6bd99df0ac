"""Parsers pickle by the name of their model or carry it, and results pickle small and come back as they were."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import shutil
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst import reopening
from easyfirst.constraints.records import Constraints
from easyfirst.errors import ModelError
from easyfirst.parser import Parser, combine, load
from easyfirst.parsing.validity import Change
from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.tables.parquet import rows_of_sentences
from easyfirst.tables.sentences import sentences_of
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.lifting import Mark
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree
from tests.small_models import TREEBANK, small_model, small_tagger, small_tokenizer
from tests.tables.corpora import read
from tests.treebank.test_conllu import files

METHODS = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]
DATA = Path(__file__).parent / "data"
TEXT = "Dear fox,\n\nI don't\n like   apples. If you do not they will start to rot!\n\nBye — 👩\u200d🍳 fox cannot"


@cache
def bundled() -> Parser:
    return load("en")


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def assert_same_sentence(found: Sentence, expected: Sentence) -> None:
    assert found == expected
    for field in fields(Sentence):  # also what does not count in comparisons
        assert getattr(found, field.name) == getattr(expected, field.name), field.name
    if expected.lines is not None and found.lines is not None:
        assert found.lines.columns == expected.lines.columns
    assert found.to_bytes() == expected.to_bytes()


def assert_same_parse(found: Parse, expected: Parse) -> None:
    assert found == expected
    assert_same_sentence(found.sentence, expected.sentence)
    assert_same_sentence(found.tagged, expected.tagged)
    for name in ("calibration", "constraints", "changes"):
        assert getattr(found, name) == getattr(expected, name)
    for field in fields(expected.steps):
        old, new = getattr(expected.steps, field.name), getattr(found.steps, field.name)
        if isinstance(old, np.ndarray):
            assert new.dtype == old.dtype
            assert new.tobytes() == old.tobytes()
        else:
            assert new == old, field.name
    assert found.confidence == expected.confidence
    assert (found.text, found.start, found.end) == (expected.text, expected.start, expected.end)
    assert [word.text_with_ws for word in found] == [word.text_with_ws for word in expected]
    assert found.to_dict() == expected.to_dict()


class TestResults:
    """What comes back is what was pickled."""

    @settings(max_examples=60)
    @given(files(), st.booleans())
    def test_any_sentence(self, file: tuple[bytes, int], changes: bool) -> None:
        for sentence in read(file[0])[0]:
            if changes:
                n = len(sentence)
                sentence = sentence.with_tree([0] * n, ["x"] * n).with_tags(upos=["_"] * n, lemmas=["y"] * n)
            assert_same_sentence(again(sentence), sentence)
            assert_same_sentence(copy.deepcopy(sentence), sentence)

    @given(st.lists(st.sampled_from(["_", "a", "_a"]), min_size=1, max_size=3))
    def test_sentences_of_words(self, forms: list[str]) -> None:
        annotated = Sentence.from_words(
            forms, heads=[0] * len(forms), upos=forms, relations=[None, *forms][: len(forms)]
        )
        commented = replace(annotated, comments=("# a",), source="x", line=3, prefix=b"\n")
        for sentence in (Sentence.from_words(forms), annotated, commented):
            assert_same_sentence(again(sentence), sentence)

    @pytest.mark.filterwarnings("ignore::easyfirst.errors.LanguageWarning")
    @pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.stem)
    def test_parses_of_files(self, path: Path) -> None:
        sentences = list(read_conllu(path))
        tables = list(sentences_of(rows_of_sentences(sentences), "x.parquet"))
        untagged = [bundled().tagger.untagged(sentence) for sentence in sentences]  # type: ignore[union-attr]
        for parse in bundled().parse([*sentences, *tables, *untagged]):
            assert_same_parse(again(parse), parse)
            assert_same_parse(copy.deepcopy(parse), parse)
            assert again(parse.tree) == parse.tree

    def test_documents(self) -> None:
        for text in ("", " ", "Yes", TEXT):
            document = bundled()(text)
            found = again(document)
            assert found == document
            assert found.tokens == document.tokens
            for new, old in zip(found, document, strict=True):
                assert_same_parse(new, old)
            assert found.to_conllu(confidence=True) == document.to_conllu(confidence=True)
            for parse in document:
                assert_same_parse(again(parse), parse)
                assert again(parse.words) == parse.words
        assert any(parse.changes for parse in document)  # the text has a tree that rules changed
        assert copy.deepcopy(document) == document

    def test_documents_that_were_put_together(self) -> None:
        """Their sentences need not be those of the text."""
        document, other = bundled()("The fox jumps."), bundled().parse([["The", "fox", "jumps", "."]])
        made = Document(document.text, tuple(other), document.tokens)
        assert again(made) == made

    def test_constraints(self) -> None:
        [parse] = bundled().parse([["The", "fox", "jumps"]], constraints=[Constraints.of(heads={1: 3})])
        assert_same_parse(again(parse), parse)
        assert again(parse).fixed_heads == (1,)

    def test_trees_that_differ_from_their_derivations(self) -> None:
        """As those whose arcs were moved because they cross others, or changed by rules."""
        [parse] = bundled().parse([["The", "fox", "likes", "apples"]])
        marks = (Mark(is_lifted=True, head_relation="obj"), None, None)
        changes = (Change(1, 2, "det", "DET"),)
        for moved in (
            replace(parse, heads=(3, 1, 4, 0)),
            replace(parse, relations=("a", "b", "c", "d")),
            replace(parse, steps=replace(parse.steps, marks=marks), changes=changes),
            replace(parse, steps=replace(parse.steps, root_relation="top"), calibration=None),
        ):
            assert_same_parse(again(moved), moved)

    def test_explanations(self) -> None:
        explanation = bundled().explain("The fox likes apples.")
        assert again(explanation).to_dict() == explanation.to_dict()

    def test_a_model_that_knows_little(self) -> None:
        """Without calibration, tags of its own and rules."""
        for parse in Parser(small_model("none"), valid=False).parse(read_conllu(TREEBANK)):
            assert_same_parse(again(parse), parse)


class TestSizes:
    """Bytes a word, of the sentences of tests/data. A text itself takes about 5, its CoNLL-U about 60."""

    def test_documents(self) -> None:
        text = " ".join(sentence.metadata.get("text", "") for sentence in read_conllu(TREEBANK)) + "\n\n" + TEXT
        document = bundled()(20 * text)
        assert len(pickle.dumps(document)) < 70 * sum(map(len, document))

    def test_parses(self) -> None:
        sentences = 20 * [list(sentence.forms) for sentence in read_conllu(TREEBANK)]
        n_words = sum(map(len, sentences))
        parses = bundled().parse(sentences)
        assert len(pickle.dumps(parses)) < 70 * n_words
        assert len(pickle.dumps([parse.tree for parse in parses])) < 12 * n_words

    def test_a_parse_of_a_document_does_not_take_its_text(self) -> None:
        [first, *_] = bundled()("The fox jumps. " + 1000 * "Apples. ")
        assert len(pickle.dumps(first)) < 4000  # half of the text

    def test_parses_of_conllu(self) -> None:
        parses = bundled().parse(20 * list(read_conllu(TREEBANK)))
        n_bytes = sum(len(parse.to_bytes()) for parse in parses)
        assert len(pickle.dumps(parses)) < n_bytes + 40 * sum(map(len, parses))

    def test_parsers(self) -> None:
        assert len(pickle.dumps(bundled())) < 200


SENTENCES = [["The", "fox", "likes", "apples", "."], ["It", "does", "n't", "jump"], ["Yes"]] * 3


def numbers(parser: Parser) -> list[Any]:
    """All that a parser decides, and how sure it is."""
    return [(parse.heads, parse.relations, parse.steps.margins.tobytes()) for parse in parser.parse(SENTENCES)]


class TestParsers:
    """A parser comes back from its model, or from what it carries."""

    @pytest.fixture
    def saved(self, tmp_path: Path) -> Path:
        path = tmp_path / "model"
        Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(path)
        return path

    def test_by_name(self) -> None:
        raw = pickle.dumps(bundled())
        assert b"bundled_models" not in raw  # the name, which is the same on other machines
        first, second = pickle.loads(raw), pickle.loads(raw)
        assert numbers(first) == numbers(bundled())
        assert first is not second
        assert first.model is second.model is bundled().model  # which this process has read

    def test_by_path(self, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(saved.parent)
        parser = load("./model", engine="numpy", valid=False)
        raw = pickle.dumps(parser)
        assert len(raw) < 500
        monkeypatch.chdir("/")
        found = pickle.loads(raw)
        assert (found.engine, numbers(found)) == ("numpy", numbers(parser))
        del parser, found
        reopening._open.cache_clear()
        gc.collect()
        assert numbers(pickle.loads(raw))
        shutil.rmtree(saved)
        reopening._open.cache_clear()
        with pytest.raises(ModelError, match=r"must be installed or at the same path here"):
            pickle.loads(raw)

    def test_another_model_at_the_same_place_is_refused(self, saved: Path) -> None:
        raw = pickle.dumps(load(saved))
        for path in saved.rglob("*"):
            os.utime(path, (1, 1))  # as after a copy to another machine
        assert numbers(pickle.loads(raw)) == numbers(load(saved))
        shutil.rmtree(saved)
        Parser(small_model("upos")).save(saved)
        with pytest.raises(ModelError, match=r"differs from the one of the parser that was pickled; install the same"):
            pickle.loads(raw)

    def test_settings_of_the_environment_are_carried(self, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable, value in (("EASYFIRST_PRECISION", "float32"), ("EASYFIRST_ENGINE", "numpy")):
            monkeypatch.setenv(variable, value)
            parser = load(saved)
            raw = pickle.dumps(parser)
            monkeypatch.delenv(variable)
            assert pickle.loads(raw).engine == parser.engine
        raw = pickle.dumps(default := load(saved))
        monkeypatch.setenv("EASYFIRST_PRECISION", "float32")
        assert pickle.loads(raw).engine == default.engine

    @pytest.mark.parametrize("change", ["removed", "replaced"])
    def test_a_model_that_changed_on_disk_is_carried(self, saved: Path, change: str) -> None:
        parser = load(saved)
        expected = numbers(parser)
        shutil.rmtree(saved)
        if change == "replaced":
            Parser(small_model("upos")).save(saved)
        assert numbers(again(parser)) == expected

    def test_a_parser_in_memory_is_carried(self) -> None:
        parser = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
        parser.language  # noqa: B018 (cached properties are not carried)
        found = again(parser)
        assert "language" not in found.__dict__
        assert numbers(found) == numbers(parser)
        assert [p.heads for p in found("The fox.")] == [p.heads for p in parser("The fox.")]

    def test_a_part_that_was_replaced_is_carried(self, saved: Path) -> None:
        parser = load(saved)
        before = pickle.dumps(parser)
        parser.tokenizer = None
        assert again(parser).tokenizer is None
        assert pickle.loads(before).tokenizer is not None
        assert again(load(saved)).tokenizer is not None

    def test_ensembles_are_carried(self, saved: Path, tmp_path: Path) -> None:
        model, rng = small_model("both"), np.random.default_rng(1)
        arrays = {name: rng.normal(size=array.shape).astype(np.float32) for name, array in model.arrays.items()}
        Parser(replace(model, arrays=arrays), tokenizer=small_tokenizer(), tagger=small_tagger()).save(
            tmp_path / "second"
        )
        parser = combine(saved, tmp_path / "second")
        assert numbers(again(parser)) == numbers(parser)

    def test_copies_share_the_model(self) -> None:
        for made in (copy.copy(bundled()), copy.deepcopy(bundled())):
            assert made is not bundled()
            assert made.model is bundled().model
            made.tokenizer = None
            assert bundled().tokenizer is not None
            assert numbers(made) == numbers(bundled())

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
    def test_processes(self, method: str, saved: Path) -> None:
        """A bound method takes its parser along, and documents come back."""
        in_memory = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
        with multiprocessing.get_context(method).Pool(2) as pool:
            for parser in (bundled(), load(saved), in_memory):
                expected = [parser(TEXT)] * 3
                assert pool.map(parser, [TEXT] * 3) == expected
                assert pool.map(parser.parse, [SENTENCES] * 2) == [parser.parse(SENTENCES)] * 2


def test_trees_pickle(tmp_path: Path) -> None:
    tree = Tree((2, 0), ("det", "root"))
    assert again(tree) == tree
    assert copy.deepcopy(tree) == tree
