"""The tagger's settings: the sizes of its network, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, TrainingSettings, require, require_range
from easyfirst.nn.members import MAX_MEMBERS


@dataclass(frozen=True, slots=True)
class TaggerConfig:
    """The architecture of the tagger's network."""

    word_dim: int = 64
    min_count: int = 2  # rarer words share the embedding of the unknown word
    character_dim: int = 32
    spelling_dim: int = 64  # the width of each direction of the BiLSTM over characters; 0: no characters
    bilstm_dim: int = 128  # the width of each direction of the BiLSTM over words
    bilstm_layers: int = 2
    external_dim: int = 0  # the width of the external vectors; 0: none
    members: int = 1  # the number of networks in the ensemble

    def __post_init__(self) -> None:
        require_range(self, ("word_dim", "character_dim", "bilstm_dim"), 1, MAX_SIZE)
        require_range(self, ("spelling_dim", "external_dim"), 0, MAX_SIZE)
        require_range(self, ["bilstm_layers"], 1, MAX_LAYERS)
        require_range(self, ["members"], 1, MAX_MEMBERS)
        require(self.min_count >= 1, "min_count must be at least 1")


@dataclass(frozen=True, slots=True)
class TaggerTraining(TrainingSettings):
    """The training settings of a tagger."""

    epochs: int = 14
    learning_rate: float = 0.006
    adam_beta2: float = 0.99
    dropout: float = 0.4
    batch_words: int = 400  # the approximate number of words in a batch, at most: small treebanks have smaller ones
    word_dropout: float = 0.25  # alpha: a word seen n times becomes unknown with probability alpha / (n + alpha)

    def __post_init__(self) -> None:
        super(TaggerTraining, self).__post_init__()
        require(self.batch_words >= 1, "batch_words must be at least 1")
        require(self.word_dropout >= 0, "word_dropout must not be negative")
