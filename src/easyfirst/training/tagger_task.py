"""Tagger training: cross-entropy of all columns. The members of an ensemble are trained one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from easyfirst.model.lexicon import UNKNOWN, distinct_forms, spelling_of, tags_of
from easyfirst.model.settings import within_budget
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import TaggerModel, initial_tagger, look_up, save_tagger
from easyfirst.model.tagger_vocabulary import TaggerVocabulary, lemma_scripts
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.characters import Spelling, spell
from easyfirst.nn.sequences import Drop, Packing
from easyfirst.nn.tagger_network import TaggerIds, encode_tagged, members_of, score_outputs
from easyfirst.text.tagging import Tagger, Tags
from easyfirst.training.corpus import unknown_probabilities
from easyfirst.training.supervised import SupervisedTask
from easyfirst.training.torch_namespace import TORCH
from easyfirst.treebank.scores import percent
from easyfirst.treebank.sentence import Sentence

NOT_GIVEN = -1
# what the losses of the outputs count: tags most, since the parser needs them; "features" is for each attribute
WEIGHTS = {"upos": 1.0, "xpos": 1.0, "feats": 0.5, "features": 0.05, "lemmas": 0.3}
BATCHES, MIN_BATCH_WORDS = 60, 50  # an epoch has so many batches at least, unless they have too few words
SORTED_AT_ONCE = 16  # the number of batches sorted by length together, so that a batch has similar lengths


@dataclass(frozen=True, slots=True)
class TaggerBatch:
    """A batch of sentences, longest first."""

    ids: TaggerIds
    packing: Packing
    spelling: Spelling
    external: Floats | None  # (n_words, external_dim)
    gold: Mapping[str, Ints]  # output -> (n_words,); of the features (n_words, n_attributes)


def budgeted(training: TaggerTraining, n_words: int) -> TaggerTraining:
    """Return settings with enough updates for a treebank of so many words, however small it is."""
    batch_words = min(training.batch_words, max(n_words // BATCHES, MIN_BATCH_WORDS))
    return within_budget(replace(training, batch_words=batch_words), n_words / batch_words)


class TaggerTask(SupervisedTask):
    """A tagger to train, with its data."""

    sparse = frozenset({"words.embedding", "characters.embedding"})

    def __init__(
        self,
        sentences: Sequence[Sentence],
        config: TaggerConfig,
        training: TaggerTraining,
        *,
        dev: Sequence[Sentence] | None = None,
        vectors: SharedVectors | None = None,
        out: Path | None = None,
        fingerprint: Mapping[str, Any] | None = None,
    ) -> None:
        """``out``: the directory for the best tagger, if any; ``fingerprint``: see :class:`SupervisedTask`."""
        config = replace(config, external_dim=vectors.dim if vectors else 0, members=1)
        vocabulary = TaggerVocabulary.of(sentences, min_count=config.min_count)
        arrays = initial_tagger(config, vocabulary, np.random.default_rng([training.seed, 0]))
        training = budgeted(training, sum(map(len, sentences)))
        super().__init__(arrays, training, fingerprint)
        self.model = TaggerModel(config, vocabulary, arrays, vectors)
        self.corpus = TaggerCorpus(sentences, vocabulary, vectors, training)
        self.dev = dev
        self.out = out

    def batches(self, rng: np.random.Generator) -> Iterator[TaggerBatch]:
        return self.corpus.batches(rng)

    def loss(self, parameters: Mapping[str, Tensor], batch: TaggerBatch, drop: Drop | None) -> tuple[Tensor, int]:
        """Return the summed cross-entropy of all outputs, and the number of words."""
        (weights,) = members_of(parameters, 1)
        spelt = spell(TORCH, weights.characters, batch.spelling, drop) if weights.characters is not None else None
        external = torch.from_numpy(batch.external) if batch.external is not None else None
        encoded = encode_tagged(TORCH, weights, batch.ids, batch.packing, external=external, spelt=spelt, drop=drop)
        scores = score_outputs(TORCH, weights, encoded, weights.outputs)
        kinds = [kind for kind in batch.gold if kind != "features"]
        losses = [WEIGHTS[kind] * _cross_entropy(scores[kind], batch.gold[kind]) for kind in kinds]
        if features := self.model.vocabulary.features:
            values = zip(features.slices, batch.gold["features"].T, strict=True)
            weight = WEIGHTS["features"]
            losses += [weight * _cross_entropy(scores["features"][:, part], gold) for part, gold in values]
        return torch.stack(losses).sum(), len(batch.ids.words)

    def evaluate(self, arrays: Mapping[str, Floats]) -> dict[str, float] | None:
        """Return the accuracies on the dev sentences; see :func:`accuracies`."""
        if self.dev is None:
            return None
        tagger = Tagger(replace(self.model, arrays=arrays), Backend.exact())
        return accuracies(self.dev, tagger.predict([sentence.forms for sentence in self.dev]))

    def save(self, arrays: Mapping[str, Floats], epoch: int) -> None:
        self.model = replace(self.model, arrays={name: array.copy() for name, array in arrays.items()})
        if self.out is not None:
            save_tagger(self.out, self.model)


def accuracies(sentences: Sequence[Sentence], predicted: Sequence[Tags]) -> dict[str, float]:
    """Return the share of correct values in per cent: the mean of the columns, each column, and all of a word at once.
    Words without a gold value are left out (in FEATS, ``_`` is a value), and so are columns without any."""
    given = {kind: np.array([tag for s in sentences for tag in tags_of(s, kind)]) for kind in predicted[0]}
    found = {kind: np.array([tag for tags in predicted for tag in tags[kind]]) for kind in given}
    is_given = {kind: (tags != "_") | (kind == "feats") for kind, tags in given.items() if (tags != "_").any()}
    is_right = {kind: given[kind] == found[kind] for kind in is_given}
    if not is_given:
        return {"mean": 0.0, "all": 0.0}
    shares = {kind: percent(int((is_right[kind] & mask).sum()), int(mask.sum())) for kind, mask in is_given.items()}
    any_given = np.logical_or.reduce(list(is_given.values()))
    all_right = np.logical_and.reduce([is_right[kind] | ~mask for kind, mask in is_given.items()]) & any_given
    overall = percent(int(all_right.sum()), int(any_given.sum()))
    return {"mean": sum(shares.values()) / len(shares), **shares, "all": overall}


class TaggerCorpus:
    """The training sentences as arrays."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        vocabulary: TaggerVocabulary,
        vectors: SharedVectors | None,
        training: TaggerTraining,
    ) -> None:
        self._training = training
        self._lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths
        forms, self._forms = distinct_forms([form for sentence in sentences for form in sentence.forms])
        self._word_of_form = vocabulary.word_ids(forms)
        self._spelling = spelling_of(forms, vocabulary.characters)
        self._external = None if vectors is None else look_up(vectors, forms)
        self._gold = _gold(sentences, vocabulary)
        counts = np.bincount(self._word_of_form[self._forms], minlength=len(vocabulary.words) + 1)
        self._unknown_prob = unknown_probabilities(counts, training.word_dropout)

    def batches(self, rng: np.random.Generator) -> Iterator[TaggerBatch]:
        """Yield all sentences in random order, sorted by length within a few batches' worth of them."""
        batches: list[Ints] = []
        order = rng.permutation(len(self._lengths))
        for some in _cut(order, self._lengths, SORTED_AT_ONCE * self._training.batch_words):
            by_length = some[np.argsort(-self._lengths[some], kind="stable")]
            batches += _cut(by_length, self._lengths, self._training.batch_words)
        for number in rng.permutation(len(batches)):
            yield self._batch(batches[number], rng)

    def _batch(self, numbers: Ints, rng: np.random.Generator) -> TaggerBatch:
        lengths = self._lengths[numbers]
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self._starts[numbers] - starts, lengths)
        forms, of_words = np.unique(self._forms[places], return_inverse=True)  # still longest first
        words = self._word_of_form[forms][of_words]
        is_dropped = rng.random(len(words)) < self._unknown_prob[words]
        external = None
        if self._external is not None:  # drop half of them: rare words often have none
            external = self._external[forms][of_words]
            external[is_dropped & (rng.random(len(words)) < 0.5)] = 0
        return TaggerBatch(
            ids=TaggerIds(np.where(is_dropped, UNKNOWN, words), of_words),
            packing=Packing.of(lengths.tolist()),
            spelling=self._spelling.of(forms),
            external=external,
            gold={kind: gold[places] for kind, gold in self._gold.items()},
        )


