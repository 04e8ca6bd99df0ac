"""What a release consists of agrees: the version, the changelog, the citation and the Dockerfile."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import easyfirst

ROOT = Path(__file__).resolve().parent.parent
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
RELEASES = re.findall(
    r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:3]))


def test_the_citation_names_the_newest_release() -> None:
    version, date = RELEASES[0]
    assert re.findall(r"^version: (.*)$", CITATION, re.MULTILINE) == [version]
    assert re.findall(r'^date-released: "(.*)"$', CITATION, re.MULTILINE) == [date]


def test_the_version_is_the_newest_release_or_the_one_in_development() -> None:
    newest = RELEASES[0][0]
    assert [version for version, _ in RELEASES] == sorted(
        (version for version, _ in RELEASES), key=numbers, reverse=True
    )
    if re.fullmatch(r"\d+\.\d+\.\d+\.dev\d+", easyfirst.__version__):
        assert numbers(easyfirst.__version__) > numbers(newest)
    else:
        assert easyfirst.__version__ == newest


def test_the_docker_image_gets_every_file_it_copies() -> None:
    """What the Dockerfile copies exists, and .dockerignore lets it through. The image runs as a user of its own."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    ignored, *rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert ignored == "*"
    copied = [name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE) for name in line.split()]
    assert len(copied) >= 5
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in rules
    assert text.index("USER easyfirst") < text.index("ENTRYPOINT")


def test_the_docker_image_runs_a_command_that_exists() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [command] = re.findall(r"^CMD \[(.*)\]$", text, re.MULTILINE)
    arguments = re.findall(r'"([^"]*)"', command)
    done = subprocess.run(
        [sys.executable, "-m", "easyfirst", *arguments, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(option in done.stdout for option in arguments if option.startswith("--"))


def test_pip_installs_extras_of_a_checkout_by_the_command_that_errors_suggest() -> None:
    """pip takes easyfirst itself from the environment, not from an index, where there may be no release of it."""
    pytest.importorskip("pip")
    pytest.importorskip("fastapi")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "easyfirst[server]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Requirement already satisfied: easyfirst[server]" in done.stdout
