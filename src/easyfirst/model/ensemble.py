"""Ensembles: parsers trained with different seeds as the members of one model.

They must have been trained on the same treebank with the same network, so that words, relations and sizes agree. Tags
may differ if they were predicted: a tag that a member does not have is the unknown tag to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path

import numpy as np

from easyfirst.errors import InputError, ModelError
from easyfirst.model.card import ensemble_card
from easyfirst.model.lexicon import UNKNOWN, numbered
from easyfirst.model.parser_store import EXTERNAL, ParserModel
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.shared_vectors import same_vectors
from easyfirst.nn.arrays import Floats
from easyfirst.nn.members import MAX_MEMBERS, join_members, split_members

TREEBANK = "train all of them on the same treebank with the same settings and different seeds"
SAME_VECTORS = "train all of them with the same --embeddings, either all with --freeze-embeddings or none"
DUPLICATE_COSINE = 0.98  # weights above this cosine are copies; it is near 0 for different training runs
TINY = 1e-30


def short_names(names: Sequence[str | PathLike[str]]) -> list[str]:
    """Return the name of each model's directory, or the whole path if another model has the same name. Raise an
    :class:`InputError` at anything that is no name."""
    for name in names:
        if not isinstance(name, (str, PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"a model's name is of type {type(name).__name__}; give names one by one: combine(one, two)"
            )
    short = [Path(name).resolve().name for name in names]
    return [str(name) if short.count(last) > 1 else last for name, last in zip(names, short, strict=True)]


def make_ensemble(models: Sequence[ParserModel], names: Sequence[str]) -> ParserModel:
    """Return the ensemble of the models with these names, without a calibration, or raise a :class:`ModelError` that
    says which model does not fit."""
    if len(models) < 2:
        raise ModelError("an ensemble needs two models or more; name another one")
    first = models[0]
    for model, name in zip(models[1:], names[1:], strict=True):
        if why := _difference(first, model):
            raise ModelError(f"{name} does not fit into an ensemble with {names[0]}: {why}")
    _refuse_duplicates(models, names)
    n_members = sum(model.config.members for model in models)
    if n_members > MAX_MEMBERS:
        raise ModelError(f"{n_members} members are too many; an ensemble has at most {MAX_MEMBERS}")
    tags = {
        kind: numbered(dict.fromkeys(tag for model in models for tag in model.vocabulary.tags[kind]))
        for kind in first.vocabulary.tags
    }
    vocabulary = replace(first.vocabulary, tags=tags)
    arrays = join_members(
        _with_tags(arrays, model.vocabulary, vocabulary) for model in models for arrays in _members(model)
    )
    if first.vectors is not None:
        arrays[EXTERNAL] = first.arrays[EXTERNAL]
    config = replace(first.config, members=n_members)
    return ParserModel(config, vocabulary, arrays, ensemble_card(config, names, models), first.vectors)


def _refuse_duplicates(models: Sequence[ParserModel], names: Sequence[str]) -> None:
    seen: list[tuple[Floats, str]] = []
    for model, name in zip(models, names, strict=True):
        weights = [arrays["scorer.hidden"] for arrays in _members(model)]  # identify a network, even if quantized
        own = [one / max(float(np.linalg.norm(one)), TINY) for one in weights]
        known = [other for one in own for another, other in seen if float(np.vdot(one, another)) > DUPLICATE_COSINE]
        if known:
            what = f"is the same parser as {known[0]}" if model.config.members == 1 else f"has a member of {known[0]}"
            raise ModelError(f"{name} {what}, which adds nothing to an ensemble; train one with another --seed")
        seen += [(one, name) for one in own]


def _difference(first: ParserModel, other: ParserModel) -> str | None:
    """Return why two parsers cannot be members of one ensemble, and what to do."""
    if first.encoder is not None or other.encoder is not None:
        return "a parser with a transformer encoder cannot be a member; use it alone"
    ours, theirs = asdict(first.config.network), asdict(other.config.network)
    if different := [name for name in ours if ours[name] != theirs[name]]:
        found = "; ".join(f"network.{name} is {theirs[name]}, not {ours[name]}" for name in different)
        return f"its network is different ({found}); train all of them with the same settings"
    for name in ("words", "characters", "relations", "root_relation"):
        if getattr(first.vocabulary, name) != getattr(other.vocabulary, name):
            return f"it has other {name.replace('_', ' ').rstrip('s')}s; {TREEBANK}"
    if first.vocabulary.external != other.vocabulary.external or not same_vectors(first.vectors, other.vectors):
        return f"its word vectors are different; {SAME_VECTORS}"
    if EXTERNAL in first.arrays and first.arrays[EXTERNAL].shape != other.arrays[EXTERNAL].shape:
        return f"its word vectors have another width; {SAME_VECTORS}"
    return None


def _members(model: ParserModel) -> list[dict[str, Floats]]:
    """Return the arrays of each member, without vectors that the whole model shares."""
    members = split_members(model.arrays, model.config.members)
    if model.vectors is None:
        return members
    return [{name: array for name, array in arrays.items() if name != EXTERNAL} for arrays in members]


def _with_tags(arrays: Mapping[str, Floats], own: ParserVocabulary, wanted: ParserVocabulary) -> dict[str, Floats]:
    """Return a member's arrays with a row for each tag of a larger vocabulary."""
    tables: dict[str, Floats] = {}
    for kind, tags in wanted.tags.items():
        rows = [UNKNOWN, *own.tag_ids(kind, list(tags)).tolist()]
        tables[f"words.{kind}"] = arrays[f"words.{kind}"][rows]
    return {**arrays, **tables}
