"""Training from file to model, in this process: what it writes, tells, keeps and refuses, and that it can go on."""

from __future__ import annotations

import copy
import datetime
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

from easyfirst.confidence.fitting import Example, fit_calibration
from easyfirst.errors import ConfigError, DataError, EasyFirstError, ModelError
from easyfirst.model.card import NO_LICENCE
from easyfirst.model.embeddings import external_table, read_embeddings, scaled
from easyfirst.model.parser_config import ParserConfig, preset
from easyfirst.model.parser_store import load_parser
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.parser import load
from easyfirst.training.checkpoint import load_checkpoint
from easyfirst.training.data import DataReport
from easyfirst.training.epoch import EpochStats
from easyfirst.training.jackknife import FoldReporter
from easyfirst.training.learner import Learner
from easyfirst.training.material import Job
from easyfirst.training.pipeline import PARSER, PipelineConfig, train_pipeline
from easyfirst.training.trainer import FOLDER, METRICS, Run
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.scores import Scorer, Scores, score
from easyfirst.treebank.sentence import Sentence

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
TOY = ROOT / "examples" / "toy" / "handwritten.conllu"  # 27 sentences: one of one word, three non-projective
SMALL = {"word_dim": 6, "tag_dim": 3, "relation_dim": 3, "vector_dim": 8, "tree_dim": 5, "hidden_dim": 7}
WORDS = ("the", "The", "dog", "never-seen", "bread", ".")
TIMES = {"seconds", "cpu_seconds", "words_per_second", "words_per_cpu_second"}
CHECKPOINT = f"{FOLDER}/checkpoint.safetensors"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More make networks as small as these only slower."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few sentences."""
    path = tmp_path_factory.mktemp("data") / "dev.conllu"
    blocks = (ROOT / "examples" / "toy" / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:8]
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Word vectors as word2vec writes them."""
    rows = np.random.default_rng(8).normal(size=(len(WORDS), 4)).round(3)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, rows.tolist(), strict=True)]
    path = tmp_path / "vectors.txt"
    path.write_text(f"{len(WORDS)} 4\n" + "".join(lines))
    return path


def config_of(
    *, name: str = "paper", epochs: int = 1, network: dict[str, Any] | None = None, **training: Any
) -> ParserConfig:
    """A small network, with several updates an epoch of so few sentences."""
    network = SMALL | {"bilstm_layers": 1, "tree_layers": 1} | (network or {})
    return preset(name, network=network, training={"update_after": 20, "epochs": epochs} | training)


class Listener:
    """Remembers what it is told; ``on_progress`` may interrupt."""

    def __init__(self, on_progress: Callable[[int, EpochStats], None] = lambda epoch, stats: None) -> None:
        self.calls: list[str] = []
        self.report: DataReport | None = None
        self.seen: list[tuple[int, EpochStats]] = []
        self.metrics: list[dict[str, Any]] = []
        self.best: list[bool] = []
        self._on_progress = on_progress

    def data(self, report: DataReport) -> None:
        self.calls.append("data")
        self.report = report

    def progress(self, epoch: int, stats: EpochStats) -> None:
        self.calls.append(f"progress {epoch}")
        self.seen.append((epoch, copy.copy(stats)))
        self._on_progress(epoch, stats)

    def epoch_end(self, metrics: dict[str, Any], *, is_best: bool) -> None:
        self.calls.append(f"end {metrics['epoch']}")
        self.metrics.append(metrics)
        self.best.append(is_best)

    def part(self, name: str, n_epochs: int) -> FoldReporter:
        raise NotImplementedError


def train(job: Job, config: ParserConfig, listener: Listener, **options: bool) -> list[dict[str, Any]]:
    """Train a parser alone."""
    pipeline = PipelineConfig(parts=(PARSER,), parser=config, predicted_tags=False)
    return train_pipeline(job, pipeline, listener, **options)[PARSER]


class StopHere(Exception):  # noqa: N818
    """Stands in for whatever ends a process."""


def interrupt_in(epoch: int, n_sentences: int = 12) -> Listener:
    """Stops in the middle of an epoch."""

    def on_progress(now: int, stats: EpochStats) -> None:
        if now == epoch and stats.sentences >= n_sentences:
            raise StopHere

    return Listener(on_progress)


def test_members_are_trained_one_by_one(tmp_path: Path, dev: Path) -> None:
    config = replace(config_of(), members=2)
    with pytest.raises(ConfigError, match="trained one by one, and put together by 'easyfirst combine'"):
        train(Job(dev, tmp_path / "m"), config, Listener())
    assert not (tmp_path / "m").exists()


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def arrays_of(directory: Path, name: str = "weights.safetensors") -> dict[str, bytes]:
    arrays = safetensors.numpy.load_file(directory / name)
    return {name: array.tobytes() for name, array in arrays.items()}


def without_times(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key not in TIMES} for line in metrics]


def metrics_in(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / FOLDER / METRICS).read_text().splitlines()]


def learnt_from(treebank: Path) -> list[Sentence]:
    return [s for s in read_conllu(treebank) if is_projective([head or 0 for head in s.heads])]


def scores_of(model: Path, gold: Path) -> Scores:
    system = [parse.sentence.with_tree(parse.heads, parse.relations) for parse in load(model).parse(read_conllu(gold))]
    return score(read_conllu(gold), system)


def best_of(history: list[dict[str, Any]]) -> dict[str, Any]:
    return max(history, key=lambda line: (line["dev"]["full"]["LAS"], -line["epoch"]))


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
        parses = load(trained[0]).parse(read_conllu(dev))
        examples = [Example.of(parse, parse.sentence) for parse in parses]
        assert fit_calibration(examples, fitted_on=facts) == model.calibration

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
        n_words = sum(map(len, learnt_from(TOY)))
        for number, line in enumerate(history, 1):
            assert list(line) == [
                *("epoch", "sentences", "words", "updates", "violations", "loss", "violations_per_sentence"),
                *("seconds", "cpu_seconds", "words_per_second", "words_per_cpu_second", "dev"),
            ]
            assert (line["epoch"], line["sentences"], line["words"]) == (number, 24, n_words)
            assert 1 < line["updates"] <= line["violations"] / 20
            assert line["violations_per_sentence"] == line["violations"] / 24
            assert 0 < line["loss"] < 10
            assert all(line[key] > 0 for key in TIMES)
            assert line["dev"].keys() == {"ud", "conllx", "full"}
            for convention in line["dev"].values():
                assert 0 <= convention["LAS"] <= convention["UAS"] <= 100

    def test_the_reporter_hears_of_everything_in_order(self, trained: Trained) -> None:
        _, listener, history = trained
        assert listener.calls[0] == "data"
        assert list(dict.fromkeys(listener.calls[1:])) == [
            *("progress 1", "end 1", "progress 2", "end 2", "progress 3", "end 3")
        ]
        for epoch in (1, 2, 3):
            seen = [stats for number, stats in listener.seen if number == epoch]
            assert [stats.sentences for stats in seen] == sorted({stats.sentences for stats in seen})
            assert len(seen) > 2
            assert (seen[-1].sentences, seen[-1].updates) == (24, history[epoch - 1]["updates"])
            assert seen[-1].violations == history[epoch - 1]["violations"]

    def test_what_is_said_about_the_data(self, trained: Trained, dev: Path) -> None:
        report = trained[1].report
        assert report is not None
        sentences = list(read_conllu(TOY))
        dev_forms = [form.lower() for sentence in read_conllu(dev) for form in sentence.forms]
        known = {form.lower() for sentence in learnt_from(TOY) for form in sentence.forms}
        assert (report.train, report.dev) == (str(TOY), str(dev))
        assert (report.train_sentences, report.train_words) == (27, sum(map(len, sentences)))
        assert report.relations == len({relation for sentence in sentences for relation in sentence.relations})
        assert (report.non_projective, report.non_projective_percent) == (3, pytest.approx(100 / 9))
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
            f"| training | `{TOY.name}` | 27 | {n_words:,} | 3 non-projective sentences left out |",
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
        """Of equal ones the first: 33.33333 % is not better than 33.333 %."""
        right = iter([1, 0, 1, 2, 1])
        monkeypatch.setattr(Run, "evaluate", lambda run: scores_with(next(right), of=3))
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


class TestOptions:
    @pytest.mark.parametrize(
        "changes",
        [
            {"name": "bottom-up", "network": {"bilstm_layers": 0, "tree_layers": 0}},
            {"name": "htlstm", "network": {"bilstm_layers": 0, "tree_layers": 2}},
            {"name": "paper", "network": {"bilstm_layers": 2, "tree_layers": 2}},
            {"network": {"rnn": "gru"}},
            {"network": {"rnn": "elman"}},
            {"network": {"tags": "none"}},
            {"network": {"tags": "xpos"}},
            {"network": {"tags": "both", "window": 0}},
            {"use_dynamic_oracle": False},
            {"explore_prob": 1.0, "word_dropout": 0.0},
        ],
        ids=lambda changes: " ".join(f"{key}={value}" for key, value in changes.items()),
    )
    def test_it_trains_and_the_model_parses(self, tmp_path: Path, dev: Path, changes: dict[str, Any]) -> None:
        config = config_of(**{"learning_rate": 0.01} | changes)
        [line] = train(Job(train=TOY, out=tmp_path / "m", dev=dev), config, Listener())
        parser = load(tmp_path / "m")
        assert parser.config == config
        assert parser.needs_tags == config.network.tag_kinds
        parses = parser.parse(read_conllu(dev))
        assert all(parse.heads.count(0) == 1 for parse in parses)
        gold = [head for sentence in read_conllu(dev) for head in sentence.heads]
        uas = 100 * np.mean([h == g for h, g in zip((h for p in parses for h in p.heads), gold, strict=True)])
        assert line["dev"]["full"]["UAS"] == pytest.approx(uas, abs=1e-3)

    def test_the_static_oracle_learns_something_else(self, tmp_path: Path) -> None:
        for name, is_dynamic in (("static", False), ("dynamic", True)):
            config = config_of(use_dynamic_oracle=is_dynamic, explore_prob=0.5)
            train(Job(train=TOY, out=tmp_path / name), config, Listener())
        assert arrays_of(tmp_path / "static") != arrays_of(tmp_path / "dynamic")

    def test_it_learns(self, tmp_path: Path) -> None:
        """The sentences it is trained on, nearly by heart."""
        few = tmp_path / "few.conllu"
        few.write_text("\n\n".join(TOY.read_text(encoding="utf-8").split("\n\n")[4:12]) + "\n\n", encoding="utf-8")
        sizes = {"word_dim": 20, "tag_dim": 8, "vector_dim": 32, "tree_dim": 24, "hidden_dim": 24}
        config = config_of(epochs=15, network=sizes, learning_rate=0.02, word_dropout=0.0)
        history = train(Job(train=few, out=tmp_path / "m", dev=few), config, Listener())
        assert max(line["dev"]["full"]["LAS"] for line in history) > 90
        assert history[-1]["violations"] < 0.5 * history[0]["violations"]

    def test_a_dev_set_of_things_never_seen(self, tmp_path: Path) -> None:
        """Words, tags, relations, and trees that cannot be built."""
        listener = Listener()
        job = Job(train=DATA / "multiword.conllu", out=tmp_path / "m", dev=DATA / "nonprojective.conllu")
        [line] = train(job, config_of(), listener)
        assert listener.report is not None
        assert (listener.report.dev_sentences, listener.report.dev_words) == (3, 11)
        assert listener.report.dev_unknown_percent > 50
        assert line["dev"]["full"]["LAS"] < 100

    def test_a_dev_sentence_without_tags(self, tmp_path: Path) -> None:
        """Others have some, so it is not the file that lacks them."""
        mixed = tmp_path / "mixed.conllu"
        content = (DATA / "multiword.conllu").read_bytes()
        mixed.write_bytes(content + b"1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\t!\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n")
        [line] = train(Job(train=TOY, out=tmp_path / "m", dev=mixed), config_of(network={"tags": "both"}), Listener())
        assert line["dev"] is not None


class TestEmbeddings:
    def table(self, vectors: Path) -> np.ndarray:
        return external_table(scaled(read_embeddings(vectors)))

    def trained(self, out: Path, vectors: Path, **training: Any) -> np.ndarray:
        train(Job(train=TOY, out=out, vectors=vectors), config_of(**training), Listener())
        return load_parser(out).arrays["words.external"]

    def test_frozen_ones_stay_as_they_are_in_eight_bits(self, tmp_path: Path, vectors: Path) -> None:
        found = self.trained(tmp_path / "m", vectors, freeze_external=True, epochs=2)
        rounded = SharedVectors.of(scaled(read_embeddings(vectors)))
        assert found.tobytes() == rounded.table.tobytes()
        assert load_parser(tmp_path / "m").vectors is not None
        assert "words.external" not in arrays_of(tmp_path / "m", "weights.safetensors")
        np.testing.assert_allclose(found, self.table(vectors), atol=0.01 * np.abs(found).max())
        assert any("words.embedding" in name for name in arrays_of(tmp_path / "m", CHECKPOINT))
        assert not any("optimizer/words.external" in name for name in arrays_of(tmp_path / "m", CHECKPOINT))

    def test_others_are_trained_where_their_words_occur(self, tmp_path: Path, vectors: Path) -> None:
        before, after = self.table(vectors), self.trained(tmp_path / "m", vectors)
        changed = {("<unknown>", *WORDS)[row] for row in np.flatnonzero((before != after).any(axis=1))}
        assert changed == {"<unknown>", "the", "The", "dog", "bread", "."}

    def test_all_formats_give_the_same_model(self, tmp_path: Path, vectors: Path) -> None:
        packed, arrays = tmp_path / "vectors.txt.gz", tmp_path / "vectors.npz"
        packed.write_bytes(gzip.compress(vectors.read_bytes()))
        read = read_embeddings(vectors)
        np.savez(arrays, words=np.array(read.words), vectors=read.vectors)
        for number, path in enumerate((vectors, packed, arrays)):
            self.trained(tmp_path / str(number), path)
        models = [(tmp_path / str(number) / "weights.safetensors").read_bytes() for number in range(3)]
        assert models[0] == models[1] == models[2]
        card = (tmp_path / "1" / "README.md").read_text(encoding="utf-8")
        assert "| word vectors | `vectors.txt.gz` |  | 6 |" in card

    def test_resuming_needs_the_same(self, tmp_path: Path, vectors: Path) -> None:
        self.trained(tmp_path / "m", vectors)
        before = contents(tmp_path / "m")
        other = tmp_path / "other.txt"
        other.write_text(vectors.read_text().replace("dog", "cat"))
        for path in (other, None):
            with pytest.raises(ConfigError, match=r"was trained on other data \(vectors\)"):
                train(Job(train=TOY, out=tmp_path / "m", vectors=path), config_of(epochs=2), Listener(), resume=True)
        assert contents(tmp_path / "m") == before
        vectors.rename(tmp_path / "renamed.txt")
        job = Job(train=TOY, out=tmp_path / "m", vectors=tmp_path / "renamed.txt")
        assert len(train(job, config_of(epochs=2), Listener(), resume=True)) == 2

    def test_bad_ones_stop_it_before_anything_is_written(self, tmp_path: Path, vectors: Path) -> None:
        vectors.write_text("the 1 2 3\ndog 1 2\n")
        for path, message in ((vectors, "vectors.txt:2: 2 numbers"), (tmp_path / "missing", "no such file")):
            with pytest.raises(DataError, match=message):
                train(Job(train=TOY, out=tmp_path / "m", vectors=path), config_of(), Listener())
        assert not (tmp_path / "m").exists()


class TestResume:
    """Interrupted by an exception; tests/training/test_resume.py kills real processes."""

    def test_as_if_never_interrupted(self, tmp_path: Path, dev: Path, vectors: Path) -> None:
        """With everything that has a state: tables of words, of two kinds of tags, and of external vectors."""
        config = config_of(epochs=3, network={"rnn": "gru", "tags": "both"}, learning_rate=0.01, word_dropout=1.0)
        whole, parts = (Job(train=TOY, out=tmp_path / name, dev=dev, vectors=vectors) for name in ("whole", "parts"))
        history = train(whole, config, Listener())
        for epoch in (2, 3):
            with pytest.raises(StopHere):
                train(parts, config, interrupt_in(epoch), resume=(parts.out / CHECKPOINT).exists())
            assert len(metrics_in(parts.out)) == epoch - 1
        listener = Listener()
        resumed = train(parts, config, listener, resume=True)
        assert [metrics["epoch"] for metrics in listener.metrics] == [3]
        assert without_times(resumed) == without_times(history)
        assert without_times(metrics_in(parts.out)) == without_times(history)
        assert resumed == metrics_in(parts.out)
        one, other = contents(whole.out), contents(parts.out)
        assert one.keys() == other.keys()
        for name in ("config.json", "vocab.json", "weights.safetensors"):
            assert one[name] == other[name]
        assert arrays_of(whole.out, CHECKPOINT) == arrays_of(parts.out, CHECKPOINT)
        states = [load_checkpoint(out / FOLDER).facts for out in (whole.out, parts.out)]
        assert states[0]["rng"] == states[1]["rng"]
        assert states[0]["violation_rate"] == states[1]["violation_rate"]

    def test_more_epochs(self, tmp_path: Path, dev: Path) -> None:
        for name, steps in (("whole", [3]), ("parts", [1, 2, 3])):
            for epochs in steps:
                job = Job(train=TOY, out=tmp_path / name, dev=dev)
                listener = Listener()
                assert len(train(job, config_of(epochs=epochs), listener, resume=epochs != steps[0])) == epochs
        assert [metrics["epoch"] for metrics in listener.metrics] == [3]
        assert arrays_of(tmp_path / "whole", CHECKPOINT) == arrays_of(tmp_path / "parts", CHECKPOINT)
        assert arrays_of(tmp_path / "whole") == arrays_of(tmp_path / "parts")

    @pytest.mark.parametrize("epochs", [1, 2])
    def test_a_finished_run(self, tmp_path: Path, epochs: int) -> None:
        history = train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=2), Listener())
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "m").rglob("*")}
        listener = Listener()
        assert train(Job(train=TOY, out=tmp_path / "m"), config_of(epochs=epochs), listener, resume=True) == history
        assert listener.calls == ["data"]
        assert {path: path.stat().st_mtime_ns for path in (tmp_path / "m").rglob("*")} == before

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"seed": 2}, "training.seed was 1"),
            ({"learning_rate": 0.5}, "training.learning_rate was 0.001"),
            ({"network": {"tree_dim": 6}}, "network.tree_dim was 5"),
            ({"network": {"tags": "none"}}, "network.tags was upos"),
            ({"network": {"tags": "xpos"}}, "network.tags was upos"),
            ({"name": "htlstm", "network": {"bilstm_layers": 0}}, "preset was paper, network.bilstm_layers was 1"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_other_settings(self, tmp_path: Path, changes: dict[str, Any], name: str) -> None:
        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(tmp_path / "m")
        with pytest.raises(ConfigError, match=rf"was trained with other settings \({name}\); resume"):
            train(job, config_of(**{"epochs": 2} | changes), Listener(), resume=True)
        assert contents(tmp_path / "m") == before

    def test_other_data(self, tmp_path: Path, dev: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m", dev=dev), config_of(), Listener())
        before = contents(tmp_path / "m")
        other = tmp_path / "other.conllu"
        other.write_bytes(TOY.read_bytes().replace(b"bread", b"cakes"))
        for train_file, dev_file, name in ((other, dev, "train"), (TOY, other, "dev"), (TOY, None, "dev")):
            job = Job(train=train_file, out=tmp_path / "m", dev=dev_file)
            with pytest.raises(ConfigError, match=rf"was trained on other data \({name}\); resume with the same files"):
                train(job, config_of(epochs=2), Listener(), resume=True)
        assert contents(tmp_path / "m") == before

    def test_the_licence_is_remembered(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m", licence="CC0"), config_of(), Listener())
        for epochs, licence in ((2, None), (3, "CC BY 4.0")):
            job = Job(train=TOY, out=tmp_path / "m", licence=licence)
            train(job, config_of(epochs=epochs), Listener(), resume=True)
            assert f"- Licence: {licence or 'CC0'}\n" in load_parser(tmp_path / "m").card

    def test_vectors_where_there_were_none(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        (tmp_path / "vectors.txt").write_text("the 1 2\ndog 2 1\n")
        job = Job(train=TOY, out=tmp_path / "m", vectors=tmp_path / "vectors.txt")
        with pytest.raises(ConfigError, match=r"was trained on other data \(vectors was None\)"):
            train(job, config_of(epochs=2), Listener(), resume=True)

    def test_the_same_data_elsewhere(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        moved = tmp_path / "moved.conllu.gz"
        moved.write_bytes(gzip.compress(TOY.read_bytes()))
        assert len(train(Job(train=moved, out=tmp_path / "m"), config_of(epochs=2), Listener(), resume=True)) == 2

    def test_nothing_to_resume(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="no checkpoint to resume from; start without --resume"):
            train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener(), resume=True)
        assert not (tmp_path / "m").exists()


class TestPlace:
    """Where the model goes, and what may be there already."""

    def refuse(self, out: Path, message: str, *, kind: type[EasyFirstError] = ModelError, **options: bool) -> None:
        before = contents(out) if out.is_dir() else None
        listener = Listener()
        with pytest.raises(kind, match=message):
            train(Job(train=TOY, out=out), config_of(), listener, **options)
        assert not listener.seen
        assert before == (contents(out) if out.is_dir() else None)

    def test_a_run_is_there(self, tmp_path: Path) -> None:
        train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        self.refuse(tmp_path / "m", "a training run is there; go on with --resume, or start anew with --overwrite")

    def test_something_else_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        self.refuse(tmp_path, "exists already; choose another --out, or use --overwrite")
        train(Job(train=TOY, out=tmp_path), config_of(), Listener(), overwrite=True)
        assert (tmp_path / "notes.txt").read_text() == "mine"
        load(tmp_path)

    def test_the_model_of_something_else_is_never_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{}")
        self.refuse(tmp_path, "holds files of something else", overwrite=True)

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for overwrite in (False, True):
            self.refuse(tmp_path / "file", "is a file, but a model is a directory", overwrite=overwrite)
            self.refuse(tmp_path / "file" / "m", "cannot be written", overwrite=overwrite)
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / FOLDER).write_text("")
        self.refuse(tmp_path / "m", rf"{FOLDER} cannot be written", overwrite=True)

    def test_an_empty_directory_will_do_and_so_do_missing_parents(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for out in (tmp_path / "empty", tmp_path / "a" / "b" / "c"):
            train(Job(train=TOY, out=out), config_of(), Listener())
            load(out)

    def test_what_a_first_epoch_leaves_behind_is_no_hindrance(self, tmp_path: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "m")
        with pytest.raises(StopHere):
            train(job, config_of(), interrupt_in(1))
        assert contents(job.out) == {}
        (job.out / f"{CHECKPOINT}.tmp").write_bytes(b"half")
        train(job, config_of(), Listener())
        load(job.out)

    def test_overwriting_starts_anew(self, tmp_path: Path) -> None:
        for out, seeds in ((tmp_path / "fresh", [2]), (tmp_path / "over", [1, 2])):
            for seed in seeds:
                config = config_of(epochs=3 - seed, seed=seed, network={"tree_dim": 4 + seed})
                history = train(Job(train=TOY, out=out), config, Listener(), overwrite=True)
            assert len(history) == len(metrics_in(out)) == 1
        fresh, over = contents(tmp_path / "fresh"), contents(tmp_path / "over")
        assert fresh.keys() == over.keys()
        for name in ("config.json", "vocab.json", "weights.safetensors"):
            assert fresh[name] == over[name]
        assert arrays_of(tmp_path / "fresh", CHECKPOINT) == arrays_of(tmp_path / "over", CHECKPOINT)

    def test_overwriting_takes_the_old_run_away_at_once(self, tmp_path: Path) -> None:
        """Else a new run that is killed early would be resumed as the old one. The old model stays until there is a
        new one."""
        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(job.out)
        with pytest.raises(StopHere):
            train(job, config_of(seed=2), interrupt_in(1), overwrite=True)
        assert contents(job.out) == {k: v for k, v in before.items() if not k.startswith(FOLDER)}
        with pytest.raises(ModelError, match="no checkpoint to resume from"):
            train(job, config_of(), Listener(), resume=True)
        load(job.out)


class TestTrouble:
    @pytest.mark.parametrize("overwrite", [False, True])
    def test_bad_data_leaves_no_directory(self, tmp_path: Path, overwrite: bool) -> None:
        cases = ((DATA / "scripts.conllu", None, "xpos"), (TOY, tmp_path / "missing", "upos"), (TOY, tmp_path, "none"))
        for train_file, dev_file, tags in cases:
            job = Job(train=train_file, out=tmp_path / "m", dev=dev_file)
            with pytest.raises(DataError):
                train(job, config_of(network={"tags": tags}), Listener(), overwrite=overwrite)
        assert not (tmp_path / "m").exists()

    def test_dev_without_the_tags_that_train_has(self, tmp_path: Path) -> None:
        job = Job(train=TOY, out=tmp_path / "m", dev=DATA / "scripts.conllu")
        with pytest.raises(DataError, match=r"scripts\.conllu: this treebank has no XPOS tags"):
            train(job, config_of(network={"tags": "both"}), Listener())

    def test_a_loss_that_is_no_number(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> float:
            raise FloatingPointError("the loss is not a finite number")

        job = Job(train=TOY, out=tmp_path / "m")
        train(job, config_of(), Listener())
        before = contents(job.out)
        monkeypatch.setattr(Learner, "update", fail)
        with pytest.raises(ConfigError, match="epoch 2: the loss is not a finite number; try a smaller"):
            train(job, config_of(epochs=2), Listener(), resume=True)
        assert contents(job.out) == before

    def test_a_clock_that_stands_still(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("time.process_time", lambda: 5.0)
        monkeypatch.setattr("time.perf_counter", lambda: 5.0)
        [line] = train(Job(train=TOY, out=tmp_path / "m"), config_of(), Listener())
        assert line["seconds"] == line["cpu_seconds"] == 0
        assert line["words_per_second"] > 0
