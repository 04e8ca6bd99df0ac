"""Random networks and sentences to compare fast code and twins on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from easyfirst.model.parser_config import NetworkConfig
from easyfirst.model.parser_store import TABLES, Sizes, parser_shapes
from easyfirst.nn.characters import Spelling
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network, network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import WordIds, encode_words
from easyfirst.parsing.oracle import Gold
from tests.twins import N_CHARACTERS, Twin, spelling

N_WORDS, N_TAGS = 40, 5


@dataclass(frozen=True)
class Sample:
    """One sentence with a gold tree, as numbers: heads from 1, 0 = root."""

    words: np.ndarray
    external: np.ndarray | None
    tags: tuple[np.ndarray, ...]
    heads: list[int]
    relations: list[int]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Model:
    """Random weights. They are large enough that scores differ, and no bias is zero."""

    config: NetworkConfig
    seed: int
    n_relations: int = 3
    has_external: bool = False

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        tags = dict.fromkeys(self.config.tag_kinds, N_TAGS)
        external = (N_WORDS, 3) if self.has_external else None
        sizes = Sizes(N_WORDS, tags, self.n_relations, external=external, characters=N_CHARACTERS)
        arrays = {}
        for name, shape in parser_shapes(self.config, sizes).items():
            is_table = name in (*TABLES, "trees.relation")
            fan_in = 1 if is_table or len(shape) == 1 or name.endswith("bias") else shape[-2]
            arrays[name] = (rng.normal(size=shape) * 1.5 / np.sqrt(fan_in)).astype(np.float32)
        return arrays

    @property
    def network(self) -> Network:
        return network_of(self.arrays, rnn=self.config.rnn)

    @property
    def twin(self) -> Twin:
        return Twin(self.arrays, rnn=self.config.rnn)

    @property
    def relation_names(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.n_relations)))

    def sentence(self, length: int, rng: np.random.Generator) -> Sample:
        """Different words, so that no two actions tie, under a tree that a random derivation builds."""
        heads, pend = [0] * length, list(range(1, length + 1))
        while len(pend) > 1:
            i, d = rng.integers(len(pend) - 1), rng.integers(2)
            heads[pend[i + d] - 1] = pend[i + 1 - d]
            del pend[i + d]
        return Sample(
            words=rng.permutation(N_WORDS)[:length],
            external=rng.permutation(N_WORDS)[:length] if self.has_external else None,
            tags=tuple(rng.integers(N_TAGS, size=length) for _ in self.config.tag_kinds),
            heads=heads,
            relations=rng.integers(self.n_relations, size=length).tolist(),
        )

    def sentences(self, lengths: Sequence[int], seed: int) -> list[Sample]:
        """As a batch has them: longest first."""
        rng = np.random.default_rng(seed)
        return [self.sentence(length, rng) for length in sorted(lengths, reverse=True)]

    def vectors(self, batch: Sequence[Sample]) -> np.ndarray:
        """v_i of a batch."""
        return encode_words(NUMPY, self.network.words, ids_of(batch), packing_of(batch))

    def twin_vectors(self, sample: Sample) -> list[np.ndarray]:
        return self.twin.word_vectors(sample.words, sample.tags, sample.external)


def lengths_of(batch: Sequence[Sample]) -> list[int]:
    return [len(sample) for sample in batch]


def packing_of(batch: Sequence[Sample]) -> Packing:
    return Packing.of(lengths_of(batch))


def gold_of(batch: Sequence[Sample]) -> Gold:
    return Gold.of([sample.heads for sample in batch], [sample.relations for sample in batch])


def ids_of(batch: Sequence[Sample]) -> WordIds:
    external = [sample.external for sample in batch if sample.external is not None]
    words = np.concatenate([sample.words for sample in batch])
    forms = sorted(set(words.tolist()), key=lambda word: -len(spelling(word)))
    spelt = [spelling(word) for word in forms]
    return WordIds(
        words=words,
        external=np.concatenate(external) if external else None,
        tags=tuple(np.concatenate(tags) for tags in zip(*(sample.tags for sample in batch), strict=True)),
        forms=np.array([forms.index(word) for word in words]),
        spelling=Spelling(np.concatenate(spelt), np.array([len(characters) for characters in spelt])),
    )


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Every kind of network there is, in small."""
    config = NetworkConfig(
        word_dim=draw(st.integers(2, 4)),
        tag_dim=draw(st.integers(1, 2)),
        relation_dim=draw(st.integers(1, 3)),
        vector_dim=draw(st.sampled_from([2, 4, 6])),
        bilstm_layers=draw(st.integers(0, 2)),
        deep_bilstm=draw(st.booleans()),
        character_dim=draw(st.integers(1, 3)),
        spelling_dim=draw(st.integers(0, 2)),
        tree_dim=draw(st.integers(2, 4)),
        tree_layers=draw(st.integers(0, 2)),
        hidden_dim=draw(st.integers(2, 5)),
        window=draw(st.integers(0, 3)),
        rnn=draw(st.sampled_from(["lstm", "gru", "elman"])),
        tags=draw(st.sampled_from(["none", "upos", "both"])),
    )
    seed, n_relations = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 3))
    return Model(config, seed, n_relations, has_external=draw(st.booleans()))


def kinds_of_models() -> list[Model]:
    """A few networks that differ in kind, to be tested one by one."""
    small = {"word_dim": 3, "tag_dim": 2, "relation_dim": 2, "vector_dim": 4, "tree_dim": 3, "hidden_dim": 4}
    kinds: list[tuple[dict[str, Any], bool]] = [
        ({}, False),
        ({"rnn": "gru", "bilstm_layers": 1}, False),
        ({"rnn": "elman", "tree_layers": 1, "window": 1}, True),
        ({"bilstm_layers": 0, "tags": "none"}, True),
        ({"bilstm_layers": 0, "tree_layers": 0, "window": 3}, False),
        ({"tree_layers": 0, "window": 0, "tags": "both"}, False),
        ({"rnn": "gru", "bilstm_layers": 0, "tree_layers": 3, "window": 0, "tags": "xpos"}, False),
    ]
    return [
        Model(NetworkConfig(**(small | changes)), seed, has_external=has_external)
        for seed, (changes, has_external) in enumerate(kinds)
    ]
