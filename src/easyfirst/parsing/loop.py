"""The parser's loop (Algorithm 1), for a batch of sentences in lock step: the only greedy loop there is.

In every step, every sentence that still has a pair takes one action. ``choose`` decides which: the best-scored one
when parsing, an oracle-guided one when training.

The loop is fast because of what it does not recompute: an attachment changes one node, and only the pairs whose window
holds that node are scored again (:mod:`easyfirst.parsing.state`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from easyfirst.nn.activations import overflow_is_fine
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.actions import Choose
from easyfirst.parsing.derivation import BatchSteps
from easyfirst.parsing.nodes import Member
from easyfirst.parsing.state import State
from easyfirst.parsing.workspace import Workspace


class Loop:
    """The loop with fixed weights: those of one network, or of an ensemble whose scores are averaged."""

    def __init__(self, *networks: Network) -> None:
        """Take the networks of an ensemble's members, which have the same window and the same relations."""
        self.members = [Member.of(network, len(networks)) for network in networks]

    def run(
        self, vectors: Floats, lengths: Sequence[int], choose: Choose, workspace: Workspace | None = None
    ) -> BatchSteps:
        """Parse sentences given by the vectors v_i of their words (of all members side by side), longest first.

        Pass one ``workspace`` to reuse its memory for several batches in turn.
        """
        steps = BatchSteps.before(lengths)
        if not len(lengths):
            return steps
        with overflow_is_fine():
            state = State.start(self.members, vectors, lengths, workspace or Workspace())
            n_active = np.searchsorted(-steps.lengths, -np.arange(1, lengths[0] + 1)).tolist()  # longer than 1, 2, ...
            for n, n_next in itertools.pairwise(n_active):
                actions = choose(state.candidates, n)
                h, m = state.arcs_of(actions)
                if n_next:  # the last attachment's new state is never scored, so skip it
                    state.attach(h[:n_next], m[:n_next], actions)
                steps.append(h, m, actions)
        return steps
