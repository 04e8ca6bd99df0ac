"""Lemmas and features: what a tagger learns of them from a treebank, and what it predicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ModelError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.features import OTHER, attributes_of, bundle_of
from easyfirst.model.lemma_scripts import apply_script
from easyfirst.model.lexicon import distinct_forms, spelling_of
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_store import (
    TaggerModel,
    join_taggers,
    load_tagger,
    make_tagger_ensemble,
    save_tagger,
)
from easyfirst.native.backend import Backend
from easyfirst.nn.tagger_network import TaggerIds, members_of
from easyfirst.text.part_networks import tagger_network
from easyfirst.text.tagging import KNOWN_LEMMA, MAX_SCRIPTS, Tagger
from easyfirst.treebank.sentence import Sentence
from tests.morphology import emptied, random_tagger, sentences_with_features, words
from tests.native.cores import the_core

SENTENCES = sentences_with_features()
FORMS = [sentence.forms for sentence in SENTENCES]
OLD = Path(__file__).parent.parent / "data" / "old-tagger"


# Treebanks


@pytest.mark.parametrize(
    ("missing", "kinds"),
    [
        ((), ("upos", "xpos", "feats", "lemmas")),
        (("lemmas",), ("upos", "xpos", "feats")),
        (("feats",), ("upos", "xpos", "lemmas")),
        (("xpos",), ("upos", "feats", "lemmas")),
        (("upos",), ("xpos", "feats", "lemmas")),
        (("upos", "feats", "lemmas"), ("xpos",)),
    ],
)
def test_columns_that_a_treebank_lacks_are_not_predicted(
    tmp_path: Path, missing: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    model = random_tagger([emptied(sentence, *missing) for sentence in SENTENCES])
    save_tagger(tmp_path / "tagger", model)
    tagger = Tagger(load_tagger(tmp_path / "tagger", None))
    assert tagger.model.vocabulary == model.vocabulary
    assert tagger.kinds == kinds
    [tagged] = tagger.tag([Sentence.from_words(["The", "dogs", "barked", "."])])
    predicted = {"upos": tagged.upos, "xpos": tagged.xpos, "lemmas": tagged.lemmas}
    assert {kind: "_" in column for kind, column in predicted.items()} == {kind: kind in missing for kind in predicted}
    assert ("feats" in kinds) or set(tagged.feats) == {"_"}
    assert model.vocabulary.known_lemmas.keys() <= set(model.vocabulary.outputs[kinds[0]])
    assert bool(model.vocabulary.known_lemmas) == ("lemmas" in kinds)


# Predictions


def test_known_words_have_the_lemmas_of_the_treebank_whatever_the_weights() -> None:
    """Given the right tags, these are looked up."""
    n_known = 0
    for seed in range(3):
        tagger = Tagger(random_tagger(seed=seed))
        known = tagger.model.vocabulary.known_lemmas
        for sentence, tagged in zip(SENTENCES, tagger.tag([emptied(s, "lemmas") for s in SENTENCES]), strict=True):
            assert (tagged.upos, tagged.xpos) == (sentence.upos, sentence.xpos)
            for form, tag, found, lemma in zip(
                sentence.forms, sentence.upos, tagged.lemmas, sentence.lemmas, strict=True
            ):
                if form in known.get(tag, {}):
                    n_known += 1
                    assert found == lemma
    assert n_known > 100


def test_lemmas_are_looked_up_by_given_tags_before_predicted_ones() -> None:
    train = [words("saw", ("VERB", "see"), ("VERB", "see"), ("NOUN", "saw"), ("NOUN", "saw"))]
    tagger = Tagger(random_tagger(train))
    given = Sentence.from_words(["saw", "saw", "saw"], ["VERB", "NOUN", None])
    [tagged] = tagger.tag([given])
    assert tagged.upos[:2] == ("VERB", "NOUN")
    assert tagged.lemmas[:2] == ("see", "saw")
    assert tagged.lemmas[2] == {"VERB": "see", "NOUN": "saw"}[tagged.upos[2]]


def test_without_upos_lemmas_are_looked_up_by_xpos() -> None:
    sentence = Sentence.from_words(["saw", "saw"], xpos=["VBD", "NN"]).with_tags(lemmas=["see", "saw"])
    tagger = Tagger(random_tagger([sentence, sentence]))
    [tagged] = tagger.tag([emptied(sentence, "lemmas")])
    assert tagged.lemmas == ("see", "saw")


def test_a_form_that_is_too_short_for_a_script_gets_another() -> None:
    """The only scripts delete four characters or three."""
    rows = [("X", "a")] * 2
    tagger = Tagger(random_tagger([words("aaaaa", *rows), words("baaa", ("X", "b"), ("X", "b"))]))
    assert set(tagger.model.vocabulary.outputs["lemmas"]) == {"lower||----", "lower||---"}
    [tagged] = tagger.tag([Sentence.from_words(["x", "xy", "xyz", "wxyz", "vwxyz"])])
    assert tagged.lemmas[:4] == ("x", "xy", "xyz", "w")
    assert tagged.lemmas[4] in ("v", "vw")


@pytest.mark.parametrize("casing", ["lower", "title"])
def test_names_and_addresses_keep_their_case(casing: str) -> None:
    lemma = {"lower": "anna", "title": "Anna"}[casing]
    tagger = Tagger(random_tagger([words("Anna", ("X", lemma), ("X", lemma))]))
    assert tagger.model.vocabulary.outputs["lemmas"] == (f"{casing}||",)
    mixed = ["McConnell", "O'Neill", "iPhone", "SpaceX", "a@ISO-NE.com", "New York City"]
    [tagged] = tagger.tag([Sentence.from_words([*mixed, "Fox", "FOX", "X", "fox"])])
    assert tagged.lemmas[:6] == tuple(mixed)
    first = {"lower": "f", "title": "F"}[casing]
    assert tagged.lemmas[6:] == (f"{first}ox", f"{first}ox", {"lower": "x", "title": "X"}[casing], f"{first}ox")


@pytest.mark.parametrize(("has_vectors", "n_members"), [(False, 1), (True, 1), (True, 2)])
def test_a_new_word_gets_the_best_lemma_or_a_known_word_that_is_nearly_as_good(
    has_vectors: bool, n_members: int
) -> None:
    """The twin adds the bonus to every lemma that is a word of the treebank or has a vector."""
    new = [*FORMS[1], *(form + "s" for forms in FORMS for form in forms if form.isalpha()), "x", "xy", "İz", "1990s"]
    names = tuple(sorted({form.lower() for form in new})[::2])
    vectors = SharedVectors.of(Embeddings(names, np.ones((len(names), 2), dtype=np.float32)))
    n_preferred = 0
    for seed in range(5):
        used = vectors if has_vectors else None
        model = join_taggers([random_tagger(seed=10 * seed + n, vectors=used) for n in range(n_members)])
        scripts = model.vocabulary.outputs["lemmas"]
        known = {*model.vocabulary.lemmas, *model.vocabulary.words, *(names if has_vectors else ())}
        tagger = Tagger(model)
        [tags] = tagger.predict([new])
        external_dim, members = model.config.external_dim, members_of(model.arrays, n_members)
        networks = [tagger_network([weights], external_dim, Backend.choose()) for weights in members]
        pairs = zip(networks, tagger._encode([new]), strict=True)
        mean = np.mean([network.score_lemmas([encoded]) for network, encoded in pairs], axis=0)
        for form, found, scores in zip(new, tags["lemmas"], mean, strict=True):
            if any(form in rows for rows in model.vocabulary.known_lemmas.values()):
                continue
            best = sorted(range(len(scripts)), key=lambda number: -scores[number])[:MAX_SCRIPTS]
            made = [(number, lemma) for number in best if (lemma := apply_script(form, scripts[number]))]
            totals = [scores[number] + KNOWN_LEMMA * (lemma.lower() in known) for number, lemma in made]
            assert found == (made[int(np.argmax(totals))][1] if made else form)
            n_preferred += bool(made) and found != made[0][1]
    assert n_preferred > 10


def test_the_word_underscore_is_its_own_lemma() -> None:
    for seed in range(3):
        [tagged] = Tagger(random_tagger(seed=seed)).tag([Sentence.from_words(["_", "dog", "__", "_s"])])
        assert tagged.lemmas[0] == "_"
        assert "_" not in tagged.lemmas[1:]


def test_strange_words_have_lemmas() -> None:
    strange = ["a" * 10_000, "😀", "\u202eabc", "İ", "ß", "𐌰", "10 000", "a|b", "+", "=", "-", " x", "'s"]
    for seed in range(5):
        [tags] = Tagger(random_tagger(seed=seed)).predict([strange])
        assert all(tags["lemmas"])
        assert all(attributes_of(bundle) or bundle == "_" for bundle in tags["feats"])


def test_given_columns_are_kept_and_the_others_are_filled_in() -> None:
    tagger = Tagger(random_tagger())
    [predicted] = tagger.predict([["The", "dogs", "bark"]])
    plain = Sentence.from_words(["The", "dogs", "bark"])
    [tagged] = tagger.tag([plain.with_tags(lemmas=["x", "_", "_"], feats=["_", "Q=q", "_"])])
    assert tagged.lemmas == ("x", *predicted["lemmas"][1:])
    assert tagged.feats == ("_", "Q=q", "_")  # _ may be the annotation, if others have some
    assert (tagged.upos, tagged.xpos) == (predicted["upos"], predicted["xpos"])
    [tagged] = tagger.tag([plain.with_tags(upos=["X", "Y", "Z"], xpos=["x", "y", "z"], lemmas=["a", "b", "c"])])
    assert tagged == plain.with_tags(
        upos=["X", "Y", "Z"], xpos=["x", "y", "z"], lemmas=["a", "b", "c"], feats=predicted["feats"]
    )
    assert tagger.tag([SENTENCES[1]])[0] is SENTENCES[1]


def test_what_a_tagger_predicts_is_removed_before_it_is_tested() -> None:
    tagger = Tagger(random_tagger([emptied(sentence, "xpos", "lemmas") for sentence in SENTENCES]))
    assert tagger.untagged(SENTENCES[1]) == emptied(SENTENCES[1], "upos", "feats")


# Scores


def scores_of(model: TaggerModel, forms: Sequence[str], backend: Backend) -> dict[str, np.ndarray]:
    """Return the scores of one member as its weights give them, before values are added to bundles."""
    [weights] = members_of(model.arrays, 1)
    distinct, numbers = distinct_forms(list(forms))
    ids = TaggerIds(model.vocabulary.word_ids(distinct)[numbers], numbers)
    network = tagger_network([weights], 0, backend)
    encoded = network.encode(ids, [len(forms)], None, spelling_of(distinct, model.vocabulary.characters))
    return {**network.score(encoded), "lemmas": network.score_lemmas(encoded)}


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return scores - np.log(np.exp(scores).sum())


@pytest.mark.parametrize("n_members", [1, 2, 3])
def test_bundles_are_chosen_by_the_product_of_all_probabilities(n_members: int) -> None:
    """The twin goes through all combinations of values. It multiplies the probabilities that each member gives to the
    bundle and to each value; any bundle can also be one of the others."""
    members = [random_tagger(seed=seed) for seed in range(n_members)]
    features = members[0].vocabulary.features
    assert features is not None
    combinations = list(product(*features.values.values()))
    tagger, n_unseen = Tagger(join_taggers(members), Backend(None)), 0
    for forms in FORMS[:6]:
        scores = [scores_of(member, forms, Backend(None)) for member in members]
        [tags] = tagger.predict([forms])
        for word, found in enumerate(tags["feats"]):
            own = sum(log_softmax(of_member["feats"][word]) for of_member in scores)
            parts = [
                sum(log_softmax(of_member["features"][word, part]) for of_member in scores) for part in features.slices
            ]
            totals: dict[str, float] = {}
            for values in combinations:
                pairs = list(zip(features.values.items(), values, strict=True))
                bundle = bundle_of({name: value for (name, _), value in pairs if value})
                known = own[features.bundles.index(bundle)] if bundle in features.bundles else own[0]
                of_values = [part[names.index(value)] for part, ((_, names), value) in zip(parts, pairs, strict=True)]
                totals[bundle] = max(known, own[0]) + sum(of_values)
            assert totals[found] == pytest.approx(max(totals.values()), abs=1e-4)
            n_unseen += found not in features.bundles
    assert features.bundles[0] == OTHER
    assert n_unseen


@pytest.mark.parametrize("n_members", [1, 2])
def test_core_and_numpy_predict_the_same(n_members: int) -> None:
    model = join_taggers([random_tagger(seed=seed) for seed in range(n_members)])
    by_numpy, native = (
        Tagger(model, backend).predict(FORMS) for backend in (Backend(None), Backend(the_core(), "float32"))
    )
    assert by_numpy == native
    assert len({bundle for tags in native for bundle in tags["feats"]}) > 3
    assert len({lemma for tags in native for lemma in tags["lemmas"]}) > 20


# Files


@pytest.mark.parametrize(("bits", "n_members"), [(32, 1), (16, 1), (8, 1), (8, 2)])
def test_a_tagger_of_fewer_bits_predicts_nearly_the_same(tmp_path: Path, bits: int, n_members: int) -> None:
    model = join_taggers([random_tagger(seed=seed) for seed in range(n_members)])
    save_tagger(tmp_path, model, bits=bits)
    loaded = load_tagger(tmp_path, None)
    assert (loaded.config, loaded.vocabulary) == (model.config, model.vocabulary)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["format_version"] == 4
    pairs = zip(Tagger(loaded).predict(FORMS), Tagger(model).predict(FORMS), strict=True)
    same = [a == b for one, other in pairs for kind in one for a, b in zip(one[kind], other[kind], strict=True)]
    assert np.mean(same) > 0.95
    assert bits == 8 or np.mean(same) > 0.99


def test_a_tagger_of_tags_alone_can_be_read_by_older_versions(tmp_path: Path) -> None:
    model = random_tagger([emptied(sentence, "feats", "lemmas") for sentence in SENTENCES])
    save_tagger(tmp_path, model)
    assert json.loads((tmp_path / "config.json").read_text())["format_version"] == 1
    assert json.loads((tmp_path / "vocab.json").read_text()).keys() == {"words", "characters", "tags"}


def test_a_tagger_of_an_older_version_tags_as_it_did() -> None:
    """Version 0.3.0.dev0 wrote it and what it should say, with two members and weights of 8 bits."""
    tagger = Tagger(load_tagger(OLD / "tagger", None), Backend(None))
    assert tagger.kinds == ("upos", "xpos")
    assert tagger.model.vocabulary.features is None
    expected = json.loads((OLD / "expected.json").read_text())
    for sentence in expected:
        plain = Sentence.from_words(sentence["forms"])
        assert tagger.tag([plain]) == [plain.with_tags(upos=sentence["upos"], xpos=sentence["xpos"])]
    assert len({tag for sentence in expected for tag in sentence["upos"]}) > 5


def test_members_with_other_lemmas_are_refused() -> None:
    model = random_tagger()
    other = replace(model, vocabulary=replace(model.vocabulary, known_lemmas={}))
    with pytest.raises(ModelError, match="words or tags are different"):
        make_tagger_ensemble([model, other], ["a", "b"])
