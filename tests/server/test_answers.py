"""What requests get does not depend on those they are parsed with, and is what the command line writes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from pydantic import ValidationError

from easyfirst.cli.outputs import Target, Writer
from easyfirst.cli.sources import SourceText
from easyfirst.confidence.calibration import Calibration
from easyfirst.errors import ConfigError
from easyfirst.parser import Parser
from easyfirst.server.answers import Answer, Answerer, to_json
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, read_request
from easyfirst.server.schema import ParseResponse
from tests.calibrations import BY_HAND
from tests.small_models import small_model, small_tagger, small_tokenizer

LIMITS = Limits(max_words=500, max_sentence_words=500)
PARSER = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
ANSWERER = Answerer(PARSER, LIMITS)

FORMS = st.text("abcdefgh.,’Ü猫", min_size=1, max_size=4)
SENTENCES = st.lists(FORMS, min_size=1, max_size=6)
TEXTS = st.text("ab c.d!\n 猫", max_size=40)
REQUESTS = st.one_of(
    TEXTS.map(lambda text: {"text": text}),
    st.lists(TEXTS.map(lambda text: text[:12]), max_size=3).map(lambda texts: {"sentences": texts}),
    st.lists(SENTENCES, max_size=3).map(lambda sentences: {"tokens": sentences}),
)


def request(body: object) -> ParseRequest:
    return read_request(json.dumps(body).encode(), PARSER, LIMITS)


def answers_to(*requests: ParseRequest, answerer: Answerer = ANSWERER) -> list[Any]:
    """The answers as JSON has them, or errors."""
    return [answer.to_dicts() if isinstance(answer, Answer) else answer for answer in answerer(requests)]


def rounded(value: Any) -> Any:
    """Without the last decimals of scores, which depend on the order of additions."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return pytest.approx(value, abs=2e-3) if isinstance(value, float) else value


@settings(max_examples=40, deadline=None)
@given(st.lists(REQUESTS, min_size=1, max_size=6))
def test_together_as_alone(bodies: list[dict[str, Any]]) -> None:
    requests = [request(body) for body in bodies]
    alone = [answers_to(each)[0] for each in requests]
    assert answers_to(*requests) == [rounded(answer) for answer in alone]


def test_the_same_as_the_command_line_writes() -> None:
    text = "The fox jumps. It doesn't like apples!\n\nA new paragraph."
    [document] = PARSER.read([text])
    lines = Writer(Target.json).document(document, SourceText(text), is_first=True).splitlines()
    [answers] = answers_to(request({"text": text}))
    assert answers == rounded([json.loads(line) for line in lines])
    words = [["The", "fox"], ["It"]]
    write = Writer(Target.json).sentence
    [answers] = answers_to(request({"tokens": words}))
    assert answers == rounded([json.loads(write(parse)) for parse in PARSER.parse(words)])


@pytest.mark.parametrize("calibration", [None, BY_HAND], ids=["plain", "calibrated"])
@pytest.mark.parametrize(
    "body",
    [{"text": "The fox jumps. It doesn't!"}, {"sentences": ["A fox."]}, {"tokens": [["The", "fox"], ["It"]]}],
    ids=["text", "sentences", "tokens"],
)
def test_every_key_is_described(body: dict[str, Any], calibration: Calibration | None) -> None:
    parser = Parser(replace(PARSER.model, calibration=calibration), tokenizer=PARSER.tokenizer, tagger=PARSER.tagger)
    [answers] = answers_to(request(body), answerer=Answerer(parser, LIMITS))
    values = {"model": {"name": "x", "easyfirst_version": None}, "sentences": answers, "warnings": ["x"]}
    described = ParseResponse.model_validate_json(to_json(values), strict=True)
    assert described.model_dump(mode="json", exclude_unset=True) == json.loads(to_json(values))
    assert (described.sentences[0].words[0].arc_confidence is None) == (calibration is None)
    for place in (answers[0], answers[0]["words"][0], *answers[0].get("tokens", [])[:1]):
        place["new"] = 1
        with pytest.raises(ValidationError, match="new"):
            ParseResponse.model_validate_json(to_json(values))
        del place["new"]


