"""Constraints and extras in requests: what they return, what they refuse, and how long they may take."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.annotations import constraint_entries, constraints_of
from easyfirst.constraints.checking import hold
from easyfirst.constraints.records import Constraints
from easyfirst.constraints.time_limit import check_time, time_limit
from easyfirst.errors import ConstraintError, EasyFirstError
from easyfirst.parser import Parser, load
from easyfirst.server.answers import Answerer
from easyfirst.server.constrained import CONSTRAINING, ConflictError, constraints_dict
from easyfirst.server.extras import Extras
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import read_request
from easyfirst.text.steps import finish
from easyfirst.treebank.sentence import Sentence
from tests.server.conftest import Server
from tests.small_models import small_model, small_tagger, small_tokenizer

PARSER = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
SAW = ["I", "saw", "the", "man", "with", "the", "telescope", "."]


def ask(body: dict[str, Any], parser: Parser = PARSER, limits: Limits | None = None) -> list[dict[str, Any]]:
    """Return the sentences of the answer to one request, or raise its error."""
    limits = limits or Limits()
    answerer = Answerer(parser, limits)
    [outcome] = answerer([read_request(json.dumps(body).encode(), parser, limits)])
    if isinstance(outcome, Exception):
        raise outcome
    answer = outcome if not hasattr(outcome, "send") else finish(outcome)  # type: ignore[arg-type]
    return json.loads(answer.written)


def heads(sentence: dict[str, Any]) -> list[int]:
    return [word["head"] for word in sentence["words"]]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_tree_obeys_the_constraints_or_the_conflict_is_one(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    word = st.integers(1, n)
    asked: dict[str, Any] = {
        "heads": data.draw(st.dictionaries(word.map(str), st.integers(0, n), max_size=2)),
        "relations": data.draw(st.dictionaries(word.map(str), st.sampled_from(PARSER.relations), max_size=1)),
        "forbidden": data.draw(st.lists(st.tuples(st.integers(0, n), word).map(list), max_size=3)),
        "brackets": data.draw(st.lists(st.tuples(word, word).map(sorted), max_size=2)),
    }
    body = {"tokens": [SAW[:n]], "constraints": [asked]}
    try:
        [sentence] = ask(body)
    except ConflictError as error:
        conflict = error.details["conflict"]
        with pytest.raises(ConflictError) as again:
            ask({**body, "constraints": [conflict]})
        assert again.value.details["conflict"] == conflict
        return
    known = Constraints.of(
        heads={int(m): h for m, h in asked["heads"].items()},
        relations={int(m): r for m, r in asked["relations"].items()},
        forbidden=asked["forbidden"],
        brackets=asked["brackets"],
    )
    assert hold(known, heads(sentence), [each["relation"] for each in sentence["words"]])
    assert sentence["constraints"] == json.loads(json.dumps(constraints_dict(known.items)))
    [parse] = PARSER.parse([SAW[:n]], constraints=[known])
    assert heads(sentence) == list(parse.heads)


def test_constraints_are_written_to_misc_and_read_from_there() -> None:
    known = Constraints.of(heads={7: 4, 2: 0}, relations={7: "a"}, forbidden=[(1, 3), (1, 3, "b")], brackets=[(3, 7)])
    sentence = Sentence.from_words(SAW).with_misc([{"Gloss": "x", "FixedHead": "3"}] * len(SAW))
    written = sentence.with_misc(constraint_entries(known, len(SAW)))
    found = constraints_of(written)
    assert found is not None
    assert set(found.items) == set(known.items)
    assert all("Gloss=x" in cell for cell in written.misc)


def test_corrected_conllu_can_be_sent_again() -> None:
    parser = load("en")
    [first] = ask(
        {"tokens": [SAW], "constraints": [{"heads": {"7": 4}, "brackets": [[3, 7]]}], "include": ["conllu"]}, parser
    )
    assert heads(first)[6] == 4
    assert "FixedHead=4" in first["conllu"]
    [again] = ask({"conllu": first["conllu"], "constraints": "misc", "include": ["conllu"]}, parser)
    assert (again["conllu"], again["constraints"]) == (first["conllu"], first["constraints"])
    [free] = ask({"conllu": first["conllu"], "constraints": [{}], "include": ["conllu"]}, parser)
    assert "FixedHead" not in free["conllu"]


def test_conllu_keeps_its_bytes() -> None:
    text = (
        "# a = b\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tX\t_\t_\t_\t_\t_\tA=b\n2\tle\t_\tX\t_\t_\t_\t_\t1:x\t_\n\n"
    )
    [sentence] = ask({"conllu": text, "include": ["conllu"]})
    old, new = (
        [line.split("\t")[:6] + line.split("\t")[8:] for line in conllu.split("\n")]
        for conllu in (text, sentence["conllu"])
    )
    assert new == old


def test_alternatives_and_pictures() -> None:
    [sentence] = ask({"tokens": [SAW], "include": ["alternatives", "svg", "latex", "html"], "width": 300}, load("en"))
    assert len(sentence["alternatives"]) == len(SAW)
    for word, found in zip(sentence["words"], sentence["alternatives"], strict=True):
        assert (found[0]["head"], found[0]["relation"]) == (word["head"], word["relation"])
        assert found[0]["probability"] == word["label_confidence"]
        assert sum(each["probability"] for each in found) <= 1.01
        assert len({(each["head"], each["relation"]) for each in found}) == len(found)
    assert {each["head"] for each in sentence["alternatives"][6]} >= {2, 4}
    assert sentence["svg"].startswith("<svg ")
    assert sentence["html"].startswith("<section ")
    assert r"\begin{dependency}" in sentence["latex"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"text": "a", "constraints": [None]}, 422, "constraints need sentences whose words are given, not text"),
        ({"tokens": [["a"]], "constraints": "misc"}, 422, "constraints is a string; give a list with one item"),
        ({"tokens": [["a"]], "constraints": []}, 409, "0 items for 1 sentence"),
        ({"tokens": [["a"]], "constraints": [1]}, 422, "the constraints of sentence 1 are not an object"),
        ({"tokens": [["a"]], "constraints": [{"head": {}}]}, 422, "the unknown key 'head'"),
        ({"tokens": [["a"]], "constraints": [{"heads": {"x": 1}}]}, 422, "'x' is not the number of a word"),
        ({"tokens": [["a"]], "constraints": [{"heads": {"1": True}}]}, 422, "'1' has true"),
        ({"tokens": [["a"]], "constraints": [{"heads": []}]}, 422, "heads and relations must be objects"),
        ({"tokens": [["a"]], "constraints": [{"brackets": [[True, 1]]}]}, 422, "[True, 1] is not a list of numbers"),
        ({"tokens": [["a"]], "constraints": [{"brackets": [[1]]}]}, 422, "brackets has [1]"),
        ({"tokens": [["a"]], "constraints": [{"brackets": 3}]}, 422, "forbidden and brackets must be lists"),
        ({"tokens": [["a"]], "constraints": [{"heads": {"2": 1}}]}, 409, "there is no arc from 1 to 2"),
        ({"tokens": [["a"] * 21], "constraints": [{}]}, 422, "sentence 1 has 21 words; this server takes constraints"),
        ({"tokens": [["a"]], "constraints": [{"forbidden": [[0, 1]] * 9}]}, 413, "sentence 1 has 9 constraints"),
        ({"conllu": 1}, 422, "conllu is a number; give a string"),
        ({"conllu": "1\tx\n"}, 422, "conllu:1:"),
        ({"tokens": [["a"]], "include": ["tree"]}, 422, "include must be a list of some of"),
        ({"tokens": [["a"]], "model": "pt"}, 409, "this server has no other model 'pt'"),
        ({"tokens": [["a"]], "model": []}, 409, "this server has no other model []"),
        ({"tokens": [["a"]], "first": 0}, 422, "first must be a whole number from 1"),
        ({"tokens": [["a"]], "width": 3}, 422, "width must be a number of pixels from 160"),
        ({"tokens": [["a"]], "show": "colour"}, 422, "show cannot be read"),
    ],
)
def test_requests_that_are_refused(body: dict[str, Any], status: int, message: str) -> None:
    with pytest.raises(EasyFirstError, match=re.escape(message)) as refused:
        ask(body, limits=Limits(max_constrained_words=20, max_constraints=8))
    assert getattr(refused.value, "status", 422) == status


class _Incomparable(str):
    """A string that must not be compared, as a range does with each of its numbers to find it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")


