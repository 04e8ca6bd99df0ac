"""The toy treebank with features, made from its XPOS tags."""

from __future__ import annotations

from pathlib import Path

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
