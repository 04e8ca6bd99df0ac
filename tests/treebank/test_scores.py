"""Tally scores in their three conventions, against hand counts and the official scorer."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.scores import Scorer, is_punctuation, score
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import find_cycle

DATA = Path(__file__).parent.parent / "data"

FORMS = ["Ana", "paid", "$", "5", "today", "..."]
GOLD_HEADS, GOLD_RELATIONS = [2, 0, 2, 3, 2, 2], ["nsubj", "root", "obj", "nummod", "obl:tmod", "punct"]
SYSTEM_HEADS, SYSTEM_RELATIONS = [2, 0, 2, 2, 2, 3], ["nsubj", "root", "nmod", "nummod", "obl", "punct"]


def compare(forms: Sequence[str] = FORMS) -> dict[str, Any]:
    gold = Sentence.from_words(forms, heads=GOLD_HEADS, relations=GOLD_RELATIONS)
    return score([gold], [gold.with_tree(SYSTEM_HEADS, SYSTEM_RELATIONS)]).to_dict()


def test_ud_counts_all_words_and_ignores_subtypes() -> None:
    assert compare()["ud"] == {"UAS": pytest.approx(100 * 4 / 6), "LAS": pytest.approx(100 * 3 / 6), "words": 6}


def test_conllx_leaves_out_punctuation_and_keeps_subtypes() -> None:
    assert compare()["conllx"] == {"UAS": pytest.approx(100 * 4 / 5), "LAS": pytest.approx(100 * 2 / 5), "words": 5}


def test_full_counts_all_words_and_keeps_subtypes() -> None:
    assert compare()["full"] == {"UAS": pytest.approx(100 * 4 / 6), "LAS": pytest.approx(100 * 2 / 6), "words": 6}


def test_relations_are_scored_one_by_one() -> None:
    relations = compare()["relations"]
    assert relations["nsubj"] == {"gold": 1, "system": 1, "correct": 1, "precision": 100, "recall": 100, "f1": 100}
    assert relations["nummod"] == {"gold": 1, "system": 1, "correct": 0, "precision": 0, "recall": 0, "f1": 0}
    assert relations["nmod"] == {"gold": 0, "system": 1, "correct": 0, "precision": 0, "recall": 0, "f1": 0}
    assert relations["obl:tmod"]["system"] == 0


@pytest.mark.parametrize(
    ("n", "length"),
    [(1, "1-10"), (10, "1-10"), (11, "11-20"), (50, "41-50"), (51, "51+"), (2000, "51+")],
)
def test_lengths_are_counted_in_ranges(n: int, length: str) -> None:
    sentence = Sentence.from_words(["a"] * n, heads=range(n), relations=["x"] * n)
    scores = score([sentence] * 2, [sentence] * 2).to_dict()
    assert scores["lengths"] == {length: {"UAS": 100, "LAS": 100, "words": 2 * n, "sentences": 2}}
    assert scores["sentences"] == 2


def test_whole_trees_are_counted() -> None:
    gold = Sentence.from_words(["a", "b"], heads=[0, 1], relations=["root", "x"])
    systems = [gold, gold.with_tree([0, 1], ["root", "y"]), gold.with_tree([2, 0], ["x", "root"])]
    scores = score([gold] * 3, systems)
    assert (scores.exact_unlabelled, scores.exact_labelled) == (2, 1)
    assert scores.to_dict()["exact"] == {"unlabelled": pytest.approx(200 / 3), "labelled": pytest.approx(100 / 3)}


def test_a_relation_that_is_not_given_is_one_more_label() -> None:
    gold = Sentence.from_words(["a", "b"], heads=[0, 1], relations=["root", None])
    scores = score([gold], [gold.with_tree([0, 1], [None, None])])
    assert (scores.full.labelled, scores.ud.labelled) == (1, 1)
    assert scores.relations["_"].system == 2


def test_nothing_to_score_gives_zeros() -> None:
    assert score([], []).to_dict()["conllx"] == {"UAS": 0.0, "LAS": 0.0, "words": 0}


def test_only_unicode_punctuation_is_punctuation() -> None:
    assert all(map(is_punctuation, [".", "...", "«", "؟", "。", "-", "_", "#", "%", "@"]))
    assert not any(map(is_punctuation, ["$", "+", "a.", "=", "|", "€", "🎉", "1", "`"]))


def test_scores_are_plain_json() -> None:
    assert json.loads(json.dumps(compare())) == compare()


def test_the_scorer_counts_without_sentence_objects() -> None:
    scorer = Scorer()
    assert scorer.scores().sentences == 0
    scorer.add(
        FORMS,
        gold_heads=GOLD_HEADS,
        gold_relations=GOLD_RELATIONS,
        system_heads=SYSTEM_HEADS,
        system_relations=SYSTEM_RELATIONS,
    )
    whole = compare()
    del whole["conll18"]  # it also compares tags and lemmas
    assert scorer.scores().to_dict() == whole


def test_the_scorer_refuses_sides_of_different_length() -> None:
    with pytest.raises(ValueError, match="zip"):
        Scorer().add(["a"], gold_heads=[0], gold_relations=["x"], system_heads=[0, 1], system_relations=["x"])


def test_sentences_are_compared_as_they_come() -> None:
    seen: list[str] = []

    def stream(side: str, n: int) -> Any:
        for _ in range(n):
            seen.append(side)
            yield Sentence.from_words(["a"], heads=[0], relations=["root"])

    score(stream("gold", 3), stream("system", 3))
    assert seen == ["gold", "system"] * 3


# Two sides that do not fit


def conllu(name: str, *sentences: str) -> ConlluReader:
    """A sentence is written as "form/head form/head"."""
    blocks: list[str] = []
    for sentence in sentences:
        cells = [word.split("/") for word in sentence.split()]
        rows = [f"{m}\t{form}\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for m, (form, head) in enumerate(cells, 1)]
        blocks.append("".join(rows))
    return ConlluReader(io.BytesIO("\n".join(blocks).encode()), name)


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (["a/0", "b/0"], ["a/0"], "^gold:3: gold sentence 2 has no partner: the system side ends after 1 sentence; "),
        (["a/0"], ["a/0", "b/0"], "^system:3: system sentence 2 has no partner: the gold side ends after 1"),
        (["a/0", "b/0"], ["a/0", "c/0"], "^system:3: sentence 2 differs at word 1: 'c' here, 'b' in gold:3; compare"),
        (["a/0 b/1"], ["a/0"], "^system:1: sentence 1 differs at word 2: the sentence's end here, 'b' in gold:2"),
        (["a/0"], ["a/0 b/1"], "^system:2: sentence 1 differs at word 2: 'b' here, the sentence's end in gold:1"),
        (["a/0 b/_"], ["a/0 b/1"], "^gold:2: word 2 'b' of gold sentence 1 has no head; scores need whole"),
        (["a/0 b/1"], ["a/_ b/_"], "^system:1: word 1 'a' of system sentence 1 has no head; parse the file"),
    ],
)
def test_sides_that_do_not_fit_are_named(gold: list[str], system: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        score(conllu("gold", *gold), conllu("system", *system))


def test_sentences_from_no_file_that_do_not_fit_are_described() -> None:
    with pytest.raises(DataError, match=r"^sentence 1 differs at word 1: 'b' here, 'a' in the gold sentence;"):
        score([Sentence.from_words(["a"])], [Sentence.from_words(["b"])])


# Against the official scorer


def perturb(sentence: Sentence, rng: random.Random) -> Sentence:
    """A tree near the gold one: some heads and relations changed, still one root and no cycle."""
    n = len(sentence)
    heads = [head or 0 for head in sentence.heads]
    relations = [relation or "_" for relation in sentence.relations]
    for m in range(n):
        old = heads[m]
        if old and rng.random() < 0.3:
            heads[m] = rng.randint(1, n)
            if find_cycle(heads):
                heads[m] = old
        if rng.random() < 0.3:
            relations[m] = rng.choice(["obl", "obl:tmod", "nsubj", "aux:pass", "punct"])
    return sentence.with_tree(heads, relations)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.stem)
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000))
def test_ud_equals_the_official_scorer(path: Path, seed: int) -> None:
    udeval = pytest.importorskip("udtools.udeval")
    gold = list(read_conllu(path))
    system = [perturb(sentence, random.Random(seed)) for sentence in gold]

    def load(sentences: list[Sentence]) -> Any:
        # The official scorer reads neither a byte order mark nor a file without its last blank line.
        text = b"".join(replace(s, prefix=b"").to_bytes().rstrip(b"\r\n") + b"\n\n" for s in sentences).decode()
        return udeval.load_conllu(io.StringIO(text, newline="\n"), "x", {})

    official = udeval.evaluate(load(gold), load(system))
    ours = score(gold, system).ud
    assert (ours.words, ours.heads, ours.labelled) == (
        official["UAS"].gold_total,
        official["UAS"].correct,
        official["LAS"].correct,
    )
    assert ours.uas == pytest.approx(100 * official["UAS"].f1)
    assert ours.las == pytest.approx(100 * official["LAS"].f1)


@pytest.mark.parametrize(
    ("heads", "message"), [([0, 3, 2], "form a cycle"), ([0, 0, 1], "one root"), ([2, 3, 1], "needs one root")]
)
def test_what_is_no_tree_is_not_scored(heads: list[int], message: str) -> None:
    right = Sentence.from_words(["a", "b", "c"], heads=[2, 0, 2], relations=["x", "root", "x"])
    wrong = Sentence.from_words(["a", "b", "c"], heads=heads, relations=["x", "root", "x"])
    for gold, system in ((right, wrong), (wrong, right)):
        with pytest.raises(DataError, match=message):
            score([gold], [system])
