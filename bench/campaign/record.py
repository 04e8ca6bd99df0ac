"""The record of a part: counts and problems of all its runs, which add up in bench/results/campaign_<part>.json."""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import report

ROOT = Path(__file__).parent.parent.parent
WORK = ROOT / "build" / "campaign"  # inputs that were found interesting, and those that made something fail
SAVE_EVERY = 10.0  # seconds
SHOWN = 20  # the most problems that are listed


@dataclass
class Record:
    """What one run of a part did and found, beside what earlier runs did."""

    part: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])  # measured in this run, and not to be added up
    started: str = field(default_factory=lambda: datetime.datetime.now().astimezone().isoformat(timespec="seconds"))
    commit: str = field(default_factory=lambda: tested_commit())  # when the run began
    _begin: float = field(default_factory=time.monotonic)
    _saved: float = 0.0

    @property
    def name(self) -> str:
        return f"campaign_{self.part}"

    @property
    def chance(self) -> random.Random:
        """Random numbers of this run: the same seed gives others if the campaign is continued."""
        return random.Random(f"{self.seed} {self.part} {len(self.earlier())}")

    def add(self, kind: str, n: int = 1) -> None:
        """Count what was done, and save now and then, so that an interrupted run counts too."""
        self.counts[kind] += n
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def fail(self, problem: str) -> None:
        """Note a problem."""
        problem = problem.replace(f"{ROOT}/", "")
        self.problems.append(problem)
        print(f"- {self.part}: {problem}", flush=True)
        self.save()

    def earlier(self) -> list[dict[str, Any]]:
        """Return the runs before this one."""
        try:
            runs: list[dict[str, Any]] = json.loads((report.RESULTS / f"{self.name}.json").read_bytes())["runs"]
        except (OSError, ValueError, KeyError):
            return []
        return [run for run in runs if run["started"] != self.started]

    def save(self, *, quiet: bool = True) -> None:
        """Write the record with those of earlier runs."""
        self._saved = time.monotonic()
        run = {
            "started": self.started,
            "seconds": round(time.monotonic() - self._begin),
            "cpu": report.conditions()["cpu"],
            "commit": self.commit,
            "seed": self.seed,
            "counts": dict(sorted(self.counts.items())),
            "problems": self.problems,
            "facts": self.facts,
        }
        runs: list[dict[str, Any]] = [*self.earlier(), run]
        totals = Counter[str]()
        for each in runs:
            totals.update(each["counts"])
        result = {"totals": dict(sorted(totals.items())), "runs": runs}
        report.write(self.name, result, ["", ""], _rows(totals, runs), quiet=quiet)


def _rows(totals: Mapping[str, int], runs: list[dict[str, Any]]) -> list[list[object]]:
    minutes = sum(run["seconds"] for run in runs) / 60
    commits = ", ".join(dict.fromkeys(run["commit"] for run in runs))
    problems = [problem for run in runs for problem in run["problems"]]
    return [
        ["runs", len(runs)],
        ["minutes", f"{minutes:.1f}"],
        ["commits", commits],
        ["seeds", ", ".join(dict.fromkeys(str(run["seed"]) for run in runs))],
        *([kind, f"{n:,}"] for kind, n in sorted(totals.items())),
        *([name, value] for name, value in runs[-1]["facts"].items()),
        ["problems", len(problems)],
        *(["problem", problem.replace("|", "\\|").replace("\n", " ")[:300]] for problem in problems[:SHOWN]),
    ]


def tested_commit() -> str:
    """Return the commit that is tested, with a mark if the package or the campaign differs from it."""
    command = ["git", "-C", str(ROOT)]
    found = subprocess.run([*command, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    places = ["src", "bench/campaign", "tests/kills.py"]
    changed = subprocess.run([*command, "diff", "--quiet", "HEAD", "--", *places], capture_output=True, check=False)
    return (found.stdout.strip() or "unknown") + (" (changed)" if changed.returncode == 1 else "")
