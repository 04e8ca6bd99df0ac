"""The tagger learns: batches, loss, scores, and a run from beginning to end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.features import OTHER, attributes_of
from easyfirst.model.lexicon import external_ids
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import load_tagger
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.text.tagging import Tagger
from easyfirst.training.tagger_task import NOT_GIVEN, WEIGHTS, TaggerBatch, TaggerCorpus, TaggerTask, accuracies
from easyfirst.training.training_loop import Silent, TrainingLoop
from easyfirst.treebank.sentence import Sentence
from tests.morphology import FEATURES, sentences_with_features

SENTENCES = sentences_with_features()
CONFIG = TaggerConfig(word_dim=8, character_dim=6, spelling_dim=6, bilstm_dim=16, bilstm_layers=1)
TRAINING = TaggerTraining(epochs=3, learning_rate=0.02, batch_words=60, averaging=0.5, dropout=0.1)


def vectors_of(seed: int = 0) -> SharedVectors:
    names = sorted({form for sentence in SENTENCES[::2] for form in sentence.forms})
    values = np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32)
    return SharedVectors.of(Embeddings(tuple(names), values))


def corpus_of(training: TaggerTraining = TRAINING, vectors: SharedVectors | None = None) -> TaggerCorpus:
    return TaggerCorpus(SENTENCES, TaggerVocabulary.of(SENTENCES, min_count=1), vectors, training)


def batches_of(corpus: TaggerCorpus, seed: int = 0) -> list[TaggerBatch]:
    return list(corpus.batches(np.random.default_rng(seed)))


# Batches


def read_back(batch: TaggerBatch, vocabulary: TaggerVocabulary) -> list[tuple[tuple[str, ...], ...]]:
    """The sentences of a batch as forms (from their characters) and UPOS tags."""
    characters = ["?", *vocabulary.characters]
    ends = np.cumsum(batch.spelling.lengths)
    forms = [
        "".join(characters[i] for i in batch.spelling.characters[end - length : end])
        for end, length in zip(ends, batch.spelling.lengths, strict=True)
    ]
    words = [
        (forms[form], vocabulary.outputs["upos"][tag])
        for form, tag in zip(batch.ids.forms, batch.gold["upos"], strict=True)
    ]
    lengths = [sum(n > place for n in batch.packing.n_active) for place in range(batch.packing.n_active[0])]
    starts = np.cumsum([0, *lengths])
    return [tuple(words[start:end]) for start, end in pairwise(starts)]


def test_an_epoch_holds_every_sentence_once_with_its_tags() -> None:
    vocabulary = TaggerVocabulary.of(SENTENCES, min_count=1)
    found = [sentence for batch in batches_of(corpus_of()) for sentence in read_back(batch, vocabulary)]
    expected = [tuple(zip(sentence.forms, sentence.upos, strict=True)) for sentence in SENTENCES]
    assert sorted(found) == sorted(expected)


def test_batches_have_about_as_many_words_as_wanted_and_differ_from_epoch_to_epoch() -> None:
    corpus = corpus_of()
    longest = max(map(len, SENTENCES))
    sizes = [len(batch.ids.words) for batch in batches_of(corpus)]
    assert len(sizes) > 3
    assert max(sizes) <= 60 + longest
    rng = np.random.default_rng(0)
    first, second = ([batch.gold["upos"].tolist() for batch in corpus.batches(rng)] for _ in range(2))
    assert first != second
    assert first == [batch.gold["upos"].tolist() for batch in batches_of(corpus)]


def test_words_have_their_rows_unless_they_are_dropped() -> None:
    vocabulary = TaggerVocabulary.of(SENTENCES, min_count=1)
    vectors = vectors_of()
    kept = corpus_of(replace(TRAINING, word_dropout=0), vectors)
    for batch in batches_of(kept):
        forms = [form for sentence in read_back(batch, vocabulary) for form, _ in sentence]
        assert batch.ids.words.tolist() == vocabulary.word_ids(forms).tolist()
        assert np.array_equal(batch.external, vectors.table[external_ids(vectors.rows, forms)])
    dropped = corpus_of(replace(TRAINING, word_dropout=1e9), vectors)
    lost = []
    for batch in batches_of(dropped):
        forms = [form for sentence in read_back(batch, vocabulary) for form, _ in sentence]
        assert not batch.ids.words.any()
        table = vectors.table[external_ids(vectors.rows, forms)]
        assert batch.external is not None
        has_vector = table.any(axis=1)
        lost += (~batch.external.any(axis=1))[has_vector].tolist()
        still = batch.external.any(axis=1)
        assert np.array_equal(batch.external[still], table[still])
    assert 0.3 < np.mean(lost) < 0.7


# Loss and scores


def test_the_loss_is_the_weighted_cross_entropy_of_what_is_given() -> None:
    task = TaggerTask(SENTENCES, CONFIG, replace(TRAINING, word_dropout=0))
    batch = batches_of(task.corpus)[0]
    parameters = {name: torch.from_numpy(array) for name, array in task.arrays.items()}
    vocabulary = task.model.vocabulary
    for kind in vocabulary.outputs:
        parameters[f"tagger.{kind}"].zero_()  # every name is as likely as any other
    loss, n = task.loss(parameters, batch, lambda x: x)
    assert n == len(batch.ids.words)
    assert vocabulary.features is not None
    expected = {kind: n * np.log(len(names)) for kind, names in vocabulary.outputs.items() if kind != "features"}
    expected["lemmas"] *= (batch.gold["lemmas"] != NOT_GIVEN).mean()  # rare scripts are not learnt
    expected["features"] = n * sum(np.log(len(values)) for values in vocabulary.features.values.values())
    assert 0 < expected["lemmas"] < n * np.log(len(vocabulary.outputs["lemmas"]))
    assert loss.item() == pytest.approx(sum(WEIGHTS[kind] * value for kind, value in expected.items()), rel=1e-5)
    nothing = {kind: np.full_like(rows, NOT_GIVEN) for kind, rows in batch.gold.items()}
    loss, _ = task.loss(parameters, replace(batch, gold=nothing | {"upos": batch.gold["upos"]}), lambda x: x)
    assert loss.item() == pytest.approx(expected["upos"], rel=1e-5)


def test_the_loss_of_features_falls_with_the_scores_of_their_values() -> None:
    """Each attribute is a choice of its own: what is added to all values of one changes nothing."""
    task = TaggerTask(SENTENCES, CONFIG, replace(TRAINING, word_dropout=0))
    batch = batches_of(task.corpus)[0]
    features = task.model.vocabulary.features
    assert features is not None

    def loss_with(bias: np.ndarray) -> float:
        arrays = task.arrays | {"tagger.features_bias": bias.astype(np.float32)}
        loss, _ = task.loss({name: torch.from_numpy(array) for name, array in arrays.items()}, batch, lambda x: x)
        return loss.item()

    start = np.zeros(len(features.names))
    tense = features.names.index("Tense=Past")
    shifted, raised = start.copy(), start.copy()
    [part] = [part for part in features.slices if part.start <= tense < part.stop]
    shifted[part] += 3
    raised[tense] += 50
    assert loss_with(shifted) == pytest.approx(loss_with(start), rel=1e-5)
    past = batch.gold["features"][:, features.slices.index(part)] == tense - part.start
    assert 0 < past.sum() < len(past)
    rise = (loss_with(raised) - loss_with(start)) / WEIGHTS["features"]
    assert rise == pytest.approx(50 * (~past).sum(), abs=4 * len(past))  # of about 50 where it is wrong


def test_gold_rows_are_those_of_the_columns() -> None:
    vocabulary = TaggerVocabulary.of(SENTENCES, min_count=1)
    features = vocabulary.features
    assert features is not None
    counts = Counter(bundle for sentence in SENTENCES for bundle in sentence.feats)
    found: list[str] = []
    for batch in batches_of(corpus_of()):
        for feats, values, xpos in zip(*(batch.gold[kind] for kind in ("feats", "features", "xpos")), strict=True):
            bundle = FEATURES.get(vocabulary.outputs["xpos"][xpos], "_")
            given = attributes_of(bundle)
            assert vocabulary.outputs["feats"][feats] == (bundle if counts[bundle] > 1 else OTHER)
            rows = zip(features.values.items(), values.tolist(), strict=True)
            assert {name: of_name[row] for (name, of_name), row in rows if row} == given
            found.append(bundle)
    assert Counter(found) == counts
    assert 1 in counts.values()


def test_accuracies_count_words() -> None:
    sentences = [
        Sentence.from_words(["a", "b"], ["X", "Y"], ["x", "y"]),
        Sentence.from_words(["c", "d"], ["X", None], ["x", None]),
    ]
    predicted = [{"upos": ("X", "Z"), "xpos": ("z", "y")}, {"upos": ("X", "Y"), "xpos": ("x", "z")}]
    third = 100 / 3
    assert accuracies(sentences, predicted) == pytest.approx(
        {"mean": 2 * third, "upos": 2 * third, "xpos": 2 * third, "all": third}
    )


def test_a_word_without_features_is_judged_and_one_without_a_lemma_is_not() -> None:
    plain = Sentence.from_words(["a", "b"], ["X", "Y"])
    sentence = plain.with_tags(feats=["A=b", "_"], lemmas=["a", "_"])
    predicted = [{"upos": ("X", "Y"), "feats": ("A=b", "A=b"), "lemmas": ("a", "b")}]
    assert accuracies([sentence], predicted) == pytest.approx(
        {"mean": 250 / 3, "upos": 100.0, "feats": 50.0, "lemmas": 100.0, "all": 50.0}
    )
    assert "feats" not in accuracies([plain], predicted)


def test_a_kind_of_tags_that_a_treebank_does_not_have_is_not_judged() -> None:
    sentences = [Sentence.from_words(["a", "b"], ["X", None])]
    predicted = [{"upos": ("X", "Z"), "xpos": ("z", "y")}]
    assert accuracies(sentences, predicted) == {"mean": 100.0, "upos": 100.0, "all": 100.0}
    assert accuracies([Sentence.from_words(["a", "b"])], predicted) == {"mean": 0.0, "all": 0.0}


# A run


@pytest.mark.parametrize("vectors", [None, vectors_of()])
def test_a_tagger_learns_its_treebank_and_is_kept(tmp_path: Path, vectors: SharedVectors | None) -> None:
    training = replace(TRAINING, epochs=20, learning_rate=0.03, batch_words=20, dropout=0, word_dropout=0)
    task = TaggerTask(
        SENTENCES, replace(CONFIG, min_count=1), training, dev=SENTENCES, vectors=vectors, out=tmp_path / "tagger"
    )
    history = TrainingLoop(task, tmp_path / "run").run(Silent())
    best = max(line["dev"]["mean"] for line in history)
    assert best > 95
    loaded = Tagger(load_tagger(tmp_path / "tagger", vectors))
    predicted = loaded.predict([sentence.forms for sentence in SENTENCES])
    assert accuracies(SENTENCES, predicted)["mean"] == best
    assert list(history[0]["dev"]) == ["mean", "upos", "xpos", "feats", "lemmas", "all"]
    assert min(history[-1]["dev"].values()) > 90


def test_a_run_is_repeatable_and_seeds_matter() -> None:
    def arrays(seed: int) -> dict[str, Any]:
        return TaggerTask(SENTENCES, CONFIG, replace(TRAINING, seed=seed)).arrays

    one, same, other = arrays(1), arrays(1), arrays(2)
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["tagger.upos"], other["tagger.upos"])


def test_without_dev_sentences_there_are_no_scores() -> None:
    task = TaggerTask(SENTENCES, CONFIG, TRAINING)
    assert task.evaluate(task.arrays) is None


def test_a_resumed_run_ends_where_the_whole_one_does(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    class Stopper(Silent):
        def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
            if metrics["epoch"] == 2:
                raise StopError

    def task(out: Path) -> TaggerTask:
        return TaggerTask(SENTENCES, CONFIG, TRAINING, vectors=vectors_of(), out=out)

    TrainingLoop(task(tmp_path / "whole"), tmp_path / "a").run(Silent())
    with pytest.raises(StopError):
        TrainingLoop(task(tmp_path / "parts"), tmp_path / "b").run(Stopper())
    TrainingLoop(task(tmp_path / "parts"), tmp_path / "b", resume=True).run(Silent())
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts")]
    assert weights[0] == weights[1]


def test_settings_and_data_are_checked() -> None:
    with pytest.raises(ConfigError, match="batch_words"):
        TaggerTraining(batch_words=0)
    with pytest.raises(ConfigError, match="word_dropout"):
        TaggerTraining(word_dropout=-1)
    with pytest.raises(ConfigError, match="learning_rate"):
        TaggerTraining(learning_rate=0)
    with pytest.raises(DataError, match="neither UPOS nor XPOS"):
        TaggerTask([Sentence.from_words(["dog"])], CONFIG, TRAINING)
