"""What the parser makes of several requests at a time: what ``easyfirst parse --to json`` writes, for each of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, TypeAlias

from easyfirst.parser import Parser
from easyfirst.results.documents import Document
from easyfirst.results.explanations import Explanation
from easyfirst.results.parses import Parse
from easyfirst.server.asked import Asked, Given, Texts, check_length, check_words
from easyfirst.server.limits import Limits
from easyfirst.server.refusals import RefusedError
from easyfirst.text.sentences import joined, sentences_of
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence

SentenceAnswer: TypeAlias = "dict[str, Any]"
"""What the API sends. If it was explained, ``notes`` has for each word what was chosen and the runners-up, in words."""
Tokenized: TypeAlias = "tuple[str, list[list[Token]]]"
"""A text and the tokens of its sentences."""


class Answerer:
    """Parses requests together."""

    def __init__(self, parser: Parser, limits: Limits) -> None:
        self._parser = parser
        self._limits = limits

    def __call__(self, requests: Sequence[Asked]) -> list[list[SentenceAnswer] | Exception]:
        """The sentences of each request, or why it is refused. What a request gets does not depend on the others."""
        texts = self._tokenize([asked for asked in requests if isinstance(asked, Texts)])
        read: list[list[Tokenized]] = [next(texts) if isinstance(asked, Texts) else [] for asked in requests]
        sentences = [self._sentences(asked, found) for asked, found in zip(requests, read, strict=True)]
        parses = iter(self._parser.parse([s for made in sentences if isinstance(made, list) for s in made]))
        return [
            made if isinstance(made, RefusedError) else self._answer(asked, found, list(islice(parses, len(made))))
            for asked, found, made in zip(requests, read, sentences, strict=True)
        ]

    def _tokenize(self, requests: Sequence[Texts]) -> Iterator[list[Tokenized]]:
        """The texts of each request with their tokens."""
        tokenizer = self._parser.tokenizer
        texts = [text for asked in requests for text in asked.texts]
        found = iter(tokenizer.tokenize_all(texts) if tokenizer is not None and texts else [])
        for asked in requests:
            tokenized = list(zip(asked.texts, islice(found, len(asked.texts)), strict=True))
            yield [(text, joined(parts)) for text, parts in tokenized] if asked.one_sentence else tokenized

    def _sentences(self, asked: Asked, tokenized: Sequence[Tokenized]) -> list[Sentence] | RefusedError:
        if isinstance(asked, Given):
            return list(asked.sentences)
        made = [sentence for text, tokens in tokenized for sentence in sentences_of(text, tokens)]
        try:
            check_words(sum(map(len, made)), self._limits)
            for number, sentence in enumerate(made, 1):
                check_length(len(sentence), f"sentence {number}", self._limits)
        except RefusedError as error:
            return error
        return made

    def _answer(self, asked: Asked, tokenized: Sequence[Tokenized], parses: list[Parse]) -> list[SentenceAnswer]:
        explanations = self._explain(parses, asked.max_explained)
        parses = [found.parse for found in explanations] + parses[len(explanations) :]
        answers = _answers(asked, tokenized, parses)
        for answer, found in zip(answers, explanations, strict=False):
            answer["notes"] = found.drawing().notes
        return answers

    def _explain(self, parses: Sequence[Parse], max_words: int) -> list[Explanation]:
        """The first sentences, as many as have no more words together."""
        ends = accumulate(map(len, parses))
        return [self._parser.explain(parse.tagged) for parse, end in zip(parses, ends, strict=True) if end <= max_words]


def to_json(value: object) -> bytes:
    """In one line of UTF-8; half of a pair of surrogates, which UTF-8 has not, is a question mark."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="replace")


def _answers(asked: Asked, tokenized: Sequence[Tokenized], parses: list[Parse]) -> list[SentenceAnswer]:
    if isinstance(asked, Given):
        return [parse.to_dict() for parse in parses]
    answers: list[SentenceAnswer] = []
    rest = iter(parses)
    for number, (text, tokens) in enumerate(tokenized, 1):
        document = Document(text, tuple(islice(rest, len(tokens))), tuple(map(tuple, tokens)))
        for n, found in enumerate(tokens):
            begin = {"document": number, "document_start": 0, "text": text[found[0].start : found[-1].end]}
            answers.append(begin | document.sentence_dict(n))
    return answers
