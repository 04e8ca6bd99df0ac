"""The toy treebank with features, made from its XPOS tags, and taggers of it that predict all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_store import TaggerModel, initial_tagger
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence

TREEBANK = Path(__file__).parent.parent / "examples" / "toy" / "handwritten.conllu"
FEATURES = {
    "NN": "Number=Sing",
    "NNS": "Number=Plur",
    "NNP": "Number=Sing",
    "VBD": "Mood=Ind|Tense=Past|VerbForm=Fin",
    "VBZ": "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "VBP": "Mood=Ind|Tense=Pres|VerbForm=Fin",
    "VBG": "Tense=Pres|VerbForm=Part",
    "VBN": "Tense=Past|VerbForm=Part",
    "VB": "VerbForm=Inf",
    "JJ": "Degree=Pos",
    "JJR": "Degree=Cmp",
}


def with_features(sentence: Sentence) -> Sentence:
    return sentence.with_tags(feats=[FEATURES.get(tag, "_") for tag in sentence.xpos])


def sentences_with_features() -> list[Sentence]:
    """Return the sentences that were written by hand, with UPOS, XPOS, FEATS and LEMMA."""
    return list(map(with_features, read_conllu(TREEBANK)))


def emptied(sentence: Sentence, *columns: str) -> Sentence:
    return sentence.with_tags(**{column: ["_"] * len(sentence) for column in columns})


def words(form: str, *rows: tuple[str, str]) -> Sentence:
    """Return a sentence of one form, with UPOS tags and lemmas."""
    sentence = Sentence.from_words([form] * len(rows), [tag for tag, _ in rows])
    return sentence.with_tags(lemmas=[lemma for _, lemma in rows])


def random_tagger(
    sentences: Sequence[Sentence] | None = None, *, seed: int = 1, vectors: SharedVectors | None = None
) -> TaggerModel:
    """Return a tagger of the toy treebank or another with random weights, so large that words differ."""
    config = TaggerConfig(word_dim=4, character_dim=3, spelling_dim=3, bilstm_dim=5, min_count=1)
    config = replace(config, external_dim=vectors.dim if vectors else 0)
    given = sentences_with_features() if sentences is None else sentences
    vocabulary, rng = TaggerVocabulary.of(given, min_count=1), np.random.default_rng(seed)
    arrays = initial_tagger(config, vocabulary, rng)
    weights = {name: rng.normal(size=array.shape).astype(np.float32) for name, array in arrays.items()}
    return TaggerModel(config, vocabulary, weights, vectors)
