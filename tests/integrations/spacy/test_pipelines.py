"""Pipelines with easyfirst are saved, loaded, sent to other processes, analysed and evaluated like any other."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

import easyfirst  # noqa: E402
from easyfirst.errors import ModelError  # noqa: E402
from easyfirst.parsing.engine import BATCH_SIZE  # noqa: E402
from tests.integrations.spacy.conftest import TEXTS  # noqa: E402
from tests.integrations.spacy.test_component import rows  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
SPAWN = """
import multiprocessing
import sys

import spacy

import easyfirst.spacy

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.blank("en")
    nlp.add_pipe("easyfirst")
    texts = ["The fox jumps.", "It doesn't sleep.", ""] * 3
    docs = list(nlp.pipe(texts, n_process=2, batch_size=2))
    assert [doc.text for doc in docs] == texts
    assert [doc._.easyfirst for doc in docs] == [nlp(text)._.easyfirst for text in texts]
    assert docs[0][0]._.arc_confidence == nlp(texts[0])[0]._.arc_confidence
"""


def config_of(**values: Any) -> dict[str, Any]:
    return {"nlp": {"tokenizer": {"@tokenizers": "easyfirst.Tokenizer.v1", **values}}}


@pytest.fixture(scope="module")
def pipelines(nlp: Any) -> dict[str, Any]:
    return {"component": nlp, "tokenizer": spacy.blank("en", config=config_of())}


@pytest.mark.parametrize("form", ["component", "tokenizer"])
class TestSaving:
    def test_to_disk(self, pipelines: dict[str, Any], form: str, tmp_path: Path) -> None:
        pipelines[form].to_disk(tmp_path)
        loaded = spacy.load(tmp_path)
        assert list(map(rows, loaded.pipe(TEXTS))) == list(map(rows, pipelines[form].pipe(TEXTS)))
        assert loaded.config == pipelines[form].config

    def test_to_bytes(self, pipelines: dict[str, Any], form: str) -> None:
        nlp = pipelines[form]
        loaded = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
        assert rows(loaded(TEXTS[0])) == rows(nlp(TEXTS[0]))

    def test_pickle(self, pipelines: dict[str, Any], form: str) -> None:
        nlp = pipelines[form]
        part = nlp.get_pipe("easyfirst") if form == "component" else nlp.tokenizer
        assert len(pickle.dumps(part.__getstate__().get("parser"))) < 10
        loaded = pickle.loads(pickle.dumps(nlp))
        assert rows(loaded(TEXTS[0])) == rows(nlp(TEXTS[0]))

    def test_processes(self, pipelines: dict[str, Any], form: str) -> None:
        nlp = pipelines[form]
        docs = list(nlp.pipe(TEXTS * 2, n_process=2, batch_size=3))
        assert list(map(rows, docs)) == [rows(nlp(text)) for text in TEXTS * 2]
        assert [doc._.easyfirst for doc in docs] == [nlp(text)._.easyfirst for text in TEXTS * 2]
        assert docs[0]._.easyfirst[0].confidence == nlp(TEXTS[0])._.easyfirst[0].confidence

    @pytest.mark.parametrize("copy", ["to_bytes", "DocBin", "pickle", "copy", "disk"])
    def test_docs(self, pipelines: dict[str, Any], form: str, copy: str, tmp_path: Path) -> None:
        doc = pipelines[form](TEXTS[0])
        if copy == "to_bytes":
            other = Doc(doc.vocab).from_bytes(doc.to_bytes())
        elif copy == "DocBin":
            [other] = DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes()).get_docs(doc.vocab)
        elif copy == "disk":
            doc.to_disk(tmp_path / "doc")
            other = Doc(doc.vocab).from_disk(tmp_path / "doc")
        else:
            other = doc.copy() if copy == "copy" else pickle.loads(pickle.dumps(doc))
        assert rows(other) == rows(doc)
        assert other._.easyfirst == doc._.easyfirst
        assert other._.easyfirst[0].derivation == doc._.easyfirst[0].derivation
        assert other._.easyfirst is other._.easyfirst


@pytest.mark.slow
def test_spawned_processes(tmp_path: Path) -> None:
    """Where processes are not forked, the pipeline is pickled."""
    script = tmp_path / "spawn.py"
    script.write_text(SPAWN, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class TestAnotherPlace:
    @pytest.fixture
    def saved(self, small: Path, tmp_path: Path) -> Path:
        """A saved pipeline whose model was moved."""
        shutil.copytree(small, tmp_path / "old")
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("easyfirst", config={"model": str(tmp_path / "old")})
        nlp.to_disk(tmp_path / "pipeline")
        (tmp_path / "old").rename(tmp_path / "new")
        return tmp_path

    def test_the_model_is_absent(self, saved: Path) -> None:
        with pytest.raises(ModelError) as caught:
            spacy.load(saved / "pipeline")
        assert str(saved / "old") in str(caught.value)
        assert "spacy.load(..., config={'components.easyfirst.model': ...})" in str(caught.value)

    def test_the_model_is_named_again(self, saved: Path) -> None:
        nlp = spacy.load(saved / "pipeline", config={"components.easyfirst.model": str(saved / "new")})
        assert nlp("the fox jumps.").has_annotation("DEP")

    def test_the_component_is_excluded(self, saved: Path) -> None:
        nlp = spacy.load(saved / "pipeline", exclude=["easyfirst"])
        assert nlp.pipe_names == ["sentencizer"]


class TestSpacyTools:
    def test_disable(self, nlp: Any) -> None:
        with nlp.select_pipes(disable="easyfirst"):
            assert not nlp("The fox jumps.").has_annotation("DEP")
        assert nlp("The fox jumps.").has_annotation("DEP")

    def test_analysis(self, nlp: Any) -> None:
        other = spacy.blank("en")
        other.add_pipe("easyfirst")
        other.add_pipe("entity_linker")
        analysis = other.analyze_pipes()
        assert analysis["problems"]["easyfirst"] == []
        assert "doc.sents" not in analysis["problems"]["entity_linker"]
        assert "token.dep" in analysis["summary"]["easyfirst"]["assigns"]
        assert "doc._.easyfirst" in analysis["summary"]["easyfirst"]["assigns"]

    def test_labels(self, nlp: Any) -> None:
        assert {"ROOT", "nsubj", "obj"} <= set(nlp.pipe_labels["easyfirst"])
        assert "root" not in nlp.pipe_labels["easyfirst"]

    def test_evaluate(self, nlp: Any) -> None:
        gold = {"words": ["The", "fox", "jumps"], "heads": [1, 2, 2], "deps": ["det", "nsubj", "ROOT"]}
        gold |= {"tags": ["DT", "NN", "VBZ"], "pos": ["DET", "NOUN", "X"], "sent_starts": [1, -1, -1]}
        scores = nlp.evaluate([Example.from_dict(nlp.make_doc("The fox jumps"), gold)])
        assert (scores["dep_uas"], scores["dep_las"], scores["sents_f"], scores["tag_acc"]) == (1.0, 1.0, 1.0, 1.0)
        assert scores["pos_acc"] == pytest.approx(2 / 3)

    def test_initialize(self) -> None:
        nlp = spacy.blank("en")
        nlp.add_pipe("easyfirst")
        nlp.initialize()
        assert nlp("The fox jumps.")[1].dep_ == "nsubj"

    def test_spacy_components_after_it(self, nlp: Any) -> None:
        """The matchers read what it set."""
        from spacy.matcher import DependencyMatcher, Matcher

        doc = nlp("The fox likes green apples.")
        matcher = Matcher(nlp.vocab)
        matcher.add("adjectives", [[{"POS": "ADJ"}, {"TAG": "NNS", "DEP": "obj"}]])
        assert [doc[start:end].text for _, start, end in matcher(doc)] == ["green apples"]
        trees = DependencyMatcher(nlp.vocab)
        verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"POS": "VERB"}}
        subject = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "subject", "RIGHT_ATTRS": {"DEP": "nsubj"}}
        trees.add("subjects", [[verb, subject]])
        assert [[doc[i].text for i in found] for _, found in trees(doc)] == [["likes", "fox"]]

    def test_merging_and_splitting(self, nlp: Any) -> None:
        doc = nlp("The fox likes New York.")
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[3:5])
        assert [token.text for token in doc] == ["The", "fox", "likes", "New York", "."]
        assert doc[3].head.text == "likes"
        assert doc[3]._.arc_confidence is not None

    def test_the_default_batch_size(self, nlp: Any) -> None:
        assert nlp.get_pipe("easyfirst").batch_size == BATCH_SIZE


class TestEntryPoints:
    """spaCy finds the component and the tokenizer of an installed package, with no import."""

    PROGRAM = """
