"""Training of a tiny network in this process, for the tests of ``easyfirst train``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.commands import run_here

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TRAIN = TOY / "handwritten.conllu"  # 27 sentences: one of one word, three non-projective
TINY = [
    part
    for name in ("word", "tag", "relation", "vector", "tree", "hidden")
    for part in ("--set", f"network.{name}_dim=4")
]
FOX = "1\tfoxes\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tjump\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"


@dataclass(frozen=True)
class Done:
    """The end of a run."""

    code: int
    stderr: str

    @property
    def error(self) -> str:
        """The error message, which is the last line. The lines before it are a report."""
        assert self.code == 2, self.stderr
        *_, last = self.stderr.splitlines()
        assert last.startswith("error: ")
        return last.removeprefix("error: ")


Train = Callable[..., Done]


def train_tiny(*arguments: str | Path) -> Done:
    """Run ``easyfirst train`` with a tiny network."""
    done = run_here("train", *TINY, *arguments)
    assert done.stdout == b""
    return Done(done.returncode, done.stderr.decode())
