"""The tagger: fills in UPOS, XPOS, FEATS and LEMMA of sentences, as far as its treebank has these columns."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.lemma_scripts import apply_script
from easyfirst.model.lexicon import distinct_forms, spelling_of, tags_of
from easyfirst.model.tagger_store import TaggerModel, look_up
from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats
from easyfirst.nn.sequences import longest_first
from easyfirst.nn.tagger_network import LEMMAS, TaggerIds, TaggerWeights, members_of, with_value_scores
from easyfirst.parsing.draft import TagScores
from easyfirst.text.part_networks import tagger_network
from easyfirst.treebank.sentence import Sentence

MAX_SCRIPTS = 8  # the number of lemma scripts tried for an unknown word
KNOWN_LEMMA = 3.0  # the bonus of a lemma that is a known word, in units of log-probability
EMOTICON = ":)"
MAX_BATCH_WORDS = 2048  # the most words in a batch, unless a single sentence has more
Tags = Mapping[str, tuple[str, ...]]  # for each column, the values of the words of a sentence


class Tagged(NamedTuple):
    """A sentence with tags."""

    sentence: Sentence
    tag_scores: TagScores | None = None
    """The scores of all UPOS tags, if some tags were predicted and these are among them."""


class Tagger:
    """A trained tagger. Tagging does not change it, so threads may share it."""

    def __init__(self, model: TaggerModel, backend: Backend | None = None) -> None:
        self.model = model
        self._backend = backend or Backend.choose()
        members: Sequence[TaggerWeights] = members_of(model.arrays, model.config.members)
        external_dim = model.config.external_dim
        if features := model.vocabulary.features:
            members = [with_value_scores(weights, features.membership) for weights in members]
        self._network = tagger_network(members, external_dim, self._backend)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tagger, (self.model, self._backend)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The columns it predicts: some of ``upos``, ``xpos``, ``feats`` and ``lemmas``."""
        return self.model.vocabulary.kinds

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences, in order, with predicted values where they have none; given ones are kept."""
        return [tagged.sentence for tagged in self.tag_with_scores(sentences)]

    def tag_with_scores(self, sentences: Sequence[Sentence]) -> list[Tagged]:
        """Return the sentences as :meth:`tag` does, with the scores of UPOS tags."""
        found = list(map(Tagged, sentences))
        incomplete = [n for n, sentence in enumerate(sentences) if any(lacks(sentence, kind) for kind in self.kinds)]
        given = [tags_of(sentences[number], self.model.vocabulary.tag_kind) for number in incomplete]
        predicted = self._predict([sentences[number].forms for number in incomplete], given, MAX_BATCH_WORDS)
        for number, (tags, tag_scores) in zip(incomplete, predicted, strict=True):
            sentence = sentences[number]
            lacking = {kind: column for kind, column in tags.items() if lacks(sentence, kind)}
            filled = {kind: _filled(tags_of(sentence, kind), column) for kind, column in lacking.items()}
            found[number] = Tagged(sentence.with_tags(**filled), tag_scores)
        return found

    def untagged(self, sentence: Sentence) -> Sentence:
        """Return a sentence without the columns that this tagger predicts."""
        return sentence.with_tags(**{kind: ["_"] * len(sentence) for kind in self.kinds})

    def predict(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        given: Sequence[Sequence[str]] | None = None,
        max_words: int = MAX_BATCH_WORDS,
    ) -> list[Tags]:
        """Return the columns of sentences, given as forms. Each sentence is tagged independently of the others.

        ``given`` are the tags of the words, if they are known, by which lemmas are looked up: UPOS, or XPOS if the
        tagger has no UPOS. A tag that is not known is ``_``."""
        known = [["_"] * len(forms) for forms in sentences] if given is None else given
        return [tags for tags, _ in self._predict(sentences, known, max_words)]

    def _predict(
        self, sentences: Sequence[Sequence[str]], given: Sequence[Sequence[str]], max_words: int
    ) -> list[tuple[Tags, TagScores | None]]:
        """Return the columns of sentences, and the scores of UPOS tags if there are any."""
        found: dict[int, tuple[Tags, TagScores | None]] = {}
        for batch in longest_first(list(map(len, sentences)), max_rows=max_words):
            forms, known = [sentences[number] for number in batch], [given[number] for number in batch]
            found.update(zip(batch, self._predict_batch(forms, known), strict=True))
        return [found[number] for number in range(len(sentences))]

    def _predict_batch(
        self, sentences: Sequence[Sequence[str]], given: Sequence[Sequence[str]]
    ) -> Iterator[tuple[Tags, TagScores | None]]:
        """Do the same for a batch of sentences that are sorted, longest first."""
        vocabulary, encoded = self.model.vocabulary, self._encode(sentences)
        scores, columns = self._network.score(encoded), dict[str, list[str]]()
        for kind in vocabulary.kinds:
            if kind == "feats" and vocabulary.features is not None:
                columns[kind] = vocabulary.features.choose(scores[kind], scores["features"])
            elif kind == LEMMAS:
                words = [form for sentence in sentences for form in sentence]
                tags = [tag for of_sentence in given for tag in of_sentence]
                columns[kind] = self._lemmas(words, _filled(tags, columns[vocabulary.tag_kind]), encoded)
            else:
                names, best = vocabulary.outputs[kind], scores[kind].argmax(axis=1).tolist()
                columns[kind] = [names[number] for number in best]
        names = vocabulary.outputs.get("upos")
        start = 0
        for length in map(len, sentences):
            rows = slice(start, start + length)
            tag_scores = None if names is None else TagScores(names, scores["upos"][rows])
            yield {kind: tuple(column[rows]) for kind, column in columns.items()}, tag_scores
            start += length

    def _encode(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Return each member's vectors for the words of sentences, longest first."""
        vocabulary, vectors = self.model.vocabulary, self.model.vectors
        lengths = list(map(len, sentences))
        words = [form for sentence in sentences for form in sentence]
        forms, numbers = distinct_forms([form if form.isascii() else self._readable(form) for form in words])
        ids = TaggerIds(vocabulary.word_ids(forms)[numbers], numbers)
        external = None if vectors is None else look_up(vectors, forms)
        spelling = spelling_of(forms, vocabulary.characters)
        return self._network.encode(ids, lengths, external, spelling)

    def _readable(self, form: str) -> str:
        """Return the form that is read for a word. An emoji that the treebank lacks is read like an emoticon."""
        if form[:1].isalnum() or not is_emoji(form):
            return form
        words = self.model.vocabulary.words
        return EMOTICON if form not in words and EMOTICON in words else form

    def _lemmas(self, forms: Sequence[str], tags: Sequence[str], encoded: Sequence[Floats]) -> list[str]:
        """Return the lemma of each word: the known one of its form and tag, or else the best by a script. The lemma of
        the word ``_`` is itself, as in UD."""
        known = self.model.vocabulary.known_lemmas
        nothing: Mapping[str, str] = {}
        lemmas = [known.get(tag, nothing).get(form, "") for form, tag in zip(forms, tags, strict=True)]
        if unknown := [number for number, lemma in enumerate(lemmas) if not lemma]:
            scores = self._network.score_lemmas([of_member[unknown] for of_member in encoded])
            best = np.argsort(-scores, axis=1, kind="stable")[:, :MAX_SCRIPTS]
            for number, row, of_word in zip(unknown, best.tolist(), scores, strict=True):
                lemmas[number] = "_" if forms[number] == "_" else self._new_lemma(forms[number], row, of_word)
        return lemmas

    def _new_lemma(self, form: str, best: Sequence[int], scores: Floats) -> str:
        """Return the best lemma of a word by one of the best scripts. A lemma that is a known word is preferred. One
        that differs only in case keeps that of names and addresses, as in *McConnell*."""
        vocabulary, vectors = self.model.vocabulary, self.model.vectors
        scripts = vocabulary.outputs["lemmas"]
        rows: Mapping[str, int] = {} if vectors is None else vectors.rows
        found, best_score = form, -math.inf
        for number in best:
            score = float(scores[number])
            if score + KNOWN_LEMMA <= best_score:  # neither this one nor any that follows can be better
                break
            if (lemma := apply_script(form, scripts[number])) is not None:
                word = lemma.lower()
                is_known = word in vocabulary.lemmas or word in vocabulary.words or word in rows
                score += KNOWN_LEMMA * is_known
                if score > best_score:
                    found, best_score = lemma, score
        return form if has_mixed_case(form) and found.lower() == form.lower() else found


