"""``easyfirst train``: its options, its messages and its exit codes. Most run in this process, where PyTorch is loaded
already; some are processes of their own, as users run it."""

from __future__ import annotations

import gzip
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from easyfirst.cli import build_app
from easyfirst.cli.reports import TrainingReport
from easyfirst.model.parser_store import load_parser
from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.tree import check_tree

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TRAIN = TOY / "handwritten.conllu"  # 27 sentences: one of one word, three non-projective
TINY = [
    part
    for name in ("word", "tag", "relation", "vector", "tree", "hidden")
    for part in ("--set", f"network.{name}_dim=4")
]

FOX = "1\tfoxes\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tjump\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
ONE_WORD = "1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
CROSSING = (
    "1\ta\t_\tX\tY\t_\t3\tx\t_\t_\n2\tb\t_\tX\tY\t_\t4\ty\t_\t_\n"
    "3\tc\t_\tX\tY\t_\t0\troot\t_\t_\n4\td\t_\tX\tY\t_\t3\tz\t_\t_\n\n"
)


@dataclass(frozen=True)
class Done:
    code: int
    stderr: str

    @property
    def error(self) -> str:
        """The message, which is the last line; everything before it is a report."""
        assert self.code == 2, self.stderr
        *_, last = self.stderr.splitlines()
        assert last.startswith("error: ")
        return last.removeprefix("error: ")


Train = Callable[..., Done]


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Train]:
    """``train(TRAIN, "--out", path)`` with a tiny network, in this process."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the command sets them: they are put back afterwards

    def call(*arguments: str | Path) -> Done:
        with pytest.raises(SystemExit) as caught:
            build_app()(["train", *TINY, *map(str, arguments)], prog_name="easyfirst")
        captured = capsys.readouterr()
        assert captured.out == ""
        code = caught.value.code
        return Done(code if isinstance(code, int) else 0, captured.err)

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield call
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sentences."""
    path = tmp_path_factory.mktemp("data") / "dev.conllu"
    blocks = (TOY / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:4]
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


