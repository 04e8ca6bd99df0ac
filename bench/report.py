"""Write a benchmark's result as JSON and as a Markdown table, with date, machine and versions."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("easyfirst", "numpy", "torch", "spacy")


def conditions() -> dict[str, Any]:
    """Return the date, the machine and the versions."""
    versions: dict[str, str] = {}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": _cpu(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    values = {key.strip(): value.strip() for key, value in fields.items()}
    has_avx512 = "avx512f" in values.get("flags", "")
    return f"{values.get('model name', 'unknown')}, {'AVX-512' if has_avx512 else 'no AVX-512'}"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return ["| " + " | ".join(map(str, line)) + " |" for line in (header, ["---"] * len(header), *rows)]


def write(
    name: str,
    result: dict[str, Any],
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    more: Sequence[str] = (),
    quiet: bool = False,
) -> None:
    """Write ``results/<name>.json`` and ``results/<name>.md``, and print the table unless ``quiet``. ``more``: lines
    below the table."""
    RESULTS.mkdir(exist_ok=True)
    result = {**conditions(), **result}
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    facts = f"{result['date']}, {result['cpu']}, Python {result['python']}, " + ", ".join(
        f"{package} {version}" for package, version in result["versions"].items()
    )
    text = "\n".join([*table(header, rows), *more, "", facts, ""])
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    if not quiet:
        print(text)
