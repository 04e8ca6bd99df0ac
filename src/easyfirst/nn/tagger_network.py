"""The tagger's network: a word's embedding, its external vector and what its characters say, read by a BiLSTM.

Unlike in the parser, a layer of this BiLSTM reads both directions of the one below. Each kind of tag has a linear layer
of scores on top of the last one. A tagger may be several such networks, its members, of which each has learnt alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import CharacterWeights, characters_of
from easyfirst.nn.ensemble import split_members
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.nn.rnn import CELLS, Cell, Layer, stacks_of
from easyfirst.nn.sequences import Drop, Packing, read_stacks


@dataclass(frozen=True, slots=True)
class TaggerIds:
    """The words of a batch as row numbers, all sentences one after the other, longest first."""

    words: Ints  # (n_words,)
    forms: Ints  # (n_words,): of each word's form among the vectors that were spelt


@dataclass(frozen=True, slots=True)
class TaggerWeights:
    """Tables, the BiLSTM's layers from below, and the scores of each kind of tag."""

    words: Array  # (n_vocabulary, word_dim)
    characters: CharacterWeights | None
    stacks: tuple[tuple[Layer, ...], ...]
    cell: Cell
    outputs: Mapping[str, tuple[Array, Array]]  # kind -> (2 * dim, n_tags), (n_tags,)


def members_of(arrays: Mapping[str, Array], n_members: int) -> tuple[TaggerWeights, ...]:
    """Arrays by name, seen as networks. Nothing is copied."""
    return tuple(map(_member_of, split_members(arrays, n_members)))


def _member_of(arrays: Mapping[str, Array]) -> TaggerWeights:
    return TaggerWeights(
        words=arrays["words.embedding"],
        characters=characters_of(arrays) if "characters.embedding" in arrays else None,
        stacks=stacks_of(arrays, "tagger.rnn"),
        cell=CELLS["lstm"],
        outputs={
            kind: (arrays[f"tagger.{kind}"], arrays[f"tagger.{kind}_bias"])
            for kind in TAG_KINDS
            if f"tagger.{kind}" in arrays
        },
    )


def score_tags(
    xp: Namespace,
    weights: TaggerWeights,
    ids: TaggerIds,
    packing: Packing,
    *,
    external: Array | None,
    spelt: Array | None,
    drop: Drop | None = None,
) -> dict[str, Array]:
    """The score of each tag for each word by one member, by kind: (n_words, n_tags).

    ``external``: the external vector of each word; ``spelt``: the vectors of the batch's forms, by
    ``easyfirst.nn.characters.spell``. ``drop`` is applied to what each layer reads, and to what the last one gives.
    """
    parts = [xp.embed(weights.words, xp.index(ids.words))]
    if external is not None:
        parts.append(external)
    if spelt is not None:
        parts.append(xp.take(spelt, xp.index(ids.forms)))
    x = parts[0] if len(parts) == 1 else xp.concat(parts, -1)
    x = read_stacks(xp, weights.cell, weights.stacks, x, packing, drop)
    return {kind: xp.matmul(x, output) + bias for kind, (output, bias) in weights.outputs.items()}
