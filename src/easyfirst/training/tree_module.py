"""The tree encoder as a PyTorch module (section 3): finished trees in, the vector of every subtree out, with gradients.

``nn/trees`` has the maths and ``nn/tree_levels`` the order of computation. On the CPU, LSTMs run in a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike

import torch
from torch import Tensor, nn

from easyfirst.meaning.encoder_model import EncoderConfig, EncoderModel, HasModel, describe, relation_table, weights_of
from easyfirst.meaning.given_trees import TreeLike, check_vectors, trees_of
from easyfirst.meaning.numpy_encoder import Described, NumpyTreeEncoder
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import Namespace
from easyfirst.nn.tree_levels import OUTWARD, TreePlan
from easyfirst.nn.trees import TreeWeights
from easyfirst.training.kernels import LstmTrees
from easyfirst.training.torch_namespace import TORCH


class TreeEncoder(Described, nn.Module):
    """Encodes every subtree of ordered trees as a vector, with gradients.

    Each side of a node is read by an RNN: its head and the modifiers there, each modifier as the encoding of its own
    subtree with its relation. ``order`` is that of reading: ``"outward"`` from the head, as in the paper, ``"inward"``
    to the head, or ``"bidirectional"``. All nodes of a batch that can be computed at the same time are.

    >>> encoder = easyfirst.TreeEncoder(vector_dim=100, tree_dim=150)  # doctest: +SKIP
    >>> vectors = encoder([(2, 0, 2), (0, 1)], torch.randn(5, 100))  # doctest: +SKIP
    >>> vectors.shape  # doctest: +SKIP
    torch.Size([5, 300])
    """

    def __init__(
        self,
        vector_dim: int = 200,
        tree_dim: int = 200,
        *,
        relations: Sequence[str] = (),
        order: str = OUTWARD,
        layers: int = 1,
        relation_dim: int = 25,
        rnn: str = "lstm",
        seed: int = 1,
    ) -> None:
        """Make an encoder with random weights.

        ``vector_dim`` is the width of word vectors, ``tree_dim`` that of an RNN. A subtree has a vector of twice
        ``tree_dim``, or four times if bidirectional. ``relations`` are the names that it reads; without any, it reads
        trees without labels. ``rnn`` is ``"lstm"``, ``"gru"`` or ``"elman"``, with so many ``layers``.
        """
        super().__init__()
        config = EncoderConfig(vector_dim, tree_dim, layers, relation_dim, rnn, order)
        self._set(EncoderModel.initial(config, tuple(relations), seed=seed))

    def _set(self, model: EncoderModel) -> None:
        self._contents = model
        for name, array in model.arrays.items():
            self.register_parameter(name.replace(".", "_"), nn.Parameter(torch.from_numpy(array.copy())))

    @classmethod
    def of(cls, model: EncoderModel) -> TreeEncoder:
        """Make an encoder of the contents of a directory."""
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made._set(model)
        return made

    @classmethod
    def of_parser(cls, parser: HasModel, *, order: str = OUTWARD) -> TreeEncoder:
        """Make an encoder that starts with the weights of a trained parser, and with its sizes and relations.

        With the order ``"outward"``, it computes what the parser does. With the others, training starts from there.
        """
        return cls.of(EncoderModel.of_parser(parser, order=order))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> TreeEncoder:
        """Read an encoder from a directory."""
        return cls.of(EncoderModel.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the encoder to a directory, from which :meth:`load` and :meth:`NumpyTreeEncoder.load` restore it."""
        self.model.save(path)

    def to_numpy(self) -> NumpyTreeEncoder:
        """Return a copy for inference without PyTorch."""
        return NumpyTreeEncoder(self.model)

    @property
    def model(self) -> EncoderModel:
        """The settings, relations and a copy of the weights."""
        arrays: dict[str, Floats] = {}
        for name in self._contents.arrays:
            arrays[name] = self.get_parameter(name.replace(".", "_")).detach().to("cpu", torch.float32).numpy().copy()
        return EncoderModel(self.config, self.relations, arrays)

    def extra_repr(self) -> str:
        """Return the description that PyTorch prints."""
        return describe(self.config, self.relations)

    def forward(self, trees: Iterable[TreeLike], vectors: Tensor) -> Tensor:
        """Return the vector of every subtree: (n_words, dim).

        A tree is a :class:`Tree`, a :class:`Parse`, a :class:`Sentence` with heads, or a list of heads. ``vectors`` has
        the vectors of the words of all trees, one after the other: (n_words, vector_dim). The row of a word in the
        result is the encoding of the subtree whose head it is.
        """
        found = trees_of(trees)
        check_vectors(vectors.shape, found, self.config.vector_dim)
        plan = TreePlan.of([tree.heads for tree in found], self.config.order)
        names = self._contents.arrays
        weights = weights_of({name: self.get_parameter(name.replace(".", "_")) for name in names}, self.config.rnn)
        rows = plan.input_rows(self._contents.relation_rows(found))
        inputs = torch.concat([vectors, relation_table(TORCH, weights)]).index_select(0, _index(rows, vectors))
        pool = _climb(weights, plan, inputs)
        outputs = pool[:, -weights.output_dim :].index_select(0, _index(plan.last.reshape(-1), vectors))
        return outputs.reshape(len(vectors), self.dim)


def _index(rows: Ints, like: Tensor) -> Tensor:
    return torch.from_numpy(rows).to(like.device)


def _climb(weights: TreeWeights, plan: TreePlan, inputs: Tensor) -> Tensor:
    """Return the pool after all steps."""
    width = weights.cell.n_parts * sum(layer.dim for layer in weights.layers)
    pool = inputs.new_zeros(1, width)
    if weights.cell.name == "lstm" and inputs.device.type == "cpu" and plan.levels:
        stacks = (*weights.layers, *weights.inward)
        arrays = [array for layer in stacks for array in (layer.input, layer.recurrent, layer.bias)]
        assert weights.encode is not None
        return LstmTrees.apply(pool, inputs, weights.encode[: weights.node_dim], plan.levels, *arrays)
    namespace = _on_device(inputs)
    for level in plan.levels:
        pool = torch.concat([pool, level.climb(namespace, weights, pool, inputs)])
    return pool


def _on_device(like: Tensor) -> Namespace:
    """Return the array functions with row numbers on the device of a tensor."""
    return replace(TORCH, index=partial(_index, like=like))
