"""Training data: the files of a run, read and checked before anything is trained, and statistics about them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from easyfirst.constraints.feasible import HeadSets, find_tree
from easyfirst.errors import DataError
from easyfirst.model.constituency_config import ConstituencyConfig
from easyfirst.model.embeddings import Embeddings, external_table, first_embeddings, read_embeddings, scaled
from easyfirst.model.lexicon import external_ids, normalise, tags_of
from easyfirst.model.parser_config import TAGS
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.training.crossing import LiftedSentences
from easyfirst.training.folds import deal
from easyfirst.training.known_words import KnownWords, read_known_words
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.scores import percent
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import open_file
from easyfirst.treebank.tree import check_known_arcs, check_tree, has_no_heads

MAX_SKIPPED, MIN_RIGHT = 1000, 100  # with more wrong sentences, or fewer right ones for each, a file is refused
HELD_OUT_SHARE = 10  # one of so many parts
MIN_TO_SPLIT = 20  # sentences


@dataclass(frozen=True, slots=True)
class Job:
    """The files to train on, and the directory of the model."""

    train: Path
    out: Path
    dev: Path | None = None
    vectors: Path | None = None
    max_vectors: int | None = None  # the number of vectors to read from the beginning of the file; None: all
    vector_bits: int = 8  # the bits of each number in frozen vectors
    licence: str | None = None
    holds_out: bool = False  # without a dev treebank, hold out a tenth of the training treebank in its place
    text: Path | None = None  # plain text, whose frequent words the tokenizer learns
    init: Path | None = None  # the model whose parser is trained further
    constituency: ConstituencyConfig | None = None  # the treebanks are brackets; how they are encoded
    encoder: Path | None = None  # the directory of a Hugging Face model, whose vectors the parser reads
    device: str = "cpu"  # where this model is trained


@dataclass(frozen=True, slots=True)
class Treebank:
    """The sentences of a file."""

    path: str
    sha256: str  # the checksum of the file's content, unpacked
    sentences: tuple[Sentence, ...]
    skipped: tuple[str, ...] = ()  # why sentences that are no trees were left out, with their lines

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        """The kinds of tags that at least one word has."""
        return tuple(kind for kind in TAG_KINDS if any(set(tags_of(s, kind)) - {"_"} for s in self.sentences))

    def n_tags(self, kind: str) -> int:
        """Return the number of different tags of a kind."""
        return len({tag for sentence in self.sentences for tag in tags_of(sentence, kind)})


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The content of a job's files."""

    train: Treebank
    dev: Treebank | None = None
    vectors: Embeddings | None = None  # the word vectors, if they are fine-tuned
    shared_vectors: SharedVectors | None = None  # the word vectors, if they are frozen
    is_trainable: Sequence[bool] = ()  # which training sentences a parser can learn from, if checked_for_parser
    note: str = ""  # a remark on the training data for the model's card
    has_predicted_tags: bool = False
    remarks: tuple[str, ...] = ()  # what users should know
    known_words: KnownWords | None = None  # the frequent words of other text

    @classmethod
    def read(cls, job: Job, *, freeze_external: bool, needs_trees: bool = True) -> TrainingData:
        """Read the files of a job. ``needs_trees``: every dev sentence must have a complete tree."""
        train, dev = _read_treebanks(job, needs_trees=needs_trees)
        remarks: list[str] = []
        if train.skipped:
            remarks.append(f"warning: skipped sentences that are not trees: {len(train.skipped)}; {train.skipped[0]}")
        if dev is None and job.holds_out:
            n_all = len(train.sentences)
            train, dev = held_out(train, needs_trees=needs_trees)
            remarks.append(
                f"no --dev: {len(dev.sentences):,} of {n_all:,} sentences are held out to choose the best epoch "
                "and to calibrate; --no-dev learns from all of them"
                if dev is not None
                else "no --dev, and too few sentences to hold some out: the last epoch is kept, without confidence"
            )
        known = None if job.text is None else read_known_words(job.text)
        data = cls(train, dev, known_words=known, remarks=tuple(remarks))
        if job.vectors is None:
            return data
        vectors = scaled(first_embeddings(read_embeddings(job.vectors), job.max_vectors))
        if freeze_external:
            return replace(data, shared_vectors=SharedVectors.of(vectors, job.vector_bits))
        return replace(data, vectors=vectors)

    def checked_for_parser(
        self, tag_kinds: Sequence[str], *, predicts_tags: bool = False, projective: bool = False
    ) -> TrainingData:
        """Find the sentences that a parser can learn from; raise :class:`DataError` if there are none, or no tags.
        ``predicts_tags``: the tags of dev will be predicted, so only the training treebank must have them.
        ``projective``: crossing arcs will not be lifted."""
        check_tags_given(self.train, tag_kinds)
        if self.dev is not None and not predicts_tags:
            check_tags_given(self.dev, tag_kinds)
        return replace(self, is_trainable=trainable(self.train, projective=projective))

    @property
    def parser_sentences(self) -> list[Sentence]:
        """The training sentences that a parser can learn from."""
        return list(compress(self.train.sentences, self.is_trainable))

    @property
    def external_words(self) -> Sequence[str] | None:
        if self.shared_vectors is not None:
            return list(self.shared_vectors.rows)
        return self.vectors.words if self.vectors is not None else None

    @property
    def external_table(self) -> Floats | None:
        if self.shared_vectors is not None:
            return self.shared_vectors.table
        return external_table(self.vectors) if self.vectors is not None else None

    @property
    def fingerprint(self) -> dict[str, str | None]:
        """The checksums that must be unchanged to resume a run."""
        vectors = self.shared_vectors.sha256 if self.shared_vectors is not None else None
        if self.vectors is not None:
            digest = hashlib.sha256("\n".join(self.vectors.words).encode())
            digest.update(np.ascontiguousarray(self.vectors.vectors).data)
            vectors = digest.hexdigest()
        return {"train": self.train.sha256, "dev": self.dev.sha256 if self.dev else None, "vectors": vectors}


