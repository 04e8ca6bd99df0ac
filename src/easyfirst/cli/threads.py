"""How many threads the linear algebra uses. NumPy reads it from the environment once, when it is imported."""

from __future__ import annotations

import os

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def set_threads(n_threads: int | None) -> None:
    """To be called before NumPy is imported, so verbs import what needs it only afterwards.

    One thread unless told otherwise by the option or by the environment: for matrices of this size more are slower
    than several processes.
    """
    for variable in VARIABLES:
        if n_threads is not None:
            os.environ[variable] = str(n_threads)
        else:
            os.environ.setdefault(variable, os.environ.get(VARIABLES[0], "1"))
