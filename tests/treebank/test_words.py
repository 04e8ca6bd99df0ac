"""Words as views of their sentences: columns, tree, and positions in the text."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.raw_text import Place, Token, read_text
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree
from easyfirst.treebank.words import Word, Words
from tests.treebank.test_tree import trees
from tests.treebank.texts import treebank

DATA = Path(__file__).parent.parent / "data"


def sentence_of(heads: tuple[int | None, ...]) -> Sentence:
    return Sentence.from_words([f"w{m}" for m in range(1, len(heads) + 1)], heads=heads)


def ids(words: tuple[Word, ...]) -> tuple[int, ...]:
    return tuple(word.id for word in words)


class TestColumns:
    def test_every_column(self) -> None:
        first, second = read_conllu(DATA / "multiword.conllu")
        word = first[0]
        assert (word.id, word.form, word.lemma, word.upos, word.xpos) == (1, "Do", "do", "AUX", "VB")
        assert (word.feats, word.features) == ("Mood=Imp|VerbForm=Fin", {"Mood": "Imp", "VerbForm": "Fin"})
        assert (word.head, word.head_id, word.relation, word.deps, word.misc) == (first[2], 3, "aux", "3:aux", {})
        assert (second[6].form, second[6].deps, second[6].relation) == ("beans", "6.1:obj", "orphan")

    @pytest.mark.parametrize(
        ("cell", "expected"),
        [
            ("_", {}),
            ("SpaceAfter=No", {"SpaceAfter": "No"}),
            ("a=b=c|Typo|x=", {"a": "b=c", "Typo": "", "x": ""}),
            ("a=1|a=2", {"a": "2"}),
        ],
    )
    def test_misc_is_a_mapping(self, cell: str, expected: dict[str, str]) -> None:
        [word] = Sentence.unannotated(["a"], [cell])
        assert word.misc == expected
        assert json.loads(json.dumps(word.misc)) == expected

    def test_what_is_not_known(self) -> None:
        [word] = Sentence.from_words(["a"])
        assert (word.head, word.head_id, word.relation, word.arc_confidence, word.label_confidence) == (None,) * 5
        assert word.children == word.ancestors == ()
        assert word.subtree == (word,)

    def test_its_text_is_the_form(self) -> None:
        _, fox = Sentence.from_words(["The", "fox"], heads=[2, 0], relations=["det", "root"])
        assert (str(fox), f"{fox:>5}|{fox}") == ("fox", "  fox|fox")
        assert repr(fox) == "Word(id=2, form='fox', head_id=0, relation='root')"


class TestSequence:
    def test_it_behaves_as_a_list(self) -> None:
        sentence = Sentence.from_words(["a", "b", "c"])
        words = list(sentence)
        assert tuple(words) == sentence.words
        assert [sentence[i] for i in range(-3, 3)] == words * 2
        for part in (slice(None), slice(1, None), slice(None, None, -1), slice(5, 9)):
            assert sentence[part] == tuple(words[part])
        assert list(reversed(sentence)) == words[::-1]
        assert words[1] in sentence
        for i in (3, -4):
            with pytest.raises(IndexError):
                sentence[i]

    def test_words_are_equal_at_the_same_place_of_equal_sentences(self) -> None:
        one, same, other = (Sentence.from_words(forms) for forms in (["a", "a"], ["a", "a"], ["a", "b"]))
        assert one[0] == same[0]
        assert hash(one[0]) == hash(same[0])
        assert one[0] != one[1]
        assert one[0] != other[0]
        assert one[0] != "a"
        assert len({*one, *same, *other}) == 4

    def test_they_pickle_with_their_sentence(self) -> None:
        [_, fox] = Sentence.from_words(["The", "fox"], heads=[2, 0])
        again = pickle.loads(pickle.dumps(fox))
        assert again == fox
        assert again.children == fox.children

    def test_nothing_is_computed_before_it_is_used(self) -> None:
        """A tree that is not one is no error until it is asked for, and no column is copied."""
        sentence = sentence_of((2, 1))
        assert [word.head_id for word in sentence] == [2, 1]
        assert [word.head for word in sentence] == [sentence[1], sentence[0]]
        with pytest.raises(InputError, match="cycle"):
            _ = sentence[0].ancestors


class TestTree:
    @given(trees())
    def test_it_is_the_tree_of_the_sentence(self, tree: Tree) -> None:
        for word in sentence_of(tree.heads):
            m = word.id
            assert (word.head.id if word.head else 0) == word.head_id == tree.head(m)
            assert ids(word.children) == tree.children(m) == ids((*word.lefts, *word.rights))
            assert all(child.id < m for child in word.lefts)
            assert all(child.id > m for child in word.rights)
            assert all(child.head == word for child in word.children)
            assert ids(word.subtree) == tree.subtree(m)
            assert ids(word.ancestors) == tree.ancestors(m)

    def test_the_root_has_no_head(self) -> None:
        sentence = sentence_of((2, 0))
        assert sentence[1].head is None
        way = [sentence[0]]
        while (above := way[-1].head) is not None:
            way.append(above)
        assert way == [sentence[0], sentence[1]]


class TestPositions:
    def test_words_in_the_text_of_a_sentence(self) -> None:
        first, second = read_conllu(DATA / "multiword.conllu")
        assert first.text == "Don't salt the soup."
        assert [word.text_with_ws for word in first] == ["Do", "n't ", "salt ", "the ", "soup", ". "]
        assert second.text == "Ana cooks rice, and Ben beans #1."
        for sentence in (first, second):
            assert "".join(word.text_with_ws for word in sentence) == sentence.text + " "
            assert all(sentence.text[word.start : word.end] == word.text == word.form for word in sentence)

    def test_the_last_word_has_a_space_unless_the_treebank_says_otherwise(self) -> None:
        assert [word.text_with_ws for word in Sentence.from_words(["a", "b"])] == ["a ", "b "]
        [word] = Sentence.unannotated(["a"], ["SpaceAfter=No"])
        assert word.text_with_ws == "a"

    def test_multiword_tokens_that_do_not_consist_of_their_words(self) -> None:
        [sentence] = treebank("il va du=de+le port")
        assert sentence.text == "il va du port"
        assert [(word.start, word.end) for word in sentence] == [(0, 2), (3, 5), (6, 8), (6, 8), (9, 13)]
        assert [word.text for word in sentence][2:4] == ["du", "du"]
        assert [word.text_with_ws for word in sentence] == ["il ", "va ", "du", "du ", "port "]

    def test_white_space_inside_a_token(self) -> None:
        """The form has one space, and the text what was written."""
        place = Place("a 1\n 000 b", (Token(0, 1, ("a",)), Token(2, 8, ("1 000",)), Token(9, 10, ("b",))))
        sentence = Sentence.from_words(["a", "1 000", "b"])
        words = Words(sentence, sentence, sentence.heads, sentence.relations, place=place)
        assert Word(words, 1).text_with_ws == "1\n 000 "

    @given(
        st.lists(st.sampled_from(["ab", "c", "de=d+e", "du=de+le"]), min_size=1, max_size=5),
        st.text(" \n\t", max_size=3),
        st.integers(0, 4),
    )
    def test_any_place(self, tokens: list[str], space: str, offset: int) -> None:
        """Compare positions with those that come from writing the text token by token."""
        [sentence] = treebank(" ".join(tokens))
        text, placed, expected = " " * offset, list[Token](), list[str]()
        for token in tokens:
            form, _, parts = token.partition("=")
            words = tuple(parts.split("+")) if parts else (form,)
            placed.append(Token(len(text), len(text) + len(form), words))
            expected += [form] * 2 if form == "du" else words
            text += form + space
        for place in (Place(text, tuple(placed)), Place(text, tuple(placed)).shortened()):
            shared = Words(sentence, sentence, sentence.heads, sentence.relations, place=place)
            found = [Word(shared, i) for i in range(len(sentence))]
            assert [word.text for word in found] == expected == [text[word.start : word.end] for word in found]
            assert found[-1].text_with_ws == expected[-1] + space
            if "du=de+le" not in tokens:
                assert "".join(word.text_with_ws for word in found) == text[offset:]
        assert Place(text, tuple(placed)).shortened().offset == offset

    def test_a_place_of_other_words_is_not_used(self) -> None:
        sentence = Sentence.from_words(["a", "b"])
        shared = Words(sentence, sentence, (), (), place=Place("a", (Token(0, 1, ("a",)),)))
        shared.heads = sentence.heads
        assert Word(shared, 1).start == 2

    @pytest.mark.parametrize("make", [Place.of, read_text])
    def test_the_place_of_a_sentence_is_its_text(self, make: Callable[[Sentence], Place]) -> None:
        for sentence in read_conllu(DATA / "multiword.conllu"):
            assert make(sentence).text.rstrip() == sentence.metadata["text"] == sentence.text
