"""``easyfirst pack``: a smaller copy of a model."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from easyfirst.cli.info import model_size
from easyfirst.cli.loading import load_model, set_threads
from easyfirst.cli.options import ModelOutput, Overwrite
from easyfirst.cli.outputs import check_model_output


def pack(
    model: Annotated[str, Argument(metavar="MODEL", help="The model's directory.")],
    out: ModelOutput,
    bits: Annotated[int, Option("--bits", metavar="8|16|32", help="The size of each weight.")] = 16,
    overwrite: Overwrite = False,
) -> None:
    """Copy a model without its training run. Weights of 16 bits make it half as large, weights of 8 bits a quarter.

    \b
    Examples:
      easyfirst pack my-model --out my-model-small
      easyfirst pack my-model --out my-model-smaller --bits 8
    """
    set_threads(None)
    check_model_output(out, overwrite=overwrite)
    load_model(model).save(out, bits=bits)

    from easyfirst.model.bundled import find_model

    size, before = model_size(out), model_size(find_model(model))
    typer.echo(f"the model is in {out}: {size / 1e6:.1f} MB (before: {before / 1e6:.1f} MB)", err=True)
