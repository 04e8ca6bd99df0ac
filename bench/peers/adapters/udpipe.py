"""UDPipe 1: a C++ pipeline with a GRU tokenizer, a perceptron tagger and a transition-based parser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.adapters.worker import CannotError, System, main

METHOD, MODEL = "morphodita_parsito", "model.udpipe"
FULL_MINUTES = 60  # with the default settings
DEFAULT = {"tokenizer": ("epochs", 100), "tagger": ("iterations", 20), "parser": ("iterations", 10)}


def read(udpipe: Any, path: Path) -> Any:
    """Return the sentences of a CoNLL-U file."""
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(path.read_text("utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise ValueError(f"{path}: {error.message}")
    return sentences


class UDPipe(System):
    """UDPipe, greedy or with a beam."""

    packages = ("ufal.udpipe",)

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        """Train part after part; a part is not repeated. With less CPU time, the iterations are reduced in proportion.
        The trainer does not say how far it is, and a part that is interrupted starts again."""
        udpipe = import_module("ufal.udpipe")
        share = min(1.0, minutes / FULL_MINUTES)
        settings = {part: f"{name}={max(1, round(share * n))}" for part, (name, n) in DEFAULT.items()}
        train, dev = read(udpipe, data / "train.conllu"), read(udpipe, data / "dev.conllu")
        none = before = udpipe.Trainer.NONE
        done = model / MODEL
        for i, part in enumerate(DEFAULT):  # each is added to a model of those before it
            path = model / f"{part}.udpipe"
            if not path.is_file():
                progress(f"{part}: {settings[part]}")
                options = [before] * i + [settings[part]] + [none] * (len(DEFAULT) - i - 1)
                error = udpipe.ProcessingError()
                made = udpipe.Trainer.train(METHOD, train, dev, *options, error)
                if error.occurred():
                    raise ValueError(f"UDPipe cannot train its {part}: {error.message}")
                path.write_bytes(made)
            before, done = f"from_model=file:{path}", path
        shutil.copyfile(done, model / MODEL)
        return settings

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        if threads > 1:
            raise CannotError("one call uses one thread")
        self.beam, self.library = options.get("beam", 1), import_module("ufal.udpipe")
        self.model = self.library.Model.load(str(model / MODEL))
        self.writer = self.library.OutputFormat.newConlluOutputFormat()
        if self.model is None:
            raise FileNotFoundError(model / MODEL)
        self.tokenizer = self.model.newTokenizer("")

    def _finish(self, sentence: Any) -> Any:
        self.model.tag(sentence, self.model.DEFAULT)
        self.model.parse(sentence, f"beam_search={self.beam}")  # the default is 5
        return sentence

    def texts(self, texts: list[str]) -> Iterable[Any]:
        return map(self.text, texts)

    def text(self, text: str) -> Any:
        self.tokenizer.setText(text)
        error, found = self.library.ProcessingError(), []
        while self.tokenizer.nextSentence(sentence := self.library.Sentence(), error):
            found.append(self._finish(sentence))
        return found

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        return map(self.sentence, sentences)

    def sentence(self, words: list[str]) -> Any:
        sentence = self.library.Sentence()
        for word in words:
            sentence.addWord(word)
        return [self._finish(sentence)]

    def conllu(self, result: Any) -> str:
        return "".join(map(self.writer.writeSentence, result))


if __name__ == "__main__":
    main(UDPipe())
