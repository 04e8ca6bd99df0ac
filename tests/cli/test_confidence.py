"""``easyfirst calibrate``, and the confidence that a calibrated model reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from easyfirst.confidence.reliability import COVERAGES
from easyfirst.model.bundled import bundled_models
from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from tests.commands import Run
from tests.small_models import TREEBANK


@pytest.fixture(scope="module")
def calibrated(text_model: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    path = tmp_path_factory.mktemp("models") / "calibrated"
    shutil.copytree(text_model, path)
    done = run("calibrate", path, TREEBANK, "--predicted-tags")
    assert done.returncode == 0, done.stderr
    return path


class TestCalibrate:
    def test_what_it_writes(self, calibrated: Path, text_model: Path) -> None:
        calibration = load(calibrated).model.calibration
        assert calibration is not None
        assert calibration.fitted_on.tags == "predicted"
        assert calibration.fitted_on.file == TREEBANK.name
        assert (calibrated / "weights.safetensors").read_bytes() == (text_model / "weights.safetensors").read_bytes()
        assert "## Confidence" in (calibrated / "README.md").read_text(encoding="utf-8")
        assert {path.name for path in calibrated.iterdir()} - {path.name for path in text_model.iterdir()} == {
            "confidence.json"
        }

    def test_twice_is_the_same(self, calibrated: Path, tmp_path: Path, run: Run) -> None:
        shutil.copytree(calibrated, tmp_path / "again")
        done = run("calibrate", tmp_path / "again", TREEBANK, "--predicted-tags", "--json")
        assert json.loads(done.stdout)["arcs"]["count"] == sum(map(len, read_conllu(TREEBANK)))
        for name in ("confidence.json", "README.md"):
            assert (tmp_path / "again" / name).read_bytes() == (calibrated / name).read_bytes()

    def test_from_stdin(self, text_model: Path, tmp_path: Path, run: Run) -> None:
        shutil.copytree(text_model, tmp_path / "model")
        done = run("calibrate", tmp_path / "model", "-", stdin=TREEBANK.read_bytes())
        assert done.returncode == 0
        assert b"| arcs | " in done.stdout
        assert b"the calibration is in" in done.stderr

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", b"no sentences of two words"),
            (b"1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n", b"no sentences of two words"),
            (b"1\tYes\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n\n", b"<stdin>:1: word 1 'Yes' has no head"),
            (b"not conllu\n", b"<stdin>:1"),
        ],
    )
    def test_bad_input(self, text_model: Path, run: Run, content: bytes, message: bytes) -> None:
        done = run("calibrate", text_model, "-", stdin=content)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (text_model / "confidence.json").exists()

    def test_tags_without_a_tagger(self, model: Path, run: Run) -> None:
        done = run("calibrate", model, TREEBANK, "--predicted-tags")
        assert done.returncode == 2
        assert b"has no tagger to predict tags" in done.stderr

    def test_a_bundled_model_stays_as_it_is(self, run: Run) -> None:
        assert "en" in bundled_models()
        before = {path: path.read_bytes() for path in bundled_models()["en"].iterdir() if path.is_file()}
        done = run("calibrate", "en", "no-such-file.conllu")  # which is not read: nothing else keeps it from being done
        assert done.returncode == 2
        assert b"easyfirst pack en --out my-en" in done.stderr
        assert {path: path.read_bytes() for path in bundled_models()["en"].iterdir() if path.is_file()} == before

    def test_no_model(self, tmp_path: Path, run: Run) -> None:
        done = run("calibrate", tmp_path / "none", TREEBANK)
        assert done.returncode == 2
        assert b"there is no model" in done.stderr


class TestParse:
    def test_misc(self, calibrated: Path, run: Run) -> None:
        done = run("parse", "-m", calibrated, "--confidence", "-q", TREEBANK)
        assert done.returncode == 0
        expected = load(calibrated).parse(read_conllu(TREEBANK))
        assert done.stdout == b"".join(parse.to_bytes(confidence=True) for parse in expected)
        assert done.stdout.count(b"ArcConf=") == done.stdout.count(b"LabelConf=") == sum(map(len, expected))

    def test_of_text_and_again(self, calibrated: Path, run: Run) -> None:
        options = ("-m", calibrated, "--confidence", "--no-valid")  # a changed tag would be a given one the next time
        done = run("parse", *options, "--to", "conllu", "--text", "The fox likes apples.")
        assert b"|ArcConf=" in done.stdout  # after TokenRange
        again = run("parse", *options, "-q", stdin=done.stdout)
        assert again.stdout == done.stdout

    def test_pictures_take_it(self, calibrated: Path, run: Run) -> None:
        parsed = run("parse", "-m", calibrated, "--confidence", "-q", TREEBANK).stdout
        done = run("render", "--to", "html", stdin=parsed)
        assert done.returncode == 0
        assert b"confidence " in done.stdout
        assert b"the input has no steps" not in done.stdout

    def test_json_always_has_it(self, calibrated: Path, text_model: Path, run: Run) -> None:
        for path, is_there in ((calibrated, True), (text_model, False)):
            done = run("parse", "-m", path, "--to", "json", "-q", TREEBANK)
            first = max(map(json.loads, done.stdout.splitlines()), key=lambda found: len(found["words"]))
            assert (first["confidence"] is not None) == is_there
            assert (first["words"][0]["arc_confidence"] is not None) == is_there
            assert any(word["step"] == 1 for word in first["words"])

    def test_a_tree_with_per_cents(self, calibrated: Path, run: Run) -> None:
        done = run(
            "parse", "-m", calibrated, "--confidence", "--to", "tree", "-q", "--from", "tokens", stdin=b"a b c\n"
        )
        assert done.stdout.count(b"%") == 3

    def test_a_model_that_cannot(self, text_model: Path, run: Run, tmp_path: Path) -> None:
        done = run("parse", "-m", text_model, "--confidence", "-o", tmp_path / "out.conllu", TREEBANK)
        assert done.returncode == 2
        assert b"has no calibration" in done.stderr
        assert b"easyfirst calibrate" in done.stderr
        assert not (tmp_path / "out.conllu").exists()


class TestEvaluate:
    def test_table(self, calibrated: Path, run: Run) -> None:
        done = run("evaluate", TREEBANK, "--model", calibrated, "--predicted-tags", "--confidence")
        assert done.returncode == 0
        assert b"ECE" in done.stdout
        assert b"of all wrong heads" in done.stdout

    def test_nothing_is_cut(self, calibrated: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        text = run("evaluate", TREEBANK, "-m", calibrated, "--confidence").stdout.decode()
        assert "…" not in text
        tables = text[text.index("confidence ") :].splitlines()
        assert max(map(len, tables)) <= 80
        assert [len(line.split()) for line in tables if line.startswith("  arcs ")] == [4, 1 + len(COVERAGES)]

    def test_json(self, calibrated: Path, run: Run) -> None:
        done = run("evaluate", TREEBANK, "--model", calibrated, "--confidence", "--json")
        values = json.loads(done.stdout)
        assert values["confidence"]["arcs"]["accuracy"] == pytest.approx(values["full"]["UAS"] / 100)
        assert values["confidence"]["labels"]["accuracy"] == pytest.approx(values["full"]["LAS"] / 100)
        assert values["confidence"]["trees"]["accuracy"] == pytest.approx(values["exact"]["labelled"] / 100)

    def test_what_does_not_go_together(self, calibrated: Path, text_model: Path, run: Run) -> None:
        for arguments in ([TREEBANK], ["--model", calibrated, "--text"], ["--model", text_model]):
            done = run("evaluate", TREEBANK, *arguments, "--confidence")
            assert done.returncode == 2


def test_info(calibrated: Path, text_model: Path, run: Run) -> None:
    assert b"calibrated on handwritten.conllu (27 sentences, tags predicted)" in run("info", calibrated).stdout
    assert b"not calibrated" in run("info", text_model).stdout
    assert json.loads(run("info", calibrated, "--json").stdout)["confidence"]["sentences"] == 27


class TestExplain:
    def test_table(self, calibrated: Path, run: Run) -> None:
        done = run("explain", "-m", calibrated, "--from", "tokens", stdin=b"The fox likes apples\nYes\n")
        assert done.returncode == 0
        text = done.stdout.decode()
        assert text.startswith("The fox likes apples  (the whole tree: ")
        assert text.count("[") == 3
        assert "Yes  (the whole tree: 100 %)" in text

    def test_json_has_the_steps_of_parse(self, text_model: Path, run: Run) -> None:
        arguments = ("-m", text_model, "--to", "json", TREEBANK)
        parsed = [json.loads(line) for line in run("parse", "-q", "--batch-size", "1", *arguments).stdout.splitlines()]
        found = [json.loads(line) for line in run("explain", "-n", "2", *arguments).stdout.splitlines()]
        assert [{key: one[key] for key in one if key != "steps"} for one in found] == parsed
        assert parsed[0]["sent_id"] == "hand-01"
        for sentence in found:
            decided = {word["id"]: word | word.get("decided", {}) for word in sentence["words"]}
            for step in sentence["steps"]:
                assert len(step["runners_up"]) == 2
                word = decided[step["modifier"]]
                assert {key: word[key] for key in ("head", "relation", "step", "score", "margin", "label_margin")} == {
                    key: step[key] for key in ("head", "relation", "step", "score", "margin", "label_margin")
                }

    @pytest.mark.parametrize("source", ["text", "lines"])
    def test_text(self, text_model: Path, run: Run, source: str) -> None:
        done = run(
            "explain", "-m", text_model, "--from", source, "--to", "json", stdin=b"The fox jumps.\n\nIt likes apples.\n"
        )
        assert done.returncode == 0
        forms = [word["form"] for line in done.stdout.splitlines() for word in json.loads(line)["words"]]
        assert "".join(forms) == "Thefoxjumps.Itlikesapples."

    def test_page(self, text_model: Path, run: Run, tmp_path: Path) -> None:
        done = run(
            "explain", "-m", text_model, "-t", "The fox likes apples.", "--to", "html", "-o", tmp_path / "steps.html"
        )
        assert (done.returncode, done.stdout) == (0, b"")
        assert "runners-up" in (tmp_path / "steps.html").read_text(encoding="utf-8")

    def test_nothing(self, text_model: Path, run: Run) -> None:
        assert run("explain", "-m", text_model).stdout == b""

    @pytest.mark.parametrize(
        "arguments", [["-t", "x", "--from", "tokens"], ["-t", "x", "file"], ["none.conllu"], ["-n", "-1", "-t", "x"]]
    )
    def test_mistakes(self, text_model: Path, run: Run, arguments: list[str]) -> None:
        assert run("explain", "-m", text_model, *arguments).returncode == 2
