"""Tables of scores on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 120


def print_tables(*parts: Table | str) -> None:
    """Print to a console of fixed width, so that numbers are never cut; a narrow terminal may wrap."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, width=WIDTH)
    for part in parts:
        console.print(part)


def table(first: str, *others: str) -> Table:
    """Make a table with its names on the left and its numbers on the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD)
    made.add_column(Text(first), no_wrap=True)
    for name in others:
        made.add_column(name, justify="left" if name == "counted" else "right", no_wrap=True)
    return made
