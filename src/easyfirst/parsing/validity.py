"""The step after decoding that makes trees obey the rules of Universal Dependencies (``treebank/guidelines.py``).

Most trees obey them already. Where one does not, as little as possible changes:

- A relation that is not allowed is replaced by the best-scored one that is. If it is not allowed because of the word's
  tag, and that tag was predicted, the next best tag may replace the tag instead: the scores of the parser and of the
  tagger decide which of the two is more likely wrong.
- Of several subjects or objects of a word, the one that the parser preferred most clearly keeps its relation.
- A word that must be a leaf but has modifiers gets another relation, or one of them does. If neither can, as for
  punctuation, the modifier moves up to the head of that word, with those beyond it so that no arcs cross.

A tree remains a tree with the same root, the arcs of a projective tree never start to cross, and a tree never has more
violations than before. Constraints that hold before hold afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import lt
from typing import NamedTuple

from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.parsing.derivation import Derivation
from easyfirst.parsing.draft import Draft, Problem, TagScores, is_object
from easyfirst.parsing.finishing import Holds
from easyfirst.treebank.guidelines import (
    CHILDREN_OF,
    LEFT_HEADED,
    NOMINAL_RELATIONS,
    external_tags,
    features,
    follows_ud,
    is_subject,
    takes_tag,
    universal,
)
from easyfirst.treebank.sentence import Sentence

MAX_SWEEPS = 8
"""How often a sentence is searched for violations. One change can cause another, but rarely more than one."""

TAG_WEIGHT = 8.0
"""A tag is replaced instead of a relation if that costs up to this many times as much. The tagger's scores are
log-probabilities, and the parser's are not. Chosen on the dev set of UD_English-EWT and on UD_English-GUM."""


class Change(NamedTuple):
    """What a word had before it was changed to obey the rules."""

    word: int
    """Counted from 1."""
    head: int
    """The head it had."""
    relation: str
    """The relation it had."""
    upos: str
    """The universal part-of-speech tag it had."""


