"""The reference is complete: every public name, every verb and every option."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import easyfirst
from easyfirst.cli import build_app
from tools.docsite import command_reference as module
from tools.docsite.command_reference import command_reference
from tools.docsite.docstrings import as_markdown

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
GROUP: Any = typer.main.get_command(build_app())


def sections() -> dict[str, str]:
    """Return the sections of the reference by their titles."""
    parts = re.split(r"^## (.*)\n", command_reference(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_public_name_is_in_the_reference_once() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = re.findall(r"^::: easyfirst\.(\w+)$", text, re.MULTILINE)
    assert sorted(named) == sorted({*easyfirst.__all__, "TreeEncoder"})


def test_every_object_of_the_reference_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in re.findall(r"^::: easyfirst\.([a-z_]+\.[\w.]+)$", text, re.MULTILINE):
        *parts, last = name.split(".")
        place = ROOT.joinpath("src", "easyfirst", *parts).with_suffix(".py")
        assert re.search(rf"^(?:def|class) {last}\b", place.read_text(encoding="utf-8"), re.MULTILINE), name


def test_every_page_of_the_reference_is_in_its_table() -> None:
    table = (ROOT / "docs" / "reference" / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - {"README.md"} == set(re.findall(r"\]\(([\w-]+\.md)\)", table))


def test_every_verb_has_a_section() -> None:
    assert list(sections()) == ["easyfirst", *(f"easyfirst {name}" for name in GROUP.commands)]


@pytest.mark.parametrize("name", GROUP.commands)
def test_a_section_has_everything_that_the_help_has(name: str) -> None:
    section, verb = sections()[f"easyfirst {name}"], GROUP.commands[name]
    plain = re.sub(r"[\\`']", "", section)
    for parameter in verb.params:
        if not getattr(parameter, "hidden", False):
            names = (*parameter.opts, *parameter.secondary_opts)
            shown = names if parameter.param_type_name == "option" else (parameter.make_metavar(context(verb)),)
            assert all(one in plain for one in shown), parameter.name
            assert " ".join(re.sub(r"[\\`']", "", parameter.help or "").split()) in plain
    examples = re.findall(r"^  (easyfirst .*)$", verb.help, re.MULTILINE)
    assert all(example in section for example in examples)


def context(verb: Any) -> Any:
    return verb.make_context(verb.name, [], resilient_parsing=True)


def test_doctests() -> None:
    assert doctest.testmod(module).failed == 0


def test_roles_become_links() -> None:
    link = '<autoref optional identifier="easyfirst.{}"><code>{}</code></autoref>'
    assert as_markdown("a :class:`easyfirst.errors.InputError` b") == f"a {link.format('InputError', 'InputError')} b"
    assert as_markdown(":meth:`draw`", "Parse") == link.format("Parse.draw", "draw")
    assert as_markdown(":meth:`Parser.read`", "Parse") == link.format("Parser.read", "Parser.read")


def test_examples_become_blocks() -> None:
    text = "A.\n\n>>> 1 + 1  # doctest: +SKIP\n2\n\nB.\n\n>>> 3\n3"
    assert as_markdown(text) == "A.\n\n\n```pycon\n>>> 1 + 1\n2\n```\n\nB.\n\n\n```pycon\n>>> 3\n3\n```"
