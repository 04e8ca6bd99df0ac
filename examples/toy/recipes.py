"""The constructions of the toy treebank, one function each: every call draws another sentence of its kind."""

from __future__ import annotations

from collections.abc import Callable

import words
from grammar import Grammar, Node, auxiliary, be, determiner, with_preposition, word

PROFESSIONS = ["teacher", "farmer", "doctor", "baker", "sailor", "singer", "painter"]


def comma() -> Node:
    return word(",", "PUNCT", ",", "punct", join="tight")


def conjoin(first: Node, second: Node, conjunction: str, *, with_comma: bool = False) -> Node:
    """Make the second a conjunct of the first."""
    second.rel = "conj"
    second.left.insert(0, word(conjunction, "CCONJ", "CC", "cc"))
    if with_comma:
        second.left.insert(0, comma())
    first.right.append(second)
    return first


def infinitive(grammar: Grammar, kind: str, *, rel: str = "xcomp", to: bool = True) -> Node:
    """A verb in its base form with its complement: what someone of this kind may do."""
    _, lemma, complements, preposition = grammar.act(kind, stative=False)
    head = word(lemma, "VERB", "VB", rel)
    if to:
        head.left.append(word("to", "PART", "TO", "mark"))
    head.right.append(grammar.complement(complements, preposition))
    return head


def statement(grammar: Grammar) -> Node:
    return grammar.clause()


def relative_clause(grammar: Grammar) -> Node:
    kind = grammar.pick(["person", "animal", "animal"])
    subject = grammar.noun_phrase(kind, "nsubj", depth=1)
    grammar.relative(subject, kind)
    lemma = grammar.pick([*words.MOVES, "jump", "jump"])
    preposition = grammar.pick(list(words.MOVES[lemma]))
    tense = grammar.pick(["past", "past", "past", "present", "future"])
    head = grammar.verb(lemma, subject.number, tense, negative=grammar.chance(0.5))
    head.left.insert(0, subject)
    head.right.append(grammar.complement(words.MOVES[lemma][preposition], preposition, depth=2))
    if grammar.chance(0.7):
        head.right.append(grammar.time(tense))
    return head


def relative_object(grammar: Grammar) -> Node:
    head = grammar.verb("find", "singular", grammar.pick(["past", "future", "perfect"]))
    head.left.insert(0, word(grammar.pick(words.KINDS["name"]), "PROPN", "NNP", "nsubj"))
    thing = grammar.noun_phrase("thing", "obj", depth=2)
    grammar.relative(thing, "thing")
    head.right.append(thing)
    return head


def ditransitive(grammar: Grammar) -> Node:
    tense = grammar.pick(["past", "past", "future", "perfect"])
    subject = grammar.someone("nsubj", kinds=["person"], depth=1)
    head = grammar.verb(
        grammar.pick(["give", "show", "send", "bring", "offer"]), subject.number, tense, negative=grammar.chance(0.2)
    )
    head.left.insert(0, subject)
    gift = grammar.noun_phrase(grammar.pick(["thing", "food"]), "obj", depth=1)
    if grammar.chance(0.6):
        head.right += [grammar.someone("iobj", kinds=["person"], depth=1), gift]
    else:
        head.right += [gift, with_preposition("to", grammar.someone("obl", kinds=["person"], depth=1))]
    return head


def copula(grammar: Grammar) -> Node:
    """Something is such, is somewhere, or is something."""
    kind = grammar.pick(["person", "animal", "fruit", "dish", "thing", "place", "water"])
    subject = grammar.noun_phrase(kind, "nsubj", depth=0)
    link = be(grammar.pick(["present", "past"]), subject.number, "cop")
    choice = grammar.pick(["adjective", "adjective", "place", "profession"])
    if choice == "profession":
        subject, link = (
            word(grammar.pick(words.KINDS["name"]), "PROPN", "NNP", "nsubj"),
            be("present", "singular", "cop"),
        )
        head = word(grammar.pick(PROFESSIONS), "NOUN", "NN", "root")
        head.left = [determiner("a"), word(grammar.pick(["good", "young", "famous"]), "ADJ", "JJ", "amod")]
    elif choice == "place" and kind in ("person", "animal", "thing", "fruit"):
        head = with_preposition(grammar.pick(["in", "near"]), grammar.noun_phrase("place", "root", depth=2), "root")
    else:
        head = word(grammar.pick(words.ADJECTIVES[kind]), "ADJ", "JJ", "root")
        if grammar.chance(0.4):
            head.left.append(word(grammar.pick(["very", "really", "too"]), "ADV", "RB", "advmod"))
    negation = [grammar.negation(link)] if grammar.chance(0.25) else []
    head.left = [subject, link, *negation, *head.left]
    return head


