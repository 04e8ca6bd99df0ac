"""Random constituency trees for hypothesis."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from easyfirst.constituents.tree import Constituents, Node

LABELS = ("NP", "VP", "S", "PRT|ADVP", "X'", "A+B", "#", "%2", "a<b", "_", "NP-SBJ", "/", "levels/")
TAGS = ("NN", "VB", "-LRB-", ",", "_")


@st.composite
def trees(draw: st.DrawFn, max_words: int = 12, n_words: int | None = None) -> Constituents:
    """Draw a tree: phrases are cut into parts at random, with chains of phrases over the same words."""
    n = n_words or draw(st.integers(1, max_words))
    nodes: list[Node] = []
    waiting = [(0, n)]
    while waiting:
        start, end = waiting.pop()
        is_root_of_many = (start, end) == (0, n) and n > 1
        n_chain = draw(st.integers(1 if is_root_of_many or end - start > 1 else 0, 3))
        nodes += [Node(draw(st.sampled_from(LABELS)), start, end) for _ in range(n_chain)]
        if end - start > 1:
            cuts = draw(st.sets(st.integers(start + 1, end - 1), min_size=1, max_size=4))
            ends = [start, *sorted(cuts), end]
            waiting += list(pairwise(ends))
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i].start, -nodes[i].end, i))
    forms = tuple(draw(st.sampled_from(("a", "(", "b)c", "fox"))) for _ in range(n))
    tags = tuple(draw(st.sampled_from(TAGS)) for _ in range(n))
    return Constituents(forms, tags, tuple(nodes[i] for i in order))


@st.composite
def projective_heads(draw: st.DrawFn, max_words: int = 12) -> list[int]:
    """Draw a projective dependency tree, as the parser makes it: neighbours are attached until one is left."""
    pending = list(range(1, draw(st.integers(1, max_words)) + 1))
    heads = [0] * len(pending)
    while len(pending) > 1:
        i = draw(st.integers(0, len(pending) - 2))
        head, modifier = (i, i + 1) if draw(st.booleans()) else (i + 1, i)
        heads[pending[modifier] - 1] = pending[head]
        del pending[modifier]
    return heads


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Constituents, Constituents]:
    """Draw two trees of the same words, which share some phrases."""
    gold = draw(trees())
    other = draw(trees(n_words=len(gold)))
    shared = draw(st.booleans())
    return gold, Constituents(gold.forms, other.tags, gold.nodes if shared else other.nodes)
