"""Print constraints for pip: the oldest versions that pyproject.toml allows of the dependencies and of some extras.

python .ci/oldest.py server arrow > oldest.txt
pip install -c oldest.txt ".[server,arrow]"
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import tomllib

REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[\w,]+\])?\s*>=\s*([0-9][\w.]*)")


def oldest(extras: list[str]) -> dict[str, str]:
    """Return the lower bound of each requirement by name. Where two extras have different ones, the higher counts."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = project["dependencies"] + [one for name in extras for one in project["optional-dependencies"][name]]
    found: dict[str, str] = {}
    for requirement in requirements:
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise SystemExit(f"{requirement}: has no lower bound; add one")
        name, version = match.groups()
        found[name] = max(version, found.get(name, "0"), key=lambda text: [int(part) for part in text.split(".")])
    return found


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in oldest(sys.argv[1:]).items()))
