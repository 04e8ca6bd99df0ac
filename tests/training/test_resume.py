"""``kill -9`` on real processes at chosen moments, and ``--resume``: bit for bit as if nothing had happened."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from easyfirst.errors import ModelError
from easyfirst.parser import load
from easyfirst.training.checkpoint import load_checkpoint
from easyfirst.treebank.conllu import read_conllu
from tests.commands import run_here
from tests.patience import PATIENCE

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TRAIN = TOY / "handwritten.conllu"
TIMES = {"seconds", "cpu_seconds", "words_per_second", "words_per_cpu_second"}
SETTINGS = {
    **{f"network.{name}_dim": 6 for name in ("word", "tag", "relation", "vector", "tree", "hidden")},
    "network.tree_layers": 1,
    "network.spelling_dim": 4,
    "network.deep_bilstm": "true",
    "training.min_count": 2,
    "training.update_after": 20,
    "training.learning_rate": 0.01,
    "training.dropout": 0.2,
    "training.attention": 0.5,
    "training.averaging": 0.9,
    "training.final_rate": 0.5,
}

DRIVER = '''
"""The command `easyfirst`, which at some moment says "here" and waits for its end."""

import sys, time
from pathlib import Path

from easyfirst.cli import main
from easyfirst.cli.reports import PartReport

moment, count = sys.argv.pop(1), int(sys.argv.pop(1))
batch_end, rename = PartReport.batch_end, Path.replace


def wait():
    print("here", flush=True)
    time.sleep(600)


def batch_end_or_wait(self, epoch, done, stats):
    batch_end(self, epoch, done, stats)
    if moment == "middle of epoch" and epoch == count and stats["sentences"] >= 12:
        wait()


def rename_or_wait(self, target):
    global count
    if moment == f"renaming {target.name}":
        count -= 1
        if count == 0:
            wait()
    return rename(self, target)


PartReport.batch_end, Path.replace = batch_end_or_wait, rename_or_wait
main()
'''


def arguments(out: Path, *more: str) -> list[str]:
    settings = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    return ["train", str(TRAIN), "--dev", str(out.parent / "dev.conllu"), "--out", str(out), "--epochs", "4"] + [
        *settings,
        *more,
    ]


def finish(out: Path, *more: str) -> str:
    """Run the command to its end, in this process, and return its report."""
    done = run_here(*arguments(out, *more))
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def kill_at(moment: str, count: int, out: Path, *more: str) -> None:
    """Run the command up to a moment, and kill it there."""
    command = [sys.executable, "-c", DRIVER, moment, str(count), *arguments(out, *more)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()  # SIGKILL: nothing can be tidied up
        assert process.wait(PATIENCE) == -signal.SIGKILL


def metrics(out: Path) -> list[dict[str, Any]]:
    lines = (out / "training" / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in lines]


def n_epochs(out: Path) -> int:
    """How many the checkpoint has."""
    return len(load_checkpoint(out / "training").facts["history"])


def files(out: Path) -> set[str]:
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}


def assert_same_run(out: Path, whole: Path) -> None:
    for name in ("weights.safetensors", "config.json", "vocab.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    one, other = (
        safetensors.numpy.load_file(path / "training" / "checkpoint.safetensors").items() for path in (out, whole)
    )
    assert {name: array.tobytes() for name, array in one} == {name: array.tobytes() for name, array in other}
    facts = [load_checkpoint(path / "training").facts for path in (out, whole)]
    for fact in ("config", "data", "rng", "violation_rate"):
        assert facts[0][fact] == facts[1][fact], fact
    assert metrics(out) == metrics(whole)
    assert files(out) == files(whole)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the dev treebank, for all models."""
    path = tmp_path_factory.mktemp("resume")
    blocks = (TOY / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:8]
    (path / "dev.conllu").write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(place: Path) -> Path:
    """Four epochs without a break."""
    finish(place / "whole")
    assert [line["epoch"] for line in metrics(place / "whole")] == [1, 2, 3, 4]
    return place / "whole"


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on Windows")


def test_two_epochs_and_a_kill_and_two_more_are_four(whole: Path, place: Path) -> None:
    out = place / "killed"
    kill_at("middle of epoch", 3, out)
    assert n_epochs(out) == len(metrics(out)) == 2
    parses = load(out).parse(read_conllu(TRAIN))  # what is there can be used
    assert len(parses) == 27
    assert all(parse.heads.count(0) == 1 for parse in parses)

    said = finish(out, "--resume")
    assert "epoch 3/4" in said
    assert "epoch 2/4" not in said
    assert_same_run(out, whole)


def test_killed_in_the_first_epoch_and_while_writing(whole: Path, place: Path) -> None:
    """In the first epoch there is nothing to resume, and nothing in the way of a new start. Later, a temporary file
    stays behind, with metrics and perhaps a model of an epoch that the checkpoint does not know of."""
    out = place / "unlucky"
    kill_at("middle of epoch", 1, out)
    assert files(out) == set()
    with pytest.raises(ModelError, match="no checkpoint to resume from; start without --resume"):
        load_checkpoint(out / "training")

    kill_at("renaming checkpoint.safetensors", 3, out)
    assert any(name.startswith("training/.easyfirst-") for name in files(out))
    assert (n_epochs(out), len(metrics(out))) == (2, 3)
    load(out)

    finish(out, "--resume")
    assert_same_run(out, whole)
