"""What a request asks for: texts, or sentences in words; read from JSON, where every mistake gets a clear message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pydantic_core import from_json

from easyfirst.inputs import check_tags, to_sentence
from easyfirst.parser import Parser
from easyfirst.server.limits import Limits
from easyfirst.server.refusals import BadRequestError, RefusedError, TooLargeError
from easyfirst.treebank.sentence import Sentence

KEYS = ("text", "sentences", "tokens")
EXAMPLE = 'as in {"text": "The fox jumps. It likes apples."}'
CHARACTERS_A_WORD = 5
"""About as many, with the white space; to guess how much work a text is."""
EXPLAINING = 3
"""To explain a word is about as many times the work of parsing it."""
NUL = "\0"


@dataclass(frozen=True, slots=True)
class Texts:
    """Raw texts."""

    texts: tuple[str, ...]
    one_sentence: bool
    """Each is one sentence."""
    max_explained: int = 0
    """How many words are to be explained at most; see answers."""

    @property
    def weight(self) -> int:
        return _weight(1 + sum(map(len, self.texts)) // CHARACTERS_A_WORD, self.max_explained)


@dataclass(frozen=True, slots=True)
class Given:
    """Sentences in words."""

    sentences: tuple[Sentence, ...]
    max_explained: int = 0

    @property
    def weight(self) -> int:
        return _weight(sum(map(len, self.sentences)), self.max_explained)


Asked: TypeAlias = "Texts | Given"


def read_asked(body: bytes, parser: Parser, limits: Limits) -> Asked:
    """What the body of a request asks for, if this parser can do it and it is within the limits as far as can be
    known before a text is tokenized."""
    values = _read_object(body)
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise RefusedError(f"unknown key {unknown[0]!r}; give one of text, sentences and tokens, {EXAMPLE}")
    if len(values) != 1:
        found = " and ".join(values) or "none"
        raise RefusedError(f"give one of text, sentences and tokens, not {found}, {EXAMPLE}")
    [(key, value)] = values.items()
    if key == "tokens":
        return words_asked(_list_of(value, key, "lists of words"), parser, limits)
    if key == "text":
        return texts_asked([value], parser, limits, one_sentence=False)
    return texts_asked(_list_of(value, key, "texts"), parser, limits, one_sentence=True)


def texts_asked(texts: Sequence[object], parser: Parser, limits: Limits, *, one_sentence: bool) -> Texts:
    """Texts to be read by the parser's tokenizer."""
    found: list[str] = []
    for number, text in enumerate(texts, 1):
        name = f"sentence {number}" if one_sentence else "text"
        if not isinstance(text, str):
            raise RefusedError(f"{name} is {_kind(text)}; give a string")
        _check_characters(text, name)
        found.append(text)
    parser.read(())  # which says so if it cannot read texts
    check_words(sum(len(text.split()) for text in found), limits, "at least ")
    return Texts(tuple(found), one_sentence)


def words_asked(items: Sequence[object], parser: Parser, limits: Limits) -> Given:
    """Sentences in words, with or without tags."""
    check_words(sum(len(cast("list[Any]", item)) for item in items if isinstance(item, list)), limits)
    sentences: list[Sentence] = []
    for number, item in enumerate(items, 1):
        sentence = _sentence(item, number, parser)
        check_length(len(sentence), f"sentence {number}", limits)
        for cell in (*sentence.forms, *sentence.upos, *sentence.xpos):
            _check_characters(cell, f"sentence {number}")
        sentences.append(sentence)
    return Given(tuple(sentences))


def check_words(n_words: int, limits: Limits, least: str = "") -> None:
    """Not more than a request may have."""
    if n_words > limits.max_words:
        raise TooLargeError(
            f"the request has {least}{n_words:,} words; this server takes up to {limits.max_words:,} at a time: "
            "send several requests"
        )


def check_length(n_words: int, name: str, limits: Limits) -> None:
    """Not more than a sentence may have."""
    if n_words > limits.max_sentence_words:
        raise RefusedError(
            f"{name} has {n_words:,} words; this server takes up to {limits.max_sentence_words:,}: split it"
        )


def _weight(n_words: int, max_explained: int) -> int:
    """In words that are parsed."""
    return n_words + EXPLAINING * min(n_words, max_explained)


def _sentence(item: object, number: int, parser: Parser) -> Sentence:
    sentence = to_sentence(item, number, reads=parser.reads_tags, needs=parser.needs_tags)
    check_tags(sentence, parser.needs_tags, parser.model.vocabulary, name=f"sentence {number}")
    return sentence


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        hint = " (half of a pair of surrogates is no character)" if "hex escape" in str(error) else ""
        raise BadRequestError(f"the body is not JSON: {error}{hint}; send it {EXAMPLE}") from None
    if not isinstance(values, dict):
        raise RefusedError(f"the body is {_kind(values)}; send an object, {EXAMPLE}")
    return cast("dict[str, Any]", values)


def _list_of(value: object, key: str, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise RefusedError(f"{key} is {_kind(value)}; give a list of {what}")
    return cast("list[Any]", value)


def _kind(value: object) -> str:
    """What a value is in the words of JSON."""
    kinds = {str: "a string", bool: "a boolean", list: "a list", dict: "an object", type(None): "null"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "a number")


def _check_characters(text: str, name: str) -> None:
    if NUL in text:
        raise RefusedError(f"{name} has a NUL character (U+0000) in it; take it out")
