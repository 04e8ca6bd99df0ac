"""The results: one cell for each measurement of each system. Every cell is stored as soon as it is measured."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

from bench import report
from easyfirst.replacing import replacement

RESULTS = report.RESULTS / "peers.json"
Cell = dict[str, Any]


class Record:
    """A JSON file of cells by system and name."""

    def __init__(self, path: Path = RESULTS) -> None:
        self.path = path
        self.systems: dict[str, dict[str, Cell]] = {}
        self.facts: dict[str, Any] = {}
        if path.is_file():
            content = json.loads(path.read_text(encoding="utf-8"))
            self.systems, self.facts = content["systems"], content["facts"]

    def get(self, system: str, name: str) -> Cell:
        """Return a cell; an empty one if it has not been measured."""
        return self.systems.get(system, {}).get(name, {})

    def put(self, system: str, name: str, cell: Cell) -> None:
        """Store a cell with the date and the load of the machine."""
        load = round(os.getloadavg()[0], 1)
        self.systems.setdefault(system, {})[name] = {**cell, "date": datetime.date.today().isoformat(), "load": load}
        self._write()

    def remove(self, name_begins: str) -> None:
        """Remove the cells of all systems whose names begin like this."""
        for cells in self.systems.values():
            for name in [name for name in cells if name.startswith(name_begins)]:
                del cells[name]
        self._write()

    def put_facts(self, **facts: Any) -> None:
        """Store facts about the machine and the data."""
        self.facts |= facts
        self._write()

    def _write(self) -> None:
        content = {"facts": self.facts, "systems": self.systems}
        with replacement(self.path) as stream:
            stream.write((json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
