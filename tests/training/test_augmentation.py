"""Augmented paragraphs for the tokenizer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from easyfirst.model.tokenizer_vocabulary import SPACE, Rewriting, TokenizerVocabulary, is_rewritten
from easyfirst.training import augmentation
from easyfirst.training.abbreviations import abbreviations_of
from easyfirst.training.augmentation import Augmenter
from easyfirst.training.habits import Habits
from easyfirst.training.layouts import in_lines, without_marks, wrapped
from easyfirst.training.made_tokens import EMOJI, email, emoji, hashtag, made_token, telephone, url
from easyfirst.training.pieces import Piece, Pieces, paragraph_of, pieces_of
from easyfirst.treebank.raw_text import Paragraph

ENGLISH = """\
The mayor of Boston met Gov. Anna Lee|, who is from the U.S. and that is that|.
Mr. George W. Bush said that it is for the best|. / It+'s in the front of the car|, is+n't it|?
I do+nt know Mr. J. R. Smith of Vermont|, and the man in the back is for it|.
A 5|kg bag is $|3|, a 6|kg bag is $|4 and a 7|kg bag is $|5|: that is (|in the shop|) the price of it|.
The "|new|" price is for the old "|thing|" and that is it|. / See the list (|below|) for more [|or less|]|.
He went to the shop in Boston -- the one of the man|. / He is off the hook|: that is good (|for him|) to know|.
"""


def pieces(text: str) -> Pieces:
    """A sentence: "|" before a token says that there is no space, and "+" divides the words of a token."""
    parts = re.split(r"( |\|)", text)
    forms, spaces = parts[::2], [*parts[1::2], ""]
    return [
        Piece(form.replace("+", ""), tuple(form.split("+")), space.replace("|", ""))
        for form, space in zip(forms, spaces, strict=True)
    ]


def paragraphs(text: str) -> list[Paragraph]:
    """One paragraph on each line, with " / " between its sentences."""
    found = [[pieces(sentence) for sentence in line.split(" / ")] for line in text.splitlines()]
    return [paragraph_of([[*s[:-1], s[-1].spaced(" ")] for s in sentences]) for sentences in found]


def shown(sentences: Sequence[Pieces]) -> str:
    return " / ".join("".join("+".join(piece.words) + (piece.space or "|") for piece in s) for s in sentences)


BANK = paragraphs(ENGLISH)
AUGMENTER = Augmenter(BANK, {"Belmont": 9, "Ravenna": 5, "waterfront": 7, "table": 10})
CHANGES = {change.__name__: change for change, _, _ in augmentation._CHANGES}


def assert_sound(paragraph: Paragraph) -> None:
    end = 0
    for token in (token for sentence in paragraph.sentences for token in sentence):
        assert not paragraph.text[end : token.start].strip()
        form = paragraph.text[token.start : token.end]
        assert form
        assert form == form.strip()
        assert not is_rewritten(form, token.words)
        assert len(token.words) > 1 or token.words == (form,)
        end = token.end
    assert end == len(paragraph.text)


def test_paragraphs_can_be_taken_apart_and_joined() -> None:
    for paragraph in BANK:
        assert_sound(paragraph)
        assert paragraph_of(pieces_of(paragraph)) == paragraph


def test_augmented_paragraphs_are_sound_and_follow_from_the_generator() -> None:
    for seed in range(60):
        made, same = (AUGMENTER.paragraphs(1, np.random.default_rng(seed)) for _ in range(2))
        assert made == same
        assert len(made) == len(BANK)
        for paragraph in made:
            assert_sound(paragraph)
    assert AUGMENTER.paragraphs(0, np.random.default_rng(1)) == []


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_made_and_leaves_other_tokens_alone(name: str) -> None:
    sentences = [sentence for paragraph in BANK for sentence in pieces_of(paragraph)]
    n_changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for sentence in sentences:
            before = list(sentence)
            changed = CHANGES[name](AUGMENTER, sentence, rng)
            assert sentence == before, "the sentence given is not changed itself"
            if changed is not None:
                n_changed += changed != sentence
                assert_sound(paragraph_of([changed]))
                assert all(piece.form and not piece.form.split()[1:] for piece in changed)
    assert n_changed > 20


def test_initials_are_whole_and_do_not_end_a_sentence() -> None:
    made: set[str] = set()
    for seed in range(200):
        sentence = pieces("We saw George Smith in the park|.")
        changed = augmentation.add_initials(AUGMENTER, sentence, np.random.default_rng(seed))
        assert changed is not None
        made |= {piece.form for piece in changed} - {piece.form for piece in sentence}
    assert all(re.fullmatch(r"([A-Z]\.)+|[A-Z][a-z]+", form) for form in made)
    assert any(re.fullmatch(r"[A-Z]\.", form) for form in made)
    assert any(re.fullmatch(r"[A-Z]\.[A-Z]\.", form) for form in made)


def test_an_abbreviation_at_the_end_shares_its_period() -> None:
    kept = Augmenter(
        [*BANK, *paragraphs("The man is Mr. Lee of Acme Inc. for now|.\n" * 2 + "It is Acme Inc.\n" * 2)], {}
    )
    assert AUGMENTER.habits.parts_last_period
    assert not kept.habits.parts_last_period
    for seed in range(100):
        sentence = pieces("We saw it in Boston|.")
        one, other = (
            augmentation.end_with_abbreviation(augmenter, sentence, np.random.default_rng(seed))
            for augmenter in (AUGMENTER, kept)
        )
        assert one is not None
        assert other is not None
        assert one[-1].form == "."
        assert not one[-2].form.endswith(".")
        assert (other[-1].form == ".") == (len(other[-2].form) == 1 and other[-2].form.isupper())


def test_words_are_exchanged_within_tokens() -> None:
    made: set[tuple[str, ...]] = set()
    for seed in range(300):
        changed = augmentation.exchange_words(AUGMENTER, pieces("the Bush+'s door"), np.random.default_rng(seed))
        assert changed is not None
        made.add(changed[1].words)
    assert {words[1] for words in made} == {"'s"}
    assert ("Belmont", "'s") in made
    assert ("Ravenna", "'s") in made


def test_habits_are_those_of_the_treebank() -> None:
    habits = AUGMENTER.habits
    assert habits.listed is not None
    assert "Prof." in habits.listed.titles
    assert {"Boston", "Vermont"} <= set(habits.names)
    assert "front" in habits.words
    assert {".", ",", '"'} <= habits.marks
    assert habits.keeps_periods
    assert habits.parts_units
    assert habits.has_spaces


def test_a_treebank_that_divides_periods_gets_no_abbreviations() -> None:
    divided = paragraphs(
        "The man is J|. R|. Smith of the club in Boston for that|.\nIt is M|. Lee and to the U|. S|. of A|."
    )
    habits = Augmenter(divided, {}).habits
    assert not habits.keeps_periods
    changes = Augmenter(divided, {})._changes
    assert augmentation.add_initials not in changes
    assert augmentation.exchange_words in changes


def test_languages_without_spaces_get_no_words_between_others() -> None:
    chinese = [paragraph_of([pieces("他|说|我们|去|北京|。"), pieces("这|是|书|。")])] * 5
    augmenter = Augmenter(chinese, {})
    assert not augmenter.habits.has_spaces
    for seed in range(30):
        for paragraph in augmenter.paragraphs(1, np.random.default_rng(seed)):
            assert_sound(paragraph)
    assert augmentation.exchange_words not in augmenter._changes


def test_a_treebank_of_nothing_but_marks_is_left_alone() -> None:
    marks = [paragraph_of([pieces("!|?")])] * 3
    for seed in range(20):
        for paragraph in Augmenter(marks, {}).paragraphs(1, np.random.default_rng(seed)):
            assert set(paragraph.text) <= set("!?\n ")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("the of and to in is for that a", "Prof."),
        ("de la le les et des en est un", "Mgr."),
        ("de a o que e do da em um", "Sra."),
        ("der die und in den von zu das", "Frl."),
        ("de van het een in en is dat", "mevr."),
    ],
)
def test_a_language_is_known_by_its_words(text: str, title: str) -> None:
    found = abbreviations_of(text.split())
    assert found is not None
    assert title in found.titles


def test_other_languages_are_unknown() -> None:
    assert abbreviations_of(["ja", "on", "ei", "se", "että", "oli"]) is None
    assert abbreviations_of([]) is None


def test_made_tokens_are_what_they_should_be() -> None:
    words = ["fox", "jumps"]
    for seed in range(300):
        rng = np.random.default_rng(seed)
        assert re.fullmatch(r"[\w.+-]+@[a-z0-9.-]+\.[a-z]+", email(rng, words), re.IGNORECASE)
        assert re.fullmatch(r"#\w+", hashtag(rng, words))
        assert re.fullmatch(r"((https?|ftp)://)?(www\.)?[a-z0-9-]+\.[a-z0-9./?=&#_:-]+", url(rng, words), re.IGNORECASE)
        for made in (telephone(rng), made_token(rng, words)):
            assert all(piece.words == (piece.form,) and not piece.form.split()[1:] for piece in made)
        assert {piece.form for piece in telephone(rng) if not re.search(r"\d", piece.form)} <= {"(", ")"}


def test_each_emoji_is_one_sign() -> None:
    vocabulary = TokenizerVocabulary({SPACE: 30}, Rewriting({}), False)
    for sign in EMOJI:
        assert vocabulary.read([sign]).is_bound.tolist() == [False] + [True] * (len(sign) - 1)
    assert all(piece.form for seed in range(50) for piece in emoji(np.random.default_rng(seed)))


TWO = [pieces("Mr. Lee|, a man|, left|."), pieces('"|Why|?|"')]


def test_lines_end_where_sentences_do() -> None:
    made = {shown(in_lines(TWO, np.random.default_rng(seed))) for seed in range(50)}
    assert made == {
        'Mr. Lee|, a man|, left|.\n / "|Why|?|"\n',
        'Mr. Lee|, a man|, left\n / "|Why|?|"\n',
    }


def test_without_marks_only_words_are_left() -> None:
    made = {shown(without_marks(TWO, np.random.default_rng(seed), gap=" ")) for seed in range(200)}
    assert made == {
        "mr. lee a man left  / why ",
        "Mr. Lee a man left  / Why ",
        "mr. lee a man left\n / why\n",
        "Mr. Lee a man left\n / Why\n",
    }


def test_wrapped_lines_are_full() -> None:
    sentence = pieces(" ".join(["word"] * 100))
    made = paragraph_of(wrapped([sentence], np.random.default_rng(1))).text
    assert len({len(line) for line in made.split("\n")[:-1]}) == 1
    assert made.split() == ["word"] * 100


def test_habits_of_nothing_are_none() -> None:
    habits = Habits.of([])
    assert not habits.keeps_periods
    assert not habits.parts_units
    assert habits.listed is None
