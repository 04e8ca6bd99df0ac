"""The tests of transformers need the extra ``transformers``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pretrained.tiny_transformers import make_bert
from tests.training.conftest import dev, one_thread

if TYPE_CHECKING:
    from easyfirst.model.encoder_store import PretrainedEncoder

__all__ = ["dev", "one_thread"]
collect_ignore_glob = [] if find_spec("transformers") else ["test_*.py"]


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a Hugging Face model."""
    return make_bert(tmp_path_factory.mktemp("bert") / "tiny-bert")


@pytest.fixture(scope="session")
def encoder(bert: Path) -> PretrainedEncoder:
    """The same, as a part of a model."""
    from easyfirst.training.hugging_face import read_hugging_face

    return read_hugging_face(bert)
