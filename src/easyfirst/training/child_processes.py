"""What all child processes of a training share: one thread each, and an end when their parent ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import parent_process

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SECONDS_TO_END = 5.0


@contextmanager
def one_thread_each() -> Generator[None]:
    """Limit processes started in this context to one thread each, by their environment."""
    kept = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name in THREAD_VARIABLES:
            del os.environ[name]
        os.environ.update(kept)


def follow_parent() -> None:
    """Leave interrupts to the parent, and exit when it is killed, so that a resumed run is the only one."""

    def end_with_parent() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
