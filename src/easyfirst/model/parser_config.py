"""The parser's settings: the sizes of its network, how it is trained, and the presets.

The defaults are the paper's hyper-parameters. The presets are named after the rows of its results tables, except for
``pipeline``, ``strong`` and ``beam``, which go beyond the paper.
"""

from __future__ import annotations

import dataclasses
import reprlib
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from easyfirst.errors import ConfigError
from easyfirst.model.constituency_config import ConstituencyConfig
from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, build_settings, check_training, require, require_range
from easyfirst.nn.members import MAX_MEMBERS
from easyfirst.nn.rnn import CELLS
from easyfirst.treebank.lifting import HEAD, SCHEMES

NO_CROSSING = "none"
MAX_BEAM = 64
"""The widest beam: with it, a sentence of 100 words takes about 110 MB."""
BEAM = "beam"  # the preset that trains a parser further
TAGS: Mapping[str, tuple[str, ...]] = {  # the columns of each choice
    "none": (),
    "upos": ("upos",),
    "xpos": ("xpos",),
    "both": ("upos", "xpos"),
    "feats": ("feats",),
    "upos+feats": ("upos", "feats"),
    "xpos+feats": ("xpos", "feats"),
    "all": ("upos", "xpos", "feats"),
}


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The architecture of the network (sections 3 and 4)."""

    word_dim: int = 100
    tag_dim: int = 25
    relation_dim: int = 25
    vector_dim: int = 200  # the width of v'_i, v_i (half for each direction) and enc(t), the inputs of RNN_L and RNN_R
    bilstm_layers: int = 2  # 0: no BiLSTM, v_i = v'_i
    deep_bilstm: bool = False  # True: layers read both directions of the one below; False: each direction is a stack
    character_dim: int = 32
    spelling_dim: int = 0  # the width of each direction of the BiLSTM over a word's characters; 0: no characters
    tree_dim: int = 200
    tree_layers: int = 2  # 0: no tree encoder; a pending item is its head's vector
    hidden_dim: int = 100  # the hidden units of MLP_U, and of MLP_L
    window: int = 2  # k: the number of subtrees the scorer sees on each side of the pair
    rnn: str = "lstm"
    tags: str = "upos"

    def __post_init__(self) -> None:
        sizes = ("word_dim", "vector_dim", "tree_dim", "hidden_dim", "relation_dim", "tag_dim", "character_dim")
        require_range(self, sizes, 1, MAX_SIZE)
        require_range(self, ["spelling_dim"], 0, MAX_SIZE)
        require_range(self, ("bilstm_layers", "tree_layers", "window"), 0, MAX_LAYERS)
        require(self.vector_dim % 2 == 0, "vector_dim must be even: half of it is for each direction")
        require(self.rnn in CELLS, f"rnn must be one of {', '.join(CELLS)}")
        require(self.tags in TAGS, f"tags must be one of {', '.join(TAGS)}")

    @property
    def n_slots(self) -> int:
        """The number of subtrees in a window."""
        return 2 * self.window + 2

    @property
    def tag_kinds(self) -> tuple[str, ...]:
        return TAGS[self.tags]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The training settings (section 5 and the appendix)."""

    epochs: int = 20  # at least; see min_updates
    min_updates: int = 0  # small treebanks are trained for more epochs, until there are about so many updates
    patience: float = 0.0  # stop if dev has not improved for this share of all epochs; 0: never
    seed: int = 1
    use_dynamic_oracle: bool = True  # False: follow the best correct action, so the parser never sees its own errors
    explore_prob: float = 0.1  # p_aug: the probability of following a wrong action inside the margin
    margin: float = 1.0
    beam: int = 1  # above 1: learn from whole derivations, found by a beam of this width, instead of single actions
    update_after: int = 50  # update the weights after more than this many margin violations
    batch_sentences: int = 0  # update the weights after so many sentences; 0: as in the paper, by `update_after`
    word_dropout: float = 0.25  # alpha: a word seen n times becomes unknown with probability alpha / (n + alpha)
    min_count: int = 1  # rarer words share the embedding of the unknown word
    learning_rate: float = 0.001
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    clip_norm: float = 5.0
    weight_decay: float = 1e-6  # the share of every dense weight that an update removes
    freeze_external: bool = False  # True: external vectors are frozen; False: they are fine-tuned
    attention: float = 0.0  # the weight of an auxiliary loss: every word's head and relation from v alone; 0: none
    dropout: float = 0.0  # of v', v, character embeddings, the layers of a deep BiLSTM, and the auxiliary task
    final_rate: float = 1.0  # the final share of the learning rate, which decays linearly; 1: a constant learning rate
    averaging: float = 0.0  # the decay of the exponential moving average of the weights, which parses; 0: no averaging
    crossing: str = HEAD  # how relations encode crossing arcs: head, path, head+path; none: skip non-projective trees

    def __post_init__(self) -> None:
        check_training(self)
        require(0 <= self.explore_prob <= 1, "explore_prob must be between 0 and 1")
        require(self.margin > 0, "margin must be positive")
        require(self.min_count >= 1, "min_count must be at least 1")
        require_range(self, ["beam"], 1, MAX_BEAM)
        for name in ("update_after", "batch_sentences", "word_dropout", "attention"):
            require(getattr(self, name) >= 0, f"{name} must not be negative")
        choices = (*SCHEMES, NO_CROSSING)
        require(self.crossing in choices, f"crossing must be one of {', '.join(choices)}")


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """Everything that determines a training run, apart from the data."""

    preset: str = "paper"
    network: NetworkConfig = field(default_factory=NetworkConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    members: int = 1  # the number of networks in the ensemble
    constituency: ConstituencyConfig | None = None  # how its relations encode phrases; None: they do not
    encoder: EncoderTraining | None = None  # how its pretrained encoder is trained; None: it has none

    def __post_init__(self) -> None:
        require_range(self, ["members"], 1, MAX_MEMBERS)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if name not in ("constituency", "encoder") or value}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserConfig:
        """Undo :meth:`to_dict`; raise a :class:`ConfigError` for an unknown key or a value of the wrong type. Settings
        that were written before there was ``training.crossing`` are those of projective parsers."""
        known = dict(values)
        network = build_settings(NetworkConfig(), known.pop("network", {}))
        training = build_settings(TrainingConfig(crossing=NO_CROSSING), known.pop("training", {}), "training.")
        preset, members = known.pop("preset", "paper"), known.pop("members", 1)
        constituency = known.pop("constituency", None)
        if constituency is not None:
            constituency = build_settings(ConstituencyConfig(), constituency, "constituency.")
        encoder = known.pop("encoder", None)
        if encoder is not None:
            encoder = build_settings(EncoderTraining(), encoder, "encoder.")
        if known:
            names = "preset, network, training, members, constituency, encoder"
            raise ConfigError(f"unknown setting {sorted(known)[0]!r}; there are: {names}")
        if not isinstance(preset, str):
            raise ConfigError("preset must be a string")
        if type(members) is not int:
            raise ConfigError(f"members must be of type int, not {reprlib.repr(members)}")
        return cls(preset, network, training, members, constituency, encoder)


