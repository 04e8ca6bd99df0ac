"""Lifting and restoring against naive twins, over all small trees and random larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.lifting import HEAD, HEAD_AND_PATH, PATH, SCHEMES, Label, Lifted, Mark, lift, restore
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.tree import check_tree, find_cycle
from tests.treebank.test_projective import by_definition, dominates, trees

DATA = Path(__file__).parent.parent / "data"
RELATIONS = ("a", "b", "c")
NAMES = ("a", "b", "a↑", "b↑", "a↓", "b↓", "a↑↓", "a↑a", "a↑b", "b↑a", "b↑b", "b↑a↓", "a↑c")


def single_rooted(n: int) -> Iterator[tuple[int, ...]]:
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and not find_cycle(heads):
            yield heads


def lift_naively(heads: tuple[int, ...]) -> tuple[int, ...]:
    """Nivre & Nilsson's algorithm: lift the shortest non-projective arc, the leftmost one if there are several."""
    found = by_definition(heads)
    if not found:
        return heads
    m = min(found, key=lambda m: abs(heads[m - 1] - m))
    return lift_naively((*heads[: m - 1], heads[heads[m - 1] - 1], *heads[m:]))


def restore_naively(heads: Sequence[int], labels: Sequence[Label]) -> tuple[int, ...]:
    """Move one lifted word after the other, the longest arc first, as long as there is a head for one of them."""
    found = list(heads)
    waiting = [m for m, label in enumerate(labels, 1) if label.mark and label.mark.is_lifted and heads[m - 1]]
    waiting.sort(key=lambda m: (abs(heads[m - 1] - m), m), reverse=True)
    moved = True
    while moved:
        moved = False
        for m in list(waiting):
            targets = [w for w in range(1, len(found) + 1) if is_target(w, m, tuple(found), labels)]
            if targets:
                keys = {w: (not is_preferred(w, m, found, labels), abs(w - m), w) for w in targets}
                found[m - 1] = min(targets, key=lambda w: keys[w])
                waiting.remove(m)
                moved = True
    return tuple(found)


def way_up(word: int, top: int, heads: Sequence[int]) -> list[int]:
    """The words from this one up to the one below ``top``; none if it is not below."""
    way: list[int] = []
    while word not in (0, top):
        way.append(word)
        word = heads[word - 1]
    return way if word == top else []


def is_target(word: int, m: int, heads: tuple[int, ...], labels: Sequence[Label]) -> bool:
    mark = labels[m - 1].mark
    assert mark is not None
    way = way_up(word, heads[m - 1], heads)
    crosses = [
        not all(dominates(heads, w, between) for between in range(min(w, m) + 1, max(w, m))) and w != m for w in way
    ]
    return bool(way) and m not in way and all(crosses) and mark.head_relation in (None, labels[word - 1].relation)


