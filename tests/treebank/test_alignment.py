"""Tokens and words as spans of a text, and which words of two treebanks of one text align."""

from __future__ import annotations

from pathlib import Path

import pytest

from easyfirst.errors import DataError
from easyfirst.treebank.alignment import SpannedText, align, check_same_text
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.treebank.texts import conllu, official_scores, read, treebank

DATA = Path(__file__).parent.parent / "data"


# Tokens and spans


def test_tokens_are_words_and_multiword_tokens_with_their_lines() -> None:
    first, second = read_conllu(DATA / "multiword.conllu")
    tokens = list(first.surface_tokens)
    assert [token.form for token in tokens] == ["Don't", "salt", "the", "soup", "."]
    assert [list(token.words) for token in tokens] == [[0, 1], [2], [3], [4], [5]]
    assert [token.is_multiword for token in tokens] == [True, False, False, False, False]
    assert [token.line for token in tokens] == [4, 7, 8, 9, 10]
    assert [token.form for token in second.surface_tokens] == list(second.forms)  # the empty node is no token
    assert [token.line for token in second.surface_tokens] == [second.word_line(m) for m in range(len(second))]


def test_what_looks_like_a_multiword_token_in_a_comment_is_none() -> None:
    [sentence] = read("# 1-2\tab\t_\n1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t1-2\n")
    assert [token.form for token in sentence.surface_tokens] == ["a", "b"]


def test_tokens_of_sentences_from_no_file_have_no_line() -> None:
    assert [token.line for token in Sentence.from_words(["a"]).surface_tokens] == [None]


def test_multiword_tokens_stay_when_the_tree_changes() -> None:
    [sentence] = treebank("ab=a+b c")
    assert list(sentence.with_tree([0, 1, 2], ["x"] * 3).surface_tokens) == list(sentence.surface_tokens)


def test_spans_leave_out_white_space() -> None:
    text = SpannedText.of(treebank("10~000 d'un=de+un", "a\u00a0b\u3000c"))
    assert text.characters == "10000d'unabc"
    assert text.tokens == [(0, 5), (5, 9), (9, 12)]
    assert text.sentences == [(0, 9), (9, 12)]
    assert [(*word.span, word.form, word.is_part) for word in text.words] == [
        (0, 5, "10000", False),
        (5, 9, "de", True),
        (5, 9, "un", True),
        (9, 12, "abc", False),
    ]


def test_a_form_of_only_white_space_is_an_error() -> None:
    with pytest.raises(DataError, match=r"^x\.conllu:2: FORM is '\\u3000', only white space"):
        SpannedText.of(treebank("a \u3000"))


# Words


def aligned(gold: str, system: str) -> str:
    """The pairs of forms, as in "a:a b:B"."""
    sides = [treebank(*side.split(" | ")) for side in (gold, system)]
    gold_forms, system_forms = ([form for sentence in side for form in sentence.forms] for side in sides)
    gold_text, system_text = map(SpannedText.of, sides)
    check_same_text(gold_text, system_text)
    return " ".join(f"{gold_forms[g]}:{system_forms[s]}" for g, s in align(gold_text, system_text))


