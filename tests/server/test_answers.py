"""What requests get does not depend on those they are parsed with, and is what the command line writes."""

from __future__ import annotations

import json
import math
from collections.abc import Generator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from pydantic import ValidationError

from easyfirst.cli.outputs import Target, Writer
from easyfirst.cli.sources import SourceText
from easyfirst.confidence.calibration import Calibration
from easyfirst.decoding import Decoder
from easyfirst.errors import ConfigError
from easyfirst.parser import Parser, load
from easyfirst.server import answers
from easyfirst.server.answers import Answer, Answerer, to_json
from easyfirst.server.batching import SLICE
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, read_request
from easyfirst.server.schema import ParseResponse
from easyfirst.text.steps import finish
from tests.calibrations import BY_HAND
from tests.small_models import small_model, small_tagger, small_tokenizer

LIMITS = Limits(max_words=500, max_sentence_words=500)
PARSER = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
ANSWERER = Answerer(PARSER, LIMITS)
ENGLISH = {engine: cache(partial(load, "en", engine=engine)) for engine in (None, "numpy")}
WORDS = [
    "the",
    "a",
    "fox",
    "cat",
    "that",
    "it",
    "likes",
    "jumps",
    "over",
    "under",
    "saw",
    "apples",
    "and",
    "or",
    "because",
    "of",
    "to",
    "in",
    "London",
    "1999",
    "strangely",
    ",",
    ".",
    "?",
]

FORMS = st.text("abcdefgh.,’Ü猫", min_size=1, max_size=4)
SENTENCES = st.lists(FORMS, min_size=1, max_size=6)
TEXTS = st.text("ab c.d!\n 猫", max_size=40)
ENGLISH_SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25)
ENGLISH_REQUESTS = st.one_of(
    st.lists(ENGLISH_SENTENCES, min_size=1, max_size=4).map(lambda found: {"tokens": found}),
    ENGLISH_SENTENCES.map(" ".join).map(lambda text: {"text": text}),
)
REQUESTS = st.one_of(
    TEXTS.map(lambda text: {"text": text}),
    st.lists(TEXTS.map(lambda text: text[:12]), max_size=3).map(lambda texts: {"sentences": texts}),
    st.lists(SENTENCES, max_size=3).map(lambda sentences: {"tokens": sentences}),
)


def request(body: object, limits: Limits = LIMITS) -> ParseRequest:
    return read_request(json.dumps(body).encode(), PARSER, limits)


def finished(outcome: Any) -> Answer | Exception:
    """Take the steps that are left."""
    if not isinstance(outcome, Generator):
        return outcome
    try:
        return finish(outcome)
    except RefusedError as error:
        return error


def answers_to(*requests: ParseRequest, answerer: Answerer = ANSWERER) -> list[Any]:
    """The answers as JSON has them, or errors."""
    found = map(finished, answerer(requests))
    return [json.loads(answer.written) if isinstance(answer, Answer) else answer for answer in found]


def sent(outcome: Any) -> tuple[bytes, tuple[str, ...]] | str:
    """What a client receives."""
    answer = finished(outcome)
    return (answer.written, answer.warnings) if isinstance(answer, Answer) else str(answer)


def is_exact(parser: Parser) -> bool:
    """Whether a sentence gets the same scores in all batches."""
    return parser.engine != "numpy"


def rounded(value: Any) -> Any:
    """Without the last decimals of scores, which depend on the order of additions unless the engine is exact."""
    if is_exact(PARSER):
        return value
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return pytest.approx(value, abs=2e-3) if isinstance(value, float) else value


def check_together_as_alone(parser: Parser, bodies: list[dict[str, Any]]) -> None:
    answerer = Answerer(parser, LIMITS)
    requests = [request(body) for body in bodies]
    alone = [sent(answerer([each])[0]) for each in requests]
    assert [sent(outcome) for outcome in answerer(requests)] == alone
    assert [sent(outcome) for outcome in answerer(requests[::-1])] == alone[::-1]


@settings(max_examples=40, deadline=None)
@given(st.lists(REQUESTS, min_size=1, max_size=6))
def test_together_as_alone_byte_for_byte(bodies: list[dict[str, Any]]) -> None:
    check_together_as_alone(PARSER, bodies)


@pytest.mark.parametrize("engine", ENGLISH)
@settings(max_examples=25, deadline=None)
@given(bodies=st.lists(ENGLISH_REQUESTS, min_size=2, max_size=8))
def test_scores_do_not_depend_on_other_requests(engine: str | None, bodies: list[dict[str, Any]]) -> None:
    """The scores of a large model show differences that those of the small one are too small to show."""
    check_together_as_alone(ENGLISH[engine](), bodies)


@settings(max_examples=40, deadline=None)
@given(REQUESTS)
def test_in_slices_as_at_once(body: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "SLICE", 3)
        patch.setattr(answers, "WRITTEN", 2)
        sliced = sent(ANSWERER.steps(request(body)))
        n_words = sum(len(each["words"]) for each in json.loads(sliced[0])) if isinstance(sliced, tuple) else 0
        assert n_words <= 3 or isinstance(ANSWERER([request(body)])[0], Generator)
    if is_exact(PARSER):
        assert sliced == sent(ANSWERER([request(body)])[0])


