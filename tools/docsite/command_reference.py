"""The reference of the command line: every verb with every option, as ``easyfirst VERB --help`` has them."""

from __future__ import annotations

import re
from typing import Any

import typer

from easyfirst.cli import build_app

PREFORMATTED = "\b\n"  # Click does not wrap a paragraph that starts with this
FACTS = re.compile(r"\s*\[(?P<facts>(?:default|required|env var|x)[^\[\]]*|[^\[\]]*; *required|[\d.]+<=x[^\[\]]*)\]$")


def command_reference() -> str:
    """Return the reference of all verbs in Markdown, with a heading of the second level for each."""
    group: Any = typer.main.get_command(build_app())
    context = group.make_context("easyfirst", [], resilient_parsing=True)
    parts = [_section("easyfirst", group, context)]
    for name in group.list_commands(context):
        verb = group.commands[name]
        with verb.make_context(name, [], parent=context, resilient_parsing=True) as inner:
            parts.append(_section(f"easyfirst {name}", verb, inner))
    return "\n".join(parts)


def _section(title: str, command: Any, context: Any) -> str:
    """Return the section of a verb: what it does, its usage, arguments and options."""
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    first, *rest = _paragraphs(command.help or "")
    parts = [f"## {title}", first, f"```text\n{usage}\n```", *rest]
    for kind in ("argument", "option"):
        parameters = [one for one in command.get_params(context) if one.param_type_name == kind]
        rows = [row for one in parameters if (row := _row(one, context))]
        if rows:
            parts.append("\n".join([f"| {kind.capitalize()} | What it does |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text as Markdown; examples become blocks of code."""
    paragraphs: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if not paragraph.startswith(PREFORMATTED):
            paragraphs.append(escaped(" ".join(paragraph.split())))
            continue
        lines = paragraph.removeprefix(PREFORMATTED).splitlines()
        if not lines[0].startswith(" "):
            paragraphs.append(escaped(lines.pop(0)))
        paragraphs.append("```sh\n" + "\n".join(line.removeprefix("  ") for line in lines) + "\n```")
    return paragraphs


def _row(parameter: Any, context: Any) -> str | None:
    """Return the row of an argument or an option; None if the help does not show it."""
    record: tuple[str, str] | None = parameter.get_help_record(context)
    if record is None:
        return None
    names, text = record
    facts = ""
    if found := FACTS.search(text):
        text, facts = text[: found.start()], f" *({escaped(found['facts'])})*"
    return f"| {_code(names)} | {escaped(' '.join(text.split()))}{facts} |"


def _code(text: str) -> str:
    """Return text as code in a cell of a table, where MkDocs needs no escape before ``|``."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def escaped(text: str) -> str:
    """Return plain text as Markdown, with options as code.

    >>> escaped("a_b|c with --out-dir DIR or -o")
    'a\\\\_b\\\\|c with `--out-dir` DIR or `-o`'
    >>> escaped("'easyfirst VERB --help' helps.")
    '`easyfirst VERB --help` helps.'
    """
    if command := re.search(r"'(easyfirst [^']*)'", text):
        return f"{escaped(text[: command.start()])}`{command[1]}`{escaped(text[command.end() :])}"
    text = re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][a-z-]*[a-z]|-[a-zA-Z])(?![\w-])", r"`\1`", text)
