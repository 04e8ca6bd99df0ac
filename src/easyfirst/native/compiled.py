"""Networks of the parser in the core: the tree encoder and the scorer, and parsing with them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from easyfirst.native.encoder import GROUP, Encoder, Given, addresses
from easyfirst.native.layout import ONE_ROW, Block, Packed, Places, blocks_of, gate_blocks
from easyfirst.native.library import OBSERVE, Core, CountsStruct, MemberStruct, StepsStruct
from easyfirst.native.matrix import Filled, View
from easyfirst.nn import scorer, trees
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
    lost_margins: npt.NDArray[np.float32]  # of each word, in place of a step
    relation_scores: npt.NDArray[np.float32]  # (n_words, n_relations)

    @classmethod
    def empty(cls, n_words: int, n_relations: int) -> Steps:
        heads, modifiers, relations = np.zeros((3, n_words), dtype=np.int32)
        scores, margins, label_margins = np.zeros((3, n_words), dtype=np.float32)
        lost_margins = np.full(n_words, np.inf, dtype=np.float32)
        relation_scores = np.zeros((n_words, n_relations), dtype=np.float32)
        return cls(heads, modifiers, relations, scores, margins, label_margins, lost_margins, relation_scores)


class Member:
    """One network of an ensemble, compiled."""

    def __init__(self, core: Core, network: Network, precision: str, *, n_members: int = 1, words: bool = True) -> None:
        """Compile a network whose scores are averaged with those of ``n_members - 1`` others; without ``words`` only
        the tree encoder and the scorer."""
        self.core, self._precision, self._network, self._share = core, precision, network, np.float32(1 / n_members)
        self._kept: list[Any] = []
        self._filled: list[Filled] = []
        weights = network.trees
        self.encoder = Encoder.of_words(core, network.words, precision) if words else None
        vector, n_layers = len(weights.padding), len(weights.layers)
        has_halves = words or not n_layers  # those of the BiLSTM, or e_l and e_r
        self.vector = Places.of(vector // 2, vector // 2) if has_halves else Places.of(vector)
        if self.encoder is not None and self.encoder.places.size != self.vector.size:
            raise ValueError("the word encoder and the tree encoder must have vectors of the same width")
        self.tree = Places.of(weights.output_dim, weights.output_dim)  # e_l and e_r
        self.hidden = Places.of(len(network.scorer.unlabelled))  # of MLP_U, and of MLP_L
        n_relations, dim = network.scorer.n_relations, self.tree.size // 2
        self._padding = self._array(self.vector.size)
        self._relations = self._array(n_relations, self.vector.size)
        self._unlabelled = self._array(2, self.hidden.size)
        self._output_bias = self._array(1, 2 * n_relations)
        self._update_arrays()
        steps, leaves = self._layers()
        slots = self._slots()
        self.struct = MemberStruct(
            words=None if self.encoder is None else ctypes.addressof(self.encoder.struct),
            dim=dim,
            vector_dim=self.vector.size,
            n_layers=n_layers,
            n_slots=network.n_slots,
            hidden_dim=self.hidden.size,
            n_relations=n_relations,
            padding=self._padding.ctypes.data,
            steps=self._keep(addresses(steps)),
            leaves=self._keep(addresses(leaves)),
            slots=slots.address,
            labelled=self._labelled().address,
            unlabelled=self._unlabelled.ctypes.data,
        )
        if n_layers:
            assert weights.encode is not None
            blocks = blocks_of(weights.encode[: 2 * weights.output_dim], self.vector, self.tree)
            self.struct.encode = self._matrix((self.tree.size, self.vector.size), blocks).address
            self.struct.relations = self._relations.ctypes.data
            self.struct.sides[:] = [self._view(slots, side * dim, (dim, slots.shape[1]), False) for side in (0, 1)]

    def weights_changed(self) -> None:
        """Read the arrays of the network again. This needs weights of 32 bits, and no word encoder."""
        if self._precision != "float32" or self.encoder is not None:
            raise ValueError("only a float32 network without its word encoder can be updated")
        self._update_arrays()
        for matrix in self._filled:
            matrix.refill()

    def _update_arrays(self) -> None:
        """Compute what is not a block of an array: the padding, the relations and the output layers, except MLP_L's
        weights. tanh(x) = 2 sigmoid(2x) - 1: with the factors in the weights, the sigmoid of the exponents remains."""
        trees_, weights = self._network.trees, self._network.scorer
        self._padding[self.vector.where] = trees_.padding
        if trees_.layers:
            self._relations[:, self.vector.where] = trees.relation_table(NUMPY, trees_)
        self._unlabelled[:, self.hidden.where] = weights.unlabelled.T * (2 * self._share)
        output, output_bias = scorer.output_weights(NUMPY, weights)
        self._output_bias[0] = (output_bias - output.sum(axis=0)) * self._share

    def _layers(self) -> tuple[list[int | None], list[int | None]]:
        """Compile RNN_L and RNN_R: every step but the first, and the first one, that of leaves."""
        steps: list[int | None] = []
        leaves: list[int | None] = []
        places = self.vector
        for layer in self._network.trees.layers:
            own = Places.of(layer.dim)
            k = places.size + own.size
            for side in (0, 1):
                blocks = gate_blocks(layer.input[side], layer.dim, places)
                blocks += gate_blocks(layer.recurrent[side], layer.dim, own, row=places.size)
                blocks += gate_blocks(layer.bias[side], layer.dim, ONE_ROW, row=k)
                matrix = self._matrix((k, 4 * own.size), blocks)
                steps.append(matrix.address)
                leaves.append(self._view(matrix, 0, (places.size, 3 * own.size), True))
            places = own
        return steps, leaves

    def _slots(self) -> Filled:
        """Compile the hidden layer by slot, as exponents (``scorer.slot_weights``)."""
        weights, n_slots = self._network.scorer, self._network.n_slots
        half = len(self.hidden.where)
        columns = Places.of(half, half)
        blocks: list[Block] = []
        for slot, rows in enumerate(weights.hidden.reshape(n_slots, -1, 2 * half)):
            blocks += blocks_of(rows, columns, self.tree, column=slot * columns.size, factor=-2)
        here = (n_slots // 2 - 1) * columns.size  # pend[i] is in every window
        bias = weights.hidden_bias[None]
        blocks += blocks_of(bias, columns, ONE_ROW, row=self.tree.size, column=here, factor=-2)
        return self._matrix((self.tree.size, n_slots * columns.size), blocks)

    def _labelled(self) -> Filled:
        """Compile the output layer of MLP_L, with the bias of both."""
        weights = self._network.scorer
        columns = Places.of(2 * weights.n_relations, padded=False)
        blocks = blocks_of(weights.labelled, columns, self.hidden, factor=2 * float(self._share))
        blocks.append(Block(self._output_bias, self.hidden.size, 0))
        return self._matrix((self.hidden.size, columns.size), blocks)

    def _keep(self, item: Any) -> Any:
        self._kept.append(item)
        return item

    def _matrix(self, shape: tuple[int, int], blocks: Sequence[Block]) -> Filled:
        matrix = Filled(self.core, shape, blocks, self._precision)
        self._filled.append(matrix)
        return matrix

    def _view(self, matrix: Filled, row: int, shape: tuple[int, int], has_bias: bool) -> int:
        return self._keep(View(matrix, row=row, shape=shape, has_bias=has_bias)).address

    def _array(self, *shape: int) -> Packed:
        """Make an array for the core, with room behind it: products read whole panels of columns."""
        size = math.prod(shape)
        return np.zeros(size + MAX_PANEL, dtype=np.float32)[:size].reshape(shape)


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
        steps = Steps.empty(given.n_rows, self._members[0].struct.n_relations)
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
