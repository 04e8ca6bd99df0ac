"""Sentences in, trees out: cuts the input into batches for the engine and reads the trees off its derivations.

A batch holds sentences of similar length, since a batch takes as many steps as its longest sentence has words. It is
bounded in sentences and in words: every word of a batch costs the engine memory (17 kB with the paper's sizes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from easyfirst.confidence.calibration import Calibration
from easyfirst.constraints.chooser import Constrained
from easyfirst.constraints.conflicts import check_constraints
from easyfirst.errors import DataError, InputError, ModelError
from easyfirst.model.lexicon import tags_of
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import networks_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.derivation import Derivations, Steps
from easyfirst.parsing.engine import Choose, Engine, easiest
from easyfirst.parsing.workspace import Workspace
from easyfirst.results.parses import Parse
from easyfirst.treebank.sentence import Sentence

BATCH_SIZE = 256
MAX_BATCH_WORDS = 6144
"""With the paper's sizes a batch of that many words takes about 105 MB."""

READ_AT_ONCE = 96
"""How many sentences the BiLSTM reads at a time: what it makes of so many words of each stays in the cache."""


class BatchParser:
    """Parses any number of sentences with fixed weights. Parsing changes nothing in it, so threads may share it."""

    def __init__(self, engine: Engine, vocabulary: ParserVocabulary, calibration: Calibration | None = None) -> None:
        self.engine = engine
        self.vocabulary = vocabulary
        self.calibration = calibration

    @classmethod
    def of(
        cls,
        arrays: Mapping[str, Floats],
        config: ParserConfig,
        vocabulary: ParserVocabulary,
        calibration: Calibration | None = None,
    ) -> BatchParser:
        """From the arrays of a model."""
        networks = networks_of(arrays, config.members, rnn=config.network.rnn)
        return cls(Engine(*networks), vocabulary, calibration)

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        """The tags that sentences must have: ``upos``, ``xpos``, both or none."""
        return tuple(self.vocabulary.tags)

    def parse(
        self, sentences: Sequence[Sentence], *, batch_size: int = BATCH_SIZE, max_words: int = MAX_BATCH_WORDS
    ) -> list[Parse]:
        """The parses in the order of the sentences. A batch has at most ``batch_size`` sentences and ``max_words``
        words, divided by the number of members; a sentence longer than that is a batch of its own. Tags that are
        missing count as unknown ones: :func:`check_tags` tells."""
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}; it must be at least 1")
        workspace, lengths = Workspace(), [len(sentence) for sentence in sentences]
        parses: dict[int, Parse] = {}
        for batch in _batches(lengths, batch_size=batch_size, max_words=max_words // len(self.engine.members)):
            parsed = self.parse_batch([sentences[number] for number in batch], workspace)
            parses.update(zip(batch, parsed, strict=True))
        return [parses[number] for number in range(len(sentences))]

    def parse_batch(
        self, sentences: Sequence[Sentence], workspace: Workspace, choose: Choose = easiest
    ) -> Iterator[Parse]:
        """The parses of a batch, longest sentence first."""
        lengths = [len(sentence) for sentence in sentences]
        parts = [sentences[begin : begin + READ_AT_ONCE] for begin in range(0, len(sentences), READ_AT_ONCE)]
        with overflow_is_fine():
            vectors = np.concatenate([self._encode(part) for part in parts])
        is_constrained = any(sentence.constraints is not None for sentence in sentences)
        if is_constrained:
            choose = Constrained(lengths, [check_constraints(s, self.vocabulary) for s in sentences], choose)
        derivations = self.engine.run(vectors, lengths, choose, workspace)
        parses = _read_off(sentences, derivations, self.vocabulary, self.calibration)
        return map(_with_fixed_root, parses) if is_constrained else parses

    def _encode(self, sentences: Sequence[Sentence]) -> npt.NDArray[np.float32]:
        """v_i by every member, side by side."""
        packing, ids = Packing.of([len(sentence) for sentence in sentences]), self.vocabulary.encode(sentences)
        found = [encode_words(NUMPY, member.network.words, ids, packing) for member in self.engine.members]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def _with_fixed_root(parse: Parse) -> Parse:
    """The root's relation is no action's; if constraints fix it, it is that one."""
    root = parse.tree.root
    fixed = parse.sentence.constraints and parse.sentence.constraints.relations.get(root)
    return replace(parse, relations=(*parse.relations[: root - 1], fixed, *parse.relations[root:])) if fixed else parse


def check_tags(
    sentence: Sentence,
    tag_kinds: Sequence[str],
    vocabulary: ParserVocabulary | None = None,
    *,
    name: str = "this sentence",
) -> None:
    """Raise an error if a sentence has no word with a tag of a kind that is needed (a single ``_`` is an unknown tag),
    unless the vocabulary knows ``_`` as a tag, because words of the treebank had none.

    A :class:`DataError` with file and line if the sentence comes from a file, else an :class:`InputError`.
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
        raise InputError(f"{message}; give {words}, or use {other_model}")


def _batches(lengths: Sequence[int], *, batch_size: int, max_words: int) -> Iterator[list[int]]:
    """The numbers of all sentences, cut into batches, longest sentence first."""
    batch: list[int] = []
    n_words = 0
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        if batch and (len(batch) == batch_size or n_words + lengths[number] > max_words):
            yield batch
            batch, n_words = [], 0
        batch.append(number)
        n_words += lengths[number]
    if batch:
        yield batch


def _read_off(
    sentences: Sequence[Sentence],
    derivations: Derivations,
    vocabulary: ParserVocabulary,
    calibration: Calibration | None,
) -> Iterator[Parse]:
    """The trees of a batch. The engine's arrays go step by step; these go sentence by sentence."""
    starts = derivations.starts
    n_words = int(derivations.lengths.sum())
    root = len(vocabulary.relations)
    heads = np.zeros(n_words, dtype=np.int64)
    relations = np.full(n_words, root, dtype=np.int64)
    # from a sentence's first row on, step after step; the last is not used
    modifiers = np.zeros(n_words, dtype=np.int32)
    scores = np.zeros(n_words, dtype=np.float32)
    margins = np.zeros(n_words, dtype=np.float32)
    label_margins = np.zeros(n_words, dtype=np.float32)
    if derivations.modifiers:
        n_active = [len(rows) for rows in derivations.modifiers]
        first = starts[np.concatenate([np.arange(n) for n in n_active])]  # of each attachment's sentence
        rows = np.concatenate(derivations.modifiers)
        heads[rows] = np.concatenate(derivations.heads) - first + 1
        relations[rows] = np.concatenate([actions.relations for actions in derivations.actions])
        places = first + np.repeat(np.arange(len(n_active)), n_active)
        modifiers[places] = rows - first + 1
        scores[places] = np.concatenate([actions.scores for actions in derivations.actions])
        margins[places] = np.concatenate([actions.margins for actions in derivations.actions])
        label_margins[places] = np.concatenate([actions.label_margins for actions in derivations.actions])
        if not np.isfinite(scores).all():
            raise ModelError("the model gives scores that are not finite numbers; its weights are no good")
    names = (*vocabulary.relations, vocabulary.root_relation)
    head_ids: list[int] = heads.tolist()
    relation_ids: list[int] = relations.tolist()
    relation_names = [names[number] for number in relation_ids]
    for sentence, start in zip(sentences, starts.tolist(), strict=True):
        end = start + len(sentence)
        steps = slice(start, end - 1)
        yield Parse(
            sentence,
            tuple(head_ids[start:end]),
            tuple(relation_names[start:end]),
            Steps(modifiers[steps], scores[steps], margins[steps], label_margins[steps]),
            tagged=sentence,
            calibration=calibration,
        )
