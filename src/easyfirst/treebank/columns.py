"""The columns of CoNLL-U that annotate words, by the attributes of a sentence that hold them."""

from __future__ import annotations

ANNOTATIONS = {"lemmas": "LEMMA", "upos": "UPOS", "xpos": "XPOS", "feats": "FEATS"}  # in the order of CoNLL-U


def column_names(kinds: tuple[str, ...]) -> list[str]:
    """Return the names of columns, in the order of CoNLL-U.

    >>> column_names(("upos", "lemmas"))
    ['LEMMA', 'UPOS']
    """
    return [name for kind, name in ANNOTATIONS.items() if kind in kinds]
