"""Training a parser with a transformer: what is learnt, what is saved, and how it resumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from easyfirst.errors import ConfigError
from easyfirst.model.encoder_store import MIX, PretrainedEncoder
from easyfirst.model.encoder_training import EncoderTraining
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import load_parser
from easyfirst.parser import Parser, load
from easyfirst.training.data import Job
from easyfirst.training.fine_tuning import ENCODER, FineTuning
from easyfirst.training.pipeline import PipelineConfig, train_pipeline
from easyfirst.treebank.conllu import read_conllu
from tests.training.parser_runs import (
    CHECKPOINT,
    TOY,
    Listener,
    StopHere,
    arrays_of,
    config_of,
    contents,
    interrupt_in,
    scores_of,
    train,
    without_times,
)


def tuned(*, epochs: int = 1, network: dict[str, Any] | None = None, **encoder: Any) -> ParserConfig:
    settings = EncoderTraining(**({"learning_rate": 0.01} | encoder))
    config = config_of(epochs=epochs, network={"tags": "none", **(network or {})}, averaging=0.9, learning_rate=0.01)
    return replace(config, encoder=settings)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, bert: Path, dev: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A model of three epochs, and their metrics."""
    out = tmp_path_factory.mktemp("trained") / "m"
    return out, train(Job(TOY, out, dev, encoder=bert), tuned(epochs=3, network={"spelling_dim": 3}), Listener())


def test_the_model_parses_as_in_training(trained: tuple[Path, list[dict[str, Any]]], dev: Path) -> None:
    out, history = trained
    best = max(history, key=lambda line: line["dev"]["full"]["LAS"])
    assert scores_of(out, dev).full.las == pytest.approx(best["dev"]["full"]["LAS"], abs=1e-3)
    assert history[-1]["loss"] < history[0]["loss"]
    card = load_parser(out).card
    assert "- Pretrained encoder: tiny-bert (apache-2.0), fine-tuned\n" in card
    assert "| `warmup` | 0.1 |" in card


def test_what_is_learnt(trained: tuple[Path, list[dict[str, Any]]], encoder: PretrainedEncoder) -> None:
    found = load_parser(trained[0]).encoder
    assert found is not None
    assert found.settings == encoder.settings
    assert [name for name, array in found.arrays.items() if (array == encoder.arrays[name]).all()] == []


def test_the_engines_agree_and_threads_change_nothing(trained: tuple[Path, list[dict[str, Any]]], dev: Path) -> None:
    sentences = list(read_conllu(dev))
    native, numpy = (load(trained[0], engine=engine, precision="float32") for engine in ("native", "numpy"))
    expected = [(parse.heads, parse.relations) for parse in numpy.parse(sentences)]
    assert [(parse.heads, parse.relations) for parse in native.parse(sentences)] == expected
    threaded = native.parse(sentences * 4, threads=3, batch_size=4)
    assert [(parse.heads, parse.relations) for parse in threaded] == expected * 4
    [vectors] = [parse.vectors for parse in native.parse(sentences[:1])]
    assert vectors.shape == (len(sentences[0]), 10)
    assert native.parse(sentences, beam=3)[0].heads == numpy.parse(sentences, beam=3)[0].heads


def test_words_decide(trained: tuple[Path, list[dict[str, Any]]]) -> None:
    """The vectors depend on the context: without it, the same words have others."""
    parser = load(trained[0])
    one, other = parser.parse([["the", "baker", "bread"], ["the", "fox", "bread"]])
    assert not np.allclose(one.vectors[2], other.vectors[2])


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_saved_again(trained: tuple[Path, list[dict[str, Any]]], tmp_path: Path, dev: Path, bits: int) -> None:
    parser: Parser = load(trained[0], precision="float32")
    parser.save(tmp_path / "copy", bits=bits)
    if bits == 32:
        assert scores_of(tmp_path / "copy", dev) == scores_of(trained[0], dev)
    else:
        assert load(tmp_path / "copy").parse([["a", "fox"]])[0].heads.count(0) == 1


