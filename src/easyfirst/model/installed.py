"""Models in installed packages, found by their entry points.

A package with a model has an entry point in the group ``easyfirst_models``, whose name is that of the model and whose
value is a package (``pt = easyfirst_pt``). The model is the folder of that package with the name of the model. It is
found by the metadata of the installation, so no code of the package runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP = "easyfirst_models"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""The names that models in packages can have."""
_MODULE = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be loaded by its name."""

    name: str
    path: Path
    package: str  # the distribution that contains it
    version: str | None = None  # of the distribution, unless it is this one


def installed_models() -> list[KnownModel]:
    """Return the models of all installed packages by name. A name can occur twice."""
    from importlib.metadata import entry_points  # slow to import

    found = [
        KnownModel(entry.name, _folder(entry.value, entry.dist) / entry.name, entry.dist.name, entry.dist.version)
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and NAME.fullmatch(entry.name) and _MODULE.fullmatch(entry.value)
    ]
    return sorted(found, key=lambda model: (model.name, model.package))


def _folder(module: str, distribution: Distribution) -> Path:
    """Return the folder of a top-level package, without importing it."""
    folder = Path(str(distribution.locate_file(module)))
    if folder.is_dir():
        return folder
    spec = find_spec(module)  # an editable installation, whose files are elsewhere
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) if places else folder
