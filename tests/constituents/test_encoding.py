"""Constituency trees survive every encoding, and every dependency tree can be decoded."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.constituents.brackets import read_bracket_lines, read_brackets
from easyfirst.constituents.encoding import ENCODINGS, decode, encode, encoding_of
from easyfirst.constituents.heads import head_rules
from easyfirst.constituents.levels import escape_label, unescape_label
from easyfirst.constituents.stripping import STRIPPABLE, strip
from easyfirst.constituents.tree import Constituents
from easyfirst.errors import InputError
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence
from tests.constituents.strategies import LABELS, projective_heads, trees

RULES = ("ptb", "left", "right")
PIECES = (*LABELS, "|", "#1", "#0", "#99", "+", "'", "''", "<", "levels", "NP/NP", "")


def tree_of(text: str) -> Constituents:
    [tree] = read_bracket_lines([text.encode()], "test")
    return tree


@given(tree=trees(), encoding=st.sampled_from(ENCODINGS), rules=st.sampled_from(RULES))
def test_the_round_trip_is_lossless(tree: Constituents, encoding: str, rules: str) -> None:
    heads, relations = encode(tree, head_rules(rules), encoding)
    assert is_projective(heads)
    assert heads.count(0) == 1
    assert decode(tree.forms, tree.tags, heads, relations) == tree


@given(tree=trees(), encoding=st.sampled_from(ENCODINGS))
def test_relations_fit_into_conllu(tree: Constituents, encoding: str) -> None:
    heads, relations = encode(tree, head_rules("ptb"), encoding)
    sentence = Sentence.from_words(tree.forms, xpos=tree.tags, heads=heads, relations=relations)
    assert sentence.relations == relations  # none is read as "not given"


@given(data=st.data(), heads=projective_heads(), encoding=st.sampled_from(ENCODINGS))
def test_any_relations_can_be_decoded(data: st.DataObject, heads: list[int], encoding: str) -> None:
    n = len(heads)
    names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
    relations = [data.draw(names) for _ in range(n)]
    root = heads.index(0)
    relations[root] = f"{encoding}/{relations[root]}"
    tree = decode(["w"] * n, ["T"] * n, heads, relations)
    assert len(tree) == n
    assert all(node.label for node in tree.nodes)


@given(tree=trees(), encoding=st.sampled_from(ENCODINGS), data=st.data())
def test_relations_of_other_trees_can_be_decoded(tree: Constituents, encoding: str, data: st.DataObject) -> None:
    """The parser may give any relation of the treebank to any word."""
    heads, relations = encode(tree, head_rules("ptb"), encoding)
    others = data.draw(st.permutations([r for r, head in zip(relations, heads, strict=True) if head]))
    drawn = iter(others)
    mixed = [relation if head == 0 else next(drawn) for relation, head in zip(relations, heads, strict=True)]
    assert len(decode(tree.forms, tree.tags, heads, mixed)) == len(tree)


@given(label=st.text())
def test_labels_are_escaped(label: str) -> None:
    escaped = escape_label(label)
    assert unescape_label(escaped) == label
    assert not set(escaped) & set("+#/|'<_")


def test_the_relations_of_a_sentence() -> None:
    tree = tree_of("(S (NP (NP (DT the) (NN fox)) (PP (IN in) (NP (NNS woods)))) (VP (VBZ jumps)) (. .))")
    heads, relations = encode(tree, head_rules("ptb"), "levels")
    assert heads == (2, 5, 2, 3, 0, 5)
    assert relations == ("NP", "S/VP", "NP'", "NP|PP", "levels/", "S/VP")
    assert encode(tree, head_rules("ptb"), "index")[1] == ("NP#1", "S/VP#1", "NP#2", "NP|PP#1", "index/", "S/VP#1")
    assert encode(tree, head_rules("ptb"), "delta")[1] == ("NP#1", "S/VP#1", "NP#2", "NP|PP#1", "delta/", "S/VP#1")
    spines = ("#1", "<NP<NP|S/VP#1", "<PP|#2", "NP|#1", "spines/", "S/VP#1")
    assert encode(tree, head_rules("ptb"), "spines")[1] == spines


def test_numbers_where_labels_do_not_determine_the_levels() -> None:
    tree = tree_of("(VP (NP (A a) (NN b)) (C c))")
    relations = encode(tree, lambda label, children: 1 if label == "NP" else 0, "levels")[1]
    assert relations == ("NP#1", "levels/", "VP#2")


def test_a_sentence_of_a_single_word_has_its_phrases_at_the_root() -> None:
    tree = tree_of("(FRAG (NP (NN Abstract)))")
    assert encode(tree, head_rules("ptb"), "levels") == ((0,), ("levels/FRAG+NP",))


def test_other_relations_encode_no_phrases() -> None:
    assert encoding_of("root") is None
    with pytest.raises(InputError, match="encode no phrases; parse with a constituency model"):
        decode(["a", "b"], ["A", "B"], [0, 1], ["root", "obj"])
    with pytest.raises(InputError, match="not projective"):
        decode(["a", "b", "c", "d"], ["A"] * 4, [0, 4, 1, 1], ["levels/", "X", "X", "X"])


def test_all_trees_of_a_treebank(const_data: Path) -> None:
    """The round trip is exact on all trees of CRAFT dev, with every encoding."""
    for whole in read_brackets(const_data / "craft-dev.ptb.gz"):
        if (tree := strip(whole, STRIPPABLE)) is not None:
            for encoding in ENCODINGS:
                heads, relations = encode(tree, head_rules("ptb"), encoding)
                assert decode(tree.forms, tree.tags, heads, relations) == tree


def test_brackets_are_written_as_they_were_read(const_data: Path) -> None:
    path = const_data / "craft-dev.ptb.gz"
    written = [f"( {tree} )" for tree in read_brackets(path)]
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        assert written == [line.rstrip("\n") for line in stream]


def test_empty_labels_are_left_out() -> None:
    tree = decode(["a", "b"], ["A", "B"], [0, 1], ["spines/", "+PRT+|++X#1"])
    assert str(tree) == "(X (A a) (PRT (B b)))"
    assert str(decode(["a", "b"], ["A", "B"], [0, 1], ["levels/", "+|'"])) == "(X (A a) (B b))"