@pytest.mark.parametrize("frozen", [False, True])
def test_resumed_bit_for_bit(tmp_path: Path, bert: Path, dev: Path, frozen: bool) -> None:
    config = tuned(epochs=2, frozen=frozen)
    whole, parts = (Job(TOY, tmp_path / name, dev, encoder=bert) for name in ("whole", "parts"))
    history = train(whole, config, Listener())
    with pytest.raises(StopHere):
        train(parts, config, interrupt_in(2))
    assert without_times(train(parts, config, Listener(), resume=True)) == without_times(history)
    one, other = contents(whole.out), contents(parts.out)
    assert one.keys() == other.keys()
    for name in ("config.json", "weights.safetensors", "transformer/config.json", "transformer/weights.safetensors"):
        assert one[name] == other[name]
    assert arrays_of(whole.out, CHECKPOINT) == arrays_of(parts.out, CHECKPOINT)


def test_frozen(tmp_path: Path, bert: Path, encoder: PretrainedEncoder) -> None:
    """Only the mix of the layers is learnt."""
    train(Job(TOY, tmp_path / "m", encoder=bert), tuned(frozen=True), Listener())
    found = load_parser(tmp_path / "m").encoder
    assert found is not None
    assert [name for name, array in found.arrays.items() if (array != encoder.arrays[name]).any()] == [MIX]
    assert "tiny-bert (apache-2.0), frozen" in load_parser(tmp_path / "m").card


def test_another_encoder_cannot_be_resumed_with(
    tmp_path: Path, bert: Path, dev: Path, make_bert_of_seed: Callable[[], Path]
) -> None:
    job = Job(TOY, tmp_path / "m", dev, encoder=bert)
    train(job, tuned(), Listener())
    with pytest.raises(ConfigError, match=r"the run used different data \(encoder\); resume with the same data"):
        train(replace(job, encoder=make_bert_of_seed()), tuned(epochs=2), Listener(), resume=True)
    with pytest.raises(ConfigError, match=r"different settings \(encoder.warmup was 0.1\)"):
        train(job, tuned(epochs=2, warmup=0.2), Listener(), resume=True)


@pytest.fixture
def make_bert_of_seed(tmp_path: Path) -> Callable[[], Path]:
    from tests.pretrained.tiny_transformers import make_bert

    return lambda: make_bert(tmp_path / "other", intermediate_size=20)


def test_several_processes_are_refused(tmp_path: Path, bert: Path) -> None:
    config = PipelineConfig(parts=("parser",), parser=tuned(), predicted_tags=False, processes=2)
    with pytest.raises(ConfigError, match="--processes and --encoder cannot be combined"):
        train_pipeline(Job(TOY, tmp_path / "m", encoder=bert), config, Listener())


def test_not_trained_further(trained: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has a transformer encoder, which cannot be trained further"):
        train(Job(TOY, tmp_path / "m", init=trained[0]), config_of(), Listener())


class TestReading:
    SENTENCES = (["the", "fox"], ["bread", "!"])

    def read(self, tuning: FineTuning, seed: int) -> torch.Tensor:
        parameters = {name: torch.from_numpy(array) for name, array in tuning.arrays.items()}
        with torch.no_grad():
            return tuning.read(parameters, self.SENTENCES, np.random.default_rng(seed))

    def test_dropout_repeats(self, encoder: PretrainedEncoder) -> None:
        tuning = FineTuning(encoder, EncoderTraining())
        before = torch.random.get_rng_state()
        first, again, other = (self.read(tuning, seed) for seed in (1, 1, 2))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        assert torch.equal(torch.random.get_rng_state(), before)

    def test_no_dropout_if_frozen(self, encoder: PretrainedEncoder) -> None:
        tuning = FineTuning(encoder, EncoderTraining(frozen=True))
        expected = tuning.reader(tuning.arrays).vectors(self.SENTENCES)
        assert (self.read(tuning, 1).numpy() == expected).all()

    def test_the_reader_of_a_parser_computes_the_same(self, encoder: PretrainedEncoder) -> None:
        tuning = FineTuning(encoder, EncoderTraining())
        arrays = {name: array + np.float32(0.01) for name, array in tuning.arrays.items()}
        saved = tuning.trained(arrays)
        assert saved.arrays[MIX].tolist() == arrays[ENCODER + MIX].tolist()
        expected = tuning.reader(arrays).vectors(self.SENTENCES)
        np.testing.assert_array_equal(saved.reader.vectors(self.SENTENCES), expected)