CASES = [
    # plain words align by their spans
    ("a b c", "a b c", "a:a b:b c:c"),
    ("a b | c", "a | b c", "a:a b:b c:c"),
    ("abc d", "a b c d", "d:d"),
    ("a b c d", "abc d", "d:d"),
    ("a bc d", "ab c d", "d:d"),
    ("New~York is", "NewYork is", "New York:NewYork is:is"),
    # a plain word's case is the text's
    ("A b", "Ab", ""),
    # multiword tokens align by lower-cased forms
    ("du=de+le", "du=De+LE", "de:De le:LE"),
    ("du=de+le", "du", ""),
    ("du", "du=du+x", "du:du"),
    ("abc=a+b+c", "a b c", "a:a b:b c:c"),
    ("a b c", "abc=A+x+c", "a:A c:c"),
    ("x dont=do+not y", "x do nt y", "x:x do:do y:y"),
    ("ab=a+b c", "ab=x+y c", "c:c"),
    ("a=a", "a", "a:a"),
    # overlapping ones make one stretch
    ("abc=a+b+c de=d+e", "a bcd=b+c+d e", "a:a b:b c:c d:d e:e"),
    ("ab=a+b c | d", "a bc=b+c d", "a:a b:b c:c d:d"),
    # but a plain word that sticks out is not in it
    ("a bc=b+c d", "a b cd", "a:a b:b"),
    # spaces inside of the words of a multiword token stay, those of plain words go
    ("10~0=10~0", "10~0", ""),
    ("10~0=100", "10~0", "100:10 0"),
    # of two equally long subsequences: gold words are given up first
    ("xy=x+y", "xy=y+x", "y:y"),
    ("ab=p+q+r+s", "ab=r+s+p+q", "r:r s:s"),
    ("aa=a+a", "aa=a+b", "a:a"),
    ("aa=b+a", "aa=a+a", "a:a"),
]
ODDITIES = [
    # of the plain words before the multiword token, one is passed over, and the second may align
    ("abcdef gh=cd+x", "ab cd ef gh", "cd:cd"),
    ("abcdef gh=ab+x", "ab cd ef gh", ""),
    ("ab cd ef gh", "abcdef gh=cd+x", ""),
    ("ab cd ef gh", "abcdef gh=ef+x", "ef:ef"),
    # a gold word that begins with a multiword token may stick out of it
    ("abc d", "ab=abc+x cd", "abc:abc"),
    ("ab=abc+x cd", "abc d", ""),
]


@pytest.mark.parametrize(("gold", "system", "pairs"), CASES)
def test_words_align(gold: str, system: str, pairs: str) -> None:
    assert aligned(gold, system) == pairs


@pytest.mark.parametrize(("gold", "system", "pairs"), ODDITIES)
def test_oddities_of_the_official_scorer_are_kept(gold: str, system: str, pairs: str) -> None:
    assert aligned(gold, system) == pairs


@pytest.mark.parametrize(("gold", "system", "pairs"), CASES + ODDITIES)
def test_the_official_scorer_agrees(gold: str, system: str, pairs: str) -> None:
    scores = official_scores(*(conllu(*side.split(" | ")) for side in (gold, system)))
    assert scores["Words"].correct == pairs.count(":")


def test_nothing_aligns_with_nothing() -> None:
    assert align(SpannedText.of([]), SpannedText.of([])) == []


# Texts that differ


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (
            ["a b", "don't=do+n't go home"],
            ["ab", "do n't stay home"],
            r"""^s:5: the text differs after "abdon't": 'stayhome' here, 'gohome' in g:7; both sides must hold""",
        ),
        (["a don't=do+not"], ["a dont=do+not"], """^s:2: the text differs after 'adon': 't' here, "'t" in g:2;"""),
        (["x"], ["y"], r"^s:1: the text differs from its first character on: 'y' here, 'x' in g:1;"),
        (["Ab"], ["ab"], r"^s:1: the text differs from its first character on: 'ab' here, 'Ab' in g:1;"),
        (["a b", "c"], ["a b"], r"^s:2: the text differs after 'ab': the end here, 'c' in g:4;"),
        (["a b"], ["a b", "cd"], r"^s:4: the text differs after 'ab': 'cd' here, the end in g:2;"),
        (["a"], [], r"^the text differs from its first character on: the end here, 'a' in g:1;"),
        ([], ["a"], r"^s:1: the text differs from its first character on: 'a' here, the end in the gold text;"),
        (["a" * 50 + "b" * 50], ["a" * 50 + "c" * 50], f"after '{'a' * 20}': '{'c' * 20}' here, '{'b' * 20}' in g:1"),
    ],
)
def test_where_texts_part_is_shown(gold: list[str], system: list[str], message: str) -> None:
    sides = SpannedText.of(treebank(*gold, name="g")), SpannedText.of(treebank(*system, name="s"))
    with pytest.raises(DataError, match=message):
        check_same_text(*sides)


def test_texts_from_no_file_that_part_are_described() -> None:
    sides = (SpannedText.of([Sentence.from_words([form])]) for form in ("a", "b"))
    with pytest.raises(DataError, match=r"^the text differs .* 'b' here, 'a' in the gold text;"):
        check_same_text(*sides)
