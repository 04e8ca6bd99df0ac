"""Search in parsed sentences: the subtrees nearest to a phrase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from easyfirst.errors import InputError
from easyfirst.inputs import chunks, tag
from easyfirst.meaning.nearest import Best, cosines
from easyfirst.model.lexicon import external_ids, ids_of, normalise
from easyfirst.nn.arrays import Floats
from easyfirst.parser import Parser
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree, check_tree, has_no_heads

WORDS_AT_ONCE = 4096
GAP = " ... "  # between the parts of a subtree that is not contiguous


@dataclass(frozen=True, slots=True)
class Hit:
    """A subtree that was found."""

    score: float
    """The similarity to the phrase, from -1 to 1."""
    text: str
    """The words of the subtree."""
    words: tuple[int, ...]
    """Their ids."""
    head: int
    """The id of the word that the subtree hangs from."""
    sentence: Sentence
    """The sentence, with its tree."""
    number: int
    """The number of the sentence, from 1."""

    def to_dict(self) -> dict[str, Any]:
        """Return the hit for JSON."""
        metadata, sentence = self.sentence.metadata, self.sentence
        return {
            "score": round(self.score, 4),
            "text": self.text,
            "head": self.head,
            "words": list(self.words),
            "relation": sentence.relations[self.head - 1],
            "sentence": self.number,
            "sent_id": metadata.get("sent_id"),
            "sentence_text": metadata.get("text", " ".join(sentence.forms)),
            "file": sentence.source,
            "line": sentence.line,
        }


@dataclass(frozen=True, slots=True)
class _Encoded:
    """The subtrees of a sentence."""

    sentence: Sentence
    tree: Tree
    by_tree: Floats  # (n_words, dim)
    by_words: Floats  # (n_words, dim)


def find_similar(
    parser: Parser,
    phrase: str,
    sentences: Iterable[Sentence],
    *,
    top: int = 10,
    words: float = 0.5,
    min_words: int = 1,
    max_words: int | None = None,
    report: Callable[[Sequence[Sentence]], None] | None = None,
) -> list[Hit]:
    """Return the subtrees of sentences that are most similar to a phrase, the best first.

    Two cosines make up the similarity: that of the encodings of the subtrees by the parser, which say most about their
    form, and that of the means of their words' vectors, which say most about their topic. ``words`` is the share of the
    second, from 0 to 1. Subtrees with the same words count once, whatever their case.

    ``sentences`` may be a stream of any length. Those without heads are parsed. ``report`` is called with the sentences
    of each chunk when it has been searched.
    """
    _check(top, words, min_words, max_words)
    query, share, number = _encode_phrase(parser, phrase), np.float32(words), 0
    best = Best[Hit](top)
    for chunk in chunks(sentences, len, None, WORDS_AT_ONCE):
        for found in _encode(parser, chunk):
            number += 1
            inside = [found.tree.subtree(m) for m in range(1, len(found.tree) + 1)]
            rows = [row for row, ids in enumerate(inside) if min_words <= len(ids) <= (max_words or len(ids))]
            scores = (1 - share) * cosines(found.by_tree[rows], query.by_tree[0])
            scores += share * cosines(found.by_words[rows], query.by_words[0])
            texts = [_text(found.sentence, inside[row]) for row in rows]

            def make(
                at: int, found: _Encoded = found, rows: list[int] = rows, texts: list[str] = texts, number: int = number
            ) -> Hit:
                ids = found.tree.subtree(rows[at] + 1)
                return Hit(0.0, texts[at], ids, rows[at] + 1, found.sentence, number)

            best.offer(scores, [text.lower() for text in texts], make)
        if report is not None:
            report(chunk)
    return [replace(hit, score=score) for score, hit in best.items()]


def _check(top: int, words: float, min_words: int, max_words: int | None) -> None:
    if top < 1:
        raise InputError(f"top is {top}; it must be 1 or more")
    if not 0 <= words <= 1:
        raise InputError(f"words is {words}; it is a share, from 0 to 1")
    if min_words < 1 or (max_words is not None and max_words < min_words):
        raise InputError("min_words must be 1 or more, and max_words not less than it")


def _encode_phrase(parser: Parser, phrase: str) -> _Encoded:
    """Encode a phrase as one subtree."""
    if parser.tokenizer is not None:
        [tokenized] = parser.tokenize([phrase], one_sentence=True)
        found = tokenized.sentences()
    else:
        found = [Sentence.from_words(words)] if (words := phrase.split()) else []
    if not found:
        raise InputError("the phrase has no words; give at least one")
    [encoded] = _encode(parser, found)
    row = [encoded.tree.root - 1]
    return _Encoded(encoded.sentence, encoded.tree, encoded.by_tree[row], encoded.by_words[row])


def _encode(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[_Encoded]:
    """Encode all subtrees of sentences; parse those that have no heads."""
    prepared = list(parser.prepare(sentences))
    bare = [each for each in prepared if has_no_heads(each.sentence)]
    others = [each for each in prepared if not has_no_heads(each.sentence)]
    parses = ((parse.tagged, parse.tree) for parse in parser.parse_prepared(bare))
    with_tags = (each.sentence for each in tag(others, parser.tagger, parser.model.vocabulary))
    known = zip(with_tags, (check_tree(each.sentence) for each in others), strict=True)
    pairs = [next(parses if has_no_heads(each.sentence) else known) for each in prepared]
    tagged, trees = [sentence for sentence, _ in pairs], [tree for _, tree in pairs]
    by_tree = parser.encoder.subtrees(tagged, trees)
    for sentence, tree, vectors in zip(tagged, trees, by_tree, strict=True):
        yield _Encoded(sentence.with_tree(tree.heads, tree.relations), tree, vectors, _by_words(parser, sentence, tree))


def _by_words(parser: Parser, sentence: Sentence, tree: Tree) -> Floats:
    """Return the sum of the words' vectors in the subtree of each word, which has the direction of their mean. They are
    those from outside, if the model has any, or else its own."""
    arrays, vocabulary = parser.model.arrays, parser.model.vocabulary
    if vocabulary.external is None:
        table, rows = arrays["words.embedding"], ids_of(vocabulary.words, map(normalise, sentence.forms))
    else:
        table, rows = arrays["words.external"], external_ids(vocabulary.external, sentence.forms)
    sums = table[rows].astype(np.float32)
    for m in sorted(range(1, len(tree) + 1), key=tree.depth, reverse=True):
        if head := tree.heads[m - 1]:
            sums[head - 1] += sums[m - 1]
    return sums


def _text(sentence: Sentence, ids: Sequence[int]) -> str:
    """Return the words of a subtree."""
    parts = [sentence.forms[ids[0] - 1]]
    for before, m in pairwise(ids):
        parts += [" " if m == before + 1 else GAP, sentence.forms[m - 1]]
    return "".join(parts)
