"""The parser's arrays, and loading and saving parsers (``easyfirst.model.part``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from easyfirst.confidence.calibration import Calibration
from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.calibration_store import load_calibration, remove_calibration, write_calibration
from easyfirst.model.directory import CONFIG, KIND, VOCABULARY, errors_in, has_kind
from easyfirst.model.encoder_store import KIND as ENCODER_KIND
from easyfirst.model.encoder_store import LazyReader, PretrainedEncoder, load_encoder, write_encoder
from easyfirst.model.initial_values import embedding, glorot, rnn_array, rnn_shapes
from easyfirst.model.memory import check_trainable
from easyfirst.model.parser_config import NetworkConfig, ParserConfig
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.part import (
    MORPHOLOGY_FORMAT_VERSION,
    TRANSFORMER,
    TRANSFORMER_FORMAT_VERSION,
    VECTORS,
    Part,
    installed_version,
    load_part,
    write_part,
)
from easyfirst.model.settings import build_settings
from easyfirst.model.shared_vectors import SharedVectors, load_shared_vectors, write_shared_vectors
from easyfirst.model.transaction import Changes, replacing
from easyfirst.model.weight_files import check_arrays, dequantize
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import join_members
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.nn.rnn import CELLS

EXTERNAL = "words.external"
TAG_TABLES = tuple(f"words.{kind}" for kind in TAG_KINDS)
TABLES = ("words.embedding", EXTERNAL, *TAG_TABLES, "characters.embedding")  # with sparse gradients


@dataclass(frozen=True, slots=True)
class Sizes:
    """The number of rows of the embedding tables, and the widths of vectors that come from elsewhere."""

    words: int
    tags: dict[str, int]
    relations: int
    external: tuple[int, int] | None = None  # the rows and columns of the external vectors
    characters: int = 0
    contextual: int = 0  # the width of the vectors of a pretrained encoder


@dataclass(frozen=True, slots=True)
class ParserModel:
    """A parser with its settings, vocabulary, weights and card."""

    config: ParserConfig
    vocabulary: ParserVocabulary
    arrays: dict[str, Floats]
    card: str = ""
    vectors: SharedVectors | None = None
    """Frozen external vectors, which the parts of a model share. They are in ``vocabulary`` and ``arrays`` too, but
    stored once, in a separate directory."""
    calibration: Calibration | None = None  # the calibration that turns margins into probabilities, if fitted
    encoder: PretrainedEncoder | None = None  # the pretrained encoder, whose reader the vocabulary has, if there is one


def sizes_of(vocabulary: ParserVocabulary, external_shape: tuple[int, ...] | None, contextual: int = 0) -> Sizes:
    """Return the sizes of the embedding tables. ``external_shape`` is the shape of the table of external vectors, and
    ``contextual`` the width of the vectors of a pretrained encoder."""
    tags = {kind: len(rows) + 1 for kind, rows in vocabulary.tags.items()}
    words, relations = len(vocabulary.words) + 1, len(vocabulary.relations)
    characters = 0 if vocabulary.characters is None else len(vocabulary.characters) + 1
    if external_shape is None and vocabulary.external is None:
        return Sizes(words, tags, relations, characters=characters, contextual=contextual)
    if external_shape is None or vocabulary.external is None:
        raise ModelError("the vocabulary and the weights must both have external vectors, or neither")
    n_external = len(vocabulary.external)
    if len(external_shape) != 2 or external_shape[0] != n_external + 1:
        found = f"the vocabulary has {n_external} words with external vectors"
        raise ModelError(f"{found}, which does not fit a table of shape {external_shape}")
    return Sizes(words, tags, relations, (external_shape[0], external_shape[1]), characters, contextual)


def parser_shapes(config: NetworkConfig, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array by name."""
    tag_kinds = config.tag_kinds
    external_dim = sizes.external[1] if sizes.external else 0
    input_dim = config.word_dim + external_dim + config.tag_dim * len(tag_kinds)
    input_dim += sizes.contextual + 2 * config.spelling_dim
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (sizes.words, config.word_dim)}
    if sizes.external:
        shapes[EXTERNAL] = sizes.external
    for kind in tag_kinds:
        shapes[f"words.{kind}"] = (sizes.tags[kind], config.tag_dim)
    if config.spelling_dim:
        shapes["characters.embedding"] = (sizes.characters, config.character_dim)
        shapes |= rnn_shapes("characters.rnn", config.character_dim, config.spelling_dim, 1)
    shapes["words.project"] = (input_dim, config.vector_dim)
    shapes["words.bias"] = (config.vector_dim,)
    n_gates = CELLS[config.rnn].n_gates
    stacks = {"words.rnn": config.bilstm_layers}
    if config.deep_bilstm:
        stacks = {f"words.rnn{number}": 1 for number in range(config.bilstm_layers)}
    for prefix, n_layers in stacks.items():
        shapes |= rnn_shapes(prefix, config.vector_dim, config.vector_dim // 2, n_layers, n_gates)
    shapes["trees.padding"] = (config.vector_dim,)
    shapes |= rnn_shapes("trees.rnn", config.vector_dim, config.tree_dim, config.tree_layers, n_gates)
    node_dim = config.vector_dim
    if config.tree_layers:
        node_dim = 2 * config.tree_dim
        shapes["trees.relation"] = (sizes.relations, config.relation_dim)
        shapes["trees.encode"] = (node_dim + config.relation_dim, config.vector_dim)
        shapes["trees.bias"] = (config.vector_dim,)
    shapes["scorer.hidden"] = (config.n_slots * node_dim, 2 * config.hidden_dim)
    shapes["scorer.hidden_bias"] = (2 * config.hidden_dim,)
    shapes["scorer.unlabelled"] = (config.hidden_dim, 2)
    shapes["scorer.unlabelled_bias"] = (2,)
    shapes["scorer.labelled"] = (config.hidden_dim, 2 * sizes.relations)
    shapes["scorer.labelled_bias"] = (2 * sizes.relations,)
    return shapes


def initial_parser(
    config: NetworkConfig, sizes: Sizes, rng: np.random.Generator, *, external: Floats | None = None
) -> dict[str, Floats]:
    """Initialise the arrays of one network. Biases are 0, those of an LSTM's forget gate 1.

    Weights are Glorot-uniform, as in the paper's toolkit, with two gains that keep the signal from fading in two stacks
    of RNNs: sigmoid gates start near 1/2 and halve what passes, so the input weights of RNNs are doubled, and
    embeddings start larger. Without the gains most of the first epoch is spent growing the weights. With a character
    encoder, word embeddings start at zero, so that rare words add no noise to it.
    """
    arrays: dict[str, Floats] = {}
    shapes = parser_shapes(config, sizes)
    check_trainable(shapes)
    for name, shape in shapes.items():
        if ".rnn" in name:
            n_gates = 4 if name.startswith("characters.") else CELLS[config.rnn].n_gates
            arrays[name] = rnn_array(rng, name, shape, n_gates=n_gates)
        elif name == EXTERNAL and external is not None:
            arrays[name] = np.array(external, dtype=np.float32)
        elif name.endswith("bias") or (name == "words.embedding" and config.spelling_dim):
            arrays[name] = np.zeros(shape, dtype=np.float32)
        elif name in ("characters.embedding", "trees.relation", "trees.padding"):
            arrays[name] = glorot(rng, shape[-1], 0, shape)
        elif name in TABLES:
            arrays[name] = embedding(rng, *shape)
            if name in TAG_TABLES:
                arrays[name][0] = 0  # the unknown tag does not occur in training
        else:
            fan_out = shape[-1] // 2 if name == "scorer.hidden" else shape[-1]  # MLP_U and MLP_L share this matrix
            arrays[name] = glorot(rng, shape[-2], fan_out, shape)
    return arrays


def save_parser(path: str | PathLike[str], model: ParserModel, *, bits: int = 32) -> None:
    """Write a parser to a directory (:func:`write_parser`)."""
    with replacing(Path(path)) as changes:
        write_parser(changes, model, bits=bits)


def write_parser(changes: Changes, model: ParserModel, *, bits: int = 32) -> None:
    """Write a parser into the directory that is changed, with weights of so many bits
    (``easyfirst.model.weight_files``). Refuse a model that could not be loaded again and a directory that holds
    something else."""
    _check(model)
    settings, vocabulary, arrays = model.config.to_dict(), model.vocabulary, model.arrays
    if model.vectors is not None:
        write_shared_vectors(changes, model.vectors)
        settings["vectors"] = model.vectors.sha256
        vocabulary = replace(vocabulary, external=None)
        arrays = {name: array for name, array in arrays.items() if name != EXTERNAL}
    version = MORPHOLOGY_FORMAT_VERSION if "feats" in vocabulary.tags else None
    if model.encoder is not None:
        settings["transformer"] = write_encoder(changes, model.encoder, bits=bits)
        version = TRANSFORMER_FORMAT_VERSION
    elif has_kind(changes.directory / TRANSFORMER, ENCODER_KIND):
        changes.remove(TRANSFORMER)  # that of the old model
    part = Part(KIND, settings, vocabulary.to_dict(), arrays, model.card)
    weights = write_part(changes, part, bits=bits, version=version)
    if model.calibration is not None:
        write_calibration(changes, model.calibration, weights)
    else:
        remove_calibration(changes)  # that of the old weights


def load_parser(path: str | PathLike[str]) -> ParserModel:
    """Read a model. Its arrays are float32, writable and C-contiguous."""
    directory = Path(path)
    part, _ = load_part(directory, KIND, partial(build_settings, NetworkConfig()))
    settings, vectors = dict(part.settings), None
    if (sha256 := settings.pop("vectors", None)) is not None:
        vectors = load_shared_vectors(directory / VECTORS)
        if vectors.sha256 != sha256:
            found = directory / VECTORS
            raise ModelError(f"{found} are not the vectors the model was trained with; copy the whole model again")
    sha256 = settings.pop("transformer", None)
    encoder = None if sha256 is None else load_encoder(directory / TRANSFORMER, sha256)
    try:
        config = ParserConfig.from_dict(settings)
    except ConfigError as error:
        written = f"written by easyfirst {part.writer}, this is {installed_version()}"
        raise ModelError(f"{directory / CONFIG}: {error} ({written})") from None
    with errors_in(directory / VOCABULARY):
        vocabulary = ParserVocabulary.from_dict(part.vocabulary)
    if vectors is not None:
        vocabulary = replace(vocabulary, external=vectors.rows)
    if encoder is not None:
        vocabulary = replace(vocabulary, reader=LazyReader(encoder))
    with errors_in(directory):
        arrays = dequantize(part.arrays) | ({} if vectors is None else {EXTERNAL: vectors.table})
        model = ParserModel(config, vocabulary, arrays, part.card or "", vectors, encoder=encoder)
        _check(model)
    return replace(model, calibration=load_calibration(directory))


def _check(model: ParserModel) -> None:
    """Raise a :class:`ModelError` if the arrays do not fit the settings and the vocabulary."""
    network, vocabulary = model.config.network, model.vocabulary
    if tuple(vocabulary.tags) != network.tag_kinds:
        raise ModelError(f"the network needs tags of {network.tags!r}, the vocabulary has {list(vocabulary.tags)}")
    if (vocabulary.characters is not None) != bool(network.spelling_dim):
        raise ModelError("the network and the vocabulary must both read characters, or neither")
    if (model.encoder is None) != (model.config.encoder is None):
        raise ModelError("the model must have both a pretrained encoder and the settings of its training, or neither")
    external, contextual = model.arrays.get(EXTERNAL), 0 if model.encoder is None else model.encoder.settings.dim
    shapes = parser_shapes(network, sizes_of(vocabulary, None if external is None else external.shape, contextual))
    if model.vectors is None:
        check_arrays(model.arrays, join_members([shapes] * model.config.members))
        return
    del shapes[EXTERNAL]  # shared by the members of an ensemble, and checked when it was loaded
    own = {name: array for name, array in model.arrays.items() if name != EXTERNAL}
    check_arrays(own, join_members([shapes] * model.config.members))
