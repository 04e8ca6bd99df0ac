"""The documents: every link to a file or a heading has a target, and the reference of the settings is complete."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from easyfirst.model.constituency_config import ConstituencyConfig
from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.parser_config import ParserConfig
from easyfirst.training.pipeline import PipelineConfig

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    {
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "bench").rglob("*.md"),
    }
)
INLINE = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| `([a-z.0-9_]+)` \| ([^| ]+) \|", re.MULTILINE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")


def links(text: str) -> list[str]:
    """Return the targets of all links within the repository."""
    prose = CODE.sub("", text)
    return [target for target in INLINE.findall(prose) + REFERENCE.findall(prose) if not SCHEME.match(target)]


def anchors(text: str) -> set[str]:
    """Return the anchors of all headings."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ +(.*?) *$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_are_found() -> None:
    text = (
        '[a](b.md) ![c](d.png "e") [f](https://g.h/i) `[j](k)`\n```\n[l](m)\n```\n[n]\n\n[n]: #the-end\n# [The] end\n'
    )
    assert links(text) == ["b.md", "d.png", "#the-end"]
    assert anchors(text) == {"the-end"}


def test_documents_are_found() -> None:
    names = {document.relative_to(ROOT).as_posix() for document in DOCUMENTS}
    assert {"README.md", "CHANGELOG.md", "docs/tutorial.md", "docs/development/decisions.md"} <= names
    assert {"examples/toy/README.md", "bench/results/engine.md"} <= names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_has_a_target(document: Path) -> None:
    for link in links(document.read_text(encoding="utf-8")):
        name, _, anchor = unquote(link).partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.is_relative_to(ROOT), link
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_every_document_is_reached_from_the_readme() -> None:
    """Follow links from the README; every page of the documentation is found on the way."""
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached or document.suffix != ".md":
            continue
        reached.add(document)
        targets = [unquote(link).partition("#")[0] for link in links(document.read_text(encoding="utf-8"))]
        waiting += [(document.parent / target).resolve() for target in targets if target]
    assert set((ROOT / "docs").rglob("*.md")) <= reached


def test_all_settings_are_documented_with_their_defaults() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    names = ("lstm", "upos", "head", "levels", "ptb", "none")
    found = {key: value if value in names else json.loads(value) for key, value in ROW.findall(text)}
    parser, pipeline = ParserConfig(), PipelineConfig()
    tables = {
        "network": [parser.network],
        "training": [parser.training],
        "tagger": [pipeline.tagger, pipeline.tagger_training],
        "tokenizer": [pipeline.tokenizer, pipeline.tokenizer_training],
        "constituency": [ConstituencyConfig()],
        "encoder": [EncoderTraining()],
    }
    expected = {
        f"{name}.{key}": value
        for name, settings in tables.items()
        for part in settings
        for key, value in dataclasses.asdict(part).items()
    }
    del expected["tagger.external_dim"]  # the vectors' own
    assert found == expected
