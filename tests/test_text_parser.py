"""Texts in: documents out, with every character accounted for, whatever the weights say."""

from __future__ import annotations

import json
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easyfirst
from easyfirst.errors import InputError, ModelError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.parser import Parser, load
from easyfirst.text.sentences import MAX_SENTENCE_WORDS
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.small_models import small_model, small_tagger, small_tokenizer

TEXT = "The black fox likes apples. It isn't lazy!\n\nDogs are.  "


@pytest.fixture(scope="module")
def nlp() -> Parser:
    return Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())


class TestDocuments:
    def test_a_text_becomes_a_document(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        assert document.text == TEXT
        assert len(document) == len(list(document)) == len(document.sentences)
        assert repr(document).startswith('Document("The black fox likes apples. It isn\'t ...", ')
        assert document[0].heads.count(0) == 1
        for parse, tokens in zip(document, document.tokens, strict=True):
            assert parse.sentence.forms == tuple(word for token in tokens for word in token.words)
            assert "_" not in parse.sentence.upos + parse.sentence.xpos

    @given(st.text("ab .,'\n\t\u3000\U0001f98a", max_size=40))
    def test_words_have_their_places_in_the_text(self, nlp: Parser, text: str) -> None:
        document = nlp(text)
        assert document.words == tuple(word for parse in document for word in parse)
        for parse, tokens in zip(document, document.tokens, strict=True):
            assert (parse.start, parse.end) == (tokens[0].start, tokens[-1].end)
            assert parse.text == text[parse.start : parse.end]
            for word in parse:
                assert word.text == text[word.start : word.end]
                assert text.startswith(word.text_with_ws, word.start)
        if all(
            "".join(token.words).split() == text[token.start : token.end].split() for token in sum(document.tokens, ())
        ):
            assert "".join(word.text_with_ws for word in document.words) == text.lstrip()

    def test_parses_can_be_sliced(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        assert document[1:] == document.sentences[1:]
        assert document[-1] is document.sentences[-1]

    def test_alternatives_have_the_same_place(self, nlp: Parser) -> None:
        for parse in nlp(TEXT, beam=4, n_best=3):
            assert len(parse.n_best) > 1 or len(parse) < 3
            assert {(each.text, each.start) for each in parse.n_best} == {(parse.text, parse.start)}

    def test_its_page_has_all_trees(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        assert document.to_html(show=iter(["lemma"])).count("<svg ") == len(document)

    def test_it_draws_its_trees(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        assert str(document) == "\n\n".join(parse.draw() for parse in document)

    def test_its_conllu_can_be_read(self, nlp: Parser, tmp_path: Path) -> None:
        document = nlp(TEXT)
        (tmp_path / "out.conllu").write_text(document.to_conllu(), encoding="utf-8")
        read = list(read_conllu(tmp_path / "out.conllu"))
        assert [sentence.forms for sentence in read] == [parse.sentence.forms for parse in document]
        assert [sentence.heads for sentence in read] == [parse.heads for parse in document]
        assert read[0].metadata["text"] == TEXT[document.tokens[0][0].start : document.tokens[0][-1].end]

    def test_its_dictionary_is_json(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        values = json.loads(json.dumps(document.to_dict()))
        assert values["text"] == TEXT
        for sentence, parse in zip(values["sentences"], document, strict=True):
            assert [word["head"] for word in sentence["words"]] == list(parse.heads)
            assert [token["words"][1] for token in sentence["tokens"]][-1] == len(parse)
            steps = sorted(word["step"] for word in sentence["words"] if word["step"] is not None)
            assert steps == list(range(1, len(parse)))
            [root] = [word for word in sentence["words"] if word["head"] == 0]
            assert root["step"] is root["score"] is root["margin"] is None

    @pytest.mark.parametrize("text", ["", " \n\t \n\n ", "\u3000"])
    def test_nothing_has_no_sentences(self, nlp: Parser, text: str) -> None:
        document = nlp(text)
        assert len(document) == 0
        assert document.to_conllu() == str(document) == ""

    @given(st.lists(st.text(max_size=40), max_size=4))
    @settings(max_examples=40)
    def test_no_character_is_lost(self, nlp: Parser, texts: list[str]) -> None:
        texts = [text.encode(errors="replace").decode().replace("\0", "") for text in texts]
        for text, document in zip(texts, nlp.read(texts), strict=True):
            place = 0
            for token in (token for tokens in document.tokens for token in tokens):
                assert not text[place : token.start].strip()
                assert text[token.start : token.end].strip()
                place = token.end
            assert not text[place:].strip()

    def test_one_sentence_is_cut_only_if_it_is_very_long(self, nlp: Parser) -> None:
        [document] = nlp.read(["fox " * (MAX_SENTENCE_WORDS + 3)], one_sentence=True)
        sizes = [len(sentence) for sentence in document]
        assert max(sizes) <= MAX_SENTENCE_WORDS < sum(sizes) < 2 * MAX_SENTENCE_WORDS
        assert len(sizes) == 2
        assert "".join(document.text[t.start : t.end] for s in document.tokens for t in s) == "fox" * 503

    def test_one_sentence_a_text(self, nlp: Parser) -> None:
        [document] = nlp.read([TEXT], one_sentence=True)
        assert len(document) == 1
        [nothing] = nlp.read([" "], one_sentence=True)
        assert len(nothing) == 0

    def test_an_endless_input_is_read_ahead_only_so_far(self, nlp: Parser) -> None:
        read: list[int] = []

        def texts():
            for number in count():
                read.append(number)
                yield f"Fox {number} jumps."

        documents = list(islice(nlp.read(texts(), batch_size=1), 3))
        assert [document.text for document in documents] == ["Fox 0 jumps.", "Fox 1 jumps.", "Fox 2 jumps."]
        assert len(read) == 3
        next(iter(nlp.read(texts())))
        assert len(read) < 20_000


class TestTags:
    def test_given_tags_are_used_as_they_are(self, nlp: Parser) -> None:
        [parse] = nlp.parse([[("The", "DET", "DT"), ("fox", "PRON", "_")]])
        assert parse.tagged.upos == ("DET", "PRON")
        assert parse.tagged.xpos[0] == "DT"
        assert parse.tagged.xpos[1] != "_"

    def test_sentences_that_were_read_keep_their_bytes(self, nlp: Parser, tmp_path: Path) -> None:
        path = tmp_path / "in.conllu"
        path.write_bytes(Sentence.from_words(["The", "fox"]).to_bytes())
        [parse] = nlp.parse(read_conllu(path))
        assert parse.sentence.upos == ("_", "_")
        assert "_" not in parse.tagged.upos
        cells = parse.to_conllu().split("\t")
        assert cells[3] == cells[4] == "_"
        assert parse.to_conllu(tags=True).split("\t")[3] == parse.tagged.upos[0]

    def test_what_a_model_needs_and_reads(self, nlp: Parser) -> None:
        assert nlp.reads_tags == ("upos", "xpos")
        assert nlp.needs_tags == ()
        assert Parser(small_model("both")).needs_tags == ("upos", "xpos")

    def test_tuples_of_words_are_sentences_if_no_tags_are_needed(self, nlp: Parser) -> None:
        [parse] = nlp.parse([("The", "fox")])
        assert parse.sentence.forms == ("The", "fox")

    def test_pairs_are_upos_and_the_rest_is_predicted(self, nlp: Parser) -> None:
        [parse] = nlp.parse([[("The", "PRON"), ("fox", "PRON")]])
        assert parse.tagged.upos == ("PRON", "PRON")
        assert "_" not in parse.tagged.xpos

    def test_pairs_are_xpos_if_nothing_else_is_read(self) -> None:
        [parse] = Parser(small_model("xpos"), tagger=small_tagger()).parse([[("The", "DT")]])
        assert parse.tagged.xpos == ("DT",)

    def test_pairs_do_if_the_tagger_gives_the_rest(self) -> None:
        parser = Parser(small_model("both"), tagger=small_tagger(kinds=("xpos",)))
        assert parser.needs_tags == ("upos",)
        [parse] = parser.parse([[("The", "DET")]])
        assert parse.tagged.upos == ("DET",)
        with pytest.raises(InputError, match="put the words of a sentence into a list"):
            parser.parse([("The", "DET")])

    def test_pairs_do_not_if_xpos_is_needed(self) -> None:
        parser = Parser(small_model("both"), tagger=small_tagger(kinds=("upos",)))
        with pytest.raises(InputError, match=r"needs XPOS, but one tag is taken as UPOS; give \(word, upos, xpos\)"):
            parser.parse([[("The", "DET")]])


class TestMisuse:
    @pytest.mark.parametrize(("kinds", "named"), [(None, "UPOS and XPOS"), (("upos",), "XPOS")])
    def test_text_without_the_tags_that_are_needed(self, kinds: tuple[str, ...] | None, named: str) -> None:
        tagger = None if kinds is None else small_tagger(kinds=kinds)
        parser = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=tagger)
        with pytest.raises(InputError, match=f"the model needs {named} tags and has no tagger to predict them"):
            parser.read(["A fox."])

    @pytest.mark.parametrize("texts", [None, 3, b"text"])
    def test_no_texts_at_all(self, nlp: Parser, texts: Any) -> None:
        with pytest.raises(InputError, match=r"the input is of type \w+; give a list of texts"):
            nlp.read(texts)

    @pytest.mark.parametrize(
        ("tags", "what"),
        [
            ("none", r"give lists of words, or train what it lacks \(easyfirst train --parts tokenizer\)"),
            ("upos", r"give words with UPOS tags, or train what it lacks \(easyfirst train --parts tokenizer,tagger\)"),
        ],
    )
    def test_a_model_without_a_tokenizer_says_all_that_it_lacks(self, tags: str, what: str) -> None:
        with pytest.raises(InputError, match=f"has no tokenizer, so it cannot read raw text; {what}"):
            Parser(small_model(tags))("Some text.")

    def test_other_things_than_texts(self, nlp: Parser) -> None:
        with pytest.raises(InputError, match=r"expected a text, got list; for lists of words use parse\(\)"):
            nlp(["a", "b"])  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"give a list of texts: \[text\]"):
            nlp.read("text")
        with pytest.raises(InputError, match=r"text 2 has a NUL character \(U\+0000\) in it, at character 1; take"):
            list(nlp.read(["a", "b\0"]))
        with pytest.raises(InputError, match="text 2 is of type int"):
            list(nlp.read(["a", 3]))  # type: ignore[list-item]
        with pytest.raises(InputError, match="batch_size is 0"):
            nlp.read(["a"], batch_size=0)

    def test_half_a_surrogate_pair(self, nlp: Parser) -> None:
        with pytest.raises(InputError, match="not valid Unicode"):
            nlp("a \ud800 b")


class TestStorage:
    @pytest.mark.parametrize("bits", [32, 16, 8])
    def test_saved_and_loaded(self, nlp: Parser, tmp_path: Path, bits: int) -> None:
        nlp.save(tmp_path / "model", bits=bits)
        again = load(tmp_path / "model")
        assert again(TEXT).tokens == nlp(TEXT).tokens
        if bits == 32:
            assert again(TEXT).to_conllu() == nlp(TEXT).to_conllu()

    def test_shared_vectors_are_stored_once(self, tmp_path: Path) -> None:
        table = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
        vectors = SharedVectors.of(Embeddings(("fox", "dog", "the"), table))
        whole = Parser(small_model("both", vectors), tokenizer=small_tokenizer(), tagger=small_tagger(vectors))
        whole.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again(TEXT).to_conllu() == whole(TEXT).to_conllu()
        alone = Parser(small_model("both"), tagger=small_tagger(vectors))
        alone.save(tmp_path / "alone")
        assert load(tmp_path / "alone").parse([["The", "fox"]]) == alone.parse([["The", "fox"]])

    def test_other_vectors_are_refused(self, tmp_path: Path) -> None:
        tables = [np.full((1, 4), value, dtype=np.float32) for value in (1.0, 2.0)]
        first, second = (SharedVectors.of(Embeddings(("fox",), table)) for table in tables)
        for name, vectors in (("a", first), ("b", second)):
            Parser(small_model("none", vectors)).save(tmp_path / name)
        (tmp_path / "a" / "vectors").rename(tmp_path / "old")
        (tmp_path / "b" / "vectors").rename(tmp_path / "a" / "vectors")
        with pytest.raises(ModelError, match="are not the vectors the model was trained with"):
            load(tmp_path / "a")

    def test_parts_of_the_model_before_are_removed(self, tmp_path: Path) -> None:
        vectors = SharedVectors.of(Embeddings(("fox",), np.ones((1, 4), dtype=np.float32)))
        Parser(small_model("both", vectors), tokenizer=small_tokenizer(), tagger=small_tagger(vectors)).save(tmp_path)
        assert {"tokenizer", "tagger", "vectors"} <= {path.name for path in tmp_path.iterdir()}
        Parser(small_model("none")).save(tmp_path)
        assert not {"tokenizer", "tagger", "vectors"} & {path.name for path in tmp_path.iterdir()}
        again = load(tmp_path)
        assert again.tokenizer is again.tagger is None

    def test_folders_of_something_else_stay(self, tmp_path: Path) -> None:
        (tmp_path / "vectors").mkdir()
        (tmp_path / "vectors" / "config.json").write_text("{}")
        Parser(small_model("none"), tagger=small_tagger()).save(tmp_path)
        assert (tmp_path / "vectors" / "config.json").read_text() == "{}"

    def test_vectors_that_no_part_asks_for_are_not_read(self, tmp_path: Path) -> None:
        Parser(small_model("none"), tagger=small_tagger()).save(tmp_path)
        (tmp_path / "vectors").mkdir()
        assert load(tmp_path).tagger is not None

    def test_a_name_that_is_no_model(self) -> None:
        with pytest.raises(ModelError, match="there is no model xx, neither a directory nor bundled"):
            easyfirst.load("xx")
