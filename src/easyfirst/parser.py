"""The parser as users see it: load a model, parse sentences.

>>> parser = easyfirst.load("my-model")  # doctest: +SKIP
>>> parser.parse([[("The", "DET"), ("fox", "NOUN"), ("jumps", "VERB")]])  # doctest: +SKIP
[Parse('The fox jumps', heads=(2, 3, 0), relations=('det', 'nsubj', 'root'))]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, TypeAlias, cast

from easyfirst.errors import InputError
from easyfirst.model.config import Config
from easyfirst.model.store import Model, load_model, save_model
from easyfirst.parsing.batch import BATCH_SIZE, MAX_BATCH_WORDS, BatchParser, Parse, check_tags
from easyfirst.treebank.sentence import Sentence

SentenceLike: TypeAlias = "Sentence | Sequence[str] | Sequence[tuple[str, str]] | Sequence[tuple[str, str, str]]"
"""What can be parsed: a list of words, of (word, tag) pairs, of (word, upos, xpos) triples, or a Sentence."""

N_BUFFERED = 8
"""How many batches :meth:`Parser.pipe` reads ahead, so that it can put sentences of similar length together."""

_Tags: TypeAlias = "list[str | None] | None"

_EXAMPLE = "as in [['The', 'fox', 'jumps']]"


def load(path: str | PathLike[str]) -> Parser:
    """The parser of a model directory; raises :class:`easyfirst.errors.ModelError` if it cannot be used."""
    return Parser(load_model(path))


class Parser:
    """A trained model, ready to parse. Parsing changes nothing in it, so threads may share one."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._batches = BatchParser.of(model.arrays, model.config, model.vocabulary)

    def __repr__(self) -> str:
        tags = " and ".join(kind.upper() for kind in self.needs_tags) or "no"
        n_words = len(self._model.vocabulary.words)
        return f"<Parser: preset {self.config.preset}, {tags} tags, {len(self.relations)} relations, {n_words:,} words>"

    @property
    def model(self) -> Model:
        """Everything the model directory holds."""
        return self._model

    @property
    def config(self) -> Config:
        return self._model.config

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations it can give, the most frequent first and the root's last."""
        vocabulary = self._model.vocabulary
        others = (relation for relation in vocabulary.relations if relation != vocabulary.root_relation)
        return (*others, vocabulary.root_relation)

    @property
    def needs_tags(self) -> tuple[str, ...]:
        """The tags sentences must have: ``("upos",)``, ``("xpos",)``, ``("upos", "xpos")``, or none: ``()``."""
        return self._batches.tag_kinds

    def parse(self, sentences: Iterable[SentenceLike], *, batch_size: int = BATCH_SIZE) -> list[Parse]:
        """The parses of all sentences, in their order.

        A sentence is a list of words, of (word, tag) pairs, of (word, upos, xpos) triples, or a :class:`Sentence`;
        kinds may be mixed. The tag of a pair is of the kind the model needs. :class:`easyfirst.errors.InputError` says
        which sentence cannot be parsed and what to do. ``batch_size`` sentences are parsed at once: more are faster.
        """
        _check_arguments(sentences, batch_size)
        return self._batches.parse(list(self._read(sentences)), batch_size=batch_size)

    def pipe(self, sentences: Iterable[SentenceLike], *, batch_size: int = BATCH_SIZE) -> Iterator[Parse]:
        """The parses one by one, in order, of an input of any length, even an endless one.

        It reads ahead up to 8 batches (``8 * batch_size`` sentences, or 49,152 words), parses them and gives them out
        before it reads on: memory stays bounded, and the first parse comes when that many sentences have been read or
        the input ends. With ``batch_size=1`` it does not read ahead: each parse comes before the next sentence is read.
        """
        _check_arguments(sentences, batch_size)
        return self._stream(self._read(sentences), batch_size)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a directory, from which :func:`load` gives the same parser."""
        save_model(path, self._model)

    def _stream(self, sentences: Iterator[Sentence], batch_size: int) -> Iterator[Parse]:
        for part in _parts(sentences, 1 if batch_size == 1 else N_BUFFERED * batch_size, N_BUFFERED * MAX_BATCH_WORDS):
            yield from self._batches.parse(part, batch_size=batch_size)

    def _read(self, sentences: Iterable[SentenceLike]) -> Iterator[Sentence]:
        for number, item in enumerate(sentences, 1):
            sentence = _to_sentence(item, number, self.needs_tags)
            check_tags(sentence, self.needs_tags, self._model.vocabulary, name=f"sentence {number}")
            yield sentence


def _check_arguments(sentences: object, batch_size: int) -> None:
    if isinstance(sentences, str | bytes):
        raise InputError(
            f"the input is the text {_short(sentences)}; split it into words and give a list of sentences, "
            f"each a list of words, {_EXAMPLE}"
        )
    if isinstance(sentences, Sentence):
        raise InputError("the input is one Sentence; give a list of sentences: [sentence]")
    if not isinstance(sentences, Iterable):
        raise InputError(f"the input is of type {type(sentences).__name__}; give a list of sentences, {_EXAMPLE}")
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1")


def _parts(sentences: Iterable[Sentence], n_sentences: int, n_words: int) -> Iterator[list[Sentence]]:
    """Cut a stream: a part ends when it has so many sentences or words."""
    part: list[Sentence] = []
    room = n_words
    for sentence in sentences:
        part.append(sentence)
        room -= len(sentence)
        if len(part) == n_sentences or room <= 0:
            yield part
            part, room = [], n_words
    if part:
        yield part


def _to_sentence(item: object, number: int, tag_kinds: tuple[str, ...]) -> Sentence:
    """A sentence from whatever the user gave."""
    name = f"sentence {number}"
    if isinstance(item, Sentence):
        words: list[Any] = list(item.forms)
    elif isinstance(item, str | bytes):
        raise InputError(f"{name} is the text {_short(item)}; give each sentence as a list of words, {_EXAMPLE}")
    elif isinstance(item, Iterable):
        words = list(cast("Iterable[Any]", item))
    else:
        raise InputError(f"{name} is of type {type(item).__name__}; give each sentence as a list of words, {_EXAMPLE}")
    if not words:
        raise InputError(f"{name} has no words; leave it out")
    if isinstance(item, Sentence):
        return item
    if all(isinstance(word, str) for word in words):
        if isinstance(item, tuple) and tag_kinds and len(words) == 1 + len(tag_kinds):
            raise InputError(
                f"{name} is the tuple {item!r}: without tags it cannot be parsed, and if it is a word with its tag, "
                "put the words of a sentence into a list"
            )
        forms, upos, xpos = words, None, None
    else:
        forms, upos, xpos = _split(words, name, tag_kinds)
    try:
        return Sentence.from_words(forms, upos=upos, xpos=xpos)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _split(words: list[Any], name: str, tag_kinds: tuple[str, ...]) -> tuple[list[str], _Tags, _Tags]:
    """Pairs or triples as forms, UPOS and XPOS."""
    rows: list[Sequence[Any]] = []
    for m, word in enumerate(words, 1):
        if not isinstance(word, tuple | list):
            raise InputError(f"{name}: word {m} is {word!r}; give words as texts or all of them as (word, tag) pairs")
        row = cast("Sequence[Any]", word)
        is_text = bool(row) and isinstance(row[0], str) and all(cell is None or isinstance(cell, str) for cell in row)
        if not is_text or len(row) not in (2, 3) or len(row) != len(words[0]):
            raise InputError(
                f"{name}: word {m} is {word!r}; give (word, tag) pairs or (word, upos, xpos) triples, all alike"
            )
        rows.append(row)
    forms, *tags = ([row[column] for row in rows] for column in range(len(rows[0])))
    if len(tags) == 2:
        return forms, tags[0], tags[1]
    if len(tag_kinds) == 2:
        raise InputError(f"{name} has one tag a word and the model needs two; give (word, upos, xpos) triples")
    return (forms, None, tags[0]) if tag_kinds == ("xpos",) else (forms, tags[0], None)


def _short(text: str | bytes) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:37]!r}..."
