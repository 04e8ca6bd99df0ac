"""The tests of transformers need the extra ``transformers``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pretrained.tiny_transformers import make_bert

if TYPE_CHECKING:
    from easyfirst.model.encoder_store import PretrainedEncoder

collect_ignore_glob = [] if find_spec("transformers") else ["test_*.py"]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More make networks as small as these only slower."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a Hugging Face model."""
    return make_bert(tmp_path_factory.mktemp("bert") / "tiny-bert")


@pytest.fixture(scope="session")
def encoder(bert: Path) -> PretrainedEncoder:
    """The same, as a part of a model."""
    from easyfirst.training.hugging_face import read_hugging_face

    return read_hugging_face(bert)
