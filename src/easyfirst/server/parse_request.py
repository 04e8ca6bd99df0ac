"""The request to parse texts or sentences, read from JSON and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import from_json

from easyfirst.inputs import Prepared
from easyfirst.parser import Parser
from easyfirst.server.limits import Limits, RefusedError

KEYS = ("text", "sentences", "tokens")
EXAMPLE = 'as in {"text": "The fox jumps. It likes apples."}'
CHARACTERS_PER_WORD = 5  # a rough mean, with white space, to estimate the work of a text
EXPLAINING = 3  # the cost of explaining a word, relative to parsing it
_PIECE = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """Raw texts, or sentences in words."""

    texts: tuple[str, ...] = ()
    one_sentence: bool = False  # whether each text is one sentence
    sentences: tuple[Any, ...] = ()  # lists of words, which are checked when their turn comes
    max_explained: int = 0  # the most words to explain: as many sentences from the first on as fit
    is_json: bool = True  # whether the answer is written as JSON

    @property
    def weight(self) -> int:
        """The work, measured in parsed words."""
        n_words = sum(map(_count, self.sentences)) + sum(map(_estimate, self.texts))
        return n_words + EXPLAINING * min(n_words, self.max_explained)


def read_request(body: bytes, parser: Parser, limits: Limits) -> ParseRequest:
    """Read the body of a request and check it, as far as that is possible before texts are tokenized."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        hint = " (half of a pair of surrogates is no character)" if "hex escape" in str(error) else ""
        raise RefusedError(f"the body is not JSON: {error}{hint}; send it {EXAMPLE}", 400) from None
    if not isinstance(values, dict):
        raise RefusedError(f"the body is {_kind(values)}; send an object, {EXAMPLE}")
    values = cast("dict[str, Any]", values)
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise RefusedError(f"unknown key {unknown[0]!r}; give one of text, sentences and tokens, {EXAMPLE}")
    if len(values) != 1:
        found = " and ".join(values) or "none"
        raise RefusedError(f"give one of text, sentences and tokens, not {found}, {EXAMPLE}")
    [(key, value)] = values.items()
    if key == "tokens":
        return request_words(_list_of(value, key, "lists of words"), limits)
    if key == "text":
        return request_texts([value], parser, limits, one_sentence=False)
    return request_texts(_list_of(value, key, "texts"), parser, limits, one_sentence=True)


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


def prepare_words(items: Sequence[Any], parser: Parser, limits: Limits) -> list[Prepared]:
    """Check the sentences of a request in words."""
    prepared: list[Prepared] = []
    n_characters = 0
    for number, each in enumerate(parser.prepare(items), 1):
        name, sentence = f"sentence {number}", each.sentence
        check_length(len(sentence), name, limits)
        for cell in (*sentence.forms, *sentence.upos, *sentence.xpos):
            _check_no_nul(cell, name)
        n_characters += sum(map(len, sentence.forms))
        check_characters(n_characters, limits)
        prepared.append(each)
    return prepared


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


def _estimate(text: str) -> int:
    """Estimate the number of words in a text, rather too high than too low."""
    return 1 + max(len(text) // CHARACTERS_PER_WORD, len(_PIECE.findall(text)))


def _check_no_nul(text: str, name: str) -> None:
    if "\0" in text:
        raise RefusedError(f"{name} has a NUL character (U+0000) in it; take it out")
