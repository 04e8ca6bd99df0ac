"""A pretrained encoder in training. Its transformer may be on a GPU; everything else is on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from easyfirst.model.encoder_store import MIX, PREFIX, PretrainedEncoder, require_packages
from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.weight_files import checksum
from easyfirst.nn.arrays import Floats

ENCODER = "encoder."  # the prefix of its arrays among those of the parser


def without_encoder(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of the network alone."""
    return {name: array for name, array in arrays.items() if not name.startswith(ENCODER)}


class FineTuning:
    """A pretrained encoder whose weights training changes."""

    def __init__(self, encoder: PretrainedEncoder, config: EncoderTraining, device: str = "cpu") -> None:
        from easyfirst.pretrained.reader import checked_device
        from easyfirst.pretrained.transformer import Transformer

        self.encoder, self.config, self.device = encoder, config, checked_device(device)
        self.arrays = {ENCODER + name: np.array(array) for name, array in encoder.arrays.items()}
        self.names = frozenset(name for name in self.arrays if name.startswith(ENCODER + PREFIX))
        self.sha256 = checksum(encoder.arrays)
        self._transformer = Transformer(encoder.parts[0], encoder.tokenizer, self.device)

    @classmethod
    def of(cls, directory: Path, config: EncoderTraining, device: str) -> FineTuning:
        """Read the directory of a Hugging Face model."""
        require_packages("--encoder")
        from easyfirst.training.hugging_face import read_hugging_face

        return cls(read_hugging_face(directory), config, device)

    @property
    def frozen(self) -> frozenset[str]:
        """The arrays that are not trained."""
        return self.names if self.config.frozen else frozenset()

    @property
    def description(self) -> str:
        """The pretrained model for the card of the parser."""
        licence = self.encoder.licence or "licence not stated"
        return f"{self.encoder.name} ({licence}), {'frozen' if self.config.frozen else 'fine-tuned'}"

    def read(
        self, parameters: Mapping[str, Tensor], sentences: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Tensor:
        """Return the vectors of the words of sentences, differentiable by the parameters, with the dropout of the
        transformer unless it is frozen. The same state of ``rng`` gives the same dropout."""
        self._transformer.module.train(not self.config.frozen)
        devices = [self._transformer.device] if self._transformer.device.type == "cuda" else []
        seed = int(rng.integers(2**63))
        with torch.random.fork_rng(devices):  # its layers read the global generator, which must not change
            torch.manual_seed(seed)
            return self._transformer.read(sentences, parameters[ENCODER + MIX], self._weights(parameters))

    def trained(self, arrays: Mapping[str, Floats]) -> PretrainedEncoder:
        """Return the encoder with weights from training."""
        return self.encoder.with_arrays({name: np.array(arrays[ENCODER + name]) for name in self.encoder.arrays})

    def reader(self, arrays: Mapping[str, Floats]) -> TrainedReader:
        """Return a reader with these weights, which must not change while it is used."""
        tensors = {name: torch.from_numpy(arrays[name]) for name in self.arrays}
        on_device = {name: tensor.to(self.device) if name in self.names else tensor for name, tensor in tensors.items()}
        return TrainedReader(self, on_device)

    def reader_of(self, encoder: PretrainedEncoder) -> TrainedReader:
        """Return a reader with the weights of a saved encoder."""
        return self.reader({ENCODER + name: array for name, array in encoder.arrays.items()})

    def evaluate(self, parameters: Mapping[str, Tensor], sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the vectors of the words of sentences as a parser computes them."""
        self._transformer.module.eval()
        with torch.no_grad():
            return self._transformer.read(sentences, parameters[ENCODER + MIX], self._weights(parameters)).numpy()

    def _weights(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name.removeprefix(ENCODER + PREFIX): parameters[name] for name in self.names}


@dataclass(frozen=True, slots=True)
class TrainedReader:
    """Reads sentences with the weights of an epoch."""

    tuning: FineTuning
    parameters: Mapping[str, Tensor]

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        return self.tuning.evaluate(self.parameters, sentences)
