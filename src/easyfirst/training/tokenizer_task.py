"""Tokenizer training: a :class:`~easyfirst.training.training_loop.Task` on the raw text of a treebank.

The treebank is one long text, which is read in stretches: paragraphs, or parts of long ones. Data augmentation prepares
the tokenizer for other texts: some paragraphs are joined by a space or a line end, some stretches are in lower or upper
case throughout, some characters are unknown, and some apostrophes are left out. Each epoch has further paragraphs,
which show what treebanks lack (``easyfirst.training.augmentation``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from easyfirst.errors import DataError
from easyfirst.model.tokenizer_config import TokenizerConfig, TokenizerTraining
from easyfirst.model.tokenizer_store import TokenizerModel, initial_tokenizer, save_tokenizer
from easyfirst.model.tokenizer_vocabulary import LINE_END, SPACE, Characters, TokenizerVocabulary, is_rewritten
from easyfirst.native.backend import Backend
from easyfirst.nn import tokenizer_network as network
from easyfirst.nn.arrays import Bools, Floats, Ints
from easyfirst.nn.sequences import Drop, Packing, span_states
from easyfirst.nn.tokenizer_network import REWRITTEN, SENTENCE_END, TOKEN_END, WORD_END
from easyfirst.text.sentences import sentences_of
from easyfirst.text.tokenizing import Tokenizer
from easyfirst.training.augmentation import Augmenter
from easyfirst.training.supervised import SupervisedTask
from easyfirst.training.torch_namespace import TORCH
from easyfirst.training.training_loop import Step
from easyfirst.treebank.alignment import SpannedText, align
from easyfirst.treebank.raw_text import Paragraph, raw_text, read_paragraphs
from easyfirst.treebank.sentence import Sentence

MAX_STRETCH = 300  # the largest number of characters that are read together
BATCH_CHARACTERS, MIN_BATCH_CHARACTERS, MIN_BATCHES = 3000, 500, 100  # batches shrink to make up so many
JOIN_PROB = 0.2  # the probability that a paragraph is joined with the next
LINE_END_PROB = 0.5  # the probability that it is joined by a line end instead of a space
VERSION_PROBS = (0.93, 0.05, 0.02)  # the probabilities of a stretch as it is, in lower case and in upper case
AUGMENTATION_RANGE = (1.6, 0.4)  # the augmentation of the first and of the last epoch, relative to the setting
UNKNOWN_PROB = 0.01  # the probability that a character is unknown
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
LEFT_OUT_PROB = 0.03  # the probability that an apostrophe in a multiword token is left out: *its* may mean *it's*


@dataclass(frozen=True, slots=True)
class TokenizerCorpus:
    """All paragraphs as one text, joined by spaces."""

    versions: tuple[Characters, ...]  # as it is, in lower case, in upper case
    boundaries: Ints  # (n_characters,)
    first: Ints  # the first character of each token
    last: Ints
    answers: Floats  # (n_tokens, N_QUESTIONS)
    is_paragraph_end: Bools  # (n_tokens,)
    is_apostrophe: Bools  # (n_characters,) inside a multiword token, but not at the end of a word
    is_joint: Bools  # (n_characters,) between two paragraphs

    @classmethod
    def of(cls, paragraphs: Sequence[Paragraph], vocabulary: TokenizerVocabulary) -> TokenizerCorpus:
        text = SPACE.join(paragraph.text for paragraph in paragraphs)
        characters = vocabulary.read([text])
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        upper = "".join(c.upper() if len(c.upper()) == 1 else c for c in text)
        row_of = np.full(len(text) + 1, -1)
        row_of[characters.positions] = np.arange(len(characters.positions))
        boundaries = np.zeros(len(characters.positions), dtype=np.int64)
        first: list[int] = []
        last: list[int] = []
        answers: list[tuple[bool, bool]] = []
        is_paragraph_end: list[bool] = []
        is_apostrophe, is_joint = np.zeros((2, len(boundaries)), dtype=np.bool_)
        begin = 0
        for paragraph in paragraphs:
            for sentence in paragraph.sentences:
                for token in sentence:
                    needs_rule = is_rewritten(paragraph.text[token.start : token.end], token.words)
                    start, end = begin + token.start, begin + token.end
                    first.append(row_of[start])
                    last.append(row_of[end - 1])
                    answers.append((token is sentence[-1], needs_rule))
                    is_paragraph_end.append(False)
                    if word_ends := [] if needs_rule else _word_ends(text, start, token.words):
                        boundaries[row_of[word_ends]] = WORD_END
                        inside = (place for place in range(start + 1, end - 1) if place not in word_ends)
                        is_apostrophe[[row_of[place] for place in inside if text[place] in APOSTROPHES]] = True
                    boundaries[row_of[end - 1]] = TOKEN_END
            is_paragraph_end[-1] = True
            begin += len(paragraph.text) + 1
            is_joint[last[-1] + 1 :][:1] = True
        return cls(
            (characters, vocabulary.read([lower]), vocabulary.read([upper])),
            boundaries,
            np.array(first, dtype=np.int64),
            np.array(last, dtype=np.int64),
            np.array(answers, dtype=np.float32),
            np.array(is_paragraph_end),
            is_apostrophe,
            is_joint,
        )

    def stretches(self, rng: np.random.Generator) -> Iterator[Stretch]:
        """Yield ranges of tokens that are read together: paragraphs, some joined, long ones cut at random places."""
        is_cut = self.is_paragraph_end & (rng.random(len(self.first)) >= JOIN_PROB)
        is_cut[-1] = True
        limit = rng.integers(1, MAX_STRETCH, endpoint=True)
        begin = 0
        for end, (last, cut) in enumerate(zip(self.last.tolist(), is_cut.tolist(), strict=True), 1):
            if cut or last - self.first[begin] >= limit:
                yield Stretch(self, begin, end)
                begin = end
                limit = rng.integers(MAX_STRETCH // 2, MAX_STRETCH, endpoint=True)


class Stretch(NamedTuple):
    """A range of the tokens of a corpus."""

    corpus: TokenizerCorpus
    begin: int
    end: int

    @property
    def tokens(self) -> slice:
        return slice(self.begin, self.end)

    @property
    def characters(self) -> slice:
        return slice(int(self.corpus.first[self.begin]), int(self.corpus.last[self.end - 1]) + 1)


def _word_ends(text: str, start: int, words: Sequence[str]) -> list[int]:
    """Return the places of the last characters of all words of a token but the last word."""
    places: list[int] = []
    for word in words[:-1]:
        while text[start].isspace():
            start += 1
        start += len(word)
        places.append(start - 1)
    return places


@dataclass(frozen=True, slots=True)
class TokenizerBatch:
    """A batch of stretches, longest first."""

    characters: Ints
    lengths: list[int]
    rows: Ints  # the characters that are not white space
    boundaries: Tensor  # of these
    first: Ints  # stretches with most tokens first
    last: Ints
    n_tokens: list[int]
    answers: Tensor
    weights: Tensor  # 0 where the answer is unknown


class TokenizerTask(SupervisedTask):
    """A tokenizer to train, with its data."""

    sparse = frozenset({"characters.embedding"})

    def __init__(
        self,
        sentences: Sequence[Sentence],
        config: TokenizerConfig,
        training: TokenizerTraining,
        *,
        dev: Sequence[Sentence] | None = None,
        spaces: str = "given",
        known: Mapping[str, int] | None = None,
        out: Path | None = None,
        fingerprint: Mapping[str, Any] | None = None,
    ) -> None:
        """``known``: the frequencies of words in other text; ``out``: the directory for the best tokenizer, if any;
        ``fingerprint``: see :class:`SupervisedTask`."""
        paragraphs = read_paragraphs(sentences, spaces=spaces)
        if not paragraphs:
            raise DataError("the treebank has no sentences; give one that has some")
        self.config = config
        self.vocabulary = TokenizerVocabulary.of(paragraphs, min_count=config.min_count, known=known)
        arrays = initial_tokenizer(config, self.vocabulary, np.random.default_rng(training.seed))
        super().__init__(arrays, training, fingerprint)
        self.out = out
        self._corpus = TokenizerCorpus.of(paragraphs, self.vocabulary)
        self._augmentation, self._n_epochs = training.augmentation, 0
        self._augmenter = Augmenter(paragraphs, known or {}) if training.augmentation else None
        self._dev = None if dev is None else (SpannedText.of(dev), raw_text(read_paragraphs(dev, spaces=spaces)))

    def batches(self, rng: np.random.Generator) -> Iterator[TokenizerBatch]:
        """Yield one epoch of stretches in random order, and with them those of augmented paragraphs."""
        stretches = list(self._corpus.stretches(rng))
        augmented = self._augmenter.paragraphs(self._share(), rng) if self._augmenter else []
        if augmented:
            stretches += TokenizerCorpus.of(augmented, self.vocabulary).stretches(rng)
        stretches = [stretches[k] for k in rng.permutation(len(stretches))]
        size = min(BATCH_CHARACTERS, max(len(self._corpus.boundaries) // MIN_BATCHES, MIN_BATCH_CHARACTERS))
        batch: list[Stretch] = []
        n = 0
        for stretch in stretches:
            batch.append(stretch)
            n += stretch.characters.stop - stretch.characters.start
            if n >= size:
                yield self._batch(batch, rng)
                batch, n = [], 0
        if batch:
            yield self._batch(batch, rng)

    def _share(self) -> float:
        """Return the share of paragraphs that this epoch augments. It decreases, so that the last epochs, with their
        small learning rate, are close to the treebank."""
        first, last = AUGMENTATION_RANGE
        done = self._n_epochs / max(self.settings.epochs - 1, 1)
        return min(1.0, self._augmentation * (first + (last - first) * min(done, 1.0)))

    def steps(self, parameters: Mapping[str, Tensor]) -> Iterator[Step]:
        """Yield one epoch of losses, and count the epochs."""
        yield from super().steps(parameters)
        self._n_epochs += 1

    def facts(self) -> dict[str, Any]:
        """Return the settings, the fingerprint and the number of epochs."""
        return {**super().facts(), "n_epochs": self._n_epochs}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Check that the checkpoint is from the same run, and continue its epochs."""
        super().restore(facts)
        self._n_epochs = facts["n_epochs"]

    def _batch(self, stretches: Sequence[Stretch], rng: np.random.Generator) -> TokenizerBatch:
        apostrophes = [stretch.corpus.is_apostrophe[stretch.characters] for stretch in stretches]
        written = [np.flatnonzero(~some | (rng.random(len(some)) >= LEFT_OUT_PROB)) for some in apostrophes]
        by_length = sorted(range(len(stretches)), key=lambda k: -len(written[k]))
        versions = rng.choice(3, len(stretches), p=VERSION_PROBS)
        sources = [
            (stretches[k].corpus, int(versions[k]), stretches[k].characters.start + written[k]) for k in by_length
        ]
        read = [(corpus.versions[version], part) for corpus, version, part in sources]
        characters = np.concatenate([version.rows[part] for version, part in read])
        categories = np.concatenate([version.categories[part] for version, part in read])
        is_joint = np.concatenate([corpus.is_joint[part] for corpus, _, part in sources])
        is_line_end = is_joint & (rng.random(len(is_joint)) < LINE_END_PROB)
        characters = np.where(is_line_end, self.vocabulary.alphabet[LINE_END], characters)
        characters = np.where(rng.random(len(characters)) < UNKNOWN_PROB, categories, characters)
        lengths = [len(written[k]) for k in by_length]
        rows = np.flatnonzero(~np.concatenate([version.is_space[part] for version, part in read]))
        boundaries = np.concatenate([corpus.boundaries[part] for corpus, _, part in sources])[rows]
        shifts = dict(zip(by_length, (np.cumsum(lengths) - lengths).tolist(), strict=True))
        by_tokens = sorted(range(len(stretches)), key=lambda k: stretches[k].begin - stretches[k].end)
        parts = [stretches[k] for k in by_tokens]
        answers = np.concatenate([part.corpus.answers[part.tokens] for part in parts])

        def places(of: Sequence[Ints]) -> Ints:
            """Return where the first, or the last, characters of the tokens are in the batch."""
            found = zip(by_tokens, of, strict=True)
            return np.concatenate(
                [shifts[k] + np.searchsorted(written[k], rows - stretches[k].characters.start) for k, rows in found]
            )

        weights = np.ones_like(answers)
        n_tokens = [part.end - part.begin for part in parts]
        is_known = [part.corpus.is_paragraph_end[part.end - 1] for part in parts]
        weights[np.cumsum(n_tokens) - 1, SENTENCE_END] = is_known
        weights[:, REWRITTEN] = bool(self.vocabulary.rewriting.rules)
        return TokenizerBatch(
            characters=characters,
            lengths=lengths,
            rows=rows,
            boundaries=torch.from_numpy(boundaries),
            first=places([part.corpus.first[part.tokens] for part in parts]),
            last=places([part.corpus.last[part.tokens] for part in parts]),
            n_tokens=n_tokens,
            answers=torch.from_numpy(answers),
            weights=torch.from_numpy(weights),
        )

    def loss(self, parameters: Mapping[str, Tensor], batch: TokenizerBatch, drop: Drop | None) -> tuple[Tensor, int]:
        """Return the summed cross-entropy of all characters and tokens, and their number."""
        weights = network.tokenizer_of(parameters)
        h = network.read_characters(TORCH, weights, batch.characters, Packing.of(batch.lengths), drop)
        boundaries = network.score_boundaries(TORCH, weights, TORCH.take(h, TORCH.index(batch.rows)))
        vectors = span_states(TORCH, h, batch.first, batch.last)
        answers = network.score_tokens(TORCH, weights, vectors, Packing.of(batch.n_tokens), drop)
        of_characters = cross_entropy(boundaries, batch.boundaries, reduction="sum")
        of_tokens = binary_cross_entropy_with_logits(answers, batch.answers, weight=batch.weights, reduction="sum")
        return of_characters + of_tokens, len(batch.rows) + int(batch.weights.sum())

    def evaluate(self, arrays: Mapping[str, Floats]) -> dict[str, float] | None:
        """Return F1 of tokens, words and sentences on the raw text of the dev treebank, after the mean of the three."""
        if self._dev is None:
            return None
        gold, text = self._dev
        tokens = Tokenizer(TokenizerModel(self.config, self.vocabulary, arrays), Backend.exact()).tokenize(text)
        system = SpannedText.of(sentences_of(text, tokens))
        scores = {
            "tokens": _f1(set(gold.tokens) & set(system.tokens), gold.tokens, system.tokens),
            "words": _f1(align(gold, system), gold.words, system.words),
            "sentences": _f1(set(gold.sentences) & set(system.sentences), gold.sentences, system.sentences),
        }
        return {"mean": sum(scores.values()) / len(scores), **scores}

    def save(self, arrays: Mapping[str, Floats], epoch: int) -> None:
        if self.out is not None:
            save_tokenizer(self.out, TokenizerModel(self.config, self.vocabulary, arrays))


def _f1(correct: Sized, gold: Sized, system: Sized) -> float:
    return 100 * 2 * len(correct) / (len(gold) + len(system))
