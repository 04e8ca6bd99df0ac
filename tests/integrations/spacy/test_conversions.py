"""Conversions: from parses to Docs and back, and from Docs of any pipeline to sentences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

spacy = pytest.importorskip("spacy")

from spacy import displacy  # noqa: E402
from spacy.tokens import Doc  # noqa: E402
from spacy.vocab import Vocab  # noqa: E402

import easyfirst  # noqa: E402
from easyfirst.errors import InputError  # noqa: E402
from easyfirst.parser import Parser  # noqa: E402
from easyfirst.parsing.derivation import Derivation  # noqa: E402
from easyfirst.render.displacy import to_displacy  # noqa: E402
from easyfirst.render.drawing import Drawing  # noqa: E402
from easyfirst.results.documents import Document  # noqa: E402
from easyfirst.results.parses import Parse  # noqa: E402
from easyfirst.treebank.conllu import read_conllu  # noqa: E402
from easyfirst.treebank.sentence import Sentence  # noqa: E402
from tests.results.spacy_docs.test_merging import trees  # noqa: E402

DATA = Path(__file__).resolve().parents[2] / "data"
TREEBANKS = sorted(set(DATA.glob("*.conllu")) - {DATA / "morphology.conllu"})
COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "relations")


def gold(sentence: Sentence) -> Parse:
    """Return the parse that a treebank has."""
    nothing = np.zeros(0, dtype=np.int32)
    steps = Derivation(nothing, nothing, (), "root", *[nothing.astype(np.float32)] * 3)
    heads, relations = tuple(head or 0 for head in sentence.heads), tuple(label or "_" for label in sentence.relations)
    return Parse(sentence, heads, relations, steps, sentence)


def columns(sentence: Sentence) -> list[Any]:
    return [getattr(sentence, name) for name in COLUMNS]


class TestToSpacy:
    @pytest.mark.parametrize("treebank", TREEBANKS, ids=lambda path: path.name)
    def test_treebanks_come_back(self, treebank: Path) -> None:
        sentences = list(read_conllu(treebank))
        for sentence in sentences:
            doc = gold(sentence).to_spacy(Vocab())
            assert doc.text == sentence.metadata.get("text", doc.text)
            [back] = easyfirst.from_spacy(doc)
            forms = tuple(" ".join(form.split()) for form in sentence.forms)  # a token has no other white space
            assert columns(back) == [forms, *columns(sentence)[1:]]
        assert sentences

    def test_multiword_tokens_that_are_rewritten(self) -> None:
        first, second = (gold(sentence).to_spacy(Vocab()) for sentence in read_conllu(DATA / "morphology.conllu"))
        assert (first.text, second.text) == (
            "Os gatos pretos não foram vistos nos telhados.",
            "Ela disse que o seu gatto é dela",
        )
        nos, dela = first[6], second[7]
        assert (nos.text, nos.pos_, nos.tag_, nos.lemma_, nos.dep_) == ("nos", "ADP", "prp_art", "em o", "case")
        assert str(nos.morph) == "Definite=Def|Gender=Masc|Number=Plur|PronType=Art"
        assert nos.head.text == "telhados"
        assert (dela.text, dela.pos_, dela.lemma_, dela.dep_) == ("dela", "PRON", "de ela", "ccomp")
        assert (dela.head.text, [child.text for child in dela.children]) == ("disse", ["que", "gatto", "é"])
        assert second[5].lemma_ == ""  # it is not given
        assert first._.easyfirst[0].sentence.forms[6:8] == ("em", "os")

    def test_a_document(self, parser: Parser) -> None:
        text = "The fox can't  jump.\n\nIt sleeps."
        doc = parser(text).to_spacy(Vocab())
        assert doc.text == text
        assert [token.text for token in doc if token.text.isspace()] == [" ", "\n\n"]
        assert [len(sent) for sent in doc.sents] == [8, 3]
        assert doc._.easyfirst == parser(text)
        assert doc[0]._.arc_confidence == parser(text)[0].confidence.arcs[0]  # type: ignore[union-attr]

    def test_a_parse_of_words(self, parser: Parser) -> None:
        """Words that nothing is known of are separated by spaces, as in spaCy."""
        [parse] = parser.parse([["The", "fox", "jumps", "."]])
        doc = parse.to_spacy(Vocab())
        assert doc.text == "The fox jumps ."
        assert [token.dep_ for token in doc] == ["det", "nsubj", "ROOT", "punct"]

    def test_a_parse_of_a_text(self, parser: Parser) -> None:
        doc = parser("He sleeps.\nThe fox can't\njump.")[1].to_spacy(Vocab())
        assert doc.text == "The fox can't jump."
        assert doc[3].text == "n't"

    def test_tags(self) -> None:
        sentence = next(read_conllu(DATA / "multiword.conllu"))
        doc = gold(sentence).to_spacy(Vocab())
        assert [token.tag_ for token in doc] == ["VB", "RB", "VB", "DT", "NN", "."]
        assert [token.lemma_ for token in doc] == ["do", "not", "salt", "the", "soup", "."]
        assert str(doc[0].morph) == "Mood=Imp|VerbForm=Fin"
        assert doc[5].has_morph()

    def test_what_is_not_given_is_not_set(self) -> None:
        sentence = Sentence.from_words(["a", "b"], heads=[2, 0], relations=["det", "root"])
        doc = gold(sentence).to_spacy(Vocab())
        assert [doc.has_annotation(name) for name in ("TAG", "POS", "MORPH", "LEMMA")] == [False] * 4
        assert doc.has_annotation("DEP")

    @given(trees())
    def test_any_tree(self, drawn: tuple[list[int], list[int]]) -> None:
        """Crossing arcs and all: one sentence, and each token has its head."""
        heads, _ = drawn
        relations = ["root" if head == 0 else "dep" for head in heads]
        doc = gold(Sentence.from_words(["x"] * len(heads), heads=heads, relations=relations)).to_spacy(Vocab())
        assert [token.head.i + 1 if token.head.i != token.i else 0 for token in doc] == heads
        assert len(list(doc.sents)) == 1

    def test_the_same_relation_for_other_roots(self) -> None:
        doc = gold(Sentence.from_words(["a"], heads=[0], relations=["HED"])).to_spacy(Vocab())
        assert doc[0].dep_ == "HED"
        assert easyfirst.from_spacy(doc)[0].relations == ("HED",)


class TestFromSpacy:
    def test_round_trip(self, parser: Parser) -> None:
        document = parser("The fox doesn't jump.\nIt likes apples, (green) ones.")
        sentences = easyfirst.from_spacy(document.to_spacy(Vocab()))
        assert [columns(sentence) for sentence in sentences] == [columns(parse.parsed) for parse in document]
        assert sentences[0].metadata["text"] == "The fox doesn't jump."
        scores = easyfirst.score(sentences, document)
        assert scores.ud.las == 100

    def test_conllu(self, parser: Parser, tmp_path: Path) -> None:
        doc = parser("The fox doesn't jump.").to_spacy(Vocab())
        [sentence] = easyfirst.from_spacy(doc)
        path = tmp_path / "x.conllu"
        path.write_bytes(sentence.to_bytes())
        [read] = read_conllu(path)
        assert columns(read) == columns(sentence)
        assert re.search(r"TokenRange=0:3\|ArcConf=[01]\.\d{4}\|LabelConf=[01]\.\d{4}", sentence.misc[0])
        assert "SpaceAfter=No" in sentence.misc[2]

    def test_without_annotations(self) -> None:
        doc = Doc(Vocab(), words=["a", " ", "b"], spaces=[True, False, False], sent_starts=[True, False, False])
        [sentence] = easyfirst.from_spacy(doc)
        assert columns(sentence) == [("a", "b"), *[("_", "_")] * 4, *[(None, None)] * 2]

    def test_white_space_in_the_tree(self) -> None:
        """Words below white space go to the head above; below a root of white space, the first becomes the root."""
        words, spaces = ["\n", "a", "\n", "b", "c"], [False] * 5
        doc = Doc(Vocab(), words=words, spaces=spaces, heads=[0, 0, 1, 2, 0], deps=["ROOT", "x", "dep", "y", "z"])
        [sentence] = easyfirst.from_spacy(doc)
        assert (sentence.heads, sentence.relations) == ((0, 1, 1), ("root", "y", "z"))

    def test_some_heads(self) -> None:
        doc = Doc(Vocab(), words=["a", "b"], heads=[0, 0], deps=["ROOT", ""])
        [sentence] = easyfirst.from_spacy(doc)
        assert (sentence.heads, sentence.relations) == ((0, None), ("root", None))

    def test_a_head_in_another_sentence(self) -> None:
        doc = Doc(Vocab(), words=["a", "b"], heads=[0, 0], deps=["ROOT", "x"])
        doc.user_hooks["sents"] = lambda doc: [doc[0:1], doc[1:2]]
        first, second = easyfirst.from_spacy(doc)
        assert (first.heads, second.heads) == ((0,), (None,))

    def test_no_words(self) -> None:
        assert easyfirst.from_spacy(Doc(Vocab())) == []
        assert easyfirst.from_spacy(Doc(Vocab(), words=[" "])) == []

    def test_no_sentences(self) -> None:
        with pytest.raises(InputError, match=r"no sentence boundaries; .*nlp.add_pipe\('easyfirst'\)"):
            easyfirst.from_spacy(Doc(Vocab(), words=["a", "b"]))

    def test_another_object(self) -> None:
        with pytest.raises(InputError, match="expected a spaCy Doc, got str"):
            easyfirst.from_spacy("The fox")  # type: ignore[arg-type]

    def test_parse_again(self, nlp: Any, parser: Parser) -> None:
        """The tags of a Doc are given to the parser."""
        sentences = easyfirst.from_spacy(nlp("The fox jumps. It sleeps."))
        assert [parse.heads for parse in parser.parse(sentences)] == [sentence.heads for sentence in sentences]


class TestDisplacy:
    def test_the_arcs_are_those_of_our_own_dicts(self, nlp: Any) -> None:
        doc = nlp("The fox likes green apples.")
        [parse] = doc._.easyfirst
        own = to_displacy(parse.drawing())
        theirs = displacy.parse_deps(doc, options={"collapse_punct": False})
        keys = ("start", "end", "label", "dir")
        arcs = [tuple(arc[key] for key in keys) for arc in own["arcs"]]
        assert [tuple(arc[key] for key in keys) for arc in theirs["arcs"]] == arcs
        assert [word["text"] for word in theirs["words"]] == [word["text"] for word in own["words"]]
        assert displacy.render(own, style="dep", manual=True, jupyter=False).count('"displacy-arrow"') == len(arcs)

    def test_it_draws(self, nlp: Any, parser: Parser) -> None:
        for doc in (nlp("The fox jumps."), parser("The fox jumps.")[0].to_spacy(nlp.vocab)):
            svg = displacy.render(doc, style="dep", jupyter=False)
            assert "nsubj" in svg
            assert svg.startswith("<svg")

    def test_our_own_pictures(self, nlp: Any) -> None:
        [sentence] = easyfirst.from_spacy(nlp("The fox jumps."))
        drawing = Drawing.of(sentence)
        assert drawing.confidence is not None
        assert drawing.confidence[0] == pytest.approx(nlp("The fox jumps.")[0]._.arc_confidence, abs=1e-4)


def test_a_document_of_one_parse(parser: Parser) -> None:
    [parse] = parser.parse([["The", "fox"]])
    document = Document.of_parse(parse)
    assert (document.text, document.sentences) == ("The fox", (parse,))
