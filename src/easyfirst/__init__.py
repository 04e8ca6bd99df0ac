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
    from easyfirst import errors as errors
    from easyfirst.confidence.estimates import Confidence as Confidence
    from easyfirst.constraints.annotations import constraints_of as constraints_of
    from easyfirst.constraints.records import Constraints as Constraints
    from easyfirst.errors import ConfigError as ConfigError
    from easyfirst.errors import ConstraintError as ConstraintError
    from easyfirst.errors import DataError as DataError
    from easyfirst.errors import EasyFirstError as EasyFirstError
    from easyfirst.errors import InputError as InputError
    from easyfirst.errors import ModelError as ModelError
    from easyfirst.parser import Parser as Parser
    from easyfirst.parser import combine as combine
    from easyfirst.parser import load as load
    from easyfirst.parsing.derivation import Attachment as Attachment
    from easyfirst.results.documents import Document as Document
    from easyfirst.results.explanations import Explanation as Explanation
    from easyfirst.results.parses import Parse as Parse
    from easyfirst.treebank.conllu import read_conllu as read_conllu
    from easyfirst.treebank.raw_text import Token as Token
    from easyfirst.treebank.scores import score as score
    from easyfirst.treebank.sentence import Sentence as Sentence
    from easyfirst.treebank.sentence import Word as Word
    from easyfirst.treebank.tree import Tree as Tree

__version__ = "0.3.0.dev0"

_HOMES = {
    "Attachment": "easyfirst.parsing.derivation",
    "Confidence": "easyfirst.confidence.estimates",
    "ConfigError": "easyfirst.errors",
    "ConstraintError": "easyfirst.errors",
    "Constraints": "easyfirst.constraints.records",
    "DataError": "easyfirst.errors",
    "Document": "easyfirst.results.documents",
    "EasyFirstError": "easyfirst.errors",
    "Explanation": "easyfirst.results.explanations",
    "InputError": "easyfirst.errors",
    "ModelError": "easyfirst.errors",
    "Parse": "easyfirst.results.parses",
    "Parser": "easyfirst.parser",
    "Sentence": "easyfirst.treebank.sentence",
    "Token": "easyfirst.treebank.raw_text",
    "Tree": "easyfirst.treebank.tree",
    "Word": "easyfirst.treebank.sentence",
    "combine": "easyfirst.parser",
    "constraints_of": "easyfirst.constraints.annotations",
    "load": "easyfirst.parser",
    "read_conllu": "easyfirst.treebank.conllu",
    "score": "easyfirst.treebank.scores",
}

__all__ = [
    "Attachment",
    "Confidence",
    "ConfigError",
    "ConstraintError",
    "Constraints",
    "DataError",
    "Document",
    "EasyFirstError",
    "Explanation",
    "InputError",
    "ModelError",
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
    "load",
    "read_conllu",
    "score",
]


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("easyfirst.errors")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
