"""Constituency trees as dependency trees whose relations encode the phrases (Fernández-González & Martins 2015).

The relation of a word has two parts, ``own|attached``. ``attached`` encodes the level of its head at which it is
attached, ``own`` the phrases of which the word itself is the head. How, depends on the encoding:

- ``levels``: ``attached`` is the label of the level. If the phrase inside it has the same label, the label has one more
  prime. Where the labels do not determine the levels of a head (``merging``), its modifiers have ``label#number``.
- ``index``: ``attached`` is ``label#number``, where levels are counted from 1.
- ``delta``: ``attached`` is ``label#steps``, the number of levels between the word and the modifier before it on the
  same side of the head.
- ``spines``: ``attached`` is ``#number``, or ``label#number`` at the root, and ``own`` has all levels of the word.

In the first three, ``own`` is the chain of a word without modifiers. Otherwise the chain is written after the label of
the first level: ``NP/NP``. So nothing is left for the relation of the root of two or more words. It has the name of
the encoding and the chain of a word that is a sentence, as in ``levels/FRAG+NP``, so that dependency trees contain all
that is needed to decode them.

Every projective tree with any relations can be decoded: what contradicts itself is resolved, not refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from easyfirst.constituents.heads import HeadRules
from easyfirst.constituents.levels import JOINT, Level, Spine, from_levels, to_levels
from easyfirst.constituents.merging import INSIDE, PRIME, merge, primed
from easyfirst.constituents.tree import Constituents
from easyfirst.errors import InputError
from easyfirst.treebank.projective import is_projective

LEVELS, INDEX, DELTA, SPINES = "levels", "index", "delta", "spines"
ENCODINGS = (LEVELS, INDEX, DELTA, SPINES)
PARTS, NUMBER, ABOVE = "|", "#", "<"
UNKNOWN = "X"  # the label of a phrase for which the relations have none

Side = list[tuple[int, str]]  # modifiers with what their relations encode, the nearest first


def encode(tree: Constituents, rules: HeadRules, encoding: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the head and the relation of each word."""
    heads, spines = to_levels(tree, rules)
    relations = [""] * len(tree)
    for word, spine in enumerate(spines, 1):
        labels = _with_chain(spine)
        texts = _attached(word, spine, labels, encoding, is_root=heads[word - 1] == 0)
        for modifier, text in texts.items():
            relations[modifier - 1] = text
    for word, spine in enumerate(spines, 1):
        own = ABOVE.join([spine.chain, *(level.label for level in spine.levels)]) if encoding == SPINES else ""
        own = own or ("" if spine.levels else spine.chain)
        if heads[word - 1] == 0:
            relations[word - 1] = root_relation(encoding, own if len(tree) == 1 else "")
        elif own:
            relations[word - 1] = f"{own}{PARTS}{relations[word - 1]}"
    return tuple(heads), tuple(relations)


def root_relation(encoding: str, chain: str) -> str:
    """Return the relation of a root, where ``chain`` is for a sentence of a single word."""
    return f"{encoding}{INSIDE}{chain}"


def encoding_of(root: str) -> str | None:
    """Return the encoding that the relation of a root names, or None if it is another relation."""
    name, slash, _ = root.partition(INSIDE)
    return name if slash and name in ENCODINGS else None


