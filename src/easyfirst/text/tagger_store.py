"""A tagger's settings, vocabulary and weights, and its directory (``easyfirst.model.part``).

External vectors belong to the whole model, not to the tagger: its ``config.json`` only says which ones it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.config import MAX_LAYERS, MAX_SIZE, build_settings
from easyfirst.model.files import CONFIG, VOCABULARY
from easyfirst.model.parameters import glorot, rnn_arrays, rnn_shapes
from easyfirst.model.part import VECTORS, Part, load_part, save_part
from easyfirst.model.vocab import UNKNOWN, normalise, numbered, ranked_names, spelling_of, tags_of
from easyfirst.model.weights import check_arrays, checksum, restore
from easyfirst.model.word_vectors import WordVectors, load_word_vectors, same_vectors
from easyfirst.nn.arrays import Floats, Ints
from easyfirst.nn.characters import Spelling
from easyfirst.nn.members import MAX_MEMBERS, join_members, split_members
from easyfirst.nn.network import TAG_KINDS
from easyfirst.treebank.sentence import Sentence

KIND = "easyfirst-tagger"


@dataclass(frozen=True, slots=True)
class TaggerConfig:
    """The sizes and parts of the tagger's network."""

    word_dim: int = 64
    min_count: int = 2
    """Words that training saw less often have no embedding of their own."""
    character_dim: int = 32
    spelling_dim: int = 64
    """In each direction, of the BiLSTM over characters; 0: characters are not read."""
    bilstm_dim: int = 128
    """In each direction."""
    bilstm_layers: int = 2
    external_dim: int = 0
    """The width of the external vectors; 0: there are none."""
    members: int = 1
    """Networks of these sizes, of which each has learnt alone, and which tag together."""

    def __post_init__(self) -> None:
        for name, least in (("word_dim", 1), ("character_dim", 1), ("spelling_dim", 0), ("bilstm_dim", 1)):
            _require(least <= getattr(self, name) <= MAX_SIZE, f"{name} must be from {least} to {MAX_SIZE:,}")
        _require(0 <= self.external_dim <= MAX_SIZE, f"external_dim must be from 0 to {MAX_SIZE:,}")
        _require(1 <= self.bilstm_layers <= MAX_LAYERS, f"bilstm_layers must be from 1 to {MAX_LAYERS}")
        _require(self.min_count >= 1, "min_count must be at least 1")
        _require(1 <= self.members <= MAX_MEMBERS, f"members must be from 1 to {MAX_MEMBERS}")

    @property
    def input_dim(self) -> int:
        """What the BiLSTM reads of each word."""
        return self.word_dim + self.external_dim + 2 * self.spelling_dim

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TaggerConfig:
        """From JSON; an unknown key or a value of the wrong type is a :class:`ConfigError`."""
        return build_settings(cls(), values, "network.")


@dataclass(frozen=True, slots=True)
class TaggerVocabulary:
    """Names and their row numbers; row 0 of words and characters is the unknown."""

    words: Mapping[str, int]  # normalised form -> row, from 1
    characters: Mapping[str, int]  # from 1
    tags: Mapping[str, tuple[str, ...]]  # kind -> tags; their rows count from 0

    @classmethod
    def of(cls, sentences: Sequence[Sentence], *, min_count: int) -> TaggerVocabulary:
        """Of a treebank, the most frequent first. Kinds of tags that no word has are left out."""
        words = Counter(normalise(form) for sentence in sentences for form in sentence.forms)
        characters = Counter(character for sentence in sentences for form in sentence.forms for character in form)
        tags = {kind: Counter(tag for s in sentences for tag in tags_of(s, kind) if tag != "_") for kind in TAG_KINDS}
        if not any(tags.values()):
            raise DataError("the treebank has neither UPOS nor XPOS tags; fill in at least one of these columns")
        return cls(
            words=numbered(ranked_names(words, min_count)),
            characters=numbered(ranked_names(characters, min_count)),
            tags={kind: tuple(ranked_names(counter)) for kind, counter in tags.items() if counter},
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.tags)

    def word_ids(self, forms: Iterable[str]) -> Ints:
        """The rows of words in their table."""
        return np.array([self.words.get(normalise(form), UNKNOWN) for form in forms], dtype=np.int64)

    def spell(self, forms: Sequence[str]) -> Spelling:
        """Forms, longest first, as rows of the table of characters."""
        return spelling_of(forms, self.characters)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        tags = {kind: list(names) for kind, names in self.tags.items()}
        return {"words": list(self.words), "characters": list(self.characters), "tags": tags}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TaggerVocabulary:
        """The inverse of :meth:`to_dict`; raises :class:`ModelError` if something is missing or of the wrong kind."""
        try:
            tags = {str(kind): tuple(numbered(names)) for kind, names in values["tags"].items()}
            if not tags or not all(tags.values()) or list(tags) != [kind for kind in TAG_KINDS if kind in tags]:
                raise ValueError("tags must be of the kinds upos and xpos")
            return cls(numbered(values["words"]), numbered(values["characters"]), tags)
        except KeyError as error:
            raise ModelError(f"the vocabulary is damaged ({error} is missing)") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"the vocabulary is damaged ({error})") from error


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """Everything there is to a tagger."""

    config: TaggerConfig
    vocabulary: TaggerVocabulary
    arrays: Mapping[str, Floats]
    vectors: WordVectors | None = None


