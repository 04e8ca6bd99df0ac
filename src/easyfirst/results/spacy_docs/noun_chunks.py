"""Noun chunks of Universal Dependencies trees, for ``doc.noun_chunks``.

spaCy finds the noun chunks of most languages in UD trees. For English, German and Persian, it expects the relations of
other schemes (``pobj``, ``dobj``, ...), with prepositions as heads, and misses or extends most chunks of a UD tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token
    from spacy.vocab import Vocab

    Chunks: TypeAlias = Callable[[Doc | Span], Iterator[tuple[int, int, int]]]

NOMINAL = ("NOUN", "PROPN", "PRON")
_LEFT = ("det", "amod", "nummod", "compound", "flat", "nmod", "goeswith")
_RIGHT = ("flat", "compound", "goeswith")
# A noun with one of these relations is a part of another chunk, or has no chunk.
_INNER = ("det", "amod", "nummod", "compound", "flat", "fixed", "goeswith", "case", "mark", "cc", "cop", "aux", "expl")
_CLEAR = ("dobj", "pobj", "prep", "nsubjpass", "auxpass", "attr", "acomp", "dative", "poss", "prt", "relcl")
# The relations by which trees of another scheme are recognised, by the language of the pipeline.
_OTHER_SCHEMES = {
    "en": _CLEAR,
    "fa": _CLEAR,
    "de": ("sb", "nk", "oa", "da", "mo", "og", "oc", "pd", "ag", "cj", "cd", "svp", "ng"),
}


def noun_chunks_for(vocab: Vocab) -> Chunks:
    """Return the iterator that finds the noun chunks of UD trees in Docs with this vocabulary: that of spaCy for this
    language, if it expects UD, or else one that does."""
    found = vocab.get_noun_chunks
    if found is not None and (isinstance(found, NounChunks) or vocab.lang not in _OTHER_SCHEMES):
        return found
    return NounChunks(found, _OTHER_SCHEMES.get(vocab.lang, ()))


class NounChunks:
    """The iterator of a vocabulary: the noun chunks of UD trees, and ``other`` for trees of another scheme, which are
    recognised by their relations."""

    def __init__(self, other: Chunks | None, relations: tuple[str, ...]) -> None:
        self._other = other
        self._relations = relations

    def __call__(self, doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
        """Yield the first token, the end and the label of each chunk."""
        relations = {doclike.doc.vocab.strings[name] for name in self._relations}
        if self._other is not None and any(token.dep in relations for token in doclike.doc):
            return self._other(doclike)
        return ud_noun_chunks(doclike)


def ud_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield the first token, the end and the label of each noun chunk of a UD tree: a noun with its determiners,
    adjectives, numbers, possessors and compounds before it, and with the rest of its name after it. Chunks do not
    overlap, and prepositions, relative clauses and other modifiers are not part of them."""
    if not doclike.doc.has_annotation("DEP"):
        raise ValueError("noun chunks need a dependency tree; add a parser to the pipeline, such as easyfirst")
    label, end = doclike.doc.vocab.strings.add("NP"), 0
    for token in doclike:
        if token.pos_ in NOMINAL and not _is_inner(token):
            first, stop = _first(token), _stop(token)
            if first >= end:
                yield first, stop, label
                end = stop


def _plain(token: Token) -> str:
    """Return the relation of a token without its subtype."""
    return token.dep_.partition(":")[0]


def _is_inner(token: Token) -> bool:
    """Return whether a noun is not the head of a chunk. A conjunct is what the first conjunct is."""
    while _plain(token) == "conj" and token.head.i < token.i:
        token = token.head
    relation = _plain(token)
    return relation in _INNER or (relation == "nmod" and token.i < token.head.i)


def _first(token: Token) -> int:
    """Return the first token of a chunk. Punctuation is in it only between other parts."""
    first = token.i
    for child in reversed(list(token.lefts)):
        if _plain(child) in _LEFT:
            first = child.left_edge.i
        elif _plain(child) != "punct":
            break
    return first


def _stop(token: Token) -> int:
    """Return the end of a chunk."""
    stop = token.i + 1
    for child in token.rights:
        if _plain(child) not in _RIGHT or child.left_edge.i != stop:
            break
        stop = child.right_edge.i + 1
    return stop
