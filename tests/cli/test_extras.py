"""A missing extra is reported, and no verb imports one that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.tiny_training import TRAIN
from tests.patience import PATIENCE


class TestTorch:
    """PyTorch is imported for training only."""

    WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] == "torch" else find(name, path, target)
)
from easyfirst.cli import main

main()
"""

    def without_torch(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", self.WITHOUT_TORCH, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_missing(self, model: Path, data: Path, tmp_path: Path) -> None:
        done = self.without_torch("train", TRAIN, "-o", tmp_path / "m")
        assert done.returncode == 2
        assert done.stderr == 'error: training needs PyTorch; install it with: pip install "easyfirst[train]"\n'
        assert not (tmp_path / "m").exists()
        done = self.without_torch("parse", "-m", model, data / "multiword.conllu", "-q")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\troot\t") == 2

    def test_other_verbs_and_wrong_options_do_not_import_it(self, model: Path, data: Path, tmp_path: Path) -> None:
        gold = data / "multiword.conllu"
        code = (
            "import contextlib, sys\n"
            "import easyfirst, easyfirst.cli\n"
            "for arguments in sys.argv[1:]:\n"
            "    sys.argv = ['easyfirst', *arguments.split('|')]\n"
            "    with contextlib.suppress(SystemExit):\n"
            "        easyfirst.cli.main()\n"
            "for name in easyfirst.__all__:\n"
            "    getattr(easyfirst, name)\n"
            "assert 'numpy' in sys.modules\n"
            "assert not [name for name in sys.modules if name.partition('.')[0] == 'torch']\n"
            "assert not [name for name in sys.modules if name.startswith('easyfirst.training')]\n"
        )
        verbs = [
            f"parse|-m|{model}|{gold}|-q|-o|{tmp_path / 'out.conllu'}",
            f"evaluate|{gold}|{tmp_path / 'out.conllu'}|--json",
            f"evaluate|{gold}|--model|{model}|--json",
            f"info|{model}|--json",
            "train|--help",
            "train|treebank.conllu|-o|model|--set|network.depth=3",
        ]
        done = subprocess.run([sys.executable, "-c", code, *verbs], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("error: unknown setting network.depth")
        assert done.stderr.count("\n") == 1
        assert done.stdout.count('"conllx"') == 2
        assert '"needs_tags"' in done.stdout
