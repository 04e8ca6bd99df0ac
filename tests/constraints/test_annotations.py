"""Constraints as values, and as they stand in CoNLL-U."""

from __future__ import annotations

import doctest
import io
from typing import Any

import numpy as np
import pytest

from easyfirst.constraints import records as module
from easyfirst.constraints.annotations import constraints_of
from easyfirst.constraints.records import Bracket, Constraints, FixedHead, FixedRelation, ForbiddenArc
from easyfirst.errors import ConstraintError, InputError
from easyfirst.treebank.conllu import ConlluReader
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


@pytest.mark.parametrize(
    ("argument", "given", "message"),
    [
        ("heads", {"1": 2}, "heads has {'1': 2}; write it as in heads={7: 2, 2: 0}"),
        ("heads", {1: None}, "heads has {1: None}; write"),
        ("heads", {1: 2.0}, "heads has {1: 2.0}; write"),
        ("heads", [(1, 2)], "heads is of type list; write it as in heads={7: 2, 2: 0}"),
        ("relations", {1: None}, "relations has {1: None}; write it as in relations={7: 'obl'}"),
        ("relations", {1: ["x"]}, "relations has {1: ['x']}; write"),
        ("relations", {"1": "x"}, "relations has {'1': 'x'}; write"),
        ("relations", ["x"], "relations is of type list; write"),
        ("forbidden", [(1,)], "forbidden has (1,); write it as in forbidden=[(4, 7), (4, 7, 'nmod')]"),
        ("forbidden", [(1, 2, "nsubj", "x")], "forbidden has (1, 2, 'nsubj', 'x'); write"),
        ("forbidden", [(1, 2, 3)], "forbidden has (1, 2, 3); write"),
        ("forbidden", (1, 2), "forbidden has 1; write"),
        ("forbidden", ["12"], "forbidden has '12'; write"),
        ("forbidden", {1: 2}, "forbidden is of type dict; write"),
        ("forbidden", 3, "forbidden is of type int; write"),
        ("brackets", [3], "brackets has 3; write it as in brackets=[(3, 7)]"),
        ("brackets", [(3, 4, 5)], "brackets has (3, 4, 5); write"),
        ("brackets", [(3, None)], "brackets has (3, None); write"),
        ("brackets", None, "brackets is of type NoneType; write"),
    ],
)
def test_what_is_written_in_another_way(argument: str, given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Constraints.of(**{argument: given})
    assert str(caught.value).startswith(message)


def test_other_ways_that_are_fine() -> None:
    assert Constraints.of(forbidden=[(1, 2, None)]).items == (ForbiddenArc(head=1, modifier=2),)
    assert Constraints.of(forbidden=iter([(1, 2)]), brackets=np.array([[1, 2]])).items == (
        ForbiddenArc(head=1, modifier=2),
        Bracket(first=1, last=2),
    )
    assert Constraints.of(heads=None, relations=None) == Constraints()


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
        ("ForbiddenHead=1,", "it must be comma-separated word IDs"),
        ("ForbiddenHead=1:", "it must be comma-separated word IDs"),
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
