"""The vocabulary of the toy treebank, and how its words inflect."""

from __future__ import annotations

NOUNS = {
    "person": "boy girl teacher farmer doctor baker sailor gardener singer painter neighbour student driver child",
    "name": "Anna Ben Clara David Emma Felix Maria Peter Rosa Tom",
    "animal": "fox dog cat horse cow hen rabbit bear wolf bird mouse goat sheep duck frog lion monkey pig turtle",
    "fruit": "apple pear plum carrot berry tomato cherry nut",
    "dish": "bread soup cheese cake pie rice milk honey cookie sandwich",
    "thing": "ball book letter basket hat chair bicycle map box key lamp boat picture drum coat cup",
    "carried": "hat coat basket bicycle drum book",
    "place": "garden kitchen forest field village market barn house park school town",
    "obstacle": "fence wall gate bench box",
    "water": "river lake stream pond",
}
KINDS = {kind: words.split() for kind, words in NOUNS.items()}
KINDS["food"] = KINDS["fruit"] + KINDS["dish"]
SELDOM_PLURAL = {"place", "obstacle", "water"}
MASS = {"bread", "soup", "cheese", "rice", "milk", "honey"}
IRREGULAR_PLURALS = {"child": "children", "wolf": "wolves", "mouse": "mice", "sheep": "sheep", "tomato": "tomatoes"}
COMPOUNDS = {"cake": ["apple", "carrot"], "pie": ["cherry", "plum"], "soup": ["tomato"], "chair": ["garden", "kitchen"]}

ADJECTIVES = {
    "person": "old young tall kind tired happy clever friendly brave",
    "animal": "black white brown grey lazy quick hungry sleepy old young small clever",
    "fruit": "red ripe green fresh sweet small big",
    "dish": "fresh warm cold delicious",
    "thing": "old new small heavy blue red beautiful",
    "carried": "old new small blue red beautiful",
    "place": "quiet dark small large old",
    "obstacle": "high low old wooden",
    "water": "cold deep wide",
}
ADJECTIVES = {kind: words.split() for kind, words in ADJECTIVES.items()}

# A verb's forms: base, past and participle, and the -ing form where its last letter doubles.
IRREGULAR_VERBS = {
    forms.split()[0]: forms.split()[1:]
    for forms in (
        "eat ate eaten", "find found found", "steal stole stolen", "see saw seen", "hear heard heard",
        "know knew known", "meet met met", "lose lost lost", "hide hid hidden", "buy bought bought", "sell sold sold",
        "feed fed fed", "teach taught taught",
        "run ran run running", "swim swam swum swimming", "sleep slept slept", "sit sat sat sitting",
        "give gave given", "send sent sent", "bring brought brought", "think thought thought", "say said said",
        "begin began begun beginning", "plan planned planned planning", "sing sang sung",
    )
}  # fmt: skip

# Who does what: subject kinds, verbs, and what follows: an object's kinds, or prepositions and the kinds they govern.
ACTS = {
    "eat": (["animal", "person"], "eat like love want find steal smell share", ["food"]),
    "chase": (["animal"], "chase see follow watch hear fear like", ["animal"]),
    "watch": (["person"], "see follow watch hear like chase feed", ["animal"]),
    "help": (["person"], "help visit know thank meet love", ["person"]),
    "carry": (["person"], "carry find paint clean hide repair buy sell want", ["thing"]),
}
MOVES = {
    "jump": {"over": ["obstacle", "animal"], "into": ["water"]},
    "climb": {"over": ["obstacle"]},
    "run": {"through": ["place"], "to": ["place"], "after": ["animal"]},
    "walk": {"to": ["place", "water"], "through": ["place"]},
    "swim": {"across": ["water"], "in": ["water"]},
    "sleep": {"in": ["place"], "near": ["obstacle", "water"]},
    "sit": {"on": ["obstacle"], "near": ["water"]},
    "play": {"in": ["place"], "with": ["animal"]},
    "hide": {"behind": ["obstacle"], "in": ["place"]},
    "wait": {"in": ["place"], "near": ["water"]},
}
STATIVE = {"like", "love", "want", "know", "fear", "hear", "see"}
LIKING = {"like", "love", "want", "fear"}
ACTIVE = {"eat", "carry", "chase", "follow", "clean", "jump", "climb", "run", "walk", "swim", "play", "hide"}

COLOURS = ["black", "white", "brown", "grey"]
IRREGULAR_NEGATIONS = {"can": "ca", "will": "wo"}
BE = {"present": {"singular": "is", "plural": "are", "first": "am"}, "past": {"singular": "was", "plural": "were"}}
TIMES = {
    "past": ["yesterday", "yesterday", "last week", "this morning"],
    "present": ["every day", "every morning"],
    "future": ["tomorrow", "next week"],
    "progressive": ["today"],
}


def plural(noun: str) -> str:
    return IRREGULAR_PLURALS.get(noun) or _with_s(noun)


def third_person(verb: str) -> str:
    return _with_s(verb)


def past(verb: str) -> str:
    return IRREGULAR_VERBS[verb][0] if verb in IRREGULAR_VERBS else _regular_past(verb)


def participle(verb: str) -> str:
    return IRREGULAR_VERBS[verb][1] if verb in IRREGULAR_VERBS else _regular_past(verb)


def gerund(verb: str) -> str:
    forms = IRREGULAR_VERBS.get(verb, [])
    return forms[2] if len(forms) == 3 else verb.removesuffix("e" if not verb.endswith("ee") else "") + "ing"


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _regular_past(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")
