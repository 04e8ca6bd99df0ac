"""What the build hook puts into a wheel: the library with its tag, or nothing."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from packaging.tags import platform_tags

from tests.packaging.projects import Project

WARNING = "easyfirst is built without its native core"
MISSING_FUNCTION = "extern int lost(void); int ef_functions_for(void) { return lost(); }"
needs_compiler = pytest.mark.skipif(
    sys.platform == "win32" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def assert_pure(project: Project) -> None:
    assert project.platform() == "any"
    assert list(project.contents()) == ["__init__.py"]


@needs_compiler
def test_a_wheel_has_the_library_and_the_tag_of_this_machine(project: Project) -> None:
    done = project.build(PYTHONWARNINGS="default::ResourceWarning")
    assert done.returncode == 0, done.stderr
    assert WARNING not in done.stderr
    assert "ResourceWarning" not in done.stderr
    assert project.platform() in platform_tags()
    assert not project.platform().startswith(("manylinux", "musllinux"))
    assert sorted(project.contents()) == ["__init__.py", "_core.dylib" if sys.platform == "darwin" else "_core.so"]
    assert sorted(path.name for path in project.native.iterdir()) == ["__init__.py", "core.c", "core.h", "dispatch.c"]


@needs_compiler
def test_builds_are_reproducible(project: Project, tmp_path: Path) -> None:
    """The same sources give the same wheel in another folder, and through the sdist."""
    project.build("sdist")
    with tarfile.open(project.artifact()) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    project.build()
    other = Project(tmp_path / "a longer name")
    other.build()
    assert other.artifact().read_bytes() == project.artifact().read_bytes()
    [other.root] = (tmp_path / "unpacked").iterdir()
    other.build()
    assert other.artifact().read_bytes() == project.artifact().read_bytes()


@needs_compiler
def test_an_editable_install_has_the_library_in_place(project: Project) -> None:
    project.build("wheel:editable")
    assert project.platform() == "any"
    assert project.contents() == {}
    [library] = project.native.glob("_core.*")
    assert ctypes.CDLL(str(library)).ef_functions_for
    project.build("wheel:editable", EASYFIRST_PURE="1")
    assert not library.exists()
    project.build("wheel:editable")
    assert library.exists()
    (project.native / "dispatch.c").write_text(MISSING_FUNCTION, encoding="utf-8")
    assert WARNING in project.build("wheel:editable").stderr
    assert not library.exists()


@pytest.mark.parametrize("name", ["_core.so", "_core.dylib", "_core.dll"])
def test_a_library_in_place_is_not_distributed(project: Project, name: str) -> None:
    (project.native / name).touch()
    (project.root / ".gitignore").unlink()
    project.build("wheel", EASYFIRST_PURE="1")
    assert_pure(project)
    project.build("sdist")
    with tarfile.open(project.artifact()) as archive:
        names = {Path(path).name for path in archive.getnames()}
    assert {"core.c", "core.h", "dispatch.c", "hatch_build.py"} <= names
    assert name not in names


def test_without_a_compiler_the_wheel_is_pure(project: Project, tmp_path: Path) -> None:
    done = project.build(PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"{WARNING}, so it will be slower.\nNo C compiler is installed" in done.stderr
    assert_pure(project)


@pytest.mark.parametrize("compiler", ["no-such-compiler", f"{sys.executable} -c exit(1)"])
def test_a_compiler_that_fails_leaves_the_wheel_pure(project: Project, compiler: str) -> None:
    done = project.build(CC=compiler)
    assert done.returncode == 0, done.stderr
    assert WARNING in done.stderr
    assert compiler.split()[0] in done.stderr
    assert_pure(project)


@needs_compiler
@pytest.mark.parametrize(
    ("source", "text", "message"),
    [
        ("core.c", "not C", "core.c:1"),
        ("dispatch.c", MISSING_FUNCTION, "lost"),
        ("dispatch.c", "int ef_functions_for(void) { return 0; }", "ef_functions_for"),  # hidden
    ],
)
def test_a_broken_core_leaves_the_wheel_pure(project: Project, source: str, text: str, message: str) -> None:
    (project.native / source).write_text(text, encoding="utf-8")
    done = project.build()
    assert done.returncode == 0, done.stderr
    assert WARNING in done.stderr
    assert message in done.stderr
    assert_pure(project)
    done = project.build(EASYFIRST_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert message in done.stderr


def test_a_pure_wheel_on_request(project: Project) -> None:
    done = project.build(EASYFIRST_PURE="1")
    assert WARNING not in done.stderr
    assert_pure(project)
    done = project.build(EASYFIRST_PURE="1", EASYFIRST_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "EASYFIRST_PURE and EASYFIRST_REQUIRE_NATIVE contradict each other" in done.stderr
    done = project.build(EASYFIRST_PURE="0", EASYFIRST_REQUIRE_NATIVE="0", CC="no-such-compiler")
    assert WARNING in done.stderr


@pytest.mark.parametrize(
    ("platform", "machine", "library"),
    [
        ("manylinux_2_99_aarch64", "aarch64", "_core.so"),
        ("macosx_99_0_arm64", "aarch64", "_core.dylib"),
        ("win_arm64", "aarch64", "_core.dll"),
        ("win_amd65", "x86_64", "_core.dll"),
    ],
)
def test_a_cross_compiler(project: Project, platform: str, machine: str, library: str) -> None:
    """The tag is taken from the environment, and the instruction sets from the compiler."""
    done = project.build(CC=project.pretender(machine), EASYFIRST_PLATFORM=platform, EASYFIRST_REQUIRE_NATIVE="1")
    assert done.returncode == 0, done.stderr
    assert project.platform() == platform
    assert sorted(project.contents()) == ["__init__.py", library]
    commands = project.commands()
    levels = ["v3.o", "v4.o", "v4vnni.o"] if machine == "x86_64" else []
    assert sorted(commands) == sorted([library, "dispatch.o", "base.o", *levels])
    assert "-DEF_ISA=base" in commands["base.o"]
    assert not any(option.startswith("-m") for option in commands["base.o"])
    assert "-ffp-contract=off" in commands["base.o"]
    windows = platform.startswith("win")
    assert ("-fPIC" in commands["base.o"]) != windows
    assert ("-lm" in commands[library]) != windows


def test_flags_of_the_user(project: Project) -> None:
    options = {"CFLAGS": "-g -DX='a b'", "LDFLAGS": "-s", "EASYFIRST_PLATFORM": "win_amd65"}
    project.build(CC=project.pretender("x86_64"), **options)
    commands = project.commands()
    for command in commands.values():
        assert {"-g", "-DX=a b"} <= set(command)
    assert [name for name, command in commands.items() if "-s" in command] == ["_core.dll"]


@needs_compiler
def test_the_command_line_compiles_the_library_alone(project: Project) -> None:
    done = project.run("hatch_build.py", "alone.so")
    assert done.returncode == 0, done.stderr
    assert ctypes.CDLL(str(project.root / "alone.so")).ef_functions_for
    done = project.run("hatch_build.py", "alone.so", CC="no-such-compiler")
    assert done.returncode == 1
    assert done.stderr == "no-such-compiler: No such file or directory\n"


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("nm"), reason="needs nm")
def test_only_the_entry_point_is_exported(project: Project) -> None:
    project.run("hatch_build.py", "alone.so")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", "alone.so"], cwd=project.root, capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["ef_functions_for"]
