from collections.abc import Callable, Iterator

from spacy.tokens import Doc, Span

class _Strings:
    def __getitem__(self, string: str) -> int: ...
    def add(self, string: str) -> int: ...

class _Morphology:
    def add(self, features: str) -> int: ...

class Vocab:
    lang: str
    strings: _Strings
    morphology: _Morphology
    get_noun_chunks: Callable[[Doc | Span], Iterator[tuple[int, int, int]]] | None
