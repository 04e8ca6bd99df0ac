"""Writing a model with all its parts to a directory."""

from __future__ import annotations

from pathlib import Path

from easyfirst.model.directory import remove_part
from easyfirst.model.parser_store import ParserModel, save_parser
from easyfirst.model.part import TAGGER, TOKENIZER, VECTORS
from easyfirst.model.shared_vectors import save_shared_vectors
from easyfirst.model.tagger_store import TaggerModel, save_tagger
from easyfirst.model.tokenizer_store import TokenizerModel, save_tokenizer


def save_model(
    directory: Path, parser: ParserModel, tokenizer: TokenizerModel | None, tagger: TaggerModel | None, *, bits: int
) -> None:
    """Write the parts of a model, and remove parts of an old model that this one lacks."""
    save_parser(directory, parser, bits=bits)
    written = set[str]() if parser.vectors is None else {VECTORS}
    if tokenizer is not None:
        save_tokenizer(directory / TOKENIZER, tokenizer, bits=bits)
        written.add(TOKENIZER)
    if tagger is not None:
        save_tagger(directory / TAGGER, tagger, bits=bits)
        written.add(TAGGER)
        if tagger.vectors is not None and parser.vectors is None:
            save_shared_vectors(directory / VECTORS, tagger.vectors)
            written.add(VECTORS)
    for name in {TOKENIZER, TAGGER, VECTORS} - written:
        remove_part(directory / name, f"easyfirst-{name}")
