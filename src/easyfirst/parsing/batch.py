"""Sentences in, trees out: cuts the input into batches for the engine and reads the trees off its derivations.

A batch holds sentences of similar length, since a batch takes as many steps as its longest sentence has words. It is
bounded in sentences and in words: every word of a batch costs the engine memory (17 kB with the paper's sizes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from easyfirst.errors import DataError, InputError, ModelError
from easyfirst.model.calibration import Calibration
from easyfirst.model.config import Config
from easyfirst.model.vocab import Vocabulary, tags_of
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.network import network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.confidence import Confidence, confidence_of, misc_of, require_confidence, rounded
from easyfirst.parsing.conflicts import check_constraints
from easyfirst.parsing.constrained import Constrained
from easyfirst.parsing.derivation import Attachment, Derivations, Steps, finite
from easyfirst.parsing.engine import Choose, Engine, easiest
from easyfirst.parsing.workspace import Workspace
from easyfirst.render.terminal import draw_tree
from easyfirst.treebank.sentence import Sentence, Word
from easyfirst.treebank.tree import Tree

BATCH_SIZE = 256
MAX_BATCH_WORDS = 6144
"""With the paper's sizes a batch of that many words takes about 105 MB."""

READ_AT_ONCE = 96
"""How many sentences the BiLSTM reads at a time: what it makes of so many words of each stays in the cache."""


