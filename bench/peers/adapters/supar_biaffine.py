"""supar: the biaffine parser in PyTorch, with BiLSTMs over words and characters.

It has neither a tokenizer nor a tagger: it parses given words, and predicts trees only. The settings are those of its
own configuration for English, without pretrained vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.adapters.worker import CannotError, Row, Seconds, System, main, to_conllu

MODEL, CHECKPOINT = "model", "checkpoint"
SETTINGS = {
    **{"encoder": "lstm", "feat": ["char"], "embed": None, "min_freq": 2, "fix_len": 20, "build": True},
    **{"lr": 2e-3, "mu": 0.9, "nu": 0.9, "eps": 1e-12, "weight_decay": 0, "decay": 0.75, "decay_steps": 5000},
}
NO_TEXT = "it has no tokenizer"


class BudgetSpentError(BaseException):
    """The CPU time for training is over."""


def rows_of(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> list[Row]:
    """Return the rows of a sentence of supar."""
    return [Row(form, "", "", "", "", head, name) for form, head, name in zip(words, heads, relations, strict=True)]


class Supar(System):
    """The biaffine parser."""

    packages = ("supar", "torch", "transformers")

    def _parser(self) -> Any:
        """Return the class of the parser. PyTorch must be willing to unpickle the objects in its files."""
        torch: Any = import_module("torch")
        torch.load = functools.partial(torch.load, weights_only=False)
        return import_module("supar").BiaffineDependencyParser

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        """Train, or resume from the checkpoint of the best epoch. Stop after the epoch in which the time is over."""
        start, spent, epochs = Seconds.now(), 60 * minutes, []
        base = self._parser()

        class Budgeted(base):
            def _train(self, loader: Any) -> None:
                progress(f"epoch {self.epoch}")
                if epochs and Seconds.now().cpu - start.cpu > spent:
                    raise BudgetSpentError
                epochs.append(self.epoch)
                super()._train(loader)

        torch = import_module("torch")
        torch.set_num_threads(1)
        torch.manual_seed(1)
        path = model / CHECKPOINT
        is_resumed = path.is_file()
        given = {"train": str(data / "train.conllu"), "dev": str(data / "dev.conllu"), "test": str(data / "dev.conllu")}
        if is_resumed:
            parser = Budgeted.load(str(path), checkpoint=True)
        else:
            parser = Budgeted.build(path=str(path), **given, **SETTINGS)
        try:
            parser.train(**given, **SETTINGS, checkpoint=is_resumed, path=str(path), punct=True, verbose=False)
        except BudgetSpentError:
            progress("the CPU time is over")
        base.load(str(path)).save(str(model / MODEL))
        return {"epochs": epochs[-1], "best epoch": parser.best_e, "dev": str(parser.best_metric)}

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        import_module("torch").set_num_threads(threads)
        self.parser = self._parser().load(str(model / MODEL))

    def texts(self, texts: list[str]) -> Iterable[Any]:
        raise CannotError(NO_TEXT)

    def text(self, text: str) -> Any:
        raise CannotError(NO_TEXT)

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        found = self.parser.predict(sentences, verbose=False)
        return zip(sentences, found.arcs, found.rels, strict=True)

    def sentence(self, words: list[str]) -> Any:
        [result] = self.sentences([words])
        return result

    def conllu(self, result: Any) -> str:
        return to_conllu(rows_of(*result))


if __name__ == "__main__":
    main(Supar())
