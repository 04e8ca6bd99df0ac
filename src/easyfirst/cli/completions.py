"""What the Tab key completes beside verbs, options and file names: models, presets and lists of names.

Where a function returns nothing, shells complete the names of files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def complete_model(incomplete: str) -> list[str]:
    """Return the bundled and installed models, and the directories of models, that begin like this."""
    from easyfirst.model.bundled import known_models  # imported only when the Tab key is pressed
    from easyfirst.model.directory import KIND, has_kind

    names = [model.name for model in known_models() if model.name.startswith(incomplete)]
    folder, slash, begin = incomplete.rpartition("/")
    directories = sorted(Path(folder + slash or ".").glob("*/"))
    found = [path.name for path in directories if path.name.startswith(begin) and has_kind(path, KIND)]
    return list(dict.fromkeys([*names, *(folder + slash + name for name in found)]))


def complete_preset(incomplete: str) -> list[str]:
    """Return the presets of training that begin like this."""
    from easyfirst.model.parser_config import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_list(*names: str) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names with commas between."""

    def complete(incomplete: str) -> list[str]:
        before, comma, begin = incomplete.rpartition(",")
        given = before.split(",")
        return [before + comma + name for name in names if name.startswith(begin) and name not in given]

    return complete
