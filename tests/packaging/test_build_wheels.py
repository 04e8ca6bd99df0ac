"""The script that builds the wheels of all platforms checks what is in them."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
_spec = importlib.util.spec_from_file_location("build_wheels", ROOT / "tools" / "build_wheels.py")
assert _spec
assert _spec.loader
build_wheels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_wheels)

STARTS = {
    "macosx_10_13_x86_64": b"\xcf\xfa\xed\xfe\x07\x00\x00\x01",
    "macosx_11_0_arm64": b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01",
    "win_amd64": b"MZ\x00\n\x00PE\x00\x00\x64\x86",
}


@pytest.mark.parametrize("platform", STARTS)
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_the_library_must_be_for_the_platform(tmp_path: Path, platform: str, start: bytes) -> None:
    wheel = tmp_path / f"easyfirst-1-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("easyfirst/native/_core.so", start + b"\n...")
    if start == STARTS[platform]:
        build_wheels.check(wheel, platform)
    else:
        with pytest.raises(SystemExit, match="does not contain a library for its platform"):
            build_wheels.check(wheel, platform)


def test_versions_of_glibc() -> None:
    promised = build_wheels.glibc("manylinux_2_17_x86_64")
    assert build_wheels.glibc("manylinux_2_5_x86_64") < promised
    assert build_wheels.glibc("manylinux_2_34_x86_64") > promised
    assert build_wheels.glibc("linux_x86_64") > promised