def passive(grammar: Grammar) -> Node:
    agents, verbs, patients = words.ACTS[grammar.pick(["eat", "chase", "carry", "help"])]
    lemma = grammar.pick([verb for verb in verbs.split() if verb not in words.STATIVE])
    subject = grammar.noun_phrase(grammar.pick(patients), "nsubj:pass", depth=1)
    head = word(words.participle(lemma), "VERB", "VBN", "root", lemma=lemma)
    tense = grammar.pick(["past", "past", "present", "future", "perfect"])
    if tense == "future":
        auxiliaries = [auxiliary("will", "will", "MD"), auxiliary("be", "be", "VB", "aux:pass")]
    elif tense == "perfect":
        have = ("has", "have", "VBZ") if subject.number == "singular" else ("have", "have", "VBP")
        auxiliaries = [auxiliary(*have), auxiliary("been", "be", "VBN", "aux:pass")]
    else:
        auxiliaries = [be(tense, subject.number, "aux:pass")]
    if grammar.chance(0.2):
        auxiliaries.insert(1, grammar.negation(auxiliaries[0]))
    head.left = [subject, *auxiliaries]
    if grammar.chance(0.7):
        agent = grammar.someone("obl:agent", kinds=agents, depth=1)
        head.right.append(with_preposition("by", agent, "obl:agent"))
    elif tense in words.TIMES:
        head.right.append(grammar.time(tense))
    return head


def coordinated_nouns(grammar: Grammar) -> Node:
    kind = grammar.pick(["person", "animal"])
    subject = conjoin(
        grammar.someone("nsubj", kinds=[kind], depth=2), grammar.noun_phrase(kind, "conj", depth=2), "and"
    )
    subject.number = "plural"
    return grammar.clause(subject=subject, depth=1)


def coordinated_verbs(grammar: Grammar) -> Node:
    tense = grammar.pick(["past", "past", "present"])
    head = grammar.clause(tense=tense, depth=1, extras=False)
    _, lemma, complements, preposition = grammar.act(head.left[0].kind)
    second = grammar.verb(lemma, head.left[0].number, tense)
    second.right.append(grammar.complement(complements, preposition))
    return conjoin(head, second, grammar.pick(["and", "and", "but"]))


def coordinated_clauses(grammar: Grammar) -> Node:
    tense = grammar.pick(["past", "present", "future"])
    first, second = (grammar.clause(tense=tense, depth=2, extras=False) for _ in range(2))
    return conjoin(first, second, grammar.pick(["and", "but"]), with_comma=True)


def polar_question(grammar: Grammar) -> Node:
    tense = grammar.pick(["past", "present", "future", "perfect"])
    kinds, lemma, complements, preposition = grammar.act(stative=tense in ("past", "present"))
    subject = grammar.someone("nsubj", kinds=kinds, depth=1)
    head = grammar.verb(lemma, subject.number, tense, support=True)
    head.left.insert(1, subject)
    head.right.append(grammar.complement(complements, preposition))
    return head


def open_question(grammar: Grammar) -> Node:
    """What, who, where, when or why."""
    asked = grammar.pick(["subject", "object", "adverb"])
    tense = grammar.pick(["past", "past", "present", "future"])
    kinds, lemma, complements, preposition = grammar.act(stative=asked != "adverb" and tense != "future")
    if asked == "subject":
        head = grammar.verb(lemma, "singular", tense)
        head.left.insert(0, word("who", "PRON", "WP", "nsubj"))
        head.right.append(grammar.complement(complements, preposition))
        return head
    subject = grammar.someone("nsubj", kinds=kinds, depth=1)
    head = grammar.verb(lemma, subject.number, tense, support=True)
    head.left.insert(1, subject)
    if asked == "object" and not preposition:
        pronoun = "who" if complements[0] == "person" else "what"
        head.left.insert(0, word(pronoun, "PRON", "WP", "obj"))
    else:
        head.left.insert(0, word(grammar.pick(["when", "why", "where"]), "ADV", "WRB", "advmod"))
        if head.left[0].form != "where":
            head.right.append(grammar.complement(complements, preposition))
        elif not preposition:
            head.right.append(grammar.complement(complements, ""))
    return head


