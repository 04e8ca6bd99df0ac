"""The tagger's vocabulary: the lemmas it learns from a treebank, and files that are damaged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from easyfirst.errors import ModelError
from easyfirst.model.lemma_scripts import script_of
from easyfirst.model.tagger_vocabulary import TaggerVocabulary, lemma_scripts
from easyfirst.nn.tagger_network import OUTPUTS
from easyfirst.treebank.sentence import Sentence
from tests.morphology import emptied, random_tagger, sentences_with_features, words

SENTENCES = sentences_with_features()


def test_a_few_lemmas_are_enough() -> None:
    sparse = [emptied(sentence, "lemmas") for sentence in SENTENCES[:-1]]
    some = words("dogs", ("NOUN", "dog"), ("NOUN", "dog"), ("NOUN", "_"))
    vocabulary = TaggerVocabulary.of([*sparse, some], min_count=1)
    assert vocabulary.outputs["lemmas"] == ("lower||-",)
    assert vocabulary.known_lemmas == {"NOUN": {"dogs": "dog"}}
    assert vocabulary.lemmas == {"dog"}


def test_misspelt_and_split_words_teach_no_lemmas() -> None:
    sentence = Sentence.from_words(
        ["teh", "with", "out", "end"], heads=[4, 4, 2, 0], relations=["det", "case", "goeswith", "root"]
    ).with_tags(feats=["Abbr=No|Typo=Yes", "_", "_", "_"], lemmas=["the", "without", "_", "end"])
    assert list(lemma_scripts(sentence)) == [None, None, None, script_of("end", "end")]


def test_a_lemma_is_known_if_nearly_all_words_with_this_form_and_tag_have_it() -> None:
    rows = [("VERB", "see")] * 9 + [("VERB", "saw")] + [("NOUN", "saw")] * 3 + [("ADJ", "see"), ("ADJ", "saw")]
    vocabulary = TaggerVocabulary.of([words("saw", *rows), words("Saw", ("NOUN", "saw"))], min_count=1)
    assert vocabulary.known_lemmas == {"NOUN": {"Saw": "saw", "saw": "saw"}, "VERB": {"saw": "see"}}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda values: values["tags"].pop("features"), "both feats and features"),
        (lambda values: values["tags"].pop("feats"), "both feats and features"),
        (lambda values: values["tags"]["feats"].pop(0), "start with <other>"),
        (lambda values: values["tags"]["features"].pop(0), "must be Name=value"),
        (lambda values: values["tags"]["features"].append("Degree"), "'Degree' must be Name=value"),
        (lambda values: values["tags"]["features"].append("Degree=Sup"), "side by side"),
        (lambda values: values["tags"]["lemmas"].append("lower|x|"), "is not a lemma script"),
        (lambda values: values["tags"]["lemmas"].append("="), "the lemma after = is missing"),
        (lambda values: values["tags"]["lemmas"].append("=a\tb"), "lemmas must be names that fit into a cell"),
        (lambda values: values["tags"]["upos"].append("X\n"), "upos must be names that fit into a cell"),
        (lambda values: values["tags"].update(lemmas=[]), "lemmas must be names .*, one or more"),
        (lambda values: values["tags"].update(lemmas=[1]), "lemmas must be a list of strings"),
        (lambda values: values["tags"].update(lemmas=["lower||"] * 2), "lemmas must be different"),
        (lambda values: values["tags"].update(upos=values["tags"].pop("upos")), "in this order"),
        (lambda values: values["tags"].update(morph=["a"]), "in this order"),
        (lambda values: [values["tags"].pop(kind) for kind in ("upos", "xpos")], "upos or xpos"),
        (lambda values: values.update(known_lemmas=[]), "known_lemmas must be an object"),
        (lambda values: values.update(known_lemmas={"NOUN": ["a"]}), r"known_lemmas\.NOUN must be an object"),
        (lambda values: values.update(known_lemmas={"NOUN": {"a": 0}}), "known_lemmas.NOUN must be a list of strings"),
        (lambda values: values.update(known_lemmas={"NOUN": {"a": ""}}), "known_lemmas must fit into a cell"),
        (lambda values: values.update(known_lemmas={"NOUN": {"a": "b\nc"}}), "known_lemmas must fit into a cell"),
        (lambda values: values.update(known_lemmas={"NOUN": {"a": "\ud800"}}), "known_lemmas must fit into a cell"),
    ],
)
def test_a_damaged_vocabulary_is_refused(damage: Any, message: str) -> None:
    vocabulary = random_tagger().vocabulary
    values = json.loads(json.dumps(vocabulary.to_dict()))
    assert list(values["tags"]) == list(OUTPUTS)
    assert TaggerVocabulary.from_dict(values) == vocabulary
    damage(values)
    with pytest.raises(ModelError, match=f"the vocabulary is damaged .*{message}"):
        TaggerVocabulary.from_dict(values)
