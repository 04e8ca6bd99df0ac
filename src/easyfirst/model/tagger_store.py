"""A tagger's settings, vocabulary and weights, and its directory (``easyfirst.model.part``).

External vectors belong to the whole model, not to the tagger: its ``config.json`` only says which ones it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.directory import CONFIG, VOCABULARY
from easyfirst.model.lexicon import UNKNOWN
from easyfirst.model.part import VECTORS, Part, load_part, save_part
from easyfirst.model.shared_vectors import SharedVectors, load_shared_vectors, same_vectors
from easyfirst.model.tagger_config import TaggerConfig
from easyfirst.model.tagger_vocabulary import TaggerVocabulary
from easyfirst.model.tagger_weights import tagger_shapes
from easyfirst.model.weight_files import check_arrays, checksum, restore
from easyfirst.nn.arrays import Floats
from easyfirst.nn.ensemble import MAX_MEMBERS, join_members, split_members

KIND = "easyfirst-tagger"


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """Everything there is to a tagger."""

    config: TaggerConfig
    vocabulary: TaggerVocabulary
    arrays: Mapping[str, Floats]
    vectors: SharedVectors | None = None


def together(taggers: Sequence[TaggerModel]) -> TaggerModel:
    """Taggers of the same treebank and sizes as one, which has the members of all, each once."""
    first = taggers[0]
    members = [arrays for tagger in taggers for arrays in split_members(tagger.arrays, tagger.config.members)]
    different = list({checksum(arrays): arrays for arrays in members}.values())
    return replace(first, config=replace(first.config, members=len(different)), arrays=join_members(different))


def make_tagger_ensemble(taggers: Sequence[TaggerModel], names: Sequence[str]) -> TaggerModel:
    """One tagger of all; a :class:`ModelError` says which do not go together. ``names``: what messages call their
    models."""
    first = taggers[0]
    for tagger, name in zip(taggers, names, strict=True):
        pair = f"the tagger of {name} cannot be put together with that of {names[0]}"
        if replace(tagger.config, members=1) != replace(first.config, members=1):
            raise ModelError(f"{pair}: its network is another one; train all of them with the same settings")
        if tagger.vocabulary != first.vocabulary:
            raise ModelError(f"{pair}: its words or tags are not the same; train all of them on the same treebank")
        if not same_vectors(tagger.vectors, first.vectors):
            raise ModelError(f"{pair}: its word vectors are not the same; give all of them the same --embeddings")
    model = together(taggers)
    if model.config.members > MAX_MEMBERS:
        n_members = f"{model.config.members} members in all"
        raise ModelError(f"their taggers have {n_members}; at most {MAX_MEMBERS} can be put together")
    return model


def save_tagger(path: str | PathLike[str], model: TaggerModel, *, bits: int = 32) -> None:
    """Write a tagger; its vectors are not written. ``bits``: of a stored weight."""
    check_arrays(model.arrays, tagger_shapes(model.config, model.vocabulary))
    settings = {"network": asdict(model.config), "vectors": model.vectors.sha256 if model.vectors else None}
    save_part(path, Part(KIND, settings, model.vocabulary.to_dict(), model.arrays), bits=bits)


def load_tagger(path: str | PathLike[str], vectors: SharedVectors | None) -> TaggerModel:
    """Read a tagger. ``vectors``: the external vectors it was trained with, if any; others are refused.

    If it needs some and none are given, those of its model are read, which are in the folder beside it.
    """
    directory = Path(path)
    part = load_part(directory, KIND, TaggerConfig.from_dict)
    config = TaggerConfig.from_dict(part.settings.get("network", {}))
    used = _vectors_used(directory, part.settings.get("vectors"), config, vectors)
    try:
        vocabulary = TaggerVocabulary.from_dict(part.vocabulary)
    except ModelError as error:
        raise ModelError(f"{directory / VOCABULARY}: {error}") from None
    try:
        arrays = restore(part.arrays)
        check_arrays(arrays, tagger_shapes(config, vocabulary))
    except ModelError as error:
        raise ModelError(f"{directory}: {error}") from None
    return TaggerModel(config, vocabulary, arrays, used)


def _vectors_used(
    directory: Path, sha256: object, config: TaggerConfig, vectors: SharedVectors | None
) -> SharedVectors | None:
    if (sha256 is None) != (config.external_dim == 0):
        raise ModelError(f"{directory / CONFIG} is damaged: vectors and external_dim must be given together")
    if sha256 is None:
        return None
    if vectors is None and (directory.parent / VECTORS).is_dir():
        vectors = load_shared_vectors(directory.parent / VECTORS)
    if vectors is None:
        raise ModelError(f"{directory} needs the word vectors it was trained with, and the model has none")
    if vectors.sha256 != sha256 or vectors.dim != config.external_dim:
        raise ModelError(
            f"{directory} was trained with other word vectors than the model has; "
            "train the tagger again, or put the vectors back that it was trained with"
        )
    return vectors


def look_up(vectors: SharedVectors, forms: Sequence[str]) -> Floats:
    """The external vector of each form: (n_forms, dim); zeros for a form that has none."""
    if not len(vectors.values):
        return np.zeros((len(forms), vectors.dim), dtype=np.float32)
    rows = vectors.ids(forms)
    found: Floats = vectors.values[rows - 1] * vectors.scales[rows - 1].astype(np.float32)
    found[rows == UNKNOWN] = 0
    return found