def imperative(grammar: Grammar) -> Node:
    head = infinitive(grammar, "person", rel="root", to=False)
    if grammar.chance(0.4):
        do = auxiliary("do", "do", "VB")
        head.left = [do, grammar.negation(do)]
    if grammar.chance(0.4):
        head.left.insert(0, word("please", "INTJ", "UH", "discourse"))
    return head


def open_complement(grammar: Grammar) -> Node:
    """Someone wants to do something, or asks another to do it."""
    subject = grammar.someone("nsubj", kinds=["person", "person", "animal"], depth=1)
    if subject.upos != "NOUN" and grammar.chance(0.4):
        lemma, objects = grammar.pick(["ask", "help", "teach"]), [grammar.someone("obj", kinds=["person"], depth=2)]
    else:
        lemma, objects = grammar.pick(["want", "try", "begin", "like", "plan", "refuse", "love"]), []
    head = grammar.verb(lemma, subject.number, grammar.pick(["past", "past", "present"]), negative=grammar.chance(0.15))
    head.left.insert(0, subject)
    head.right += [*objects, infinitive(grammar, subject.kind)]
    return head


def clausal_complement(grammar: Grammar) -> Node:
    subject = grammar.someone("nsubj", kinds=["person"], depth=2)
    head = grammar.verb(
        grammar.pick(["say", "think", "know", "believe", "hope"]), subject.number, grammar.pick(["past", "present"])
    )
    head.left.insert(0, subject)
    inner = grammar.clause(depth=2, extras=False)
    inner.rel = "ccomp"
    if grammar.chance(0.7):
        inner.left.insert(0, word("that", "SCONJ", "IN", "mark"))
    head.right.append(inner)
    return head


def adverbial_clause(grammar: Grammar) -> Node:
    tense = grammar.pick(["past", "past", "present"])
    head, inner = (grammar.clause(tense=tense, depth=2, extras=False) for _ in range(2))
    conjunction = grammar.pick(["when", "because", "while", "after", "before", "although"])
    is_adverb = conjunction == "when"
    mark = word(conjunction, "ADV", "WRB", "advmod") if is_adverb else word(conjunction, "SCONJ", "IN", "mark")
    inner.left.insert(0, mark)
    inner.rel = "advcl"
    if grammar.chance(0.4):
        inner.right.append(comma())
        head.left.insert(0, inner)
    else:
        head.right.append(inner)
    return head


def existential(grammar: Grammar) -> Node:
    kind = grammar.pick(["person", "animal", "thing", "fruit"])
    thing = grammar.noun_phrase(kind, "nsubj", depth=2)
    while thing.left and thing.left[0].form not in ("a", "an", "some", "two", "three", "four", "five", "ten"):
        thing = grammar.noun_phrase(kind, "nsubj", depth=2)
    form = be(grammar.pick(["present", "past"]), thing.number)
    head = word(form.form, "VERB", form.xpos, "root", lemma="be")
    head.left.append(word("there", "PRON", "EX", "expl"))
    preposition, place = grammar.pick([("in", "place"), ("near", "water"), ("behind", "obstacle")])
    head.right += [thing, with_preposition(preposition, grammar.noun_phrase(place, "obl", depth=2))]
    return head


QUESTIONS: list[Callable[[Grammar], Node]] = [polar_question, open_question]
RECIPES: list[Callable[[Grammar], Node]] = [
    statement, relative_clause, ditransitive, copula, passive, statement, coordinated_nouns, relative_clause,
    coordinated_verbs, polar_question, imperative, statement, relative_clause, open_complement, clausal_complement,
    copula, adverbial_clause, open_question, existential, relative_object, coordinated_clauses,
]  # fmt: skip