def decode(forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> Constituents:
    """Return the constituency tree that a dependency tree encodes. Raise an :class:`InputError` if the relation of the
    root names no encoding, or the tree is not projective."""
    root = list(heads).index(0) + 1 if 0 in heads else 0
    encoding = encoding_of(relations[root - 1]) if root else None
    if encoding is None:
        raise InputError("the relations of this tree encode no phrases; parse with a constituency model")
    if heads.count(0) > 1 or not is_projective(heads):
        raise InputError("this tree is not projective, so it encodes no phrases")
    parts = [_split(relation) for relation in relations]
    parts[root - 1] = relations[root - 1].partition(INSIDE)[2] if len(forms) == 1 else "", ""
    sides: list[tuple[Side, Side]] = [([], []) for _ in range(len(forms) + 1)]
    for modifier, head in enumerate(heads, 1):
        if modifier > head:
            sides[head][1].append((modifier, parts[modifier - 1][1]))
    for modifier in range(len(heads), 0, -1):
        if modifier < heads[modifier - 1]:
            sides[heads[modifier - 1]][0].append((modifier, parts[modifier - 1][1]))
    decoder = _DECODERS[encoding]
    spines = [decoder(own, *sides[word]) for word, (own, _) in enumerate(parts, 1)]
    return from_levels(forms, tags, heads, spines)


def _with_chain(spine: Spine) -> list[str]:
    """Return the labels of the levels, the first one with the chain of the word."""
    labels = [level.label for level in spine.levels]
    if labels and spine.chain:
        labels[0] += INSIDE + spine.chain
    return labels


def _attached(word: int, spine: Spine, labels: list[str], encoding: str, *, is_root: bool) -> dict[int, str]:
    """Return what the relations of a word's modifiers encode of its levels."""
    numbered = {modifier: number for number, level in enumerate(spine.levels, 1) for modifier in level.modifiers}
    if encoding == LEVELS:
        names = primed(labels)
        found = {modifier: names[number - 1] for modifier, number in numbered.items()}
        left, right = _sides(word, found)
        merged = [sorted(level.modifiers) for level in merge(left, right)]
        if merged == [sorted(level.modifiers) for level in spine.levels]:
            return found
    if encoding == SPINES and not is_root:
        return {modifier: f"{NUMBER}{number}" for modifier, number in numbered.items()}
    shown = dict(numbered)
    if encoding == DELTA:
        for side in _sides(word, dict.fromkeys(numbered, "")):
            before = 0
            for modifier, _ in side:
                shown[modifier] = numbered[modifier] - before
                before = numbered[modifier]
    return {modifier: f"{labels[number - 1]}{NUMBER}{shown[modifier]}" for modifier, number in numbered.items()}


def _sides(word: int, texts: dict[int, str]) -> tuple[Side, Side]:
    left = sorted((item for item in texts.items() if item[0] < word), reverse=True)
    return left, sorted(item for item in texts.items() if item[0] > word)


def _split(relation: str) -> tuple[str, str]:
    """Return the two parts of a relation."""
    own, bar, attached = relation.rpartition(PARTS)
    return (own, attached) if bar else ("", relation)


def _number(text: str) -> tuple[str, int | None]:
    """Return a label and the number after it, if it has one."""
    label, sign, digits = text.rpartition(NUMBER)
    if sign and digits.isascii() and digits.isdecimal() and len(digits) < 6:
        return label, int(digits)
    return text, None


def _decode_levels(own: str, left: Side, right: Side) -> Spine:
    numbers = [_number(text)[1] for _, text in (*left, *right)]
    if numbers and None not in numbers:
        return _decode_index(own, left, right)
    plain = ([(modifier, _number(text)[0]) for modifier, text in side] for side in (left, right))
    return _spine(own, merge(*plain))


def _decode_index(own: str, left: Side, right: Side) -> Spine:
    return _spine(own, _by_number([_outward(left, max), _outward(right, max)]))


def _decode_delta(own: str, left: Side, right: Side) -> Spine:
    return _spine(own, _by_number([_outward(left, int.__add__), _outward(right, int.__add__)]))


def _decode_spines(own: str, left: Side, right: Side) -> Spine:
    chain, *labels = own.split(ABOVE)
    numbered = [_outward(left, max), _outward(right, max)]
    n_levels = max((number for side in numbered for _, _, number in side), default=0)
    found = _levels_of(numbered)
    if not found:
        return Spine(_clean(_joined(*reversed(labels), chain)))
    levels: list[Level] = []
    rest = ""
    for number in range(1, max(n_levels, len(labels)) + 1):
        level, label = found.get(number), labels[number - 1] if number <= len(labels) else ""
        if level is None and levels:
            levels[-1].label = _joined(label, levels[-1].label)
        elif level is None:
            rest = _joined(label, rest)
        else:
            levels.append(Level(label or level.label, level.modifiers))
    spine = _spine("", levels)
    spine.chain = _clean(_joined(rest, chain)) or spine.chain
    return spine


_DECODERS: dict[str, Callable[[str, Side, Side], Spine]] = {
    LEVELS: _decode_levels,
    INDEX: _decode_index,
    DELTA: _decode_delta,
    SPINES: _decode_spines,
}


def _outward(side: Side, combine: Callable[[int, int], int]) -> list[tuple[int, str, int]]:
    """Return the modifiers of a side with labels and numbers, which never fall from the head outwards."""
    split = [(modifier, *_number(text)) for modifier, text in side]
    numbers = accumulate((1 if number is None else number for _, _, number in split), combine)
    return [(modifier, label, max(1, number)) for (modifier, label, _), number in zip(split, numbers, strict=True)]


def _levels_of(sides: Sequence[list[tuple[int, str, int]]]) -> dict[int, Level]:
    """Return the levels by their numbers. The label of a level is that of most of its modifiers."""
    labels: dict[int, Counter[str]] = {}
    modifiers: dict[int, list[int]] = {}
    for side in sides:
        for modifier, label, number in side:
            labels.setdefault(number, Counter())[label] += 1
            modifiers.setdefault(number, []).append(modifier)
    return {number: Level(labels[number].most_common(1)[0][0], modifiers[number]) for number in sorted(labels)}


def _by_number(sides: Sequence[list[tuple[int, str, int]]]) -> list[Level]:
    return list(_levels_of(sides).values())


def _joined(*labels: str) -> str:
    return JOINT.join(filter(None, labels))


def _spine(own: str, levels: Sequence[Level]) -> Spine:
    """Return the phrases of a word: its levels, without primes, and its chain, which the first level has if there is
    one. Of a chain elsewhere, or of a label that is empty, nothing is left."""
    if not levels:
        return Spine(_clean(own))
    chain = levels[0].label.partition(INSIDE)[2]
    plain = (_clean(level.label.partition(INSIDE)[0]) or UNKNOWN for level in levels)
    made = [Level(label, level.modifiers) for label, level in zip(plain, levels, strict=True)]
    return Spine(_clean(chain), made)


def _clean(joined: str) -> str:
    """Return joined labels without primes and empty labels."""
    return _joined(*joined.replace(PRIME, "").replace(ABOVE, JOINT).split(JOINT))
