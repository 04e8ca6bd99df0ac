"""The tagger's network: a BiLSTM over word embeddings, external vectors and character vectors.

Every layer of the BiLSTM reads both directions of the one below. On top of the last one, a linear layer for each output
scores tags, bundles of features, values of single features, and lemma scripts. A tagger may be an ensemble of such
networks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import CharacterWeights, characters_of
from easyfirst.nn.members import split_members
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, Layer, stacks_of
from easyfirst.nn.sequences import Drop, Packing, run_stacks

LEMMAS = "lemmas"
OUTPUTS = ("upos", "xpos", "feats", "features", LEMMAS)


@dataclass(frozen=True, slots=True)
class TaggerIds:
    """The words of a batch as row numbers, all sentences concatenated, longest first."""

    words: Ints  # (n_words,)
    forms: Ints  # (n_words,): rows of the character vectors


@dataclass(frozen=True, slots=True)
class TaggerWeights:
    """The embedding tables, the BiLSTM (lowest layer first) and the output layers."""

    words: Array  # (n_vocabulary, word_dim)
    characters: CharacterWeights | None
    stacks: tuple[tuple[Layer, ...], ...]
    outputs: Mapping[str, tuple[Array, Array]]  # (2 * dim, n_names), (n_names,)


def members_of(arrays: Mapping[str, Array], n_members: int) -> tuple[TaggerWeights, ...]:
    """Wrap the arrays of an ensemble without copying, one network for each member."""
    return tuple(map(_member_of, split_members(arrays, n_members)))


def _member_of(arrays: Mapping[str, Array]) -> TaggerWeights:
    return TaggerWeights(
        words=arrays["words.embedding"],
        characters=characters_of(arrays) if "characters.embedding" in arrays else None,
        stacks=stacks_of(arrays, "tagger.rnn"),
        outputs={
            kind: (arrays[f"tagger.{kind}"], arrays[f"tagger.{kind}_bias"])
            for kind in OUTPUTS
            if f"tagger.{kind}" in arrays
        },
    )


def with_value_scores(weights: TaggerWeights, membership: Array) -> TaggerWeights:
    """Return weights whose scores of bundles include those of the values in them, by ``membership`` (n_values,
    n_bundles): the output is linear, so that this costs nothing when words are tagged."""
    (bundles, bundle_bias), (values, value_bias) = weights.outputs["feats"], weights.outputs["features"]
    joined = bundles + values @ membership, bundle_bias + value_bias @ membership
    return replace(weights, outputs={**weights.outputs, "feats": joined})


def encode_tagged(
    xp: Namespace,
    weights: TaggerWeights,
    ids: TaggerIds,
    packing: Packing,
    *,
    external: Array | None,
    spelt: Array | None,
    drop: Drop | None = None,
) -> Array:
    """Return one member's vector of each word: (n_words, 2 * dim). ``external`` holds the external vector of each word,
    ``spelt`` the character vectors of the batch's forms (``easyfirst.nn.characters.spell``). ``drop`` is applied to the
    input of each layer and to the last output."""
    parts = [xp.embed(weights.words, xp.index(ids.words))]
    if external is not None:
        parts.append(external)
    if spelt is not None:
        parts.append(xp.take(spelt, xp.index(ids.forms)))
    x = parts[0] if len(parts) == 1 else xp.concat(parts, -1)
    return run_stacks(xp, CELLS["lstm"], weights.stacks, x, packing, drop)


def score_outputs(xp: Namespace, weights: TaggerWeights, encoded: Array, outputs: Iterable[str]) -> dict[str, Array]:
    """Return one member's scores for some outputs: (n_words, n_names)."""
    chosen = {kind: weights.outputs[kind] for kind in outputs}
    return {kind: xp.matmul(encoded, output) + bias for kind, (output, bias) in chosen.items()}
