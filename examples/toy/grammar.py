"""A small grammar of English that builds dependency trees: heads and relations come with every phrase it makes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import words

T = TypeVar("T")


@dataclass
class Node:
    """A word with its modifiers in surface order. `join` says how it is written after the word before it."""

    form: str
    lemma: str
    upos: str
    xpos: str
    rel: str = "root"
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)
    join: str = "space"  # or "tight" (no space between them), or "clitic" (both are one multiword token)
    kind: str = "person"  # of a noun phrase: what sort of thing it is, a key of words.KINDS
    number: str = "singular"  # what a verb agrees with: "singular", "plural", or "first" for I

    def in_order(self) -> list[Node]:
        before = [node for child in self.left for node in child.in_order()]
        return [*before, self, *(node for child in self.right for node in child.in_order())]


def word(form: str, upos: str, xpos: str, rel: str, *, lemma: str | None = None, join: str = "space") -> Node:
    return Node(form, form if lemma is None else lemma, upos, xpos, rel, join=join)


def determiner(form: str) -> Node:
    lemma = {"an": "a", "these": "this", "those": "that"}.get(form, form)
    return word(form, "DET", "DT", "det", lemma=lemma)


def with_preposition(preposition: str, phrase: Node, rel: str = "obl") -> Node:
    phrase.left.insert(0, word(preposition, "ADP", "IN", "case"))
    phrase.rel = rel
    return phrase


def auxiliary(form: str, lemma: str, xpos: str, rel: str = "aux") -> Node:
    return word(form, "AUX", xpos, rel, lemma=lemma)


def be(tense: str, number: str, rel: str = "aux") -> Node:
    forms = words.BE[tense]
    xpos = "VBD" if tense == "past" else "VBZ" if number == "singular" else "VBP"
    return auxiliary(forms.get(number, forms["singular"]), "be", xpos, rel)


class Grammar:
    """Draws phrases and clauses; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._random.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    # Noun phrases

    def someone(self, rel: str, *, kinds: Sequence[str] = ("person", "animal"), depth: int = 0) -> Node:
        """A person or an animal: a name, a pronoun or a noun phrase."""
        kind = self.pick(kinds)
        if kind == "person" and self.chance(0.35):
            name = self.pick(words.KINDS["name"])
            return word(name, "PROPN", "NNP", rel)
        if kind == "person" and self.chance(0.2):
            return self.pronoun(rel)
        return self.noun_phrase(kind, rel, depth=depth)

    def pronoun(self, rel: str) -> Node:
        subject, other = self.pick(["I me", "he him", "she her", "we us", "they them"]).split()
        node = word(subject if rel.startswith("nsubj") else other, "PRON", "PRP", rel, lemma=subject)
        node.number = {"I": "first", "we": "plural", "they": "plural"}.get(subject, "singular")
        return node

    def noun_phrase(self, kind: str, rel: str, *, depth: int = 0, bare: bool = False) -> Node:
        """A common noun with its determiner, adjectives and, at depth 0, sometimes a phrase after it."""
        noun = self.pick(words.KINDS[kind])
        mass = noun in words.MASS
        is_plural = not mass and (bare or self.chance(0.05 if kind in words.SELDOM_PLURAL else 0.3))
        head = word(words.plural(noun) if is_plural else noun, "NOUN", "NNS" if is_plural else "NN", rel, lemma=noun)
        head.kind, head.number = kind, "plural" if is_plural else "singular"
        adjectives = words.ADJECTIVES[self._kind_of(noun, kind)]
        if noun in words.COMPOUNDS and self.chance(0.4):
            head.left.append(word(self.pick(words.COMPOUNDS[noun]), "NOUN", "NN", "compound"))
        elif self.chance(0.45):
            head.left.append(word(self.pick(adjectives), "ADJ", "JJ", "amod"))
            if head.left[0].form in words.COLOURS and self.chance(0.25):
                second = word(self.pick(words.COLOURS), "ADJ", "JJ", "conj")
                second.left.append(word("and", "CCONJ", "CC", "cc"))
                head.left[0].right.append(second)
        if not bare and not (mass and self.chance(0.3)):
            self._determine(head, mass=mass, is_plural=is_plural, depth=depth)
        if depth == 0 and not bare and self.chance(0.35):
            self._modify(head, kind)
        return head

    def _kind_of(self, noun: str, kind: str) -> str:
        return kind if kind != "food" else "fruit" if noun in words.KINDS["fruit"] else "dish"

    def _determine(self, head: Node, *, mass: bool, is_plural: bool, depth: int) -> None:
        """Put an article, a demonstrative, a number or a possessor before everything else."""
        if depth < 2 and self.chance(0.12):
            owner = word(self.pick(words.KINDS["name"]), "PROPN", "NNP", "nmod:poss")
            owner.right.append(word("'s", "PART", "POS", "case", join="clitic"))
            head.left.insert(0, owner)
        elif self.chance(0.12):
            head.left.insert(0, word(self.pick(["my", "his", "her", "our", "their"]), "PRON", "PRP$", "nmod:poss"))
        elif is_plural and self.chance(0.35):
            head.left.insert(0, word(self.pick(["two", "three", "four", "five", "ten"]), "NUM", "CD", "nummod"))
        elif is_plural or mass:
            head.left.insert(0, determiner(self.pick(["the"] * 4 + ["some"] * 2 + (["these"] if is_plural else []))))
        else:
            first = head.left[0].form if head.left else head.form
            article = "an" if first[0] in "aeiou" else "a"
            head.left.insert(0, determiner(self.pick(["the"] * 6 + [article] * 6 + ["this", "that"])))

    def _modify(self, head: Node, kind: str) -> None:
        if kind == "person":
            preposition, other = self.pick([("with", "carried"), ("from", "place")])
        elif kind in ("animal", "thing"):
            preposition, other = self.pick([("in", "place"), ("near", "water")])
        else:
            return
        head.right.append(with_preposition(preposition, self.noun_phrase(other, "nmod", depth=2), "nmod"))

    # Verbs

    def verb(self, lemma: str, number: str, tense: str, *, negative: bool = False, support: bool = False) -> Node:
        """A finite verb with its auxiliaries; `support` asks for do where there is no other (questions)."""
        if tense in ("past", "present"):
            xpos = "VBD" if tense == "past" else "VBZ" if number == "singular" else "VBP"
            form = {"VBD": words.past, "VBZ": words.third_person}.get(xpos, str)
            if not (negative or support):
                return word(form(lemma), "VERB", xpos, "root", lemma=lemma)
            do = {"VBD": "did", "VBZ": "does", "VBP": "do"}[xpos]
            head, first = word(lemma, "VERB", "VB", "root"), auxiliary(do, "do", xpos)
        elif tense == "progressive":
            head = word(words.gerund(lemma), "VERB", "VBG", "root", lemma=lemma)
            first = be(self.pick(["present", "past"]), number)
        elif tense == "perfect":
            head = word(words.participle(lemma), "VERB", "VBN", "root", lemma=lemma)
            first = auxiliary(*(("has", "have", "VBZ") if number == "singular" else ("have", "have", "VBP")))
        else:
            modal = "will" if tense == "future" else self.pick(["can", "must", "should"])
            head, first = word(lemma, "VERB", "VB", "root"), auxiliary(modal, modal, "MD")
        head.left.append(first)
        if negative:
            head.left.append(self.negation(first))
        return head

    def negation(self, aux: Node) -> Node:
        """The word not, or n't written together with its auxiliary."""
        if aux.form == "am" or self.chance(0.5):
            return word("not", "PART", "RB", "advmod", join="clitic" if aux.form == "can" else "space")
        aux.form = words.IRREGULAR_NEGATIONS.get(aux.form, aux.form)
        return word("n't", "PART", "RB", "advmod", lemma="not", join="clitic")

    def tense(self, lemma: str) -> str:
        tenses = ["past", "past", "past", "present", "present"]
        return self.pick(tenses if lemma in words.STATIVE else [*tenses, "future", "modal", "perfect", "progressive"])

    def time(self, tense: str) -> Node:
        """When it happens: a noun phrase without a preposition."""
        *before, last = self.pick(words.TIMES[tense]).split()
        node = word(last, "NOUN", "NN", "obl:tmod")
        for form in before:
            is_adjective = form in ("last", "next")
            node.left.append(word(form, "ADJ", "JJ", "amod") if is_adjective else determiner(form))
        return node

    # Clauses

    def act(self, kind: str | None = None, *, stative: bool = True) -> tuple[Sequence[str], str, Sequence[str], str]:
        """Something to say (of this kind): kinds of subject, a verb, kinds of complement, a preposition or nothing."""
        if self.chance(0.4):
            lemma = self.pick(list(words.MOVES))
            preposition = self.pick(list(words.MOVES[lemma]))
            return ("person", "animal", "animal"), lemma, words.MOVES[lemma][preposition], preposition
        fitting = [act for act in words.ACTS.values() if kind is None or kind in act[0]]
        subjects, verbs, objects = self.pick(fitting)
        return (
            subjects,
            self.pick([verb for verb in verbs.split() if stative or verb not in words.STATIVE]),
            objects,
            "",
        )

    def complement(self, kinds: Sequence[str], preposition: str, *, depth: int = 1) -> Node:
        kind = self.pick(kinds)
        if preposition:
            return with_preposition(preposition, self.noun_phrase(kind, "obl", depth=depth))
        if kind in ("food", "animal") and self.chance(0.25):
            return self.noun_phrase(kind, "obj", bare=True)
        return self.someone("obj", kinds=[kind], depth=depth)

    def clause(
        self, *, tense: str | None = None, subject: Node | None = None, depth: int = 0, extras: bool = True
    ) -> Node:
        """A statement: subject, verb, complement, and sometimes an adverb, a negation or a time."""
        kinds, lemma, complements, preposition = self.act(
            subject.kind if subject else None, stative=tense in (None, "past", "present")
        )
        tense = self.tense(lemma) if tense is None else tense
        subject = self.someone("nsubj", kinds=kinds, depth=depth) if subject is None else subject
        adverb = self.adverb(lemma, tense) if extras and self.chance(0.3) else None
        negative = adverb is None and self.chance(0.2)
        head = self.verb(lemma, subject.number, tense, negative=negative)
        head.left.insert(0, subject)
        if adverb is not None:
            head.left.append(adverb)
        head.right.append(self.complement(complements, preposition, depth=max(depth, 0 if self.chance(0.3) else 1)))
        if extras and adverb is None and lemma not in words.STATIVE and tense in words.TIMES and self.chance(0.6):
            self.add_time(head, tense)
        return head

    def adverb(self, lemma: str, tense: str) -> Node:
        often = ["often", "always", "never", "sometimes"]
        if tense not in ("past", "present"):
            often = ["never"] if tense == "perfect" else ["always"]
        if lemma in words.LIKING:
            often = ["really", "really", "never"]
        elif lemma in words.ACTIVE:
            often = [*often, "quickly", "slowly", "quietly", "happily"]
        return word(self.pick(often), "ADV", "RB", "advmod")

    def add_time(self, head: Node, tense: str) -> None:
        time = self.time(tense)
        if self.chance(0.25):
            time.right.append(word(",", "PUNCT", ",", "punct", join="tight"))
            head.left.insert(0, time)
        else:
            head.right.append(time)

    def relative(self, noun: Node, kind: str) -> None:
        """Give the noun a clause of its own, in which it is the subject or the object."""
        if kind in ("person", "animal") and self.chance(0.7):
            who = self.pick(["who", "who", "that"])
            relative = word(who, "PRON", "WP" if who == "who" else "WDT", "nsubj")
            relative.number = noun.number
            lemma, objects = self.pick(["like"] * 5 + ["eat", "love", "steal", "jump", "swim", "sleep"]), ["food"]
            tense = self.pick(["present"] * 3 + ["past"])
            head = self.verb(lemma, noun.number, tense)
            head.left.insert(0, relative)
            if self.chance(0.5):
                head.left.append(self.adverb(lemma, tense))
            if lemma in words.MOVES:
                preposition = self.pick(list(words.MOVES[lemma]))
                head.right.append(self.complement(words.MOVES[lemma][preposition], preposition, depth=2))
            else:
                head.right.append(self.noun_phrase(objects[0], "obj", depth=2, bare=self.chance(0.6)))
        else:
            verbs = ["buy", "find", "see", "lose"] if kind == "thing" else ["see", "follow", "hear"]
            head = self.verb(self.pick(verbs), "singular", "past")
            head.left.insert(0, self.someone("nsubj", kinds=["person"], depth=2))
            if self.chance(0.7):
                head.left.insert(0, word("that", "PRON", "WDT", "obj"))
        head.rel = "acl:relcl"
        noun.right.append(head)
