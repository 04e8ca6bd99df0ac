"""A pretrained encoder: the transformer whose vectors a parser reads beside its own embeddings.

It is a part of the model like the tagger, in the directory ``transformer``: the settings of the transformer are in
``config.json``, its tokenizer in ``vocab.json`` and its weights in ``weights.safetensors``. Storing and loading need
NumPy only. Reading sentences needs PyTorch and transformers, which are imported when the first sentence is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.json_values import checking, list_of, scalar, table, whole_number
from easyfirst.model.part import TRANSFORMER, TRANSFORMER_FORMAT_VERSION, Part, load_part, write_part
from easyfirst.model.settings import require, require_range
from easyfirst.model.transaction import Changes
from easyfirst.model.weight_files import checksum, dequantize
from easyfirst.nn.arrays import Floats

KIND = "easyfirst-transformer"
MIX = "mix"  # the array that weighs the layers: (n_layers,)
PREFIX = "transformer."  # that of the names of the transformer's own arrays
NEEDED = ("torch", "tokenizers", "transformers")
INSTALL = 'pip install "easyfirst[transformers]"'
MAX_WINDOW = 1 << 20


class WordReader(Protocol):
    """Computes the contextual vectors of words."""

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return a vector for every word of all sentences, given as their forms: (n_words, dim)."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What determines the arrays of an encoder, and how sentences become its inputs."""

    transformer: Mapping[str, Any]  # the configuration of the transformer, as the library of that name has it
    dim: int  # the width of the vectors
    n_layers: int  # the layers that are mixed, with the embeddings
    window: int  # the most subwords that are read at once, with those of ``before`` and ``after``
    before: tuple[int, ...]  # the subwords that begin and end every sequence
    after: tuple[int, ...]
    unknown: int  # the subword of words that the tokenizer leaves nothing of

    def __post_init__(self) -> None:
        require_range(self, ("dim", "n_layers", "window"), 1, MAX_WINDOW)
        require(self.window >= len(self.before) + len(self.after) + 4, "window must have room for some subwords")

    @property
    def room(self) -> int:
        """The most subwords of words that are read at once."""
        return self.window - len(self.before) - len(self.after)


@dataclass(frozen=True, eq=False)
class PretrainedEncoder:
    """The contents of the directory."""

    settings: EncoderSettings
    tokenizer: str  # what the library ``tokenizers`` saves, in JSON
    arrays: dict[str, Floats] = field(repr=False)
    name: str = ""  # that of the pretrained model
    licence: str | None = None

    @cached_property
    def reader(self) -> WordReader:
        """The transformer, ready to read. Raise a :class:`ModelError` if a package that it needs is missing."""
        require_packages("this model has a transformer encoder, which")
        from easyfirst.pretrained.reader import make_reader

        return make_reader(self.parts)

    @property
    def parts(self) -> tuple[dict[str, Any], str, dict[str, Floats]]:
        """The settings, the tokenizer and the arrays as plain values."""
        return asdict(self.settings), self.tokenizer, self.arrays

    def with_arrays(self, arrays: Mapping[str, Floats]) -> PretrainedEncoder:
        """Return the encoder with other weights."""
        return replace(self, arrays=dict(arrays))

    @property
    def n_parameters(self) -> int:
        return sum(array.size for array in self.arrays.values())


@dataclass(frozen=True)
class LazyReader:
    """A reader whose transformer is made when it reads for the first time."""

    encoder: PretrainedEncoder

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        return self.encoder.reader.vectors(sentences)


def require_packages(what: str) -> None:
    """Raise a :class:`ModelError` that says how to install what transformers need, if it is missing. ``what`` needs
    it."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ModelError(f"{what} needs {' and '.join(missing)}; install: {INSTALL}")


def write_encoder(changes: Changes, encoder: PretrainedEncoder, *, bits: int = 32) -> str:
    """Write an encoder into the model that is changed, and return the checksum of its arrays as stored."""
    settings = {"network": asdict(encoder.settings), "name": encoder.name, "licence": encoder.licence}
    vocabulary = {"tokenizer": json.loads(encoder.tokenizer)}
    part = Part(KIND, settings, vocabulary, encoder.arrays)
    return write_part(changes, part, TRANSFORMER, bits=bits, version=TRANSFORMER_FORMAT_VERSION)


def load_encoder(path: Path, sha256: str) -> PretrainedEncoder:
    """Read an encoder whose arrays have this checksum. They are float32, writable and C-contiguous."""
    part, settings = load_part(path, KIND, _settings)
    if checksum(part.arrays) != sha256:
        raise ModelError(f"{path} is not the encoder that the model was trained with; copy the whole model again")
    with checking(str(path)):
        tokenizer = json.dumps(table(part.vocabulary["tokenizer"], "tokenizer"), ensure_ascii=False)
        name, licence = scalar(str, part.settings.get("name"), "name"), part.settings.get("licence")
        licence = None if licence is None else scalar(str, licence, "licence")
        arrays = {name: np.ascontiguousarray(array) for name, array in dequantize(part.arrays).items()}
        mix = arrays.get(MIX)
        if mix is None or mix.shape != (settings.n_layers,) or not all(np.isfinite(a).all() for a in arrays.values()):
            raise ValueError("its weights are incomplete or not finite numbers")
    return PretrainedEncoder(settings, tokenizer, arrays, name, licence)


def _settings(values: object) -> EncoderSettings:
    """Check the settings that determine the arrays."""
    found = dict(table(values, "network"))
    dim, n_layers, window, unknown = (
        whole_number(found.get(name), name) for name in ("dim", "n_layers", "window", "unknown")
    )
    before, after = (tuple(list_of(int, found.get(name), name)) for name in ("before", "after"))
    transformer = table(found.get("transformer"), "transformer")
    return EncoderSettings(transformer, dim, n_layers, window, before, after, unknown)
