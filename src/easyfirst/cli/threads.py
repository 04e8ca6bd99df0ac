"""The number of threads of the linear algebra, which NumPy reads from the environment when it is imported."""

from __future__ import annotations

import os

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads. Verbs call this first, and import what needs NumPy afterwards.

    The default is one thread, unless the environment says otherwise: for matrices of this size, several processes are
    faster than several threads.
    """
    for variable in VARIABLES:
        if n_threads is not None:
            os.environ[variable] = str(n_threads)
        else:
            os.environ.setdefault(variable, os.environ.get(VARIABLES[0], "1"))
