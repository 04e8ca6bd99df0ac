"""Merging the words of a token: the tokens form a tree, and every column has a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.results.spacy_docs.merging import join_cells, merge_words, unite_features


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw the heads of a tree with one root, crossing arcs included, and how its words make up tokens."""
    n_words = draw(st.lists(st.integers(1, 3), min_size=1, max_size=8))
    order = draw(st.permutations(range(1, sum(n_words) + 1)))
    heads = {order[0]: 0}
    for position, m in enumerate(order[1:], 1):
        heads[m] = order[draw(st.integers(0, position - 1))]
    return [heads[m] for m in range(1, len(order) + 1)], n_words


def depth(heads: list[int], m: int) -> int:
    return 0 if heads[m - 1] == 0 else 1 + depth(heads, heads[m - 1])


@given(trees())
def test_the_tokens_form_a_tree(drawn: tuple[list[int], list[int]]) -> None:
    heads, n_words = drawn
    merged = list(merge_words(heads, n_words))
    assert len(merged) == len(n_words)
    assert [token.head for token in merged].count(None) == 1
    for token in range(len(merged)):
        seen = set[int]()
        above: int | None = token
        while above is not None:
            assert above not in seen
            seen.add(above)
            above = merged[above].head


@given(trees())
def test_a_token_is_where_its_highest_word_is(drawn: tuple[list[int], list[int]]) -> None:
    heads, n_words = drawn
    token_of = [token for token, n in enumerate(n_words) for _ in range(n)]
    for token, (head, top, words) in enumerate(merge_words(heads, n_words)):
        assert [token_of[m] for m in range(words.start, words.stop)] == [token] * n_words[token]
        assert depth(heads, top + 1) == min(depth(heads, m + 1) for m in range(words.start, words.stop))
        assert head == (token_of[heads[top] - 1] if heads[top] else None)


def test_au() -> None:
    """*va au parc*: both words of *au* depend on *parc*, so the first one counts."""
    assert list(merge_words([0, 4, 4, 1], [1, 2, 1])) == [
        (None, 0, slice(0, 1)),
        (2, 1, slice(1, 3)),
        (0, 3, slice(3, 4)),
    ]


@pytest.mark.parametrize(
    ("cells", "united"),
    [
        (["_"], "_"),
        (["Case=Nom"], "Case=Nom"),
        (["_", "_"], "_"),
        (["_", "Definite=Def|Gender=Masc|PronType=Art"], "Definite=Def|Gender=Masc|PronType=Art"),
        (["Case=Nom|Person=1", "Case=Acc"], "Case=Acc,Nom|Person=1"),
        (["Case=Acc,Nom", "Case=Acc"], "Case=Acc,Nom"),
        (["Number=Sing", "abbr=Yes"], "abbr=Yes|Number=Sing"),
    ],
)
def test_features(cells: list[str], united: str) -> None:
    assert unite_features(cells) == united


def test_cells() -> None:
    assert join_cells("_", ["ADP", "DET"]) == "ADP_DET"
    assert join_cells(" ", ["à", "_"]) == ""
