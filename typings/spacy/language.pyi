from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

class Language:
    lang: str
    vocab: Vocab
    def __call__(self, text: str | Doc) -> Doc: ...
    def pipe(self, texts: Iterable[str | Doc], *, batch_size: int = ..., n_process: int = ...) -> Iterator[Doc]: ...
    def add_pipe(self, factory_name: str, name: str | None = None, *, config: dict[str, Any] = ...) -> Any: ...
    @classmethod
    def factory(
        cls,
        name: str,
        *,
        default_config: dict[str, Any] = ...,
        assigns: Iterable[str] = ...,
        requires: Iterable[str] = ...,
        default_score_weights: dict[str, float | None] = ...,
        func: Callable[..., Any] | None = ...,
    ) -> Callable[..., Any]: ...
