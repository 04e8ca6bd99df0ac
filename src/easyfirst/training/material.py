"""What a training run is made of: files, and what has been read from them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from easyfirst.model.embeddings import Embeddings, external_table, first_embeddings, read_embeddings, scaled
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.nn.arrays import Floats
from easyfirst.training.data import Treebank, check_tags_given, projective_part, read_treebank
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Job:
    """What to train on, and where to put the result."""

    train: Path
    out: Path
    dev: Path | None = None
    vectors: Path | None = None
    max_vectors: int | None = None
    """How many vectors are taken, from the beginning of the file; None: all."""
    vector_bits: int = 8
    """Of each number of vectors that are not trained on."""
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """What a parser learns from, read and checked."""

    train: Treebank
    dev: Treebank | None = None
    vectors: Embeddings | None = None
    """To be trained on."""
    shared_vectors: SharedVectors | None = None
    """Not to be trained on."""
    note: str = ""
    """What the model's card is to say of the training data."""
    has_predicted_tags: bool = False

    @classmethod
    def read(cls, job: Job, *, freeze_external: bool, needs_trees: bool = True) -> Material:
        """From the files of a job. ``needs_trees``: those of dev must be known in full."""
        train = read_treebank(job.train, is_partial=True)
        dev = read_treebank(job.dev, is_partial=not needs_trees) if job.dev else None
        if job.vectors is None:
            return cls(train, dev)
        vectors = scaled(first_embeddings(read_embeddings(job.vectors), job.max_vectors))
        if freeze_external:
            return cls(train, dev, shared_vectors=SharedVectors.of(vectors, job.vector_bits))
        return cls(train, dev, vectors)

    @property
    def external_words(self) -> Sequence[str] | None:
        if self.shared_vectors is not None:
            return list(self.shared_vectors.rows)
        return self.vectors.words if self.vectors is not None else None

    @property
    def external_table(self) -> Floats | None:
        if self.shared_vectors is not None:
            return self.shared_vectors.table
        return external_table(self.vectors) if self.vectors is not None else None

    @property
    def fingerprint(self) -> dict[str, str | None]:
        """What must be the same for a run to be resumed."""
        shared = self.shared_vectors.sha256 if self.shared_vectors is not None else None
        return {
            "train": self.train.sha256,
            "dev": self.dev.sha256 if self.dev else None,
            "vectors": _sha256(self.vectors) if self.vectors else shared,
        }


def check_parser_data(material: Material, config: ParserConfig, *, predicts_tags: bool = False) -> list[Sentence]:
    """The sentences a parser can learn from; raises :class:`DataError` if there are none, or tags are missing.

    ``predicts_tags``: tags are still to be predicted, so that only the tagger's treebank must have them.
    """
    for given in (material.train, None if predicts_tags else material.dev):
        if given is not None:
            check_tags_given(given, config.network.tag_kinds)
    return projective_part(material.train)


def _sha256(vectors: Embeddings) -> str:
    digest = hashlib.sha256("\n".join(vectors.words).encode())
    digest.update(np.ascontiguousarray(vectors.vectors).data)
    return digest.hexdigest()
