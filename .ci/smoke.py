"""A smoke test of the installed package: import it, parse a text with the bundled model, train two epochs.

    python .ci/smoke.py examples/toy

Training needs PyTorch. Where that is not installed, the script says so and tests the rest.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import easyfirst

TEXT = "The fox likes apples. It doesn't jump."
TREES = [
    [("The", 2, "det"), ("fox", 3, "nsubj"), ("likes", 0, "root"), ("apples", 3, "obj"), (".", 3, "punct")],
    [("It", 4, "nsubj"), ("does", 4, "aux"), ("n't", 4, "advmod"), ("jump", 0, "root"), (".", 4, "punct")],
]


def command(*arguments: str | Path) -> str:
    """Run ``easyfirst``, with warnings as errors if they are here, and return what it prints."""
    options = [f"-W{option}" for option in sys.warnoptions]
    line = [sys.executable, *options, "-m", "easyfirst", *map(str, arguments)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout


def check_parsing() -> None:
    """Parse the text in Python and on the command line."""
    document = easyfirst.load("en")(TEXT)
    assert [[(word.form, word.head_id, word.relation) for word in parse] for parse in document] == TREES
    sentences = [json.loads(line)["words"] for line in command("parse", "--to", "json", "--text", TEXT).splitlines()]
    assert [[(word["form"], word["head"], word["relation"]) for word in words] for words in sentences] == TREES


def check_training(toy: Path) -> None:
    """Train on the toy treebank, and parse with the result."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        command("train", toy / "train.conllu", "--dev", toy / "dev.conllu", "--out", model, "--epochs", "2", "--quiet")
        metrics = [json.loads(line) for line in (model / "training" / "metrics.jsonl").read_text().splitlines()]
        assert [line["epoch"] for line in metrics] == [1, 2]
        scores = easyfirst.score(
            easyfirst.read_conllu(toy / "dev.conllu"),
            easyfirst.load(model).parse(easyfirst.read_conllu(toy / "dev.conllu")),
        )
        assert scores.full.uas > 50, scores.full


def main() -> None:
    check_parsing()
    tested = "import, parsing"
    if importlib.util.find_spec("torch"):
        check_training(Path(sys.argv[1]))
        tested += ", training"
    else:
        tested += " (PyTorch is not installed: training is not tested)"
    print(f"Python {platform.python_version()}, easyfirst {easyfirst.__version__}: {tested}")


if __name__ == "__main__":
    main()
