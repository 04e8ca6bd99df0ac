"""What a verb needs before it starts: the number of threads, optional dependencies, and its model."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from easyfirst.cli.messages import say
from easyfirst.errors import EasyFirstError
from easyfirst.model.bundled import PACKAGE, hidden_directory

if TYPE_CHECKING:
    from easyfirst.parser import Parser

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads of the linear algebra, which NumPy reads from the environment when it is imported.

    Verbs call this first, and import what needs NumPy afterwards. The default is one thread, unless the environment
    says otherwise: for matrices of this size, several processes are faster than several threads.
    """
    for variable in VARIABLES:
        if n_threads is not None:
            os.environ[variable] = str(n_threads)
        else:
            os.environ.setdefault(variable, os.environ.get(VARIABLES[0], "1"))


def parser_threads(n_threads: int | None) -> int:
    """Return the number of threads to parse with, and limit the linear algebra of each to one thread.

    Verbs that parse whole files call this instead of :func:`set_threads`. The default is OMP_NUM_THREADS, which
    schedulers set, or else the number of cores that this process may use.
    """
    found = n_threads or _given(os.environ.get(VARIABLES[0], "")) or n_cores()
    set_threads(1)
    return found


def _given(value: str) -> int | None:
    """Return the number in the value of OMP_NUM_THREADS, the first if it is a list, or None."""
    first = value.partition(",")[0].strip()
    return int(first) if first.isdecimal() else None


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_torch(what: str) -> None:
    """Raise an error that says how to install PyTorch, if it is missing."""
    if find_spec("torch") is None:
        raise EasyFirstError(f'{what} needs PyTorch; install it with: pip install "easyfirst[train]"')


def load_model(name: str, *, warns: bool = True, valid: bool = True) -> Parser:
    """Load a model. NumPy is imported here, after :func:`set_threads`."""
    if warns:
        warn_of_name(name)

    from easyfirst.parser import load

    return load(name, valid=valid)


def warn_of_name(model: str) -> None:
    """Warn on stderr if a name means a bundled or installed model, but there is a directory of that name as well."""
    if known := hidden_directory(model):
        which = "the bundled model" if known.package == PACKAGE else f"the model of the package {known.package}"
        say(f"warning: {model} is {which}; write ./{model} for the directory")


def check_calibrated(parser: Parser, name: str, otherwise: str = "") -> None:
    """Raise an error if a model has no calibration, so no confidence. ``otherwise``: what can be done instead."""
    if parser.model.calibration is None:
        from easyfirst.confidence.estimates import no_calibration

        raise no_calibration(name, name, otherwise)
