"""Splitting a treebank into folds: whole documents, if there are enough of them.

A model that has seen the rest of a document does better on it than on a new text, so that single sentences of it would
make held-out scores too high.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.treebank.raw_text import is_new_document
from easyfirst.treebank.sentence import Sentence

DOCUMENTS_A_FOLD = 5  # with fewer documents a fold than this, folds are made of sentences


def deal(sentences: Sequence[Sentence], n_folds: int, seed: int) -> list[int]:
    """Return the fold of each sentence, from 1. In random order, each document is assigned to the fold that is the
    smallest so far."""
    documents = _documents(sentences, n_folds)
    sizes = [0] * n_folds
    folds = [0] * len(documents)
    for document in np.random.default_rng(seed).permutation(len(documents)).tolist():
        smallest = sizes.index(min(sizes))
        sizes[smallest] += documents[document]
        folds[document] = smallest + 1
    return np.repeat(folds, documents).tolist()


def _documents(sentences: Sequence[Sentence], n_folds: int) -> list[int]:
    """Return the number of sentences of each document. With few documents, each sentence counts as one."""
    starts = [n for n, sentence in enumerate(sentences) if n == 0 or is_new_document(sentence)]
    if len(starts) < DOCUMENTS_A_FOLD * n_folds:
        return [1] * len(sentences)
    return np.diff([*starts, len(sentences)]).tolist()