@dataclass(frozen=True, slots=True)
class DataReport:
    """Statistics about a parser's training data."""

    train: str
    train_sentences: int
    train_words: int
    relations: int
    crossing: str | None  # the scheme that encodes crossing arcs in relations; None: no relation has a mark
    marked_relations: int  # the relations with a mark, beside the others
    non_projective: int  # the training sentences that a bottom-up parser cannot build: they are lifted or skipped
    non_projective_percent: float
    lifted_arcs: int  # the words that were lifted in them; 0 if they are skipped
    restorable_arcs: int  # the lifted words with a mark, which can be restored
    unknown_heads: int  # the words without a head in the other sentences; they have no loss
    nothing_known: int  # the training sentences that are skipped because none of their words has a head
    dev: str | None
    dev_sentences: int
    dev_words: int
    dev_unknown_percent: float  # the share of dev words that do not occur in training
    vectors: int | None  # the number of external vectors; None without such vectors
    vectors_percent: float  # the share of training words that have an external vector


def _read_treebanks(job: Job, *, needs_trees: bool) -> tuple[Treebank, Treebank | None]:
    """Read the training treebank and the dev treebank."""
    if job.constituency is not None:
        from easyfirst.training.constituency import read_constituency_treebank  # which imports this module

        train = read_constituency_treebank(job.train, job.constituency)
        return train, read_constituency_treebank(job.dev, job.constituency, train) if job.dev else None
    train = read_treebank(job.train, is_partial=True, skips=True)
    return train, read_treebank(job.dev, is_partial=not needs_trees) if job.dev else None


def read_treebank(path: str | PathLike[str], *, is_partial: bool = False, skips: bool = False) -> Treebank:
    """Read all sentences of a file; raise :class:`DataError` if there are none, or one is not a tree.
    ``is_partial``: trees may be incomplete, but their known arcs must be part of a tree. ``skips``: leave out sentences
    that are not, unless they are many."""
    check = check_known_arcs if is_partial else check_tree
    sentences: list[Sentence] = []
    errors: list[DataError] = []
    digest = hashlib.sha256()
    with open_file(path) as stream:  # read once: it may be a pipe
        reader = ConlluReader(stream, fspath(path))
        for sentence in reader:
            try:
                check(sentence)
                sentences.append(sentence)
            except DataError as error:
                errors.append(error)
                if not skips or len(errors) > MAX_SKIPPED:
                    raise errors[0] from None
            digest.update(sentence.to_bytes())
    digest.update(reader.trailer)
    if len(errors) * MIN_RIGHT > len(sentences):
        raise errors[0]
    if not sentences:
        raise DataError("no sentences in this file; give a treebank in CoNLL-U", source=fspath(path))
    return Treebank(fspath(path), digest.hexdigest(), tuple(sentences), tuple(map(str, errors)))


