"""Exploring whole batches: what training needs from them, in NumPy or in the compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from easyfirst.native.backend import Backend
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.exploration import Explored, Explorer, Policy
from easyfirst.parsing.loop import Loop
from easyfirst.parsing.oracle import Gold
from easyfirst.parsing.workspace import Workspace


class Exploration(Protocol):
    """Explores batches with a network whose arrays training changes in place."""

    def weights_changed(self) -> None:
        """Recompute what is derived from the weights. Call it after every update."""

    def explore(self, vectors: Floats, lengths: Sequence[int], gold: Gold) -> Explored | None:
        """Explore sentences given by the vectors v_i of their words, longest first. Return None without violations."""
        ...


class NumpyExploration:
    """The reference, in NumPy: the parser's loop with an :class:`Explorer` as its chooser."""

    def __init__(self, network: Network, policy: Policy, rng: np.random.Generator) -> None:
        self._network, self._policy, self._rng = network, policy, rng
        self._workspace = Workspace()
        self.weights_changed()

    def weights_changed(self) -> None:
        self._loop = Loop(self._network)

    def explore(self, vectors: Floats, lengths: Sequence[int], gold: Gold) -> Explored | None:
        policy = self._policy
        explorer = Explorer(
            gold,
            window=self._network.n_slots // 2 - 1,
            margin=policy.margin,
            explore_prob=policy.explore_prob,
            use_dynamic_oracle=policy.use_dynamic_oracle,
            rng=self._rng,
        )
        self._loop.run(vectors, lengths, explorer, self._workspace)
        if not explorer.n_violations:
            return None
        return Explored(explorer.attachments(), explorer.violations(), explorer.loss)


def make_exploration(
    network: Network, policy: Policy, rng: np.random.Generator, backend: Backend | None = None
) -> Exploration:
    """Return an exploration that runs on a backend; without one, that of the environment is chosen. The core always
    explores with 32-bit weights, so that the violations are those of the weights that are trained."""
    core = (Backend.choose() if backend is None else backend).core_for(network.trees.cell.name)
    if core is None:
        return NumpyExploration(network, policy, rng)
    from easyfirst.parsing.native_exploration import NativeExploration

    return NativeExploration(core, network, policy, rng)
