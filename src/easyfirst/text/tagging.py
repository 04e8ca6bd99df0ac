"""The tagger: adds UPOS, XPOS or both to sentences, whichever its treebank has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.lexicon import distinct_forms, spelling_of, tags_of
from easyfirst.model.tagger_store import TaggerModel, look_up
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats
from easyfirst.nn.sequences import longest_first
from easyfirst.nn.tagger_network import TaggerIds, members_of
from easyfirst.text.part_networks import tagger_network
from easyfirst.treebank.sentence import Sentence

MAX_BATCH_WORDS = 2048  # the most words in a batch, unless a single sentence has more
Tags = Mapping[str, tuple[str, ...]]  # for each kind, the tags of the words of a sentence


class Tagger:
    """A trained tagger. Tagging does not change it, so threads may share it."""

    def __init__(self, model: TaggerModel, backend: Backend | None = None) -> None:
        self.model = model
        self._backend = backend or Backend.choose()
        members, external_dim = members_of(model.arrays, model.config.members), model.config.external_dim
        self._networks = [tagger_network(weights, external_dim, self._backend) for weights in members]

    def __reduce__(self) -> tuple[Any, ...]:
        return Tagger, (self.model, self._backend)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tags it predicts: ``upos``, ``xpos`` or both."""
        return self.model.vocabulary.kinds

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences, in order, with predicted tags where they have none; given tags are kept."""
        found = list(sentences)
        is_incomplete = [any("_" in tags_of(sentence, kind) for kind in self.kinds) for sentence in found]
        incomplete = [number for number, lacks_tags in enumerate(is_incomplete) if lacks_tags]
        predicted = self.predict([found[number].forms for number in incomplete])
        for number, tags in zip(incomplete, predicted, strict=True):
            columns = {kind: zip(tags_of(found[number], kind), new, strict=True) for kind, new in tags.items()}
            filled = {kind: [tag if old == "_" else old for old, tag in pairs] for kind, pairs in columns.items()}
            found[number] = found[number].with_tags(**filled)
        return found

    def untagged(self, sentence: Sentence) -> Sentence:
        """Return a sentence without the kinds of tags that this tagger predicts."""
        return sentence.with_tags(**{kind: ["_"] * len(sentence) for kind in self.kinds})

    def predict(self, sentences: Sequence[Sequence[str]], *, max_words: int = MAX_BATCH_WORDS) -> list[Tags]:
        """Return the tags of sentences, given as forms. Each sentence is tagged independently of the others."""
        tagged: dict[int, Tags] = {}
        for batch in longest_first(list(map(len, sentences)), max_rows=max_words):
            tagged.update(zip(batch, self._predict_batch([sentences[number] for number in batch]), strict=True))
        return [tagged[number] for number in range(len(sentences))]

    def rank(self, forms: Sequence[str], kind: str = "upos") -> tuple[Sequence[str], Floats]:
        """Return all tags of one kind and their scores for the words of a sentence: (n_words, n_tags). A difference of
        scores is one of log-probabilities."""
        return self.model.vocabulary.tags[kind], self._scores([forms])[kind]

    def _predict_batch(self, sentences: Sequence[Sequence[str]]) -> Iterator[Tags]:
        """Yield the tags of sentences that are sorted, longest first."""
        scores, columns = self._scores(sentences), dict[str, list[str]]()
        for kind, tags in self.model.vocabulary.tags.items():
            best: list[int] = scores[kind].argmax(axis=1).tolist()
            columns[kind] = [tags[number] for number in best]
        start = 0
        for length in map(len, sentences):
            yield {kind: tuple(column[start : start + length]) for kind, column in columns.items()}
            start += length

    def _scores(self, sentences: Sequence[Sequence[str]]) -> dict[str, Floats]:
        """Return the scores of all tags of each kind for the words of sentences, longest first."""
        vocabulary, vectors = self.model.vocabulary, self.model.vectors
        lengths = list(map(len, sentences))
        forms, numbers = distinct_forms([form for sentence in sentences for form in sentence])
        ids = TaggerIds(vocabulary.word_ids(forms)[numbers], numbers)
        external = None if vectors is None else look_up(vectors, forms)
        spelling = spelling_of(forms, vocabulary.characters)
        scores = [network.score(ids, lengths, external, spelling) for network in self._networks]
        return {kind: _agreed([of_member[kind] for of_member in scores]) for kind in vocabulary.tags}


def without_tags(sentences: Iterable[Sentence], tagger: Tagger | None, name: str) -> Iterator[Sentence]:
    """Return the sentences of a treebank without the tags that the tagger of a model will predict."""
    if tagger is None:
        raise ModelError(f"{name} has no tagger to predict tags")
    return map(tagger.untagged, sentences)


def _agreed(scores: Sequence[Floats]) -> Floats:
    """Combine the scores of an ensemble's members for one kind: the sum of their log-probabilities."""
    if len(scores) == 1:
        return scores[0]
    together = np.zeros_like(scores[0])
    for of_member in scores:
        shifted = of_member - of_member.max(axis=1, keepdims=True)
        together += shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return together
