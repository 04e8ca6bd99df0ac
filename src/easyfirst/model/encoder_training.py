"""The settings by which a pretrained encoder is trained, together with the parser that reads its vectors."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.model.settings import check_finite, require


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """How the transformer is fine-tuned. Everything else is trained by the parser's own settings."""

    learning_rate: float = 0.0001  # the highest one, after the warm-up
    warmup: float = 0.1  # the share of training in which the learning rate grows from 0
    final_rate: float = 0.0  # the final share of the learning rate, to which it then decays linearly
    weight_decay: float = 0.01  # as a share of the learning rate
    clip_norm: float = 1.0  # the largest norm of the transformer's gradient
    frozen: bool = False  # True: the transformer is not trained, only the weights by which its layers are mixed

    def __post_init__(self) -> None:
        check_finite(self)
        require(self.learning_rate > 0, "learning_rate must be positive")
        require(0 <= self.warmup < 1, "warmup must be in [0, 1)")
        require(0 <= self.final_rate <= 1, "final_rate must be from 0 to 1")
        require(0 <= self.weight_decay < 1, "weight_decay must be in [0, 1)")
        require(self.clip_norm > 0, "clip_norm must be positive")

    def rate_share(self, past: float) -> float:
        """Return the factor of the learning rate after this share of training."""
        if past < self.warmup:
            return past / self.warmup
        return 1 - (1 - self.final_rate) * (min(past, 1) - self.warmup) / (1 - self.warmup)
