"""Inverted dropout: some values are set to zero at random, and the others scaled up to keep the mean."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.sequences import Drop


def dropout(share: float, rng: np.random.Generator) -> Drop | None:
    """Return a function that drops this share of an array, with a new mask in each call; None if the share is 0.

    All randomness comes from ``rng``: the same state gives the same masks.
    """
    if share == 0:
        return None
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
    kept = 1 - share

    def drop(x: Tensor) -> Tensor:
        return x * torch.empty_like(x).bernoulli_(kept, generator=generator).div_(kept)

    return drop
