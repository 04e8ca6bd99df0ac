"""The arguments of the facade: checked and turned into sentences. A mistake is an :class:`InputError`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from easyfirst.constraints.arguments import ConstraintsOf, check_type
from easyfirst.constraints.conflicts import compile_constraints
from easyfirst.constraints.records import Constraints
from easyfirst.constraints.rules import Rules
from easyfirst.errors import ConfigError, DataError, InputError
from easyfirst.model.lexicon import tags_of
from easyfirst.model.parser_config import MAX_BEAM
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.text.tagging import Tagged, Tagger
from easyfirst.treebank.columns import TAGSETS
from easyfirst.treebank.guidelines import TAGS as UNIVERSAL
from easyfirst.treebank.sentence import Sentence

SentenceLike: TypeAlias = "Sentence | Sequence[str] | Sequence[tuple[str, str]] | Sequence[tuple[str, str, str]]"
"""A sentence to parse: a list of words, of (word, tag) pairs, of (word, upos, xpos) triples, or a Sentence."""


class Prepared(NamedTuple):
    """A sentence that the model can parse, and the constraints on it."""

    sentence: Sentence
    constraints: Constraints | None = None
    rules: Rules | None = None


_T = TypeVar("_T")
_Tags: TypeAlias = "list[str | None] | None"

_EXAMPLE = "as in [['The', 'fox', 'jumps']]"
_WITH_FEATS = "a Sentence with FEATS, from read_conllu or Sentence.with_tags"


def check_sentences(sentences: object) -> None:
    """Raise an :class:`InputError` for a text, a single sentence, or anything that cannot hold sentences."""
    if isinstance(sentences, str | bytes):
        raise InputError(
            f"the input is the text {_short(sentences)}; split it into words and give a list of sentences, "
            f"each a list of words, {_EXAMPLE}"
        )
    if isinstance(sentences, Sentence):
        raise InputError("the input is one Sentence; give a list of sentences: [sentence]")
    if not isinstance(sentences, Iterable):
        raise InputError(f"the input is of type {type(sentences).__name__}; give a list of sentences, {_EXAMPLE}")


def check_texts(texts: object) -> None:
    """Raise an :class:`InputError` for a single text, or anything that cannot hold texts."""
    if isinstance(texts, str):
        raise InputError("the input is one text; give a list of texts: [text]")
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputError(f"the input is of type {type(texts).__name__}; give a list of texts: [text]")


def check_batch_size(batch_size: int) -> None:
    """Raise an :class:`InputError` unless the batch size is positive."""
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1")


def check_threads(threads: object) -> None:
    """Raise an :class:`InputError` unless the number of threads is a positive integer."""
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise InputError(f"threads is of type {type(threads).__name__}; it must be an integer of at least 1")
    if threads < 1:
        raise InputError(f"threads is {threads}; it must be at least 1")


def check_beam(beam: object, n_best: object, constraints: object = None) -> None:
    """Raise a :class:`ConfigError` unless the beam and the number of trees are possible, also with constraints."""
    for name, value in (("beam", beam), ("n_best", n_best)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(f"{name} is of type {type(value).__name__}; it must be an integer")
    width, n_trees = cast("int", beam), cast("int", n_best)
    if not 1 <= width <= MAX_BEAM:
        raise ConfigError(f"beam is {width}; it must be from 1 to {MAX_BEAM}")
    if n_trees < 1:
        raise ConfigError(f"n_best is {n_trees}; it must be at least 1")
    if n_trees > width:
        raise ConfigError(
            f"n_best is {n_trees}, but a beam of {width} finds at most {width} tree{'s' * (width > 1)}; "
            f"raise beam to {n_trees} or more"
        )
    if width > 1 and constraints is not None:
        raise ConfigError("constraints restrict the greedy parser only; leave them out, or parse with a beam of 1")


def check_reads_text(tokenizer: _T | None, needs: Sequence[str]) -> _T:
    """Return the tokenizer. Raise an :class:`InputError` if there is none, or nothing predicts the tags it needs."""
    tags = " and ".join(kind.upper() for kind in needs)
    if tokenizer is None:
        words, parts = (f"words with {tags} tags", "tokenizer,tagger") if tags else ("lists of words", "tokenizer")
        raise InputError(
            f"the model has no tokenizer, so it cannot read raw text; give {words}, or train what it lacks "
            f"(easyfirst train --parts {parts})"
        )
    if tags:
        raise InputError(
            f"the model needs {tags} tags and has no tagger to predict them, so it cannot read raw text; give "
            "sentences with tags, or train a tagger (easyfirst train --parts tagger)"
        )
    return tokenizer


def check_tags(
    sentence: Sentence,
    tag_kinds: Sequence[str],
    vocabulary: ParserVocabulary | None = None,
    *,
    name: str = "this sentence",
) -> None:
    """Raise an error if a sentence has no tags of a kind that is needed (a single ``_`` counts as an unknown tag),
    unless the vocabulary has ``_`` as a tag because words of the treebank had none.

    It is a :class:`DataError` with file and line if the sentence comes from a file, else an :class:`InputError`.
    """
    for kind in tag_kinds:
        if any(tag != "_" for tag in tags_of(sentence, kind)):
            continue
        if vocabulary is not None and "_" in vocabulary.tags[kind]:
            continue
        column = kind.upper()
        message = f"the model needs {column} tags and {name} has none, from word 1 {sentence.forms[0]!r} on"
        other_model = "a model trained with --tags none"
        if sentence.source is not None:
            tagger = "add a tagger to the model (easyfirst train --parts tagger)"
            message = f"{message}; give CoNLL-U with {column} filled in, {tagger}, or use {other_model}"
            raise DataError(message, source=sentence.source, line=sentence.word_line(0))
        words = "(word, upos, xpos) triples" if len(tag_kinds) > 1 else "(word, tag) pairs"
        words = _WITH_FEATS if "feats" in tag_kinds else words
        raise InputError(f"{message}; give {words}, or use {other_model}")


def known_tags(kind: str, vocabulary: ParserVocabulary) -> Collection[str]:
    """Return the tags of a kind that a model knows. To one with universal tags, these are all universal tags."""
    known = vocabulary.tags[kind].keys()
    return UNIVERSAL if kind == "upos" and known <= UNIVERSAL else known


def with_known_tagsets(sentence: Sentence, tag_kinds: Sequence[str], vocabulary: ParserVocabulary) -> Sentence:
    """Return a sentence without the UPOS or XPOS tags, if they are of these kinds and the model knows less than half of
    them: they are of another tagset, in which tags that look the same may have another meaning, so they are predicted.
    Features and lemmas stay."""
    changed: dict[str, list[str]] = {}
    for kind in (kind for kind in tag_kinds if kind in TAGSETS):
        tags = tags_of(sentence, kind)
        rows = vocabulary.tags.get(kind)
        if rows is None or all(tag in rows or tag == "_" for tag in set(tags)):
            continue
        tagset = known_tags(kind, vocabulary)
        given = [tag for tag in tags if tag != "_"]
        if 2 * sum(tag in tagset for tag in given) < len(given):
            changed[kind] = ["_"] * len(tags)
    return sentence.with_tags(**changed) if changed else sentence


def tag(prepared: Iterable[Prepared], tagger: Tagger | None, vocabulary: ParserVocabulary) -> list[Tagged]:
    """Return sentences with predicted tags where theirs are missing, or of another tagset."""
    sentences = [each.sentence for each in prepared]
    if tagger is None:
        return list(map(Tagged, sentences))
    return tagger.tag_with_scores([with_known_tagsets(sentence, tagger.kinds, vocabulary) for sentence in sentences])


def prepare_from_text(sentence: Sentence, constraints: ConstraintsOf | None, vocabulary: ParserVocabulary) -> Prepared:
    """Compile the constraints on a sentence of a text."""
    if constraints is None:
        return Prepared(sentence)
    known, name = check_type(constraints(sentence)), f"the sentence {' '.join(sentence.forms)!r}"
    return Prepared(sentence, known, compile_constraints(sentence, known, vocabulary, name=name))


def texts_only(texts: Iterable[object]) -> Iterator[str]:
    """Pass texts through; raise an :class:`InputError` at anything else, and at a text with a NUL in it."""
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} is of type {type(text).__name__}; give texts")
        if "\0" in text:
            place = f"at character {text.index(chr(0)):,}"
            raise InputError(f"text {number} has a NUL character (U+0000) in it, {place}; take it out")
        yield text


def chunks(items: Iterable[_T], size: Callable[[_T], int], max_items: int | None, max_size: int) -> Iterator[list[_T]]:
    """Cut a stream: a chunk ends when it has ``max_items``, or when the sizes of its items add up to ``max_size``."""
    chunk: list[_T] = []
    room = max_size
    for item in items:
        chunk.append(item)
        room -= size(item)
        if len(chunk) == max_items or room <= 0:
            yield chunk
            chunk, room = [], max_size
    if chunk:
        yield chunk


def to_sentence(item: object, number: int, *, reads: tuple[str, ...], needs: tuple[str, ...]) -> Sentence:
    """Make a sentence from a user's item. ``reads``: the kinds of tags the parser reads; ``needs``: those that must
    be given."""
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
    if "feats" in needs:
        raise InputError(
            f"{name} has no FEATS, and the model needs them and has no tagger to predict them; give {_WITH_FEATS}"
        )
    if all(isinstance(word, str) for word in words):
        if isinstance(item, tuple) and needs and len(words) == 1 + len(needs):
            raise InputError(
                f"{name} is the tuple {item!r}: without tags it cannot be parsed, and if it is a word with its tag, "
                "put the words of a sentence into a list"
            )
        forms, upos, xpos = words, None, None
    else:
        forms, upos, xpos = _split(words, name, reads, needs)
    try:
        return Sentence.from_words(forms, upos=upos, xpos=xpos)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _split(
    words: list[Any], name: str, reads: tuple[str, ...], needs: tuple[str, ...]
) -> tuple[list[str], _Tags, _Tags]:
    """Split pairs or triples into forms, UPOS and XPOS."""
    rows: list[Sequence[Any]] = []
    kind = str if isinstance(words[0], str) else (tuple, list)
    for m, word in enumerate(words, 1):
        if not isinstance(word, kind):
            raise InputError(f"{name}: word {m} is {word!r}; give words as texts or all of them as (word, tag) pairs")
    for m, word in enumerate(words, 1):
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
    if "xpos" in reads and "upos" not in reads:
        return forms, None, tags[0]
    if "xpos" in needs:
        what = "the model needs two" if "upos" in needs else "the model needs XPOS, but one tag is taken as UPOS"
        raise InputError(f"{name} has one tag a word and {what}; give (word, upos, xpos) triples")
    return forms, tags[0], None


def _short(text: str | bytes) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:37]!r}..."
