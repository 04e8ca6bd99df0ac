"""Write parses into a spaCy Doc: heads, relations, tags, features, lemmas, sentence starts and confidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from easyfirst.results.documents import Document
from easyfirst.results.parses import Parse
from easyfirst.results.spacy_docs.alignment import Placed, cut_text
from easyfirst.results.spacy_docs.annotations import (
    ANNOTATIONS,
    COLUMNS,
    DEP,
    LEMMA,
    MORPH,
    OTHER,
    POS,
    ROOT,
    SENT_START,
    SPACE_POS,
    SPACE_TAG,
    TAG,
    to_label,
)
from easyfirst.results.spacy_docs.extensions import ARC_CONFIDENCE, LABEL_CONFIDENCE, require_spacy, set_document
from easyfirst.results.spacy_docs.merging import join_cells, merge_words, unite_features
from easyfirst.results.spacy_docs.noun_chunks import noun_chunks_for
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_PLAIN = tuple(COLUMNS)  # the annotations that are columns of words


def to_doc(document: Document, vocab: Vocab) -> Doc:
    """Return a document as a Doc of the same text."""
    doc, sentences = _make_doc(document.text, document.tokens, vocab)
    write_parses(doc, sentences, document.sentences)
    set_document(doc, document)
    doc.noun_chunks_iterator = noun_chunks_for(vocab)
    return doc


def new_doc(text: str, tokens: Sequence[Sequence[Token]], vocab: Vocab) -> Doc:
    """Return a tokenized text as a Doc with sentence starts and no other annotations."""
    doc, sentences = _make_doc(text, tokens, vocab)
    columns = _Columns(doc)
    for placed in sentences:
        columns.add_white_space(placed, ())
    columns.write((), (), tree=False, starts=True)
    return doc


def _make_doc(text: str, tokens: Sequence[Sequence[Token]], vocab: Vocab) -> tuple[Doc, list[Placed]]:
    require_spacy()
    from spacy.tokens import Doc

    words, spaces, sentences = cut_text(text, tokens)
    return Doc(vocab, words=words, spaces=spaces), sentences


def write_parses(
    doc: Doc,
    sentences: Sequence[Placed],
    parses: Iterable[Parse],
    *,
    annotations: Collection[str] = ANNOTATIONS,
    overwritten: Collection[str] = ANNOTATIONS,
    has_features: bool = False,
) -> None:
    """Write the parses of all sentences that have words into their Doc.

    Only ``annotations`` are written. What the Doc has already is kept, except for what is ``overwritten``. A word with
    no features gets empty ones if any word has features, or with ``has_features``.
    """
    if not len(doc):
        return
    columns = _Columns(doc)
    waiting = iter(parses)
    pairs = [(placed, next(waiting) if placed.tokens else None) for placed in sentences]
    known = _known_columns([parse.tagged for _, parse in pairs if parse is not None])
    known |= {MORPH} if has_features else set()
    known |= {TAG, POS, LEMMA} if all(parse is None for _, parse in pairs) else set()  # there is only white space
    for placed, parse in pairs:
        columns.add_white_space(placed, known)
        if parse is not None:
            columns.add_parse(placed, parse, known)
    writes_tree = DEP in annotations and (DEP in overwritten or not doc.has_annotation("DEP"))
    has_tree = writes_tree or doc.has_annotation("DEP")
    columns.write(annotations, overwritten, tree=writes_tree, starts=SENT_START in annotations and not has_tree)
    if writes_tree:
        _write_confidence(doc, pairs)


class _Columns:
    """New values of the attributes of all tokens of a Doc, as spaCy's numbers for them; 0 is no value."""

    def __init__(self, doc: Doc) -> None:
        from spacy.parts_of_speech import IDS

        self._doc = doc
        self._parts_of_speech = IDS
        self._heads = [0] * len(doc)  # relative to the token
        self._starts = [-1] * len(doc)
        self._values = {name: [0] * len(doc) for name in (DEP, *_PLAIN)}

    def add_white_space(self, placed: Placed, known: Collection[str]) -> None:
        """Attach the white space of a sentence to the word before it, or else to the first. If there are no words, the
        first token is the root."""
        self._starts[placed.begin] = 1
        if len(placed.tokens) == placed.end - placed.begin:
            return
        words, add = set(placed.tokens), self._doc.vocab.strings.add
        nearest = placed.tokens[0] if words else placed.begin
        for i in range(placed.begin, placed.end):
            if i in words:
                nearest = i
                continue
            self._heads[i] = nearest - i
            self._values[DEP][i] = add(ROOT if i == nearest else OTHER)
            values = {TAG: add(SPACE_TAG), POS: self._parts_of_speech[SPACE_POS], LEMMA: add(self._doc[i].text)}
            values[MORPH] = self._doc.vocab.morphology.add("_")
            for name in known:
                self._values[name][i] = values[name]

    def add_parse(self, placed: Placed, parse: Parse, known: Collection[str]) -> None:
        """Add the tree and the tags of a sentence. Several words of one token are merged."""
        tagged, relations, tokens = parse.tagged, parse.relations, placed.tokens
        add, add_features = self._doc.vocab.strings.add, self._doc.vocab.morphology.add
        deps, tags, parts, features, lemmas = (self._values[name] for name in (DEP, *_PLAIN))
        for i, (head, top, words) in zip(tokens, merge_words(parse.heads, placed.n_words), strict=True):
            self._heads[i] = 0 if head is None else tokens[head] - i
            deps[i] = add(to_label(relations[top]) if head is None else relations[top])
            parts[i] = self._parts_of_speech.get(tagged.upos[top], 0)
            tags[i] = add(join_cells("_", tagged.xpos[words]))
            lemmas[i] = add(join_cells(" ", tagged.lemmas[words]))
            if MORPH in known:
                features[i] = add_features(unite_features(tagged.feats[words]))

    def write(self, annotations: Collection[str], overwritten: Collection[str], *, tree: bool, starts: bool) -> None:
        """Write the columns to the Doc: of these annotations, of the tree, and of sentence starts without a tree."""
        names = [name for name in _PLAIN if name in annotations]
        columns = {name.upper(): np.array(self._values[name], dtype=np.uint64) for name in names}
        for name in (name for name in names if name not in overwritten):
            old = self._doc.to_array([name.upper()])
            columns[name.upper()] = np.where(old == 0, columns[name.upper()], old)
        if tree:
            columns["HEAD"] = np.array(self._heads, dtype=np.int64).astype(np.uint64)
            columns["DEP"] = np.array(self._values[DEP], dtype=np.uint64)
        elif starts:
            columns["SENT_START"] = np.array(self._starts, dtype=np.int64).astype(np.uint64)
        if columns:
            self._doc.from_array(list(columns), np.stack(list(columns.values()), axis=1))


def _known_columns(sentences: Sequence[Sentence]) -> set[str]:
    """Return which annotations any word has."""
    return {name for name, column in COLUMNS.items() if any(set(getattr(each, column)) != {"_"} for each in sentences)}


def _write_confidence(doc: Doc, pairs: Iterable[tuple[Placed, Parse | None]]) -> None:
    """Write the probabilities of arcs and labels, if the model has a calibration."""
    for placed, parse in pairs:
        confidence = None if parse is None else parse.confidence
        if parse is None or confidence is None:
            continue
        for i, merged in zip(placed.tokens, merge_words(parse.heads, placed.n_words), strict=True):
            extended = doc[i]._
            extended.set(ARC_CONFIDENCE, confidence.arcs[merged.top])
            extended.set(LABEL_CONFIDENCE, confidence.labels[merged.top])