def has_mixed_case(form: str) -> bool:
    """Return whether a word has capitals elsewhere than at its beginning, and not everywhere."""
    return form[1:] != form[1:].lower() and form != form.upper()


def is_emoji(form: str) -> bool:
    """Return whether a word consists of pictographs, and of the characters that join and modify them."""
    categories = set(map(unicodedata.category, form))
    return "So" in categories and categories <= {"So", "Sk", "Mn", "Me", "Cf"}


def without_tags(sentences: Iterable[Sentence], tagger: Tagger | None, name: str) -> Iterator[Sentence]:
    """Return the sentences of a treebank without the tags that the tagger of a model will predict."""
    if tagger is None:
        raise ModelError(f"{name} has no tagger to predict tags")
    return map(tagger.untagged, sentences)


def lacks(sentence: Sentence, kind: str) -> bool:
    """Return whether words lack a value in a column. In FEATS, ``_`` is also the value of a word without features, so a
    column lacks values only if all are ``_``."""
    column = tags_of(sentence, kind)
    return column.count("_") == len(column) if kind == "feats" else "_" in column


def _filled(given: Sequence[str], predicted: Sequence[str]) -> Sequence[str]:
    """Return the given values and, where there is none, the predicted ones."""
    if given.count("_") == len(given):
        return predicted
    return [new if old == "_" else old for old, new in zip(given, predicted, strict=True)]
