"""``easyfirst train``: what it reports, and the treebanks that it takes and refuses."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.tree import check_tree
from tests.cli.tiny_training import FOX, TINY, TRAIN, Done, Train
from tests.commands import Run, run_here

ONE_WORD = "1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
CROSSING = (
    "1\ta\t_\tX\tY\t_\t3\tx\t_\t_\n2\tb\t_\tX\tY\t_\t4\ty\t_\t_\n"
    "3\tc\t_\tX\tY\t_\t0\troot\t_\t_\n4\td\t_\tX\tY\t_\t3\tz\t_\t_\n\n"
)


class TestReport:
    def test_lines(self, train: Train, run: Run, dev: Path, tmp_path: Path) -> None:
        out = tmp_path / "m"
        done = train(TRAIN, "--dev", dev, "-o", out, "--epochs", "2")
        assert done.code == 0
        lines = done.stderr.splitlines()
        assert lines[0] == "train: 27 sentences, 233 words, 29 relations; 3 non-projective sentences (11.1 %)"
        crossing = "crossing arcs: 3 lifted; none can be restored: each kind is too rare"
        assert lines.pop(1) == crossing
        assert len(lines) == 5
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
        done = train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", "--no-dev")
        assert done.code == 0
        assert "dev" not in done.stderr.replace(str(tmp_path), "")
        assert "best" not in done.stderr

    def test_a_part_is_held_out(self, train: Train, tmp_path: Path) -> None:
        done = train(TRAIN, "-o", tmp_path / "m", "--epochs", "1")
        assert done.code == 0
        assert "no --dev: 3 of 27 sentences are held out" in done.stderr
        assert "best so far" in done.stderr

    def test_quiet(self, train: Train, tmp_path: Path) -> None:
        assert train(TRAIN, "-o", tmp_path / "m", "--epochs", "1", "--quiet") == Done(0, "")
        load(tmp_path / "m")

    def test_a_bar_on_a_terminal(self, dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        screen = Terminal()
        for name, value in {"TERM": "xterm", "COLUMNS": "150", "LINES": "40"}.items():
            monkeypatch.setenv(name, value)
        arguments = ("train", *TINY, TRAIN, "--dev", dev, "-o", tmp_path / "m", "--epochs", "2")
        assert run_here(*arguments, stderr=screen).returncode == 0
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
        for part in ("train: 27 sentences", "epoch 1/2", "epoch 2/2", "violations/sentence", "words/s", "best so far"):
            assert part in shown
        bar = r"epoch 2/2 ━+ loss \d\.\d{3}  \d+\.\d\d violations/sentence  [\d,]+ words/s 0:00:00"
        assert re.search(bar, shown)
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
            (ONE_WORD * 3, None, "no sentence of two words or more"),
            (FOX.replace("NOUN", "_").replace("VERB", "_"), None, "no UPOS; choose --tags xpos or none"),
        ],
        ids=["empty", "no root", "cycle", "two roots", "columns", "head", "one word", "no tags"],
    )
    def test_bad_treebanks(self, train: Train, tmp_path: Path, text: str, line: int | None, message: str) -> None:
        bad = tmp_path / "bad.conllu"
        bad.write_text(text, encoding="utf-8")
        error = train(bad, "-o", tmp_path / "m").error
        assert error.startswith(f"{bad}: " if line is None else f"{bad}:{line}: ")
        assert message in error
        if "two words" not in message:  # of dev only to be parsed
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

    def test_as_a_process(self, process: Run, tmp_path: Path) -> None:
        bad = tmp_path / "bad.conllu"
        bad.write_text(FOX + FOX.replace("\t0\troot", "\t1\troot"), encoding="utf-8")
        done = process("train", bad, "-o", tmp_path / "m")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"error: {bad}:4: ")
        assert done.stderr.count(b"\n") == 1
        assert not (tmp_path / "m").exists()

    @pytest.mark.parametrize(("tags", "kind"), [("xpos", "XPOS"), ("both", "XPOS")])
    def test_missing_tags(self, train: Train, data: Path, tmp_path: Path, tags: str, kind: str) -> None:
        scripts = data / "scripts.conllu"
        wanted = f"{scripts}: this treebank has no {kind}; choose --tags upos or none"
        assert train(scripts, "-o", tmp_path / "m", "--tags", tags).error == wanted
        for enough in ("upos", "none"):
            assert train(scripts, "-o", tmp_path / enough, "--tags", enough, "--epochs", "1").code == 0

    def test_unknown_words_and_crossing_trees_in_dev(self, train: Train, data: Path, tmp_path: Path) -> None:
        dev = data / "nonprojective.conllu"
        done = train(data / "multiword.conllu", "--dev", dev, "-o", tmp_path / "m", "--epochs", "1")
        assert done.code == 0
        assert "; 0 non-projective sentences (0.0 %)\n" in done.stderr
        assert "dev: 3 sentences, 11 words, 81.8 % not seen in training" in done.stderr

    def test_projective(self, train: Train, run: Run, tmp_path: Path) -> None:
        crossing = tmp_path / "crossing.conllu"
        crossing.write_text(CROSSING * 6 + FOX, encoding="utf-8")
        done = train(crossing, "-o", tmp_path / "m", "--epochs", "1")
        assert "; 6 non-projective sentences (85.7 %)\ncrossing arcs: 6 lifted; 6 of them" in done.stderr
        assert "can be restored, by 1 marked relation (scheme head)" in done.stderr
        shown = run("info", tmp_path / "m").stdout.decode()
        assert re.search(r"crossing +arcs are restored, by 1 marked relations \(scheme head\)", shown)
        assert re.search(r"relations +5: (nsubj|x|y|z| )+ root\n", shown)

        done = train(crossing, "-o", tmp_path / "p", "--epochs", "1", "--projective")
        assert "6 non-projective sentences (85.7 %) skipped\n" in done.stderr
        assert re.search(r"crossing +arcs are not restored", run("info", tmp_path / "p").stdout.decode())
        error = train(tmp_path / "crossing.conllu", "-o", tmp_path / "q", "--set", "training.crossing=all").error
        assert error == "training.crossing must be one of head, path, head+path, none"

    def test_only_crossing_trees(self, train: Train, tmp_path: Path) -> None:
        crossing = tmp_path / "crossing.conllu"
        crossing.write_text(CROSSING * 2, encoding="utf-8")
        assert train(crossing, "-o", tmp_path / "m", "--epochs", "1").code == 0
        error = train(crossing, "-o", tmp_path / "p", "--projective").error
        assert error == f"{crossing}: no projective sentence of two words or more to learn from"


class TestTreesInPart:
    def test_unknown_heads_cost_nothing(self, train: Train, tmp_path: Path, run: Run) -> None:
        """Train on the toy treebank without half of its heads."""
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
            r"^in part: 1\d\d words without a head, which cost nothing; \d sentences", done.stderr, re.MULTILINE
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
