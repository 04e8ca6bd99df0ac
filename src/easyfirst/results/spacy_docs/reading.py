"""The sentences of a spaCy Doc, with the tags and the trees that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from easyfirst.errors import InputError
from easyfirst.results.spacy_docs.annotations import from_label
from easyfirst.results.spacy_docs.extensions import ARC_CONFIDENCE, LABEL_CONFIDENCE, require_spacy
from easyfirst.text.sentences import sentences_of
from easyfirst.treebank import misc
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Token as DocToken

_CONFIDENCE = {ARC_CONFIDENCE: misc.ARC_CONFIDENCE, LABEL_CONFIDENCE: misc.LABEL_CONFIDENCE}


def from_spacy(doc: Doc) -> list[Sentence]:
    """Return the sentences of a spaCy Doc, whichever pipeline made it. Each token is a word.

    UPOS is ``pos_``, XPOS ``tag_``, FEATS ``morph`` and LEMMA ``lemma_``; the relation ``ROOT`` becomes ``root``. What
    the Doc lacks is ``_``, and heads are None. White space is left out. ``token._.arc_confidence`` becomes ``ArcConf=``
    in MISC, and ``token._.label_confidence`` becomes ``LabelConf=``.

    Raise an :class:`easyfirst.errors.InputError` if it is not a Doc, or has no sentence boundaries.
    """
    require_spacy()
    from spacy.tokens import Doc

    if not isinstance(doc, Doc):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"expected a spaCy Doc, got {type(doc).__name__}")
    if not doc.has_annotation("SENT_START"):
        raise InputError(
            "the Doc has no sentence boundaries; add a component that sets them, such as nlp.add_pipe('easyfirst') or "
            "nlp.add_pipe('sentencizer')"
        )
    sentences = [[token for token in sent if not token.text.isspace()] for sent in doc.sents]
    sentences = [words for words in sentences if words]
    tokens = [[Token(word.idx, word.idx + len(word), (word.text,)) for word in words] for words in sentences]
    plain = sentences_of(doc.text, tokens)
    return [_annotated(*pair, has_tree=doc.has_annotation("DEP")) for pair in zip(plain, sentences, strict=True)]


def _annotated(sentence: Sentence, words: Sequence[DocToken], *, has_tree: bool) -> Sentence:
    """Return a sentence with the annotations of its words."""
    tagged = sentence.with_tags(
        upos=[word.pos_ or "_" for word in words],
        xpos=[word.tag_ or "_" for word in words],
        feats=[str(word.morph) or "_" for word in words],
        lemmas=[" ".join(word.lemma_.split()) or "_" for word in words],
    )
    for name, key in _CONFIDENCE.items():
        known: list[Any] = [word._.get(name) for word in words]
        if any(value is not None for value in known):
            tagged = tagged.with_misc([{key: None if value is None else f"{value:.4f}"} for value in known])
    return tagged.with_tree(*_tree(words)) if has_tree else tagged


def _tree(words: Sequence[DocToken]) -> tuple[list[int | None], list[str | None]]:
    """Return the heads and relations of the words of a sentence.

    A word below white space gets the next head above that is a word. If white space is the root, the first word below
    it becomes the root, and the others are attached to that one. A head in another sentence is not known.
    """
    ids = {word.i: m for m, word in enumerate(words, 1)}
    heads: list[int | None] = []
    relations: list[str | None] = []
    new_root: int | None = None
    for m, word in enumerate(words, 1):
        above = word.head
        while above.text.isspace() and above.head.i != above.i:
            above = above.head
        if not word.has_head():
            heads.append(None)
        elif above.i == word.i:
            heads.append(0)
        elif above.text.isspace():
            heads.append(new_root or 0)
            new_root = new_root or m
        else:
            heads.append(ids.get(above.i))
        is_new_root = heads[-1] == 0 and above.text.isspace()
        relations.append("root" if is_new_root else from_label(word.dep_))
    return heads, relations
