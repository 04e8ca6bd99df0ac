"""A tokenizer's settings, alphabet and weights, and its directory (``easyfirst.model.part``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import VOCABULARY
from easyfirst.model.part import Part, load_part, save_part
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_vocabulary import TokenizerVocabulary
from easyfirst.model.tokenizer_weights import tokenizer_shapes
from easyfirst.model.weight_files import check_arrays, restore
from easyfirst.nn.arrays import Floats

KIND = "easyfirst-tokenizer"


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """Everything there is to a tokenizer."""

    config: TokenizerConfig
    vocabulary: TokenizerVocabulary
    arrays: Mapping[str, Floats]


def save_tokenizer(path: str | PathLike[str], model: TokenizerModel, *, bits: int = 32) -> None:
    """Write a tokenizer. ``bits``: of a stored weight."""
    check_arrays(model.arrays, tokenizer_shapes(model.config, model.vocabulary))
    save_part(path, Part(KIND, {"network": asdict(model.config)}, model.vocabulary.to_dict(), model.arrays), bits=bits)


def load_tokenizer(path: str | PathLike[str]) -> TokenizerModel:
    """Read a tokenizer."""
    directory = Path(path)
    part = load_part(directory, KIND, TokenizerConfig.from_dict)
    config = TokenizerConfig.from_dict(part.settings.get("network", {}))
    try:
        vocabulary = TokenizerVocabulary.from_dict(part.vocabulary)
    except ModelError as error:
        raise ModelError(f"{directory / VOCABULARY}: {error}") from None
    try:
        arrays = restore(part.arrays)
        check_arrays(arrays, tokenizer_shapes(config, vocabulary))
    except ModelError as error:
        raise ModelError(f"{directory}: {error}") from None
    return TokenizerModel(config, vocabulary, arrays)
