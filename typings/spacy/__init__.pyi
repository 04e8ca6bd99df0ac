"""The part of spaCy that easyfirst uses, for type checking where spaCy is not installed."""

from typing import Any

from spacy.language import Language

__version__: str

def blank(name: str, *, config: dict[str, Any] = ...) -> Language: ...