def test_a_number_that_is_a_string_is_refused_without_counting_to_the_greatest() -> None:
    with pytest.raises(RefusedError, match="first must be a whole number"):
        Extras.read({"first": _Incomparable("7")})


@pytest.mark.parametrize("first", [[], None, 1.5, True, 10**12])
def test_wrong_numbers_are_refused(first: object) -> None:
    with pytest.raises(RefusedError, match="first must be a whole number"):
        Extras.read({"first": first})


def test_a_whole_number_may_have_a_fraction_of_zero() -> None:
    assert Extras.read({"first": 7.0}) == Extras.read({"first": 7})


def test_a_conflict_is_named_in_json(server: Server) -> None:
    body = {"tokens": [["a"], SAW], "constraints": [None, {"heads": {"7": 4, "4": 7, "1": 2}}]}
    answer = server.parse(body)
    assert answer.status == 409
    assert "these cannot hold together" in answer.json["error"]
    assert answer.json["sentence"] == 2
    assert answer.json["conflict"] == {"heads": {"4": 7, "7": 4}, "relations": {}, "forbidden": [], "brackets": []}


def test_time_is_limited() -> None:
    with pytest.raises(
        RefusedError, match=r"sentence 1: the constraints could not be checked within 1e-09 s; give fewer"
    ):
        ask({"tokens": [SAW], "constraints": [{"heads": {"1": 2}}]}, limits=Limits(constraint_time=1e-9))
    with time_limit(1e-9):
        time.sleep(0.001)
        with time_limit(1000):
            check_time()
        with pytest.raises(ConstraintError):
            check_time()
    check_time()


def test_sentences_with_constraints_count_as_more_work_and_take_steps() -> None:
    limits = Limits()
    free = read_request(json.dumps({"tokens": [SAW] * 20}).encode(), PARSER, limits)
    body = {"tokens": [SAW] * 20, "constraints": [{"heads": {"1": 2}}] * 20}
    known = read_request(json.dumps(body).encode(), PARSER, limits)
    assert known.weight == (1 + CONSTRAINING) * free.weight
    assert sum(1 for _ in Answerer(PARSER, limits).steps(known)) > 20


def test_others_with_a_conflict_do_not_spoil_a_batch() -> None:
    limits = Limits()
    bodies = [{"tokens": [SAW]}, {"tokens": [SAW], "constraints": [{"heads": {"1": 2, "2": 1}}]}]
    answers = Answerer(PARSER, limits)([read_request(json.dumps(body).encode(), PARSER, limits) for body in bodies])
    assert not isinstance(answers[0], Exception)
    assert isinstance(answers[1], RefusedError)
