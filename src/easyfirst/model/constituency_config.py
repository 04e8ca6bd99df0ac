"""The settings of a constituency model: how its trees become dependency trees."""

from __future__ import annotations

from dataclasses import dataclass

from easyfirst.constituents.encoding import ENCODINGS, LEVELS
from easyfirst.constituents.heads import PTB, head_rules
from easyfirst.constituents.stripping import read_stripping
from easyfirst.model.settings import require


@dataclass(frozen=True, slots=True)
class ConstituencyConfig:
    """How constituency trees are read and encoded."""

    encoding: str = LEVELS
    heads: str = PTB
    strip: str = "none"  # what is removed from the trees: traces, functions, both with a comma between, or none

    def __post_init__(self) -> None:
        require(self.encoding in ENCODINGS, f"encoding must be one of {', '.join(ENCODINGS)}")
        head_rules(self.heads)
        read_stripping(self.strip)
