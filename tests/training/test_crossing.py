"""Training trees in which crossing arcs are lifted: which relations are marked, and what happens to partial trees."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.constraints.feasible import HeadSets, find_tree
from easyfirst.errors import DataError
from easyfirst.training.crossing import MIN_COUNT, LiftedSentences
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.lifting import HEAD, HEAD_AND_PATH, PATH, SCHEMES, Label, lift, restore
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence
from tests.treebank.test_projective import trees

ROOT = Path(__file__).parent.parent.parent
HEARING = next(iter(read_conllu(ROOT / "tests" / "data" / "nonprojective.conllu")))


def sentence_of(heads: list[int | None] | tuple[int, ...], relations: list[str | None] | None = None) -> Sentence:
    names = [None if head is None else "root" if head == 0 else "x" for head in heads]
    return Sentence.from_words([f"w{m}" for m in range(1, len(heads) + 1)], heads=heads, relations=relations or names)


def names_of(found: LiftedSentences) -> Counter[str | None]:
    return Counter(name for sentence in found.sentences for name in sentence.relations)


class TestMarks:
    @pytest.mark.parametrize(
        ("scheme", "marked"),
        [
            (HEAD, {"nmod↑nsubj:pass"}),
            (PATH, {"nmod↑", "nsubj:pass↓"}),
            (HEAD_AND_PATH, {"nmod↑nsubj:pass", "nsubj:pass↓"}),
        ],
    )
    def test_enough_of_a_kind(self, scheme: str, marked: set[str]) -> None:
        found = LiftedSentences.of([HEARING] * MIN_COUNT, scheme)
        assert (found.crossing, found.n_sentences, found.n_arcs, found.n_restorable) == (scheme, *[MIN_COUNT] * 3)
        assert {name for name in names_of(found) if name and Label.decode(name).mark} == marked
        for sentence in found.sentences:
            assert sentence.heads == (2, 4, 4, 0, 7, 7, 4, 4, 4)
            labels = [Label.decode(name or "") for name in sentence.relations]
            assert tuple(label.relation for label in labels) == HEARING.relations
            heads = [head or 0 for head in sentence.heads]
            restored = restore(heads, [label.relation for label in labels], [label.mark for label in labels])
            assert restored == HEARING.heads

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_too_few_of_a_kind(self, scheme: str) -> None:
        found = LiftedSentences.of([HEARING] * (MIN_COUNT - 1), scheme)
        assert (found.crossing, found.n_arcs, found.n_restorable) == (None, MIN_COUNT - 1, 0)
        assert {sentence.relations for sentence in found.sentences} == {HEARING.relations}
        assert {sentence.heads for sentence in found.sentences} == {(2, 4, 4, 0, 7, 7, 4, 4, 4)}

    def test_paths_of_rare_kinds_are_not_marked(self) -> None:
        rare = HEARING.with_tree(HEARING.heads, [r and r.replace("nmod", "appos") for r in HEARING.relations])
        found = LiftedSentences.of([HEARING] * MIN_COUNT + [rare], HEAD_AND_PATH)
        assert found.sentences[-1].relations == rare.relations
        assert found.n_restorable == MIN_COUNT

    def test_a_rare_combination_keeps_what_is_frequent(self) -> None:
        """An ``e`` is lifted often, and an ``f`` is often lifted from an ``e``, but once from one that is lifted."""
        one = sentence_of((0, 1, 1, 1, 2), ["root", "b", "c", "d", "e"])
        other = sentence_of((0, 1, 1, 1, 2), ["root", "e", "c", "d", "f"])
        both = sentence_of((0, 1, 1, 2, 1, 4), ["root", "b", "c", "e", "c", "f"])
        found = LiftedSentences.of([one, other] * MIN_COUNT + [both], HEAD_AND_PATH)
        assert found.sentences[0].relations == ("root", "b↓", "c", "d", "e↑b")
        assert found.sentences[1].relations == ("root", "e↓", "c", "d", "f↑e")
        assert found.sentences[-1].relations == ("root", "b↓", "c", "e↑b", "c", "f↑e")
        found = LiftedSentences.of([one, other] + [both] * MIN_COUNT, HEAD_AND_PATH)
        assert found.sentences[-1].relations == ("root", "b↓", "c", "e↑b↓", "c", "f↑e")

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_projective_sentences_stay_as_they_are(self, scheme: str) -> None:
        toy = list(read_conllu(ROOT / "examples" / "toy" / "dev.conllu"))
        assert LiftedSentences.of(toy, scheme) == LiftedSentences(toy)
        assert LiftedSentences.of([*toy, HEARING], scheme).sentences[:-1] == toy

    def test_relations_that_look_marked(self) -> None:
        arrows = HEARING.with_tree(HEARING.heads, [r and r.replace("nmod", "n↑mod") for r in HEARING.relations])
        message = (
            r"nonprojective\.conllu:9: the relation 'n↑mod' has an arrow, as lifted arcs do; rename it, or use --pro"
        )
        with pytest.raises(DataError, match=message):
            LiftedSentences.of([arrows], HEAD)


class TestPartialTrees:
    @settings(deadline=None, max_examples=200)
    @given(trees(), st.data())
    def test_none_is_left_out(self, heads: tuple[int, ...], data: st.DataObject) -> None:
        """What is known after lifting fits a projective tree, and words are moved up only, or lose their head."""
        known = [head if data.draw(st.booleans()) else None for head in heads]
        sentence = sentence_of(known)
        [found] = LiftedSentences.of([sentence], HEAD).sentences
        assert find_tree(HeadSets.fixed(found.heads)) is not None
        for m, (head, old) in enumerate(zip(found.heads, known, strict=True), 1):
            assert old is not None or head is None
            above = old
            while above not in (head, None, 0):
                above = known[(above or 0) - 1]
            assert head is None or above == head, f"word {m} was moved to {head}, which is not above {old}"
        if find_tree(HeadSets.fixed(known)) is not None:
            assert found == sentence

    def test_the_arc_from_the_top_stays(self) -> None:
        heads = [head if m != 1 else None for m, head in enumerate(HEARING.heads, 1)]
        hearing = HEARING.with_tree(heads, HEARING.relations)
        found = LiftedSentences.of([hearing] * MIN_COUNT, HEAD)
        assert {sentence.heads for sentence in found.sentences} == {(None, 4, 4, 0, 7, 7, 4, 4, 4)}
        assert names_of(found)["nmod↑nsubj:pass"] == MIN_COUNT

    def test_a_head_whose_own_head_is_unknown(self) -> None:
        heads = [head if m != 2 else None for m, head in enumerate(HEARING.heads, 1)]
        found = LiftedSentences.of([HEARING.with_tree(heads, HEARING.relations)] * MIN_COUNT, HEAD)
        assert {sentence.heads for sentence in found.sentences} == {(2, None, 4, 0, 7, 7, None, 4, 4)}
        assert (found.n_arcs, found.n_restorable, found.crossing) == (MIN_COUNT, 0, None)

    def test_unknown_relations(self) -> None:
        relations = [name if m != 7 else None for m, name in enumerate(HEARING.relations, 1)]
        found = LiftedSentences.of([HEARING.with_tree(HEARING.heads, relations)] * MIN_COUNT, HEAD)
        assert {sentence.relations[6] for sentence in found.sentences} == {None}
        assert found.crossing is None


@settings(deadline=None)
@given(st.lists(trees(), min_size=1, max_size=8), st.sampled_from(SCHEMES))
def test_complete_trees_become_projective(treebank: list[tuple[int, ...]], scheme: str) -> None:
    found = LiftedSentences.of([sentence_of(heads) for heads in treebank], scheme)
    for sentence, heads in zip(found.sentences, treebank, strict=True):
        assert is_projective([head or 0 for head in sentence.heads])
        assert sentence.heads == lift(heads).heads
    assert found.n_sentences == sum(not is_projective(heads) for heads in treebank)
    counts = Counter({name: n for name, n in names_of(found).items() if name and Label.decode(name).mark})
    assert all(n >= MIN_COUNT for n in counts.values() if scheme == HEAD)
    assert (found.crossing is None) == (found.n_restorable == 0)
