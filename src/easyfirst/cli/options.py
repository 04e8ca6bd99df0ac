"""Options that several verbs have."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

InputFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="INPUT", help="Files, plain or .gz; none or '-': stdin.", show_default=False),
]
ModelName = Annotated[
    str, typer.Option("--model", "-m", help="A bundled model ('easyfirst models' lists them) or a directory.")
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "-o", help="The file to write, all at once at the end; default: stdout."),
]


class Format(str, Enum):
    """What the input is."""

    conllu = "conllu"
    text = "text"
    lines = "lines"
    tokens = "tokens"
