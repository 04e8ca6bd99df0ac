"""Stanza: networks in PyTorch for tokens, tags, lemmas and trees, trained one after the other by its own trainers.

They are trained without pretrained vectors and character language models (``--no_pretrain``), on one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.adapters.worker import Row, System, main, read_facts, to_conllu

SHARES = {"tokenizer": 0.08, "tagger": 0.35, "lemmatizer": 0.07, "parser": 0.5}  # of the CPU time
PROCESSORS = {"tokenizer": "tokenize", "tagger": "pos", "lemmatizer": "lemma", "parser": "depparse"}
EVERY = {"tokenizer": ("--eval_steps", 4), "tagger": ("--eval_interval", 1), "parser": ("--eval_interval", 1)}
OPTIONS = {
    "tokenizer": ["--lang", "en", "--no_use_mwt"],
    "tagger": ["--lang", "en", "--no_pretrain", "--fix_eval_interval"],
    "lemmatizer": [],
    "parser": ["--lang", "en", "--no_pretrain"],
}
CUT = "the CPU time was over"
INTERVAL = 15.0  # seconds between two looks at a trainer
QUIET = 30.0  # seconds after which a model is on disk as a whole: trainers do not replace files at once


def rows_of(words: Iterable[Any]) -> list[Row]:
    """Return the rows of a sentence of Stanza."""
    return [Row(w.text, w.lemma, w.upos, w.xpos, w.feats, w.head, w.deprel) for w in words]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a running process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_saved(model: Path, part: str) -> bool:
    """Return whether a trainer has saved a model, and is not just writing a file."""
    times = [path.stat().st_mtime for path in model.glob(f"{part}*.pt")]
    return (model / f"{part}.pt").is_file() and time.time() - max(times) > QUIET


class Stanza(System):
    """Stanza's tokenizer, tagger, lemmatizer and parser."""

    packages = ("stanza", "torch")

    def train(self, data: Path, model: Path, minutes: float, progress: Callable[..., None]) -> dict[str, Any]:
        """Run the trainers, and end each when its share of the CPU time is spent. The best model of a trainer is on
        disk; tagger and parser also resume from a checkpoint."""
        model = model.resolve()
        for mark in model.glob("*.done"):
            if read_facts(model)["is_finished"] and CUT in mark.read_text("utf-8"):  # now there is more time
                mark.unlink()
        waiting = [part for part in SHARES if not (model / f"{part}.done").exists()]
        whole = sum(SHARES[part] for part in waiting)
        for part in waiting:
            files = self._files(data, model, part)
            command = [sys.executable, "-m", f"stanza.models.{part}", "--mode", "train", "--cpu"]
            command += ["--shorthand", "en_ewt", "--save_dir", str(model), "--save_name", f"{part}.pt"]
            options = self._options(part, minutes)
            progress(f"{part}: {' '.join(options)}")
            saved = partial(is_saved, model, part)
            done = self._run(command + files + options, 60 * minutes * SHARES[part] / whole, saved, progress)
            (model / f"{part}.done").write_text(f"{'finished' if done else CUT}\n", "utf-8")
        return {part: (model / f"{part}.done").read_text("utf-8").strip() for part in SHARES}

    def _options(self, part: str, minutes: float) -> list[str]:
        """Return the options of a trainer. The less time there is, the more often it must evaluate to save a model."""
        if part not in EVERY:
            return OPTIONS[part]
        name, factor = EVERY[part]
        return [*OPTIONS[part], name, str(factor * max(1, min(50, int(minutes))))]

    def _run(
        self, command: list[str], seconds: float, saved: Callable[[], bool], progress: Callable[..., None]
    ) -> bool:
        """Run a trainer for this much CPU time and until it has saved a model; return whether it ended by itself."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, stdout=sys.stderr, env=environment)
        try:
            while process.poll() is None:
                time.sleep(INTERVAL)
                if process.poll() is None and (spent := cpu_seconds(process.pid)) > seconds and saved():
                    progress("the share of this part is spent", running=spent)
                    return False
        finally:
            process.terminate()
            process.wait()
        if process.returncode:
            raise ValueError(f"{' '.join(command[1:3])} failed with exit code {process.returncode}")
        return True

    def _files(self, data: Path, model: Path, part: str) -> list[str]:
        train, dev = ((data / f"{name}.conllu").resolve() for name in ("train", "dev"))
        if part == "parser":  # it is trained on predicted tags, as Stanza's own scripts do
            train, dev = (self._retag(path, model) for path in (train, dev))
        if part != "tokenizer":
            return ["--train_file", str(train), "--eval_file", str(dev)]
        prepare = import_module("stanza.utils.datasets.prepare_tokenizer_data").main
        for name, path in (("train", train), ("dev", dev)):
            labels, expansions = model / f"{name}.labels", model / f"{name}.mwt.json"
            prepare([str(path.with_suffix(".txt")), str(path), "-o", str(labels), "-m", str(expansions)])
        given = {"txt_file": train.with_suffix(".txt"), "label_file": model / "train.labels"}
        given |= {"dev_txt_file": dev.with_suffix(".txt"), "dev_label_file": model / "dev.labels"}
        given |= {"dev_conll_gold": dev, "mwt_json_file": model / "dev.mwt.json"}
        return [each for name, path in given.items() for each in (f"--{name}", str(path))]

    def _retag(self, path: Path, model: Path) -> Path:
        """Write a treebank with predicted tags, and return its path."""
        out = model / f"{path.stem}.tagged.conllu"
        if not out.is_file():
            conll = import_module("stanza.utils.conll").CoNLL
            document = conll.conll2doc(input_file=str(path))
            conll.write_doc2conll(self._pipeline(model, ["tagger"]).process(document, processors="pos"), str(out))
        return out

    def _pipeline(self, model: Path, parts: Iterable[str]) -> Any:
        paths = {f"{PROCESSORS[part]}_model_path": str(model / f"{part}.pt") for part in parts}
        (model / "resources.json").write_text("{}\n", "utf-8")  # nothing is looked up or downloaded
        more = {"allow_unknown_language": True, "use_gpu": False, "verbose": False}
        if "tokenizer" not in parts:
            more |= {"tokenize_pretokenized": True}
            parts = ["tokenizer", *parts]
        names = ",".join(PROCESSORS[part] for part in parts)
        return import_module("stanza").Pipeline(
            "en", dir=str(model), processors=names, download_method=None, **paths, **more
        )

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None:
        import_module("torch").set_num_threads(threads)
        self.document = import_module("stanza.models.common.doc").Document
        self.pipeline = self._pipeline(model, PROCESSORS)

    def texts(self, texts: list[str]) -> Iterable[Any]:
        return [self.pipeline("\n\n".join(texts))]

    def text(self, text: str) -> Any:
        return self.pipeline(text)

    def sentences(self, sentences: list[list[str]]) -> Iterable[Any]:
        words = [[{"id": n, "text": form} for n, form in enumerate(forms, 1)] for forms in sentences]
        return [self.pipeline.process(self.document(words), processors="pos,lemma,depparse")]

    def sentence(self, words: list[str]) -> Any:
        [result] = self.sentences([words])
        return result

    def conllu(self, result: Any) -> str:
        return "".join(to_conllu(rows_of(sentence.words)) for sentence in result.sentences)


if __name__ == "__main__":
    main(Stanza())
