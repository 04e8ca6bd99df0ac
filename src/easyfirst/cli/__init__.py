"""The command line: a module per verb, each a thin layer over the library.

Only this package prints. Errors that a user can cause become one line on stderr and exit code 2.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from easyfirst import __version__
from easyfirst.cli.annotate import annotate
from easyfirst.cli.calibrate import calibrate
from easyfirst.cli.combine import combine, pack
from easyfirst.cli.convert import convert
from easyfirst.cli.evaluate import evaluate
from easyfirst.cli.explain import explain
from easyfirst.cli.info import info, models
from easyfirst.cli.messages import say
from easyfirst.cli.package import package
from easyfirst.cli.parse import parse
from easyfirst.cli.render import render
from easyfirst.cli.serve import serve
from easyfirst.cli.similar import similar
from easyfirst.cli.train import train
from easyfirst.cli.vectors import vectors
from easyfirst.errors import EasyFirstError, LanguageWarning

HELP = """Easy-first dependency parsing with hierarchical tree LSTMs.

\b
  easyfirst parse --text "The fox jumps. It likes apples."
  easyfirst parse letters.txt -o letters.conllu
  easyfirst train train.conllu --dev dev.conllu --out my-model --parts all
  easyfirst parse --model my-model input.conllu -o output.conllu
  easyfirst evaluate gold.conllu output.conllu
  easyfirst serve

'easyfirst VERB --help' describes each verb.
"""

USER_ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class _Verbs(TyperGroup):
    """Runs a verb and turns errors that a user can cause into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _warnings_on_stderr():
                result = super().invoke(ctx)
            if not _is_closed(sys.stdout):
                sys.stdout.flush()
        except EasyFirstError as error:
            say(f"error: {error}")
            raise typer.Exit(USER_ERROR) from None
        except BrokenPipeError:  # the reader of the output has closed it, as `head` does
            _discard_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except MemoryError:
            say("error: there is not enough memory; parse less at a time, or use a smaller model")
            raise typer.Exit(USER_ERROR) from None
        except OSError as error:  # a full disk, a closed stream
            say(f"error: {error.filename or '<stdout>'}: {error.strerror or error}")
            _discard_output()
            raise typer.Exit(USER_ERROR) from None
        return result


@contextmanager
def _warnings_on_stderr() -> Generator[None, None, None]:
    """Print each warning about the language of a text once, as a line on stderr."""
    shown: set[str] = set()
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if not issubclass(category, LanguageWarning):
            before(message, category, *place, **options)
        elif str(message) not in shown:
            shown.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", LanguageWarning)
        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Redirect standard output to the null device, so that Python can flush its buffer at exit."""
    if not _is_closed(sys.stdout):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_closed(stream: TextIO | None) -> bool:
    """Return whether a stream was closed from the start, as by ``>&-``."""
    return stream is None


def _show_version(wanted: bool) -> None:
    if wanted:
        from easyfirst.native.backend import Backend, describe_engine

        try:
            engine = describe_engine(str(Backend.choose()))
        except EasyFirstError as error:
            say(f"error: {error}")
            raise typer.Exit(USER_ERROR) from None
        print(f"easyfirst {__version__}, engine {engine}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and the engine, and exit."
        ),
    ] = False,
) -> None:
    """The options of ``easyfirst`` itself."""


def build_app() -> typer.Typer:
    """Make the command with all its verbs."""
    app = typer.Typer(
        name="easyfirst",
        cls=_Verbs,
        help=HELP,
        callback=_options,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    first = (parse, train, evaluate, explain, render, convert, serve, annotate)
    for verb in (*first, calibrate, combine, info, models, pack, package, similar, vectors):
        app.command()(verb)
    return app


def main() -> None:
    """Run the command ``easyfirst``."""
    if _is_closed(sys.stderr):  # else print() would write to standard output
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the end)
    build_app()(prog_name="easyfirst")
