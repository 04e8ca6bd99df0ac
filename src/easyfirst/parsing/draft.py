"""A tree while it is being changed to obey the rules of Universal Dependencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

import numpy as np

from easyfirst.nn.arrays import Floats
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.finishing import Holds
from easyfirst.treebank.guidelines import (
    BELOW_POSSESSIVE,
    CHILDREN_OF,
    CLAUSE_INDICATORS,
    LEFT_HEADED,
    NOMINAL_RELATIONS,
    NOMINALS,
    features,
    is_relation,
    is_subject,
    takes_tag,
    universal,
)
from easyfirst.treebank.misc import entries
from easyfirst.treebank.sentence import Sentence


class TagScores(NamedTuple):
    """All UPOS tags of a tagger, and their scores for the words of a sentence."""

    tags: Sequence[str]
    scores: Floats
    """(n_words, n_tags). A difference of scores is one of log-probabilities."""


class Problem(Enum):
    """Why the arc of a word violates a rule."""

    HEAD = auto()  # the head must not have such a modifier
    TAG = auto()  # the tag of the word does not go with the relation
    RELATION = auto()  # something else does not go with the relation


class Draft:
    """The words of a sentence by id, from 1; the place 0 is not used."""

    def __init__(
        self,
        heads: Sequence[int],
        relations: Sequence[str],
        tagged: Sentence,
        derivation: Derivation,
        names: Sequence[str],
        holds: Holds | None = None,
    ) -> None:
        """``names``: the relations that the scores of the derivation belong to. A relation has the best score of its
        labels if its name is repeated. ``holds``: whether a tree satisfies the constraints on it."""
        assert derivation.relation_scores is not None
        self.heads, self.relations, self.upos = [0, *heads], ["", *relations], ["_", *tagged.upos]
        self._sentence, self._names, self._constraints_hold = tagged, tuple(dict.fromkeys(names)), holds
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._features = [{}, *map(features, tagged.feats)]
        self._modifiers: list[list[int]] = [[] for _ in self.heads]
        for m, head in enumerate(heads, 1):
            self._modifiers[head].append(m)
        modifiers: list[int] = derivation.modifiers.tolist()
        scores = derivation.relation_scores
        if len(self._names) < len(names):
            scores = _best_of_labels(scores, [self._numbers[name] for name in names], len(self._names))
        self._scores = dict(zip(modifiers, scores, strict=True))
        self._margins = dict(zip(modifiers, derivation.margins.tolist(), strict=True))

    def problems(self) -> list[int]:
        """Return the words whose arcs violate a rule."""
        return [m for m in range(1, len(self.heads)) if self.problem(m) is not None]

    def problem(self, m: int) -> Problem | None:
        """Return why the arc of a word violates a rule, or None if it does not; that of the root never does."""
        head, base = self.heads[m], universal(self.relations[m])
        if head == 0:
            return None
        if not self._may_be_below(m):
            return Problem.HEAD
        if not takes_tag(base, self._tag(m)) and not self._is_exempt(m):
            return Problem.TAG
        is_good = (
            not (m < head and base in LEFT_HEADED)
            and not (self._is_single(m) and self._preferred(m) != m)
            and not (base == "obl" and self._is_plain_nominal(head))
            and not (base == "fixed" and self._tag(head) == "PROPN")
            and not (base == "goeswith" and self._is_interrupted(m))
        )
        return None if is_good else Problem.RELATION

    def set_relation(self, m: int, relation: str) -> None:
        self.relations[m] = relation

    def set_tag(self, m: int, tag: str) -> None:
        self.upos[m] = tag

    def move_up(self, m: int) -> None:
        """Attach a word to the head of its head, together with the other modifiers beyond it: in a projective tree,
        their arcs would cross the new one otherwise."""
        old = self.heads[m]
        new = self.heads[old]
        moved = [word for word in self._modifiers[old] if (word <= m if m < old else word >= m)]
        self._modifiers[old] = [word for word in self._modifiers[old] if word not in moved]
        self._modifiers[new] = sorted((*self._modifiers[new], *moved))
        for word in moved:
            self.heads[word] = new

    def best_relation(self, m: int, *, whatever_modifiers: bool = False) -> tuple[str | None, float]:
        """Return the best-scored other relation with which neither the arc of a word nor those of its modifiers violate
        a rule, and by how much its score is lower; None and infinity if there is none."""
        old = self.relations[m]
        if self.heads[m] == 0 or old not in self._numbers:
            return None, math.inf
        scores = self._scores[m]
        for number in _best_first(scores):
            name = self._names[number]
            if name == old or scores[number] == -np.inf or not is_relation(name):
                continue
            self.relations[m] = name
            is_good = self._is_good(m, whatever_modifiers) and self._holds()
            self.relations[m] = old
            if is_good:
                return name, float(scores[self._numbers[old]] - scores[number])
        return None, math.inf

    def best_tag(self, m: int, tag_scores: TagScores) -> tuple[str | None, float]:
        """Return the best-scored other tag of a word in the same way. A punctuation mark can only be a symbol."""
        names, scores = tag_scores
        old = self.upos[m]
        if "ExtPos" in self._features[m] or old not in names:
            return None, math.inf
        row = scores[m - 1]
        is_mark = old == "PUNCT" and not any(map(str.isalnum, self._sentence.forms[m - 1]))
        for number in _best_first(row):
            if names[number] == old or (is_mark and names[number] != "SYM"):
                continue
            self.upos[m] = names[number]
            is_good = self._is_good(m)
            self.upos[m] = old
            if is_good:
                return names[number], float(row[names.index(old)] - row[number])
        return None, math.inf

    def _holds(self) -> bool:
        """Return whether the tree satisfies the constraints on it."""
        return self._constraints_hold is None or self._constraints_hold(self.heads[1:], self.relations[1:])

    def _is_good(self, m: int, whatever_modifiers: bool = False) -> bool:
        words = (m,) if whatever_modifiers else (m, *self._modifiers[m])
        return all(self.problem(word) is None for word in words)

    def _tag(self, m: int) -> str:
        return self._features[m].get("ExtPos", self.upos[m])

    def _bases(self, words: Iterable[int]) -> set[str]:
        return {universal(self.relations[word]) for word in words}

    def _is_exempt(self, m: int) -> bool:
        """Return whether the tag of a word does not matter: it is a part of a word or of a fixed expression, and what
        that whole is would be in the feature ``ExtPos``."""
        below = self._bases(self._modifiers[m])
        is_part = "goeswith" in below and universal(self.relations[m]) == "advmod"
        return is_part or ("fixed" in below and "ExtPos" not in self._features[m] and self.upos[m] != "PUNCT")

    def _may_be_below(self, m: int) -> bool:
        """Return whether the head of a word may have it as a modifier."""
        head, base = self.heads[m], universal(self.relations[m])
        above = universal(self.relations[head])
        allowed = CHILDREN_OF.get(above)
        if allowed is None or base in allowed:
            return True
        if above == "det" and self._features[head].get("Poss") == "Yes" and base in BELOW_POSSESSIVE:
            return True
        is_negative = self.upos[m] in ("PART", "ADV") and self._features[m].get("Polarity") == "Neg"
        return base == "advmod" and is_negative and above != "punct"

    def _is_single(self, m: int) -> bool:
        """Return whether a word can have only one modifier of this kind."""
        return is_subject(self.relations[m]) or universal(self.relations[m]) == "obj"

    def _preferred(self, m: int) -> int:
        """Return which of several subjects or objects of a word the parser preferred most clearly: by the margin of the
        arc or that over relations of another kind, whichever is smaller."""
        is_same = is_subject if is_subject(self.relations[m]) else is_object
        rivals = [word for word in self._modifiers[self.heads[m]] if is_same(self.relations[word])]
        if len(rivals) == 1:
            return m
        others = self._others[is_same]

        def clearness(word: int) -> float:
            number = self._numbers.get(self.relations[word])
            if number is None or others is None:
                return math.inf
            return min(self._margins[word], float(self._scores[word][number] - others[word]))

        return max(rivals, key=lambda word: (clearness(word), -word))

    @cached_property
    def _others(self) -> dict[Callable[[str], bool], dict[int, np.float32] | None]:
        """For subjects and for objects, the best score of each word among relations of another kind; None if there are
        no others. It is computed once, because a word can have hundreds of objects, which are compared pairwise."""
        found: dict[Callable[[str], bool], dict[int, np.float32] | None] = {}
        for is_same in (is_subject, is_object):
            numbers = [number for number, name in enumerate(self._names) if not is_same(name)]
            best = {word: scores[numbers].max() for word, scores in self._scores.items()} if numbers else None
            found[is_same] = best
        return found

    def _is_plain_nominal(self, m: int) -> bool:
        """Return whether a word is a nominal that is no predicate."""
        is_nominal = self.upos[m] in NOMINALS and universal(self.relations[m]) in NOMINAL_RELATIONS
        return is_nominal and not self._bases(self._modifiers[m]) & CLAUSE_INDICATORS

    def _is_interrupted(self, m: int) -> bool:
        """Return whether another word, or no space, is between the part of a word and its first part."""
        first = self.heads[m]
        parts = [word for word in self._modifiers[first] if universal(self.relations[word]) == "goeswith"]
        has_gap = any(word not in parts for word in range(first + 1, m))
        return has_gap or any(("SpaceAfter", "=", "No") in entries(self._sentence.misc[i - 1]) for i in range(first, m))


def is_object(relation: str) -> bool:
    """Return whether this is the relation of a direct object."""
    return universal(relation) == "obj"


def _best_of_labels(scores: Floats, numbers: Sequence[int], n_relations: int) -> Floats:
    """Return the scores of relations from those of labels, given the relation of each label: the best one counts."""
    best = np.full((len(scores), n_relations), -np.inf, dtype=scores.dtype)
    np.maximum.at(best.T, np.array(numbers), scores.T)
    return best


def _best_first(scores: Floats) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
