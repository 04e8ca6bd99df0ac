"""A parser that reads features, with and without a tagger that predicts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from easyfirst.errors import InputError
from easyfirst.native.backend import Backend
from easyfirst.nn.tagger_network import OUTPUTS
from easyfirst.parser import Parser, load
from easyfirst.parsing.engine_choice import make_engine
from easyfirst.treebank.sentence import Sentence
from tests.morphology import sentences_with_features
from tests.native.cores import the_core
from tests.small_models import small_model, small_tagger

SENTENCES = sentences_with_features()
FORMS = [list(sentence.forms) for sentence in SENTENCES]


@pytest.mark.parametrize("tags", ["feats", "upos+feats", "xpos+feats", "all"])
def test_core_and_numpy_read_features_alike(tags: str) -> None:
    model = small_model(tags)
    backends = (Backend(None), Backend(the_core(), "float32"))
    parsers = [
        Parser(model, engine=make_engine(model.arrays, model.config, model.vocabulary, backend)) for backend in backends
    ]
    by_numpy, native = (parser.parse(SENTENCES) for parser in parsers)
    assert [(parse.heads, parse.relations) for parse in by_numpy] == [(p.heads, p.relations) for p in native]
    bare = [sentence.with_tags(feats=["_"] * len(sentence)) for sentence in SENTENCES]
    changed = parsers[0].parse(bare)
    assert [parse.heads for parse in changed] != [parse.heads for parse in by_numpy]


def test_predicted_columns_are_read_and_returned(tmp_path: Path) -> None:
    Parser(small_model("all"), tagger=small_tagger(kinds=OUTPUTS)).save(tmp_path / "model")
    parser = load(tmp_path / "model", valid=False)
    assert (parser.reads_tags, parser.needs_tags) == (("upos", "xpos", "feats"), ())
    tagged = parser.tagger.tag([Sentence.from_words(forms) for forms in FORMS]) if parser.tagger else []
    for parse, sentence, same in zip(parser.parse(FORMS), tagged, parser.parse(tagged), strict=True):
        assert parse.tagged == sentence
        assert (parse.heads, parse.relations) == (same.heads, same.relations)
        assert [word.lemma for word in parse.words] == list(sentence.lemmas)
        assert [word.feats for word in parse.words] == list(sentence.feats)
        assert parse.to_conllu().count("\t_\t_\t_\t_\t") == 0


def test_rules_may_change_predicted_tags_but_not_lemmas_and_features() -> None:
    parsers = [Parser(small_model("all"), tagger=small_tagger(kinds=OUTPUTS), valid=valid) for valid in (False, True)]
    n_changed = 0
    for decided, parse in zip(*(parser.parse(FORMS) for parser in parsers), strict=True):
        pairs = zip(decided.words, parse.words, strict=True)
        assert all((old.lemma, old.xpos, old.feats) == (new.lemma, new.xpos, new.feats) for old, new in pairs)
        n_changed += decided.tagged.upos != parse.tagged.upos
    assert n_changed


def test_a_sentence_from_a_file_keeps_its_own_columns() -> None:
    parser = Parser(small_model("all"), tagger=small_tagger(kinds=OUTPUTS))
    given = SENTENCES[1].with_tags(lemmas=["_"] * len(SENTENCES[1]), feats=["_"] * len(SENTENCES[1]))
    [parse] = parser.parse([given])
    assert set(parse.sentence.lemmas + parse.sentence.feats) == {"_"}
    assert "_" not in parse.tagged.lemmas
    cells = [line.split("\t") for line in parse.to_conllu().splitlines() if line and line[0] != "#"]
    assert {(cell[2], cell[5]) for cell in cells} == {("_", "_")}
    cells = [line.split("\t") for line in parse.to_conllu(tags=True).splitlines() if line and line[0] != "#"]
    assert tuple(cell[2] for cell in cells) == parse.tagged.lemmas
    assert tuple(cell[5] for cell in cells) == parse.tagged.feats
    assert tuple(cell[3] for cell in cells) == given.upos


def test_words_alone_are_not_enough_for_a_parser_that_needs_features() -> None:
    parser = Parser(small_model("upos+feats"))
    assert parser.needs_tags == ("upos", "feats")
    for words in (["The", "fox"], [("The", "DET"), ("fox", "NOUN")], [("The", "DET", "DT"), ("fox", "NOUN", "NN")]):
        with pytest.raises(InputError, match=r"sentence 1 has no FEATS.*; give a Sentence with FEATS"):
            parser.parse([words])
    without = Sentence.from_words(["The", "fox"], [None, None])
    with pytest.raises(InputError, match=r"needs UPOS tags.*; give a Sentence with FEATS"):
        parser.parse([without])
    no_features = Sentence.from_words(["Yes", "!"], ["INTJ", "PUNCT"])  # as many sentences
    assert len(parser.parse([no_features])[0]) == 2


def test_one_tag_is_xpos_for_a_parser_that_reads_no_upos() -> None:
    parser = Parser(small_model("xpos+feats"), tagger=small_tagger(kinds=OUTPUTS))
    [parse] = parser.parse([[("The", "DT"), ("fox", "NN")]])
    assert parse.tagged.xpos == ("DT", "NN")
