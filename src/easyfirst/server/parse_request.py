"""The request to parse texts or sentences, read from JSON and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, cast

from pydantic_core import from_json

from easyfirst.inputs import Prepared
from easyfirst.parser import Parser
from easyfirst.server.constrained import (
    CONSTRAINING,
    MISC,
    Asked,
    check_constrained,
    constraints_in_misc,
    prepare_one,
    read_constraints,
)
from easyfirst.server.extras import PLAIN, Extras
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.text.steps import Steps
from easyfirst.treebank.conllu import ConlluReader

KEYS = ("text", "sentences", "tokens", "conllu")
MORE = ("constraints", "include", "width", "show", "first", "model")
EXAMPLE = 'as in {"text": "The fox jumps. It likes apples."}'
CHARACTERS_PER_WORD = 5  # a rough mean, with white space, to estimate the work of a text
EXPLAINING = 3  # the cost of explaining a word, relative to parsing it
_PIECE = re.compile(r"\w+|[^\w\s]")
_ROW = re.compile(r"^[0-9]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """Raw texts, or sentences in words, or CoNLL-U."""

    texts: tuple[str, ...] = ()
    one_sentence: bool = False  # whether each text is one sentence
    sentences: tuple[Any, ...] = ()  # lists of words, which are checked when their turn comes
    conllu: str | None = None  # sentences in CoNLL-U, which are read when their turn comes
    constraints: object = None  # on the sentences: a list, or MISC; they are read when their turn comes
    extras: Extras = PLAIN
    model: str | None = None  # the name of the model, if it is not the first one
    max_explained: int = 0  # the most words to explain: as many sentences from the first on as fit
    is_json: bool = True  # whether the answer is written as JSON

    @property
    def weight(self) -> int:
        """The work, measured in parsed words."""
        n_words = sum(map(_count, self.sentences)) + sum(map(_estimate, self.texts)) + _count_rows(self.conllu)
        asked = self.constraints
        n_constrained = n_words if asked == MISC else 0
        if isinstance(asked, list):
            given = cast("list[Any]", asked)
            pairs = zip(self.sentences, given, strict=False)
            n_constrained = sum(_count(words) for words, known in pairs if known is not None)
            n_constrained += n_words if self.conllu is not None and any(each is not None for each in given) else 0
        work = n_words * (1 + self.extras.weight) + CONSTRAINING * n_constrained
        return work + EXPLAINING * min(n_words, self.max_explained)


def read_request(
    body: bytes, parser: Parser, limits: Limits, others: Mapping[str, Parser] | None = None
) -> ParseRequest:
    """Read the body of a request and check it, as far as that is possible before texts are tokenized. ``others`` are
    the models that it may name besides that of the ``parser``."""
    values = read_object(body, EXAMPLE)
    inputs = ", ".join(KEYS[:-1]) + " and " + KEYS[-1]
    unknown = [key for key in values if key not in (*KEYS, *MORE)]
    if unknown:
        more = ", ".join(MORE[:-1]) + " or " + MORE[-1]
        raise RefusedError(f"unknown key {unknown[0]!r}; give one of {inputs}, {EXAMPLE}, and beside it {more}")
    model, constraints, extras = values.pop("model", None), values.pop("constraints", None), Extras.read(values)
    if model is not None and (not isinstance(model, str) or model not in (others or {})):
        names = ", ".join(others or {}) or "none"
        raise RefusedError(f"this server has no other model {model!r}; it has: {names}", 409)
    parser = parser if model is None else (others or {})[model]
    if len(values) != 1:
        found = " and ".join(values) or "none"
        raise RefusedError(f"give one of {inputs}, not {found}, {EXAMPLE}")
    [(key, value)] = values.items()
    request = _read_input(key, value, parser, limits)
    _check_constraints(key, constraints)
    n_explained = limits.max_words if extras.has_alternatives else 0
    return replace(request, constraints=constraints, extras=extras, model=model, max_explained=n_explained)


def read_object(body: bytes, example: str) -> dict[str, Any]:
    """Read a body that is an object in JSON. ``example`` says how it is written."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        hint = " (half of a pair of surrogates is no character)" if "hex escape" in str(error) else ""
        raise RefusedError(f"the body is not JSON: {error}{hint}; send it {example}", 400) from None
    if not isinstance(values, dict):
        raise RefusedError(f"the body is {_kind(values)}; send an object, {example}")
    return cast("dict[str, Any]", values)


def _read_input(key: str, value: object, parser: Parser, limits: Limits) -> ParseRequest:
    if key == "tokens":
        return request_words(_list_of(value, key, "lists of words"), limits)
    if key == "conllu":
        return request_conllu(value, limits)
    if key == "text":
        return request_texts([value], parser, limits, one_sentence=False)
    return request_texts(_list_of(value, key, "texts"), parser, limits, one_sentence=True)


