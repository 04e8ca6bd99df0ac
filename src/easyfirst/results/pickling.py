"""Parses and documents as few values, so that they pickle small.

A parse has its derivation twice: as the steps of the parser and as the tree they lead to. A document has its words
three times: in the text, in the tokens and in the sentences. Each is stored once, and what cannot be derived from the
rest beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from easyfirst.confidence.calibration import Calibration
from easyfirst.constraints.records import Constraints
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.validity import Change
from easyfirst.results.rankings import Ranking
from easyfirst.text.sentences import sentences_of
from easyfirst.treebank.pickling import TEXT_COLUMNS, pack_texts, unpack_texts
from easyfirst.treebank.raw_text import Place, Token
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from easyfirst.results.documents import Document
    from easyfirst.results.parses import Parse

Changed = dict[str, Any]  # the packed columns in which a sentence differs from another one


def pack_parse(parse: Parse) -> tuple[Any, ...]:
    """Return the arguments of :func:`restore_parse`."""
    return (parse.sentence, _pack_place(parse.place), *_pack_tree(parse))


def restore_parse(sentence: Sentence, place: tuple[Any, ...] | None, *packed: Any) -> Parse:
    """Return the parse of :func:`pack_parse`."""
    parse = _restore_tree(sentence, *packed)
    return parse if place is None else parse.at(_restore_place(place))


def pack_document(document: Document) -> tuple[Any, ...]:
    """Return the arguments of :func:`restore_document`."""
    found = sentences_of(document.text, document.tokens)
    parses: list[tuple[Any, ...]] = []
    for parse, sentence in zip(document, found, strict=True):
        parses.append((_changed_from(parse.sentence, sentence), *_pack_tree(parse)))
    return (document.text, _pack_tokens(document.text, document.tokens), parses)


def restore_document(text: str, packed: tuple[Any, ...], parses: Sequence[tuple[Any, ...]]) -> Document:
    """Return the document of :func:`pack_document`."""
    from easyfirst.results.documents import Document

    tokens = _restore_tokens(text, *packed)
    found: list[Parse] = []
    for sentence, (given, *tree) in zip(sentences_of(text, tokens), parses, strict=True):
        found.append(_restore_tree(_with_changed_from(sentence, given), *tree))
    return Document(text, tuple(found), tokens)


def _pack_tree(parse: Parse) -> tuple[Any, ...]:
    """Return all of a parse but its sentence."""
    tagged = _changed_from(parse.tagged, parse.sentence)
    relations = pack_texts(parse.relations)
    steps = _pack_steps(parse)
    # the trees of one sentence share its words
    others = tuple((_changed_from(each.sentence, parse.sentence), *_pack_tree(each)) for each in parse.alternatives)
    rest = (parse.calibration, parse.constraints, parse.changes, parse.ranking, others)
    n_known = 5 if parse.ranking is not None else 3 if parse.changes else 2 if parse.constraints is not None else 1
    known = rest[:n_known]
    return (tagged, _integers(parse.heads), relations, steps, *known)


def _restore_tree(
    sentence: Sentence,
    tagged: Sentence | Changed,
    heads: bytes,
    relations: Any,
    steps: tuple[Any, ...],
    calibration: Calibration | None = None,
    constraints: Constraints | None = None,
    changes: tuple[Change, ...] = (),
    ranking: Ranking | None = None,
    others: Sequence[tuple[Any, ...]] = (),
) -> Parse:
    from easyfirst.results.parses import Parse

    given = _with_changed_from(sentence, tagged)
    found = tuple(_read_integers(heads).tolist())
    labels: Any = unpack_texts(relations, len(found))
    derivation = _restore_steps(found, labels, *steps)
    rest = (calibration, constraints, changes)
    alternatives = tuple(_restore_tree(_with_changed_from(sentence, of), *tree) for of, *tree in others)
    return Parse(sentence, found, labels, derivation, given, *rest, ranking=ranking, alternatives=alternatives)


def _pack_steps(parse: Parse) -> tuple[Any, ...]:
    """Return the derivation: the order of the words, the numbers, and what differs from the tree."""
    steps = parse.steps
    modifiers: list[int] = steps.modifiers.tolist()
    heads = tuple(parse.heads[m - 1] for m in modifiers)
    relations = tuple(parse.relations[m - 1] for m in modifiers)
    lost_margins = () if steps.lost_margins is None else (steps.lost_margins,)
    arrays = (steps.scores, steps.margins, steps.label_margins, *lost_margins)
    numbers = np.concatenate(arrays).astype("<f4").tobytes()
    same_heads, same_relations = steps.heads.tolist() == list(heads), steps.relations == relations
    is_same_root = steps.root_relation == parse.relations[steps.root - 1]
    differs = (
        None if same_heads else _integers(steps.heads),
        None if same_relations else steps.relations,
        None if is_same_root else steps.root_relation,
        steps.marks,
        steps.relation_scores,
    )
    plain = (_integers(steps.modifiers), numbers)
    return plain if differs == (None, None, None, (), None) else (*plain, *differs)


def _restore_steps(
    heads: tuple[int, ...],
    relations: tuple[str, ...],
    modifiers: bytes,
    numbers: bytes,
    other_heads: bytes | None = None,
    other_relations: tuple[str, ...] | None = None,
    root_relation: str | None = None,
    marks: tuple[Any, ...] = (),
    relation_scores: Any = None,
) -> Derivation:
    order = _read_integers(modifiers)
    of_steps = np.asarray(heads, np.int32)[order - 1] if other_heads is None else _read_integers(other_heads)
    places: list[int] = (order - 1).tolist()
    names = tuple(relations[place] for place in places) if other_relations is None else other_relations
    n = len(order)
    scores, margins, label_margins, lost_margins = np.split(
        np.frombuffer(numbers, "<f4").astype(np.float32), (n, 2 * n, 3 * n)
    )
    rest = relation_scores, marks, lost_margins if len(lost_margins) else None
    root = len(heads) * (len(heads) + 1) // 2 - int(order.sum(dtype=np.int64))
    last = relations[root - 1] if root_relation is None else root_relation
    return Derivation(of_steps, order, names, last, scores, margins, label_margins, *rest)


def _changed_from(sentence: Sentence, other: Sentence) -> Sentence | Changed:
    """Return what makes a sentence of another one: the columns in which it differs, or all of it."""
    columns = _changed(sentence, other)
    return sentence if columns is None else columns


def _with_changed_from(sentence: Sentence, changed: Sentence | Changed) -> Sentence:
    return changed if isinstance(changed, Sentence) else _with_changed(sentence, changed)


def _changed(sentence: Sentence, other: Sentence) -> Changed | None:
    """Return the packed columns in which a sentence differs from another one, or None if more than columns differ."""
    if sentence is other:
        return {}
    names = [name for name in TEXT_COLUMNS if getattr(sentence, name) != getattr(other, name)]
    columns = {name: pack_texts(getattr(sentence, name), name) for name in names}
    return columns if _with_changed(other, columns) == sentence else None


def _with_changed(sentence: Sentence, columns: Changed) -> Sentence:
    if not columns:
        return sentence
    unpacked = {name: unpack_texts(cells, len(sentence), name) for name, cells in columns.items()}
    return replace(sentence, **unpacked)  # pyright: ignore[reportArgumentType]


def _pack_place(place: Place | None) -> tuple[Any, ...] | None:
    """Return the part of the text that belongs to a sentence, where it is, and the tokens in it."""
    if place is None:
        return None
    own = place.shortened()
    tokens = [_moved(token, -own.offset) for token in own.tokens]
    return (own.text, own.offset, *_pack_tokens(own.text, [tokens]))


def _restore_place(packed: tuple[Any, ...]) -> Place:
    text, offset, *rest = packed
    [tokens] = _restore_tokens(text, *rest)
    return Place(text, tuple(_moved(token, offset) for token in tokens), offset)


def _moved(token: Token, by: int) -> Token:
    return Token(token.start + by, token.end + by, token.words)


def _pack_tokens(text: str, sentences: Sequence[Sequence[Token]]) -> tuple[bytes, bytes, dict[int, tuple[str, ...]]]:
    """Return the number of tokens in each sentence, their positions, each from the end of the one before, and the words
    of those that are not a single word as it is written."""
    steps: list[int] = []
    words: dict[int, tuple[str, ...]] = {}
    end = 0
    for number, token in enumerate(chain.from_iterable(sentences)):
        steps += (token.start - end, token.end - token.start)
        end = token.end
        if token.words != (text[token.start : token.end],):
            words[number] = token.words
    return _integers([len(tokens) for tokens in sentences]), _integers(steps), words


def _restore_tokens(
    text: str, counts: bytes, steps: bytes, words: dict[int, tuple[str, ...]]
) -> tuple[tuple[Token, ...], ...]:
    ends = iter(np.cumsum(_read_integers(steps), dtype=np.int64).tolist())
    places = enumerate(zip(ends, ends, strict=True))
    tokens = (Token(start, end, words.get(number) or (text[start:end],)) for number, (start, end) in places)
    return tuple(tuple(islice(tokens, n)) for n in _read_integers(counts).tolist())


def _integers(values: Any) -> bytes:
    """Return integers from 0 as bytes: how many each takes, then the integers."""
    array = np.asarray(values, np.int64)
    width = 1 if not array.size or array.max() < 256 else 2 if array.max() < 65536 else 4
    return bytes([width]) + array.astype(f"<u{width}").tobytes()


def _read_integers(packed: bytes) -> npt.NDArray[np.int32]:
    return np.frombuffer(packed, f"<u{packed[0]}", offset=1).astype(np.int32)
