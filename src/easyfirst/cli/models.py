"""``easyfirst models``: the bundled models."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from easyfirst.cli.info import describe, print_table
from easyfirst.cli.outputs import check_output
from easyfirst.cli.threads import set_threads


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models that came with the package. Nothing is ever downloaded.

    \b
    Example:
      easyfirst models
    """
    set_threads(None)
    check_output(None)
    from easyfirst.model.bundled import bundled_models

    found = {name: describe(path) for name, path in bundled_models().items()}
    if as_json:
        keys = ("path", "parts", "reads", "licence", "size")
        print(json.dumps({name: {key: facts[key] for key in keys} for name, facts in found.items()}, indent=2))
        return
    if not found:
        print("no models are bundled; train one with 'easyfirst train', and name its directory with --model")
        return
    print_table(
        [
            [name, facts["reads"], f"{facts['size'] / 1e6:.1f} MB", facts["licence"] or ""]
            for name, facts in found.items()
        ]
    )
    print("'easyfirst info NAME' shows more; use any other model by the name of its directory")
