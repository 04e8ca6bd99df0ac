"""The answers to requests. Small requests are parsed together, large ones in slices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import Any

from easyfirst.inputs import Prepared
from easyfirst.parser import Parser
from easyfirst.results.documents import Document
from easyfirst.results.explanations import Explanation
from easyfirst.results.parses import Parse
from easyfirst.server.batching import SLICE
from easyfirst.server.constrained import CONSTRAINING, within_limit
from easyfirst.server.extras import PLAIN, Extras
from easyfirst.server.limits import Limits
from easyfirst.server.parse_request import EXPLAINING, ParseRequest, check_length, check_words, prepare_words
from easyfirst.text.language import warning_of
from easyfirst.text.sentences import TokenizedText
from easyfirst.text.steps import Steps, finish

WRITTEN = 4 * SLICE  # the number of words in a slice that writes JSON


@dataclass(frozen=True, slots=True)
class Answer:
    """The parses of a request."""

    parses: tuple[Parse, ...] = ()
    documents: tuple[Document, ...] = ()  # the texts with the same parses, if the request had texts
    explanations: tuple[Explanation, ...] = ()  # of the first parses
    warnings: tuple[str, ...] = ()
    extras: Extras = PLAIN  # what the request asks for besides the trees
    written: bytes = b""  # the sentences as a JSON list, if the request asks for it

    @property
    def sentences(self) -> tuple[Parse | Explanation, ...]:
        """The explanations of the first sentences and the parses of the others."""
        return (*self.explanations, *self.parses[len(self.explanations) :])

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """Yield what ``easyfirst parse --to json`` writes for each sentence, without ids, and the extras."""
        for number, (values, found) in enumerate(zip(self._plain(), self.sentences, strict=True), 1):
            yield values | self.extras.of(found, number)

    def _plain(self) -> Iterator[dict[str, Any]]:
        if not self.documents:
            return (parse.to_dict() for parse in self.parses)
        numbered = enumerate(self.documents, 1)
        return chain.from_iterable(document.sentence_dicts(number) for number, document in numbered)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A request whose texts are tokenized, and whose sentences are checked."""

    request: ParseRequest
    texts: Sequence[TokenizedText]
    sentences: Sequence[Prepared]
    n_explained: int  # the number of sentences to explain, from the first on

    @property
    def weight(self) -> int:
        return sum(self.weights())

    def weights(self) -> Iterator[int]:
        """Yield the work of each sentence, measured in parsed words."""
        for number, each in enumerate(self.sentences):
            cost = EXPLAINING * (number < self.n_explained) + CONSTRAINING * (each.rules is not None)
            yield len(each.sentence) * (1 + cost + self.request.extras.weight)


