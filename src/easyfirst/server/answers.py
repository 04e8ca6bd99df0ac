"""The answers to several requests, which are parsed in one batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

from easyfirst.inputs import Prepared
from easyfirst.parser import Parser
from easyfirst.results.documents import Document
from easyfirst.results.explanations import Explanation
from easyfirst.results.parses import Parse
from easyfirst.server.limits import Limits, RefusedError
from easyfirst.server.parse_request import ParseRequest, check_length, check_words
from easyfirst.text.language import warning_of
from easyfirst.text.sentences import TokenizedText


@dataclass(frozen=True, slots=True)
class Answer:
    """The parses of a request."""

    parses: tuple[Parse, ...] = ()
    documents: tuple[Document, ...] = ()  # the texts with the same parses, if the request had texts
    explanations: tuple[Explanation, ...] = ()  # of the first parses
    warnings: tuple[str, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return what ``easyfirst parse --to json`` writes for each sentence."""
        if not self.documents:
            return [parse.to_dict() for parse in self.parses]
        return [found for number, document in enumerate(self.documents, 1) for found in document.sentence_dicts(number)]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A request whose texts are tokenized."""

    texts: Sequence[TokenizedText]
    sentences: Sequence[Prepared]
    n_explained: int  # the number of sentences to explain, from the first on


class Answerer:
    """Parses the sentences of several requests in one batch."""

    def __init__(self, parser: Parser, limits: Limits) -> None:
        self._parser, self._limits = parser, limits

    def __call__(self, requests: Sequence[ParseRequest]) -> list[Answer | Exception]:
        """Return the answer to each request, or the error that refuses it. Requests do not affect each other."""
        texts = [text for request in requests for text in request.texts]
        tokenized = iter(self._parser.tokenize(texts) if texts else ())
        readings = [self._read(request, list(islice(tokenized, len(request.texts)))) for request in requests]
        accepted = [reading for reading in readings if isinstance(reading, _Reading)]
        unexplained = [each for reading in accepted for each in reading.sentences[reading.n_explained :]]
        parses = iter(self._parser.parse_prepared(unexplained))
        return [self._answer(each, parses) if isinstance(each, _Reading) else each for each in readings]

    def _read(self, request: ParseRequest, texts: Sequence[TokenizedText]) -> _Reading | RefusedError:
        """Prepare the sentences of a request. Texts are checked against the limits, now that their words are known."""
        texts = [text.joined() for text in texts] if request.one_sentence else texts
        sentences = request.sentences or [Prepared(found) for text in texts for found in text.sentences()]
        lengths = [len(each.sentence) for each in sentences]
        try:
            if texts:
                check_words(sum(lengths), self._limits)
                for number, length in enumerate(lengths, 1):
                    check_length(length, f"sentence {number}", self._limits)
        except RefusedError as error:
            return error
        return _Reading(texts, sentences, sum(end <= request.max_explained for end in accumulate(lengths)))

    def _answer(self, reading: _Reading, parses: Iterator[Parse]) -> Answer:
        """Answer a request with the next parses, and with explanations of its first sentences."""
        n = reading.n_explained
        explanations = tuple(map(self._parser.explain_prepared, reading.sentences[:n]))
        found = [each.parse for each in explanations]
        found += islice(parses, len(reading.sentences) - n)
        rest = iter(found)
        documents = tuple(Document.of(text, rest) for text in reading.texts)
        language = self._parser.language
        problem = language.problem(language.count(each.sentence for each in reading.sentences))
        return Answer(tuple(found), documents, explanations, (warning_of(problem),) if problem else ())


def to_json(value: object) -> bytes:
    """Encode a value as one line of JSON in UTF-8, with a question mark for half of a pair of surrogates."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="replace")
