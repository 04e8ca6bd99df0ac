"""Compile the native core, a C library that the package loads with ctypes.

Hatchling runs the hook when it builds a wheel. The wheel gets the library and a tag for its platform. Without a working
compiler the wheel is pure Python, and NumPy does the work. To compile only the library, for example with sanitizers:

    CFLAGS="-g -fsanitize=address,undefined" python hatch_build.py build/_core.so

Environment variables:
    CC, CFLAGS, LDFLAGS         A compiler that accepts the options of gcc, and more options for compiling and linking.
    EASYFIRST_PURE=1            Build a pure wheel.
    EASYFIRST_REQUIRE_NATIVE=1  Fail instead of building a pure wheel.
    EASYFIRST_PLATFORM          The platform tag of the wheel if CC is a cross-compiler. Default: this machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

SOURCES = Path("src", "easyfirst", "native")
ENTRY_POINT = "ef_functions_for"
COMPILERS = ("cc", "gcc", "clang")
ACCURACY = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
FLAGS = ["-O3", "-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-psabi", *ACCURACY]

# The instruction sets of x86-64 as single features: gcc before version 11 does not know the names of the levels
# (-march=x86-64-v3), and zig spells them differently.
V3 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt", "-mmovbe", "-mpopcnt"]
V4 = [*V3, "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"]
X86_64: dict[str, list[str]] = {"base": [], "v3": V3, "v4": V4, "v4vnni": [*V4, "-mavx512vnni"]}
OTHER: dict[str, list[str]] = {"base": []}


class CompilationError(Exception):
    """The library could not be compiled or loaded."""


class NativeCoreHook(BuildHookInterface[BuilderConfig]):
    """Adds the library to a wheel, or to the source tree of an editable install."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the library and put it into ``build_data``, or leave the wheel pure."""
        platform = wheel_platform()
        name = library_name(platform)
        sources = Path(self.root, SOURCES)
        editable = version == "editable"
        if editable:
            (sources / name).unlink(missing_ok=True)  # never combine an old library with newer Python code
        required = is_set("EASYFIRST_REQUIRE_NATIVE")
        if is_set("EASYFIRST_PURE"):
            if required:
                raise CompilationError("EASYFIRST_PURE and EASYFIRST_REQUIRE_NATIVE contradict each other: unset one.")
            return
        self._folder = tempfile.TemporaryDirectory()
        library = Path(sources if editable else self._folder.name, name)
        try:
            compile_library(sources, library, platform)
            if platform in platform_tags():
                run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}).{ENTRY_POINT}"], sources)
        except CompilationError as error:
            library.unlink(missing_ok=True)
            if required:
                raise
            self.app.display_warning(f"easyfirst is built without its native core, so it will be slower.\n{error}")
            return
        if not editable:
            build_data["force_include"][str(library)] = f"easyfirst/native/{name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder of the library."""
        if self._folder:
            self._folder.cleanup()


def is_set(variable: str) -> bool:
    """Return whether an environment variable has a value other than 0."""
    return os.environ.get(variable, "") not in ("", "0")


def wheel_platform() -> str:
    """Return the platform tag of the wheel. By default it is for this machine, so it is not a manylinux wheel."""
    local = (tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))
    return os.environ.get("EASYFIRST_PLATFORM") or next(local)


def library_name(platform: str) -> str:
    """Return the file name under which the package looks for the library."""
    return "_core" + (".dll" if platform.startswith("win") else ".dylib" if platform.startswith("macosx") else ".so")


def compile_library(sources: Path, output: Path, platform: str) -> None:
    """Compile ``core.c`` once per instruction set and ``dispatch.c`` once, and link them.

    All paths in the commands that could end up in the library are relative, so that the build is reproducible.
    """
    windows = platform.startswith("win")
    given = shlex.split(os.environ.get("CFLAGS", ""))
    flags = FLAGS + ([] if windows else ["-fPIC"]) + given + ["-fno-fast-math", *ACCURACY]  # the last ones win
    libraries = shlex.split(os.environ.get("LDFLAGS", "")) + ([] if windows else ["-lm"])
    compiler = find_compiler()
    macros = run([*compiler, *flags, "-E", "-dM", "dispatch.c"], sources)
    instruction_sets = X86_64 if "#define __x86_64__" in macros else OTHER
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def compile_object(source: str, name: str, *options: str) -> str:
            run([*compiler, *flags, *options, "-c", source, "-o", str(Path(folder, name))], sources)
            return name

        jobs = [pool.submit(compile_object, "dispatch.c", "dispatch.o")]
        for isa, options in instruction_sets.items():
            jobs.append(pool.submit(compile_object, "core.c", f"{isa}.o", f"-DEF_ISA={isa}", *options))
        objects = [job.result() for job in jobs]
        run([*compiler, *flags, "-shared", "-o", output.name, *objects, *libraries], Path(folder))
        output.unlink(missing_ok=True)  # a process that uses the old library keeps it
        shutil.move(Path(folder, output.name), output)


def find_compiler() -> list[str]:
    """Return the command of the compiler: ``CC``, or the first one that is installed."""
    if command := shlex.split(os.environ.get("CC", ""), posix=os.name != "nt"):
        return command
    for name in COMPILERS:
        if path := shutil.which(name):
            return [path]
    raise CompilationError(f"No C compiler is installed. Looked for {', '.join(COMPILERS)}.")


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output."""
    try:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    except OSError as error:
        raise CompilationError(f"{command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise CompilationError(f"This command failed: {shlex.join(command)}\n{error.stderr}") from error


if __name__ == "__main__":
    try:
        compile_library(Path(__file__).resolve().parent / SOURCES, Path(sys.argv[1]).resolve(), wheel_platform())
    except CompilationError as error:
        sys.exit(str(error))
