"""The models that come with the package, and what the name of a model means."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import CONFIG

FOLDER = Path(__file__).parent.parent / "bundled_models"


def bundled_models() -> dict[str, Path]:
    """The directories of the bundled models by name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob(f"*/{CONFIG}"))}


def hides_directory(name: str) -> bool:
    """Whether a name means a bundled model although there is another directory of that name."""
    path, bundled = Path(name), bundled_models().get(name)
    return bundled is not None and path.is_dir() and not path.samefile(bundled)


def find_model(name: str | PathLike[str]) -> Path:
    """The directory of a model: a bundled one by its name, any other by its path (``./en`` is never a bundled one)."""
    bundled = bundled_models()
    if isinstance(name, str) and name in bundled:
        return bundled[name]
    path = Path(name)
    if not path.exists() and len(path.parts) == 1:
        names = ", ".join(bundled) or "none"
        raise ModelError(f"there is no model {fspath(name)}, neither a directory nor bundled (bundled: {names})")
    return path
