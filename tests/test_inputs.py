"""Checks of the facade's arguments that the tests of the parser do not reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from easyfirst.errors import DataError, InputError
from easyfirst.inputs import check_tags, with_known_tagsets
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence

DATA = Path(__file__).parent / "data"


class TestCheckTags:
    def test_from_no_file(self) -> None:
        with pytest.raises(InputError, match=r"needs UPOS tags and this sentence has none.*'a'.*pairs.*--tags none"):
            check_tags(Sentence.from_words(["a", "b"]), ("upos",))

    def test_both_kinds(self) -> None:
        sentence = Sentence.from_words(["a"], upos=["X"])
        check_tags(sentence, ("upos",))
        with pytest.raises(InputError, match=r"needs XPOS tags.*\(word, upos, xpos\) triples"):
            check_tags(sentence, ("upos", "xpos"))

    def test_from_a_file(self) -> None:
        sentence = next(read_conllu(DATA / "scripts.conllu"))
        with pytest.raises(DataError, match=r"scripts\.conllu:3: the model needs XPOS tags") as caught:
            check_tags(sentence, ("xpos",))
        assert caught.value.line == 3

    def test_one_tag_is_enough(self) -> None:
        check_tags(Sentence.from_words(["a", "b"], upos=[None, "X"]), ("upos",))

    def test_no_tags_needed(self) -> None:
        check_tags(Sentence.from_words(["a", "b"]), ())


def test_no_tag_is_a_tag_to_a_vocabulary_that_knows_it() -> None:
    untagged = Sentence.from_words(["a", "b"], heads=[2, 0], relations=["x", "root"])
    check_tags(untagged, ("upos",), ParserVocabulary.of([untagged], tag_kinds=["upos"]))
    tagged = Sentence.from_words(["a"], upos=["X"], heads=[0], relations=["root"])
    with pytest.raises(InputError, match="needs UPOS"):
        check_tags(untagged, ("upos",), ParserVocabulary.of([tagged], tag_kinds=["upos"]))


class TestKnownTags:
    VOCABULARY = ParserVocabulary.of(
        [Sentence.from_words(["a", "b"], upos=["DET", "NOUN"], xpos=["DT", "NN"])], tag_kinds=("upos", "xpos")
    )

    def tags(self, *xpos: str | None, kinds: tuple[str, ...] = ("upos", "xpos")) -> tuple[str, ...]:
        sentence = Sentence.from_words(["w"] * len(xpos), upos=["NOUN"] * len(xpos), xpos=xpos)
        found = with_known_tagsets(sentence, kinds, self.VOCABULARY)
        assert found.upos == sentence.upos
        assert (found is sentence) == (found == sentence)
        return found.xpos

    def test_known_tags_stay(self) -> None:
        assert self.tags("DT", "NN", None) == ("DT", "NN", "_")

    def test_an_unknown_tag_stays(self) -> None:
        assert self.tags("DT", "XX", "NN", None) == ("DT", "XX", "NN", "_")
        assert self.tags("DT", "XX") == ("DT", "XX")  # half of them are known

    def test_tags_of_another_tagset_go(self) -> None:
        assert self.tags("DT", "XX", "YY") == ("_", "_", "_")
        assert self.tags(None, "XX") == ("_", "_")

    def test_universal_tags_are_of_the_same_tagset(self) -> None:
        sentence = Sentence.from_words(["w"] * 3, upos=["SYM", "X", "NOUN"], xpos=["DT"] * 3)
        assert with_known_tagsets(sentence, ("upos", "xpos"), self.VOCABULARY) is sentence
        other = Sentence.from_words(["w"] * 3, upos=["SYM", "SUBST", "VERBO"], xpos=["DT"] * 3)
        assert with_known_tagsets(other, ("upos", "xpos"), self.VOCABULARY).upos == ("_", "_", "_")

    def test_features_and_lemmas_stay(self) -> None:
        vocabulary = replace(self.VOCABULARY, tags={**self.VOCABULARY.tags, "feats": {"Number=Sing": 1}})
        sentence = Sentence.from_words(["w"] * 2).with_tags(feats=["Case=Nom", "A=B"], lemmas=["x", "y"])
        assert with_known_tagsets(sentence, ("upos", "xpos", "feats", "lemmas"), vocabulary) is sentence

    def test_tags_that_are_not_predicted_stay(self) -> None:
        assert self.tags("XX", "YY", kinds=("upos",)) == ("XX", "YY")
