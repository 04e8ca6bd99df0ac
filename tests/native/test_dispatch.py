"""The core chooses the best instruction set that the machine runs, or the one that is named."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from easyfirst.errors import ConfigError
from easyfirst.native.library import ISA_VARIABLE, Core, find_core

CPUINFO = Path("/proc/cpuinfo")
FLAGS = {  # as Linux names them
    "base": set[str](),
    "v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "abm", "movbe"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "v4vnni": {"avx512_vnni"},
}


@pytest.fixture
def core() -> Core:
    found = find_core()
    if not found:
        pytest.skip("this installation has no compiled core")
    return found


def is_runnable(isa: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the core offers the instruction set, under its own name."""
    monkeypatch.setenv(ISA_VARIABLE, isa)
    try:
        core = find_core()
    except ConfigError:
        return False
    assert core
    assert core.isa == isa
    return True


def test_sets_build_on_each_other(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [isa for isa in FLAGS if is_runnable(isa, monkeypatch)]
    assert offered == list(FLAGS)[: len(offered)]
    monkeypatch.delenv(ISA_VARIABLE)
    assert core.isa == offered[-1]


def test_a_set_that_does_not_exist(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_runnable("v", monkeypatch)
    assert not is_runnable("bases", monkeypatch)


@pytest.mark.skipif(platform.machine() != "x86_64" or not CPUINFO.exists(), reason="needs Linux on x86-64")
def test_the_system_agrees(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set is offered if the kernel reports all features that it and the sets below it are compiled for."""
    [flags, *_] = [line.split() for line in CPUINFO.read_text().splitlines() if line.startswith("flags")]
    wanted: set[str] = set()
    for isa, more in FLAGS.items():
        wanted |= more
        assert is_runnable(isa, monkeypatch) == (wanted <= set(flags)), isa
