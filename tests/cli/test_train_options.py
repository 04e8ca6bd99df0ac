"""The options of ``easyfirst train``: settings, presets, vectors, and the parts of a model."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

from easyfirst.cli.reports import TrainingReport
from easyfirst.model.parser_store import load_parser
from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from tests.cli.tiny_training import TRAIN, Train


class TestOptions:
    @pytest.mark.parametrize(
        ("preset", "n_bilstm", "n_tree"), [("bottom-up", 0, 0), ("htlstm", 0, 2), ("paper", 2, 2), (None, 2, 2)]
    )
    def test_presets(self, train: Train, tmp_path: Path, preset: str | None, n_bilstm: int, n_tree: int) -> None:
        options = ["--preset", preset] if preset else []
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", *options).code == 0
        model = load_parser(tmp_path / "m")
        assert model.config.preset == (preset or "paper")
        assert (model.config.network.bilstm_layers, model.config.network.tree_layers) == (n_bilstm, n_tree)
        layers = ("words", n_bilstm), ("trees", n_tree)
        assert all(sum(f"{part}.rnn.{i}.bias" in model.arrays for i in range(3)) == n for part, n in layers)

    def test_strong(self, train: Train, dev: Path, tmp_path: Path) -> None:
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", "--preset", "strong").code == 0
        config = load_parser(tmp_path / "m").config
        assert (config.preset, config.network.deep_bilstm, config.training.averaging) == ("strong", True, 0.999)
        assert len(load(tmp_path / "m").parse(read_conllu(dev))) == 4

    def test_many_options_together(self, train: Train, tmp_path: Path) -> None:
        vectors = tmp_path / "vectors.txt.gz"
        vectors.write_bytes(gzip.compress(b"the 0.5 1 2\ndog 3 -1 2\n"))
        done = train(
            *(TRAIN, "--out", tmp_path / "m", "--epochs", "1", "--seed", "7", "--tags", "both", "--preset", "htlstm"),
            *("--no-dev", "--embeddings", vectors, "--freeze-embeddings", "--no-dynamic-oracle", "--licence", "CC0"),
            *("--set", "network.rnn=gru", "--set", "training.learning_rate=1e-2", "--set", "network.window=1"),
        )
        assert done.code == 0
        assert re.search(r"^vectors: 2 words; 9\.0 % of the words of train have one$", done.stderr, re.MULTILINE)
        assert "warning: hardly any word has a vector" in done.stderr
        model = load_parser(tmp_path / "m")
        network, training = model.config.network, model.config.training
        assert (network.rnn, network.tags, network.window, network.tree_dim) == ("gru", "both", 1, 4)
        assert (training.seed, training.epochs, training.learning_rate) == (7, 1, 0.01)
        assert (training.use_dynamic_oracle, training.freeze_external) == (False, True)
        assert "- Licence: CC0\n" in model.card
        table = model.arrays["words.external"]
        assert model.vocabulary.external == {"the": 1, "dog": 2}
        np.testing.assert_allclose(table[1] / table[2, 0], np.array([0.5, 1, 2]) / 3, rtol=0.01)  # eight bits
        assert not table[0].any()

    def test_the_first_vectors_in_four_bits(self, train: Train, tmp_path: Path) -> None:
        (tmp_path / "vectors.txt").write_text("the 0.5 1 7\ndog 7 -1 2\nfox 1 1 1\n", encoding="utf-8")
        options = ("--embeddings", tmp_path / "vectors.txt", "--max-embeddings", "2", "--embedding-bits", "4")
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", "--freeze-embeddings", *options).code == 0
        model = load_parser(tmp_path / "m")
        assert model.vocabulary.external == {"the": 1, "dog": 2}
        table = model.arrays["words.external"]
        np.testing.assert_allclose(7 * table[1:] / table[1:].max(axis=1, keepdims=True), [[0, 1, 7], [7, -1, 2]])

    @pytest.mark.parametrize("options", [["--tags", "none"], ["--tags", "xpos"], ["--set", "network.rnn=elman"]])
    def test_other_networks(self, train: Train, dev: Path, tmp_path: Path, options: list[str]) -> None:
        assert train(TRAIN, "--dev", dev, "-o", tmp_path / "m", "--epochs", "1", *options).code == 0
        assert len(load(tmp_path / "m").parse(read_conllu(dev))) == 4

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--set", "network.depth=3"], "unknown setting network.depth; there are: word_dim, "),
            (["--set", "training.lr=3"], "unknown setting training.lr; there are: epochs, "),
            (["--set", "network.=3"], "unknown setting network.; there are"),
            (["--set", "tagger.member=2"], "unknown setting tagger.member; there are: word_dim, "),
            (["--set", "tagger.members=0"], "tagger.members must be from 1 to 16"),
            (["--set", "tokenizer.hidden=2"], "unknown setting tokenizer.hidden; there are: character_dim, "),
            (["--set", "network.window=big"], "network.window must be of type int, not 'big'"),
            (["--set", "network.window=1.5"], "network.window must be of type int, not 1.5"),
            (["--set", "network.window=true"], "network.window must be of type int, not True"),
            (["--set", "network.window="], "network.window must be of type int, not ''"),
            (["--set", "network.window=-1"], "network.window must "),
            (["--set", "network.rnn=3"], "network.rnn must be of type str, not 3"),
            (["--set", "network.rnn=transformer"], "network.rnn must be one of lstm, gru, elman"),
            (["--set", "training.use_dynamic_oracle=1"], "training.use_dynamic_oracle must be of type bool, not 1"),
            (["--set", "training.learning_rate=fast"], "training.learning_rate must be of type float, not 'fast'"),
            (["--set", "training.learning_rate=NaN"], "training.learning_rate must be a finite number"),
            (["--set", "network.vector_dim=7", "--set", "network.word_dim=3"], "network.vector_dim must be even"),
            (["--set", "tree_dim=8"], "--set tree_dim=8: write it as TABLE.KEY=VALUE, where TABLE is network"),
            (["--set", "network.tree_dim"], "--set network.tree_dim: write it as TABLE.KEY=VALUE"),
            (["--set", "model.tree_dim=8"], "--set model.tree_dim=8: write it as TABLE.KEY=VALUE"),
            (["--set", "preset=paper"], "--set preset=paper: write it as TABLE.KEY=VALUE"),
            (["--preset", "large"], "unknown preset 'large'; there are: bottom-up, htlstm, paper"),
            (["--tags", "fine"], "network.tags must be one of none, upos, xpos, both"),
            (["--epochs", "0"], "training.epochs must be at least 1"),
            (["--seed", "-1"], "training.seed must be a non-negative 63-bit integer"),
            (["--freeze-embeddings"], "--freeze-embeddings needs --embeddings"),
            (["--max-embeddings", "3"], "--max-embeddings needs --embeddings"),
            (["--embedding-bits", "4"], "--embedding-bits needs --embeddings"),
            (["--embedding-bits", "5", "--embeddings", "v.txt"], "--embedding-bits is 8 or 4, not 5"),
            (["--embedding-bits", "4", "--embeddings", "v.txt"], "--embedding-bits is for frozen vectors"),
            (["--gold-tags"], "--gold-tags is for models with a tagger; "),
            (["--no-spaces"], "--no-spaces is for the tokenizer, which is not trained; leave it out, or name it"),
            (["--text", "t.txt"], "--text is for the tokenizer, which is not trained; leave it out, or name it"),
            (["--parts", "foo"], "--parts foo: choose from tokenizer, tagger, parser, or all"),
            (["--parts", "tagger,"], "--parts tagger,: choose from tokenizer, tagger, parser, or all"),
            (["--parts", "tokenizer", "--text", "no.txt"], "no.txt: there is no such file; check the name"),
            (["--set", "tokenizer.augmentation=2"], "tokenizer.augmentation must be from 0 to 1"),
            (
                ["--projective", "--set", "training.crossing=path"],
                "--projective and --set training.crossing cannot be combined; choose one",
            ),
            (
                ["--epochs", "3", "--set", "training.patience=0.5"],
                "--epochs and --set training.patience cannot be combined; choose one",
            ),
            (["--resume", "--overwrite"], "--resume and --overwrite cannot be combined; choose one"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_mistakes(self, tmp_path: Path, train: Train, options: list[str], message: str) -> None:
        assert train(TRAIN, "-o", tmp_path / "m", *options).error.startswith(message)
        assert not (tmp_path / "m").exists()

    @pytest.mark.parametrize(
        "options", [[], ["-o", "m", "--epochs", "many"], ["-o", "m", "--threads", "0"], ["-o", "m", "--fast"]]
    )
    def test_usage(self, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
        monkeypatch.chdir(tmp_path)
        assert train(TRAIN, *options).code == 2
        assert list(tmp_path.iterdir()) == []


class TestParts:
    SMALL = (
        *("--epochs", "1", "--folds", "2", "--set", "tagger.epochs=1", "--set", "tokenizer.epochs=1"),
        *("--set", "tagger.word_dim=4", "--set", "tagger.spelling_dim=4", "--set", "tagger.bilstm_dim=4"),
        *("--set", "tokenizer.hidden_dim=4"),
    )

    def test_the_words_of_a_text(self, train: Train, tmp_path: Path) -> None:
        """The toy treebank splits no words, so none needs to be known; the text is read nevertheless."""
        text = tmp_path / "text.txt"
        text.write_text("Vermont\n" * 5, encoding="utf-8")
        options = ("-o", tmp_path / "m", "--parts", "tokenizer", "--text", text, *self.SMALL)
        assert train(TRAIN, *options).code == 0
        text.write_text("Vienna\n" * 5, encoding="utf-8")
        assert "the run used different data or settings" in train(TRAIN, *options, "--resume").error

    def test_parts_trained_one_by_one(self, train: Train, tmp_path: Path) -> None:
        out = tmp_path / "m"
        done = train(TRAIN, "-o", out, "--parts", "tokenizer", *self.SMALL)
        last = done.stderr.splitlines()[-1]
        assert last == f"the tokenizer is in {out / 'tokenizer'}; a parser is still missing"
        done = train(TRAIN, "-o", out, "--parts", "tagger", *self.SMALL)
        last = done.stderr.splitlines()[-1]
        places = f"the tokenizer is in {out / 'tokenizer'}, the tagger is in {out / 'tagger'}"
        assert last == f"{places}; a parser is still missing"
        done = train(TRAIN, "-o", out, "--parts", "parser", *self.SMALL)
        assert "jackknife: fold 2, epoch 1/1" in done.stderr  # it does not learn from the treebank's tags
        assert "jackknife: fold 2/2 tagged" in done.stderr
        assert done.stderr.endswith(f"the model is in {out}\n")
        assert load(out).reads_tags == ("upos", "xpos")
        assert load(out).model.config.preset == "pipeline"  # as if all parts had been trained at once
        assert "warning: --set tokenizer.epochs is for the tokenizer, which is not trained\n" in done.stderr
        assert "warning: --set tagger" not in done.stderr  # which is what the folds are tagged with
        done = train(TRAIN, "-o", out, "--gold-tags", "--overwrite", *self.SMALL)
        assert done.code == 0
        assert "jackknife" not in done.stderr
        assert "warning: --set tagger.epochs is for the tagger, which is not trained\n" in done.stderr
        done = train(TRAIN, "-o", out, "--parts", "tagger", "--overwrite", *self.SMALL)
        assert done.stderr.endswith(f"to calibrate it again: easyfirst calibrate {out} DEV --predicted-tags\n")

    def test_a_bar_after_resuming(self) -> None:
        report = TrainingReport(is_quiet=True)
        report.progress = Progress(disable=True)
        part = report.part("tagger", 3)
        shown: list[list[str]] = []
        for epoch in (2, 3):
            for share in (0.5, 1.0):
                part.batch_end(epoch, share, {"loss": 0.1})
                shown.append([task.description for task in report.progress.tasks])
        assert shown == [["tagger 2/3"], ["tagger 2/3"], ["tagger 3/3"], []]
