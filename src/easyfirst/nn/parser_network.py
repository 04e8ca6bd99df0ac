"""The parser's network as a view of named arrays: model files, PyTorch and NumPy use the same flat dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easyfirst.nn.characters import characters_of
from easyfirst.nn.members import split_members
from easyfirst.nn.namespace import Array
from easyfirst.nn.rnn import CELLS, layers_of, stacks_of
from easyfirst.nn.scorer import ScorerWeights
from easyfirst.nn.trees import TreeWeights
from easyfirst.nn.words import WordWeights

TAG_KINDS = ("upos", "xpos", "feats")  # the columns that a parser can read


@dataclass(frozen=True, slots=True)
class Network:
    """The word encoder, the tree encoder and the scorer."""

    words: WordWeights
    trees: TreeWeights
    scorer: ScorerWeights

    @property
    def n_slots(self) -> int:
        """The number of subtrees in a window: 2k + 2."""
        return int(self.scorer.hidden.shape[0]) // (2 * self.trees.output_dim)


def networks_of(arrays: Mapping[str, Array], n_members: int, *, rnn: str) -> list[Network]:
    """Wrap the arrays of an ensemble, one network for each member."""
    return [network_of(member, rnn=rnn) for member in split_members(arrays, n_members)]


def network_of(arrays: Mapping[str, Array], *, rnn: str) -> Network:
    """Wrap arrays as a network without copying: changing an array changes the network."""
    cell = CELLS[rnn]
    words = WordWeights(
        words=arrays["words.embedding"],
        external=arrays.get("words.external"),
        tags=tuple(arrays[f"words.{kind}"] for kind in TAG_KINDS if f"words.{kind}" in arrays),
        project=arrays["words.project"],
        bias=arrays["words.bias"],
        stacks=stacks_of(arrays, "words.rnn"),
        cell=cell,
        characters=characters_of(arrays) if "characters.embedding" in arrays else None,
    )
    trees = TreeWeights(
        padding=arrays["trees.padding"],
        layers=layers_of(arrays, "trees.rnn"),
        cell=cell,
        relations=arrays.get("trees.relation"),
        encode=arrays.get("trees.encode"),
        bias=arrays.get("trees.bias"),
    )
    scorer = ScorerWeights(
        hidden=arrays["scorer.hidden"],
        hidden_bias=arrays["scorer.hidden_bias"],
        unlabelled=arrays["scorer.unlabelled"],
        unlabelled_bias=arrays["scorer.unlabelled_bias"],
        labelled=arrays["scorer.labelled"],
        labelled_bias=arrays["scorer.labelled_bias"],
    )
    return Network(words, trees, scorer)
