"""Parser training from file to model: what it writes, reports and keeps."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.confidence.fitting import Example, fit_calibration
from easyfirst.model.card import NO_LICENCE
from easyfirst.model.parser_store import load_parser
from easyfirst.parser import load
from easyfirst.training.data import Job
from easyfirst.training.run_folders import FOLDER
from easyfirst.training.training_loop import METRICS
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Scorer, Scores
from tests.training.parser_runs import (
    CHECKPOINT,
    TIMES,
    TOY,
    Listener,
    arrays_of,
    best_of,
    config_of,
    contents,
    metrics_in,
    scores_of,
    train,
    without_times,
)

Trained = tuple[Path, Listener, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, dev: Path) -> Trained:
    """A run of three epochs, what was heard of it, and its history."""
    out, listener = tmp_path_factory.mktemp("models") / "my-model", Listener()
    job = Job(train=TOY, out=out, dev=dev, licence="CC BY-SA 4.0")
    return out, listener, train(job, config_of(epochs=3, learning_rate=0.01), listener)


class TestConfidence:
    def test_it_is_fitted_to_the_best_epoch_on_dev(self, trained: Trained, dev: Path) -> None:
        model = load_parser(trained[0])
        assert model.calibration is not None
        facts = model.calibration.fitted_on
        assert (facts.file, facts.sentences, facts.tags) == ("dev.conllu", 8, "given")
        assert model.card.count("## Confidence") == 1
        parses = load(trained[0], precision="float32", valid=False).parse(read_conllu(dev))
        examples = [Example.of(parse, parse.sentence) for parse in parses]
        assert fit_calibration(examples, fitted_on=facts) == replace(model.calibration, beam=None)
        assert model.calibration.beam is not None

    def test_without_dev_there_is_none(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "model"), config_of(), Listener())
        assert load_parser(tmp_path / "model").calibration is None

    def test_a_run_that_was_stopped_before_it_fits_it_when_resumed(self, tmp_path: Path, dev: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "model", dev=dev)
        train(job, config_of(), Listener())
        before = contents(job.out)
        (job.out / "confidence.json").unlink()
        train(job, config_of(), Listener(), resume=True)
        assert contents(job.out) == before

    def test_dev_of_single_words(self, tmp_path: Path) -> None:
        (tmp_path / "dev.conllu").write_text("1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
        job = Job(train=TOY, out=tmp_path / "model", dev=tmp_path / "dev.conllu")
        train(job, config_of(), Listener())
        assert load_parser(job.out).calibration is None


class TestOutput:
    def test_files(self, trained: Trained) -> None:
        model = {"config.json", "vocab.json", "weights.safetensors", "README.md", "confidence.json"}
        assert contents(trained[0]).keys() == model | {CHECKPOINT, f"{FOLDER}/{METRICS}"}

    def test_metrics(self, trained: Trained, dev: Path) -> None:
        out, listener, history = trained
        assert metrics_in(out) == history == listener.metrics
        n_words = sum(map(len, read_conllu(TOY)))
        for number, line in enumerate(history, 1):
            assert list(line) == [
                *("epoch", "sentences", "words", "updates", "violations", "loss", "violations_per_sentence"),
                *("seconds", "cpu_seconds", "words_per_second", "words_per_cpu_second", "dev"),
            ]
            assert (line["epoch"], line["sentences"], line["words"]) == (number, 27, n_words)
            assert 1 < line["updates"] <= line["violations"] / 20
            assert line["violations_per_sentence"] == line["violations"] / 27
            assert 0 < line["loss"] < 10
            assert all(line[key] > 0 for key in TIMES)
            assert line["dev"].keys() == {"ud", "conllx", "full"}
            for convention in line["dev"].values():
                assert 0 <= convention["LAS"] <= convention["UAS"] <= 100

    def test_progress_is_reported_in_order(self, trained: Trained) -> None:
        _, listener, history = trained
        assert listener.calls[0] == "data"
        assert list(dict.fromkeys(listener.calls[1:])) == [
            *("batch 1", "end 1", "batch 2", "end 2", "batch 3", "end 3")
        ]
        for epoch in (1, 2, 3):
            seen = [stats for number, stats in listener.seen if number == epoch]
            assert [stats["sentences"] for stats in seen] == sorted({stats["sentences"] for stats in seen})
            assert len(seen) > 2
            assert [stats["done"] for stats in seen] == [stats["sentences"] / 27 for stats in seen]
            assert (seen[-1]["sentences"], seen[-1]["updates"]) == (27, history[epoch - 1]["updates"])
            assert seen[-1]["violations"] == history[epoch - 1]["violations"]

    def test_what_is_said_about_the_data(self, trained: Trained, dev: Path) -> None:
        report = trained[1].report
        assert report is not None
        sentences = list(read_conllu(TOY))
        dev_forms = [form.lower() for sentence in read_conllu(dev) for form in sentence.forms]
        known = {form.lower() for sentence in sentences for form in sentence.forms}
        assert (report.train, report.dev) == (str(TOY), str(dev))
        assert (report.train_sentences, report.train_words) == (27, sum(map(len, sentences)))
        assert report.relations == len({relation for sentence in sentences for relation in sentence.relations})
        assert (report.non_projective, report.non_projective_percent) == (3, pytest.approx(100 / 9))
        assert (report.lifted_arcs, report.crossing, report.marked_relations) == (3, None, 0)  # too few of each kind
        assert (report.dev_sentences, report.dev_words) == (8, len(dev_forms))
        assert report.dev_unknown_percent == pytest.approx(100 * np.mean([form not in known for form in dev_forms]))

    def test_the_model_has_the_scores_it_claims(self, trained: Trained, dev: Path) -> None:
        out, listener, history = trained
        scores = scores_of(out, dev)
        best = best_of(history)
        assert best["dev"]["full"] == {"UAS": round(scores.full.uas, 3), "LAS": round(scores.full.las, 3)}
        assert best["dev"]["conllx"] == {"UAS": round(scores.conllx.uas, 3), "LAS": round(scores.conllx.las, 3)}
        assert [n for n, is_best in enumerate(listener.best, 1) if is_best][-1] == best["epoch"]

    def test_card(self, trained: Trained, dev: Path) -> None:
        out, _, history = trained
        card = (out / "README.md").read_text(encoding="utf-8")
        scores = scores_of(out, dev)
        n_words = sum(map(len, read_conllu(TOY)))
        n_dev = sum(map(len, read_conllu(dev)))
        today, yesterday = datetime.date.today(), datetime.date.today() - datetime.timedelta(days=1)
        for part in (
            "# my-model\n",
            "- Licence: CC BY-SA 4.0\n",
            f"| training | `{TOY.name}` | 27 | {n_words:,} | 3 arcs of 3 non-projective sentences lifted, none of them",
            f"| development | `dev.conllu` | 8 | {n_dev:,} |",
            f"after epoch {best_of(history)['epoch']}.",
            f"| {scores.ud.uas:.2f} | {scores.ud.las:.2f} | {n_dev:,} |",
            f"| {scores.conllx.uas:.2f} | {scores.conllx.las:.2f} | {scores.conllx.words:,} |",
            "| `learning_rate` | 0.01 |",
        ):
            assert part in card
        assert f"Trained: {today}, with" in card or f"Trained: {yesterday}, with" in card
        assert str(TOY.parent) not in card

    def test_card_without_dev_and_licence(self, tmp_path: Path) -> None:
        listener = Listener()
        history = train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=2), listener)
        card = (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
        assert f"- Licence: {NO_LICENCE}\n" in card
        assert "Not measured: there was no development data." in card
        assert "development |" not in card
        assert [line["dev"] for line in history] == [None, None]
        assert listener.best == [True, True]


class TestSelection:
    """Which epoch's model is kept."""

    def kept(self, out: Path) -> bool:
        """Whether the model is that of the last epoch."""
        weights, checkpoint = arrays_of(out), arrays_of(out, CHECKPOINT)
        return all(checkpoint[f"parameters/{name}"] == array for name, array in weights.items())

    def test_the_last_without_dev(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=2), Listener())
        assert self.kept(tmp_path / "m")
        assert load_parser(tmp_path / "m").config.training.epochs == 2

    def test_the_best_by_las(self, tmp_path: Path, dev: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Among equal epochs the first is kept: 33.33333 % is not better than 33.333 %."""
        scores = iter([scores_with(n_right, of=3) for n_right in (1, 0, 1, 2, 1)])
        monkeypatch.setattr(Scorer, "scores", lambda scorer: next(scores))
        kept: list[bool] = []
        weights: list[bytes] = []

        class Watcher(Listener):
            def epoch_end(_, metrics: dict[str, Any], *, is_best: bool) -> None:  # noqa: N805
                kept.append(is_best)
                weights.append((tmp_path / "m" / "weights.safetensors").read_bytes())
                assert self.kept(tmp_path / "m") == is_best

        history = train(Job(train=TOY, out=tmp_path / "m", dev=dev), config_of(epochs=5), Watcher())
        assert [line["dev"]["full"]["LAS"] for line in history] == [33.333, 0, 33.333, 66.667, 33.333]
        assert kept == [True, False, False, True, False]
        assert weights[0] == weights[1] == weights[2] != weights[3] == weights[4]
        assert "after epoch 4." in (tmp_path / "m" / "README.md").read_text(encoding="utf-8")


def scores_with(n_right: int, *, of: int) -> Scores:
    scorer = Scorer()
    heads = list(range(of))
    system = [head if m < n_right else of for m, head in enumerate(heads)]
    relations = ["x"] * of
    scorer.add(relations, gold_heads=heads, gold_relations=relations, system_heads=system, system_relations=relations)
    return scorer.scores()


class TestSeed:
    def test_the_same_gives_the_same_model_and_another_another(self, tmp_path: Path, dev: Path) -> None:
        seeds = {"one": 1, "again": 1, "other": 2}
        for name, seed in seeds.items():
            train(Job(train=TOY, out=tmp_path / name, dev=dev), config_of(seed=seed), Listener())
        one, again, other = (contents(tmp_path / name) for name in seeds)
        for name in ("config.json", "vocab.json", "weights.safetensors"):
            assert one[name] == again[name]
        assert without_times(metrics_in(tmp_path / "one")) == without_times(metrics_in(tmp_path / "again"))
        assert arrays_of(tmp_path / "one", CHECKPOINT) == arrays_of(tmp_path / "again", CHECKPOINT)
        for name, array in arrays_of(tmp_path / "one").items():
            is_fixed = not np.frombuffer(array, np.float32).any()  # nothing was learnt of what is never used
            assert is_fixed or array != arrays_of(tmp_path / "other")[name], name
        assert one["vocab.json"] == other["vocab.json"]

    def test_global_generators_are_left_alone(self, tmp_path: Path) -> None:
        torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        assert torch.equal(torch.get_rng_state(), torch_state)
        assert np.array_equal(np.random.get_state()[1], numpy_state[1])  # noqa: NPY002
