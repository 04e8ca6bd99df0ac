"""CoNLL-U that the official validator accepts, and the option that keeps trees as they were decided."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.cli.identifiers import Identifiers
from easyfirst.errors import InputError
from easyfirst.parser import Parser
from tests.commands import Run
from tests.official_validator import failed_tests
from tests.small_models import small_model, small_tagger, small_tokenizer

NLP = Parser(small_model("both"), tokenizer=small_tokenizer(), tagger=small_tagger())
TEXT = "The black fox likes apples. It isn't lazy!\nNot at all.\n\n\nIt doesn't\tjump .\n"
CHARACTERS = st.sampled_from("aé fox'sn’t.\n\n\t \u00a0\u2003\u200b1-/#|=_中\U0001f98a\x0b")


@settings(max_examples=150, deadline=None)
@given(st.text(CHARACTERS, max_size=60))
def test_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "text.conllu"
    path.write_text(NLP(text).to_conllu(), encoding="utf-8", newline="\n")
    if path.stat().st_size:
        assert not failed_tests(path, 2), path.read_text(encoding="utf-8")


@pytest.mark.parametrize("source", ["text", "lines", "tokens"])
@pytest.mark.parametrize("options", [[], ["--batch-size", "1"], ["--threads", "3"], ["--confidence"]])
def test_files(run: Run, text_model: Path, tmp_path: Path, source: str, options: list[str]) -> None:
    folder = tmp_path / "other folder"
    folder.mkdir()
    files = [tmp_path / "my letters.txt", folder / "my letters.txt", tmp_path / "b.c.txt", tmp_path / "my letters.2"]
    for file in files:
        file.write_text(TEXT, encoding="utf-8")
    if "--confidence" in options:
        text_model = Path("en")
    done = run("parse", "--model", text_model, "--from", source, *files, *options, "--quiet")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out.conllu"
    path.write_bytes(done.stdout)
    assert not failed_tests(path, 2)
    documents = re.findall(r"^# newdoc id = (\S+)$", done.stdout.decode(), re.MULTILINE)
    n_documents = 1 if source == "tokens" else 2
    names = ["my_letters", "my_letters.2", "b.c", "my_letters.3"]
    assert documents == [f"{name}-{number}" for name in names for number in range(1, n_documents + 1)]
    sentences = re.findall(r"^# sent_id = (\S+)$", done.stdout.decode(), re.MULTILINE)
    assert len(set(sentences)) == len(sentences)
    assert sentences[0] == "my_letters-1-1"


def test_paragraphs() -> None:
    document = NLP("One fox.\n \nAnother one.")
    comments = [line for line in document.to_conllu(name="x").splitlines() if line.startswith("#")]
    assert comments[:2] == ["# newdoc id = x", "# sent_id = x-1"]
    assert comments.count("# newpar") == 1
    n_before = sum(tokens[0].start < len("One fox.") for tokens in document.tokens)
    assert comments[comments.index("# newpar") + 1] == f"# sent_id = x-{n_before + 1}"


@pytest.mark.parametrize("name", ["", "a b", "a/b", "\n"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InputError, match="without white space and /"):
        NLP("One fox.").to_conllu(name=name)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "a.2", "b/a", "a b", "ö", "///", None, "-"]), st.integers(0, 3))))
def test_ids_are_unique(documents: list[tuple[str | None, int]]) -> None:
    ids = Identifiers()
    names: list[str] = []
    sentences: list[str] = []
    for file, n_sentences in documents:
        names.append(ids.new_document(file))
        sentences += [ids.new_sentence() for _ in range(n_sentences)]
    assert len(set(names)) == len(names)
    assert len(set(sentences)) == len(sentences)
    assert all(re.fullmatch(r"[^\s/]+", name) for name in names + sentences)


def test_trees_can_be_kept_as_they_were_decided(run: Run) -> None:
    text = "If you do not they will start to rot!"
    shown = ("parse", "--text", text, "--to", "conllu", "--confidence")
    changed, kept = run(*shown).stdout.decode(), run(*shown, "--no-valid").stdout.decode()
    assert kept.count("\tnsubj\t") == 2
    assert "Decided" not in kept
    [line] = [line for line in changed.splitlines() if "Decided=" in line]
    assert line.endswith("|Decided=7:nsubj")
    assert "\tnsubj\t" not in line
    assert run("parse", "--text", text, "--to", "json").stdout.count(b'"decided": {"head": 7, "relation": "nsubj"') == 1
    assert b"changed afterwards: " in run("explain", "--text", text).stdout
    assert b"changed afterwards: " not in run("explain", "--text", text, "--no-valid").stdout
