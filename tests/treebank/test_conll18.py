"""The metrics of the CoNLL 2018 shared task, against hand counts and the official scorer."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.treebank.agreement import Agreement
from easyfirst.treebank.conll18 import (
    COLUMNS,
    CONTENT_RELATIONS,
    FUNCTIONAL_RELATIONS,
    METRICS,
    UNIVERSAL_FEATURES,
    Conll18Scores,
    universal_features,
)
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import score
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.text_scores import score_text
from easyfirst.treebank.tree import find_cycle
from tests.treebank.texts import check_official, read

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(DATA.glob("*.conllu"))

# the cats eat: two functional children, one content child, a full stop
GOLD = """\
1\tthe\tthe\tDET\tDT\tDefinite=Def\t3\tdet\t_\t_
2\tblack\tblack\tADJ\tJJ\tDegree=Pos\t3\tamod\t_\t_
3\tcats\tcat\tNOUN\tNNS\tNumber=Plur\t5\tnsubj\t_\t_
4\twill\twill\tAUX\tMD\tVerbForm=Fin\t5\taux\t_\t_
5\teat\teat\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

"""


def compare(*changes: tuple[str, str], gold: str = GOLD) -> Conll18Scores:
    """Compare the gold sentence with itself after some changes."""
    system = gold
    for old, new in changes:
        assert system.count(old) == 1
        system = system.replace(old, new)
    found = score(read(gold), read(system)).conll18
    assert found is not None
    assert found == score_text(read(gold), read(system))
    check_official(found, gold, system)
    return found


def wrong(scores: Conll18Scores) -> dict[str, int]:
    """Return how many of the aligned words are wrong, by metric."""
    metrics = {name: metric for name, metric in scores.metrics.items() if metric.aligned is not None}
    return {name: errors for name, m in metrics.items() if (errors := (m.aligned or 0) - m.correct)}


# By hand


def test_nothing_is_wrong() -> None:
    scores = compare()
    assert wrong(scores) == {}
    assert scores.las == Agreement(6, 6, 6, 6)
    assert scores.clas == scores.mlas == scores.blex == Agreement(3, 3, 3, 3)  # amod, nsubj and root
    assert scores.tokens == scores.words == Agreement(6, 6, 6)
    assert scores.sentences == Agreement(1, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ("\tADJ\t", "\tNOUN\t", {"UPOS": 1, "AllTags": 1, "MLAS": 1}),
        ("\tJJ\t", "\tJJR\t", {"XPOS": 1, "AllTags": 1}),
        ("Degree=Pos", "Degree=Cmp", {"UFeats": 1, "AllTags": 1, "MLAS": 1}),
        ("Degree=Pos", "_", {"UFeats": 1, "AllTags": 1, "MLAS": 1}),
        ("Degree=Pos", "Degree=Pos|Own=Yes|Degree[x]=Cmp", {}),
        ("\tblack\tADJ", "\tBlack\tADJ", {"Lemmas": 1, "BLEX": 1}),
        ("3\tamod", "5\tamod", {"UAS": 1, "LAS": 1, "CLAS": 1, "MLAS": 1, "BLEX": 1}),
        ("amod", "nmod", {"LAS": 1, "CLAS": 1, "MLAS": 1, "BLEX": 1}),
        ("amod", "amod:own", {}),
        ("amod", "punct", {"LAS": 1, "CLAS": 1, "MLAS": 1, "BLEX": 1}),
        ("punct", "amod", {"LAS": 1}),
        ("punct", "case", {"LAS": 1, "MLAS": 1}),  # "eat" has one functional child too many
        ("\taux", "\tcop", {"LAS": 1, "MLAS": 1}),  # a functional child of "eat" has the wrong relation
        ("\taux", "\taux:own", {}),
        ("\taux", "\tadvmod", {"LAS": 1, "MLAS": 1}),  # "eat" has no functional child
        ("3\tdet", "5\tdet", {"UAS": 1, "LAS": 1, "MLAS": 2}),  # "cats" has no functional child, "eat" one too many
        ("\tAUX\t", "\tVERB\t", {"UPOS": 1, "AllTags": 1, "MLAS": 1}),
        ("Definite=Def", "Definite=Ind", {"UFeats": 1, "AllTags": 1, "MLAS": 1}),
        ("\tthe\tDET", "\ta\tDET", {"Lemmas": 1}),  # BLEX compares lemmas of content words only
    ],
)
def test_a_wrong_value_counts_where_it_should(old: str, new: str, errors: dict[str, int]) -> None:
    assert wrong(compare((old, new))) == errors


def test_functional_children_must_be_the_same_words() -> None:
    """Two determiners with equal values change places."""
    gold = "".join(f"{m}\tthe\tthe\tDET\tDT\t_\t{head}\tdet\t_\t_\n" for m, head in ((1, 3), (2, 4)))
    gold += "3\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n4\tfood\tfood\tNOUN\tNN\t_\t3\tobj\t_\t_\n\n"
    scores = compare(
        ("1\tthe\tthe\tDET\tDT\t_\t3", "1\tthe\tthe\tDET\tDT\t_\t4"),
        ("2\tthe\tthe\tDET\tDT\t_\t4", "2\tthe\tthe\tDET\tDT\t_\t3"),
        gold=gold,
    )
    assert wrong(scores) == {"UAS": 2, "LAS": 2, "MLAS": 2}


def test_content_words_are_counted_on_their_own_side() -> None:
    fewer, more = compare(("amod", "punct")), compare(("punct", "amod"))
    assert fewer.clas == Agreement(gold=3, system=2, correct=2, aligned=3)
    assert more.clas == Agreement(gold=3, system=4, correct=3, aligned=3)


def test_a_gold_lemma_that_is_missing_matches_every_lemma() -> None:
    gold = GOLD.replace("\tcat\t", "\t_\t")
    assert wrong(compare(("\t_\tNOUN", "\tdog\tNOUN"), gold=gold)) == {}
    assert wrong(compare(("\tcat\t", "\t_\t"))) == {"Lemmas": 1, "BLEX": 1}


def test_features_are_universal_and_sorted() -> None:
    assert universal_features("_") == universal_features("Typo=Yes|Number[psor]=Sing") == ""
    assert universal_features("Number=Sing|Case=Nom|Typo=Yes") == "Case=Nom|Number=Sing"


def test_the_sets_are_the_official_ones() -> None:
    udeval = pytest.importorskip("udtools.udeval")
    assert udeval.CONTENT_DEPRELS == CONTENT_RELATIONS
    assert udeval.FUNCTIONAL_DEPRELS == FUNCTIONAL_RELATIONS
    assert udeval.UNIVERSAL_FEATURES == UNIVERSAL_FEATURES


# Columns that are missing


def emptied(sentence: Sentence, *columns: str) -> Sentence:
    return replace(sentence, **{column: ("_",) * len(sentence) for column in columns})


NEEDS = {
    "lemmas": {"Lemmas", "BLEX"},
    "upos": {"UPOS", "AllTags", "MLAS"},
    "xpos": {"XPOS", "AllTags"},
    "feats": {"UFeats", "AllTags", "MLAS"},
}


@pytest.mark.parametrize(("column", "name"), [*zip(NEEDS, COLUMNS[:4], strict=True)])
def test_a_column_that_is_not_predicted_gives_no_figure(column: str, name: str) -> None:
    gold = read(GOLD)
    found = score(gold, [emptied(sentence, column) for sentence in gold])
    assert found.conll18 is not None
    values = found.to_dict()["conll18"]
    assert {metric for metric in METRICS if values[metric] is None} == NEEDS[column]
    assert {metric for metric in METRICS if not found.conll18.is_predicted(metric)} == NEEDS[column]
    assert found.conll18.columns == {**dict.fromkeys(COLUMNS, "scored"), name: "not predicted"}


def test_trees_without_relations_have_only_uas() -> None:
    gold = read(GOLD)
    scores = score_text(gold, [sentence.with_tree(sentence.heads, [None] * len(sentence)) for sentence in gold])
    assert scores.columns["DEPREL"] == "not predicted"
    values = scores.to_dict()
    assert values["UAS"] is not None
    assert values["LAS"] is values["CLAS"] is values["MLAS"] is values["BLEX"] is None


def test_one_value_is_enough_for_a_column_to_be_predicted() -> None:
    gold = read(GOLD)
    system = [replace(gold[0], lemmas=("the", *["_"] * 5))]
    scores = score_text(gold, system)
    assert scores.columns["LEMMA"] == "scored"
    assert scores.lemmas.correct == 1


def test_a_column_that_gold_lacks_keeps_the_official_figure() -> None:
    system = read(GOLD)
    gold = [emptied(sentence, "lemmas", "xpos") for sentence in system]
    scores = score_text(gold, system)
    assert (scores.columns["LEMMA"], scores.columns["XPOS"]) == ("not in gold", "not in gold")
    assert (scores.lemmas.f1, scores.xpos.f1, scores.alltags.f1) == (100, 0, 0)
    assert score_text(gold, gold).xpos.f1 == 100
    assert None not in scores.to_dict().values()


def test_a_column_of_any_sentence_counts() -> None:
    gold = read(GOLD + GOLD)
    for system in ([emptied(gold[0], "lemmas"), gold[1]], [gold[0], emptied(gold[1], "lemmas")]):
        found = score(gold, system).conll18
        assert found is not None
        assert found.columns["LEMMA"] == "scored"
        assert found.lemmas == Agreement(12, 12, 6, 12)


# Tokens of equal words


@pytest.mark.parametrize(
    ("token", "n_same", "n_system"), [("1-2\tthe black", 4, 5), ("1-2\ttheblack", 4, 5), ("1-1\tthe", 6, 6)]
)
def test_tokens_of_equal_words_may_differ(token: str, n_same: int, n_system: int) -> None:
    system = f"{token}{8 * (chr(9) + '_')}\n{GOLD}"
    found = score(read(GOLD), read(system)).conll18
    assert found is not None
    assert found.tokens == Agreement(6, n_system, n_same)
    assert found.words == Agreement(6, 6, 6)
    check_official(found, GOLD, system)


def test_spaces_in_tokens_are_ignored() -> None:
    gold, system = (f"1-2\t{form}{8 * (chr(9) + '_')}\n{GOLD}" for form in ("the black", "the\u00a0bla ck"))
    found = score(read(gold), read(system)).conll18
    assert found is not None
    assert found.tokens == Agreement(5, 5, 5)
    check_official(found, gold, system)


def test_multiword_tokens_need_not_spell_the_same_text() -> None:
    """The official scorer refuses to compare them."""
    found = score(read("1-2\tcan't" + 8 * "\t_" + "\n" + GOLD), read(GOLD)).conll18
    assert found is not None
    assert found.tokens == Agreement(5, 6, 4)
    assert found.las == Agreement(6, 6, 6, 6)


# Against the official scorer

WRONG = {
    "lemmas": ["o", "ser", "_"],
    "upos": ["NOUN", "DET", "AUX", "_"],
    "xpos": ["NN", "art", "_"],
    "feats": ["_", "Number=Plur|Gender=Masc", "Gender=Masc|Number=Plur", "Typo=Yes", "Number[psor]=Sing"],
}


def corrupt(sentence: Sentence, rng: random.Random, share: float) -> Sentence:
    """Change some values of all columns; the tree still has one root and no cycle."""
    n = len(sentence)
    heads = [head or 0 for head in sentence.heads]
    relations = [relation or "_" for relation in sentence.relations]
    for m, old in enumerate(heads):
        if old and rng.random() < share:
            heads[m] = rng.randint(1, n)
            if find_cycle(heads):
                heads[m] = old
        if rng.random() < share:
            relations[m] = rng.choice(["obl", "obl:own", "det", "case", "aux:pass", "punct"])
    columns = {
        name: tuple(rng.choice(values) if rng.random() < share else value for value in getattr(sentence, name))
        for name, values in WRONG.items()
    }
    return replace(sentence.with_tree(heads, relations), **columns)


def written(sentences: list[Sentence]) -> str:
    # The official scorer reads neither a byte order mark nor a file without its last blank line.
    return b"".join(replace(s, prefix=b"").to_bytes().rstrip(b"\r\n") + b"\n\n" for s in sentences).decode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.05, 0.1, 0.4]), swap=st.booleans())
def test_all_metrics_equal_the_official_scorer(path: Path, seed: int, share: float, swap: bool) -> None:
    gold, rng = list(read_conllu(path)), random.Random(seed)
    system = [corrupt(sentence, rng, share) for sentence in gold]
    if swap:  # so that the gold side has missing values too
        gold, system = system, gold
    found = score(gold, system).conll18
    assert found is not None
    check_official(found, written(gold), written(system))
    assert found == score_text(gold, system)
