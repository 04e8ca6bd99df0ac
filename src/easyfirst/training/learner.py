"""One update of the weights (section 5): explore sentences without gradients, replay their violations with them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_weights import TABLES
from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import Network, network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.exploration import Explorer
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.workspace import Workspace
from easyfirst.training.attention import Attention, initial_attention
from easyfirst.training.average import Average
from easyfirst.training.corpus import ParserBatch
from easyfirst.training.dropout import dropout
from easyfirst.training.optimizer import Optimizer
from easyfirst.training.replay import hinge_losses
from easyfirst.training.torch_namespace import TORCH


@dataclass(frozen=True, slots=True)
class Explored:
    """A batch that has been parsed under the oracle's eye, and its word vectors with their gradient's graph."""

    vectors: Tensor
    explorer: Explorer
    attention_loss: Tensor | None
    """Of the second task, if there is one, a word."""


class Learner:
    """The weights, in one memory for PyTorch to change and for NumPy to parse with."""

    def __init__(self, arrays: Mapping[str, Floats], config: ParserConfig, rng: np.random.Generator) -> None:
        self.config = config
        self.rng = rng
        self.parameters = {name: torch.from_numpy(array) for name, array in arrays.items()}
        for name, tensor in self.parameters.items():
            tensor.requires_grad_(not (name == "words.external" and config.training.freeze_external))
        self.network: Network = network_of(self.parameters, rnn=config.network.rnn)
        self.arrays = {name: tensor.detach().numpy() for name, tensor in self.parameters.items()}
        self._numpy_network = network_of(self.arrays, rnn=config.network.rnn)
        self.average = Average(self.parameters, config.training.averaging)
        second = self._second_task() if config.training.attention else {}
        self.attention = Attention.of(second) if second else None
        self.arrays |= {name: tensor.detach().numpy() for name, tensor in second.items()}
        self.optimizer = Optimizer(self.parameters | second, config.training, sparse=TABLES)
        self.n_waiting = 0
        """Violations whose gradients wait for an update."""
        self._loop: Loop | None = None
        self._workspace = Workspace()

    def _second_task(self) -> dict[str, Tensor]:
        network = self.config.network
        arrays = initial_attention(network.vector_dim, self.network.n_relations, self.rng)
        return {name: torch.from_numpy(array).requires_grad_() for name, array in arrays.items()}

    @property
    def loop(self) -> Loop:
        """The parser's loop with the current weights."""
        if self._loop is None:
            self._loop = Loop(self._numpy_network)
        return self._loop

    def averaged_network(self) -> Network:
        """The network to be kept: with the averaged weights, or without averaging with the last ones."""
        return network_of(self.average.arrays, rnn=self.config.network.rnn)

    def explore(self, batch: ParserBatch) -> Explored:
        """Parse a batch, following the parser's own mistakes (Algorithm 4), and note the violations."""
        training = self.config.training
        with overflow_is_fine():
            drop = dropout(training.dropout, self.rng)
            vectors = encode_words(TORCH, self.network.words, batch.ids, Packing.of(batch.lengths.tolist()), drop)
        explorer = Explorer(
            batch.gold,
            window=self.config.network.window,
            margin=training.margin,
            explore_prob=training.explore_prob,
            use_dynamic_oracle=training.use_dynamic_oracle,
            rng=self.rng,
        )
        self.loop.run(vectors.detach().numpy(), batch.lengths.tolist(), explorer, self._workspace)
        attention = self.attention
        second = None if attention is None else attention.mean_loss(vectors, batch.lengths, batch.gold, drop)
        return Explored(vectors, explorer, second)

    def learn(self, explored: Explored) -> None:
        """Add the gradients of a batch's violations to those that wait for the next update."""
        if not explored.explorer.n_violations:
            return
        with overflow_is_fine():
            losses = hinge_losses(
                self.network,
                explored.vectors,
                explored.explorer.attachments(),
                explored.explorer.violations(),
                margin=self.config.training.margin,
            )
        loss = losses.sum()
        if explored.attention_loss is not None:  # as a part of the loss of every violation
            loss = loss + self.config.training.attention * explored.explorer.n_violations * explored.attention_loss
        if not math.isfinite(loss.item()):
            raise FloatingPointError("the loss is not a finite number")
        loss.backward()
        self.n_waiting += explored.explorer.n_violations

    def update(self, *, rate_share: float = 1.0) -> None:
        """One step of Adam on the mean loss of all violations learnt from since the last, at a share of the rate."""
        if self.n_waiting:
            self.optimizer.step(self.n_waiting, rate_share=rate_share)
            self.average.update()
            self.n_waiting = 0
            self._loop = None