def test_a_sentence_stays_one_and_says_which_it_is() -> None:
    [answers] = answers_to(request({"sentences": ["A fox. It jumps.", " ", "Apples."]}))
    assert [(answer["document"], answer["text"]) for answer in answers] == [(1, "A fox. It jumps."), (3, "Apples.")]


@pytest.mark.parametrize(
    "body", [{"text": ""}, {"text": " \n\n "}, {"sentences": []}, {"sentences": [""]}, {"tokens": []}]
)
def test_nothing_gives_nothing(body: object) -> None:
    assert answers_to(request(body)) == [[]]


def test_tags_that_are_given_are_used() -> None:
    [[answer]] = answers_to(request({"tokens": [[["The", "PRON", None], ["fox", None, "PRP"]]]}))
    first, second = answer["words"]
    assert (first["upos"], second["xpos"]) == ("PRON", "PRP")
    assert all(word["upos"] and word["xpos"] for word in answer["words"])


def test_a_text_with_more_words_than_it_seems_to_have_is_refused_alone() -> None:
    dots = ". " * 5 + "?!" * 40  # every character may be a word, or not
    n_words = sum(map(len, next(iter(PARSER.read([dots], one_sentence=True)))))
    strict = Answerer(PARSER, Limits(max_sentence_words=n_words - 1))
    fox = request({"text": "A fox."})
    first, refused, last = answers_to(fox, request({"sentences": [dots]}), fox, answerer=strict)
    assert isinstance(refused, RefusedError)
    assert f"sentence 1 has {n_words} words" in str(refused)
    assert rounded(first) == last
    [refused] = Answerer(PARSER, Limits(max_words=n_words - 1))([request({"sentences": [dots]})])
    assert isinstance(refused, RefusedError)
    assert refused.status == 413


def test_what_is_explained() -> None:
    body = {"text": "A fox. It jumps.\n\nIt likes apples. Foxes."}
    [plain] = answers_to(request(body))
    lengths = [len(answer["words"]) for answer in plain]
    assert len(lengths) >= 2
    for max_explained, n in ((0, 0), (lengths[0], 1), (sum(lengths[:2]) - 1, 1), (sum(lengths), len(lengths))):
        [answer] = ANSWERER([replace(request(body), max_explained=max_explained)])
        assert isinstance(answer, Answer)
        assert answer.to_dicts() == rounded(plain)
        assert tuple(explanation.parse for explanation in answer.explanations) == answer.parses[:n]


def test_nothing_is_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"tokens": [["A", "fox"], ["It", "jumps"], ["Foxes"]]}
    parsed: list[tuple[str, ...]] = []
    result = PARSER._result  # pyright: ignore[reportPrivateUsage]

    def count(prepared: Any, *rest: Any) -> Any:
        parsed.append(prepared.sentence.forms)
        return result(prepared, *rest)

    monkeypatch.setattr(PARSER, "_result", count)
    [answer] = ANSWERER([replace(request(body), max_explained=2)])
    assert isinstance(answer, Answer)
    assert sorted(parsed) == [("A", "fox"), ("Foxes",), ("It", "jumps")]


def test_to_explain_is_more_work() -> None:
    for body, n in (({"tokens": [["a", "b"], ["c"]]}, 3), ({"text": "a" * 10}, 3)):
        weights = [replace(request(body), max_explained=m).weight for m in (0, 2, 500)]
        assert weights == [n, n + 3 * 2, n + 3 * n]


def test_no_answer_is_anything_but_strict_json_in_utf_8() -> None:
    assert to_json({"a": ["\ud800", 1.5], "b": None}) == b'{"a": ["?", 1.5], "b": null}'
    with pytest.raises(ValueError, match="JSON"):
        to_json(math.inf)


def test_limits_bound_something() -> None:
    with pytest.raises(ConfigError, match="max_words is 0"):
        Limits(max_words=0)
    with pytest.raises(ConfigError, match="timeout is nan"):
        Limits(timeout=math.nan)