import {first}
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("easyfirst")
doc = nlp("The fox jumps.")
assert doc[1].dep_ == "nsubj" and doc._.easyfirst
nlp = spacy.blank("en", config={{"nlp": {{"tokenizer": {{"@tokenizers": "easyfirst.Tokenizer.v1"}}}}}})
assert nlp("The fox jumps.")[1].dep_ == "nsubj"
"""

    @pytest.fixture
    def installed(self, tmp_path: Path) -> dict[str, str]:
        """The environment of a process that sees the metadata of an installation, as pip writes them."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        metadata = tmp_path / "easyfirst-0.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: easyfirst\nVersion: 0.0\n", encoding="utf-8")
        groups = ("spacy_factories", "spacy_tokenizers")
        lines = [
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in project["entry-points"][group].items())
            for group in groups
        ]
        (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        package = Path(easyfirst.__file__).parent.parent
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, package)))}

    @pytest.mark.parametrize("first", ["spacy", "easyfirst", "easyfirst.spacy", "easyfirst.parser"])
    def test_no_import(self, installed: dict[str, str], first: str) -> None:
        command = [sys.executable, "-W", "error", "-c", self.PROGRAM.format(first=first)]
        done = subprocess.run(command, env=installed, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_spacy_alone_does_not_import_the_parser(self, installed: dict[str, str]) -> None:
        program = "import spacy, sys; spacy.blank('en'); print([name in sys.modules for name in sys.argv[1:]])"
        command = [sys.executable, "-c", program, "easyfirst.spacy", "easyfirst.parser"]
        done = subprocess.run(command, env=installed, capture_output=True, text=True, check=True)
        assert done.stdout == "[True, False]\n"
