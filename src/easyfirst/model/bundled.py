"""The models bundled with the package, and the lookup of models by name."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from easyfirst.errors import ModelError
from easyfirst.model.directory import CONFIG
from easyfirst.model.installed import NAME, KnownModel, installed_models

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FOLDER = Path(__file__).parent.parent / "bundled_models"
PACKAGE = "easyfirst"


def bundled_models() -> dict[str, Path]:
    """Return the directories of the bundled models by name."""
    folder = FOLDER if FOLDER.is_dir() else _unpacked()
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{CONFIG}"))}


@cache
def _unpacked() -> Path:
    """Copy the models out of a zip file that the package is imported from, such as a wheel, until the process ends."""
    from importlib.resources import files

    packed = files(PACKAGE) / FOLDER.name
    if not packed.is_dir():
        return FOLDER
    folder = Path(tempfile.mkdtemp(prefix="easyfirst-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _copy(packed, folder)
    return folder


def _copy(packed: Traversable, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in packed.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())


def known_models() -> list[KnownModel]:
    """Return the bundled models, then the installed ones. If models have the same name, the name means a bundled one;
    if several installed ones have it, it means none of them."""
    bundled = [KnownModel(name, path, PACKAGE) for name, path in bundled_models().items()]
    return bundled + installed_models()


def find_known(name: str) -> KnownModel | None:
    """Return the bundled or installed model of this name, if there is one."""
    if path := bundled_models().get(name):
        return KnownModel(name, path, PACKAGE)
    if not NAME.fullmatch(name):
        return None
    found = [model for model in installed_models() if model.name == name]
    if len(found) > 1:
        packages = " and ".join(model.package for model in found)
        raise ModelError(
            f"there are several models {name}, in the packages {packages}; uninstall all but one of them, or give the "
            f"path of the model, such as {found[0].path}"
        )
    return found[0] if found else None


def hidden_directory(name: str) -> KnownModel | None:
    """Return the bundled or installed model of this name if another directory has the name too."""
    known = find_known(name) if Path(name).is_dir() else None
    return None if known is None or (known.path.exists() and known.path.samefile(name)) else known


def find_model(name: str | PathLike[str]) -> Path:
    """Return the directory of a model: the bundled one of that name, else the installed one, else the path (``./en`` is
    always a path)."""
    if isinstance(name, str) and (known := find_known(name)):
        return known.path
    path = Path(name)
    if not path.exists() and len(path.parts) == 1:
        names = ", ".join(dict.fromkeys(model.name for model in known_models())) or "none"
        raise ModelError(
            f"there is no model {fspath(name)}, neither a directory nor bundled nor installed (there are: {names}); "
            "'easyfirst models' lists all"
        )
    return path
