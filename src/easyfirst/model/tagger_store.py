"""The tagger's arrays, and loading and saving taggers (``easyfirst.model.part``) and their ensembles.

External vectors belong to the model, not to the tagger, whose ``config.json`` has only their checksum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.directory import CONFIG, VOCABULARY, errors_in
from easyfirst.model.initial_values import glorot, rnn_arrays, rnn_shapes
from easyfirst.model.lexicon import UNKNOWN, external_ids
from easyfirst.model.memory import check_trainable
from easyfirst.model.part import MORPHOLOGY_FORMAT_VERSION, TAGGER, VECTORS, Part, load_part, write_part
from easyfirst.model.settings import build_settings
from easyfirst.model.shared_vectors import SharedVectors, load_shared_vectors, same_vectors
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.model.transaction import Changes, replacing
from easyfirst.model.weight_files import check_arrays, checksum, dequantize
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import MAX_MEMBERS, join_members, split_members

KIND = "easyfirst-tagger"


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """A tagger with its settings, vocabulary, weights and external vectors."""

    config: TaggerConfig
    vocabulary: TaggerVocabulary
    arrays: Mapping[str, Floats]
    vectors: SharedVectors | None = None


def tagger_shapes(config: TaggerConfig, vocabulary: TaggerVocabulary) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of the ensemble by name."""
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (len(vocabulary.words) + 1, config.word_dim)}
    if config.spelling_dim:
        shapes["characters.embedding"] = (len(vocabulary.characters) + 1, config.character_dim)
        shapes |= rnn_shapes("characters.rnn", config.character_dim, config.spelling_dim, 1)
    input_dim = config.word_dim + config.external_dim + 2 * config.spelling_dim
    for number in range(config.bilstm_layers):
        shapes |= rnn_shapes(f"tagger.rnn{number}", input_dim, config.bilstm_dim, 1)
        input_dim = 2 * config.bilstm_dim
    for kind, names in vocabulary.outputs.items():
        shapes[f"tagger.{kind}"] = (2 * config.bilstm_dim, len(names))
        shapes[f"tagger.{kind}_bias"] = (len(names),)
    return join_members([shapes] * config.members)


def initial_tagger(config: TaggerConfig, vocabulary: TaggerVocabulary, rng: np.random.Generator) -> dict[str, Floats]:
    """Initialise the arrays of one member. Word embeddings start at zero, so that rare words add no noise to the
    character and external vectors."""
    arrays: dict[str, Floats] = {}
    shapes = tagger_shapes(replace(config, members=1), vocabulary)
    check_trainable(shapes)
    for name, shape in shapes.items():
        if name == "words.embedding" or name.endswith("bias"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
        elif name == "characters.embedding":
            arrays[name] = glorot(rng, shape[1], 0, shape)
        elif ".rnn" not in name:
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
    return arrays | rnn_arrays(rng, shapes)


def join_taggers(taggers: Sequence[TaggerModel]) -> TaggerModel:
    """Return the ensemble of taggers with the same settings and vocabulary. Members they share are kept once."""
    first = taggers[0]
    members = [arrays for tagger in taggers for arrays in split_members(tagger.arrays, tagger.config.members)]
    different = list({checksum(arrays): arrays for arrays in members}.values())
    return replace(first, config=replace(first.config, members=len(different)), arrays=join_members(different))


def make_tagger_ensemble(taggers: Sequence[TaggerModel], names: Sequence[str]) -> TaggerModel:
    """Return the ensemble of taggers of the models with these names, or raise a :class:`ModelError` that says why one
    does not fit the first."""
    first = taggers[0]
    for tagger, name in zip(taggers, names, strict=True):
        pair = f"the tagger of {name} does not fit into an ensemble with that of {names[0]}"
        if replace(tagger.config, members=1) != replace(first.config, members=1):
            raise ModelError(f"{pair}: its network is different; train all of them with the same settings")
        if tagger.vocabulary != first.vocabulary:
            raise ModelError(f"{pair}: its words or tags are different; train all of them on the same treebank")
        if not same_vectors(tagger.vectors, first.vectors):
            raise ModelError(f"{pair}: its word vectors are different; give all of them the same --embeddings")
    model = join_taggers(taggers)
    if model.config.members > MAX_MEMBERS:
        raise ModelError(f"their taggers have {model.config.members} members; an ensemble has at most {MAX_MEMBERS}")
    return model


def save_tagger(path: str | PathLike[str], model: TaggerModel, *, bits: int = 32) -> None:
    """Write a tagger, without its vectors, to a directory (:func:`write_tagger`)."""
    with replacing(Path(path)) as changes:
        write_tagger(changes, model, folder="", bits=bits)


def write_tagger(changes: Changes, model: TaggerModel, folder: str = TAGGER, *, bits: int = 32) -> None:
    """Write a tagger, without its vectors, into a folder of the model that is changed, with weights of so many bits."""
    check_arrays(model.arrays, tagger_shapes(model.config, model.vocabulary))
    settings = {"network": asdict(model.config), "vectors": model.vectors.sha256 if model.vectors else None}
    version = MORPHOLOGY_FORMAT_VERSION if {"feats", "lemmas"} & set(model.vocabulary.kinds) else None
    part = Part(KIND, settings, model.vocabulary.to_dict(), model.arrays)
    write_part(changes, part, folder, bits=bits, version=version)


def load_tagger(path: str | PathLike[str], vectors: SharedVectors | None) -> TaggerModel:
    """Read a tagger. ``vectors`` must be the external vectors it was trained with; if None and it needs some, they are
    read from the directory beside it."""
    directory = Path(path)
    part, config = load_part(directory, KIND, partial(build_settings, TaggerConfig()))
    used = _vectors_used(directory, part.settings.get("vectors"), config.external_dim, vectors)
    with errors_in(directory / VOCABULARY):
        vocabulary = TaggerVocabulary.from_dict(part.vocabulary)
    with errors_in(directory):
        arrays = dequantize(part.arrays)
        check_arrays(arrays, tagger_shapes(config, vocabulary))
    return TaggerModel(config, vocabulary, arrays, used)


def _vectors_used(directory: Path, sha256: object, dim: int, vectors: SharedVectors | None) -> SharedVectors | None:
    if (sha256 is None) != (dim == 0):
        raise ModelError(f"{directory / CONFIG} is damaged: vectors and external_dim must be given together")
    if sha256 is None:
        return None
    if vectors is None and (directory.parent / VECTORS).is_dir():
        vectors = load_shared_vectors(directory.parent / VECTORS)
    if vectors is None:
        raise ModelError(f"{directory} needs the word vectors it was trained with; copy the whole model again")
    if vectors.sha256 != sha256 or vectors.dim != dim:
        raise ModelError(
            f"{directory} was trained with other word vectors than the model has; "
            "train the tagger again, or restore the vectors it was trained with"
        )
    return vectors


def look_up(vectors: SharedVectors, forms: Sequence[str]) -> Floats:
    """Return the external vector of each form: (n_forms, dim); zeros for a form without one."""
    if not len(vectors.values):
        return np.zeros((len(forms), vectors.dim), dtype=np.float32)
    rows = external_ids(vectors.rows, forms)
    found: Floats = vectors.values[rows - 1] * vectors.scales[rows - 1].astype(np.float32)
    found[rows == UNKNOWN] = 0
    return found
