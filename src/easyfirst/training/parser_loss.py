"""The parser's loss (section 5): explore a batch without gradients, then replay its violations with them.

The hinge loss of a step depends only on the subtrees in the windows of two actions, the best correct one and the best
wrong one. Replay recomputes those subtrees and nothing else, so it takes less time the better the parser gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from easyfirst.model.parser_config import ParserConfig
from easyfirst.nn import scorer
from easyfirst.nn.parser_network import Network, network_of
from easyfirst.nn.sequences import Packing
from easyfirst.nn.words import encode_words
from easyfirst.parsing.batch_exploration import Exploration, make_exploration
from easyfirst.parsing.exploration import Attachments, Policy, Violations
from easyfirst.training.attention import Attention
from easyfirst.training.beam_exploration import BeamExploration
from easyfirst.training.corpus import ParserBatch
from easyfirst.training.fine_tuning import FineTuning, without_encoder
from easyfirst.training.torch_namespace import TORCH, dropout
from easyfirst.training.tree_encoder import TreeEncoder


@dataclass(frozen=True, slots=True)
class BatchLoss:
    """The loss of a batch."""

    loss: Tensor | None  # the summed loss, with the second task's share; None without violations
    n_violations: int
    hinge: float  # the summed hinge loss, as exploration measured it


NONE = BatchLoss(None, 0, 0.0)


class ParserLoss:
    """Computes the loss of batches with parameters that an optimizer changes in place."""

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        config: ParserConfig,
        rng: np.random.Generator,
        tuning: FineTuning | None = None,
    ) -> None:
        """``tuning``: the pretrained encoder, if there is one; its weights are among the parameters."""
        self._parameters, self._config, self._rng, self._tuning = parameters, config, rng, tuning
        self._network = network_of(parameters, rnn=config.network.rnn)
        arrays = {name: tensor.detach().numpy() for name, tensor in without_encoder(parameters).items()}
        settings, network = config.training, network_of(arrays, rnn=config.network.rnn)
        policy = Policy(settings.margin, settings.explore_prob, settings.use_dynamic_oracle)
        self._exploration: Exploration
        if settings.beam > 1:
            self._exploration = BeamExploration(network, settings.beam, settings.margin)
        else:
            self._exploration = make_exploration(network, policy, rng)
        self._attention = Attention.of(parameters) if config.training.attention else None

    def weights_changed(self) -> None:
        """Rebuild what is computed from the weights. Call it after every update."""
        self._exploration.weights_changed()

    def of(self, batch: ParserBatch) -> BatchLoss:
        """Parse a batch with error exploration (Algorithm 4) and return the loss of its violations."""
        training = self._config.training
        drop = dropout(training.dropout, self._rng)
        lengths, ids = batch.lengths.tolist(), batch.ids
        if self._tuning is not None:
            ids = replace(ids, contextual=self._tuning.read(self._parameters, batch.forms, self._rng))
        vectors = encode_words(TORCH, self._network.words, ids, Packing.of(lengths), drop)
        explored = self._exploration.explore(vectors.detach().numpy(), lengths, batch.gold)
        if explored is None:
            return NONE
        attachments, violations, n = explored.attachments, explored.violations, explored.n_violations
        loss = hinge_losses(self._network, vectors, attachments, violations, margin=training.margin).sum()
        if self._attention is not None:  # weighted as a share of every violation's loss
            second = self._attention.mean_loss(vectors, batch.lengths, batch.gold, drop)
            loss = loss + training.attention * n * second
        return BatchLoss(loss, n, explored.loss)


def hinge_losses(
    network: Network, vectors: Tensor, attachments: Attachments, violations: Violations, *, margin: float
) -> Tensor:
    """Return margin - Score(correct) + Score(wrong) of every violation, differentiable by vectors and weights."""
    encoder = TreeEncoder(network.trees, vectors, attachments, violations.windows)
    n = len(violations.actions)
    windows = encoder.vectors(violations.windows).reshape(2 * n, -1)
    hidden = scorer.hidden_of_windows(TORCH, network.scorer, windows)
    output, bias = scorer.output_weights(TORCH, network.scorer)
    actions = torch.from_numpy(np.ascontiguousarray(violations.actions).reshape(-1))
    scores = (hidden * output.T.index_select(0, actions)).sum(1) + bias.index_select(0, actions)
    correct, wrong = scores.reshape(n, 2).unbind(1)
    return margin - correct + wrong