def _cut(numbers: Ints, lengths: Ints, max_words: int) -> list[Ints]:
    """Split sentences into pieces of about ``max_words`` words."""
    pieces = (np.cumsum(lengths[numbers]) - 1) // max_words
    return np.split(numbers, np.flatnonzero(np.diff(pieces)) + 1)


def _cross_entropy(scores: Tensor, gold: Ints) -> Tensor:
    return cross_entropy(scores, torch.from_numpy(gold), ignore_index=NOT_GIVEN, reduction="sum")


def _gold(sentences: Sequence[Sentence], vocabulary: TaggerVocabulary) -> dict[str, Ints]:
    """Return the gold rows of each output."""
    gold: dict[str, Ints] = {}
    for kind in vocabulary.kinds:
        if kind == "feats" and (features := vocabulary.features):
            bundles = [bundle for sentence in sentences for bundle in sentence.feats]
            gold |= {"feats": features.bundle_ids(bundles), "features": features.value_ids(bundles)}
            continue
        columns = map(lemma_scripts, sentences) if kind == "lemmas" else (tags_of(s, kind) for s in sentences)
        numbers = {name: number for number, name in enumerate(vocabulary.outputs[kind])}
        found = [NOT_GIVEN if name is None else numbers.get(name, NOT_GIVEN) for column in columns for name in column]
        gold[kind] = np.array(found, dtype=np.int64)
    return gold
