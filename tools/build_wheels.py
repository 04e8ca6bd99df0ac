"""Build the source distribution and the wheels of all platforms on one machine. zig is the cross-compiler.

    pip install -c constraints.txt ".[wheels]"
    python tools/build_wheels.py --out dist

Every library is checked for the file format of its platform. auditwheel checks the tags of the wheels for Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The platform tag of each wheel, the target of zig, and how the library starts: ELF, Mach-O or PE, and the machine.
TARGETS = {
    "manylinux_2_17_x86_64": ("x86_64-linux-gnu.2.17", rb"\x7fELF\x02.{13}\x3e\x00"),
    "manylinux_2_17_aarch64": ("aarch64-linux-gnu.2.17", rb"\x7fELF\x02.{13}\xb7\x00"),
    "macosx_10_13_x86_64": ("x86_64-macos.10.13", rb"\xcf\xfa\xed\xfe\x07\x00\x00\x01"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", rb"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
    "win_amd64": ("x86_64-windows-gnu", rb"MZ.*PE\x00\x00\x64\x86"),
}


def main() -> None:
    """Build the source distribution and the wheels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"build only for: {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to write to (default: dist)")
    options = parser.parse_args()
    if unknown := set(options.platforms) - set(TARGETS):
        parser.error(f"unknown platform: {', '.join(sorted(unknown))}")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        build("sdist", Path(folder))
        for platform in options.platforms or TARGETS:
            check(build_wheel(platform, Path(folder)), platform)
        for path in sorted(Path(folder).iterdir()):
            print(shutil.move(path, options.out / path.name))


def build_wheel(platform: str, out: Path) -> Path:
    """Build the wheel of a platform and return its path."""
    target, _ = TARGETS[platform]
    build(
        "wheel",
        out,
        CC=f"{sys.executable} -m ziglang cc -target {target}",
        LDFLAGS="-s",
        EASYFIRST_PLATFORM=platform,
        EASYFIRST_REQUIRE_NATIVE="1",
    )
    [wheel] = out.glob(f"*-py3-none-{platform}.whl")
    return wheel


def build(target: str, out: Path, **environment: str) -> None:
    """Run hatchling, which runs hatch_build.py when it builds a wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)


def check(wheel: Path, platform: str) -> None:
    """Check the format of the library in a wheel and, for Linux, what it needs of the system."""
    with zipfile.ZipFile(wheel) as archive:
        [library] = [archive.read(name) for name in archive.namelist() if name.startswith("easyfirst/native/_core.")]
    if not re.match(TARGETS[platform][1], library, re.DOTALL):
        raise SystemExit(f"{wheel.name} does not contain a library for its platform")
    if platform.startswith("manylinux"):
        command = [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        libraries = {*report["versioned_symbols"], *report["external_libs"]}
        if glibc(report["overall_tag"]) > glibc(platform) or not libraries <= {"libc.so.6", "libm.so.6"}:
            raise SystemExit(f"{wheel.name} needs {report['overall_tag']} and {', '.join(sorted(libraries))}")


def glibc(tag: str) -> list[int]:
    """Return the version of glibc that a tag requires; for a tag that names none, one that no tag reaches."""
    return [int(number) for number in re.findall(r"(?<=_)\d+(?=_)", tag)] or [sys.maxsize]


if __name__ == "__main__":
    main()
