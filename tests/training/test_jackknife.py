"""Tags by jackknifing: who tags whom, what a folder keeps, and processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from multiprocessing import active_children
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import pytest

from easyfirst.errors import ConfigError, DataError, ModelError
from easyfirst.model.tagger_config import TaggerConfig, TaggerTraining
from easyfirst.training import jackknife as module
from easyfirst.training.checkpoint import FILE
from easyfirst.training.folds import deal
from easyfirst.training.jackknife import Fold, jackknife, run_fold
from easyfirst.training.training_loop import Silent
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.patience import PATIENCE, wait_until

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
SENTENCES = list(read_conllu(TOY / "handwritten.conllu"))
CONFIG = TaggerConfig(word_dim=4, character_dim=4, spelling_dim=3, bilstm_dim=4)
TRAINING = TaggerTraining(epochs=2, learning_rate=0.02, batch_words=60)


class Listener(Silent):
    """Records the callbacks."""

    def __init__(self) -> None:
        self.folds: list[int] = []
        self.epochs: list[int] = []

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self.epochs.append(metrics["epoch"])

    def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
        assert n_folds == 3
        assert list(accuracy) == ["mean", "upos", "xpos", "lemmas", "all"]
        self.folds.append(fold)


def run(
    folder: Path,
    *,
    listener: Listener | None = None,
    sentences: list[Sentence] = SENTENCES,
    training: TaggerTraining = TRAINING,
    **options: Any,
) -> list[Sentence]:
    given: dict[str, Any] = {"vectors": None, "seed": 1} | options
    return jackknife(sentences, 3, CONFIG, training, folder=folder, progress=listener or Listener(), **given)


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> list[Sentence]:
    """All sentences, tagged in one go."""
    return run(tmp_path_factory.mktemp("jackknife"))


def test_only_tags_change_and_all_of_them_are_predictions(tagged: list[Sentence]) -> None:
    assert [sentence.forms for sentence in tagged] == [sentence.forms for sentence in SENTENCES]
    for sentence, given in zip(tagged, SENTENCES, strict=True):
        columns = {"upos": given.upos, "xpos": given.xpos, "feats": given.feats, "lemmas": given.lemmas}
        assert sentence.with_tags(**columns).to_bytes() == given.to_bytes()
    assert not any("_" in sentence.upos + sentence.xpos + sentence.lemmas for sentence in tagged)
    assert any(sentence.upos != given.upos for sentence, given in zip(tagged, SENTENCES, strict=True))


def test_no_sentence_is_tagged_by_who_has_seen_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folds: list[Fold] = []

    def noting(fold: Fold, progress: Any = None) -> Any:
        folds.append(fold)
        return run_fold(fold, progress)

    monkeypatch.setattr(module, "run_fold", noting)
    run(tmp_path)
    everything = sorted(sentence.to_bytes() for sentence in SENTENCES)
    assert sorted(sentence.to_bytes() for fold in folds for sentence in fold.held_out) == everything
    for fold in folds:
        assert sorted(sentence.to_bytes() for sentence in [*fold.held_out, *fold.others]) == everything
        assert abs(len(fold.held_out) - len(SENTENCES) / 3) < 1
        assert [sentence.line for sentence in fold.held_out] != list(range(len(fold.held_out)))


def test_seeds_deal_differently() -> None:
    assert deal(SENTENCES, 3, seed=1) == deal(SENTENCES, 3, seed=1) != deal(SENTENCES, 3, seed=2)


def test_a_document_stays_in_one_fold() -> None:
    """Many documents are kept whole, in folds of similar size; with few, sentences are dealt out."""
    documents = [[sentence(f"doc{n}", is_first=place == 0) for place in range(1 + n % 4)] for n in range(40)]
    sentences = [sentence for document in documents for sentence in document]
    fold_of = deal(sentences, 3, seed=1)
    folds_of_document: dict[str, set[int]] = {}
    for one, fold in zip(sentences, fold_of, strict=True):
        folds_of_document.setdefault(one.forms[0], set()).add(fold)
    assert {len(folds) for folds in folds_of_document.values()} == {1}
    sizes = [fold_of.count(fold) for fold in (1, 2, 3)]
    assert max(sizes) - min(sizes) <= 4
    few = sentences[: sum(map(len, documents[:14]))]
    assert deal(few, 3, seed=1) == deal(SENTENCES[:1] * len(few), 3, seed=1)


def sentence(form: str, *, is_first: bool) -> Sentence:
    comment = b"# newdoc id = any\n" if is_first else b"# newdocument, a remark\n"
    block = comment + f"1\t{form}\t_\tX\t_\t_\t0\troot\t_\t_\n\n".encode()
    return next(ConlluReader(BytesIO(block), "any"))


def test_each_fold_gets_the_tags_that_it_gets_alone(tagged: list[Sentence], tmp_path: Path) -> None:
    """Whatever order folds end in, tags find their sentences; and all of it is repeatable."""
    fold_of = deal(SENTENCES, 3, seed=1)
    held_out = [sentence for sentence, fold in zip(SENTENCES, fold_of, strict=True) if fold == 2]
    others = [sentence for sentence, fold in zip(SENTENCES, fold_of, strict=True) if fold != 2]
    fold = Fold(2, held_out, others, CONFIG, TRAINING, None, tmp_path, "any")
    alone = run_fold(fold).tags
    assert [tags["upos"] for tags in alone] == [s.upos for s, f in zip(tagged, fold_of, strict=True) if f == 2]


def test_a_fold_that_is_done_is_not_done_again(tagged: list[Sentence], tmp_path: Path) -> None:
    assert run(tmp_path) == tagged
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["fold-1.json", "fold-2.json", "fold-3.json"]
    assert not list(tmp_path.rglob(FILE))
    (tmp_path / "fold-2.json").unlink()
    listener = Listener()
    assert run(tmp_path, listener=listener, resume=True) == tagged
    assert (listener.folds, listener.epochs) == ([1, 3, 2], [1, 2])
    listener = Listener()
    assert run(tmp_path, listener=listener) == tagged
    assert (listener.folds, listener.epochs) == ([1, 2, 3], [1, 2] * 3)


@pytest.mark.parametrize("stops_after", [1, 2])
def test_a_fold_that_was_interrupted_goes_on(tagged: list[Sentence], tmp_path: Path, stops_after: int) -> None:
    class StopError(Exception):
        pass

    class Stopper(Listener):
        def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
            if self.folds == [1] and metrics["epoch"] == stops_after:
                raise StopError

    with pytest.raises(StopError):
        run(tmp_path, listener=Stopper())
    listener = Listener()
    assert run(tmp_path, listener=listener, resume=True) == tagged
    assert listener.epochs == [2, 1, 2][stops_after - 1 :]


def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    run(tmp_path)
    for other in ({"seed": 2}, {"sentences": SENTENCES[1:]}, {"training": replace(TRAINING, dropout=0.1)}):
        with pytest.raises(ConfigError, match="other sentences or settings"):
            run(tmp_path, resume=True, **other)
    (tmp_path / "fold-1.json").write_text("{")
    with pytest.raises(ModelError, match=r"fold-1\.json"):
        run(tmp_path, resume=True)


def test_folds_and_jobs_are_checked(tmp_path: Path) -> None:
    for n_folds in (0, 1, len(SENTENCES) + 1):
        with pytest.raises(ConfigError, match="folds"):
            jackknife(SENTENCES, n_folds, CONFIG, TRAINING, vectors=None, folder=tmp_path, progress=Listener(), seed=1)
    with pytest.raises(ConfigError, match="jobs"):
        run(tmp_path, jobs=0)


def test_a_kind_of_tags_that_a_fold_has_not_learnt_is_left_empty(tmp_path: Path) -> None:
    """Only one sentence has XPOS, so its own tagger cannot know them."""
    sentences = [sentence.with_tags(xpos=["_"] * len(sentence)) for sentence in SENTENCES]
    sentences[0] = SENTENCES[0]
    fold_of = deal(sentences, 3, seed=1)

    class Quiet(Silent):
        def fold_end(self, fold: int, n_folds: int, accuracy: Mapping[str, float]) -> None:
            pass

    tagged = jackknife(sentences, 3, CONFIG, TRAINING, vectors=None, folder=tmp_path, progress=Quiet(), seed=1)
    for sentence, fold in zip(tagged, fold_of, strict=True):
        assert set(sentence.xpos) == {"_"} if fold == fold_of[0] else set(sentence.xpos) == set(SENTENCES[0].xpos)


def test_epochs_are_told_with_their_fold(tmp_path: Path) -> None:
    class OfFolds(Listener):
        def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
            self.epochs.append(metrics["fold"])

    listener = OfFolds()
    run(tmp_path, listener=listener, training=replace(TRAINING, epochs=1))
    assert listener.epochs == [1, 2, 3]


@pytest.mark.slow
def test_a_fold_that_fails_stops_the_others_at_once(tmp_path: Path) -> None:
    long = Fold(1, SENTENCES[:2], SENTENCES[2:], CONFIG, replace(TRAINING, epochs=100_000), None, tmp_path, "any")
    bad = replace(long, number=2, others=[s.with_tags(upos=["_"] * len(s), xpos=["_"] * len(s)) for s in SENTENCES])
    with pytest.raises(DataError, match="neither UPOS nor XPOS tags"):
        list(module._run_all([long, bad], Listener(), jobs=2))
    assert all(wait([child.sentinel], PATIENCE) for child in active_children())  # far sooner than 100,000 epochs
    assert not long.result.exists()


@pytest.mark.slow
def test_processes_do_the_same(tagged: list[Sentence], tmp_path: Path) -> None:
    before = dict(os.environ)
    listener = Listener()
    assert run(tmp_path, listener=listener, jobs=2) == tagged
    assert sorted(listener.folds) == [1, 2, 3]
    assert listener.epochs == []
    assert dict(os.environ) == before
    assert json.loads((tmp_path / "fold-3.json").read_text()).keys() == {"fingerprint", "tags", "accuracy"}


KILLED = """
import sys
from pathlib import Path
from easyfirst.training.jackknife import jackknife
from easyfirst.training.training_loop import Silent
from easyfirst.training.tagger_task import TaggerTraining
from easyfirst.model.tagger_store import TaggerConfig
from easyfirst.treebank.conllu import read_conllu

