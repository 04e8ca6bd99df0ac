"""``easyfirst train --encoder`` and what other verbs do with its models."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.tiny_training import TINY, TRAIN, train_tiny
from tests.commands import run_here
from tests.patience import PATIENCE

WITHOUT = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] in ("transformers", "tokenizers") else find(name, path, target)
)
from easyfirst.cli import main

main()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, bert: Path) -> Path:
    """A model whose tokenizer and parser were trained by the command line."""
    out = tmp_path_factory.mktemp("cli") / "m"
    smaller = ["--set", "network.spelling_dim=3", "--set", "tokenizer.epochs=1", "--epochs", "1"]
    done = train_tiny(TRAIN, "--out", out, "--encoder", bert, "--parts", "tokenizer,parser", *smaller)
    assert done.code == 0, done.stderr
    return out


def test_info(model: Path) -> None:
    facts = json.loads(run_here("info", "--json", model).stdout)
    assert (facts["preset"], facts["config"]["network"]["tags"], facts["needs_tags"]) == ("strong", "none", [])
    assert facts["config"]["encoder"]["frozen"] is False
    encoder = facts["encoder"]
    assert (encoder["name"], encoder["licence"], encoder["dim"]) == ("tiny-bert", "apache-2.0", 16)
    assert (encoder["layers"], encoder["frozen"], facts["formats_of_parts"]["transformer"]) == (2, False, 5)
    text = run_here("info", model).stdout.decode()
    [line] = [line for line in text.splitlines() if line.startswith("encoder ")]
    assert line.split(maxsplit=1)[1].startswith("tiny-bert (apache-2.0), fine-tuned; 2 layers, 16 wide; ")


def test_it_parses_text(model: Path) -> None:
    done = run_here("parse", "--model", model, "--text", "The fox likes bread.", "--to", "conllu", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().count("\t0\troot\t") == 1


def test_packed_and_packaged(model: Path, tmp_path: Path) -> None:
    assert run_here("pack", model, "--out", tmp_path / "small", "--bits", "8").returncode == 0
    assert run_here("package", tmp_path / "small", "--name", "tiny", "--out", tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "easyfirst_tiny-1.0.0-py3-none-any.whl") as wheel:
        assert "easyfirst_tiny/tiny/transformer/weights.safetensors" in wheel.namelist()
        assert (
            "Requires-Dist: easyfirst[transformers]>=" in wheel.read("easyfirst_tiny-1.0.0.dist-info/METADATA").decode()
        )


def test_without_the_packages(model: Path, bert: Path, tmp_path: Path) -> None:
    """A clear error, for training and for parsing; a model without a transformer does not miss them."""

    def run(*arguments: str | Path) -> str:
        command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 2
        return done.stderr

    needs = 'needs tokenizers and transformers; install: pip install "easyfirst[transformers]"\n'
    found = run("parse", "--model", model, "--text", "A fox.")
    assert found == f"error: {model} has a transformer encoder, which {needs}"
    found = run("train", TRAIN, "--out", tmp_path / "m", "--encoder", bert, *TINY)
    assert found.endswith(f"error: --encoder {needs}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--encoder", "bert-base-cased"],
            "--encoder bert-base-cased: there is no such directory; nothing is downloaded",
        ),
        (["--freeze-encoder"], "--freeze-encoder is for a pretrained encoder; add --encoder DIR"),
        (["--device", "cuda"], "--device is for a pretrained encoder; add --encoder DIR"),
        (["--set", "encoder.warmup=0.2"], "--set encoder is for a pretrained encoder; add --encoder DIR"),
        (["--encoder", "BERT", "--set", "encoder.warm=0.2"], "unknown setting encoder.warm; there are: learning_rate"),
        (["--encoder", "BERT", "--device", "tpu"], "the device 'tpu' cannot be used"),
        (["--encoder", "BERT", "--processes", "2"], "--processes and --encoder cannot be combined"),
        (["--encoder", "BERT", "--parts", "tagger"], "--encoder is for the parser, which is not trained"),
        (["--encoder", "BERT", "--init", "en"], "--init and --encoder cannot be combined"),
        (["--encoder", "BERT", "--freeze-encoder", "--set", "encoder.frozen=true"], "cannot be combined"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors(bert: Path, tmp_path: Path, options: list[str], message: str) -> None:
    given = [str(bert) if option == "BERT" else option for option in options]
    done = train_tiny(TRAIN, "--out", tmp_path / "m", *given)
    assert message in done.error
    assert not (tmp_path / "m" / "config.json").exists()
