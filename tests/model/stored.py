"""Models as files: comparing, editing and repacking them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from easyfirst.model.parser_store import ParserModel
from easyfirst.model.saving import ModelParts
from easyfirst.model.shared_vectors import same_vectors
from easyfirst.model.weight_files import checksum

FILES = ["README.md", "config.json", "vocab.json", "weights.safetensors"]


def assert_same(left: ParserModel, right: ParserModel) -> None:
    assert left.config == right.config
    assert left.vocabulary.to_dict() == right.vocabulary.to_dict()
    assert left.card == right.card
    assert left.arrays.keys() == right.arrays.keys()
    for name, array in left.arrays.items():
        assert array.tobytes() == right.arrays[name].tobytes(), name


def same_parts(left: ModelParts, right: ModelParts) -> None:
    """Compare all parts of two models, bit for bit."""
    assert_same(left.parser, right.parser)
    assert left.parser.calibration == right.parser.calibration
    assert same_vectors(left.parser.vectors, right.parser.vectors)
    for one, other in ((left.tokenizer, right.tokenizer), (left.tagger, right.tagger)):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.config == other.config
            assert one.vocabulary.to_dict() == other.vocabulary.to_dict()
            assert checksum(one.arrays) == checksum(other.arrays)


def visible(place: Path, *, hidden: bool = False) -> dict[str, bytes]:
    """Return all files in a directory by their names; hidden ones only if wanted."""
    files = {path.relative_to(place): path for path in place.rglob("*") if path.is_file()}
    is_wanted = {name: hidden or not any(part.startswith(".") for part in name.parts) for name in files}
    return {name.as_posix(): path.read_bytes() for name, path in files.items() if is_wanted[name]}


def edit_config(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((directory / "config.json").read_bytes())
    change(values)
    (directory / "config.json").write_text(json.dumps(values))


def repack(directory: Path, arrays: dict[str, np.ndarray], **header: Any) -> None:
    """Write weights with a header that fits them, to reach the checks behind the checksum."""
    values = {
        "network": json.loads((directory / "config.json").read_bytes())["network"],
        "vocabulary_sha256": hashlib.sha256((directory / "vocab.json").read_bytes()).hexdigest(),
        "arrays_sha256": checksum(arrays),
    }
    content = safetensors.numpy.save(arrays, {"easyfirst": json.dumps(values | header)})
    (directory / "weights.safetensors").write_bytes(content)