class Tree(NamedTuple):
    """The tree of a sentence and the tags it goes with."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    changes: tuple[Change, ...] = ()


class Validity:
    """Makes the trees of one model obey the rules."""

    def __init__(self, relations: Sequence[str]) -> None:
        """``relations``: those that the scores of a derivation belong to, in their order. A name is repeated if several
        labels differ only in their marks."""
        self._relations = relations
        self._good_words: set[tuple[str, str, bool]] = set()
        self._good_pairs: set[tuple[str, str]] = set()
        self._single = {name: is_subject(name) for name in relations if is_subject(name) or is_object(name)}

    @classmethod
    def of(cls, vocabulary: ParserVocabulary) -> Validity | None:
        """Return the step for a model, or None if its relations or UPOS tags are of another scheme."""
        relations, tags = [label.relation for label in vocabulary.labels], vocabulary.tags.get("upos", ())
        return cls(relations) if follows_ud(relations, tags, vocabulary.root_relation) else None

    def obey(
        self,
        heads: tuple[int, ...],
        relations: tuple[str, ...],
        derivation: Derivation,
        tagged: Sentence,
        *,
        given: Sentence,
        tag_scores: TagScores | None = None,
        may_move: bool = True,
        holds: Holds | None = None,
    ) -> Tree:
        """Return the tree of a sentence, changed if it violates a rule.

        ``given`` is the sentence before it was tagged: tags that come from it stay, and without ``tag_scores`` all
        others do too. Without ``may_move`` heads stay. A relation with the score minus infinity, as constraints give
        it, never replaces another one, and neither does one with which the tree does not satisfy the constraints
        (``holds``): after crossing arcs were restored, a word can have another head than the one that the scores belong
        to.
        """
        tree = Tree(heads, relations, tagged.upos)
        if derivation.relation_scores is None or self.is_valid(tree, tagged.feats):
            return tree
        draft = Draft(tree.heads, tree.relations, tagged, derivation, self._relations, holds)
        problems = draft.problems()
        before = len(problems)
        for _ in range(MAX_SWEEPS):
            is_changed = [self._solve(draft, m, given, tag_scores, may_move) for m in problems]
            if not any(is_changed):
                break
            problems = draft.problems()
        if len(problems) >= before:
            return tree
        return _with_changes(tree, draft)

    def is_valid(self, tree: Tree, feats: Sequence[str]) -> bool:
        """Return whether a tree certainly obeys the rules. It is False for some that do, where the rule is intricate;
        what matters is the speed, since every sentence is checked."""
        heads, relations, tags = tree.heads, tree.relations, external_tags(tree.upos, feats)
        is_left = map(lt, range(1, len(heads) + 1), heads)
        words = set(zip(relations, tags, is_left, strict=True)) - self._good_words
        if not all(_is_good_word(*word) for word in words):
            return False
        self._good_words |= words
        pairs = set(zip(map(("", *relations).__getitem__, heads), relations, strict=True)) - self._good_pairs
        if not all(_is_good_pair(*pair) for pair in pairs):
            return False
        self._good_pairs |= pairs
        kinds = self._single
        single = [(head, kinds[name]) for head, name in zip(heads, relations, strict=True) if name in kinds]
        if len(set(single)) < len(single):
            return False
        arcs = zip(heads, relations, strict=True) if "fixed" in relations else ()
        return all(tags[head - 1] != "PROPN" for head, relation in arcs if relation == "fixed")

    def _solve(self, draft: Draft, m: int, given: Sentence, tag_scores: TagScores | None, may_move: bool) -> bool:
        """Remove a violation, if it is still there; return whether something changed."""
        problem = draft.problem(m)
        if problem is None:
            return False
        if problem is Problem.HEAD:
            return self._free_leaf(draft, m, may_move)
        relation, cost = draft.best_relation(m)
        is_predicted = given.upos[m - 1] != draft.upos[m]
        if problem is Problem.TAG and is_predicted and tag_scores is not None:
            tag, tag_cost = draft.best_tag(m, tag_scores)
            if tag is not None and (relation is None or tag_cost <= TAG_WEIGHT * cost):
                draft.set_tag(m, tag)
                return True
        if relation is None:
            relation, _ = draft.best_relation(m, whatever_modifiers=True)
        if relation is None:
            return False
        draft.set_relation(m, relation)
        return True

    def _free_leaf(self, draft: Draft, m: int, may_move: bool) -> bool:
        """Free a word that must be a leaf from a modifier."""
        leaf = draft.heads[m]
        options = [(word, *draft.best_relation(word)) for word in (leaf, m)]
        word, relation, _ = min(options, key=lambda option: option[2])
        if relation is not None:
            draft.set_relation(word, relation)
        elif may_move and draft.heads[leaf]:
            draft.move_up(m)
        else:
            return False
        return True


def mark_parts(tagged: Sentence, given: Sentence, heads: Sequence[int], relations: Sequence[str]) -> Sentence:
    """Return a sentence in which the parts of a word that is written apart (``goeswith``) have the columns that the
    rules require: lemma and features only at the first part, which has ``Typo=Yes``. What was ``given`` stays."""
    parts = [i for i, relation in enumerate(relations) if relation == "goeswith"]
    if not parts:
        return tagged
    lemmas, feats = list(tagged.lemmas), list(tagged.feats)
    for i in parts:
        lemmas[i] = given.lemmas[i]
        feats[i] = given.feats[i]
    is_predicted = (tagged.feats, tagged.lemmas) != (given.feats, given.lemmas)  # features may all be predicted as none
    for i in {heads[i] - 1 for i in parts} if is_predicted else ():
        if given.feats[i] == "_":
            marked = sorted((features(feats[i]) | {"Typo": "Yes"}).items(), key=lambda pair: pair[0].lower())
            feats[i] = "|".join(f"{name}={value}" for name, value in marked)
    return replace(tagged, lemmas=tuple(lemmas), feats=tuple(feats))


def _with_changes(tree: Tree, draft: Draft) -> Tree:
    """Return the tree of a draft, with what it changed."""
    before = list(zip(tree.heads, tree.relations, tree.upos, strict=True))
    after = list(zip(draft.heads[1:], draft.relations[1:], draft.upos[1:], strict=True))
    changes = (Change(m, *old) for m, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new)
    heads, relations, upos = tuple(draft.heads[1:]), tuple(draft.relations[1:]), tuple(draft.upos[1:])
    return Tree(heads, relations, upos, tuple(changes))


def _is_good_word(relation: str, tag: str, is_left: bool) -> bool:
    """Return whether a word with this tag may have the relation on this side of its head. ``goeswith`` is intricate."""
    base = universal(relation)
    if base == "root":
        return True
    return takes_tag(base, tag) and not (is_left and base in LEFT_HEADED) and base != "goeswith"


def _is_good_pair(above: str, relation: str) -> bool:
    """Return whether a relation may occur below another one, whatever else there is."""
    above, base = universal(above), universal(relation)
    allowed = CHILDREN_OF.get(above)
    return (allowed is None or base in allowed) and not (base == "obl" and above in NOMINAL_RELATIONS)
