"""A small copy of the project with a toy core, and a compiler that only pretends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ["pyproject.toml", "hatch_build.py", ".gitignore", "README.md", "LICENSE", "src/easyfirst/__init__.py"]
VARIABLES = ["CC", "CFLAGS", "LDFLAGS", "EASYFIRST_PURE", "EASYFIRST_REQUIRE_NATIVE", "EASYFIRST_PLATFORM"]

CORE = """
#include "core.h"
const char *NAME(EF_ISA) = __FILE__;
"""
HEADER = """
#define JOIN(a, b) a##b
#define NAME(isa) JOIN(ef_functions_, isa)
"""
DISPATCH = """
extern const char *ef_functions_base;
__attribute__((visibility("default"))) const char *ef_functions_for(void) { return ef_functions_base; }
"""

# writes the macros of its target, or a file that contains the command
PRETENDER = """
import json, pathlib, sys
if "-E" in sys.argv:
    print("#define __{machine}__ 1")
else:
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text(json.dumps(sys.argv[1:]))
    with open({log!r}, "a") as log:
        log.write(json.dumps(sys.argv[1:]) + "\\n")
"""


class Project:
    """A copy of what decides how the package is built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.native = root / "src" / "easyfirst" / "native"
        self.native.mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / name, root / name)
        for name, text in {"__init__.py": "", "core.c": CORE, "core.h": HEADER, "dispatch.c": DISPATCH}.items():
            (self.native / name).write_text(text, encoding="utf-8")

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the root of the project."""
        inherited = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.root, env=inherited | environment, capture_output=True, text=True, check=False
        )

    def build(self, target: str = "wheel", **environment: str) -> subprocess.CompletedProcess[str]:
        """Build an artifact into ``dist``, which is emptied first."""
        shutil.rmtree(self.root / "dist", ignore_errors=True)
        return self.run("-m", "hatchling", "build", "--target", target, **environment)

    def artifact(self) -> Path:
        """Return the path of what was built."""
        [path] = (self.root / "dist").iterdir()
        return path

    def platform(self) -> str:
        """Return the platform tag of the wheel that was built."""
        return self.artifact().stem.split("-py3-none-")[1]

    def contents(self) -> dict[str, bytes]:
        """Return the files of the wheel that belong to the native core."""
        with zipfile.ZipFile(self.artifact()) as wheel:
            return {Path(name).name: wheel.read(name) for name in wheel.namelist() if "/native/" in name}

    def pretender(self, machine: str) -> str:
        """Return the command of a compiler that compiles nothing and logs how it was called."""
        script = self.root / "pretender.py"
        script.write_text(PRETENDER.format(machine=machine, log=str(self.root / "log")), encoding="utf-8")
        return f"{sys.executable} {script}"

    def commands(self) -> dict[str, list[str]]:
        """Return the commands that the pretender received, by the name of their output."""
        lines = [json.loads(line) for line in (self.root / "log").read_text(encoding="utf-8").splitlines()]
        return {Path(line[line.index("-o") + 1]).name: line for line in lines}
