"""The examples of the tree encoder learn, save and predict, on a few sentences written for this test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from easyfirst import NumpyTreeEncoder
from tests.patience import PATIENCE

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data" / "meaning"
SMALL = ("--tree-dim", "12", "--batch", "4")


def run(example: str, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment, encoding="utf-8"
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def train(example: str, out: Path, data: str, *options: str | Path) -> str:
    """Train and test on the same sentences, and return the last line."""
    path = DATA / data
    done = run(example, "train", path, "--dev", path, "--test", path, "--out", out, *SMALL, *options)
    assert f"saved {out}" in done.stdout
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "least"), [("5", 0.8), ("2", 1.0)])
def test_sentiment_is_learnt(tmp_path: Path, classes: str, least: float) -> None:
    line = train("sentiment", tmp_path / "model", "sst.txt", "--classes", classes, "--epochs", "40", "--rate", "0.01")
    assert float(re.fullmatch(r"test accuracy (.+)", line)[1]) >= least
    lines = run("sentiment", "predict", tmp_path / "model", "A charming tale.").stdout.splitlines()
    assert re.fullmatch(r"(very )?positive \d\.\d\d  A charming tale \.", lines[0])
    assert NumpyTreeEncoder.load(tmp_path / "model" / "encoder").dim == 48


@pytest.mark.slow
def test_relatedness_is_learnt_and_word_vectors_are_read(tmp_path: Path) -> None:
    words = ["a", "baker", "slices", "bread", "pilot", "plane"]
    vectors = np.random.default_rng(1).normal(size=(len(words), 20)).astype(np.float32)
    np.savez(tmp_path / "vectors.npz", words=np.array(words), vectors=vectors)
    options = ("--epochs", "60", "--rate", "0.01", "--order", "inward", "--embeddings", tmp_path / "vectors.npz")
    line = train("relatedness", tmp_path / "model", "sick.txt", *options)
    assert float(re.fullmatch(r"test pearson (.+)  mse .+", line)[1]) > 0.9
    near, far = (
        float(run("relatedness", "predict", tmp_path / "model", "A baker slices bread", other).stdout)
        for other in ("Bread is sliced by a baker", "A pilot lands a plane")
    )
    assert near > far


def test_the_sts_benchmark_is_read(tmp_path: Path) -> None:
    line = train("relatedness", tmp_path / "model", "stsb.csv", "--epochs", "1", "--order", "outward")
    assert re.fullmatch(r"test pearson .+  mse .+", line)


@pytest.mark.slow
def test_entailment_starts_from_the_parser(tmp_path: Path) -> None:
    line = train("entailment", tmp_path / "model", "sick.txt", "--pretrained", "--epochs", "8", "--order", "outward")
    assert float(re.fullmatch(r"test accuracy (.+)", line)[1]) > 0.6
    done = run("entailment", "predict", tmp_path / "model", "Two cats sleep on a red sofa", "Cats sleep on a sofa")
    assert re.fullmatch(r"(ENTAILMENT|NEUTRAL|CONTRADICTION) \d\.\d\d\n", done.stdout)
    assert NumpyTreeEncoder.load(tmp_path / "model" / "encoder").config.tree_layers == 2


def test_snli_is_read(tmp_path: Path) -> None:
    assert re.fullmatch(r"test accuracy .+", train("entailment", tmp_path / "model", "snli.txt", "--epochs", "1"))


@pytest.mark.parametrize(
    ("example", "data", "message"),
    [
        ("sentiment", "sick.txt", "sick.txt:1: expected a tree such as"),
        ("relatedness", "snli.txt", "snli.txt:1: expected two sentences and a score in the columns 6, 7 and 5"),
        ("entailment", "sst.txt", "sst.txt:1: expected two sentences and a class in the columns 1, 2 and 3"),
        ("entailment", "missing.txt", "missing.txt: the file cannot be read: No such file or directory"),
    ],
)
def test_other_data_is_refused(tmp_path: Path, example: str, data: str, message: str) -> None:
    done = run(example, "train", DATA / data, "--dev", DATA / data, "--out", tmp_path / "model", code=2)
    assert message in done.stderr


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    done = run("sentiment", "predict", tmp_path / "none", "A text.", code=2)
    assert "name a directory that 'train' wrote" in done.stderr
