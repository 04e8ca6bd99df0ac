"""The options that several verbs share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

InputFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="INPUT", help="Files, plain or .gz; none or '-': stdin.", show_default=False),
]
GivenText = Annotated[
    str | None, typer.Option("--text", "-t", metavar="TEXT", help="The text itself, instead of files.")
]
ModelName = Annotated[
    str, typer.Option("--model", "-m", help="A bundled model ('easyfirst models' lists them) or a directory.")
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "-o", help="The file to write, all at once at the end; default: stdout."),
]
ModelOutput = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The directory of the new model.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a model that is in DIR.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on stderr.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Threads of the linear algebra; default (and best): 1, or OMP_NUM_THREADS."),
]


class Format(str, Enum):
    """The format of the input."""

    conllu = "conllu"
    text = "text"
    lines = "lines"
    tokens = "tokens"
