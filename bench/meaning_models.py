"""The encoders that ``bench.meaning`` compares, and the models of the two tasks around them.

Every encoder reads the same word vectors and the same trees, and gives a phrase a vector of the same width. The vector
of a phrase is the maximum over the vectors of its words, or of its subtrees, in each dimension (``root``: that of its
root alone, as in Tai et al.). The Child-Sum Tree-LSTM (Tai et al. 2015), the BiLSTM and the bag of vectors were written
for the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from bench.meaning_data import Corpus, Data
from easyfirst import Parser, Tree, TreeEncoder

DIM = 200  # the width of the vectors of phrases, except for encoders with the sizes of a parser
N_CLASSES = 5  # of relatedness


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences, one after the other, and the phrases in them that are wanted."""

    words: Tensor  # (n_words,)
    trees: list[Tree]
    of_parser: Tensor | None  # (n_words, dim)
    heads: Tensor  # (n_phrases,) the words that are the heads of phrases
    spans: npt.NDArray[np.int64]  # (n_phrases, 2)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        numbers: Sequence[int],
        heads: Sequence[npt.NDArray[np.int64]],
        spans: Sequence[npt.NDArray[np.int64]],
        *,
        with_parser: bool,
    ) -> Batch:
        """Make a batch of sentences, with the heads and spans of phrases in each."""
        words = [corpus.words[number] for number in numbers]
        starts = np.cumsum([0, *(len(of_sentence) for of_sentence in words)])[:-1]
        moved_heads = [of_sentence + start for of_sentence, start in zip(heads, starts, strict=True)]
        moved_spans = [of_sentence + start for of_sentence, start in zip(spans, starts, strict=True)]
        vectors = [corpus.of_parser[number] for number in numbers] if with_parser else []
        return cls(
            torch.from_numpy(np.concatenate(words)),
            [corpus.trees[number] for number in numbers],
            torch.from_numpy(np.concatenate(vectors).astype(np.float32)) if vectors else None,
            torch.from_numpy(np.concatenate(moved_heads)),
            np.concatenate(moved_spans),
        )


def highest(rows: Tensor, batch: Batch) -> Tensor:
    """Return the maximum in each dimension over the words of each phrase."""
    lengths = batch.spans[:, 1] - batch.spans[:, 0]
    words = np.concatenate([np.arange(begin, end) for begin, end in batch.spans.tolist()])
    phrases = torch.from_numpy(np.repeat(np.arange(len(lengths)), lengths))[:, None].expand(-1, rows.shape[1])
    found = rows.new_zeros(len(lengths), rows.shape[1])
    return found.scatter_reduce(0, phrases, rows[torch.from_numpy(words)], "amax", include_self=False)


class Bag(nn.Module):
    """The mean of the vectors of a phrase, and a layer above it."""

    def __init__(self, vector_dim: int) -> None:
        super().__init__()
        self.dim = DIM
        self.layer = nn.Linear(vector_dim, DIM)

    def forward(self, batch: Batch, vectors: Tensor) -> Tensor:
        sums = functional.pad(vectors, (0, 0, 1, 0)).cumsum(0)
        begin, end = torch.from_numpy(batch.spans).unbind(1)
        means = (sums[end] - sums[begin]) / (end - begin)[:, None]
        return torch.tanh(self.layer(means))