PRESETS: Mapping[str, ParserConfig] = types.MappingProxyType(
    {
        "bottom-up": ParserConfig("bottom-up", NetworkConfig(bilstm_layers=0, tree_layers=0)),
        "htlstm": ParserConfig("htlstm", NetworkConfig(bilstm_layers=0)),
        "paper": ParserConfig("paper"),
        "pipeline": ParserConfig(  # the default of whole pipelines, for treebanks of any size and any morphology
            "pipeline",
            NetworkConfig(vector_dim=400, deep_bilstm=True, spelling_dim=48, tags="all"),
            TrainingConfig(
                epochs=12,
                min_updates=2000,
                patience=0.3,
                min_count=2,
                freeze_external=True,
                attention=1.0,
                dropout=0.2,
                averaging=0.999,
            ),
        ),
        "strong": ParserConfig(  # the paper's architecture with later improvements: docs/development/results.md
            "strong",
            NetworkConfig(vector_dim=400, deep_bilstm=True, spelling_dim=48),
            TrainingConfig(epochs=12, min_count=2, freeze_external=True, attention=1.0, dropout=0.2, averaging=0.999),
        ),
        BEAM: ParserConfig(  # fine-tunes a parser for beam search; the network is that of the parser
            BEAM,
            training=TrainingConfig(
                epochs=3,
                beam=8,
                batch_sentences=32,
                learning_rate=0.0002,
                freeze_external=True,
                dropout=0.2,
                final_rate=0.1,
                averaging=0.99,
            ),
        ),
    }
)


def preset(
    name: str, *, network: Mapping[str, Any] | None = None, training: Mapping[str, Any] | None = None
) -> ParserConfig:
    """Return a preset with some settings changed."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}; there are: {', '.join(PRESETS)}")
    settings = PRESETS[name].to_dict()
    settings["network"] |= dict(network or {})
    settings["training"] |= dict(training or {})
    return ParserConfig.from_dict(settings)
