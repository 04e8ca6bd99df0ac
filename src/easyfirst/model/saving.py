"""Reading and writing a model with all its parts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from easyfirst.model.directory import PART_FOLDERS, has_kind
from easyfirst.model.encoder_store import require_packages
from easyfirst.model.parser_store import ParserModel, load_parser, write_parser
from easyfirst.model.part import TAGGER, TOKENIZER
from easyfirst.model.shared_vectors import write_shared_vectors
from easyfirst.model.tagger_store import TaggerModel, load_tagger, write_tagger
from easyfirst.model.tokenizer_store import TokenizerModel, load_tokenizer, write_tokenizer
from easyfirst.model.transaction import read_consistently, replacing


class ModelParts(NamedTuple):
    """The contents of a model directory."""

    parser: ParserModel
    tokenizer: TokenizerModel | None
    tagger: TaggerModel | None


def load_model(directory: Path) -> ModelParts:
    """Read all parts of a model. If it is replaced meanwhile, they are those of the old one or of the new one. Raise a
    :class:`ModelError` if it needs packages that are not installed."""
    parts = read_consistently(directory, _load_parts)
    if parts.parser.encoder is not None:
        require_packages(f"{directory} has a transformer encoder, which")
    return parts


def _load_parts(directory: Path) -> ModelParts:
    parser = load_parser(directory)
    tokenizer = load_tokenizer(directory / TOKENIZER) if (directory / TOKENIZER).is_dir() else None
    tagger = load_tagger(directory / TAGGER, parser.vectors) if (directory / TAGGER).is_dir() else None
    return ModelParts(parser, tokenizer, tagger)


def save_model(
    directory: Path, parser: ParserModel, tokenizer: TokenizerModel | None, tagger: TaggerModel | None, *, bits: int
) -> None:
    """Write the parts of a model all at once, and remove parts of an old model that this one lacks."""
    with replacing(directory) as changes:
        write_parser(changes, parser, bits=bits)
        if tokenizer is not None:
            write_tokenizer(changes, tokenizer, bits=bits)
        if tagger is not None:
            write_tagger(changes, tagger, bits=bits)
            if tagger.vectors is not None and parser.vectors is None:
                write_shared_vectors(changes, tagger.vectors)
        for part in PART_FOLDERS:
            is_written = any(name.startswith(f"{part}/") for name in changes.written)
            if not is_written and has_kind(directory / part, f"easyfirst-{part}"):
                changes.remove(part)
