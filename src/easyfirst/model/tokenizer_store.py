"""Loading and saving tokenizers (``easyfirst.model.part``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from easyfirst.model.directory import VOCABULARY, errors_in
from easyfirst.model.part import Part, load_part, save_part
from easyfirst.model.tokenizer_config import TokenizerConfig
from easyfirst.model.tokenizer_vocabulary import TokenizerVocabulary
from easyfirst.model.tokenizer_weights import tokenizer_shapes
from easyfirst.model.weight_files import check_arrays, dequantize
from easyfirst.nn.arrays import Floats

KIND = "easyfirst-tokenizer"


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """A tokenizer with its settings, vocabulary and weights."""

    config: TokenizerConfig
    vocabulary: TokenizerVocabulary
    arrays: Mapping[str, Floats]


def save_tokenizer(path: str | PathLike[str], model: TokenizerModel, *, bits: int = 32) -> None:
    """Write a tokenizer with weights of so many bits."""
    check_arrays(model.arrays, tokenizer_shapes(model.config, model.vocabulary))
    save_part(path, Part(KIND, {"network": asdict(model.config)}, model.vocabulary.to_dict(), model.arrays), bits=bits)


def load_tokenizer(path: str | PathLike[str]) -> TokenizerModel:
    directory = Path(path)
    part = load_part(directory, KIND, TokenizerConfig.from_dict)
    config = TokenizerConfig.from_dict(part.settings.get("network", {}))
    with errors_in(directory / VOCABULARY):
        vocabulary = TokenizerVocabulary.from_dict(part.vocabulary)
    with errors_in(directory):
        arrays = dequantize(part.arrays)
        check_arrays(arrays, tokenizer_shapes(config, vocabulary))
    return TokenizerModel(config, vocabulary, arrays)
