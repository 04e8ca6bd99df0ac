"""``easyfirst pack``: a model to give away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from easyfirst.cli.inputs import warn_of_name
from easyfirst.cli.outputs import check_model_output
from easyfirst.cli.threads import set_threads


def pack(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's directory.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the copy goes.")],
    bits: Annotated[int, typer.Option("--bits", metavar="8|16|32", help="Of each weight.")] = 16,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is in DIR.")] = False,
) -> None:
    """Copy a model without what only its training needs, with weights in 16 bits: about half the size; in 8, a quarter.

    \b
    Examples:
      easyfirst pack my-model --out my-model-small
      easyfirst pack my-model --out my-model-smaller --bits 8
    """
    set_threads(None)
    warn_of_name(model)
    from easyfirst.cli.info import model_sizes
    from easyfirst.model.bundled import find_model
    from easyfirst.parser import load

    check_model_output(out, overwrite=overwrite)
    load(model).save(out, bits=bits)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    before = sum(model_sizes(find_model(model)))
    typer.echo(f"the model is in {out}: {size / 1e6:.1f} MB (before: {before / 1e6:.1f} MB)", err=True)
