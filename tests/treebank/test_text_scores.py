"""Scores of two treebanks of one text, against hand counts and the official scorer."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError
from easyfirst.treebank.agreement import Agreement
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import score
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.text_scores import score_text
from tests.treebank.texts import check_official, conllu, read, treebank

DATA = Path(__file__).parent.parent / "data"

GOLD = conllu("Don't=Do/3/aux+n't/3/advmod go/0/root", "Ana/2/nsubj paid/0/root today/2/obl:tmod ./2/punct")
SYSTEM = conllu("Do/3/aux n't/3/mark go/0/root Ana/3/obj", "paid/0/root to/1/obl day/1/obl ./3/punct")
"""Right tokens: "go", "Ana", "paid" and the full stop. The words that align are all but "to" and "day"; of them "Ana"
has the wrong head, as has the full stop, whose head aligns with nothing, and "n't" has the wrong relation."""


# By hand


def test_everything_is_counted() -> None:
    scores = score_text(read(GOLD), read(SYSTEM))
    assert scores.tokens == Agreement(gold=6, system=8, correct=4)
    assert scores.sentences == Agreement(gold=2, system=2, correct=0)
    assert scores.words == Agreement(gold=7, system=8, correct=6)
    assert scores.upos == scores.xpos == Agreement(gold=7, system=8, correct=6, aligned=6)
    assert scores.uas == Agreement(gold=7, system=8, correct=4, aligned=6)
    assert scores.las == Agreement(gold=7, system=8, correct=3, aligned=6)
    assert scores.clas == Agreement(gold=5, system=5, correct=2, aligned=4)


def test_shares_are_per_cent() -> None:
    metric = Agreement(gold=8, system=4, correct=2, aligned=3)
    assert (metric.precision, metric.recall, metric.f1) == (50, 25, pytest.approx(100 / 3))
    assert metric.aligned_accuracy == pytest.approx(200 / 3)
    assert Agreement(gold=8, system=4, correct=2).aligned_accuracy is None
    assert Agreement(gold=8, system=4, correct=0, aligned=0).aligned_accuracy == 0


def test_heads_must_align_too() -> None:
    """The words "a" align, but not their heads, "bc" and "b"."""
    scores = score_text(treebank("a/2 bc/0"), treebank("a/2 b/0 c/2"))
    assert (scores.uas.correct, scores.words.correct) == (0, 1)


def test_a_root_is_right_if_its_word_is_a_root() -> None:
    scores = score_text(treebank("a/0 b/1 c/1"), treebank("a/0", "b/0 c/1"))
    assert (scores.uas.correct, scores.uas.aligned) == (1, 3)
    assert score_text(treebank("a/2 b/0"), treebank("a/0 b/1")).uas.correct == 0


def test_subtypes_of_relations_are_ignored() -> None:
    scores = score_text(treebank("a/0/root b/1/obl:tmod c/1/nmod"), treebank("a/0/root b/1/obl c/1/obl"))
    assert (scores.uas.correct, scores.las.correct) == (3, 2)


def test_a_relation_that_is_not_given_is_one_more_label() -> None:
    scores = score_text(treebank("a/0/_ b/1/_"), treebank("a/0/_ b/1/x"))
    assert scores.las.correct == 1


def test_tags_are_compared() -> None:
    gold = [Sentence.from_words(["a", "b", "c"], ["X", "Y", None], ["1", "2", "3"], [0, 1, 1], ["x"] * 3)]
    system = [Sentence.from_words(["a", "b", "c"], ["X", "X", None], ["1", "5", "4"], [0, 1, 1], ["x"] * 3)]
    scores = score_text(gold, system)
    assert (scores.upos.correct, scores.xpos.correct) == (2, 1)


def test_nothing_to_score_gives_zeros() -> None:
    assert score_text([], []).to_dict()["LAS"]["f1"] == 0


def test_names_and_values_are_plain_json() -> None:
    values = score_text(read(GOLD), read(SYSTEM)).to_dict()
    names = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX"
    assert list(values) == names.split()
    assert values["Words"] == {
        "gold": 7,
        "system": 8,
        "correct": 6,
        "precision": 75,
        "recall": pytest.approx(600 / 7),
        "f1": 80,
    }
    assert values["UAS"]["aligned"] == 6
    assert values["UAS"]["aligned_accuracy"] == pytest.approx(400 / 6)
    assert json.loads(json.dumps(values)) == values


def test_inputs_may_be_streams() -> None:
    assert score_text(iter(read(GOLD)), iter(read(SYSTEM))) == score_text(read(GOLD), read(SYSTEM))


@pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.stem)
def test_equal_words_have_the_scores_of_the_plain_scorer(path: Path) -> None:
    gold = list(read_conllu(path))
    system = [s.with_tree([0, *[1] * (len(s) - 1)], ["root", *["obl"] * (len(s) - 1)]) for s in gold]
    text, plain = score_text(gold, system), score(gold, system).ud
    assert (text.uas.correct, text.las.correct, text.uas.gold) == (plain.heads, plain.labelled, plain.words)
    assert text.tokens.f1 == text.sentences.f1 == text.words.f1 == text.upos.f1 == 100


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        ("a/0 b/1", "a/0 c/1", r"^s:2: the text differs after 'a': 'c' here, 'b' in g:2;"),
        ("a/0 b/1", "a/_ b/1", r"^s:1: word 1 'a' of system sentence 1 has no head; parse the file first"),
        ("a/0 b/_", "a/0 b/1", r"^g:2: word 2 'b' of gold sentence 1 has no head"),
        ("a/0 b/1", "a/2 b/1", r"^s:1: no word has HEAD 0"),
        ("a/0 b/0", "a/0 b/1", r"^g:2: words 1 'a' and 2 'b' all have HEAD 0"),
        ("a/0 b/1 c/1", "a/0 b/3 c/2", r"^s:2: the heads of these words form a cycle"),
    ],
)
def test_what_cannot_be_scored_is_named(gold: str, system: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        score_text(treebank(gold, name="g"), treebank(system, name="s"))


# Against the official scorer

CHARACTERS = "abABİé"  # İ lower-cased is two characters
VALUES = {
    2: ["a", "b", "_"],
    3: ["X", "Y", "_"],
    4: ["1", "2", "_"],
    5: ["_", "Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "Case=Nom|Own=x|Number=Sing", "Case[x]=Nom", "Own=x"],
    7: ["obj", "nsubj:a", "nsubj:b", "det", "det:a", "case", "aux", "punct", "x", "_"],
}
"""Values of the columns, counted from 0, with content, functional and other relations."""
SPACES = st.sampled_from(["", "", "", "", "", " ", "\u00a0", "\u3000"])


@st.composite
def cuts(draw: st.DrawFn, n: int) -> list[tuple[int, int]]:
    """A stretch of n things cut into parts, each given by its start and its end."""
    inner = draw(st.lists(st.integers(1, n - 1), unique=True)) if n > 1 else []
    places = [0, *sorted(inner), n]
    return list(pairwise(places))


@st.composite
def sides(draw: st.DrawFn, text: str) -> str:
    """The text with some tokens, words, sentences, tags and trees."""
    tokens = [text[start:end] for start, end in draw(cuts(len(text)))]
    return "".join(draw(blocks(tokens[start:end])) for start, end in draw(cuts(len(tokens))))


@st.composite
def blocks(draw: st.DrawFn, tokens: list[str]) -> str:
    """A sentence of these tokens, some of several words, with spaces in some forms and with some empty nodes."""
    rows: list[tuple[str, str]] = []  # id and form
    n = 0
    for token in tokens:
        form = "".join(character + draw(SPACES) for character in token[:-1]) + token[-1]
        kind = draw(st.sampled_from(["plain", "plain", "cut", "free"]))
        words = [form]
        if kind == "cut":
            words = [token[start:end] for start, end in draw(cuts(len(token)))]
        elif kind == "free":
            words = draw(st.lists(st.text("abAB ", min_size=1, max_size=2), min_size=1, max_size=3))
        if kind != "plain":
            rows.append((f"{n + 1}-{n + len(words)}", form))
        for word in words:
            n += 1
            rows.append((str(n), word))
            if draw(st.integers(0, 9)) == 9:
                rows.append((f"{n}.1", "e"))
    order = draw(st.permutations(range(1, n + 1)))  # each word's head is one before it in this order
    heads = {m: draw(st.sampled_from(order[:k])) if k else 0 for k, m in enumerate(order)}
    lines = ["# text\n"]
    for word_id, form in rows:
        if word_id.isdigit():
            lemma, upos, xpos, feats, relation = (draw(st.sampled_from(values)) for values in VALUES.values())
            cells = (word_id, form, lemma, upos, xpos, feats, heads[int(word_id)], relation, "_", "_")
            lines.append("\t".join(map(str, cells)) + "\n")
        else:
            lines.append(f"{word_id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n")
    return "".join([*lines, "\n"])


@st.composite
def near(draw: st.DrawFn, gold: str) -> str:
    """A treebank with some other values and the same heads; multiword tokens that their words spell may be gone."""
    lines: list[str] = []
    for block in gold.removesuffix("\n\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        forms = {row[0]: row[1] for row in rows}
        for row in rows:
            if "-" in row[0]:
                first, last = map(int, row[0].split("-"))
                is_spelt = row[1] == "".join(forms[str(m)] for m in range(first, last + 1))
                if is_spelt and draw(st.booleans()):
                    continue
            if row[0].isdigit():
                for column, values in VALUES.items():
                    row[column] = draw(st.sampled_from([row[column]] * 4 + values))
            lines.append("\t".join(row))
        lines.append("")
    return "\n".join([*lines, ""])


TEXTS = st.text(CHARACTERS, min_size=1, max_size=12)


@settings(deadline=None, max_examples=300)
@given(pair=TEXTS.flatmap(lambda text: st.tuples(sides(text), sides(text))))
@example(pair=(GOLD, SYSTEM))
def test_scores_equal_the_official_scorer(pair: tuple[str, str]) -> None:
    gold, system = pair
    check_official(score_text(read(gold), read(system)), gold, system)


@settings(deadline=None, max_examples=300)
@given(pair=TEXTS.flatmap(sides).flatmap(lambda gold: st.tuples(st.just(gold), near(gold))))
def test_scores_of_a_similar_treebank_equal_the_official_scorer(pair: tuple[str, str]) -> None:
    gold, system = pair
    check_official(score_text(read(gold), read(system)), gold, system)
