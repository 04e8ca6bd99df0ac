"""easyfirst with its bundled model, as a user installs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.peers.adapters.worker import CannotError, System, main


class Easyfirst(System):
    """easyfirst, with ``{"model": NAME}`` in its options."""

    packages = ("easyfirst", "numpy")

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        raise CannotError("the bundled model is made by bench/bundled.sh")

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        import easyfirst

        self.parser, self.threads = easyfirst.load(options["model"]), threads
        self.new = easyfirst.Sentence.from_words

    def texts(self, texts: list[str]) -> Iterable[Any]:
        return self.parser.read(texts, threads=self.threads)

    def text(self, text: str) -> Any:
        return self.parser(text)

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        return ([parse] for parse in self.parser.pipe(map(self.new, sentences), threads=self.threads))

    def sentence(self, words: list[str]) -> Any:
        return self.parser.parse([self.new(words)])

    def conllu(self, result: Any) -> str:
        return "".join(each.tagged.with_tree(each.heads, each.relations).to_bytes().decode() for each in result)


if __name__ == "__main__":
    main(Easyfirst())
