"""spaCy: a convolutional network, shared by a tagger, a morphologizer, a lemmatizer and a transition-based parser.

The configuration is that of ``spacy init config --optimize efficiency`` for these components, without word vectors.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from bench.peers.adapters.worker import Row, Seconds, System, append_line, main, read_columns, read_lines, to_conllu

COMPONENTS = ["tagger", "morphologizer", "trainable_lemmatizer", "parser"]
SENTENCES_PER_DOC = 10
BEST, LAST, LOG = "model-best", "model-last", "evaluations.jsonl"
ROOT, LOGGER = "ROOT", "peers.budget.v1"


class BudgetSpentError(BaseException):
    """The CPU time for training is over. spaCy saves the model and passes it on, because it is not an Exception."""


def rows_of(tokens: Sequence[Any]) -> list[Row]:
    """Return the rows of a sentence of spaCy, without tokens of white space, whose children their head takes over."""
    words = [token for token in tokens if not token.is_space]
    ids = {token.i: n for n, token in enumerate(words, 1)}

    def head_of(token: Any) -> int:
        above = token.head
        while above.is_space and above.head.i != above.i:
            above = above.head
        return 0 if above.i == token.i or above.is_space else ids[above.i]

    heads = list(map(head_of, words))
    root = heads.index(0) + 1 if words else 0  # if white space was the root, the first of its children takes its place
    heads = [root if head == 0 and n != root else head for n, head in enumerate(heads, 1)]
    relations = [
        "root" if head == 0 else "dep" if t.dep_ == ROOT else t.dep_ for t, head in zip(words, heads, strict=True)
    ]
    return [
        Row(token.text, token.lemma_, token.pos_, token.tag_, str(token.morph), head, relation)
        for token, head, relation in zip(words, heads, relations, strict=True)
    ]


class SpaCy(System):
    """A pipeline of spaCy."""

    packages = ("spacy",)

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        """Train, or go on from the weights of the last evaluation, without the state of the optimizer."""
        spacy, util = import_module("spacy"), import_module("spacy.util")
        start, log = Seconds.now(), model / LOG
        session = 1 + max((line["session"] for line in read_lines(log)), default=0)

        def logger() -> Any:
            def set_up(nlp: Any, stdout: Any, stderr: Any) -> Any:
                def step(info: dict[str, Any] | None) -> None:
                    if info is not None:
                        scores = {name: round(100 * info["other_scores"][name], 2) for name in ("dep_las", "sents_f")}
                        line = {"session": session, "step": info["step"], "score": info["score"], **scores}
                        append_line(log, line)
                        progress(str(line))
                    if Seconds.now().cpu - start.cpu > 60 * minutes:
                        raise BudgetSpentError

                return step, lambda: None

            return set_up

        util.registry.loggers.register(LOGGER, func=logger)
        for part in ("train", "dev"):
            self._write_docs(spacy, data / f"{part}.conllu", model / f"{part}.spacy")
        init_config = import_module("spacy.cli.init_config").init_config
        config = init_config(lang="en", pipeline=COMPONENTS, optimize="efficiency", gpu=False)
        paths = {"paths.train": str(model / "train.spacy"), "paths.dev": str(model / "dev.spacy")}
        changes = {**paths, "training.logger": {"@loggers": LOGGER}}
        config = util.load_config_from_str(config.to_str(), overrides=changes)
        nlp = import_module("spacy.training.initialize").init_nlp(config)
        if session > 1:
            nlp.from_disk(model / f"session-{session - 1}" / LAST)
        folder = model / f"session-{session}"
        folder.mkdir(exist_ok=True)
        try:
            import_module("spacy.training.loop").train(nlp, folder)
        except BudgetSpentError:
            progress("the CPU time is over")
        best = max(read_lines(log), key=lambda line: line["score"])
        shutil.copytree(model / f"session-{best['session']}" / BEST, model / BEST, dirs_exist_ok=True)
        return {"best step": best["step"], "last evaluated": read_lines(log)[-1]["step"], "dev LAS": best["dep_las"]}

    def _write_docs(self, spacy: Any, path: Path, out: Path) -> None:
        vocab, found = spacy.blank("en").vocab, spacy.tokens.DocBin()
        sentences = read_columns(path)
        while part := list(islice(sentences, SENTENCES_PER_DOC)):
            docs = [
                spacy.tokens.Doc(
                    vocab,
                    words=[cells[1] for cells in words],
                    spaces=["SpaceAfter=No" not in cells[9] for cells in words],
                    lemmas=[cells[2] for cells in words],
                    pos=[cells[3] for cells in words],
                    tags=[cells[4] for cells in words],
                    morphs=["" if cells[5] == "_" else cells[5] for cells in words],
                    heads=[int(cells[6]) - 1 if cells[6] != "0" else i for i, cells in enumerate(words)],
                    deps=[ROOT if cells[6] == "0" else cells[7] for cells in words],
                )
                for words in part
            ]
            found.add(spacy.tokens.Doc.from_docs(docs, ensure_whitespace=False))
        found.to_disk(out)

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        spacy = import_module("spacy")
        self.nlp, self.threads = spacy.load(model / BEST), threads
        self.make_doc = spacy.tokens.Doc

    def _given(self, words: list[str]) -> Any:
        return self.make_doc(self.nlp.vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))

    def texts(self, texts: list[str]) -> Iterable[Any]:
        return self.nlp.pipe(texts, n_process=self.threads)

    def text(self, text: str) -> Any:
        return self.nlp(text)

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        return self.nlp.pipe(map(self._given, sentences), n_process=self.threads)

    def sentence(self, words: list[str]) -> Any:
        return self.nlp(self._given(words))

    def conllu(self, result: Any) -> str:
        return "".join(to_conllu(rows) for sentence in result.sents if (rows := rows_of(list(sentence))))


if __name__ == "__main__":
    main(SpaCy())
