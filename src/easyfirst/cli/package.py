"""``easyfirst package``: a model as a Python package that pip can install."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from easyfirst import __version__
from easyfirst.cli.loading import load_model, set_threads
from easyfirst.cli.messages import say
from easyfirst.cli.options import ModelDirectory
from easyfirst.errors import ModelError
from easyfirst.model.bundled import bundled_models, find_model


def package(
    model: ModelDirectory,
    name: Annotated[
        str,
        Option(
            metavar="NAME",
            help="The name to load it by: lower-case letters, digits and hyphens. The package is easyfirst-NAME.",
        ),
    ],
    version: Annotated[str, Option(metavar="VERSION", help="The version of the package.")] = "1.0.0",
    licence: Annotated[
        str | None, Option(metavar="TEXT", help="The licence of the model; default: that in its card.")
    ] = None,
    language: Annotated[
        list[str] | None,
        Option(metavar="CODE", help="The language of the model, such as pt; default: that in its card. Repeatable."),
    ] = None,
    out: Annotated[Path, Option("--out", "-o", metavar="DIR", help="The directory of the wheel.")] = Path("dist"),
    overwrite: Annotated[bool, Option("--overwrite", help="Replace a wheel of this name and version.")] = False,
) -> None:
    """Make a Python package of a model.

    It is a wheel that pip installs, and easyfirst finds the model by its name.

    The wheel has the model without its training run, and the card as its description. Where it is installed,
    easyfirst.load("NAME") and --model NAME use the model, and 'easyfirst models' lists it.

    \b
    Examples:
      easyfirst package my-model --name pt
      easyfirst package my-model --name pt-news --version 1.1.0 --licence "CC BY-SA 4.0" --out packages
      pip install dist/easyfirst_pt-1.0.0-py3-none-any.whl && easyfirst parse --model pt --text "A raposa salta."
    """
    set_threads(None)

    from easyfirst.model.card import NO_LICENCE, languages_in, licence_in
    from easyfirst.model.wheel import PackageFacts, write_wheel

    facts = PackageFacts(
        name=name,
        version=version,
        easyfirst_version=__version__,
        licence=licence,
        languages=tuple(language or ()),
    )
    if name in bundled_models():
        raise ModelError(f"{name} is the name of a bundled model, which would hide the package; choose another --name")
    path = out / facts.file
    if path.exists() and not overwrite:
        raise ModelError(f"{path}: exists already; choose another --version or --out, or use --overwrite")
    card = load_model(model).model.card  # a damaged model is an error here, not for those who install it
    stated = licence_in(card)
    if licence is None and stated != NO_LICENCE:
        facts = replace(facts, licence=stated)
    if not language:
        facts = replace(facts, languages=languages_in(card))
    path = write_wheel(find_model(model), out, facts)
    say(f"the package {facts.package} {version} is in {path}: {path.stat().st_size / 1e6:.1f} MB")
    if facts.licence is None:
        say("warning: its licence is not stated, so others may not use it; add --licence")
    say(f"install it with: pip install {path}")
