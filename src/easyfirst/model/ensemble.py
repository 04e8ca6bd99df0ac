"""Parsers that have learnt alone, put together: one model, of which they are the members.

They must have learnt from the same treebank with the same network, so that words, relations and sizes agree. Tags may
differ where they were predicted: a tag that a member has never met is the unknown tag to it, as it was before.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.card import CombinedFacts, MemberFacts, combined_card
from easyfirst.model.lexicon import UNKNOWN, numbered
from easyfirst.model.parser_store import EXTERNAL, ParserModel
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.model.part import installed_version
from easyfirst.model.shared_vectors import same_vectors
from easyfirst.nn.arrays import Floats
from easyfirst.nn.ensemble import MAX_MEMBERS, join_members, split_members

TREEBANK = "train all of them on the same treebank with the same settings, and seeds of their own"
ALIKE = 0.98
"""The cosine above which weights are copies of each other; after other trainings it is near 0."""
TINY = 1e-30
VECTORS = "give all of them the same --embeddings, and --freeze-embeddings or not alike"


def make_ensemble(models: Sequence[ParserModel], names: Sequence[str]) -> ParserModel:
    """One model of all, without a calibration; a :class:`ModelError` says which do not go together and why.

    ``names``: what messages and the card call them.
    """
    if len(models) < 2:
        raise ModelError("two models or more are needed to put together")
    first = models[0]
    for model, name in zip(models[1:], names[1:], strict=True):
        if why := _difference(first, model):
            raise ModelError(f"{name} cannot be put together with {names[0]}: {why}")
    _refuse_twins(models, names)
    n_members = sum(model.config.members for model in models)
    if n_members > MAX_MEMBERS:
        raise ModelError(f"{n_members} members are too many; at most {MAX_MEMBERS} can be put together")
    vocabulary = replace(first.vocabulary, tags=_all_tags([model.vocabulary for model in models]))
    members = [_of_vocabulary(arrays, model.vocabulary, vocabulary) for model in models for arrays in _members(model)]
    arrays = join_members(members)
    if first.vectors is not None:
        arrays[EXTERNAL] = first.arrays[EXTERNAL]
    config = replace(first.config, members=n_members)
    facts = [
        MemberFacts(name, model.config.members, model.config.training.seed, model.card)
        for name, model in zip(names, models, strict=True)
    ]
    card = combined_card(
        CombinedFacts(date=datetime.date.today(), easyfirst_version=installed_version(), config=config, members=facts)
    )
    return ParserModel(config, vocabulary, arrays, card, first.vectors)


def _refuse_twins(models: Sequence[ParserModel], names: Sequence[str]) -> None:
    seen: list[tuple[Floats, str]] = []
    for model, name in zip(models, names, strict=True):
        own = [_direction(arrays) for arrays in _members(model)]
        known = [other for one in own for another, other in seen if float(np.vdot(one, another)) > ALIKE]
        if known:
            what = f"is the same parser as {known[0]}" if model.config.members == 1 else f"has a member of {known[0]}"
            raise ModelError(f"{name} {what}, which gains nothing; train one with a --seed of its own")
        seen += [(one, name) for one in own]


def _direction(arrays: Mapping[str, Floats]) -> Floats:
    """The scorer's weights as a vector of length 1: much the same for copies, packed ones too, and for no others."""
    weights = arrays["scorer.hidden"]
    return weights / max(float(np.linalg.norm(weights)), TINY)


def _difference(first: ParserModel, other: ParserModel) -> str | None:
    """What keeps two parsers from being members of one, and what to do."""
    ours, theirs = asdict(first.config.network), asdict(other.config.network)
    if different := [name for name in ours if ours[name] != theirs[name]]:
        found = "; ".join(f"network.{name} is {theirs[name]}, not {ours[name]}" for name in different)
        return f"its network is another one ({found})"
    for name in ("words", "characters", "relations", "root_relation"):
        if getattr(first.vocabulary, name) != getattr(other.vocabulary, name):
            return f"it has other {name.replace('_', ' ').rstrip('s')}s; {TREEBANK}"
    if first.vocabulary.external != other.vocabulary.external or not same_vectors(first.vectors, other.vectors):
        return f"its word vectors are not the same; {VECTORS}"
    if EXTERNAL in first.arrays and first.arrays[EXTERNAL].shape != other.arrays[EXTERNAL].shape:
        return f"its word vectors are of another width; {VECTORS}"
    return None


def _members(model: ParserModel) -> list[dict[str, Floats]]:
    """The arrays of each, without vectors that the whole model shares."""
    members = split_members(model.arrays, model.config.members)
    if model.vectors is None:
        return members
    return [{name: array for name, array in arrays.items() if name != EXTERNAL} for arrays in members]


def _all_tags(vocabularies: Sequence[ParserVocabulary]) -> dict[str, dict[str, int]]:
    """The tags that any of them has, by kind."""
    kinds = vocabularies[0].tags
    return {kind: numbered(list(dict.fromkeys(tag for v in vocabularies for tag in v.tags[kind]))) for kind in kinds}


def _of_vocabulary(arrays: Mapping[str, Floats], own: ParserVocabulary, wanted: ParserVocabulary) -> dict[str, Floats]:
    """A member's arrays, with a row for each tag of a larger vocabulary."""
    tables: dict[str, Floats] = {}
    for kind, tags in wanted.tags.items():
        rows = [UNKNOWN, *(own.tags[kind].get(tag, UNKNOWN) for tag in tags)]
        tables[f"words.{kind}"] = arrays[f"words.{kind}"][rows]
    return {**arrays, **tables}
