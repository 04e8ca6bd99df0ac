"""Networks of the parser in the core: the tree encoder and the scorer, and parsing with them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from easyfirst.native.encoder import GROUP, Encoder, Given, addresses
from easyfirst.native.layout import Packed, Places, exponents, spread
from easyfirst.native.library import OBSERVE, Core, CountsStruct, MemberStruct, StepsStruct
from easyfirst.native.matrix import Matrix
from easyfirst.nn import scorer, trees
from easyfirst.nn.arrays import Floats
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network

MAX_PANEL = 32
"""The most columns that a product reads at once."""

ROWS = 4
"""How many attachments are worked out at once, if there are as many that look likely."""


class Steps(NamedTuple):
    """Derivations: from the first word of a sentence on, a value for each of its steps; the last one is not used."""

    heads: npt.NDArray[np.int32]
    modifiers: npt.NDArray[np.int32]
    relations: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    margins: npt.NDArray[np.float32]
    label_margins: npt.NDArray[np.float32]

    @classmethod
    def empty(cls, n_words: int) -> Steps:
        heads, modifiers, relations = np.zeros((3, n_words), dtype=np.int32)
        scores, margins, label_margins = np.zeros((3, n_words), dtype=np.float32)
        return cls(heads, modifiers, relations, scores, margins, label_margins)


class Member:
    """One network of an ensemble, compiled."""

    def __init__(self, core: Core, network: Network, precision: str, *, n_members: int = 1, words: bool = True) -> None:
        """Compile a network whose scores are averaged with those of ``n_members - 1`` others; without ``words`` only
        the tree encoder and the scorer."""
        self.core, self._precision = core, precision
        self._kept: list[Any] = []
        weights = network.trees
        self.encoder = Encoder.of_words(core, network.words, precision) if words else None
        vector, n_layers = len(weights.padding), len(weights.layers)
        self.vector = Places.of(vector // 2, vector // 2)
        self.tree = Places.of(weights.output_dim, weights.output_dim)  # e_l and e_r
        dim = self.tree.size // 2
        leaves, steps = self._layers(network)
        slots = spread(*self._slots(network))
        hidden_bias, labelled, bias, unlabelled = self._scorer(network, n_members)
        self.struct = MemberStruct(
            words=None if self.encoder is None else ctypes.addressof(self.encoder.struct),
            dim=dim,
            vector_dim=self.vector.size,
            n_layers=n_layers,
            n_slots=network.n_slots,
            hidden_dim=Places.of(len(network.scorer.unlabelled)).size,
            n_relations=network.scorer.n_relations,
            padding=self._array(spread(weights.padding, self.vector)),
            leaves=self._keep(addresses(leaves)),
            steps=self._keep(addresses(steps)),
            slots=self._matrix(slots, hidden_bias),
            labelled=self._matrix(labelled, bias),
            unlabelled=self._array(unlabelled),
        )
        if n_layers:
            assert weights.encode is not None
            self.struct.encode = self._matrix(spread(weights.encode[: 2 * weights.output_dim], self.vector, self.tree))
            self.struct.relations = self._array(spread(trees.relation_table(NUMPY, weights), self.vector))
            self.struct.sides[:] = [self._matrix(slots[side * dim : (side + 1) * dim]) for side in (0, 1)]

    def _layers(self, network: Network) -> tuple[list[int | None], list[int | None]]:
        """Compile RNN_L and RNN_R: the first step of leaves, and every later one."""
        leaves: list[int | None] = []
        steps: list[int | None] = []
        places = self.vector
        for number, layer in enumerate(network.trees.layers):
            dim = layer.dim
            own, three, four = Places.of(dim), Places.of(*[dim] * 3), Places.of(*[dim] * 4)
            first = [exponents(layer.input[side], dim, (1, 2, 3)) for side in (0, 1)]
            bias = [exponents(layer.bias[side, 0], dim) for side in (0, 1)]
            first_bias = [each[dim:] for each in bias]
            if number == 0:
                both = three.beside(three)
                joint = spread(np.concatenate(first, axis=1), both, places)
                leaves += [self._matrix(joint, spread(np.concatenate(first_bias), both)), None]
            else:
                leaves += [
                    self._matrix(spread(first[side], three, places), spread(first_bias[side], three)) for side in (0, 1)
                ]
            for side in (0, 1):
                joined = np.concatenate([layer.input[side], layer.recurrent[side]])
                joined = spread(exponents(joined, dim), four, places.beside(own))
                steps.append(self._matrix(joined, spread(bias[side], four)))
            places = own
        return leaves, steps

    def _slots(self, network: Network) -> tuple[Floats, Places, Places]:
        """Return the hidden layer's weights by slot, as exponents (``scorer.slot_weights``), and where they go."""
        half = len(network.scorer.unlabelled)
        columns = Places.of(*[half] * (2 * network.n_slots))
        return scorer.slot_weights(network.scorer, network.n_slots) * np.float32(-2), columns, self.tree

    def _scorer(self, network: Network, n_members: int) -> tuple[Packed, Packed, Packed, Packed]:
        """Return the bias of the hidden layers by slot, the output layer of MLP_L and the bias of both, and that of
        MLP_U. tanh(x) = 2 sigmoid(2x) - 1, so with the factors in the weights the sigmoid of the exponents remains."""
        weights, share = network.scorer, np.float32(1 / n_members)
        half = len(weights.unlabelled)
        one, pair = Places.of(half), Places.of(half, half)
        hidden_bias = np.zeros((network.n_slots, pair.size), dtype=np.float32)
        hidden_bias[network.n_slots // 2 - 1] = spread(weights.hidden_bias * np.float32(-2), pair)  # in every window
        output, output_bias = scorer.output_weights(NUMPY, weights)
        columns = Places.of(2 * weights.n_relations, padded=False)
        labelled = spread(weights.labelled * (2 * share), columns, one)
        bias = np.asarray((output_bias - output.sum(axis=0)) * share, dtype=np.float32)
        return hidden_bias.reshape(-1), labelled, bias, spread(weights.unlabelled.T * (2 * share), one)

    def _keep(self, item: Any) -> Any:
        self._kept.append(item)
        return item

    def _matrix(self, weights: Packed, bias: Packed | None = None) -> int:
        return self._keep(Matrix(self.core, weights, bias, self._precision)).address

    def _array(self, array: Floats) -> int:
        """Keep an array for the core, with room behind it: products read whole panels of columns."""
        padded = np.zeros(array.size + MAX_PANEL, dtype=np.float32)
        padded[: array.size] = array.reshape(-1)
        return self._keep(padded).ctypes.data


class Members:
    """An ensemble, or a single network, that parses. Threads may share it."""

    def __init__(self, core: Core, networks: Sequence[Network], precision: str) -> None:
        if len({(network.n_slots, network.scorer.n_relations) for network in networks}) != 1:
            raise ValueError("the networks of an ensemble must have the same window and the same relations")
        self._core = core
        self._members = [Member(core, network, precision, n_members=len(networks)) for network in networks]
        pointers = [ctypes.pointer(member.struct) for member in self._members]
        self._structs = (ctypes.POINTER(MemberStruct) * len(pointers))(*pointers)

    def parse(
        self,
        given: Given,
        *,
        group: int = GROUP,
        rows: int = ROWS,
        observe: Observe | None = None,
        counts: CountsStruct | None = None,
    ) -> Steps:
        """Parse sentences, longest first. Neither ``group``, the number of sentences in lock step, nor ``rows``, the
        number of attachments that are worked out at once, changes the result. ``observe`` is called with every
        decision."""
        for member in self._members:
            if member.encoder is not None:
                member.encoder.check(given)
        steps = Steps.empty(given.n_rows)
        to = StepsStruct(*(array.ctypes.data for array in steps))
        errors: list[BaseException] = []

        def observed(decision: Any) -> None:
            try:
                if observe is not None and not errors:
                    observe(_decision_of(decision.contents))
            except BaseException as error:  # cannot pass through the core, so it is raised below
                errors.append(error)

        callback = OBSERVE() if observe is None else OBSERVE(observed)
        with self._core.workspace() as workspace:
            arguments = (workspace, given.struct, group, rows, to, callback, counts)
            self._core.call("parse", self._structs, len(self._members), *arguments)
        if errors:
            raise errors[0]
        return steps


class Decision(NamedTuple):
    """A decision of the loop as it is made. The arrays are copies."""

    left: int
    side: int
    relation: int
    next: npt.NDArray[np.int32]  # (n_words + 1,): the pending list; the last row is beyond its ends
    previous: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]  # (n_words, width), by row of pend[i]; valid where there is a pair


Observe = Callable[[Decision], None]


def _decision_of(struct: Any) -> Decision:
    n, width = struct.outside, struct.width
    following, before = (np.ctypeslib.as_array(links, (n + 1,)).copy() for links in (struct.next, struct.previous))
    scores = np.ctypeslib.as_array(struct.scores, (n, width)).copy()
    return Decision(struct.left, struct.side, struct.relation, following, before, scores)
