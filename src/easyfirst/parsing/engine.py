"""Sentences in, derivations out: the interface of all engines, and the one that runs on NumPy.

A batch holds sentences of similar length, since it takes as many steps as its longest sentence has words. It is
bounded in sentences and in words: every word of a batch costs memory (17 kB with the paper's sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from easyfirst.errors import ModelError
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network, networks_of
from easyfirst.nn.sequences import Packing, longest_first
from easyfirst.nn.words import encode_words
from easyfirst.parsing.actions import Actions, Choose, easiest
from easyfirst.parsing.beam import Measure, log_probabilities, sums
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.n_best import Scored, best_derivations
from easyfirst.parsing.workspace import Workspace
from easyfirst.treebank.sentence import Sentence

BATCH_SIZE = 256
MAX_BATCH_WORDS = 6144
"""With the paper's sizes a batch of this many words takes about 105 MB."""

ENCODED_AT_ONCE = 96
"""How many sentences the BiLSTM reads at a time, so that the intermediate results stay in the cache."""

Wrap = Callable[[Sequence[int], Choose], Choose]
"""``wrap(numbers, choose)`` wraps the chooser of a batch, which is given by the numbers of its sentences: to restrict
what it sees (constraints), or to observe it (explanations)."""


class Engine(Protocol):
    """Sentences in, derivations out, with fixed weights. Parsing changes nothing in it, so threads may share one."""

    def derive(self, sentences: Sequence[Sentence], *, batch_size: int = BATCH_SIZE) -> list[Derivation]:
        """Return the derivation of each sentence, in order. At most ``batch_size`` sentences are parsed at once.
        Missing tags count as unknown ones."""
        ...


class NumpyEngine:
    """The reference engine, in NumPy. It is the only one whose decisions can be wrapped."""

    def __init__(self, vocabulary: ParserVocabulary, *networks: Network) -> None:
        """``networks``: one, or the members of an ensemble."""
        self._vocabulary = vocabulary
        self._networks = networks
        self._loop = Loop(*networks)

    def __str__(self) -> str:
        return "numpy"

    @classmethod
    def of(cls, arrays: Mapping[str, Floats], config: ParserConfig, vocabulary: ParserVocabulary) -> NumpyEngine:
        """Make an engine from the arrays of a model."""
        return cls(vocabulary, *networks_of(arrays, config.members, rnn=config.network.rnn))

    def derive(
        self,
        sentences: Sequence[Sentence],
        *,
        batch_size: int = BATCH_SIZE,
        wrap: Wrap | None = None,
        max_words: int = MAX_BATCH_WORDS,
    ) -> list[Derivation]:
        """Return the derivation of each sentence, in order. A batch has at most ``batch_size`` sentences and
        ``max_words`` words, divided by the size of the ensemble; a longer sentence is a batch of its own."""
        workspace, lengths = Workspace(), [len(sentence) for sentence in sentences]
        found: dict[int, Derivation] = {}
        for batch in longest_first(lengths, max_rows=max_words // len(self._networks), max_sequences=batch_size):
            recorder = MarginRecorder(sum(lengths[number] for number in batch))
            choose = recorder if wrap is None else wrap(batch, recorder)
            vectors = self.encode([sentences[number] for number in batch])
            steps = self._loop.run(vectors, [lengths[number] for number in batch], choose, workspace)
            if not all(np.isfinite(actions.scores).all() for actions in steps.actions):
                raise ModelError("the model computes scores that are not finite numbers; its weights are corrupted")
            names = self._vocabulary.labels, self._vocabulary.root_relation
            recorded = recorder.margins, recorder.label_margins, recorder.lost_margins, recorder.relation_scores
            found.update(zip(batch, steps.split(*recorded, *names), strict=True))
        return [found[number] for number in range(len(sentences))]

    def search(
        self, sentences: Sequence[Sentence], width: int, measure: Measure = log_probabilities
    ) -> list[list[Scored]]:
        """Return the best derivations of each sentence that a beam of this width finds, which lead to different trees,
        with the scores that the measure gives them."""
        lengths = [len(sentence) for sentence in sentences]
        found: dict[int, list[Scored]] = {}
        max_words = MAX_BATCH_WORDS // (len(self._networks) * width)
        for batch in longest_first(lengths, max_rows=max_words):
            vectors = self.encode([sentences[number] for number in batch])
            of_batch = vectors, [lengths[number] for number in batch]
            names = self._vocabulary.labels, self._vocabulary.root_relation
            found.update(
                zip(batch, best_derivations(self._loop.members, *of_batch, width, measure, *names), strict=True)
            )
        return [found[number] for number in range(len(sentences))]

    def encode(self, sentences: Sequence[Sentence]) -> npt.NDArray[np.float32]:
        """Return v_i of each word by every member, side by side."""
        return encode_sentences(self._vocabulary, self._networks, sentences)


def encode_sentences(
    vocabulary: ParserVocabulary, networks: Sequence[Network], sentences: Sequence[Sentence]
) -> npt.NDArray[np.float32]:
    """Return v_i of each word by every network, side by side. Longer sentences come first."""
    parts: list[Floats] = []
    with overflow_is_fine():
        for begin in range(0, len(sentences), ENCODED_AT_ONCE):
            part = sentences[begin : begin + ENCODED_AT_ONCE]
            packing, ids = Packing.of([len(sentence) for sentence in part]), vocabulary.encode(part)
            found = [encode_words(NUMPY, network.words, ids, packing) for network in networks]
            parts.append(found[0] if len(found) == 1 else np.concatenate(found, axis=1))
    return np.concatenate(parts)


def measure_of(config: ParserConfig) -> Measure:
    """Return the measure of hypotheses that suits how a parser was trained."""
    return sums if config.training.beam > 1 else log_probabilities


class MarginRecorder:
    """Chooses the easiest actions and records by how much they won."""

    def __init__(self, n_words: int) -> None:
        """``n_words``: of the batch."""
        self.margins: list[Floats] = []
        self.label_margins: list[Floats] = []
        self.lost_margins = np.full(n_words + 1, np.inf, dtype=np.float32)  # the last one is that of the outside
        self.relation_scores: list[Floats] = []

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        actions = easiest(candidates, n_active)
        left, directions = actions.left, actions.directions
        self.margins.append(actions.scores - candidates.rival_arcs(left, directions))
        self.label_margins.append(actions.scores - candidates.rival_relations(left, directions, actions.relations))
        self.relation_scores.append(candidates.scores_of(left, directions))
        for words, scores in candidates.lost_arcs(left, directions):
            self.lost_margins[words] = np.minimum(self.lost_margins[words], actions.scores - scores)
        return actions
