"""The models of pipelines. Components and tokenizers share those they have in common."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from easyfirst.errors import ModelError
from easyfirst.inputs import check_batch_size, check_threads
from easyfirst.model.bundled import find_model
from easyfirst.parser import Parser, load
from easyfirst.reopening import Fingerprint, fingerprint_of

_parsers: WeakValueDictionary[tuple[str, Fingerprint], Parser] = WeakValueDictionary()  # those that are in use


class UsesModel:
    """The model of a component or a tokenizer. Pickling keeps its name only, so another process loads it itself."""

    def __init__(self, model: str, setting: str, threads: int, batch_size: int) -> None:
        check_threads(threads)
        check_batch_size(batch_size)
        self.model = model
        self.threads = threads
        self.batch_size = batch_size
        self._setting = setting
        self.parser = _load(model, setting)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "parser"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.parser = _load(self.model, self._setting)


def _load(model: str, setting: str) -> Parser:
    """Return the parser of a model. Components and tokenizers of the same model share it, unless it has
    changed on disk since."""
    try:
        key = str(find_model(model).resolve()), fingerprint_of(model)
        parser = _parsers.get(key) or load(model)
    except ModelError as error:
        raise ModelError(
            f"{error}; the model is set by {setting}, and a saved pipeline is loaded with another one by "
            f"spacy.load(..., config={{{setting!r}: ...}})"
        ) from None
    _parsers[key] = parser
    return parser
