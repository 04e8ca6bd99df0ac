"""The page on spaCy: its examples and configurations work, and it lists all settings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy")

from spacy.language import Language  # noqa: E402
from spacy.util import load_model_from_config  # noqa: E402
from thinc.api import Config  # noqa: E402

import easyfirst.spacy  # noqa: E402

PAGE = Path(__file__).resolve().parents[3] / "docs" / "spacy.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


def test_configurations() -> None:
    blocks = re.findall(r"^```ini\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    for block in blocks:
        nlp = load_model_from_config(Config().from_str(block), auto_fill=True)
        doc = nlp("The fox doesn't sleep. It dreams.")
        assert (doc[1].dep_, len(list(doc.sents))) == ("nsubj", 2)
        assert nlp.tokenizer.parser is nlp.get_pipe("easyfirst").parser
    assert blocks


def test_all_settings_are_listed() -> None:
    table = TEXT.split("## Settings")[1].split("## ")[0]
    names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert names == list(Language.get_factory_meta(easyfirst.spacy.FACTORY).default_config)
