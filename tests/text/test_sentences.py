"""Tokenized text as sentences."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.text.sentences import sentences_of
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.raw_text import Token
from tests.text.random_tokenizers import random_tokenizer


def test_a_block_says_what_stands_where() -> None:
    text = "It's\n 3\t500. Yes"
    tokens = [
        [Token(0, 4, ("It", "'s")), Token(6, 11, ("3\t500",)), Token(11, 12, (".",))],
        [Token(13, 16, ("Yes",))],
    ]
    first, second = sentences_of(text, tokens)
    assert first.to_bytes().decode() == (
        "# text = It's 3 500.\n"
        "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\tTokenRange=0:4\n"
        "1\tIt\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\t's\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\t3 500\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=6:11\n"
        "4\t.\t_\t_\t_\t_\t_\t_\t_\tTokenRange=11:12\n"
        "\n"
    )
    assert first.forms == ("It", "'s", "3 500", ".")
    assert [token.form for token in first.surface_tokens] == ["It's", "3 500", "."]
    assert first.original == b""
    assert second.metadata == {"text": "Yes"}


def test_a_sentence_may_follow_without_a_space() -> None:
    first, second = sentences_of("a.B", [[Token(0, 1, ("a",)), Token(1, 2, (".",))], [Token(2, 3, ("B",))]])
    assert list(first.misc) == ["SpaceAfter=No|TokenRange=0:1", "SpaceAfter=No|TokenRange=1:2"]
    assert list(second.misc) == ["TokenRange=2:3"]
    assert list(sentences_of("", [])) == []


@settings(deadline=None, max_examples=80)
@given(
    st.text(st.one_of(st.sampled_from("ab \n.\u2028#_"), st.characters(exclude_categories=["Cs"]))), st.integers(0, 3)
)
def test_the_blocks_of_any_text_are_conllu(text: str, seed: int) -> None:
    tokenizer = random_tokenizer(seed, has_inner_spaces=seed % 2 == 0)
    made = list(sentences_of(text, tokenizer.tokenize(text)))
    read = list(ConlluReader(io.BytesIO(b"".join(sentence.to_bytes() for sentence in made)), "x"))
    assert [(s.columns, s.comments, s.to_bytes()) for s in read] == [
        (s.columns, s.comments, s.to_bytes()) for s in made
    ]
    assert [[(t.form, t.words, t.misc) for t in s.multiword] for s in read] == [
        [(t.form, t.words, t.misc) for t in s.multiword] for s in made
    ]
