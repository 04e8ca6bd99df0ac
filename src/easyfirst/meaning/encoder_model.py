"""What a tree encoder consists of: its settings, the relations it reads, and its arrays.

PyTorch (``training/tree_module``) and NumPy (``numpy_encoder``) compute the same with it. It starts from random weights
or from those of a parser, and is stored in a directory like the parts of a model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.json_values import checking, distinct_strings
from easyfirst.model.directory import VOCABULARY, errors_in
from easyfirst.model.initial_values import glorot, rnn_array, rnn_shapes
from easyfirst.model.parser_config import NetworkConfig
from easyfirst.model.parser_store import ParserModel
from easyfirst.model.part import Part, load_part, save_part
from easyfirst.model.settings import MAX_LAYERS, MAX_SIZE, build_settings, require, require_range
from easyfirst.model.weight_files import check_arrays, dequantize
from easyfirst.nn import trees
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.namespace import Array, Namespace
from easyfirst.nn.rnn import CELLS, layers_of
from easyfirst.nn.tree_levels import BIDIRECTIONAL, ORDERS, OUTWARD
from easyfirst.nn.trees import TreeWeights
from easyfirst.treebank.lifting import Label
from easyfirst.treebank.tree import Tree

KIND = "easyfirst-encoder"


class HasModel(Protocol):
    """A parser."""

    @property
    def model(self) -> ParserModel:
        """The contents of its directory."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The architecture of a tree encoder."""

    vector_dim: int = 200
    """The width of word vectors, and of enc(t)."""
    tree_dim: int = 200
    """The width of each RNN."""
    tree_layers: int = 1
    relation_dim: int = 25
    rnn: str = "lstm"
    order: str = OUTWARD

    def __post_init__(self) -> None:
        require_range(self, ("vector_dim", "tree_dim", "relation_dim"), 1, MAX_SIZE)
        require_range(self, ["tree_layers"], 1, MAX_LAYERS)
        require(self.rnn in CELLS, f"rnn must be one of {', '.join(CELLS)}, not {self.rnn!r}")
        require(self.order in ORDERS, f"order must be one of {', '.join(ORDERS)}, not {self.order!r}")

    @property
    def node_dim(self) -> int:
        """The width of the vectors of subtrees."""
        return (4 if self.order == BIDIRECTIONAL else 2) * self.tree_dim

    def shapes(self, n_relations: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every array by name. Without relations, there are no embeddings of them."""
        stacks = ("rnn", "inward") if self.order == BIDIRECTIONAL else ("rnn",)
        sizes = self.vector_dim, self.tree_dim, self.tree_layers, CELLS[self.rnn].n_gates
        shapes = {name: shape for stack in stacks for name, shape in rnn_shapes(stack, *sizes).items()}
        if n_relations:
            shapes["relation"] = (n_relations, self.relation_dim)
        shapes["encode"] = (self.node_dim + (self.relation_dim if n_relations else 0), self.vector_dim)
        shapes["bias"] = (self.vector_dim,)
        return shapes


@dataclass(frozen=True)
class EncoderModel:
    """A tree encoder as data."""

    config: EncoderConfig
    relations: tuple[str, ...]
    arrays: Mapping[str, Floats]

    @classmethod
    def initial(cls, config: EncoderConfig, relations: Sequence[str], *, seed: int) -> EncoderModel:
        """Return an encoder with random weights, initialised like those of a parser."""
        rng, arrays = np.random.default_rng(seed), dict[str, Floats]()
        for name, shape in config.shapes(len(relations)).items():
            if name.startswith(("rnn.", "inward.")):
                arrays[name] = rnn_array(rng, name, shape, n_gates=CELLS[config.rnn].n_gates)
            elif name == "bias":
                arrays[name] = np.zeros(shape, dtype=np.float32)
            else:
                arrays[name] = glorot(rng, shape[-1] if name == "relation" else shape[-2], shape[-1], shape)
        return cls(config, tuple(relations), arrays)

    @classmethod
    def of_parser(cls, parser: HasModel, *, order: str = OUTWARD) -> EncoderModel:
        """Return the encoder of a parser. Its RNNs read outward in the parser, and start with the same weights if they
        are to read inward. Those of a bidirectional encoder's second direction do too, and enc(t) does not yet depend
        on them, so it starts as the parser's."""
        model = parser.model
        if model.config.members > 1:
            raise ModelError("an ensemble has several encoders; take that of one of its members")
        if not model.config.network.tree_layers:
            raise ModelError("this parser was trained without a tree encoder (network.tree_layers is 0)")
        return cls.of_arrays(model.config.network, model.vocabulary.labels, model.arrays, order=order)

    @classmethod
    def of_arrays(
        cls, network: NetworkConfig, labels: Sequence[Label], given: Mapping[str, Floats], *, order: str = OUTWARD
    ) -> EncoderModel:
        """Return the encoder of a parser's network. Labels that encode how an arc was lifted are left out."""
        sizes = {field.name: getattr(network, field.name) for field in dataclasses.fields(EncoderConfig)[:-1]}
        config = EncoderConfig(**sizes, order=order)
        rows: dict[str, int] = {}
        for row, label in sorted(enumerate(labels), key=lambda pair: pair[1].mark is not None):
            rows.setdefault(label.relation, row)
        arrays = {name.removeprefix("trees."): array for name, array in given.items() if name.startswith("trees.rnn.")}
        middle, encode = 2 * network.tree_dim, given["trees.encode"]
        arrays |= {"relation": given["trees.relation"][list(rows.values())], "bias": given["trees.bias"]}
        arrays["encode"] = encode
        if order == BIDIRECTIONAL:
            arrays |= {name.replace("rnn.", "inward."): array for name, array in arrays.items() if name[:4] == "rnn."}
            arrays["encode"] = np.concatenate([encode[:middle], np.zeros_like(encode[:middle]), encode[middle:]])
        return cls(config, tuple(rows), {name: array.copy() for name, array in arrays.items()})

    def __post_init__(self) -> None:
        check_arrays(self.arrays, self.config.shapes(len(self.relations)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the encoder to a directory. Refuse one that holds something else."""
        settings = {"network": dataclasses.asdict(self.config)}
        save_part(path, Part(KIND, settings, {"relations": list(self.relations)}, self.arrays))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> EncoderModel:
        """Read an encoder; raise a :class:`ModelError` if there is none, or a damaged one."""
        part, config = load_part(path, KIND, partial(build_settings, EncoderConfig()))
        with errors_in(Path(path) / VOCABULARY), checking("the vocabulary"):
            relations = tuple(distinct_strings(part.vocabulary["relations"], "relations"))
        with errors_in(Path(path)):
            return cls(config, relations, dequantize(part.arrays))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {relation: row for row, relation in enumerate(self.relations)}

    def relation_rows(self, of_trees: Sequence[Tree]) -> Ints:
        """Return the row of each word's relation in :func:`relation_table`. A relation that the encoder does not have
        is read without its subtype, and else as unknown."""
        rows, unknown = self._rows, len(self.relations)
        names = (name for tree in of_trees for name in tree.relations)
        found = [rows.get(name, rows.get(name.partition(":")[0], unknown)) for name in names]
        return np.array(found, dtype=np.int64)


def weights_of(arrays: Mapping[str, Array], rnn: str) -> TreeWeights:
    """Wrap arrays as weights without copying."""
    return TreeWeights(
        padding=None,
        layers=layers_of(arrays, "rnn"),
        cell=CELLS[rnn],
        relations=arrays.get("relation"),
        encode=arrays["encode"],
        bias=arrays["bias"],
        inward=layers_of(arrays, "inward"),
    )


def relation_table(xp: Namespace, weights: TreeWeights) -> Array:
    """Return what each relation adds to W^e (c ∘ relation) + b, and in the last row what an unknown one adds, whose
    embedding is zero."""
    assert weights.bias is not None
    unknown = weights.bias[None]
    return unknown if weights.relations is None else xp.concat([trees.relation_table(xp, weights), unknown], 0)


def describe(config: EncoderConfig, relations: Sequence[str]) -> str:
    """Return what the representation of an encoder shows."""
    values: dict[str, Any] = {"vector_dim": config.vector_dim, "tree_dim": config.tree_dim, "order": config.order}
    return ", ".join(f"{name}={value!r}" for name, value in (values | {"relations": len(relations)}).items())
