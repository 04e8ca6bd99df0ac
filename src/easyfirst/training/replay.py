"""The loss with gradients (section 5.1), of violations that exploration found.

The hinge loss of a step only depends on the subtrees in the windows of two actions, the best correct and the best wrong
one. Replay recomputes those subtrees, and nothing else, so as the parser gets better there is ever less to do.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn import scorer
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.exploration import Attachments, Violations
from easyfirst.training.torch_namespace import TORCH
from easyfirst.training.tree_encoder import TreeEncoder


def hinge_losses(
    network: Network, vectors: Tensor, attachments: Attachments, violations: Violations, *, margin: float
) -> Tensor:
    """margin - Score(correct) + Score(wrong) of every violation, as a function of the word vectors and the weights."""
    encoder = TreeEncoder(network.trees, vectors, attachments, violations.windows)
    n = len(violations.actions)
    windows = encoder.vectors(violations.windows).reshape(2 * n, -1)
    hidden = scorer.hidden_of_windows(TORCH, network.scorer, windows)
    output, bias = scorer.output_weights(TORCH, network.scorer)
    actions = torch.from_numpy(np.ascontiguousarray(violations.actions).reshape(-1))
    scores = (hidden * output.T.index_select(0, actions)).sum(1) + bias.index_select(0, actions)
    correct, wrong = scores.reshape(n, 2).unbind(1)
    return margin - correct + wrong
