"""The page of ``examples/pyodide``: its scripts as modules, and a server for it."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pyodide"


def script(name: str) -> ModuleType:
    """Import a script of the example."""
    spec = importlib.util.spec_from_file_location(f"pyodide_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


BUILD, FETCH = script("build"), script("fetch")


class Quiet(BUILD.Handler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about requests."""


@contextmanager
def served(site: Path) -> Generator[str, None, None]:
    """Serve a page, and yield its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