class Listener(Silent):
    def fold_end(self, *_):
        pass

if __name__ == "__main__":
    config = TaggerConfig(word_dim=4, character_dim=4, spelling_dim=3, bilstm_dim=4)
    training, sentences = TaggerTraining(epochs=100000), list(read_conllu(sys.argv[1]))
    jackknife(sentences, 2, config, training, vectors=None, seed=1, folder=Path("."), progress=Listener(), jobs=2)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the processes in /proc")
def test_folds_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(KILLED)
    parent = subprocess.Popen([sys.executable, "main.py", str(TOY / "handwritten.conllu")], cwd=tmp_path)
    metrics = [tmp_path / f"fold-{number}" / "metrics.jsonl" for number in (1, 2)]
    try:
        wait_until(lambda: all(path.exists() for path in metrics))
        processes = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        children = [pid for pid in processes if parent_of(pid) == parent.pid]
        assert len(children) >= 2
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(is_running(pid) for pid in children))


def facts_of(pid: int) -> list[str]:
    """What follows the name of a process in its list of facts: state, parent..."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def parent_of(pid: int) -> int | None:
    return int(facts[1]) if (facts := facts_of(pid)) else None


def is_running(pid: int) -> bool:
    return bool(facts := facts_of(pid)) and facts[0] != "Z"
