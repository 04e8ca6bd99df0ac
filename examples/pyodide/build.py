"""Build the page as a directory of static files, and serve it if asked to.

    python examples/pyodide/build.py site --serve

The directory has the page, a pure wheel of easyfirst and a list of both. Any web server can serve it, also in a
subdirectory. The page loads Pyodide and NumPy from the CDN of Pyodide, or with --pyodide DIRECTORY from a copy that is
served with it (see fetch.py).
"""

from __future__ import annotations

import argparse
import functools
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = ("index.html", "page.js", "worker.js", "trees.py")
SITE = "site.json"
CDN = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
COPY = "pyodide/"
LOCK = "pyodide-lock.json"
CORE = ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)


class BuildError(Exception):
    """The page cannot be built."""


def build(site: Path, pyodide: str = CDN, wheel: Path | None = None) -> None:
    """Build the page in a directory. ``pyodide`` is an address or a directory. Without a ``wheel``, one is built."""
    is_address = "://" in pyodide
    copied = [] if is_address else files_of(Path(pyodide))
    if site.exists() and (not site.is_dir() or (any(site.iterdir()) and not (site / SITE).is_file())):
        raise BuildError(f"{site} holds something other than this page; choose another directory")
    site.mkdir(parents=True, exist_ok=True)
    for old in site.glob("easyfirst-*.whl"):
        old.unlink()
    shutil.rmtree(site / COPY, ignore_errors=True)
    if copied:
        (site / COPY).mkdir()
    for file in copied:
        shutil.copy(file, site / COPY / file.name)
    for name in PAGE:
        shutil.copy(HERE / name, site / name)
    with tempfile.TemporaryDirectory() as folder:
        made = wheel or build_wheel(Path(folder))
        if not made.name.endswith("-py3-none-any.whl"):
            raise BuildError(f"{made} is not a pure wheel, so a browser cannot use it; build one with EASYFIRST_PURE=1")
        shutil.copy(made, site / made.name)
    address = pyodide.rstrip("/") + "/" if is_address else COPY
    (site / SITE).write_text(json.dumps({"wheel": made.name, "pyodide": address}, indent=1) + "\n", encoding="utf-8")


def files_of(directory: Path) -> list[Path]:
    """Return the files of a copy of Pyodide that the page needs: the core, and NumPy with what it depends on."""
    if missing := [name for name in CORE if not (directory / name).is_file()]:
        raise BuildError(f"{directory} is not a copy of Pyodide: it lacks {', '.join(missing)}; make one with fetch.py")
    packages = json.loads((directory / LOCK).read_text(encoding="utf-8"))["packages"]
    names, files = ["numpy"], [directory / name for name in CORE]
    files += directory.glob("pyodide.asm.*js")  # .js, or .mjs in newer versions
    for name in names:
        file = directory / packages[name]["file_name"] if name in packages else None
        if file is None or not file.is_file():
            raise BuildError(f"{directory} has no {name}; make a copy that has it with fetch.py")
        files.append(file)
        names += (other for other in packages[name]["depends"] if other not in names)
    return files


def build_wheel(folder: Path) -> Path:
    """Build a pure wheel of the source tree that this file is part of."""
    variables = os.environ | {"EASYFIRST_PURE": "1", "EASYFIRST_REQUIRE_NATIVE": "0"}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        f"--wheel-dir={folder}",
        str(HERE.parents[1]),
    ]
    if importlib.util.find_spec("hatchling"):
        command.append("--no-build-isolation")  # pip need not fetch it
    if subprocess.run(command, env=variables, check=False).returncode:
        raise BuildError("the wheel cannot be built; pip has said why")
    [wheel] = folder.glob("easyfirst-*.whl")
    return wheel


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files with the types that browsers insist on, whatever this system thinks of them."""

    extensions_map = {  # noqa: RUF012 (as in the base class)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }


def serve(site: Path, port: int) -> None:
    """Serve the page on this machine until the process is interrupted."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", port), functools.partial(Handler, directory=str(site))
    ) as server:
        print(f"open http://127.0.0.1:{server.server_port}/ (Ctrl+C ends the server)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the page that parses in the browser.")
    parser.add_argument("site", type=Path, help="the directory to write, for example: site")
    parser.add_argument(
        "--pyodide", default=CDN, help="an address, or a directory that fetch.py made (default: %(default)s)"
    )
    parser.add_argument("--wheel", type=Path, help="a pure wheel of easyfirst (default: build one)")
    parser.add_argument("--serve", action="store_true", help="serve the page on this machine")
    parser.add_argument("--port", type=int, default=8000, help="the port to serve it on (default: %(default)s)")
    given = parser.parse_args()
    try:
        build(given.site, given.pyodide, given.wheel)
        print(f"the page is in {given.site}")
        if given.serve:
            serve(given.site, given.port)
    except (BuildError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
