"""What the tests of training share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.training.parser_runs import ROOT, WORDS


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More make networks as small as these only slower."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few sentences."""
    path = tmp_path_factory.mktemp("data") / "dev.conllu"
    blocks = (ROOT / "examples" / "toy" / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:8]
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Word vectors as word2vec writes them."""
    rows = np.random.default_rng(8).normal(size=(len(WORDS), 4)).round(3)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, rows.tolist(), strict=True)]
    path = tmp_path / "vectors.txt"
    path.write_text(f"{len(WORDS)} 4\n" + "".join(lines))
    return path
