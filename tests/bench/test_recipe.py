"""The scripts that docs/recipe.md tells the owners of PTB and CTB to use, and one that looks into a finding."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import by_modifiers
import check_split
import experiments
import pytest
import render
import score_by_tags
from results import Results

from easyfirst.errors import InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Tally
from easyfirst.treebank.tree import Tree

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "bench" / "tables"
TOY = ROOT / "examples" / "toy"
RECIPE = ROOT / "docs" / "recipe.md"


def test_tables_of_ones_own(tmp_path: Path) -> None:
    """What the page shows is read as it says."""
    page = RECIPE.read_text(encoding="utf-8")
    for name in ("mine-treebanks.toml", "mine.toml"):
        [block] = re.findall(rf"<!-- {re.escape(name)} -->\n```toml\n(.*?)```", page, re.DOTALL)
        (tmp_path / name).write_text(block, encoding="utf-8")
    plan = experiments.read_plan([tmp_path / "mine.toml"], tmp_path / "mine-treebanks.toml")
    runs = {run.name: run for run in plan.runs()}
    plain, wide, none = (f"sizes.{row}.de.1" for row in ("plain", "wide", "none"))
    assert {*runs} == {plain, wide, none, "sizes.plain.de.2", "sizes.wide.de.2", "sizes.together.de.1+2"}
    assert runs[plain].options == {"embeddings": "{vectors}", "epochs": 8, "preset": "paper", "tags": "upos"}
    assert runs[wide].settings == {"network.tree_dim": 300, "network.window": 2}
    assert "embeddings" not in runs[none].options
    assert runs[plain].minutes == 30
    text = render.page(plan, Results(tmp_path / "none.jsonl"), None)
    assert "\n## How wide must trees be?\n\nEight epochs.\n" in text


def test_counts(tmp_path: Path) -> None:
    crossing = "".join(
        f"{m}\tw{m}\t_\tX\tY{m}\t_\t{h}\tr{m}\t_\t_\n" for m, h in enumerate((3, 4, 0, 3), 1)
    )  # 2 -> 4 crosses 1 -> 3
    path = tmp_path / "a.conllu"
    path.write_text(f"{crossing}\n1\tyes\t_\tX\tY\t_\t0\tr3\t_\t_\n\n", encoding="utf-8")
    counts = check_split.count(path)
    assert counts.values == {"sentences": 2, "words": 5, "relations": 4, "UPOS": 1, "XPOS": 5}
    assert counts.non_projective_sentences == 50
    command = [sys.executable, str(TABLES / "check_split.py"), *[str(path)] * 3]
    assert subprocess.run(command, check=True, capture_output=True).stdout.count(b"words 5,") == 3
    done = subprocess.run([*command, "--treebank", "ptb"], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "words 5 (WRONG: 950,028)" in done.stdout
    assert "relations 4 (check: 45 expected)" in done.stdout
    assert subprocess.run([*command, "--treebank", "ctb"], check=False, capture_output=True).returncode == 0
    (tmp_path / "empty.conllu").touch()
    for name, said in (("empty.conllu", "has no sentences"), ("none.conllu", "none.conllu")):
        wrong = [*command[:-1], str(tmp_path / name), "--treebank", "ctb"]
        done = subprocess.run(wrong, check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_scores_by_tags(tmp_path: Path) -> None:
    gold = "1\ta\t_\t_\tNN\t_\t2\tx\t_\t_\n2\tb\t_\t_\tVB\t_\t0\troot\t_\t_\n3\t``\t_\t_\t``\t_\t2\tp\t_\t_\n\n"
    system = gold.replace("2\tx", "2\ty").replace("2\tp", "1\tp")
    for name, text in (("gold", gold), ("system", system)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [list(read_conllu(tmp_path / name)) for name in ("gold", "system")]
    tally = score_by_tags.score(*files, {"``"})
    assert (tally.words, tally.heads, tally.labelled) == (2, 2, 1)
    with pytest.raises(InputError, match="no word has the XPOS tag PU"):
        score_by_tags.score(*files, {"``", "PU"})
    with pytest.raises(InputError, match="1 gold sentences and 0"):
        score_by_tags.score(files[0], [], {"``"})
    command = [sys.executable, str(TABLES / "score_by_tags.py"), str(tmp_path / "gold"), str(tmp_path / "none")]
    done = subprocess.run([*command, "--tags", "PU"], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_jackknifed_tags(toys: Path) -> None:
    train = TOY / "handwritten.conllu"
    command = [sys.executable, str(TABLES / "jackknife_tags.py"), "--train", str(train)]
    command += ["--dev", str(toys / "dev.conllu"), "--test", str(toys / "test.conllu")]
    command += ["--out", str(toys / "tagged"), "--folds", "2", "--epochs", "1"]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    made, gold = list(read_conllu(toys / "tagged" / "train.conllu")), list(read_conllu(train))
    assert [sentence.forms for sentence in made] == [sentence.forms for sentence in gold]
    assert [sentence.heads for sentence in made] == [sentence.heads for sentence in gold]
    assert all("_" not in sentence.upos for sentence in made)
    folds = json.loads((toys / "tagged" / "jackknife" / "fold-1.json").read_bytes())
    assert folds["tags"]


def test_mistakes_before_tags_are_learnt(toys: Path) -> None:
    def said(*options: str) -> str:
        command = [sys.executable, str(TABLES / "jackknife_tags.py"), "--out", str(toys / "tagged")]
        for name in ("train", "dev", "test"):
            command += [f"--{name}", str(toys / f"{name}.conllu")]
        done = subprocess.run([*command, *options], check=False, capture_output=True, text=True)
        assert (done.returncode, (toys / "tagged").exists()) == (2, False)
        assert "Traceback" not in done.stderr
        return done.stderr

    assert "no such file" in said("--test", str(toys / "none.conllu"))
    assert "--folds: at least 2" in said("--folds", "1")
    assert "as many as sentences, 2" in said("--folds", "3")
    assert "--jobs and --epochs" in said("--jobs", "0", "--folds", "2")
    assert "would be overwritten" in said("--out", str(toys))


def test_scores_by_modifiers(tmp_path: Path) -> None:
    heads, relations = (2, 3, 0, 5, 3, 3), ("case", "obl:tmod", "root", "amod", "obj", "punct")
    forms = ("on", "Monday", "saw", "old", "friends", ".")
    words = enumerate(zip(forms, heads, relations, strict=True), 1)
    lines = [f"{m}\t{form}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_\n" for m, (form, head, relation) in words]
    path = tmp_path / "gold.conllu"
    path.write_text("".join(lines) + "\n", encoding="utf-8")
    [gold] = read_conllu(path)
    nothing, functions, others = by_modifiers.GROUPS
    assert by_modifiers.groups(gold) == [nothing, functions, others, nothing, others, nothing]
    system = Tree((3, 3, 0, 5, 3, 2), ("case", "obl", "root", "det", "obj", "punct"))
    counts = by_modifiers.tallies([gold], [system])
    assert counts == {nothing: Tally(2, 1, 0), functions: Tally(1, 1, 0), others: Tally(2, 2, 2)}
    header, rows = by_modifiers.table(["rows.a"], {"en": {"rows.a": counts}})
    assert header == ["", "the word has", "words", "rows.a"]
    assert rows[0] == ["en", nothing, "40 %", "50.0 / 0.0"]
