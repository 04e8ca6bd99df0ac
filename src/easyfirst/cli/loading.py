"""Loading the model that a verb names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from easyfirst.model.bundled import hides_directory

if TYPE_CHECKING:
    from easyfirst.parser import Parser


def load_model(name: str, *, warns: bool = True) -> Parser:
    """Load a model. NumPy is imported here, after :func:`easyfirst.cli.threads.set_threads`."""
    if warns:
        warn_of_name(name)

    from easyfirst.parser import load

    return load(name)


def warn_of_name(model: str) -> None:
    """Warn on stderr if a name means the bundled model, but there is a directory of that name as well."""
    if hides_directory(model):
        print(f"warning: {model} is the bundled model; write ./{model} for the directory", file=sys.stderr)


def check_calibrated(parser: Parser, name: str) -> None:
    """Raise an error if a model has no calibration, so no confidence."""
    if parser.model.calibration is None:
        from easyfirst.confidence.estimates import no_calibration

        raise no_calibration(name, name)
