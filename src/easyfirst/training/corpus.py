"""The parser's training sentences as arrays, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from easyfirst.model.lexicon import UNKNOWN
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.words import WordIds
from easyfirst.parsing.oracle import NOT_ANNOTATED, Gold, rows_of_heads
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class ParserBatch:
    """A batch of sentences, longest first."""

    lengths: Ints
    ids: WordIds
    gold: Gold
    forms: Sequence[Sequence[str]] = ()  # the words of each sentence, for a pretrained encoder

    @property
    def n_words(self) -> int:
        return int(self.lengths.sum())


class ParserCorpus:
    """The training sentences. Their known heads and relations fit projective trees."""

    def __init__(self, sentences: Sequence[Sentence], vocabulary: ParserVocabulary) -> None:
        self.ids = vocabulary.encode(sentences)
        self.lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._forms = [sentence.forms for sentence in sentences]
        heads = (NOT_ANNOTATED if head is None else head for sentence in sentences for head in sentence.heads)
        self._heads = np.array(list(heads), dtype=np.int64)
        numbers = {relation: number for number, relation in enumerate(vocabulary.relations)}
        labels = (relation for sentence in sentences for relation in sentence.relations)
        # a relation outside the vocabulary is never used: it is a root's, or its word has no known head
        known = [NOT_ANNOTATED if label is None else numbers.get(label, 0) for label in labels]
        self._relations = np.array(known, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, numbers: Ints, *, unknown_prob: Floats, rng: np.random.Generator) -> ParserBatch:
        """Return the sentences with these numbers. ``unknown_prob``: the word dropout of each row (section 5.3)."""
        numbers = numbers[np.argsort(-self.lengths[numbers], kind="stable")]
        lengths = self.lengths[numbers]
        starts = np.cumsum(lengths) - lengths
        n_words = int(lengths.sum())
        rows = np.arange(n_words) + np.repeat(self._starts[numbers] - starts, lengths)
        heads = rows_of_heads(self._heads[rows], np.repeat(starts, lengths), n_words)
        gold = Gold(heads=np.append(heads, n_words), relations=np.append(self._relations[rows], 0))
        forms = [self._forms[number] for number in numbers]
        return ParserBatch(lengths, drop_words(_select(self.ids, rows), unknown_prob, rng), gold, forms)


def _select(ids: WordIds, rows: Ints) -> WordIds:
    external = None if ids.external is None else ids.external[rows]
    tags = tuple(column[rows] for column in ids.tags)
    if ids.forms is None or ids.spelling is None:
        return WordIds(ids.words[rows], external, tags)
    forms, of_words = np.unique(ids.forms[rows], return_inverse=True)  # still longest first
    return WordIds(ids.words[rows], external, tags, of_words, ids.spelling.of(forms))


def unknown_probabilities(counts: Ints, alpha: float) -> Floats:
    """Return p_unk(w) = alpha / (#(w) + alpha) for every row of the vocabulary (section 5.3)."""
    prob: Floats = alpha / np.maximum(counts + alpha, np.finfo(np.float64).tiny)
    prob[UNKNOWN] = 0  # it is never dropped, so it keeps its external vector
    return prob


def drop_words(ids: WordIds, unknown_prob: Floats, rng: np.random.Generator) -> WordIds:
    """Replace random words by the unknown word. Half of them lose their external vector: rare words often have none."""
    is_dropped = rng.random(len(ids.words)) < unknown_prob[ids.words]
    words = np.where(is_dropped, UNKNOWN, ids.words)
    if ids.external is None:
        return replace(ids, words=words)
    loses_external = is_dropped & (rng.random(len(words)) < 0.5)
    return replace(ids, words=words, external=np.where(loses_external, UNKNOWN, ids.external))
