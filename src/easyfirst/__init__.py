"""Easy-first dependency parsing with hierarchical tree LSTMs (Kiperwasser & Goldberg, TACL 2016).

>>> import easyfirst
>>> parser = easyfirst.load("my-model")  # doctest: +SKIP
>>> [parse] = parser.parse([["The", "fox", "jumps"]])  # doctest: +SKIP
>>> parse.heads, parse.relations  # doctest: +SKIP
((2, 3, 0), ('det', 'nsubj', 'root'))

The names below are the public ones. Each is imported when it is first used, so that ``import easyfirst`` costs nothing,
and the command line can set the number of threads before NumPy starts them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from easyfirst import errors as errors
    from easyfirst.errors import ConfigError as ConfigError
    from easyfirst.errors import ConstraintError as ConstraintError
    from easyfirst.errors import DataError as DataError
    from easyfirst.errors import EasyFirstError as EasyFirstError
    from easyfirst.errors import InputError as InputError
    from easyfirst.errors import ModelError as ModelError
    from easyfirst.parser import Parser as Parser
    from easyfirst.parser import combine as combine
    from easyfirst.parser import load as load
    from easyfirst.parsing.confidence import Confidence as Confidence
    from easyfirst.parsing.derivation import Attachment as Attachment
    from easyfirst.parsing.explanation import Explanation as Explanation
    from easyfirst.parsing.parse import Parse as Parse
    from easyfirst.text.document import Document as Document
    from easyfirst.treebank.conllu import read_conllu as read_conllu
    from easyfirst.treebank.constraints import Constraints as Constraints
    from easyfirst.treebank.given_constraints import constraints_of as constraints_of
    from easyfirst.treebank.raw_text import Token as Token
    from easyfirst.treebank.scores import score as score
    from easyfirst.treebank.sentence import Sentence as Sentence
    from easyfirst.treebank.sentence import Word as Word
    from easyfirst.treebank.tree import Tree as Tree

__version__ = "0.3.0.dev0"

_HOMES = {
    "Attachment": "easyfirst.parsing.derivation",
    "Confidence": "easyfirst.parsing.confidence",
    "ConfigError": "easyfirst.errors",
    "ConstraintError": "easyfirst.errors",
    "Constraints": "easyfirst.treebank.constraints",
    "DataError": "easyfirst.errors",
    "Document": "easyfirst.text.document",
    "EasyFirstError": "easyfirst.errors",
    "Explanation": "easyfirst.parsing.explanation",
    "InputError": "easyfirst.errors",
    "ModelError": "easyfirst.errors",
    "Parse": "easyfirst.parsing.parse",
    "Parser": "easyfirst.parser",
    "Sentence": "easyfirst.treebank.sentence",
    "Token": "easyfirst.treebank.raw_text",
    "Tree": "easyfirst.treebank.tree",
    "Word": "easyfirst.treebank.sentence",
    "combine": "easyfirst.parser",
    "constraints_of": "easyfirst.treebank.given_constraints",
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
