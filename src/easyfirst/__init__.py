"""Easy-first dependency parsing with hierarchical tree LSTMs (Kiperwasser & Goldberg, TACL 2016).

>>> import easyfirst
>>> parser = easyfirst.load("my-model")  # doctest: +SKIP
>>> [parse] = parser.parse([["The", "fox", "jumps"]])  # doctest: +SKIP
>>> parse.heads, parse.relations  # doctest: +SKIP
((2, 3, 0), ('det', 'nsubj', 'root'))

These are the public names. Each is imported when it is first used, so that ``import easyfirst`` is cheap, and the
command line can set the number of threads before NumPy is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from easyfirst import errors
    from easyfirst import ray as ray
    from easyfirst import spark as spark
    from easyfirst.confidence.estimates import Confidence
    from easyfirst.constituents.brackets import read_brackets
    from easyfirst.constituents.scores import score_constituents
    from easyfirst.constituents.tree import Constituent, Constituents
    from easyfirst.constraints.annotations import constraints_of
    from easyfirst.constraints.records import Constraints
    from easyfirst.errors import (
        ConfigError,
        ConstraintError,
        DataError,
        EasyFirstError,
        InputError,
        LanguageWarning,
        ModelError,
    )
    from easyfirst.meaning.numpy_encoder import NumpyTreeEncoder
    from easyfirst.parser import Parser, combine, load
    from easyfirst.parsing.derivation import Attachment
    from easyfirst.parsing.validity import Change
    from easyfirst.results.documents import Document
    from easyfirst.results.explanations import Explanation
    from easyfirst.results.parses import Parse
    from easyfirst.results.spacy_docs.reading import from_spacy
    from easyfirst.results.tables import write_parquet
    from easyfirst.search import Hit, find_similar
    from easyfirst.tables.parquet import read_parquet
    from easyfirst.training.tree_module import TreeEncoder as TreeEncoder
    from easyfirst.treebank.conllu import read_conllu
    from easyfirst.treebank.raw_text import Token
    from easyfirst.treebank.scores import score
    from easyfirst.treebank.sentence import Sentence
    from easyfirst.treebank.tree import Tree
    from easyfirst.treebank.words import Word

__version__ = "0.3.0.dev0"
"""The version of this package."""

_NAMES = {
    "confidence.estimates": ("Confidence",),
    "constituents.brackets": ("read_brackets",),
    "constituents.scores": ("score_constituents",),
    "constituents.tree": ("Constituent", "Constituents"),
    "constraints.annotations": ("constraints_of",),
    "constraints.records": ("Constraints",),
    "errors": (
        *("ConfigError", "ConstraintError", "DataError", "EasyFirstError", "InputError", "LanguageWarning"),
        "ModelError",
    ),
    "meaning.numpy_encoder": ("NumpyTreeEncoder",),
    "parser": ("Parser", "combine", "load"),
    "parsing.derivation": ("Attachment",),
    "parsing.validity": ("Change",),
    "results.documents": ("Document",),
    "results.explanations": ("Explanation",),
    "results.parses": ("Parse",),
    "results.spacy_docs.reading": ("from_spacy",),
    "results.tables": ("write_parquet",),
    "search": ("Hit", "find_similar"),
    "tables.parquet": ("read_parquet",),
    "training.tree_module": ("TreeEncoder",),
    "treebank.conllu": ("read_conllu",),
    "treebank.raw_text": ("Token",),
    "treebank.scores": ("score",),
    "treebank.sentence": ("Sentence",),
    "treebank.tree": ("Tree",),
    "treebank.words": ("Word",),
}
# `TreeEncoder` needs PyTorch, so it is not in __all__: "from easyfirst import *" works without
_MODULES = ("errors", "ray", "spacy", "spark")
_HOMES = {name: f"easyfirst.{module}" for module, names in _NAMES.items() for name in names}

__all__ = [
    "Attachment",
    "Change",
    "Confidence",
    "ConfigError",
    "Constituent",
    "Constituents",
    "ConstraintError",
    "Constraints",
    "DataError",
    "Document",
    "EasyFirstError",
    "Explanation",
    "Hit",
    "InputError",
    "LanguageWarning",
    "ModelError",
    "NumpyTreeEncoder",
    "Parse",
    "Parser",
    "Sentence",
    "Token",
    "Tree",
    "Word",
    "__version__",
    "combine",
    "constraints_of",
    "errors",
    "find_similar",
    "from_spacy",
    "load",
    "read_brackets",
    "read_conllu",
    "read_parquet",
    "score",
    "score_constituents",
    "write_parquet",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"easyfirst.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f'easyfirst.{name} needs PyTorch; install it with: pip install "easyfirst[train]"') from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *__all__})
