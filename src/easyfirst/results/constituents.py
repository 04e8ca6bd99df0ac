"""The constituency trees of parses: their relations encode phrases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from easyfirst.constituents.encoding import decode, encoding_of
from easyfirst.constituents.scores import score_constituents
from easyfirst.constituents.tree import Constituents
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.finishing import finish
from easyfirst.treebank.sentence import Sentence

if TYPE_CHECKING:
    from easyfirst.results.parses import Parse


def constituents_of(parse: Parse) -> Constituents | None:
    """Return the constituency tree of a parse, or None if its relations encode none. It has the XPOS tags with which
    the sentence was parsed."""
    if encoding_of(parse.relations[parse.heads.index(0)]) is None:
        return None
    return decode(parse.tagged.forms, parse.tagged.xpos, parse.heads, parse.relations)


def sentence_constituents(sentence: Sentence) -> Constituents | None:
    """Return the constituency tree that a complete dependency tree encodes, or None if it encodes none."""
    heads = [head for head in sentence.heads if head is not None]
    relations = [relation for relation in sentence.relations if relation is not None]
    if len(heads) < len(sentence) or len(relations) < len(sentence) or 0 not in heads:
        return None
    if encoding_of(relations[heads.index(0)]) is None:
        return None
    return decode(sentence.forms, sentence.xpos, heads, relations)


def constituent_f1(gold: Iterable[Sentence], derivations: Iterable[Derivation]) -> float:
    """Return the F1 of phrases on sentences with encoded trees."""
    pairs = [(sentence, *finish(derivation)) for sentence, derivation in zip(gold, derivations, strict=True)]
    wanted = (sentence_constituents(sentence) for sentence, _, _ in pairs)
    found = (decode(sentence.forms, sentence.xpos, heads, relations) for sentence, heads, relations in pairs)
    return score_constituents((tree for tree in wanted if tree is not None), found).phrases.f1
