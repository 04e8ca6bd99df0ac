"""The component: it annotates spaCy's own tokens, keeps what it should keep, and never changes the text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc  # noqa: E402

import easyfirst  # noqa: E402
from easyfirst.errors import ConfigError, InputError, LanguageWarning, ModelError  # noqa: E402
from easyfirst.parser import Parser  # noqa: E402
from easyfirst.spacy import component as module  # noqa: E402
from easyfirst.treebank.tree import Tree  # noqa: E402
from tests.integrations.spacy.conftest import TEXTS  # noqa: E402


def rows(doc: Any) -> list[tuple[Any, ...]]:
    """Return all that the component sets."""
    return [
        (*(token.text, token.whitespace_, token.head.i, token.dep_, token.tag_, token.pos_, str(token.morph)),)
        + (token.lemma_, token.is_sent_start, token._.arc_confidence, token._.label_confidence)
        for token in doc
    ]


class TestAnnotations:
    def test_an_example(self, nlp: Any) -> None:
        doc = nlp("The fox doesn't jump. It sleeps.")
        assert [token.text for token in doc] == ["The", "fox", "does", "n't", "jump", ".", "It", "sleeps", "."]
        assert [token.head.i for token in doc] == [1, 4, 4, 4, 4, 4, 7, 7, 7]
        assert [token.dep_ for token in doc][:5] == ["det", "nsubj", "aux", "advmod", "ROOT"]
        assert [token.pos_ for token in doc][:3] == ["DET", "NOUN", "AUX"]
        assert [token.tag_ for token in doc][:3] == ["DT", "NN", "VBZ"]
        assert [sent.text for sent in doc.sents] == ["The fox doesn't jump.", "It sleeps."]
        assert all(0 < token._.arc_confidence <= 1 for token in doc)
        assert all(token._.label_confidence <= token._.arc_confidence for token in doc)
        assert isinstance(doc._.easyfirst, easyfirst.Document)
        assert [parse.relations[1] for parse in doc._.easyfirst] == ["nsubj", "root"]
        for name in ("DEP", "TAG", "POS", "SENT_START"):
            assert doc.has_annotation(name, require_complete=name != "SENT_START")
        predicted = nlp.get_pipe("easyfirst").parser.tagger.kinds
        assert doc.has_annotation("LEMMA") == ("lemmas" in predicted)
        assert doc.has_annotation("MORPH") == ("feats" in predicted)

    @pytest.mark.parametrize("text", TEXTS)
    def test_the_trees_are_those_of_the_library(self, nlp: Any, parser: Parser, text: str) -> None:
        """Parse the tokens of each sentence on their own."""
        doc = nlp(text)
        assert doc.text == text
        for sent in doc.sents:
            words = [token for token in sent if not token.is_space]
            if not words:
                continue
            [parse] = parser.parse([[word.text for word in words]])
            heads = [0 if word.head.i == word.i else words.index(word.head) + 1 for word in words]
            assert tuple(heads) == parse.heads
            assert [word.dep_.replace("ROOT", "root") for word in words] == list(parse.relations)
            assert [word.tag_ for word in words] == list(parse.tagged.xpos)
            assert [word.pos_ for word in words] == list(parse.tagged.upos)
            assert parse.confidence is not None
            assert [word._.arc_confidence for word in words] == list(parse.confidence.arcs)
            assert [word._.label_confidence for word in words] == list(parse.confidence.labels)

    def test_the_sentences_are_those_of_the_tokenizer(self, nlp: Any, parser: Parser) -> None:
        text = TEXTS[4]
        expected = [text[tokens[0].start : tokens[-1].end] for tokens in parser(text).tokens]
        assert [sent.text.strip() for sent in nlp(text).sents] == expected

    def test_all_columns(self, pipeline: Callable[..., Any]) -> None:
        doc = pipeline()("the fox jumped over the dog . it slept .")
        for name in ("DEP", "TAG", "POS", "MORPH", "LEMMA"):
            assert doc.has_annotation(name, require_complete=True), name
        first, second = doc._.easyfirst
        assert [token.lemma_ for token in doc] == [*first.tagged.lemmas, *second.tagged.lemmas]
        assert [str(token.morph) or "_" for token in doc] == [*first.tagged.feats, *second.tagged.feats]
        assert doc[0]._.arc_confidence is None  # the model has no calibration

    def test_white_space(self, nlp: Any) -> None:
        doc = nlp("  Two  foxes\n\nslept.\n")
        spaces = [token for token in doc if token.is_space]
        assert [token.text for token in spaces] == ["  ", " ", "\n\n", "\n"]
        assert [token.head.text for token in spaces] == ["Two", "Two", "foxes", "."]
        assert {(token.dep_, token.pos_, token.tag_, token._.arc_confidence) for token in spaces} == {
            ("dep", "SPACE", "_SP", None)
        }
        assert doc[0].is_sent_start

    @pytest.mark.parametrize("text", ["", " ", " \n\n \t"])
    def test_no_words(self, nlp: Any, text: str) -> None:
        doc = nlp(text)
        assert doc.text == text
        assert doc.has_annotation("DEP")
        assert len(list(doc.sents)) == (1 if text else 0)
        assert all((token.pos_, token.tag_) == ("SPACE", "_SP") for token in doc)
        assert len(doc._.easyfirst) == 0

    def test_a_second_time(self, nlp: Any) -> None:
        doc = nlp(TEXTS[0])
        before = rows(doc)
        assert rows(nlp.get_pipe("easyfirst")(doc)) == before

    def test_the_language(self, nlp: Any) -> None:
        with pytest.warns(LanguageWarning):
            nlp("Съешь же ещё этих мягких французских булок, да выпей чаю.")


class TestMultiwordTokens:
    def test_words_of_one_token_are_merged(self, pipeline: Callable[..., Any]) -> None:
        nlp = pipeline(lang="xx")
        doc = nlp("dámelo au parc .")
        assert [token.text for token in doc] == ["dámelo", "au", "parc", "."]
        [parse] = doc._.easyfirst
        assert parse.sentence.forms == ("da", "me", "lo", "à", "le", "parc", ".")
        assert [token.words for token in doc._.easyfirst.tokens[0]] == [
            *(("da", "me", "lo"), ("à", "le"), ("parc",), (".",))
        ]
        assert doc[1].tag_ == "_".join(parse.tagged.xpos[3:5])
        assert doc[0].lemma_ == " ".join(parse.tagged.lemmas[0:3])
        assert doc[1].dep_ in (parse.relations[3], parse.relations[4], "ROOT")
        assert [token.head.i == token.i for token in doc].count(True) == 1

    def test_a_multiword_token_of_several_tokens(self, pipeline: Callable[..., Any]) -> None:
        """spaCy's English tokenizer cuts *don't* itself."""
        doc = pipeline()("they don't jump .")
        assert [token.text for token in doc] == ["they", "do", "n't", "jump", "."]
        assert doc._.easyfirst[0].sentence.forms == ("they", "do", "n't", "jump", ".")

    def test_tokens_that_the_tokenizer_cuts_otherwise(self, pipeline: Callable[..., Any]) -> None:
        """A sentence that begins inside a token begins with the next one."""
        nlp = pipeline()
        doc = Doc(nlp.vocab, words=["a.b", "c", ".", "d"], spaces=[True, False, True, False])
        doc = nlp.get_pipe("easyfirst")(doc)
        assert [token.is_sent_start for token in doc] == [True, True, False, True]
        assert doc.text == "a.b c. d"

    def test_tokens_with_white_space_in_them(self, pipeline: Callable[..., Any]) -> None:
        nlp = pipeline()
        doc = nlp.get_pipe("easyfirst")(Doc(nlp.vocab, words=["New\nYork", "is\t", "big"]))
        assert doc.text == "New\nYork is\t big "
        assert doc._.easyfirst[0].sentence.forms == ("New York", "is", "big")


class TestWhatIsKept:
    def test_sentence_starts(self, pipeline: Callable[..., Any]) -> None:
        text = "a . b ! c . d"
        assert [len(sent) for sent in pipeline()(text).sents] == [2, 4, 1]
        nlp = pipeline()
        nlp.add_pipe("sentencizer", before="easyfirst", config={"punct_chars": ["!"]})
        assert [len(sent) for sent in nlp(text).sents] == [4, 3]
        nlp = pipeline(overwrite=["sent_start", "dep"])
        nlp.add_pipe("sentencizer", before="easyfirst", config={"punct_chars": ["!"]})
        assert [len(sent) for sent in nlp(text).sents] == [2, 4, 1]

    def test_some_sentence_starts(self, pipeline: Callable[..., Any]) -> None:
        nlp = pipeline()
        doc = nlp.make_doc("a . b ! c . d")
        doc[1].is_sent_start, doc[2].is_sent_start = True, False
        assert [len(sent) for sent in nlp.get_pipe("easyfirst")(doc).sents] == [1, 5, 1]

    @pytest.mark.parametrize("text", [" ", " \n\n \t", " Two  foxes\n"])
    def test_the_lemma_of_white_space_is_its_text(self, pipeline: Callable[..., Any], text: str) -> None:
        spaces = [token for token in pipeline()(text) if token.is_space]
        assert [token.lemma_ for token in spaces] == [token.text for token in spaces] != []

    def test_a_sentence_of_white_space(self, nlp: Any) -> None:
        doc = Doc(nlp.vocab, words=["a", "\n", "\n\n", "b"], sent_starts=[True, True, False, True])
        doc = nlp.get_pipe("easyfirst")(doc)
        assert [sent.text.split() for sent in doc.sents] == [["a"], [], ["b"]]
        assert [(token.head.i, token.dep_) for token in doc][1:3] == [(1, "ROOT"), (1, "dep")]
        assert len(doc._.easyfirst) == 2

    def test_tags_guide_the_parser(self, pipeline: Callable[..., Any]) -> None:
        nlp = pipeline()
        tags = {
            "tags": ["X1", "X2", ""],
            "pos": ["VERB", "", ""],
            "lemmas": ["A", "", ""],
            "morphs": ["Case=Nom", "", ""],
        }
        doc = nlp.get_pipe("easyfirst")(Doc(nlp.vocab, words=["the", "dog", "jumps"], **tags))
        tagged = doc._.easyfirst[0].tagged
        assert (doc[0].pos_, doc[0].lemma_, str(doc[0].morph)) == ("VERB", "A", "Case=Nom")
        assert [token.tag_ for token in doc][:2] == ["X1", "X2"]
        assert tagged.upos[0] == "VERB"
        assert tagged.feats[0] == "Case=Nom"
        assert [token.pos_ for token in doc][1:] == list(tagged.upos[1:])
        assert doc[2].tag_ == tagged.xpos[2]
        assert all(token.lemma_ for token in doc)

    def test_tags_are_overwritten(self, pipeline: Callable[..., Any]) -> None:
        words = ["the", "dog", "jumps"]
        plain = pipeline()
        plain = plain.get_pipe("easyfirst")(Doc(plain.vocab, words=words))
        nlp = pipeline(overwrite=True)
        tags = {"tags": ["X"] * 3, "pos": ["X"] * 3, "lemmas": ["X"] * 3, "morphs": ["X=X"] * 3}
        assert rows(nlp.get_pipe("easyfirst")(Doc(nlp.vocab, words=words, **tags))) == rows(plain)

    @pytest.mark.parametrize("overwrite", [True, ["dep"], ["tag"], False])
    def test_trees(self, pipeline: Callable[..., Any], overwrite: bool | list[str]) -> None:
        nlp = pipeline(overwrite=overwrite)
        given_tree = {"heads": [0, 0, 0, 3], "deps": ["ROOT", "x", "x", "ROOT"]}
        doc = nlp.get_pipe("easyfirst")(Doc(nlp.vocab, words=["the", "dog", "jumps", "."], **given_tree))
        is_kept = overwrite in (False, ["tag"])
        assert ([token.dep_ for token in doc] == given_tree["deps"]) == is_kept
        lengths = [3, 1] if overwrite is not True else [4]
        assert [len(sent) for sent in doc.sents] == lengths
        assert all(token.tag_ for token in doc)

    @pytest.mark.parametrize("name", ["tag", "pos", "morph", "lemma", "sent_start", "dep"])
    def test_one_annotation_only(self, pipeline: Callable[..., Any], name: str) -> None:
        doc = pipeline(annotate=[name])("the dog jumped . it slept .")
        names = ("tag", "pos", "morph", "lemma", "sent_start", "dep")
        found = [each for each in names if doc.has_annotation(each.upper())]
        assert found == (["sent_start", "dep"] if name == "dep" else [name])
        if doc.has_annotation("SENT_START"):
            assert [len(sent) for sent in doc.sents] == [4, 3]

    def test_no_parses(self, pipeline: Callable[..., Any]) -> None:
        doc = pipeline(keep_parses=False)("the dog jumped .")
        assert doc._.easyfirst is None
        assert doc.user_data == {}
        assert doc.has_annotation("DEP")


class TestModels:
    def test_without_a_tokenizer(self, small: Any) -> None:
        nlp = spacy.blank("en")
        nlp.add_pipe("easyfirst", config={"model": str(small)})
        with pytest.raises(InputError, match=r"no tokenizer .* nlp.add_pipe\('sentencizer', before='easyfirst'\)"):
            nlp("the fox jumps.")
        nlp.add_pipe("sentencizer", before="easyfirst")
        assert [len(sent) for sent in nlp("the fox jumps. it sleeps.").sents] == [4, 3]

    @pytest.mark.parametrize("model", ["nosuch", "/no/such/model"])
    def test_absent(self, model: str) -> None:
        with pytest.raises(ModelError, match=rf"there is no model {model}.* set by components.parser.model"):
            spacy.blank("en").add_pipe("easyfirst", "parser", config={"model": model})

    def test_the_language_of_the_pipeline(self) -> None:
        with pytest.raises(ModelError, match=r"there is no model pt, .*there are: en"):
            spacy.blank("pt").add_pipe("easyfirst")

    def test_a_model_that_has_changed_is_loaded_again(self, small: Path, tmp_path: Path) -> None:
        shutil.copytree(small, tmp_path / "model")
        config = {"model": str(tmp_path / "model")}
        first, second = (spacy.blank("en").add_pipe("easyfirst", config=config).parser for _ in range(2))
        assert first is second
        os.utime(tmp_path / "model" / "weights.safetensors", (1, 1))
        assert spacy.blank("en").add_pipe("easyfirst", config=config).parser is not first

    def test_a_model_is_loaded_once(self, nlp: Any) -> None:
        other = spacy.blank("en").add_pipe("easyfirst", config={"threads": 2})
        assert other.parser is nlp.get_pipe("easyfirst").parser

    @pytest.mark.parametrize(
        ("config", "message"),
        [
            ({"overwrite": ["dep", "head"]}, "overwrite has 'head'; give a list of some of dep, tag"),
            ({"annotate": ["ent", "ner"]}, "annotate has 'ent', 'ner'"),
        ],
    )
    def test_unknown_annotations(self, config: dict[str, Any], message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            spacy.blank("en").add_pipe("easyfirst", config=config)

    def test_a_text_for_a_list(self, nlp: Any) -> None:
        with pytest.raises(ConfigError, match="annotate has 'dep'; give a list"):
            module.EasyFirst(nlp, annotate="dep")

    @pytest.mark.parametrize("config", [{"threads": 0}, {"batch_size": 0}])
    def test_numbers(self, config: dict[str, int]) -> None:
        with pytest.raises(InputError, match="at least 1"):
            spacy.blank("en").add_pipe("easyfirst", config=config)


class TestPipe:
    @pytest.mark.parametrize("batch_size", [1, 2, 1000])
    def test_batches(self, nlp: Any, batch_size: int) -> None:
        docs = list(nlp.pipe(TEXTS * 2, batch_size=batch_size))
        assert [doc.text for doc in docs] == TEXTS * 2
        assert list(map(rows, docs)) == [rows(nlp(text)) for text in TEXTS * 2]
        assert [doc._.easyfirst for doc in docs] == [nlp(text)._.easyfirst for text in TEXTS * 2]

    def test_threads(self, nlp: Any) -> None:
        other = spacy.blank("en")
        other.add_pipe("easyfirst", config={"threads": 2, "batch_size": 2})
        texts = TEXTS * 4
        assert list(map(rows, other.pipe(texts))) == list(map(rows, nlp.pipe(texts)))

    def test_long_docs_are_parsed_alone(self, nlp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        read: list[str] = []

        def texts() -> Any:
            for text in TEXTS:
                read.append(text)
                yield text

        monkeypatch.setattr(module, "MAX_TOKENS", 3)
        stream = nlp.pipe(texts())
        assert next(stream).text == TEXTS[0]
        assert len(read) == 1

    def test_a_doc_that_fails(self, small: Any) -> None:
        """Without a tokenizer, a Doc needs sentence starts."""
        nlp = spacy.blank("en")
        nlp.add_pipe("easyfirst", config={"model": str(small)})
        docs = [Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, value]) for value in (False, None, True)]
        with pytest.raises(InputError, match="no sentence starts"):
            list(nlp.pipe(docs))
        failed: list[Any] = []
        nlp.set_error_handler(lambda name, proc, docs, error: failed.append((name, docs, error)))
        assert [len(list(doc.sents)) for doc in nlp.pipe(docs)] == [1, 2]
        [(name, [doc], error)] = failed
        assert (name, doc) == ("easyfirst", docs[1])
        assert isinstance(error, InputError)

    def test_as_tuples(self, nlp: Any) -> None:
        pairs = list(nlp.pipe([(text, number) for number, text in enumerate(TEXTS)], as_tuples=True))
        assert [number for _, number in pairs] == list(range(len(TEXTS)))


@given(st.text(st.sampled_from("ab. \n\t'!\u00a0é"), max_size=30))
def test_any_text(text: str) -> None:
    """Every sentence is a tree, and the sentences cover the text."""
    doc = _english()(text)
    assert doc.text == text
    assert "".join(sent.text_with_ws for sent in doc.sents) == text
    for sent in doc.sents:
        heads = [0 if token.head.i == token.i else token.head.i - sent.start + 1 for token in sent]
        assert heads.count(0) == 1
        tree = Tree(tuple(heads), ("",) * len(heads))
        assert all(tree.depth(m) >= 0 for m in range(1, len(heads) + 1))


def _english(made: list[Any] = []) -> Any:  # noqa: B006 (one pipeline for all examples)
    if not made:
        made.append(spacy.blank("en"))
        made[0].add_pipe("easyfirst")
    return made[0]
