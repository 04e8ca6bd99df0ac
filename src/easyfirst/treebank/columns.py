"""The columns of CoNLL-U that annotate words, by the attributes of a sentence that hold them."""

from __future__ import annotations

ANNOTATIONS = {"lemmas": "LEMMA", "upos": "UPOS", "xpos": "XPOS", "feats": "FEATS"}  # in the order of CoNLL-U
TAGSETS = ("upos", "xpos")
"""The columns that can be of another tagset than that of a model. Features are universal, and a parser reads a bundle
that it does not know as the most similar one."""


def column_names(kinds: tuple[str, ...]) -> list[str]:
    """Return the names of columns, in the order of CoNLL-U.

    >>> column_names(("upos", "lemmas"))
    ['LEMMA', 'UPOS']
    """
    return [name for kind, name in ANNOTATIONS.items() if kind in kinds]
