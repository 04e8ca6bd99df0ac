"""Exploration in the compiled core, for networks of LSTMs. Its results are those of NumPy but for rounding."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np

from easyfirst.errors import ConfigError, ModelError
from easyfirst.native.compiled import ROWS, Member
from easyfirst.native.layout import spread
from easyfirst.native.library import Core, CountsStruct, ExploredStruct, TeacherStruct
from easyfirst.nn.arrays import Floats
from easyfirst.nn.parser_network import Network
from easyfirst.parsing.exploration import Attachments, Explored, Policy, Violations
from easyfirst.parsing.oracle import Gold


@contextmanager
def _divergence_reported() -> Generator[None]:
    """Report numbers that are not finite as what they are in training, where weights are not read from a file."""
    try:
        yield
    except ModelError as error:
        raise ConfigError("the weights or scores are not finite numbers; try a smaller learning_rate") from error


class NativeExploration:
    """Explores batches in the core, all sentences in lock step."""

    def __init__(self, core: Core, network: Network, policy: Policy, rng: np.random.Generator) -> None:
        self._core, self._network, self._policy, self._rng = core, network, policy, rng
        self._member = Member(core, network, "float32", words=False)

    def weights_changed(self) -> None:
        """Pack the weights again."""
        with _divergence_reported():
            self._member.weights_changed()

    def explore(
        self,
        vectors: Floats,
        lengths: Sequence[int],
        gold: Gold,
        *,
        rows: int = ROWS,
        counts: CountsStruct | None = None,
    ) -> Explored | None:
        """Explore sentences, longest first. ``rows`` changes nothing in the result."""
        sizes, policy, n_slots = np.array(lengths, dtype=np.int32), self._policy, self._network.n_slots
        n_words = int(sizes.sum(dtype=np.int64))
        n = n_words - len(sizes)
        places = self._member.vector
        given = np.ascontiguousarray(vectors if places.is_plain else spread(vectors, places), dtype=np.float32)
        heads, relations = (np.ascontiguousarray(each, dtype=np.int64) for each in (gold.heads, gold.relations))
        if given.shape != (n_words, places.size) or min(len(heads), len(relations)) < n_words:
            raise ValueError("the lengths of the sentences do not add up to the number of vectors or gold heads")
        random = self._rng.random(n) if policy.use_dynamic_oracle else None  # as many as an Explorer draws step by step
        teacher = TeacherStruct(
            heads.ctypes.data,
            relations.ctypes.data,
            policy.margin,
            policy.explore_prob,
            None if random is None else random.ctypes.data,
        )
        attachments = Attachments(*(np.empty(shape, dtype=np.int64) for shape in (n, n, (n, 2), n)))
        windows, actions = np.empty((n, 2, n_slots, 2), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
        losses = np.empty(n, dtype=np.float32)
        made = (attachments.sides, attachments.before, attachments.modifiers, attachments.relations)
        to = ExploredStruct(*(array.ctypes.data for array in (*made, windows, actions, losses)), 0)
        with _divergence_reported(), self._core.workspace() as workspace:
            sentences = (len(sizes), sizes.ctypes.data, given.ctypes.data)
            self._core.call("explore", self._member.struct, workspace, *sentences, rows, teacher, to, counts)
        found = to.n_violations
        if not found:
            return None
        violations = Violations(windows[:found], actions[:found], losses[:found])
        return Explored(attachments, violations, float(violations.losses.sum(dtype=np.float64)))
