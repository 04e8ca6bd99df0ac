"""What training reads: treebanks, checked before anything else happens, and what is worth knowing about them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np

from easyfirst.constraints.feasible import HeadSets, find_tree
from easyfirst.errors import DataError
from easyfirst.model.lexicon import external_ids, normalise, tags_of
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.partial import check_known_arcs, knows_nothing
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.scores import percent
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.streams import open_file
from easyfirst.treebank.tree import check_tree


@dataclass(frozen=True, slots=True)
class Treebank:
    """Sentences with gold trees, and the file they are from."""

    path: str
    sha256: str
    """Of the file's content, unpacked."""
    sentences: tuple[Sentence, ...]

    @property
    def n_words(self) -> int:
        return sum(map(len, self.sentences))

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        """The kinds of tags that at least one word has."""
        return tuple(
            kind
            for kind in TAG_KINDS
            if any(tag != "_" for sentence in self.sentences for tag in tags_of(sentence, kind))
        )


@dataclass(frozen=True, slots=True)
class DataReport:
    """What training says about its data before it starts."""

    train: str
    train_sentences: int
    train_words: int
    relations: int
    non_projective: int
    """Training sentences that are skipped, because no bottom-up parser can build their trees."""
    non_projective_percent: float
    unknown_heads: int
    """Words of the others whose heads are not known: they cost nothing."""
    nothing_known: int
    """Training sentences that are skipped, because no word of them has a head."""
    dev: str | None
    dev_sentences: int
    dev_words: int
    dev_unknown_percent: float
    """Share of dev words that training has never seen."""
    vectors: int | None
    """Words that have an external vector; None: there are no such vectors."""
    vectors_percent: float
    """Share of training words that have one."""


def read_treebank(path: str | PathLike[str], *, is_partial: bool = False) -> Treebank:
    """All sentences of a file; raises :class:`DataError` if there are none or one has no proper tree. Where only a part
    of the trees need be known (``is_partial``), that part must be of a tree."""
    sentences: list[Sentence] = []
    digest = hashlib.sha256()
    with open_file(path) as stream:  # read once: it may be a pipe
        reader = ConlluReader(stream, fspath(path))
        for sentence in reader:
            if is_partial:
                check_known_arcs(sentence)
            else:
                check_tree(sentence)
            sentences.append(sentence)
            digest.update(sentence.to_bytes())
    digest.update(reader.trailer)
    if not sentences:
        raise DataError("no sentences in this file; give a treebank in CoNLL-U", source=fspath(path))
    return Treebank(fspath(path), digest.hexdigest(), tuple(sentences))


def check_tags_given(treebank: Treebank, tag_kinds: Sequence[str]) -> None:
    """Raise :class:`DataError` if the treebank has none of the tags that the network is to read."""
    if lacking := [kind.upper() for kind in tag_kinds if kind not in treebank.tag_kinds]:
        others = " or ".join(f"--tags {kind}" for kind in (*treebank.tag_kinds, "none"))
        raise DataError(f"this treebank has no {' and no '.join(lacking)} tags; choose {others}", source=treebank.path)


def projective_part(treebank: Treebank) -> list[Sentence]:
    """The sentences a bottom-up parser can learn from: what is known of their trees is something, and projective."""
    if all(map(knows_nothing, treebank.sentences)):
        raise DataError("no word has a HEAD, so there is nothing to learn", source=treebank.path)
    kept = [s for s in treebank.sentences if not knows_nothing(s) and _fits_projective_tree(s)]
    if not any(len(sentence) > 1 for sentence in kept):
        raise DataError("no projective sentence of two words or more to learn from", source=treebank.path)
    if not any(head and relation for s in kept for head, relation in zip(s.heads, s.relations, strict=True)):
        raise DataError("no word has a HEAD and a DEPREL, so there are no relations to learn", source=treebank.path)
    return kept


def _fits_projective_tree(sentence: Sentence) -> bool:
    heads = [head for head in sentence.heads if head is not None]
    if len(heads) == len(sentence):
        return is_projective(heads)
    return find_tree(HeadSets.fixed(sentence.heads)) is not None


def describe(
    train: Treebank, kept: Sequence[Sentence], dev: Treebank | None, vocabulary: ParserVocabulary
) -> DataReport:
    """Count what there is; those training sentences that are ``kept`` are learnt from."""
    n_train = len(train.sentences)
    n_known = sum(not knows_nothing(sentence) for sentence in train.sentences)
    dev_forms = [form for sentence in dev.sentences for form in sentence.forms] if dev else []
    n_unknown = sum(normalise(form) not in vocabulary.words for form in dev_forms)
    return DataReport(
        train=train.path,
        train_sentences=n_train,
        train_words=train.n_words,
        relations=len(vocabulary.relations) + (vocabulary.root_relation not in vocabulary.relations),
        non_projective=n_known - len(kept),
        non_projective_percent=percent(n_known - len(kept), n_train),
        unknown_heads=sum(sentence.heads.count(None) for sentence in kept),
        nothing_known=n_train - n_known,
        dev=dev.path if dev else None,
        dev_sentences=len(dev.sentences) if dev else 0,
        dev_words=len(dev_forms),
        dev_unknown_percent=percent(n_unknown, len(dev_forms)),
        vectors=None if vocabulary.external is None else len(vocabulary.external),
        vectors_percent=percent(_n_with_vector(train, vocabulary), train.n_words),
    )


def _n_with_vector(treebank: Treebank, vocabulary: ParserVocabulary) -> int:
    if vocabulary.external is None:
        return 0
    forms = [form for sentence in treebank.sentences for form in sentence.forms]
    return int(np.count_nonzero(external_ids(vocabulary.external, forms)))