def held_out(treebank: Treebank, *, needs_trees: bool) -> tuple[Treebank, Treebank | None]:
    """Split a treebank into nine tenths and one, of whole documents if there are enough of them. ``needs_trees``: only
    sentences with complete trees are dealt. A treebank of a few sentences is not split."""
    fit = [number for number, s in enumerate(treebank.sentences) if not (needs_trees and None in s.heads)]
    if len(fit) < MIN_TO_SPLIT:
        return treebank, None
    folds = deal([treebank.sentences[number] for number in fit], HELD_OUT_SHARE, seed=0)
    held = {number for number, fold in zip(fit, folds, strict=True) if fold == 1}
    dev = tuple(s for number, s in enumerate(treebank.sentences) if number in held)
    train = tuple(s for number, s in enumerate(treebank.sentences) if number not in held)
    name = f"a tenth of {treebank.path}"
    sha256 = hashlib.sha256(f"{treebank.sha256} held out".encode()).hexdigest()
    return replace(treebank, sentences=train), Treebank(name, sha256, dev)


def check_tags_given(treebank: Treebank, tag_kinds: Sequence[str]) -> None:
    """Raise :class:`DataError` if a kind of tags that the network reads is missing from the whole treebank."""
    if lacking := [kind.upper() for kind in tag_kinds if kind not in treebank.tag_kinds]:
        choices = [name for name, kinds in TAGS.items() if set(kinds) <= set(treebank.tag_kinds)]
        others = " or ".join(choices[1:] + choices[:1])
        raise DataError(
            f"this treebank has no {' and no '.join(lacking)}; choose --tags {others}", source=treebank.path
        )


def trainable(treebank: Treebank, *, projective: bool) -> list[bool]:
    """Return which sentences a bottom-up parser can learn from: those with heads, and if ``projective``, those that fit
    a projective tree."""
    if all(map(has_no_heads, treebank.sentences)):
        raise DataError("no word has a HEAD, so there is nothing to learn", source=treebank.path)
    mask = [not has_no_heads(s) and (not projective or _fits_projective_tree(s)) for s in treebank.sentences]
    kept = list(compress(treebank.sentences, mask))
    if not any(len(sentence) > 1 for sentence in kept):
        kind = "projective sentence" if projective else "sentence"
        raise DataError(f"no {kind} of two words or more to learn from", source=treebank.path)
    if not any(head and relation for s in kept for head, relation in zip(s.heads, s.relations, strict=True)):
        raise DataError("no word has a HEAD and a DEPREL, so there are no relations to learn", source=treebank.path)
    return mask


def _fits_projective_tree(sentence: Sentence) -> bool:
    heads = [head for head in sentence.heads if head is not None]
    if len(heads) == len(sentence):
        return is_projective(heads)
    return find_tree(HeadSets.fixed(sentence.heads)) is not None


def describe(
    train: Treebank, lifted: LiftedSentences, dev: Treebank | None, vocabulary: ParserVocabulary
) -> DataReport:
    """Return statistics about the data. ``lifted``: the training sentences that are learnt from."""
    kept = lifted.sentences
    n_train = len(train.sentences)
    n_known = sum(not has_no_heads(sentence) for sentence in train.sentences)
    n_crossing = n_known - len(kept) + lifted.n_sentences
    dev_forms = [form for sentence in dev.sentences for form in sentence.forms] if dev else []
    n_unknown = sum(normalise(form) not in vocabulary.words for form in dev_forms)
    forms, external = [form for sentence in train.sentences for form in sentence.forms], vocabulary.external
    n_with_vector = 0 if external is None else int(np.count_nonzero(external_ids(external, forms)))
    return DataReport(
        train=train.path,
        train_sentences=n_train,
        train_words=len(forms),
        relations=len({*vocabulary.plain_relations, vocabulary.root_relation}),
        crossing=vocabulary.crossing,
        marked_relations=sum(label.mark is not None for label in vocabulary.labels),
        non_projective=n_crossing,
        non_projective_percent=percent(n_crossing, n_train),
        lifted_arcs=lifted.n_arcs,
        restorable_arcs=lifted.n_restorable,
        unknown_heads=sum(sentence.heads.count(None) for sentence in kept),
        nothing_known=n_train - n_known,
        dev=dev.path if dev else None,
        dev_sentences=len(dev.sentences) if dev else 0,
        dev_words=len(dev_forms),
        dev_unknown_percent=percent(n_unknown, len(dev_forms)),
        vectors=None if external is None else len(external),
        vectors_percent=percent(n_with_vector, len(forms)),
    )