class BiLstm(nn.Module):
    """The states of two LSTMs that read a phrase, forward and backward."""

    def __init__(self, vector_dim: int) -> None:
        super().__init__()
        self.dim = DIM
        self.lstm = nn.LSTM(vector_dim, DIM // 2, bidirectional=True)

    def forward(self, batch: Batch, vectors: Tensor) -> Tensor:
        lengths = batch.spans[:, 1] - batch.spans[:, 0]
        padded = torch.zeros(int(lengths.max()), len(lengths), dtype=torch.int64)
        for column, (begin, end) in enumerate(batch.spans.tolist()):
            padded[: end - begin, column] = torch.arange(begin, end)
        rows = pack_padded_sequence(padded, torch.from_numpy(lengths), enforce_sorted=False)
        read = PackedSequence(vectors[rows.data], rows.batch_sizes, rows.sorted_indices, rows.unsorted_indices)
        states, _ = pad_packed_sequence(self.lstm(read)[0], padding_value=-torch.inf)
        return states.amax(0)


class ChildSum(nn.Module):
    """The Child-Sum Tree-LSTM: a node adds up the states of its modifiers, with a forget gate for each of them."""

    def __init__(self, vector_dim: int) -> None:
        super().__init__()
        self.dim = DIM
        self.of_input = nn.Linear(vector_dim, 4 * DIM)  # input, output and candidate, forget
        self.of_sum = nn.Linear(DIM, 3 * DIM, bias=False)
        self.of_child = nn.Linear(DIM, DIM, bias=False)

    def forward(self, batch: Batch, vectors: Tensor) -> Tensor:
        order, levels = _levels(batch.trees)
        x = self.of_input(vectors[order])
        states = x.new_zeros(0, 2 * DIM)
        for rows, children, parents in levels:
            z = x[rows, : 3 * DIM]
            c = x.new_zeros(len(z), DIM)
            if len(children):
                below = states[children]
                h_below, c_below = below[:, :DIM], below[:, DIM:]
                z = z + self.of_sum(x.new_zeros(len(z), DIM).index_add(0, parents, h_below))
                forget = torch.sigmoid(x[rows, 3 * DIM :][parents] + self.of_child(h_below))
                c = c.index_add(0, parents, forget * c_below)
            i, o, u = z.split(DIM, dim=1)
            c = c + torch.sigmoid(i) * torch.tanh(u)
            states = torch.concat([states, torch.concat([torch.sigmoid(o) * torch.tanh(c), c], dim=1)])
        place = torch.empty_like(order)
        place[order] = torch.arange(len(order))
        return states[place, :DIM]


def _levels(trees: Sequence[Tree]) -> tuple[Tensor, list[tuple[slice, Tensor, Tensor]]]:
    """Return the words in the order of their heights, and of each height its rows, the rows of all their modifiers, and
    the heads of these among the rows."""
    heads: list[int] = []
    heights: list[int] = []
    for tree in trees:
        start, below = len(heads), [0] * len(tree)
        heads += [start + head - 1 if head else -1 for head in tree.heads]
        for word in sorted(range(len(tree)), key=lambda word: -tree.depth(word + 1)):
            if tree.heads[word]:
                below[tree.heads[word] - 1] = max(below[tree.heads[word] - 1], below[word] + 1)
        heights += below
    order = np.argsort(heights, kind="stable")
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    head_rows, of_row = place[np.array(heads)[order]], np.array(heights)[order]
    bounds = np.searchsorted(of_row, np.arange(of_row.max() + 2)) if len(of_row) else np.zeros(1, dtype=np.int64)
    levels: list[tuple[slice, Tensor, Tensor]] = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        children = np.flatnonzero((head_rows >= begin) & (head_rows < end))
        levels.append((slice(begin, end), torch.from_numpy(children), torch.from_numpy(head_rows[children] - begin)))
    return torch.from_numpy(order), levels


class Trees(nn.Module):
    """Our encoder."""

    def __init__(self, encoder: TreeEncoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.dim = encoder.dim

    def forward(self, batch: Batch, vectors: Tensor) -> Tensor:
        return self.encoder(batch.trees, vectors)


class Phrases(nn.Module):
    """Word vectors, dropout and an encoder: what is the same in both tasks."""

    def __init__(self, data: Data, system: str, parser: Parser, *, seed: int, dropout: float, tuned: bool) -> None:
        """``system``: see :data:`SYSTEMS`; ``tuned``: words that have vectors are fine-tuned too."""
        super().__init__()
        base, _, extra = system.partition("+")
        self.with_parser = extra in ("parser", "words")
        self.is_root = extra == "root"
        self.table = nn.Embedding.from_pretrained(torch.from_numpy(data.table.copy()), freeze=False)
        if not tuned:
            is_free = torch.from_numpy(~data.has_vector).float()[:, None]
            self.table.weight.register_hook(is_free.mul)
        self.dropout = nn.Dropout(dropout)
        word_dim, parser_dim = data.table.shape[1], parser.config.network.vector_dim
        if extra in ("parser", "large"):  # the sizes of the parser, with its weights or without
            self.encoder: Any = _parser_sized(base, parser, seed, pretrained=extra == "parser")
            self.project = nn.Linear(word_dim, parser_dim)
            if extra == "parser":  # it starts as the parser's own encoder
                nn.init.zeros_(self.project.weight)
                nn.init.zeros_(self.project.bias)
        elif base in BASELINES:
            self.project = nn.Linear(parser_dim, word_dim) if self.with_parser else nn.Identity()
            self.encoder = BASELINES[base](word_dim)
        else:
            self.project = nn.Identity()
            tree_dim = DIM // (4 if base == "bidirectional" else 2)
            relations = () if extra == "unlabelled" else parser.relations
            self.encoder = Trees(TreeEncoder(word_dim, tree_dim, relations=relations, order=base, seed=seed))
        self.dim: int = self.encoder.dim

    def forward(self, batch: Batch) -> Tensor:
        vectors = self.dropout(self.table(batch.words))
        if isinstance(self.encoder, Trees) and self.with_parser:
            assert batch.of_parser is not None
            vectors = batch.of_parser + self.project(vectors)
        elif self.with_parser:
            vectors = vectors + self.project(batch.of_parser)
        else:
            vectors = self.project(vectors)
        found = self.encoder(batch, vectors)
        if isinstance(self.encoder, Bag | BiLstm):
            return found
        return found[batch.heads] if self.is_root else highest(found, batch)


def _parser_sized(order: str, parser: Parser, seed: int, *, pretrained: bool) -> Trees:
    """Return our encoder with the sizes of a parser, and its weights if it is pre-trained."""
    encoder = TreeEncoder.of_parser(parser, order=order)
    if not pretrained:
        config = encoder.config
        encoder = TreeEncoder(
            config.vector_dim,
            config.tree_dim,
            relations=encoder.relations,
            order=order,
            layers=config.tree_layers,
            relation_dim=config.relation_dim,
            seed=seed,
        )
    return Trees(encoder)


class Relatedness(nn.Module):
    """The model of Tai et al. for pairs: products and differences of two vectors, and a distribution over 1 to 5."""

    def __init__(self, phrases: Phrases, hidden_dim: int = 50) -> None:
        super().__init__()
        self.phrases = phrases
        self.product = nn.Linear(phrases.dim, hidden_dim)
        self.difference = nn.Linear(phrases.dim, hidden_dim, bias=False)
        self.output = nn.Linear(hidden_dim, N_CLASSES)

    def forward(self, batch: Batch, pairs: Tensor) -> Tensor:
        """Return log-probabilities of the scores for pairs of phrases of the batch."""
        one, other = self.phrases(batch)[pairs].unbind(1)
        hidden = torch.sigmoid(self.product(one * other) + self.difference((one - other).abs()))
        return torch.log_softmax(self.output(hidden), dim=1)


def target_distribution(scores: Tensor) -> Tensor:
    """Return for each score the distribution over 1 to 5 that has it as its mean and at most two neighbours."""
    return (1 - (scores[:, None] - torch.arange(1, N_CLASSES + 1)).abs()).clamp(min=0).float()


class Sentiment(nn.Module):
    """A softmax over the vector of each phrase."""

    def __init__(self, phrases: Phrases, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.phrases = phrases
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(phrases.dim, n_classes)

    def forward(self, batch: Batch) -> Tensor:
        return self.output(self.dropout(self.phrases(batch)))


BASELINES: dict[str, Any] = {"bag": Bag, "bilstm": BiLstm, "childsum": ChildSum}
SYSTEMS = {
    "bag": "bag of vectors",
    "bilstm": "BiLSTM",
    "childsum": "Child-Sum Tree-LSTM",
    "outward": "ours, outward",
    "inward": "ours, inward",
    "bidirectional": "ours, bidirectional",
    "outward+parser": "ours, outward, pre-trained",
    "inward+parser": "ours, inward, pre-trained",
    "bidirectional+parser": "ours, bidirectional, pre-trained",
    "childsum+words": "Child-Sum Tree-LSTM, with the parser's word vectors",
    "childsum+root": "Child-Sum Tree-LSTM, the root only",
    "outward+root": "ours, outward, the root only",
    "outward+large": "ours, outward, the parser's sizes, from scratch",
    "outward+unlabelled": "ours, outward, without relations",
}
