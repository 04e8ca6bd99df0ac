"""What a parser is made of and how it is trained: frozen, typed, and closed (an unknown key is an error).

The defaults are the paper's (its hyper-parameter table); the presets are named after the rows of its results tables,
but for ``strong``, which goes past it.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from easyfirst.errors import ConfigError
from easyfirst.model.settings import (
    MAX_LAYERS,
    MAX_SIZE,
    build_settings,
    check_adam,
    check_finite,
    check_regularisation,
    require,
)
from easyfirst.nn.ensemble import MAX_MEMBERS
from easyfirst.nn.rnn import CELLS

TAGS = {"none": (), "upos": ("upos",), "xpos": ("xpos",), "both": ("upos", "xpos")}
"""Which columns each choice of tags reads."""


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The sizes and parts of the network (sections 3 and 4)."""

    word_dim: int = 100
    tag_dim: int = 25
    relation_dim: int = 25
    vector_dim: int = 200
    """v'_i, v_i and enc(t): what the RNNs of the tree read (BiLSTM: half forward, half backward)."""
    bilstm_layers: int = 2
    """0: no BiLSTM, v_i = v'_i."""
    deep_bilstm: bool = False
    """True: every layer reads both directions of the one below; False: each direction is a stack of its own."""
    character_dim: int = 32
    spelling_dim: int = 0
    """In each direction, of the BiLSTM over a word's characters; 0: characters are not read."""
    tree_dim: int = 200
    tree_layers: int = 2
    """0: no tree encoder, each pending item is only its head's vector."""
    hidden_dim: int = 100
    """Hidden units of MLP_U, and of MLP_L."""
    window: int = 2
    """k: how many subtrees to each side of the pair the scorer sees."""
    rnn: str = "lstm"
    tags: str = "upos"

    def __post_init__(self) -> None:
        for name in ("word_dim", "vector_dim", "tree_dim", "hidden_dim", "relation_dim", "tag_dim", "character_dim"):
            require(1 <= getattr(self, name) <= MAX_SIZE, f"{name} must be from 1 to {MAX_SIZE:,}")
        require(0 <= self.spelling_dim <= MAX_SIZE, f"spelling_dim must be from 0 to {MAX_SIZE:,}")
        for name in ("bilstm_layers", "tree_layers", "window"):
            require(0 <= getattr(self, name) <= MAX_LAYERS, f"{name} must be from 0 to {MAX_LAYERS}")
        require(self.vector_dim % 2 == 0, "vector_dim must be even: half of it is read in each direction")
        require(self.rnn in CELLS, f"rnn must be one of {', '.join(CELLS)}")
        require(self.tags in TAGS, f"tags must be one of {', '.join(TAGS)}")

    @property
    def n_slots(self) -> int:
        """How many subtrees a window holds."""
        return 2 * self.window + 2

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        return TAGS[self.tags]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How the network learns (section 5 and the appendix)."""

    epochs: int = 20
    seed: int = 1
    use_dynamic_oracle: bool = True
    """False: always follow the best correct action, so the parser never sees its own mistakes."""
    explore_prob: float = 0.1
    """p_aug: how often a wrong action inside the margin is followed."""
    margin: float = 1.0
    update_after: int = 50
    """The weights change after more than this many violations of the margin."""
    batch_sentences: int = 0
    """The weights change after this many sentences; 0: after ``update_after`` violations, as in the paper."""
    word_dropout: float = 0.25
    """alpha: a word seen n times becomes the unknown word with probability alpha / (n + alpha)."""
    min_count: int = 1
    """Words that training saw less often have no embedding of their own."""
    learning_rate: float = 0.001
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    clip_norm: float = 5.0
    weight_decay: float = 1e-6
    """The share of every dense weight that an update takes away."""
    freeze_external: bool = False
    """True: external vectors stay as they were given; False: they are trained on."""
    attention: float = 0.0
    """The weight of a second loss, by which v alone is to tell every word's head and relation; 0: there is none."""
    dropout: float = 0.0
    """The share of values that are set to zero by chance while learning: of v' and of v, of what one layer of a deep
    BiLSTM gives to the next, of the vectors of characters, and in the second task."""
    final_rate: float = 1.0
    """The share of the learning rate that is left at the end; it falls in a straight line."""
    averaging: float = 0.0
    """Parse with a running average of the weights over the updates, with this memory; 0: with the last ones."""

    def __post_init__(self) -> None:
        check_finite(self)
        require(self.epochs >= 1, "epochs must be at least 1")
        require(0 <= self.explore_prob <= 1, "explore_prob must be between 0 and 1")
        require(self.margin > 0, "margin must be positive")
        require(self.update_after >= 0, "update_after must not be negative")
        require(self.batch_sentences >= 0, "batch_sentences must not be negative")
        require(self.word_dropout >= 0, "word_dropout must not be negative")
        require(self.min_count >= 1, "min_count must be at least 1")
        require(self.attention >= 0, "attention must not be negative")
        check_adam(self.learning_rate, self.adam_beta1, self.adam_beta2, self.clip_norm, self.weight_decay)
        check_regularisation(self.final_rate, self.averaging, self.dropout)
        require(0 <= self.seed < 2**63, "seed must be a non-negative 63-bit integer")


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """Everything that decides what a training run does, apart from the data."""

    preset: str = "paper"
    network: NetworkConfig = field(default_factory=NetworkConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    members: int = 1
    """Networks with these settings, of which each has learnt alone, and which parse together."""

    def __post_init__(self) -> None:
        require(1 <= self.members <= MAX_MEMBERS, f"members must be from 1 to {MAX_MEMBERS}")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserConfig:
        """The inverse of :meth:`to_dict`; an unknown key or a value of the wrong type is a :class:`ConfigError`."""
        known = dict(values)
        network = build_settings(NetworkConfig(), known.pop("network", {}), "network.")
        training = build_settings(TrainingConfig(), known.pop("training", {}), "training.")
        preset, members = known.pop("preset", "paper"), known.pop("members", 1)
        if known:
            raise ConfigError(f"unknown setting {sorted(known)[0]!r}; there are: preset, network, training, members")
        if not isinstance(preset, str):
            raise ConfigError("preset must be text")
        if type(members) is not int:
            raise ConfigError(f"members must be of type int, not {members!r}")
        return cls(preset, network, training, members)


_STRONG = ParserConfig(
    "strong",
    NetworkConfig(vector_dim=400, deep_bilstm=True, spelling_dim=48),
    TrainingConfig(
        epochs=12,
        min_count=2,
        freeze_external=True,
        attention=1.0,
        dropout=0.2,
        averaging=0.999,
    ),
)
"""What has been learnt since the paper, in the same architecture; docs/results.md says what each part is worth."""

PRESETS: Mapping[str, ParserConfig] = types.MappingProxyType(
    {
        "bottom-up": ParserConfig("bottom-up", NetworkConfig(bilstm_layers=0, tree_layers=0)),
        "htlstm": ParserConfig("htlstm", NetworkConfig(bilstm_layers=0)),
        "paper": ParserConfig("paper"),
        "strong": _STRONG,
    }
)


def preset(
    name: str, *, network: Mapping[str, Any] | None = None, training: Mapping[str, Any] | None = None
) -> ParserConfig:
    """A preset with some settings changed."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}; there are: {', '.join(PRESETS)}")
    settings = PRESETS[name].to_dict()
    settings["network"] |= dict(network or {})
    settings["training"] |= dict(training or {})
    return ParserConfig.from_dict(settings)
