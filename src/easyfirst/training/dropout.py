"""Dropout: values set to zero by chance, the others scaled up, so that the mean stays what it was."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from easyfirst.nn.sequences import Drop


def dropout(share: float, rng: np.random.Generator) -> Drop | None:
    """A function that drops this share of every array it is given, anew each time; None for nothing to drop.

    All chance comes from ``rng``: the same state of it gives the same masks.
    """
    if share == 0:
        return None
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
    kept = 1 - share

    def drop(x: Tensor) -> Tensor:
        return x * torch.empty_like(x).bernoulli_(kept, generator=generator).div_(kept)

    return drop
