"""Word vectors with positional context from plain text: they depend on which words surround a word, and at which
positions. (The paper, in section 3.1, uses the vectors of Ling et al. 2015.)

Skip-gram with negative sampling implicitly factorises a matrix of pointwise mutual information (Levy & Goldberg 2014).
This module computes that matrix and factorises it. A word's row has a column for each neighbour at each position:

    x[w, (p, n)] = max(0, log( P(n at p | w) / P(n at p) ))       p = -window .. window without 0

P(n at p) is smoothed by a power of 0.75. A word's vector is its row of U S^(1/2) for the largest singular values S,
scaled to length one (both as in Levy, Goldberg & Dagan 2015).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from easyfirst.errors import ConfigError, DataError
from easyfirst.model.embeddings import MAX_WORD_LENGTH, Embeddings
from easyfirst.model.lexicon import normalise
from easyfirst.model.settings import check_finite
from easyfirst.nn.arrays import Floats, Ints

SMOOTHING = 0.75  # the power that smooths the distribution of neighbours, in favour of rare ones
WEIGHT = 0.5  # the power of the singular values
NOISE = 1e-5  # a row shorter than this share of the longest is a rounding error, without informative neighbours
SPARE, ROUNDS = 32, 6  # the oversampling and the power iterations of the randomised SVD
_TOO_LONG = ""
CHUNK = 1 << 22  # the number of words whose neighbours are counted at a time


@dataclass(frozen=True, slots=True)
class CooccurrenceConfig:
    """The settings of counting and of factorisation."""

    dim: int = 100
    window: int = 2  # the number of neighbours on each side
    min_count: int = 3  # words that occur less often have no vector
    neighbours: int = 8000  # the frequent words with a column each; others share one, sentence boundaries another
    seed: int = 1

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("dim", "window", "min_count", "neighbours"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1")
        if self.dim > 2 * self.window * (self.neighbours + 2):
            raise ConfigError("dim must not exceed the number of columns, 2 * window * (neighbours + 2)")
        if self.seed < 0:
            raise ConfigError("seed must not be negative")


def learn_vectors(sentences: Iterable[Sequence[str]], config: CooccurrenceConfig) -> Embeddings:
    """Return vectors of the normalised forms in the sentences, the most frequent first. This takes about sixteen bytes
    of memory for each word of the text, besides the counts."""
    words, ids = _read(sentences, config)
    if len(words) < config.dim:
        raise DataError(
            f"the text has {len(words):,} words that occur {config.min_count} times or more, too few for vectors "
            f"of {config.dim} numbers; take more text, a smaller dim or a smaller min_count"
        )
    vectors = _factor(_table(len(words), ids, config), config).numpy()
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    is_informative = lengths > NOISE * lengths.max()
    if not is_informative.any():
        raise DataError("no word of the text has informative neighbours; take more text")
    return Embeddings(tuple(words), np.where(is_informative, vectors / np.where(is_informative, lengths, 1), 0))


def _read(sentences: Iterable[Sequence[str]], config: CooccurrenceConfig) -> tuple[list[str], Ints]:
    """Return the n frequent words, and the text as their numbers; other words are n, sentence boundaries n + 1."""
    numbers: dict[str, int] = {}
    ids = array("i", [-1] * config.window)
    for sentence in sentences:
        counted = (normalise(form) if len(form) <= MAX_WORD_LENGTH else _TOO_LONG for form in sentence)
        ids.extend(numbers.setdefault(form, len(numbers)) for form in counted)
        ids.extend([-1] * config.window)
    text = np.frombuffer(ids, dtype=np.int32)
    if not numbers:
        raise DataError("there are no words in the text")
    counts = np.bincount(text[text >= 0], minlength=len(numbers))
    if _TOO_LONG in numbers:
        counts[numbers[_TOO_LONG]] = 0
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= config.min_count]
    n = len(order)
    places = np.full(len(numbers) + 1, n, dtype=np.int32)
    places[order] = np.arange(n)
    places[-1] = n + 1
    forms = list(numbers)
    return [forms[number] for number in order], places[text]


def _table(n: int, ids: Ints, config: CooccurrenceConfig) -> torch.Tensor:
    """Return the sparse matrix of positive information, (n_words, positions * columns). The columns of a position are
    the most frequent words, all others, and the sentence boundary."""
    n_columns = min(config.neighbours, n) + 2
    neighbours = np.minimum(ids, n_columns - 2)  # (n_text,)
    neighbours[ids == n + 1] = n_columns - 1
    shifts = [shift for shift in range(-config.window, config.window + 1) if shift]
    found: list[tuple[Ints, Ints, Floats]] = []
    for place, shift in enumerate(shifts):
        keys, counts = _count(ids, neighbours, shift, n, n_columns)
        rows, columns = np.divmod(keys, n_columns)
        values = _information(rows, columns, counts, n, n_columns)
        is_informative = values > 0
        found.append((rows[is_informative], columns[is_informative] + place * n_columns, values[is_informative]))
    rows, columns, values = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((columns, rows))
    return torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([rows[order], columns[order]])),
        torch.from_numpy(values[order].astype(np.float32)),
        (n, n_columns * len(shifts)),
        is_coalesced=True,
        check_invariants=False,
    )


def _count(ids: Ints, neighbours: Ints, shift: int, n: int, n_columns: int) -> tuple[Ints, Ints]:
    """Count the neighbours at one position; return sorted keys, row * n_columns + column, and their counts."""
    keys, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    window = abs(shift)
    for start in range(window, len(ids) - window, CHUNK):
        words = ids[start : min(start + CHUNK, len(ids) - window)].astype(np.int64)
        near = neighbours[start + shift : start + shift + len(words)]
        is_word = words < n
        new, times = np.unique(words[is_word] * n_columns + near[is_word], return_counts=True)
        keys, inverse = np.unique(np.concatenate([keys, new]), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([counts, times]), minlength=len(keys)).astype(np.int64)
    return keys, counts


def _information(rows: Ints, columns: Ints, counts: Ints, n: int, n_columns: int) -> Floats:
    """Return log( P(column | row) / P(column) ) of each count."""
    of_rows = np.bincount(rows, counts, minlength=n)
    of_columns = np.bincount(columns, counts, minlength=n_columns) ** SMOOTHING
    share = of_columns / of_columns.sum()
    return np.log(counts / (of_rows[rows] * share[columns]))


def _factor(table: torch.Tensor, config: CooccurrenceConfig) -> torch.Tensor:
    """Return U S^(1/2) of the largest singular values, by randomised SVD (Halko et al. 2011)."""
    n_directions = min(config.dim + SPARE, *table.shape)
    generator = torch.Generator().manual_seed(config.seed)
    start = torch.randn(table.shape[1], n_directions, generator=generator)
    turned = table.t().coalesce()
    basis = torch.linalg.qr(torch.sparse.mm(table, start)).Q  # (n_words, n_directions)
    for _ in range(ROUNDS):
        basis = torch.linalg.qr(torch.sparse.mm(turned, basis)).Q
        basis = torch.linalg.qr(torch.sparse.mm(table, basis)).Q
    left, singular, _ = torch.linalg.svd(torch.sparse.mm(turned, basis).t(), full_matrices=False)
    return (basis @ left)[:, : config.dim] * singular[: config.dim] ** WEIGHT
