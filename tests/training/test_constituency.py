"""Constituency treebanks as training data."""

from __future__ import annotations

from pathlib import Path

import pytest

from easyfirst.constituents.brackets import read_brackets
from easyfirst.constituents.stripping import STRIPPABLE, strip
from easyfirst.errors import DataError
from easyfirst.model.constituency_config import ConstituencyConfig
from easyfirst.results.constituents import sentence_constituents
from easyfirst.training.constituency import read_constituency_treebank

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
CONFIG = ConstituencyConfig(strip="traces,functions")


def test_sentences_encode_the_trees_of_a_file() -> None:
    path = TOY / "phrases.ptb"
    treebank = read_constituency_treebank(path, CONFIG)
    trees = [strip(tree, STRIPPABLE) for tree in read_brackets(path)]
    assert [sentence_constituents(sentence) for sentence in treebank.sentences] == trees
    assert treebank.tag_kinds == ("xpos",)
    assert [sentence.line for sentence in treebank.sentences] == list(range(1, len(trees) + 1))


def test_all_roots_have_the_relation_of_sentences_of_a_word() -> None:
    """No action decides the relation of the root, so the model has the most frequent one."""
    train = read_constituency_treebank(TOY / "phrases.ptb", CONFIG)
    dev = read_constituency_treebank(TOY / "phrases-dev.ptb", CONFIG, train)
    roots = {s.relations[s.heads.index(0)] for treebank in (train, dev) for s in treebank.sentences}
    assert roots == {"levels/FRAG+NP"}


def test_a_sentence_of_a_word_keeps_its_own_phrases(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb"
    path.write_text("(NP (NN a))(NP (NN b))(X (NN c))(S (A a) (B b))", encoding="utf-8")
    treebank = read_constituency_treebank(path, ConstituencyConfig(heads="left"))
    assert [s.relations[0] for s in treebank.sentences] == ["levels/NP", "levels/NP", "levels/X", "levels/NP"]


def test_a_dependency_tree_has_no_phrases() -> None:
    sentence = read_constituency_treebank(TOY / "phrases.ptb", CONFIG).sentences[0]
    relations = ["root" if head == 0 else "dep" for head in sentence.heads]
    assert sentence_constituents(sentence.with_tree(sentence.heads, relations)) is None
    assert sentence_constituents(sentence.with_tree([None] * len(sentence), relations)) is None


def test_traces_must_be_stripped() -> None:
    with pytest.raises(DataError, match=r"phrases.ptb:4: '\*-1' is a trace, not a word; remove traces with --strip"):
        read_constituency_treebank(TOY / "phrases.ptb", ConstituencyConfig())