class Answerer:
    """Answers requests with a parser. Requests do not affect each other: with the compiled core, the result of a
    sentence does not depend on the batch it is parsed in, and with NumPy each request is parsed alone."""

    def __init__(self, parser: Parser, limits: Limits) -> None:
        self._parser, self._limits = parser, limits
        self._is_exact = parser.engine != "numpy"

    def __call__(self, requests: Sequence[ParseRequest]) -> list[Answer | Exception | Steps[Answer]]:
        """Answer small requests together. Return for each the answer, the error that refuses it, or the steps that are
        still to be taken, if a request turns out to be large."""
        if not self._is_exact:
            return [each for request in requests for each in self._together([request])]
        return self._together(requests)

    def steps(self, request: ParseRequest) -> Steps[Answer]:
        """Answer a large request in steps."""
        texts: list[TokenizedText] = []
        if request.texts:
            texts = yield from self._parser.require_tokenizer().text_steps(request.texts)
        return (yield from self._answer((yield from self._read(request, texts))))

    def _together(self, requests: Sequence[ParseRequest]) -> list[Answer | Exception | Steps[Answer]]:
        texts = [text for request in requests for text in request.texts]
        tokenized = iter(self._parser.tokenize(texts) if texts else ())
        readings = [self._try_to_read(request, list(islice(tokenized, len(request.texts)))) for request in requests]
        room = SLICE
        together: list[_Reading] = []
        for reading in readings:
            if isinstance(reading, _Reading) and reading.weight <= room:
                together.append(reading)
                room -= reading.weight
        unexplained = [each for reading in together for each in reading.sentences[reading.n_explained :]]
        parses = iter(self._parse(unexplained))
        answers = {id(reading): self._answer_now(reading, parses) for reading in together}
        return [
            each if isinstance(each, Exception) else answers.get(id(each)) or self._answer(each) for each in readings
        ]

    def _answer_now(self, reading: _Reading, parses: Iterator[Parse]) -> Answer:
        """Answer a small request with the next parses, and with explanations of its first sentences."""
        n = reading.n_explained
        explanations = tuple(map(self._explain, reading.sentences[:n]))
        answer = self._made(reading, explanations, list(islice(parses, len(reading.sentences) - n)))
        return replace(answer, written=_joined(map(to_json, answer.to_dicts()))) if reading.request.is_json else answer

    def _try_to_read(self, request: ParseRequest, texts: Sequence[TokenizedText]) -> _Reading | Exception:
        try:
            return finish(self._read(request, texts))
        except Exception as error:
            return error

    def _read(self, request: ParseRequest, texts: Sequence[TokenizedText]) -> Steps[_Reading]:
        """Prepare the sentences of a request in steps. Texts are checked against the limits, now that their words are
        known."""
        if request.texts:
            texts = [text.joined() for text in texts] if request.one_sentence else texts
            sentences = [Prepared(found) for text in texts for found in text.sentences()]
        else:
            sentences = yield from prepare_words(request, self._parser, self._limits)
        lengths = [len(each.sentence) for each in sentences]
        if texts:
            check_words(sum(lengths), self._limits)
            for number, length in enumerate(lengths, 1):
                check_length(length, f"sentence {number}", self._limits)
        n_explained = sum(end <= request.max_explained for end in accumulate(lengths))
        return _Reading(request, texts, sentences, n_explained)

    def _answer(self, reading: _Reading) -> Steps[Answer]:
        """Parse the sentences of a request and write them, in steps."""
        explanations: list[Explanation] = []
        parses: list[Parse] = []
        for begin, end in _slices(reading.weights(), SLICE):
            yield
            n = max(min(end, reading.n_explained), begin)
            explanations += map(self._explain, reading.sentences[begin:n])
            parses += self._parse(reading.sentences[n:end])
        yield
        answer = self._made(reading, explanations, parses)
        if not reading.request.is_json:
            return answer
        written: list[bytes] = []
        dicts = answer.to_dicts()
        cost = 1 + 2 * reading.request.extras.weight
        for begin, end in _slices((len(each.sentence) * cost for each in reading.sentences), WRITTEN):
            yield
            written += map(to_json, islice(dicts, end - begin))
        return replace(answer, written=_joined(written))

    def _parse(self, sentences: Sequence[Prepared]) -> list[Parse]:
        """Parse sentences together, but each with constraints alone, so that it does not depend on others."""
        free = iter(self._parser.parse_prepared([each for each in sentences if each.rules is None]))
        return [next(free) if each.rules is None else self._parse_constrained(each) for each in sentences]

    def _parse_constrained(self, each: Prepared) -> Parse:
        [parse] = within_limit(lambda: self._parser.parse_prepared([each]), self._limits)
        return parse

    def _explain(self, each: Prepared) -> Explanation:
        if each.rules is None:
            return self._parser.explain_prepared(each)
        return within_limit(lambda: self._parser.explain_prepared(each), self._limits)

    def _made(self, reading: _Reading, explanations: Sequence[Explanation], parses: Sequence[Parse]) -> Answer:
        """Make the answer to a request from the explanations of its first sentences and the parses of the others."""
        found = [*(each.parse for each in explanations), *parses]
        rest = iter(found)
        documents = tuple(Document.of(text, rest) for text in reading.texts)
        language = self._parser.language
        problem = language.problem(language.count(each.sentence for each in reading.sentences))
        warnings = (warning_of(problem),) if problem else ()
        return Answer(tuple(found), documents, tuple(explanations), warnings, reading.request.extras)


class Router:
    """Answers requests with the models they name."""

    def __init__(self, parsers: Mapping[str | None, Parser], limits: Limits) -> None:
        """``parsers``: by the names in requests; None is the model of requests without one."""
        self._answerers = {name: Answerer(parser, limits) for name, parser in parsers.items()}

    def __call__(self, requests: Sequence[ParseRequest]) -> list[Answer | Exception | Steps[Answer]]:
        """Answer the small requests of each model together, as :class:`Answerer` does."""
        by_model: dict[str | None, list[int]] = {}
        for place, request in enumerate(requests):
            by_model.setdefault(request.model, []).append(place)
        found: dict[int, Answer | Exception | Steps[Answer]] = {}
        for name, places in by_model.items():
            answers = self._answerers[name]([requests[place] for place in places])
            found.update(zip(places, answers, strict=True))
        return [found[place] for place in range(len(requests))]

    def steps(self, request: ParseRequest) -> Steps[Answer]:
        """Answer a large request in steps."""
        return self._answerers[request.model].steps(request)


def to_json(value: object) -> bytes:
    """Encode a value as one line of JSON in UTF-8, with a question mark for half of a pair of surrogates."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="replace")


def _joined(items: Iterable[bytes]) -> bytes:
    """Return a JSON list of items that are written already."""
    return b"[" + b", ".join(items) + b"]"


def _slices(weights: Iterable[int], most: int) -> Iterator[tuple[int, int]]:
    """Cut a sequence into slices (begin, end) of at most this weight, or of one item."""
    begin = end = total = 0
    for end, weight in enumerate(weights):
        if total and total + weight > most:
            yield begin, end
            begin, total = end, 0
        total += weight
    if total:
        yield begin, end + 1
