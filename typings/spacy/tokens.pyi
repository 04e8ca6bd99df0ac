from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.vocab import Vocab

class _Underscore:
    def get(self, name: str) -> Any: ...
    def set(self, name: str, value: Any) -> None: ...

class Token:
    i: int
    idx: int
    text: str
    pos_: str
    tag_: str
    dep: int
    dep_: str
    lemma_: str
    morph: object
    head: Token
    lefts: Iterator[Token]
    rights: Iterator[Token]
    left_edge: Token
    right_edge: Token
    _: _Underscore
    def __len__(self) -> int: ...
    def has_head(self) -> bool: ...
    @classmethod
    def has_extension(cls, name: str) -> bool: ...
    @classmethod
    def set_extension(cls, name: str, *, default: Any = ...) -> None: ...

class Span:
    doc: Doc
    def __iter__(self) -> Iterator[Token]: ...

class Doc:
    doc: Doc
    vocab: Vocab
    text: str
    sents: Iterator[Span]
    user_data: dict[Any, Any]
    noun_chunks_iterator: Callable[[Doc | Span], Iterator[tuple[int, int, int]]] | None
    def __init__(self, vocab: Vocab, words: Sequence[str], spaces: Sequence[bool]) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, i: int) -> Token: ...
    def __iter__(self) -> Iterator[Token]: ...
    def has_annotation(self, attr: str, *, require_complete: bool = ...) -> bool: ...
    def to_array(self, attrs: str | Sequence[str]) -> npt.NDArray[np.uint64]: ...
    def from_array(self, attrs: Sequence[str], array: npt.NDArray[np.uint64]) -> Doc: ...
    @classmethod
    def has_extension(cls, name: str) -> bool: ...
    @classmethod
    def set_extension(
        cls, name: str, *, getter: Callable[[Doc], Any] = ..., setter: Callable[[Doc, Any], None] = ...
    ) -> None: ...
