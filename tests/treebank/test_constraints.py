"""Constraints as values, and as they stand in CoNLL-U."""

from __future__ import annotations

import doctest
import io
from dataclasses import replace

import numpy as np
import pytest

from easyfirst.errors import ConstraintError
from easyfirst.treebank import constraints as module
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.constraints import Bracket, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.treebank.given_constraints import constraints_of
from easyfirst.treebank.sentence import Sentence


def sentence_of(*words: str) -> Sentence:
    """Words as ``HEAD DEPREL MISC``."""
    rows = (f"{m}\tw{m}\t_\t_\t_\t_\t" + "{}\t{}\t_\t{}\n".format(*word.split(" ")) for m, word in enumerate(words, 1))
    [sentence] = ConlluReader(io.BytesIO(f"# text = w\n{''.join(rows)}\n".encode()), "some.conllu")
    return sentence


def test_examples() -> None:
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed


def test_all_kinds() -> None:
    known = Constraints.of(
        heads={np.int64(1): 2}, relations={3: "obj"}, forbidden=[(1, 2), (0, 4, "root")], brackets=[(1, 2)]
    )
    assert known.items == (
        FixedHead(modifier=1, head=2),
        FixedRelation(modifier=3, relation="obj"),
        ForbiddenArc(head=1, modifier=2),
        ForbiddenArc(head=0, modifier=4, relation="root"),
        Bracket(first=1, last=2),
    )
    assert type(known.items[0].modifier) is int  # type: ignore[union-attr]
    assert (known.heads, known.relations) == ({1: 2}, {3: "obj"})
    assert hash(known) == hash(Constraints(known.items))


def test_misc() -> None:
    sentence = sentence_of(
        "_ _ FixedHead=2|SpaceAfter=No",
        "_ _ Gloss=x|FixedHead=0|FixedRel=nsubj:pass",
        "1 x ForbiddenHead=0,2,1:nsubj:pass|Bracket=1:3,1:2",
    )
    assert constraints_of(sentence) == Constraints(
        (
            FixedHead(modifier=1, head=2),
            FixedHead(modifier=2, head=0),
            FixedRelation(modifier=2, relation="nsubj:pass"),
            ForbiddenArc(head=0, modifier=3),
            ForbiddenArc(head=2, modifier=3),
            ForbiddenArc(head=1, modifier=3, relation="nsubj:pass"),
            Bracket(first=1, last=3),
            Bracket(first=1, last=2),
        )
    )


def test_heads() -> None:
    sentence = sentence_of("2 _ _", "0 root FixedHead=0", "_ obj _")
    known = constraints_of(sentence, misc=False, heads=True)
    assert known is not None
    assert (known.heads, known.relations) == ({1: 2, 2: 0}, {2: "root", 3: "obj"})
    assert constraints_of(sentence, heads=True) == known  # what is said twice counts once


def test_nothing() -> None:
    sentence = sentence_of("2 x SpaceAfter=No", "0 root _")
    assert constraints_of(sentence) is None
    assert constraints_of(sentence_of("_ _ _"), misc=False, heads=True) is None
    assert constraints_of(Sentence.from_words(["a"])) is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("FixedHead=x", "FixedHead is 'x'; it must be the ID of a word, or 0 for the root"),
        ("FixedHead=-1", "FixedHead is '-1'"),
        ("FixedHead=", "FixedHead is ''"),
        ("FixedHead=²", "FixedHead is '²'"),
        ("FixedRel=", "it must be a relation"),
        ("ForbiddenHead=1,", "it must be IDs of words with commas between"),
        ("ForbiddenHead=1:", "it must be IDs of words with commas between"),
        ("Bracket=2-3", "it must be FIRST:LAST"),
        ("Bracket=2", "it must be FIRST:LAST"),
        ("fixedHead=1", "MISC has 'fixedHead=1'; write it as FixedHead=..."),
        ("Bracket", "MISC has 'Bracket'; write it as Bracket=..."),
    ],
)
def test_what_cannot_be_read(entry: str, message: str) -> None:
    sentence = sentence_of("_ _ _", f"_ _ SpaceAfter=No|{entry}")
    with pytest.raises(ConstraintError, match=r"^some\.conllu:3: word 2 'w2': ") as caught:
        constraints_of(sentence)
    assert message in str(caught.value)


def test_tags_and_trees_change_and_constraints_stay() -> None:
    known = Constraints.of(heads={1: 0})
    sentence = replace(Sentence.from_words(["a"]), constraints=known)
    assert sentence.with_tags(upos=["X"]).with_tree([0], ["root"]).constraints is known
