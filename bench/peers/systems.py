"""The systems that are compared: how to run each, where its model is, and what others have published about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = Path(__file__).parent / "locks"
OURS = "easyfirst"


@dataclass(frozen=True, slots=True)
class Published:
    """Scores that others have published, in per cent."""

    scores: Mapping[str, Mapping[str, float]]  # by input and metric
    source: str


@dataclass(frozen=True, slots=True)
class System:
    """A system that is compared."""

    name: str
    title: str
    environment: str
    """The name of its environment and of its lock file. Systems may share one."""
    adapter: str
    """A module of :mod:`bench.peers.adapters`."""
    files: tuple[str, ...]
    """The files of its model, as patterns below the folder of the model."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Options for loading it."""
    published: Published | None = None
    has_text: bool = True
    """Whether it reads raw text. Without, it gets words, and predicts trees only."""

    def model(self, work: Path) -> Path:
        """Return the folder of its model."""
        return work / "models" / self.environment

    def python(self, environments: Path) -> Path:
        """Return the interpreter of its environment."""
        return environments / f"peers-{self.environment}" / "bin" / "python"


UDPIPE = Published(
    {
        "text": {"Sentences": 77.1, "UPOS": 93.5, "Lemmas": 96.0, "UAS": 80.5, "LAS": 77.5},
        "tokens": {"UPOS": 94.4, "Lemmas": 96.8, "UAS": 84.5, "LAS": 81.2},
    },
    "the README of the UDPipe models for UD 2.3, with precomputed word embeddings, on the test set of UD 2.3",
)

STANZA = ("tokenizer.pt", "tagger.pt", "lemmatizer.pt", "parser.pt")  # without checkpoints
SYSTEMS = (
    System(OURS, "easyfirst", OURS, "easyfirst_model", ("**/*",), {"model": "en"}),
    System("spacy", "spaCy", "spacy", "spacy_pipeline", ("model-best/**/*",)),
    System("udpipe", "UDPipe 1, greedy", "udpipe", "udpipe", ("model.udpipe",), published=UDPIPE),
    System("udpipe-beam", "UDPipe 1, beam 5", "udpipe", "udpipe", ("model.udpipe",), {"beam": 5}),
    System("stanza", "Stanza", "stanza", "stanza_pipeline", STANZA),
    System("supar", "supar, biaffine", "supar", "supar_biaffine", ("model",), has_text=False),
)