def tagger_shapes(config: TaggerConfig, vocabulary: TaggerVocabulary) -> dict[str, tuple[int, ...]]:
    """Every array of all members by name."""
    return join_members([_member_shapes(config, vocabulary)] * config.members)


def _member_shapes(config: TaggerConfig, vocabulary: TaggerVocabulary) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"words.embedding": (len(vocabulary.words) + 1, config.word_dim)}
    if config.spelling_dim:
        shapes["characters.embedding"] = (len(vocabulary.characters) + 1, config.character_dim)
    for prefix, input_dim, dim in _rnns(config):
        shapes |= rnn_shapes(prefix, input_dim, dim, 1)
    for kind, tags in vocabulary.tags.items():
        shapes[f"tagger.{kind}"] = (2 * config.bilstm_dim, len(tags))
        shapes[f"tagger.{kind}_bias"] = (len(tags),)
    return shapes


def _rnns(config: TaggerConfig) -> Iterator[tuple[str, int, int]]:
    """The BiLSTMs of one layer that there are: prefix, input_dim, dim."""
    if config.spelling_dim:
        yield "characters.rnn", config.character_dim, config.spelling_dim
    for number in range(config.bilstm_layers):
        yield f"tagger.rnn{number}", 2 * config.bilstm_dim if number else config.input_dim, config.bilstm_dim


def initial_tagger(config: TaggerConfig, vocabulary: TaggerVocabulary, rng: np.random.Generator) -> dict[str, Floats]:
    """Fresh arrays of one member. Words begin as zeros: what their embeddings learn is what characters and external
    vectors do not tell, and rare words, whose embeddings learn little, do not bring noise."""
    arrays: dict[str, Floats] = {}
    for name, shape in _member_shapes(config, vocabulary).items():
        if name == "words.embedding" or name.endswith("bias"):
            arrays[name] = np.zeros(shape, dtype=np.float32)
        elif name == "characters.embedding":
            arrays[name] = glorot(rng, shape[1], 0, shape)
        elif ".rnn" not in name:
            arrays[name] = glorot(rng, shape[0], shape[1], shape)
    for prefix, input_dim, dim in _rnns(config):
        arrays |= rnn_arrays(rng, prefix, input_dim, dim, 1)
    return arrays


def together(taggers: Sequence[TaggerModel]) -> TaggerModel:
    """Taggers of the same treebank and sizes as one, which has the members of all, each once."""
    first = taggers[0]
    members = [arrays for tagger in taggers for arrays in split_members(tagger.arrays, tagger.config.members)]
    different = list({checksum(arrays): arrays for arrays in members}.values())
    return replace(first, config=replace(first.config, members=len(different)), arrays=join_members(different))


def combine_taggers(taggers: Sequence[TaggerModel], names: Sequence[str]) -> TaggerModel:
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


def load_tagger(path: str | PathLike[str], vectors: WordVectors | None) -> TaggerModel:
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
    directory: Path, sha256: object, config: TaggerConfig, vectors: WordVectors | None
) -> WordVectors | None:
    if (sha256 is None) != (config.external_dim == 0):
        raise ModelError(f"{directory / CONFIG} is damaged: vectors and external_dim must be given together")
    if sha256 is None:
        return None
    if vectors is None and (directory.parent / VECTORS).is_dir():
        vectors = load_word_vectors(directory.parent / VECTORS)
    if vectors is None:
        raise ModelError(f"{directory} needs the word vectors it was trained with, and the model has none")
    if vectors.sha256 != sha256 or vectors.dim != config.external_dim:
        raise ModelError(
            f"{directory} was trained with other word vectors than the model has; "
            "train the tagger again, or put the vectors back that it was trained with"
        )
    return vectors


def look_up(vectors: WordVectors, forms: Sequence[str]) -> Floats:
    """The external vector of each form: (n_forms, dim); zeros for a form that has none."""
    if not len(vectors.values):
        return np.zeros((len(forms), vectors.dim), dtype=np.float32)
    rows = vectors.ids(forms)
    found: Floats = vectors.values[rows - 1] * vectors.scales[rows - 1].astype(np.float32)
    found[rows == UNKNOWN] = 0
    return found


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigError(message)