def _check_constraints(key: str, constraints: object) -> None:
    """Raise an error for constraints on sentences whose words are not given."""
    if constraints is None:
        return
    if key not in ("tokens", "conllu"):
        raise RefusedError(f"constraints need sentences whose words are given, not {key}; give tokens or conllu")
    if not isinstance(constraints, list) and (key, constraints) != ("conllu", MISC):
        misc = f", or {MISC!r} for those in the column MISC" if key == "conllu" else ""
        raise RefusedError(f"constraints is {_kind(constraints)}; give a list with one item for each sentence{misc}")


def request_texts(texts: Sequence[Any], parser: Parser, limits: Limits, *, one_sentence: bool) -> ParseRequest:
    """Make a request to parse raw texts."""
    for number, text in enumerate(texts, 1):
        name = f"sentence {number}" if one_sentence else "text"
        if not isinstance(text, str):
            raise RefusedError(f"{name} is {_kind(text)}; give a string")
        _check_no_nul(text, name)
    parser.require_tokenizer()
    check_characters(sum(map(len, texts)), limits)
    check_words(sum(len(text.split()) for text in texts), limits, "at least ")
    return ParseRequest(tuple(texts), one_sentence)


def request_words(items: Sequence[Any], limits: Limits) -> ParseRequest:
    """Make a request to parse sentences in words, with or without tags."""
    check_words(sum(map(_count, items)), limits)
    return ParseRequest(sentences=tuple(items))


def request_conllu(text: object, limits: Limits) -> ParseRequest:
    """Make a request to parse sentences in CoNLL-U."""
    if not isinstance(text, str):
        raise RefusedError(f"conllu is {_kind(text)}; give a string")
    _check_no_nul(text, "conllu")
    check_words(_count_rows(text) // 2, limits, "at least ")  # rows can be tokens of several words, or empty nodes
    return ParseRequest(conllu=text)


def prepare_words(request: ParseRequest, parser: Parser, limits: Limits) -> Steps[list[Prepared]]:
    """Check the sentences of a request in words. Each sentence with constraints takes a step."""
    items: Sequence[Any] = request.sentences
    if request.conllu is not None:
        items = tuple(ConlluReader(BytesIO(request.conllu.encode(errors="replace")), "conllu"))
        check_words(sum(map(len, items)), limits)
    asked = _asked(request.constraints, items, limits)
    checked = parser.prepare(items, asked)
    prepared: list[Prepared] = []
    n_characters = 0
    for number, item in enumerate(items, 1):
        name, is_constrained = f"sentence {number}", asked is not None and asked[number - 1] is not None
        if is_constrained:
            yield
            check_constrained(len(item) if request.conllu is not None else _count(item), number, limits)
        each = prepare_one(checked, number, limits) if is_constrained else next(checked)
        sentence = each.sentence
        check_length(len(sentence), name, limits)
        for cell in (*sentence.forms, *sentence.upos, *sentence.xpos):
            _check_no_nul(cell, name)
        n_characters += sum(map(len, sentence.forms))
        check_characters(n_characters, limits)
        prepared.append(each)
    return prepared


def _asked(constraints: object, items: Sequence[Any], limits: Limits) -> Asked | None:
    """Return the constraints on each sentence, or None if the request has none."""
    if constraints is None:
        return None
    if constraints == MISC:
        return constraints_in_misc(items, limits)
    return read_constraints(constraints, len(items), limits)


def check_characters(n_characters: int, limits: Limits) -> None:
    """Raise an error if a request has too many characters."""
    if n_characters > limits.max_characters:
        limit = f"this server takes up to {limits.max_characters:,} at a time: send several requests"
        raise RefusedError(f"the request has {n_characters:,} characters; {limit}", 413)


def check_words(n_words: int, limits: Limits, least: str = "") -> None:
    """Raise an error if a request has too many words."""
    if n_words > limits.max_words:
        limit = f"this server takes up to {limits.max_words:,} at a time: send several requests"
        raise RefusedError(f"the request has {least}{n_words:,} words; {limit}", 413)


def check_length(n_words: int, name: str, limits: Limits) -> None:
    """Raise an error if a sentence has too many words."""
    if n_words > limits.max_sentence_words:
        limit = f"this server takes up to {limits.max_sentence_words:,}"
        raise RefusedError(f"{name} has {n_words:,} words; {limit}: split it")


def _list_of(value: object, key: str, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise RefusedError(f"{key} is {_kind(value)}; give a list of {what}")
    return cast("list[Any]", value)


def _kind(value: object) -> str:
    """Return the name of a value's type in JSON."""
    kinds = {str: "a string", bool: "a boolean", list: "a list", dict: "an object", type(None): "null"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "a number")


def _count(item: object) -> int:
    return len(cast("list[Any]", item)) if isinstance(item, list) else 0


def _count_rows(conllu: str | None) -> int:
    return 0 if conllu is None else len(_ROW.findall(conllu))


def _estimate(text: str) -> int:
    """Estimate the number of words in a text, rather too high than too low."""
    return 1 + max(len(text) // CHARACTERS_PER_WORD, len(_PIECE.findall(text)))


def _check_no_nul(text: str, name: str) -> None:
    if "\0" in text:
        raise RefusedError(f"{name} has a NUL character (U+0000) in it; take it out")