@dataclass(frozen=True, slots=True, repr=False)
class Parse:
    """A sentence and the tree the parser built over it."""

    sentence: Sentence
    """As it was given; if it had heads and relations, it still has them."""
    heads: tuple[int, ...]
    """The head of each word: its id, counted from 1, or 0 for the root, of which there is exactly one."""
    relations: tuple[str, ...]
    steps: Steps = field(compare=False)
    """What ``derivation`` is made of, in arrays."""
    tagged: Sentence = field(compare=False)
    """The sentence with the tags it was parsed with: given ones and, where there was none, predicted ones."""
    calibration: Calibration | None = field(default=None, compare=False)
    """What ``confidence`` is made with, if the model has one."""

    def __len__(self) -> int:
        return len(self.heads)

    def __repr__(self) -> str:
        return f"Parse({' '.join(self.sentence.forms)!r}, heads={self.heads}, relations={self.relations})"

    def __str__(self) -> str:
        """A line for each word: its id, its form, its head and the relation between them."""
        id_width = len(str(len(self)))
        form_width = max(map(len, self.sentence.forms))
        rows = enumerate(zip(self.sentence.forms, self.heads, self.relations, strict=True), 1)
        return "\n".join(
            f"{m:>{id_width}} {form:<{form_width}} {head:>{id_width}} {relation}" for m, (form, head, relation) in rows
        )

    @property
    def tree(self) -> Tree:
        return Tree(self.heads, self.relations)

    @property
    def fixed_heads(self) -> tuple[int, ...]:
        """The words whose heads were not for the parser to find, because constraints fixed them."""
        return () if self.sentence.constraints is None else tuple(sorted(self.sentence.constraints.heads))

    @property
    def fixed_relations(self) -> tuple[int, ...]:
        """The words whose relations were fixed by constraints."""
        return () if self.sentence.constraints is None else tuple(sorted(self.sentence.constraints.relations))

    @property
    def words(self) -> tuple[Word, ...]:
        """The words with all their columns, heads and relations from this parse."""
        return self.sentence.with_tree(self.heads, self.relations).words

    @property
    def derivation(self) -> tuple[Attachment, ...]:
        """Every attachment in the order it was decided: one less than there are words. Made anew at each call."""
        modifiers: list[int] = self.steps.modifiers.tolist()
        scores, margins, label_margins = (
            column.tolist() for column in (self.steps.scores, self.steps.margins, self.steps.label_margins)
        )
        steps = zip(modifiers, scores, margins, label_margins, strict=True)
        return tuple(
            Attachment(
                step=step,
                head=self.heads[m - 1],
                modifier=m,
                relation=self.relations[m - 1],
                score=score,
                margin=margin,
                label_margin=label_margin,
            )
            for step, (m, score, margin, label_margin) in enumerate(steps, 1)
        )

    @property
    def confidence(self) -> Confidence | None:
        """How sure the tree, its arcs and its labels are; None if the model has no calibration. Made anew at each
        call."""
        return None if self.calibration is None else confidence_of(self.heads, self.steps, self.calibration)

    def draw(self, *, width: int | None = None, confidence: bool = False) -> str:
        """The tree in characters, for a terminal of so many columns; with ``confidence``, how sure each arc is."""
        arcs = require_confidence(self.confidence).arcs if confidence else None
        return draw_tree(self.tagged.forms, self.heads, self.relations, self.tagged.upos, confidence=arcs, width=width)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: how sure the tree is; the words with their tags, heads and relations, how sure these are (null if
        the model has no calibration), and how each attachment was decided: at which step, with what score and by what
        margins (null for the root, which is what is left, and where there was no other action). With constraints, each
        word says what of it was ``fixed``: a list of ``head`` and ``relation``."""
        decided = {step.modifier: step for step in self.derivation}
        confidence = self.confidence
        words: list[dict[str, Any]] = []
        tagged = self.tagged
        columns = zip(tagged.forms, tagged.upos, tagged.xpos, self.heads, self.relations, strict=True)
        for m, (form, upos, xpos, head, relation) in enumerate(columns, 1):
            step = decided.get(m)
            words.append(
                {
                    "id": m,
                    "form": form,
                    "upos": None if upos == "_" else upos,
                    "xpos": None if xpos == "_" else xpos,
                    "head": head,
                    "relation": relation,
                    "arc_confidence": rounded(confidence.arcs[m - 1]) if confidence else None,
                    "label_confidence": rounded(confidence.labels[m - 1]) if confidence else None,
                    "step": step.step if step else None,
                    "score": round(step.score, 4) if step else None,
                    "margin": finite(step.margin) if step else None,
                    "label_margin": finite(step.label_margin) if step else None,
                }
            )
        if self.sentence.constraints is not None:
            fixed = {"head": self.fixed_heads, "relation": self.fixed_relations}
            for m, word in enumerate(words, 1):
                word["fixed"] = [what for what, modifiers in fixed.items() if m in modifiers]
        return {"confidence": rounded(confidence.tree) if confidence else None, "words": words}

    def to_bytes(self, *, deps: bool = False, tags: bool = False, confidence: bool = False) -> bytes:
        """The sentence as CoNLL-U with this tree in HEAD and DEPREL, with ``deps`` in DEPS too, with ``tags`` predicted
        tags in UPOS and XPOS where there were none, and with ``confidence`` ``ArcConf``, ``LabelConf`` and ``Step`` in
        MISC, which needs a model with a calibration; every other byte is as it was read."""
        sentence = self.tagged if tags else self.sentence
        sentence = sentence.with_tree(self.heads, self.relations, deps=deps)
        if confidence:
            sentence = sentence.with_misc(misc_of(self.steps, require_confidence(self.confidence)))
        return sentence.to_bytes()

    def to_conllu(self, *, deps: bool = False, tags: bool = False, confidence: bool = False) -> str:
        """:meth:`to_bytes` as text."""
        return self.to_bytes(deps=deps, tags=tags, confidence=confidence).decode()


class BatchParser:
    """Parses any number of sentences with fixed weights. Parsing changes nothing in it, so threads may share it."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary, calibration: Calibration | None = None) -> None:
        self.engine = engine
        self.vocabulary = vocabulary
        self.calibration = calibration

    @classmethod
    def of(
        cls,
        arrays: Mapping[str, Floats],
        config: Config,
        vocabulary: Vocabulary,
        calibration: Calibration | None = None,
    ) -> BatchParser:
        """From the arrays of a model."""
        return cls(Engine(network_of(arrays, rnn=config.network.rnn)), vocabulary, calibration)

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        """The tags that sentences must have: ``upos``, ``xpos``, both or none."""
        return tuple(self.vocabulary.tags)

    def parse(
        self, sentences: Sequence[Sentence], *, batch_size: int = BATCH_SIZE, max_words: int = MAX_BATCH_WORDS
    ) -> list[Parse]:
        """The parses in the order of the sentences. A batch has at most ``batch_size`` sentences and ``max_words``
        words; a sentence longer than that is a batch of its own. Tags that are missing count as unknown ones:
        :func:`check_tags` tells."""
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}; it must be at least 1")
        workspace = Workspace()
        parses: dict[int, Parse] = {}
        for batch in _batches([len(sentence) for sentence in sentences], batch_size=batch_size, max_words=max_words):
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
        packing = Packing.of([len(sentence) for sentence in sentences])
        return encode_words(NUMPY, self.engine.network.words, self.vocabulary.encode(sentences), packing)


def _with_fixed_root(parse: Parse) -> Parse:
    """The root's relation is no action's; if constraints fix it, it is that one."""
    root = parse.tree.root
    fixed = parse.sentence.constraints and parse.sentence.constraints.relations.get(root)
    return replace(parse, relations=(*parse.relations[: root - 1], fixed, *parse.relations[root:])) if fixed else parse


def check_tags(
    sentence: Sentence, tag_kinds: Sequence[str], vocabulary: Vocabulary | None = None, *, name: str = "this sentence"
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
            message = f"{message}; give CoNLL-U with {column} filled in, or {other_model}"
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
    sentences: Sequence[Sentence], derivations: Derivations, vocabulary: Vocabulary, calibration: Calibration | None
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
