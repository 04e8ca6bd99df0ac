"""What the adapters make of the results of the peers, which need not be installed, and their common protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.peers.adapters import spacy_pipeline, stanza_pipeline, supar_biaffine, worker
from bench.peers.adapters.worker import BULK, SINGLE, TEXT, TOKENS, CannotError, Row, to_conllu
from bench.peers.systems import SYSTEMS


@dataclass
class Token:
    """A token as spaCy has it."""

    i: int
    text: str
    dep_: str
    is_space: bool = False
    lemma_: str = ""
    pos_: str = "X"
    tag_: str = "T"
    morph: str = ""
    head: Token = field(init=False)


def tokens(*given: tuple[str, int, str]) -> list[Token]:
    """Return tokens of these texts, heads (counted from 0, in a text of more sentences) and relations."""
    made = [Token(10 + i, text, relation, not text.strip()) for i, (text, _, relation) in enumerate(given)]
    for token, (_, head, _) in zip(made, given, strict=True):
        token.head = made[head]
    return made


def arcs(rows: Iterable[Row]) -> list[tuple[str, int, str]]:
    return [(row.form, row.head, row.relation) for row in rows]


class TestConversions:
    def test_a_row_has_ten_cells(self) -> None:
        text = to_conllu(
            [Row("The", "the", "DET", "", "", 2, "det"), Row("fox", "", "", "NN", "Number=Sing", 0, "root")]
        )
        assert text == "1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tfox\t_\t_\tNN\tNumber=Sing\t0\troot\t_\t_\n\n"

    def test_spacy(self) -> None:
        rows = spacy_pipeline.rows_of(tokens(("The", 1, "det"), ("fox", 2, "nsubj"), ("jumps", 2, "ROOT")))
        assert arcs(rows) == [("The", 2, "det"), ("fox", 3, "nsubj"), ("jumps", 0, "root")]
        assert rows[0] == Row("The", "", "X", "T", "", 2, "det")

    def test_spacy_with_white_space(self) -> None:
        rows = spacy_pipeline.rows_of(
            tokens(("\n", 3, "dep"), ("The", 2, "det"), ("fox", 4, "nsubj"), ("jumps", 3, "ROOT"), (" ", 3, "dep"))
        )
        assert arcs(rows) == [("The", 2, "det"), ("fox", 3, "nsubj"), ("jumps", 0, "root")]

    def test_spacy_with_white_space_as_the_root(self) -> None:
        rows = spacy_pipeline.rows_of(tokens(("a", 2, "ROOT"), ("b", 2, "x"), (" ", 2, "ROOT"), ("c", 1, "y")))
        assert arcs(rows) == [("a", 0, "root"), ("b", 1, "x"), ("c", 2, "y")]
        assert spacy_pipeline.rows_of(tokens((" ", 0, "ROOT"))) == []

    def test_stanza(self) -> None:
        word = SimpleNamespace(text="fox", lemma=None, upos="NOUN", xpos="NN", feats=None, head=0, deprel="root")
        assert to_conllu(stanza_pipeline.rows_of([word])) == "1\tfox\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"

    def test_supar(self) -> None:
        rows = supar_biaffine.rows_of(["A", "fox"], [2, 0], ["det", "root"])
        assert to_conllu(rows) == "1\tA\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tfox\t_\t_\t_\t_\t0\troot\t_\t_\n\n"

    def test_treebanks_are_read_as_cells(self, tmp_path: Path) -> None:
        path = tmp_path / "a.conllu"
        path.write_text("# text = A b\n1\tA\t_\n2\tb\t_\n\n1\tc\t_\n\n", encoding="utf-8")
        assert list(worker.read_columns(path)) == [[["1", "A", "_"], ["2", "b", "_"]], [["1", "c", "_"]]]


class Fake:
    """A system that upper-cases, and that cannot read single texts."""

    packages = ("pytest",)

    def __init__(self) -> None:
        self.minutes: list[float] = []

    def train(self, data: Path, model: Path, minutes: float, progress: Any) -> dict[str, Any]:
        progress("begun", running=90.0)
        self.minutes.append(minutes)
        if len(self.minutes) == 1:
            raise KeyboardInterrupt
        return {"epochs": 3}

    def load(self, model: Path, threads: int, options: dict[str, Any]) -> None: ...

    def texts(self, texts: list[str]) -> Iterable[str]:
        return map(str.upper, texts)

    def text(self, text: str) -> str:
        raise CannotError("not alone")

    def sentences(self, sentences: list[list[str]]) -> Iterable[str]:
        return map(self.sentence, sentences)

    def sentence(self, words: list[str]) -> str:
        return "+".join(words)

    def conllu(self, result: str) -> str:
        return f"{result}\n"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    path = tmp_path / "inputs.json"
    path.write_text(json.dumps({"paragraphs": ["a b. c."], "texts": ["a b.", "c."], "sentences": [["a"], ["b", "c"]]}))
    return path


def test_a_trainer_of_stanza_is_not_ended_while_it_writes(tmp_path: Path) -> None:
    assert not stanza_pipeline.is_saved(tmp_path, "parser")
    names = ("parser.pt", "parser_checkpoint.pt", "tagger.pt")
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    assert stanza_pipeline.is_saved(tmp_path, "parser")
    (tmp_path / "tagger.pt").touch()
    assert stanza_pipeline.is_saved(tmp_path, "parser")
    (tmp_path / "parser_checkpoint.pt").touch()
    assert not stanza_pipeline.is_saved(tmp_path, "parser")


class TestProtocol:
    @pytest.mark.parametrize(
        ("source", "way", "written"),
        [(TEXT, BULK, "A B. C.\n"), (TOKENS, BULK, "a\nb+c\n"), (TOKENS, SINGLE, "a\nb+c\n")],
    )
    def test_parsing(self, inputs: Path, source: str, way: str, written: str) -> None:
        out = inputs.with_suffix(".out")
        answer = worker.parse(Fake(), {"inputs": str(inputs), "from": source, "way": way, "out": str(out)})
        assert out.read_text(encoding="utf-8") == written
        assert set(answer) == {"cpu", "wall"}
        worker.parse(Fake(), {"inputs": str(inputs), "from": source, "way": way, "out": str(out), "limit": 1})
        assert out.read_text(encoding="utf-8") == written.splitlines(keepends=True)[0]

    def test_what_a_system_cannot_do(self, inputs: Path) -> None:
        with pytest.raises(CannotError, match="not alone"):
            worker.parse(Fake(), {"inputs": str(inputs), "from": TEXT, "way": SINGLE})

    def test_memory_is_that_of_this_process(self) -> None:
        assert 5e6 < worker.peak_memory() < 5e10

    def test_an_interrupted_training_goes_on_with_the_time_that_is_left(self, tmp_path: Path) -> None:
        given = SimpleNamespace(model=tmp_path / "model", data=tmp_path, minutes=10.0)
        system = Fake()
        with pytest.raises(KeyboardInterrupt):
            worker.train(system, given)  # type: ignore[arg-type]
        facts = json.loads((tmp_path / "model" / worker.FACTS).read_text())
        assert facts["is_finished"] is False
        assert facts["cpu_seconds"] == pytest.approx(90, abs=5)
        worker.train(system, given)  # type: ignore[arg-type]
        assert system.minutes == [10.0, pytest.approx(8.5, abs=0.1)]
        facts = json.loads((tmp_path / "model" / worker.FACTS).read_text())
        assert facts["is_finished"] is True
        assert facts["settings"] == {"epochs": 3}
        assert facts["cpu_seconds"] == pytest.approx(90, abs=5)
        worker.train(system, given)  # type: ignore[arg-type]
        assert len(system.minutes) == 2  # it has ended
        given.minutes = 20.0
        worker.train(system, given)  # type: ignore[arg-type]
        assert system.minutes[2] == pytest.approx(18.5, abs=0.1)


@pytest.mark.parametrize("name", sorted({system.adapter for system in SYSTEMS}))
def test_adapters_need_no_peer_to_be_imported(name: str) -> None:
    module = import_module(f"bench.peers.adapters.{name}")
    classes = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    assert any(worker.System in each.__mro__ for each in classes)
