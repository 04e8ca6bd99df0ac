"""Brackets are read as a stream, and errors name the file, the line and what to do."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.constituents.brackets import read_bracket_lines, read_brackets
from easyfirst.constituents.tree import Constituents, Node
from easyfirst.errors import DataError, InputError
from tests.constituents.strategies import trees

FOX = "(S (NP (DT The) (NN fox)) (VP (VBZ jumps)) (. .))"


def read(text: str) -> list[Constituents]:
    return list(read_bracket_lines(text.encode().splitlines(keepends=True), "trees.ptb"))


@given(tree=trees())
def test_written_brackets_are_read_back(tree: Constituents) -> None:
    assert read(str(tree)) == [tree]
    assert pickle.loads(pickle.dumps(tree)) == tree


@given(found=st.lists(trees(max_words=4), max_size=4), space=st.sampled_from((" ", "\n", "\n\n  ", "\t", "\r\n")))
def test_trees_stand_anywhere(found: list[Constituents], space: str) -> None:
    """Several trees on a line, a tree over many lines, and outer brackets are read alike."""
    text = space.join(f"( {tree} )" for tree in found).replace(" ", space)
    assert read(text) == found


def test_the_line_of_a_tree() -> None:
    first, second = read(f"\n{FOX}\n( (NP\n (NN x)) )")
    assert (first.source, first.line, second.line) == ("trees.ptb", 2, 3)


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + FOX.encode()))
    assert [str(tree) for tree in read_brackets(path)] == [FOX]


def test_round_brackets_in_words() -> None:
    [tree] = read("(NP (-LRB- -LRB-) (NN a-LRB-b) (-RRB- -RRB-))")
    assert (tree.forms, tree.tags) == (("(", "a(b", ")"), ("-LRB-", "NN", "-RRB-"))


def test_several_trees_in_an_outer_bracket() -> None:
    [tree] = read("( (NP (NN a)) (NP (NN b)) )")
    assert str(tree) == "(TOP (NP (NN a)) (NP (NN b)))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN a))", "trees.ptb:1: this tree is incomplete: .* add what is missing"),
        ("\n(NN a))", "trees.ptb:2: a bracket closes that was never opened; remove it"),
        ("fox (NN a)", "'fox' stands outside of all brackets"),
        ("(S (NN a) b)", r"the word 'b' has no bracket of its own; write \(TAG b\)"),
        ("(S a (NN b))", r"a bracket opens after the word 'a'; write \(TAG a\)"),
        ("(NN a b)", "'a' and 'b' are in one bracket; give each word its own"),
        ("(S (NP))", "the bracket of 'NP' has no word; remove it"),
        ("( )", "an empty bracket; remove it"),
        ("(S ((NN a)))", "a bracket without a label; only the outermost one may lack it"),
        ("(S (NP (NN 2=fox)) (VB 1=a))", "discontinuous trees, which are not supported; remove the discontinuities"),
        ("(" * 20_000, "more than 10,000 open brackets"),
    ],
)
def test_errors(text: str, message: str) -> None:
    text = text.replace("((((", "(a (a (a (a ")
    with pytest.raises(DataError, match=message):
        read(text)


def test_the_interface_of_a_tree() -> None:
    [tree] = read(FOX)
    root = tree.root
    assert (root.label, root.span, root.parent, root.form) == ("S", (1, 4), None, None)
    assert [child.label for child in root.children] == ["NP", "VP", "."]
    subject = root.children[0]
    assert (subject.text, subject.span, subject.parent) == ("The fox", (1, 2), root)
    assert [leaf.form for leaf in subject.leaves] == ["The", "fox"]
    fox = subject.children[1]
    assert (fox.label, fox.form, fox.is_leaf, fox.children, fox.parent) == ("NN", "fox", True, (), subject)
    assert [phrase.label for phrase in tree] == ["S", "NP", "VP"]
    assert [phrase.text for phrase in tree.phrases("VP")] == ["jumps"]
    assert repr(subject) == "Constituent('NP', span=(1, 2))"
    assert len(tree.leaves) == len(tree) == 4


@given(tree=trees())
def test_children_and_parents_agree(tree: Constituents) -> None:
    for phrase in tree:
        children = phrase.children
        assert [leaf for child in children for leaf in child.leaves] == list(phrase.leaves)
        assert all(child.parent == phrase for child in children)


@pytest.mark.parametrize(
    "nodes",
    [
        (),
        (Node("S", 0, 2),),
        (Node("S", 0, 3), Node("A", 0, 2), Node("B", 1, 3)),
        (Node("S", 0, 3), Node("A", 1, 2), Node("B", 0, 1)),
        (Node("S", 0, 3), Node("", 0, 1)),
        (Node("S", 0, 3), Node("A", 2, 4)),
    ],
)
def test_phrases_must_be_nested(nodes: tuple[Node, ...]) -> None:
    with pytest.raises(InputError):
        Constituents(("a", "b", "c"), ("A", "B", "C"), nodes)


def test_deep_trees() -> None:
    deep = "(X " * 9000 + "(N n)" + ")" * 9000
    [tree] = read(deep)
    assert str(tree) == deep
    assert pickle.loads(pickle.dumps(tree)) == tree
