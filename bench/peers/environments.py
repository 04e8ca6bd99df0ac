"""An environment for each system, with the versions that its lock file pins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.peers.systems import LOCKS, OURS, ROOT, System

INSTALLER = ("pip", "setuptools", "_distutils_hack", "distutils-precedence.pth", "pkg_resources")


def install(system: System, environments: Path) -> None:
    """Create the environment of a system, unless it is there, and install what its lock file names, and nothing else.

    PyTorch is pinned as its build for CPUs. If pip does not find it, give it the index of that build in the variable
    ``PIP_EXTRA_INDEX_URL`` (see the PyTorch installation page).
    """
    python = system.python(environments)
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "-r", str(LOCKS / f"{system.environment}.txt")], check=True)
    if system.name == OURS:
        subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    subprocess.run([str(python), "-m", "pip", "check"], check=True)


def size_of(paths: list[Path]) -> int:
    """Return the number of bytes in these files."""
    return sum(path.stat().st_size for path in paths if path.is_file() and not path.is_symlink())


def site_packages(system: System, environments: Path) -> Path:
    """Return the folder of the installed packages."""
    [folder] = (system.python(environments).parent.parent / "lib").glob("python3*/site-packages")
    return folder


def installed_bytes(system: System, environments: Path) -> int:
    """Return the size of all installed packages, without pip and setuptools unless the system needs them."""
    lock = (LOCKS / f"{system.environment}.txt").read_text(encoding="utf-8")
    left_out = INSTALLER[:1] if "setuptools==" in lock else INSTALLER

    def is_counted(path: Path, top: str) -> bool:
        return not any(top == name or top.startswith(f"{name}-") for name in left_out)

    folder = site_packages(system, environments)
    return size_of([path for path in folder.rglob("*") if is_counted(path, path.relative_to(folder).parts[0])])
