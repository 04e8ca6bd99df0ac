"""The names of the annotations of a spaCy Doc, as settings have them, and what spaCy calls some of their values."""

from __future__ import annotations

DEP, TAG, POS, MORPH, LEMMA, SENT_START = "dep", "tag", "pos", "morph", "lemma", "sent_start"
ANNOTATIONS = (DEP, TAG, POS, MORPH, LEMMA, SENT_START)
"""What can be written: ``dep`` are heads and relations, which imply sentence starts."""
COLUMNS = {TAG: "xpos", POS: "upos", MORPH: "feats", LEMMA: "lemmas"}
"""The annotations of words, and the columns of a sentence that have them."""

ROOT = "ROOT"  # the relation of a root
OTHER = "dep"  # the relation of white space
SPACE_TAG, SPACE_POS = "_SP", "SPACE"  # the tags of white space


def to_label(relation: str) -> str:
    """Return what spaCy calls a relation."""
    return ROOT if relation == "root" else relation


def from_label(label: str) -> str | None:
    """Undo :func:`to_label`; None if a token has no relation."""
    return "root" if label == ROOT else label or None
