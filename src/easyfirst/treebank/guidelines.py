"""What Universal Dependencies requires of relations: which tags they take, their direction, and their children.

These are the universal rules that the official validator checks at level 3. They concern the universal part of a
relation: ``nsubj`` stands for ``nsubj:pass`` too. Where a word has the feature ``ExtPos``, it replaces the tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_RELATIONS = (
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp"
)
_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
RELATIONS, TAGS = frozenset(_RELATIONS.split()), frozenset(_TAGS.split())
_WORDS = TAGS - {"PUNCT"}

TAGS_OF = {
    "det": frozenset({"DET", "PRON"}),
    "nummod": frozenset({"NUM", "NOUN", "SYM"}),
    "advmod": frozenset({"ADV", "ADJ", "CCONJ", "DET", "PART", "SYM"}),
    "expl": frozenset({"PRON", "DET", "PART"}),
    "aux": frozenset({"AUX"}),
    "cop": frozenset({"AUX", "PRON", "DET", "SYM"}),
    "case": _WORDS - {"PROPN", "ADJ", "PRON", "DET", "NUM", "AUX"},
    "mark": _WORDS - {"NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "AUX", "INTJ"},
    "cc": _WORDS - {"NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "VERB", "AUX", "INTJ"},
    "punct": frozenset({"PUNCT"}),
    "fixed": _WORDS - {"PROPN"},
    "goeswith": frozenset({"X"}),
}
"""The tags that a word with a relation may have; other relations take any tag but PUNCT."""

LEFT_HEADED = frozenset({"appos", "conj", "fixed", "flat", "goeswith"})
"""Relations whose head comes before the modifier."""

_BELOW_FUNCTION = frozenset({"goeswith", "fixed", "reparandum", "conj", "punct"})
_BELOW_MARKER = _BELOW_FUNCTION | {"advmod", "obl", "cc"}
CHILDREN_OF = {
    "case": _BELOW_MARKER,
    "mark": _BELOW_MARKER,
    "clf": _BELOW_MARKER,
    "aux": _BELOW_FUNCTION | {"cc"},
    "cop": _BELOW_FUNCTION | {"cc"},
    "cc": _BELOW_FUNCTION,
    "det": _BELOW_MARKER | {"det", "case", "clf", "flat", "compound", "discourse", "parataxis"},
    "fixed": frozenset({"goeswith", "reparandum", "conj", "punct"}),
    "goeswith": frozenset[str](),
    "punct": frozenset({"punct"}),
}
"""The relations that the modifiers of a function word or a punctuation mark may have, by the relation of that word."""

BELOW_POSSESSIVE = frozenset({"appos", "acl", "nmod"})
"""What a determiner with ``Poss=Yes`` may have as well."""

NOMINALS = frozenset({"NOUN", "PROPN", "PRON"})
NOMINAL_RELATIONS = frozenset({"nsubj", "obj", "iobj", "obl", "vocative", "dislocated", "expl", "nmod"})
CLAUSE_INDICATORS = frozenset({"cop", "nsubj", "csubj"})
"""A nominal with such a relation takes ``nmod``, not ``obl``, unless one of its modifiers indicates a clause."""

SUBJECTS = frozenset({"nsubj", "csubj"})
OUTER = frozenset({"nsubj:outer", "csubj:outer"})
"""Subjects of a clause that is itself a predicate: only these may come on top of another subject."""

_NAME = re.compile(r"[a-z]+(:[a-z]+)?")


@lru_cache(maxsize=1 << 10)
def universal(relation: str) -> str:
    """Return the universal part of a relation."""
    return relation.partition(":")[0]


@lru_cache(maxsize=1 << 10)
def is_subject(relation: str) -> bool:
    """Return whether this is the relation of a subject of which a word has only one."""
    return universal(relation) in SUBJECTS and relation not in OUTER


def is_relation(name: str) -> bool:
    """Return whether this is the name of a relation below the root, with or without a subtype."""
    return _NAME.fullmatch(name) is not None and universal(name) in RELATIONS and name != "root"


def follows_ud(relations: Iterable[str], tags: Iterable[str], root_relation: str) -> bool:
    """Return whether an inventory of relations and UPOS tags is that of Universal Dependencies."""
    return root_relation == "root" and all(map(is_relation, relations)) and TAGS.issuperset({*tags} - {"_"})


def takes_tag(relation: str, tag: str) -> bool:
    """Return whether a word below the root may have this relation, given by its universal part, and this tag. A word
    without a tag, or with one of another tagset, may have any relation."""
    allowed = TAGS_OF.get(relation)
    return tag not in TAGS or (tag in allowed if allowed is not None else tag != "PUNCT")


def features(cell: str) -> dict[str, str]:
    """Return the features of a FEATS cell."""
    return {} if cell == "_" else dict(pair.split("=", 1) for pair in cell.split("|") if "=" in pair)


def external_tags(upos: Sequence[str], feats: Sequence[str]) -> Sequence[str]:
    """Return the tag of each word, or its ``ExtPos``."""
    if "ExtPos=" not in "|".join(feats):
        return upos
    return [features(cell).get("ExtPos", tag) for tag, cell in zip(upos, feats, strict=True)]