@pytest.mark.parametrize("key", ["text", "sentences", "tokens"])
def test_slices_are_bounded(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step parses more than a slice, or a sentence, and a step that parses does nothing else that is long."""
    text = "A fox jumps over it. " * 900
    body = {"text": text} if key == "text" else {key: ["A fox jumps over it."] * 900}
    if key == "tokens":
        body = {key: [["A", "fox", "jumps"]] * 1400 + [["fox"] * 900] * 2 + [["It"]]}
    parsed: list[int] = []
    parse = PARSER.parse_prepared

    def count(prepared: Any, **options: Any) -> Any:
        parsed.append(sum(len(each.sentence) for each in prepared))
        return parse(prepared, **options)

    monkeypatch.setattr(PARSER, "parse_prepared", count)
    asked = request(body, Limits())
    assert asked.weight > SLICE
    steps = Answerer(PARSER, Limits()).steps(asked)
    at_once: list[int] = []
    while True:
        n_before = len(parsed)
        try:
            next(steps)
        except StopIteration as end:
            answer = end.value
            break
        assert len(parsed) <= n_before + 1
        at_once += parsed[n_before:]
    assert sum(at_once) == sum(map(len, answer.parses))
    assert len(at_once) > 3
    assert all(n <= SLICE for n in at_once)


def test_a_text_of_unexpectedly_many_words_is_continued_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SLICE", 4)
    fox, foxes = request({"text": "A fox."}), request({"text": "A fox jumps over it and it. " * 3})
    outcomes = ANSWERER([fox, foxes, fox, fox])
    assert [isinstance(outcome, Generator) for outcome in outcomes] == [False, True, True, True]
    assert [sent(outcome) for outcome in outcomes[2:]] == [sent(outcomes[0])] * 2
    if is_exact(PARSER):
        monkeypatch.undo()
        assert sent(outcomes[1]) == sent(ANSWERER([foxes])[0])


def test_the_same_as_the_command_line_writes_but_for_ids() -> None:
    text = "The fox jumps. It doesn't like apples!\n\nA new paragraph."
    [document] = PARSER.read([text])
    lines = Writer(Target.json).document(document, SourceText(text), is_first=True).splitlines()
    [answers] = answers_to(request({"text": text}))
    assert answers == rounded([without(json.loads(line), "doc_id", "sent_id") for line in lines])
    words = [["The", "fox"], ["It"]]
    write = Writer(Target.json).sentence
    [answers] = answers_to(request({"tokens": words}))
    found = [without(json.loads(write(parse)), "doc_id", "sent_id", "text") for parse in PARSER.parse(words)]
    assert answers == rounded(found)


def without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


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
    for outcome in (
        Answerer(PARSER, Limits(max_words=n_words - 1))([request({"sentences": [dots]})])[0],
        Answerer(PARSER, Limits(max_words=n_words - 1)).steps(request({"sentences": [dots]})),
    ):
        refused = finished(outcome)
        assert isinstance(refused, RefusedError)
        assert refused.status == 413


@pytest.mark.parametrize("body", [{"text": "a" * 101}, {"sentences": ["a" * 50, "b" * 51]}, {"tokens": [["a" * 101]]}])
def test_characters_are_limited_too(body: dict[str, Any]) -> None:
    limits = Limits(max_characters=100)
    with pytest.raises(RefusedError, match="the request has 101 characters; this server takes up to 100") as refused:
        raise finished(Answerer(PARSER, limits)([request(body, limits)])[0])  # type: ignore[misc]
    assert refused.value.status == 413


def test_what_is_explained() -> None:
    body = {"text": "A fox. It jumps.\n\nIt likes apples. Foxes."}
    [plain] = answers_to(request(body))
    lengths = [len(answer["words"]) for answer in plain]
    assert len(lengths) >= 2
    for max_explained, n in ((0, 0), (lengths[0], 1), (sum(lengths[:2]) - 1, 1), (sum(lengths), len(lengths))):
        [answer] = ANSWERER([replace(request(body), max_explained=max_explained)])
        assert isinstance(answer, Answer)
        assert list(answer.to_dicts()) == rounded(plain)
        assert tuple(explanation.parse for explanation in answer.explanations) == answer.parses[:n]


def test_nothing_is_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"tokens": [["A", "fox"], ["It", "jumps"], ["Foxes"]]}
    parsed: list[tuple[str, ...]] = []
    result = Decoder._result  # pyright: ignore[reportPrivateUsage]

    def count(decoder: Decoder, prepared: Any, *rest: Any) -> Any:
        parsed.append(prepared.sentence.forms)
        return result(decoder, prepared, *rest)

    monkeypatch.setattr(Decoder, "_result", count)
    [answer] = ANSWERER([replace(request(body), max_explained=2)])
    assert isinstance(answer, Answer)
    assert sorted(parsed) == [("A", "fox"), ("Foxes",), ("It", "jumps")]


def test_to_explain_is_more_work() -> None:
    for body, n in (({"tokens": [["a", "b"], ["c"]]}, 3), ({"text": "a" * 10}, 3), ({"text": "a.."}, 4)):
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
