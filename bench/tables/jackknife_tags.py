"""Predict the tags of a treebank: those of train by jackknifing, those of dev and test by a tagger trained on train.

    python -m bench.tables.jackknife_tags --train gold/train.conllu --dev gold/dev.conllu --test gold/test.conllu \\
        --out tagged --folds 10 --jobs 2

Writes ``tagged/{train,dev,test}.conllu``, which differ from the input files only in UPOS and XPOS. A kind of tag that
train does not have is left unchanged. If the command is stopped, running it again resumes. (``easyfirst train --parts
tagger,parser`` does the same for one parser; use this script if several parsers should read the same tags.)
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from easyfirst.errors import ConfigError, EasyFirstError
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.model.tagger_store import load_tagger
from easyfirst.text.tagging import Tagger
from easyfirst.training.data import read_treebank
from easyfirst.training.jackknife import jackknife
from easyfirst.training.tagger_task import accuracies
from easyfirst.training.training_loop import Silent
from easyfirst.treebank.sentence import Sentence

PARTS = ("train", "dev", "test")


class Report(Silent):
    """A reporter that prints the accuracy of each fold."""

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        print(f"fold {fold} of {n_folds}: " + _show(accuracy), flush=True)


def train_tagger(options: argparse.Namespace) -> Tagger:
    """Train the tagger for dev and test with ``easyfirst train``."""
    out = options.out / "model"
    command = [sys.executable, "-m", "easyfirst", "train", str(options.train), "--dev", str(options.dev)]
    command += ["--out", str(out), "--parts", "tagger", "--seed", str(options.seed)]
    command += ["--set", f"tagger.epochs={options.epochs}"]
    is_resumed = any((out / "training").rglob("checkpoint.safetensors"))
    subprocess.run([*command, "--resume" if is_resumed else "--overwrite"], check=True)
    return Tagger(load_tagger(out / "tagger", None))


def write(path: Path, gold: Sequence[Sentence], system: Sequence[Sentence]) -> None:
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.write_bytes(b"".join(sentence.to_bytes() for sentence in system))
    unfinished.replace(path)
    tags = [{"upos": sentence.upos, "xpos": sentence.xpos} for sentence in system]
    print(f"{path.name}: " + _show(accuracies(gold, tags)), flush=True)


def _show(accuracy: Mapping[str, float]) -> str:
    return ", ".join(f"{kind.upper()} {accuracy[kind]:.2f} %" for kind in ("upos", "xpos") if kind in accuracy)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in PARTS:
        parser.add_argument(f"--{name}", type=Path, required=True, help="CoNLL-U with gold tags")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the tagged files and the tagger")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="how many folds are trained at a time")
    parser.add_argument("--epochs", type=int, default=TaggerTraining().epochs)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def run(options: argparse.Namespace) -> None:
    """Read and check all inputs, then train."""
    gold = {name: read_treebank(getattr(options, name), is_partial=True).sentences for name in PARTS}
    for name in PARTS:
        if _tagged(options, name).resolve() == getattr(options, name).resolve():
            raise ConfigError(f"--out {options.out}: {_tagged(options, name)} would be overwritten; give another")
    if not 2 <= options.folds <= len(gold["train"]):
        raise ConfigError(f"--folds must be from 2 to the number of sentences, {len(gold['train'])}")
    if options.jobs < 1 or options.epochs < 1:
        raise ConfigError("--jobs and --epochs must be at least 1")
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        learn(options, gold)
    except EasyFirstError as error:
        raise ConfigError(f"{error} (to start over, give another --out)") from error


def learn(options: argparse.Namespace, gold: Mapping[str, Sequence[Sentence]]) -> None:
    """Train, or resume what is in the folder, and write the predicted tags."""
    tagger = train_tagger(options)
    for name in ("dev", "test"):
        write(_tagged(options, name), gold[name], tagger.tag([tagger.untagged(sentence) for sentence in gold[name]]))
    tagged = jackknife(
        gold["train"],
        options.folds,
        TaggerConfig(),
        TaggerTraining(epochs=options.epochs, seed=options.seed),
        vectors=None,
        folder=options.out / "jackknife",
        progress=Report(),
        seed=options.seed,
        jobs=options.jobs,
        resume=(options.out / "jackknife").is_dir(),
    )
    write(_tagged(options, "train"), gold["train"], tagged)


def _tagged(options: argparse.Namespace, name: str) -> Path:
    return options.out / f"{name}.conllu"


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    try:
        run(options)
    except (EasyFirstError, OSError) as error:
        parser.error(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # the command has printed the reason
    except KeyboardInterrupt:
        print("stopped; run the same command to resume", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
