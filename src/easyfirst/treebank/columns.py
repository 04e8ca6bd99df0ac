"""The columns of CoNLL-U that annotate single words, by the attributes of :class:`~easyfirst.treebank.sentence.Sentence`
that hold them."""

from __future__ import annotations

ANNOTATIONS = {"lemmas": "LEMMA", "upos": "UPOS", "xpos": "XPOS", "feats": "FEATS"}  # in the order of CoNLL-U


def column_names(kinds: tuple[str, ...]) -> list[str]:
    """Return the names of columns, in the order of CoNLL-U.

    >>> column_names(("upos", "lemmas"))
    ['LEMMA', 'UPOS']
    """
    return [name for kind, name in ANNOTATIONS.items() if kind in kinds]
