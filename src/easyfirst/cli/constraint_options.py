"""The options of ``parse`` and ``explain`` for constraints: those in MISC, and heads that are filled in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from easyfirst.constraints.annotations import constraints_of
from easyfirst.errors import InputError

if TYPE_CHECKING:
    from easyfirst.constraints.arguments import ConstraintsOf

Misc = Annotated[
    bool,
    typer.Option(
        "--constraints",
        help="Obey the constraints in MISC: FixedHead=3, FixedRel=nsubj, ForbiddenHead=5,7:obj, Bracket=2:5.",
    ),
]
KeptHeads = Annotated[
    bool, typer.Option("--keep-heads", help="Keep each HEAD and DEPREL that is not _, and find the others.")
]


def constraints_reader(*, misc: bool, heads: bool, is_conllu: bool) -> ConstraintsOf | None:
    """Return the function that reads the constraints of a sentence, or None if there are none to obey."""
    if not (misc or heads):
        return None
    if not is_conllu:
        raise InputError(f"{'--constraints' if misc else '--keep-heads'} is for CoNLL-U; leave it out for other input")
    return partial(constraints_of, misc=misc, heads=heads)
