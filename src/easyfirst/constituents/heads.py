"""Head rules: which child of a phrase contains its head word.

The rules for Penn-style treebanks are a table in the manner of Magerman (1995) and Collins (1999): for each label a
direction of search, and labels in the order of preference. Other treebanks take the left-most or the right-most child.
The choice decides which dependency tree a constituency tree becomes, not whether it can be restored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from easyfirst.constituents.stripping import plain_label
from easyfirst.errors import ConfigError

Children = Sequence[str]
HeadRules = Callable[[str, Children], int]
"""``rules(label, children)``: the position of the head among the labels of a phrase's children."""

PTB, LEFT, RIGHT = "ptb", "left", "right"

_PUNCTUATION = frozenset(("``", "''", ",", ".", ":", "-LRB-", "-RRB-", "$", "#", "HYPH", "NFP", "SYM", "-NONE-"))
_ANY_LEFT, _ANY_RIGHT = ("left", ()), ("right", ())
_VERBS = ["TO", "VBD", "VBN", "MD", "VBZ", "VB", "VBG", "VBP", "AUX", "VP", "ADJP", "NN", "NNS", "NP"]
_TABLE: Mapping[str, tuple[str, Sequence[str]]] = {
    "ADJP": (
        "left",
        [
            "NNS",
            "QP",
            "NN",
            "$",
            "ADVP",
            "JJ",
            "VBN",
            "VBG",
            "ADJP",
            "JJR",
            "NP",
            "JJS",
            "DT",
            "FW",
            "RBR",
            "RBS",
            "SBAR",
            "RB",
        ],
    ),
    "ADVP": ("right", ["RB", "RBR", "RBS", "FW", "ADVP", "TO", "CD", "JJR", "JJ", "IN", "NP", "JJS", "NN"]),
    "CONJP": ("right", ["CC", "RB", "IN"]),
    "FRAG": _ANY_RIGHT,
    "INTJ": _ANY_LEFT,
    "LST": ("right", ["LS", ":"]),
    "NAC": (
        "left",
        [
            "NN",
            "NNS",
            "NNP",
            "NNPS",
            "NP",
            "NAC",
            "EX",
            "$",
            "CD",
            "QP",
            "PRP",
            "VBG",
            "JJ",
            "JJS",
            "JJR",
            "ADJP",
            "FW",
        ],
    ),
    "PP": ("right", ["IN", "TO", "VBG", "VBN", "RP", "FW", "PP"]),
    "PRN": _ANY_LEFT,
    "PRT": ("right", ["RP"]),
    "QP": ("left", ["$", "IN", "NNS", "NN", "JJ", "RB", "DT", "CD", "NCD", "QP", "JJR", "JJS"]),
    "RRC": ("right", ["VP", "NP", "ADVP", "ADJP", "PP"]),
    "S": ("left", ["TO", "IN", "VP", "S", "SBAR", "ADJP", "UCP", "NP"]),
    "SBAR": ("left", ["WHNP", "WHPP", "WHADVP", "WHADJP", "IN", "DT", "S", "SQ", "SINV", "SBAR", "FRAG"]),
    "SBARQ": ("left", ["SQ", "S", "SINV", "SBARQ", "FRAG"]),
    "SINV": ("left", ["VBZ", "VBD", "VBP", "VB", "MD", "VP", "S", "SINV", "ADJP", "NP"]),
    "SQ": ("left", ["VBZ", "VBD", "VBP", "VB", "MD", "VP", "SQ"]),
    "UCP": _ANY_RIGHT,
    "VP": ("left", _VERBS),
    "WHADJP": ("left", ["CC", "WRB", "JJ", "ADJP"]),
    "WHADVP": ("right", ["CC", "WRB"]),
    "WHNP": ("left", ["WDT", "WP", "WP$", "WHADJP", "WHPP", "WHNP"]),
    "WHPP": ("right", ["IN", "TO", "FW"]),
}
_NOUNS = frozenset(["NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR", "NML"])
_NOMINAL = frozenset(("NP", "NX", "NML", "WHNP", "TITLE", "HEADING", "CAPTION"))


def head_rules(name: str) -> HeadRules:
    """Return the rules with a name: ``ptb``, ``left`` or ``right``."""
    rules = {PTB: ptb_head, LEFT: left_head, RIGHT: right_head}
    if name not in rules:
        raise ConfigError(f"unknown head rules {name!r}; there are: {', '.join(rules)}")
    return rules[name]


def left_head(label: str, children: Children) -> int:
    """Return the first child."""
    return 0


def right_head(label: str, children: Children) -> int:
    """Return the last child."""
    return len(children) - 1


def ptb_head(label: str, children: Children) -> int:
    """Return the head by the rules for English; without a rule, the last child that is not punctuation.

    >>> ptb_head("S", ["NP-SBJ", "VP", "."])
    1
    """
    labels = [plain_label(child) for child in children]
    kind = plain_label(label)
    found = _noun_head(labels) if kind in _NOMINAL and kind != "WHNP" else _by_table(kind, labels)
    return _before_conjunction(labels, found)


def _by_table(kind: str, labels: Children) -> int:
    direction, preferred = _TABLE.get(kind, _ANY_RIGHT)
    order = range(len(labels)) if direction == "left" else range(len(labels) - 1, -1, -1)
    for wanted in preferred:
        for position in order:
            if labels[position] == wanted:
                return position
    return next((position for position in order if labels[position] not in _PUNCTUATION), order[0])


def _noun_head(labels: Children) -> int:
    """Return the head of a noun phrase: the last noun, else the first NP inside, else others by preference."""
    backwards = range(len(labels) - 1, -1, -1)
    if labels[-1] == "POS":
        return len(labels) - 1
    for wanted, order in (
        (_NOUNS, backwards),
        (_NOMINAL, range(len(labels))),
        (frozenset(("$", "ADJP", "PRN")), backwards),
        (frozenset(("CD",)), backwards),
        (frozenset(("JJ", "JJS", "RB", "QP", "PRP")), backwards),
    ):
        for position in order:
            if labels[position] in wanted:
                return position
    return next((position for position in backwards if labels[position] not in _PUNCTUATION), len(labels) - 1)


def _before_conjunction(labels: Children, head: int) -> int:
    """Return the head of a coordination: the conjunct before the conjunction, if the head follows one."""
    if head >= 2 and labels[head - 1] in ("CC", "CONJP"):
        return next((p for p in range(head - 2, -1, -1) if labels[p] not in _PUNCTUATION), head)
    return head
