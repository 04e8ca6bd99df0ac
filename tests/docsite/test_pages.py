"""Generated pages and pictures are up to date, and every page is in the navigation of the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomllib

import easyfirst
from tools.docsite.pictures import FOLDER, PICTURES
from tools.docsite.relations import NO_EXAMPLE, PAGE, Relation, example, page, read_groups

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def parser() -> easyfirst.Parser:
    return easyfirst.load("en")


def test_the_page_of_relations_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_the_examples_do_not_depend_on_the_engine(engine: str) -> None:
    try:
        parser = easyfirst.load("en", engine=engine)
    except easyfirst.ConfigError:
        pytest.skip("this installation has no core")
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| {example(parser, one)} |" in text for _, relations in read_groups() for one in relations)


def test_every_relation_of_the_model_is_explained_once(parser: easyfirst.Parser) -> None:
    names = [relation.name for _, relations in read_groups() for relation in relations]
    assert sorted(names) == sorted(parser.relations)


def test_most_relations_have_an_example() -> None:
    assert PAGE.read_text(encoding="utf-8").count(NO_EXAMPLE) <= 6


def test_an_example_marks_the_modifier_and_its_head(parser: easyfirst.Parser) -> None:
    assert example(parser, Relation("det", "", "The fox jumped.")) == "**The** *fox* jumped."
    with pytest.raises(ValueError, match=r"the parser finds no iobj in .*; give another sentence"):
        example(parser, Relation("iobj", "", "The fox jumped."))


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_are_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PICTURES[name]()


def test_there_are_no_other_pictures() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PICTURES)
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    assert set(re.findall(r"img/how-it-works/([\w.-]+)", text)) == set(PICTURES)


def test_every_page_is_in_the_navigation_once() -> None:
    docs = ROOT / "docs"
    named = re.findall(r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", SETTINGS.split("\nnav:\n")[1], re.MULTILINE)
    outside = {"repository/CHANGELOG.md", "repository/CONTRIBUTING.md", "repository/SECURITY.md"}
    assert sorted(named) == sorted({*(path.relative_to(docs).as_posix() for path in docs.rglob("*.md")), *outside})


def test_the_site_takes_nothing_from_the_network() -> None:
    assert "\n  font: false" in SETTINGS
    assert "https://" not in re.sub(r"#.*", "", SETTINGS)


def test_every_tool_of_the_site_is_pinned() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert {re.match(r"[\w-]+", requirement)[0] for requirement in extras["docs"]} <= set(pinned)  # type: ignore[index]
