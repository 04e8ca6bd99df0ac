"""Sentences with tags out of sentences without, and the tagger's directory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.lexicon import MAX_FORM_LENGTH, spelling_of
from easyfirst.model.settings import build_settings
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_store import (
    TaggerModel,
    initial_tagger,
    join_taggers,
    load_tagger,
    look_up,
    save_tagger,
    tagger_shapes,
)
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.sequences import Packing
from easyfirst.nn.tagger_network import TaggerIds, encode_tagged, members_of, score_outputs
from easyfirst.text.tagging import Tagger
from easyfirst.treebank.sentence import Sentence

CONFIG = TaggerConfig(word_dim=4, character_dim=3, spelling_dim=3, bilstm_dim=5, bilstm_layers=2, min_count=1)
SENTENCES = [
    Sentence.from_words(["The", "dog", "barks"], ["DET", "NOUN", "VERB"], ["DT", "NN", "VBZ"]),
    Sentence.from_words(["Dogs", "bark", "12", "times", "!"], ["NOUN", "VERB", "NUM", "NOUN", "PUNCT"]),
    Sentence.from_words(["the", "end"], ["DET", "NOUN"], [None, "NN"]),
]
words = st.text("abcdeXY1., ëあ", min_size=1, max_size=8)


def vectors_of(seed: int = 0) -> SharedVectors:
    names = ("the", "dog", "Dogs", "unseen")
    return SharedVectors.of(Embeddings(names, np.random.default_rng(seed).normal(size=(4, 6)).astype(np.float32)))


def model_of(vectors: SharedVectors | None = None, config: TaggerConfig = CONFIG, seed: int = 1) -> TaggerModel:
    """Random weights, far enough from zero that no two tags tie."""
    config = replace(config, external_dim=vectors.dim if vectors else 0)
    vocabulary = TaggerVocabulary.of(SENTENCES, min_count=config.min_count)
    return TaggerModel(config, vocabulary, initial_tagger(config, vocabulary, np.random.default_rng(seed)), vectors)


@pytest.fixture(scope="module", params=["plain", "vectors", "no characters", "three members"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    if request.param == "three members":
        return Tagger(join_taggers([model_of(seed=seed) for seed in range(3)]))
    if request.param == "no characters":
        return Tagger(model_of(config=replace(CONFIG, spelling_dim=0)))
    return Tagger(model_of(vectors_of() if request.param == "vectors" else None))


# Tagging


def test_tags_are_filled_in_where_there_are_none(tagger: Tagger) -> None:
    bare = Sentence.from_words(["The", "dog", "barks"])
    (tagged,) = tagger.tag([bare])
    (tags,) = tagger.predict([bare.forms])
    assert tagger.kinds == ("upos", "xpos")
    assert (tagged.upos, tagged.xpos) == (tags["upos"], tags["xpos"])
    assert set(tagged.upos) <= {"DET", "NOUN", "VERB", "NUM", "PUNCT"}
    assert set(tagged.xpos) <= {"DT", "NN", "VBZ"}
    assert tagged.to_bytes() == bare.with_tags(upos=tags["upos"], xpos=tags["xpos"]).to_bytes()


def test_tags_that_are_given_stay(tagger: Tagger) -> None:
    given = Sentence.from_words(["The", "dog", "barks"], ["X", None, "Y"], [None, "Z", None])
    (tagged,) = tagger.tag([given])
    (tags,) = tagger.predict([given.forms])
    assert tagged.upos == ("X", tags["upos"][1], "Y")
    assert tagged.xpos == (tags["xpos"][0], "Z", tags["xpos"][2])


def test_a_sentence_that_lacks_nothing_is_itself(tagger: Tagger) -> None:
    bare = Sentence.from_words(["dog"])
    tagged = tagger.tag([SENTENCES[0], bare, SENTENCES[0]])
    assert tagged[0] is SENTENCES[0]
    assert tagged[2] is SENTENCES[0]
    assert tagged[1] is not bare


def test_a_kind_the_tagger_does_not_know_is_left_alone() -> None:
    sentences = [sentence.with_tags(xpos=["_"] * len(sentence)) for sentence in SENTENCES]
    vocabulary = TaggerVocabulary.of(sentences, min_count=1)
    arrays = initial_tagger(CONFIG, vocabulary, np.random.default_rng(1))
    tagger = Tagger(TaggerModel(CONFIG, vocabulary, arrays))
    assert tagger.kinds == ("upos",)
    (tagged,) = tagger.tag([Sentence.from_words(["the", "dog"])])
    assert "_" not in tagged.upos
    assert tagged.xpos == ("_", "_")
    complete = Sentence.from_words(["the", "dog"], ["DET", "NOUN"])
    assert tagger.tag([complete])[0] is complete


def test_nothing_gives_nothing(tagger: Tagger) -> None:
    assert tagger.tag([]) == []
    assert tagger.predict([]) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=8), st.sampled_from([1, 7, 1000]))
def test_a_sentence_gets_the_same_tags_in_any_company(sentences: list[list[str]], max_words: int) -> None:
    tagger = Tagger(model_of(vectors_of()))
    alone = [tagger.predict([sentence])[0] for sentence in sentences]
    assert tagger.predict(sentences, max_words=max_words) == alone


def test_predicted_tags_come_with_the_scores_of_all(tagger: Tagger) -> None:
    bare = [Sentence.from_words(sentence.forms) for sentence in [*SENTENCES, *SENTENCES[::-1]]]
    together = tagger.tag_with_scores(bare)
    for sentence, tagged in zip(bare, together, strict=True):
        [alone] = tagger.tag_with_scores([sentence])
        assert tagged.tag_scores is not None
        assert alone.tag_scores is not None
        tags, scores = tagged.tag_scores
        np.testing.assert_allclose(scores, alone.tag_scores.scores, rtol=1e-5, atol=1e-5)
        assert tagged.sentence.upos == tuple(tags[number] for number in scores.argmax(axis=1))
    complete = tagger.tag_with_scores([tagged.sentence for tagged in together])
    assert complete == [(tagged.sentence, None) for tagged in together]


def test_an_unknown_emoji_is_read_like_an_emoticon() -> None:
    sentences = [*SENTENCES, Sentence.from_words(["the", ":)", "♥"], ["DET", "SYM", "NOUN"])]
    vocabulary = TaggerVocabulary.of(sentences, min_count=1)
    read = Tagger(TaggerModel(CONFIG, vocabulary, initial_tagger(CONFIG, vocabulary, np.random.default_rng(1))))

    def scores_of(form: str) -> Floats:
        [tagged] = read.tag_with_scores([Sentence.from_words(["the", form])])
        assert tagged.tag_scores is not None
        return tagged.tag_scores.scores[1]

    emoticon, *emoji = map(scores_of, (":)", "🎉", "👍🏽", "❤️"))
    assert all(np.array_equal(scores, emoticon) for scores in emoji)
    for form in ("♥", "😀a", "≠", "!", "ë"):  # known, with a letter, mathematics, punctuation, a word
        assert not np.array_equal(scores_of(form), emoticon)


def test_forms_of_any_length_and_script_are_tagged(tagger: Tagger) -> None:
    strange = ["a" * 100_000, "😀", "\u202eabc", "\x00", "שלום", "123", " "]
    (tags,) = tagger.predict([strange])
    assert len(tags["upos"]) == len(strange)


def test_of_a_long_form_both_ends_are_read() -> None:
    vocabulary = model_of().vocabulary
    half = MAX_FORM_LENGTH // 2
    middle = "d" * 50
    assert len(spelling_of(["e" * half + middle + "s" * half], vocabulary.characters).characters) == MAX_FORM_LENGTH
    one, other = (spelling_of(["e" * half + filler + "s" * half], vocabulary.characters) for filler in ("", middle))
    assert one.characters.tolist() == other.characters.tolist()


def test_weights_decide_and_the_table_of_words_is_looked_up_normalised() -> None:
    model = model_of(config=replace(CONFIG, spelling_dim=0))
    tagger = Tagger(model)
    assert tagger.predict([["DOG", "3.14"]]) == tagger.predict([["dog", "12"]])
    assert model.vocabulary.word_ids(["DOG", "3.14", "zebra"]).tolist() == [
        model.vocabulary.words["dog"],
        model.vocabulary.words["<number>"],
        0,
    ]


def test_external_vectors_are_looked_up_as_written_then_normalised() -> None:
    vectors = vectors_of()
    found = look_up(vectors, ["Dogs", "dogs", "THE", "unseen", "never"])
    table = vectors.table
    assert np.array_equal(found, table[[3, 0, 1, 4, 0]])
    assert found.dtype == np.float32


# Members


def probabilities(model: TaggerModel, forms: list[str]) -> dict[str, np.ndarray]:
    """By kind, of each tag of each word, by a tagger with one member."""
    ids = TaggerIds(model.vocabulary.word_ids(forms), np.arange(len(forms)))
    (member,) = members_of(model.arrays, 1)
    encoded = encode_tagged(NUMPY, member, ids, Packing.of([len(forms)]), external=None, spelt=None)
    scores = score_outputs(NUMPY, member, encoded, member.outputs)
    return {kind: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) for kind, x in scores.items()}


def test_members_decide_by_the_product_of_their_probabilities() -> None:
    sentences = [["The", "dog", "barks"], ["Dogs", "bark", "12", "times", "!"], ["end", "the", "unseen"]]
    outvoted = 0
    model = model_of(config=replace(CONFIG, spelling_dim=0))
    rng = np.random.default_rng(0)
    for _ in range(20):
        members = [
            replace(model, arrays={name: rng.normal(size=x.shape).astype("f") for name, x in model.arrays.items()})
            for _ in range(2)
        ]
        for forms in sentences:
            (found,) = Tagger(join_taggers(members)).predict([forms])
            for kind, tags in model.vocabulary.outputs.items():
                one, other = (probabilities(member, forms)[kind] for member in members)
                assert found[kind] == tuple(tags[number] for number in (one * other).argmax(axis=1))
                outvoted += int((one.argmax(axis=1) != other.argmax(axis=1)).sum())
    assert outvoted


def test_members_are_kept_and_the_first_is_named_as_the_only_one_is(tmp_path: Path) -> None:
    members = [model_of(seed=seed) for seed in range(3)]
    save_tagger(tmp_path / "tagger", join_taggers(members))
    loaded = load_tagger(tmp_path / "tagger", None)
    assert loaded.config == replace(CONFIG, members=3)
    assert len(loaded.arrays) == 3 * len(members[0].arrays)
    for prefix, member in zip(("", "member1.", "member2."), members, strict=True):
        for name, array in member.arrays.items():
            assert np.array_equal(loaded.arrays[prefix + name], array)


def test_a_config_that_does_not_say_how_many_has_one_member() -> None:
    assert build_settings(TaggerConfig(), {"word_dim": 4}).members == 1
    with pytest.raises(ConfigError, match="members must be from 1 to"):
        TaggerConfig(members=0)


# Vocabulary


def test_rare_words_and_characters_have_no_row_of_their_own() -> None:
    vocabulary = TaggerVocabulary.of(SENTENCES, min_count=2)
    assert list(vocabulary.words) == ["the"]
    assert "!" not in vocabulary.characters
    assert vocabulary.characters["e"] > 0
    assert vocabulary.outputs == {"upos": ("NOUN", "DET", "VERB", "NUM", "PUNCT"), "xpos": ("NN", "DT", "VBZ")}


def test_a_treebank_without_tags_is_refused() -> None:
    with pytest.raises(DataError, match="neither UPOS nor XPOS"):
        TaggerVocabulary.of([Sentence.from_words(["dog"])], min_count=1)


# Settings


@pytest.mark.parametrize(
    "changes",
    [{"word_dim": 0}, {"bilstm_layers": 0}, {"min_count": 0}, {"spelling_dim": -1}, {"bilstm_dim": 1 << 30}],
)
def test_settings_are_checked(changes: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        TaggerConfig(**changes)


@pytest.mark.parametrize("values", [{"word_size": 3}, {"word_dim": "3"}, {"word_dim": True}, [], None])
def test_settings_of_another_kind_are_refused(values: Any) -> None:
    with pytest.raises(ConfigError):
        build_settings(TaggerConfig(), values)


# Files


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("vectors", [None, vectors_of()])
def test_a_tagger_is_written_and_read(tmp_path: Path, vectors: SharedVectors | None, dtype: Any) -> None:
    model = model_of(vectors)
    stored = replace(model, arrays={name: array.astype(dtype) for name, array in model.arrays.items()})
    save_tagger(tmp_path / "tagger", stored)
    loaded = load_tagger(tmp_path / "tagger", vectors)
    assert (loaded.config, loaded.vocabulary) == (model.config, model.vocabulary)
    for name, array in loaded.arrays.items():
        assert array.dtype == np.float32
        assert np.array_equal(array, stored.arrays[name])
    config = json.loads((tmp_path / "tagger" / "config.json").read_text())
    assert config["vectors"] == (vectors.sha256 if vectors else None)
    assert not any("external" in name for name in loaded.arrays)


def test_vectors_it_was_not_trained_with_are_refused(tmp_path: Path) -> None:
    save_tagger(tmp_path / "with", model_of(vectors_of()))
    with pytest.raises(ModelError, match="needs the word vectors"):
        load_tagger(tmp_path / "with", None)
    with pytest.raises(ModelError, match="other word vectors"):
        load_tagger(tmp_path / "with", vectors_of(seed=1))
    save_tagger(tmp_path / "without", model_of())
    assert load_tagger(tmp_path / "without", vectors_of()).vectors is None


def test_weights_of_other_shapes_are_neither_written_nor_read(tmp_path: Path) -> None:
    model = model_of()
    broken = {**model.arrays, "tagger.upos": model.arrays["tagger.upos"][:, 1:]}
    with pytest.raises(ModelError, match=r"tagger\.upos"):
        save_tagger(tmp_path, replace(model, arrays=broken))


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: values.pop("words"),
        lambda values: values.update(characters="abc"),
        lambda values: values.update(tags={}),
        lambda values: values.update(tags={"feats": ["a"]}),
        lambda values: values.update(tags={"upos": []}),
        lambda values: values.update(tags=["upos"]),
        lambda values: values["words"].append(values["words"][0]),
    ],
)
def test_a_damaged_vocabulary_is_refused(damage: Any) -> None:
    values = model_of().vocabulary.to_dict()
    assert TaggerVocabulary.from_dict(json.loads(json.dumps(values))) == model_of().vocabulary
    damage(values)
    with pytest.raises(ModelError, match="the vocabulary is damaged"):
        TaggerVocabulary.from_dict(values)


def test_vectors_and_their_width_come_together(tmp_path: Path) -> None:
    save_tagger(tmp_path, model_of(vectors_of()))
    path = tmp_path / "config.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {"vectors": None}))
    with pytest.raises(ModelError, match="given together"):
        load_tagger(tmp_path, None)


def test_every_array_has_its_shape() -> None:
    model = model_of(vectors_of())
    assert {name: array.shape for name, array in model.arrays.items()} == tagger_shapes(model.config, model.vocabulary)
    assert all(array.dtype == np.float32 for array in model.arrays.values())
    assert np.array_equal(model.arrays["tagger.rnn0.0.bias"][:, :5], np.ones((2, 5)))
