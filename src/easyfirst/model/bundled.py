"""The models bundled with the package, and the lookup of models by name."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from easyfirst.errors import ModelError
from easyfirst.model.directory import CONFIG

FOLDER = Path(__file__).parent.parent / "bundled_models"


def bundled_models() -> dict[str, Path]:
    """Return the directories of the bundled models by name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob(f"*/{CONFIG}"))}


def hides_directory(name: str) -> bool:
    """Return whether a name refers to a bundled model although another directory has that name."""
    path, bundled = Path(name), bundled_models().get(name)
    return bundled is not None and path.is_dir() and not path.samefile(bundled)


def find_model(name: str | PathLike[str]) -> Path:
    """Return the directory of a model: the bundled one of that name, else the path (``./en`` is always a path)."""
    bundled = bundled_models()
    if isinstance(name, str) and name in bundled:
        return bundled[name]
    path = Path(name)
    if not path.exists() and len(path.parts) == 1:
        names = ", ".join(bundled) or "none"
        raise ModelError(f"there is no model {fspath(name)}, neither a directory nor bundled (bundled: {names})")
    return path