class TestReport:
    def test_lines(self, train: Train, run: Run, dev: Path, tmp_path: Path) -> None:
        out = tmp_path / "m"
        done = train(TRAIN, "--dev", dev, "-o", out, "--epochs", "2")
        assert done.code == 0
        lines = done.stderr.splitlines()
        assert len(lines) == 5
        assert lines[0] == "train: 27 sentences, 233 words, 29 relations; 3 non-projective sentences (11.1 %) skipped"
        assert re.fullmatch(r"dev: 4 sentences, \d+ words, \d+\.\d % not seen in training", lines[1])
        epoch = (
            r"epoch {}/2  loss \d+\.\d{{3}}  \d+\.\d\d violations/sentence  [\d,]+ words/s  "
            r"dev UAS \d+\.\d\d LAS \d+\.\d\d \(UD LAS \d+\.\d\d\){}"
        )
        assert re.fullmatch(epoch.format(1, "  best so far"), lines[2])
        assert re.fullmatch(epoch.format(2, "(  best so far)?"), lines[3])
        assert lines[4] == f"the model is in {out}"

        done = run("parse", "--model", out, dev, "-o", tmp_path / "parsed.conllu", "-q")
        assert done.returncode == 0
        for sentence in read_conllu(tmp_path / "parsed.conllu"):
            check_tree(sentence)
        assert run("info", out).returncode == 0

    def test_without_dev(self, train: Train, tmp_path: Path) -> None:
        done = train(TRAIN, "-o", tmp_path / "m", "--epochs", "1")
        assert done.code == 0
        assert "dev" not in done.stderr.replace(str(tmp_path), "")
        assert "best" not in done.stderr

    def test_quiet(self, train: Train, tmp_path: Path) -> None:
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", "--quiet") == Done(0, "")
        load(tmp_path / "m")

    def test_a_bar_on_a_terminal(
        self, train: Train, dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        for name, value in {"TERM": "xterm", "COLUMNS": "150", "LINES": "40"}.items():
            monkeypatch.setenv(name, value)
        assert train(TRAIN, "--dev", dev, "-o", tmp_path / "m", "--epochs", "2").code == 0
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
        for part in ("train: 27 sentences", "epoch 1/2", "epoch 2/2", "violations/sentence", "words/s", "best so far"):
            assert part in shown
        assert re.search(r"epoch 2/2 ━+ loss \d\.\d{3}  \d+\.\d\d violations/sentence  [\d,]+ words/s 0:00:00", shown)
        assert "the model is in" in shown


class TestData:
    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("", None, "no sentences in this file"),
            (FOX + FOX.replace("\t0\troot", "\t1\troot"), 4, "no word has HEAD 0"),
            (FOX + CROSSING.replace("\t3\tx", "\t2\tx").replace("\t4\ty", "\t1\ty"), 4, "form a cycle"),
            (FOX + FOX.replace("\t2\tnsubj", "\t0\troot"), 5, "all have HEAD 0"),
            (FOX.replace("\t_\n2", "\n2"), 1, "9 tab-separated columns where CoNLL-U has 10"),
            (FOX.replace("\t0\t", "\t9\t"), 2, "HEAD is 9 but the sentence has 2 words"),
            (CROSSING * 2, None, "no projective sentence of two words or more"),
            (ONE_WORD * 3, None, "no projective sentence of two words or more"),
            (FOX.replace("NOUN", "_").replace("VERB", "_"), None, "no UPOS tags; choose --tags xpos or --tags none"),
        ],
        ids=["empty", "no root", "cycle", "two roots", "columns", "head", "non-projective", "one word", "no tags"],
    )
    def test_bad_treebanks(self, train: Train, tmp_path: Path, text: str, line: int | None, message: str) -> None:
        bad = tmp_path / "bad.conllu"
        bad.write_text(text, encoding="utf-8")
        error = train(bad, "-o", tmp_path / "m").error
        assert error.startswith(f"{bad}: " if line is None else f"{bad}:{line}: ")
        assert message in error
        if "no projective" not in message:  # of dev only to be parsed
            assert train(TRAIN, "--dev", bad, "-o", tmp_path / "m").error == error
        assert not (tmp_path / "m").exists()

    def test_not_a_file(self, train: Train, tmp_path: Path) -> None:
        missing, out = tmp_path / "missing.conllu", tmp_path / "m"
        for arguments, name in (([missing], missing), ([TRAIN, "--dev", missing], missing)):
            assert train(*arguments, "-o", out).error == f"{name}: there is no such file; check the name"
        for arguments in ([tmp_path], [TRAIN, "--dev", tmp_path]):
            assert train(*arguments, "-o", out).error == f"{tmp_path}: this is a directory; name a file in it"
        assert train(TRAIN, "--embeddings", missing, "-o", out).error.startswith(f"{missing}: there is no such file")
        assert not out.exists()

    def test_as_a_process(self, run: Run, tmp_path: Path) -> None:
        bad = tmp_path / "bad.conllu"
        bad.write_text(FOX + FOX.replace("\t0\troot", "\t1\troot"), encoding="utf-8")
        done = run("train", bad, "-o", tmp_path / "m")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"error: {bad}:4: ")
        assert done.stderr.count(b"\n") == 1
        assert not (tmp_path / "m").exists()

    @pytest.mark.parametrize(("tags", "kind"), [("xpos", "XPOS"), ("both", "XPOS")])
    def test_tags_that_are_not_there(self, train: Train, data: Path, tmp_path: Path, tags: str, kind: str) -> None:
        scripts = data / "scripts.conllu"
        wanted = f"{scripts}: this treebank has no {kind} tags; choose --tags upos or --tags none"
        assert train(scripts, "-o", tmp_path / "m", "--tags", tags).error == wanted
        for enough in ("upos", "none"):
            assert train(scripts, "-o", tmp_path / enough, "--tags", enough, "--epochs", "1").code == 0

    def test_unknown_words_and_crossing_trees_in_dev(self, train: Train, data: Path, tmp_path: Path) -> None:
        dev = data / "nonprojective.conllu"
        done = train(data / "multiword.conllu", "--dev", dev, "-o", tmp_path / "m", "--epochs", "1")
        assert done.code == 0
        assert "0 non-projective sentences (0.0 %) skipped" in done.stderr
        assert "dev: 3 sentences, 11 words, 81.8 % not seen in training" in done.stderr


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

    def test_all_at_once(self, train: Train, tmp_path: Path) -> None:
        vectors = tmp_path / "vectors.txt.gz"
        vectors.write_bytes(gzip.compress(b"the 0.5 1 2\ndog 3 -1 2\n"))
        done = train(
            *(TRAIN, "--out", tmp_path / "m", "--epochs", "1", "--seed", "7", "--tags", "both", "--preset", "htlstm"),
            *("--embeddings", vectors, "--freeze-embeddings", "--no-dynamic-oracle", "--licence", "CC0"),
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
    def test_more_of_them(self, train: Train, dev: Path, tmp_path: Path, options: list[str]) -> None:
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
            (["--embedding-bits", "4", "--embeddings", "v.txt"], "--embedding-bits is for vectors that are not"),
            (["--gold-tags"], "--gold-tags is for models with a tagger; "),
            (["--no-spaces"], "--no-spaces is for the tokenizer, which is not trained; leave it out, or name it"),
            (["--resume", "--overwrite"], "--resume goes on with a run and --overwrite replaces it; choose one"),
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

    def test_one_after_the_other(self, train: Train, tmp_path: Path) -> None:
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
        assert "warning: --set tokenizer.epochs is for the tokenizer, which is not trained\n" in done.stderr
        assert "warning: --set tagger" not in done.stderr  # which is what the folds are tagged with
        done = train(TRAIN, "-o", out, "--gold-tags", "--overwrite", *self.SMALL)
        assert done.code == 0
        assert "jackknife" not in done.stderr
        assert "warning: --set tagger.epochs is for the tagger, which is not trained\n" in done.stderr
        done = train(TRAIN, "-o", out, "--parts", "tagger", "--overwrite", *self.SMALL)
        assert done.stderr.endswith(f"to calibrate it again: easyfirst calibrate {out} DEV --predicted-tags\n")

    def test_a_bar_after_resuming(self, monkeypatch: pytest.MonkeyPatch) -> None:
        report = TrainingReport(is_quiet=True)
        bars: list[str] = []

        def bar(description: str) -> int:
            bars.append(description)
            return len(bars)

        monkeypatch.setattr(report, "bar", bar)
        part = report.part("tagger", 3)
        for epoch in (2, 3):
            for share in (0.5, 1.0):
                part.batch_end(epoch, share, {"loss": 0.1})
        assert bars == ["tagger"]


class TestAgain:
    """On a directory that has been trained into."""

    @pytest.fixture
    def out(self, train: Train, tmp_path: Path) -> Path:
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1").code == 0
        return tmp_path / "m"

    def test_refused(self, train: Train, out: Path) -> None:
        before = contents(out)
        error = train(TRAIN, "-o", out, "--epochs", "1").error
        assert error == f"{out}: a training run is there; continue with --resume, or start again with --overwrite"
        assert contents(out) == before

    def test_a_directory_with_something_else(self, train: Train, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        assert "exists already; choose another --out, or use --overwrite" in train(TRAIN, "-o", tmp_path).error
        assert contents(tmp_path) == {"notes.txt": b"mine"}

    def test_overwrite(self, train: Train, out: Path) -> None:
        before = contents(out)
        assert "epoch 1/1" in train(TRAIN, "-o", out, "--epochs", "1", "--seed", "2", "--overwrite").stderr
        after = contents(out)
        assert after.keys() == before.keys()
        assert after["weights.safetensors"] != before["weights.safetensors"]
        assert len(after["training/metrics.jsonl"].splitlines()) == 1

    def test_resume_with_more_epochs(self, train: Train, out: Path) -> None:
        done = train(TRAIN, "-o", out, "--epochs", "2", "--resume")
        assert done.code == 0
        assert "epoch 2/2" in done.stderr
        assert "epoch 1/2" not in done.stderr
        assert len((out / "training" / "metrics.jsonl").read_text().splitlines()) == 2

    def test_resume_of_a_finished_run(self, train: Train, out: Path) -> None:
        before = contents(out)
        done = train(TRAIN, "-o", out, "--epochs", "1", "--resume")
        assert done.code == 0
        assert "nothing to do after epoch 1; ask for more with --epochs\n" in done.stderr
        assert f"the model is in {out}\n" in done.stderr
        assert contents(out) == before

    def test_resume_with_something_else(self, train: Train, out: Path, dev: Path) -> None:
        before = contents(out)
        for arguments, message in (
            ([TRAIN, "--seed", "2"], "settings (training.seed was 1); resume with the same settings"),
            ([TRAIN, "--tags", "none"], "settings (network.tags was upos); resume with the same settings"),
            ([TRAIN, "--set", "network.window=1"], "settings (network.window was 2); resume with the same settings"),
            ([dev], "data (train); resume with the same data"),
            ([TRAIN, "--dev", dev], "data (dev was None); resume with the same data"),
        ):
            error = train(*arguments, "-o", out, "--epochs", "2", "--resume").error
            assert error.startswith(f"{out / 'training'}: was trained with other ")
            assert error.endswith(message)
        assert contents(out) == before

    def test_nothing_to_resume(self, train: Train, tmp_path: Path) -> None:
        error = train(TRAIN, "-o", tmp_path / "m", "--resume").error
        assert error.endswith("no checkpoint to resume from; start without --resume")
        assert not (tmp_path / "m").exists()


class TestInterrupt:
    @pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a single process on Windows")
    def test_as_a_process(self, tmp_path: Path) -> None:
        out = tmp_path / "m"
        command = [sys.executable, "-m", "easyfirst", "train", str(TRAIN), "-o", str(out), "--epochs", "1000", *TINY]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("train: ")
            assert process.stderr.readline().startswith("epoch 1/1000")
            process.send_signal(signal.SIGINT)
            *_, last = process.stderr.read().splitlines()
            assert process.wait(30) == 130
        assert last == f"stopped; continue with --resume (finished epochs are in {out})"
        load(out)
        assert not list(out.rglob("*.tmp"))

    def test_in_the_first_epoch(self, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("easyfirst.training.loop.TrainingLoop.epoch", interrupted)
        done = train(TRAIN, "-o", tmp_path / "m")
        assert done.code == 130
        assert done.stderr.endswith("\nstopped; no epoch was finished\n")


class TestTorch:
    """Only training needs it."""

    WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] == "torch" else find(name, path, target)
)
from easyfirst.cli import main

main()
"""

    def without_torch(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", self.WITHOUT_TORCH, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def test_missing(self, model: Path, data: Path, tmp_path: Path) -> None:
        done = self.without_torch("train", TRAIN, "-o", tmp_path / "m")
        assert done.returncode == 2
        assert done.stderr == 'error: training needs PyTorch; install it with: pip install "easyfirst[train]"\n'
        assert not (tmp_path / "m").exists()
        done = self.without_torch("parse", "-m", model, data / "multiword.conllu", "-q")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\troot\t") == 2

    def test_never_imported_by_the_others_nor_for_a_mistake(self, model: Path, data: Path, tmp_path: Path) -> None:
        gold = data / "multiword.conllu"
        code = (
            "import contextlib, sys\n"
            "import easyfirst, easyfirst.cli\n"
            "for arguments in sys.argv[1:]:\n"
            "    sys.argv = ['easyfirst', *arguments.split('|')]\n"
            "    with contextlib.suppress(SystemExit):\n"
            "        easyfirst.cli.main()\n"
            "for name in easyfirst.__all__:\n"
            "    getattr(easyfirst, name)\n"
            "assert 'numpy' in sys.modules\n"
            "assert not [name for name in sys.modules if name.partition('.')[0] == 'torch']\n"
            "assert not [name for name in sys.modules if name.startswith('easyfirst.training')]\n"
        )
        verbs = [
            f"parse|-m|{model}|{gold}|-q|-o|{tmp_path / 'out.conllu'}",
            f"evaluate|{gold}|{tmp_path / 'out.conllu'}|--json",
            f"evaluate|{gold}|--model|{model}|--json",
            f"info|{model}|--json",
            "train|--help",
            "train|treebank.conllu|-o|model|--set|network.depth=3",
        ]
        done = subprocess.run([sys.executable, "-c", code, *verbs], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("error: unknown setting network.depth")
        assert done.stderr.count("\n") == 1
        assert done.stdout.count('"conllx"') == 2
        assert '"needs_tags"' in done.stdout


class TestTreesInPart:
    def test_unknown_heads_cost_nothing(self, train: Train, tmp_path: Path, run: Run) -> None:
        """Half of the heads taken out of the toy treebank."""
        lines = TRAIN.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            cells = line.split("\t")
            if cells[0].isdigit() and number % 2:
                lines[number] = "\t".join([*cells[:6], "_", "_", *cells[8:]])
        path = tmp_path / "half.conllu"
        path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
        done = train(path, "-o", tmp_path / "m", "--epochs", "1")
        assert done.code == 0, done.stderr
        assert re.search(
            r"^in part: 1\d\d words have no head and cost nothing; \d sentences", done.stderr, re.MULTILINE
        )
        assert re.search(r"1\d\d words without a head", (tmp_path / "m" / "README.md").read_text(encoding="utf-8"))
        assert run("parse", "-m", tmp_path / "m", TRAIN, "-o", tmp_path / "out.conllu").returncode == 0

    def test_no_heads_at_all(self, train: Train, tmp_path: Path) -> None:
        path = tmp_path / "bare.conllu"
        path.write_text(FOX.replace("\t2\tnsubj", "\t_\t_").replace("\t0\troot", "\t_\t_"), encoding="utf-8")
        assert train(path, "-o", tmp_path / "m").error == f"{path}: no word has a HEAD, so there is nothing to learn"
        assert not (tmp_path / "m").exists()

    def test_dev_trees_must_be_whole(self, train: Train, tmp_path: Path) -> None:
        path = tmp_path / "dev.conllu"
        path.write_text(FOX.replace("\t2\tnsubj", "\t_\t_"), encoding="utf-8")
        error = train(TRAIN, "--dev", path, "-o", tmp_path / "m").error
        assert error.startswith(f"{path}:1: word 1 'foxes' has no head; a gold tree needs a HEAD for every word")