def is_preferred(word: int, m: int, heads: Sequence[int], labels: Sequence[Label]) -> bool:
    def is_marked(w: int) -> bool:
        mark = labels[w - 1].mark
        return mark is not None and mark.is_on_path

    mark = labels[m - 1].mark
    assert mark is not None
    below = [w for w, head in enumerate(heads, 1) if head == word and w != m]
    is_end = mark.head_relation is not None or not any(map(is_marked, below))
    return is_end and all(map(is_marked, way_up(word, heads[m - 1], heads)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_small_trees_are_lifted_as_the_algorithm_says(n: int) -> None:
    for heads in single_rooted(n):
        found = lift(heads)
        assert found.heads == lift_naively(heads)
        assert is_projective(found.heads)
        assert found.heads.index(0) == heads.index(0)
        changed = {m for m in range(1, n + 1) if found.heads[m - 1] != heads[m - 1]}
        assert found.ways.keys() == changed
        for m, way in found.ways.items():
            assert way[0] == heads[m - 1]
            assert dominates(heads, found.heads[m - 1], m)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_small_trees_with_distinct_relations_come_back(n: int, scheme: str) -> None:
    relations = [f"r{m}" for m in range(n)]
    for heads in single_rooted(n):
        found = lift(heads)
        assert restore(found.heads, relations, found.marks(relations, scheme, set(found.ways))) == heads


@settings(deadline=None)
@given(trees(), st.sampled_from([HEAD, HEAD_AND_PATH]))
def test_a_single_lifted_word_comes_back_if_relations_are_distinct(heads: tuple[int, ...], scheme: str) -> None:
    """The schemes that encode the relation of the head are lossless then."""
    found, relations = lift(heads), [f"r{m}" for m in range(len(heads))]
    if len(found.ways) == 1:
        assert restore(found.heads, relations, found.marks(relations, scheme, set(found.ways))) == heads


@settings(deadline=None)
@given(trees())
def test_a_single_lifted_word_comes_back_along_its_path(heads: tuple[int, ...]) -> None:
    found, relations = lift(heads), ["r"] * len(heads)
    if len(found.ways) == 1:
        assert restore(found.heads, relations, found.marks(relations, PATH, set(found.ways))) == heads


@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_marks_on_all_small_trees(n: int) -> None:
    """Whatever the marks are, restoring a projective tree is as naive, and gives a tree with the same root."""
    for heads in filter(is_projective, single_rooted(n)):
        for names in product(NAMES[:: 2 if n < 4 else 3], repeat=n):
            check_restored(heads, names)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_marks_on_any_tree(data: st.DataObject) -> None:
    heads = data.draw(trees())
    if data.draw(st.booleans()):
        heads = lift(heads).heads
    check_restored(heads, data.draw(st.tuples(*[st.sampled_from(NAMES)] * len(heads))))


def check_restored(heads: tuple[int, ...], names: Sequence[str]) -> None:
    labels = [Label.decode(name) for name in names]
    relations, marks = [label.relation for label in labels], [label.mark for label in labels]
    found = restore(heads, relations, marks)
    assert found == restore_naively(heads, labels)
    assert (found.count(0), found.index(0)) == (1, heads.index(0))
    assert not find_cycle(found)
    for m, (head, old) in enumerate(zip(found, heads, strict=True), 1):
        mark = marks[m - 1]
        assert head == old or (mark is not None and mark.is_lifted)


@settings(deadline=None)
@given(trees(), st.data())
def test_nothing_is_moved_where_it_is_not_allowed(heads: tuple[int, ...], data: st.DataObject) -> None:
    found = lift(heads)
    relations = data.draw(st.tuples(*[st.sampled_from(RELATIONS)] * len(heads)))
    marks = found.marks(relations, HEAD, set(found.ways))
    assert restore(found.heads, relations, marks, lambda moved: False) == found.heads
    banned = data.draw(st.integers(1, len(heads)))
    kept = restore(found.heads, relations, marks, lambda moved: moved[banned - 1] == found.heads[banned - 1])
    assert kept[banned - 1] == found.heads[banned - 1]


@pytest.mark.parametrize("name", [*NAMES, "nmod:poss", "acl:relcl↑obl:arg↓", "↑", "↓", ""])
def test_names(name: str) -> None:
    assert Label.decode(name).encode() == name


@given(st.text("ab:", max_size=3), st.booleans(), st.text("ab:", max_size=3), st.booleans())
def test_marks_as_names(relation: str, is_lifted: bool, head_relation: str, is_on_path: bool) -> None:
    mark = Mark(is_lifted, (head_relation or None) if is_lifted else None, is_on_path)
    label = Label(relation, mark if is_lifted or is_on_path else None)
    assert Label.decode(label.encode()) == label


class TestHearing:
    """A hearing is scheduled on the issue today: "on the issue" belongs to the hearing."""

    heads = (2, 4, 4, 0, 7, 7, 2, 4, 4)
    relations = ("det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl:tmod", "punct")

    def test_is_the_sentence_of_the_treebank(self) -> None:
        sentence = next(iter(read_conllu(DATA / "nonprojective.conllu")))
        assert check_tree(sentence).heads == self.heads
        assert sentence.relations == self.relations

    @pytest.mark.parametrize(
        ("scheme", "names"),
        [
            (HEAD, {2: "nsubj:pass", 7: "nmod↑nsubj:pass"}),
            (PATH, {2: "nsubj:pass↓", 7: "nmod↑"}),
            (HEAD_AND_PATH, {2: "nsubj:pass↓", 7: "nmod↑nsubj:pass"}),
        ],
    )
    def test_marks(self, scheme: str, names: dict[int, str]) -> None:
        found = lift(self.heads)
        assert found == Lifted((2, 4, 4, 0, 7, 7, 4, 4, 4), {7: (2,)})
        marks = found.marks(self.relations, scheme, {7})
        labels = [Label(name, mark).encode() for name, mark in zip(self.relations, marks, strict=True)]
        assert labels == [names.get(m, name) for m, name in enumerate(self.relations, 1)]
        assert restore(found.heads, self.relations, marks) == self.heads

    def test_a_mark_that_fits_no_word(self) -> None:
        found = lift(self.heads)
        marks = [Mark(is_lifted=True, head_relation="obj") if m == 7 else None for m in range(1, 10)]
        assert restore(found.heads, self.relations, marks) == found.heads

    def test_unknown_relations_cannot_be_marked(self) -> None:
        relations = [None if m == 2 else name for m, name in enumerate(self.relations, 1)]
        assert lift(self.heads).marks(relations, HEAD, {7}) == [None] * 9
        assert lift(self.heads).marks(relations, PATH, {7})[6] == Mark(is_lifted=True)


def test_long_sentences_are_no_trouble() -> None:
    """Every fourth word crosses many others."""
    heads = (0, *(1 if m % 4 or m < 8 else m // 2 for m in range(2, 1001)))
    found = lift(heads)
    assert len(found.ways) > 200
    marks = found.marks([f"r{m}" for m in range(1000)], HEAD, set(found.ways))
    assert restore(found.heads, [f"r{m}" for m in range(1000)], marks) == heads
