"""The commands that write files: what they start from, and what they must leave behind whenever they end."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from easyfirst.cli.ledger import NAME
from easyfirst.errors import ModelError
from easyfirst.model.saving import load_model
from easyfirst.parser import Parser, load
from easyfirst.replacing import PREFIX
from tests.cli.corpora import TEXT, write_corpus
from tests.cli.tiny_training import TINY, TRAIN
from tests.commands import run_here
from tests.model.stored import visible
from tests.small_models import TREEBANK, small_model, small_tagger, small_tokenizer

DEV = TREEBANK.parent.parent.parent / "tests" / "data" / "multiword.conllu"
Files = dict[str, bytes]


@dataclass
class Writer:
    """A command that writes to a place. Without an ``old`` version, there is nothing there before."""

    name: str
    place: Path
    command: tuple[str | Path, ...]
    old: Path | None = None  # a directory that is copied to the place
    is_model: bool = False
    is_gradual: bool = False  # whether it makes several outputs, or a model that becomes better in several steps
    expected: Files | None = None

    def prepare(self) -> None:
        """Make the place what it is before the command."""
        shutil.rmtree(self.place, ignore_errors=True)
        if self.old is not None:
            shutil.copytree(self.old, self.place)
        elif not self.is_model:
            self.place.mkdir(parents=True)

    def run(self) -> subprocess.CompletedProcess[bytes]:
        return run_here(*self.command)

    def succeed(self) -> None:
        """Run the command, which must succeed."""
        done = self.run()
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")

    def learn(self) -> None:
        """Find out what the command leaves behind if nothing happens to it."""
        self.prepare()
        self.succeed()
        self.expected = self.found()

    def found(self) -> Files:
        """Return the files that a user sees, without those of a training run."""
        files = visible(self.place) if self.place.exists() else {}
        return {name: content for name, content in files.items() if not name.startswith("training/")}

    def before(self) -> Files:
        return {} if self.old is None else visible(self.old)

    def problem(self) -> str | None:
        """Return what is wrong with the place after the command was ended: a model that is neither the old nor the new
        one, a file that is incomplete."""
        if self.is_model:
            try:
                load_model(self.place)  # which finishes a replacement that was committed
            except ModelError as error:
                if self.old is not None or "config.json" in self.found():
                    return f"the model does not load: {error}"
        found, before = self.found(), self.before()
        assert self.expected is not None
        if self.is_gradual and self.is_model:
            return None
        if self.is_gradual:
            wrong = [
                name for name, content in found.items() if content not in (before.get(name), self.expected.get(name))
            ]
            return f"neither old nor new: {', '.join(sorted(wrong))}" if wrong else None
        return None if found in (before, self.expected) else f"neither old nor new: {', '.join(sorted(found))}"

    def problem_of_end(self) -> str | None:
        """Run the command again; return what is wrong with what it leaves behind."""
        try:
            self.succeed()
        except RuntimeError as error:
            return f"the command cannot be repeated: {error}"
        if self.found() != self.expected:
            return "the command repeated does not leave what it does alone"
        left = [path.name for path in self.place.rglob(f"{PREFIX}*") if path.name != NAME]
        return f"leftovers: {', '.join(left)}" if left else None


def make_models(folder: Path) -> dict[str, Path]:
    """Write a small model, one with all parts, and two members of an ensemble."""
    places = {name: folder / name for name in ("old", "new", "one", "two")}
    kinds = ("upos", "xpos", "feats", "features", "lemmas")
    Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger()).save(places["old"])
    Parser(small_model("all"), tokenizer=small_tokenizer(), tagger=small_tagger(kinds=kinds)).save(places["new"])
    for seed, name in enumerate(("one", "two")):
        member = load(places["old"])
        rng = np.random.default_rng(seed)
        for array in member.model.arrays.values():
            array += rng.normal(size=array.shape).astype(np.float32) / 10
        member.save(places[name])
    return places


def writers(folder: Path) -> list[Writer]:
    """Return all commands, with their inputs in a folder."""
    models = make_models(folder / "models")
    old, new, out = models["old"], models["new"], folder / "out"
    corpus = write_corpus(folder / "corpus")
    tokens = folder / "tokens.txt"
    tokens.write_text("the fox likes the apples\na dog likes a fox\n" * 20)
    (folder / "text.txt").write_bytes(TEXT * 5)
    written = folder / "written"
    for name in ("wheel", "vectors", "parse"):
        (written / name).mkdir(parents=True)
    (written / "wheel" / "easyfirst_xx-1.0.0-py3-none-any.whl").write_bytes(b"before")
    (written / "vectors" / "v.npz").write_bytes(b"before")
    (written / "parse" / "out.conllu").write_bytes(b"before")
    dev = ("--dev", TREEBANK, "--predicted-tags")
    train = ("train", TRAIN, "--dev", DEV, "-q", "--epochs", "2", "--seed", "1", *TINY)
    to_wheel = ("package", new, "--name", "xx", "--licence", "MIT", "--overwrite", "-o")
    to_vectors = ("vectors", tokens, "--dim", "4", "--min-count", "1", "-q", "-o")
    into = ("parse", "-q", "-m", old)
    return [
        Writer("pack", out / "pack", ("pack", new, "-o", out / "pack", "--overwrite"), old, True),
        Writer(
            "combine",
            out / "m",
            ("combine", models["one"], models["two"], "-o", out / "m", "--overwrite", *dev),
            old,
            True,
        ),
        Writer("calibrate", out / "c", ("calibrate", out / "c", TREEBANK, "--predicted-tags"), old, True),
        Writer("package", out / "p", (*to_wheel, out / "p"), written / "wheel"),
        Writer("vectors", out / "v", (*to_vectors, out / "v" / "v.npz"), written / "vectors"),
        Writer("parse", out / "t", (*into, folder / "text.txt", "-o", out / "t" / "out.conllu"), written / "parse"),
        Writer("corpus", out / "d", (*into, corpus, "-d", out / "d", "--resume"), is_gradual=True),
        Writer("train", out / "a", (*train, "-o", out / "a", "--resume"), is_model=True, is_gradual=True),
    ]
