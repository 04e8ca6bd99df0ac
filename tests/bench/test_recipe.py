"""The scripts that docs/development/recipe.md describes for PTB and CTB, and the analysis by modifiers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from bench.tables import by_modifiers, check_split, jackknife_tags, render, score_by_tags
from bench.tables.plan_files import read_plan
from bench.tables.records import Results
from easyfirst.errors import InputError
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.scores import Tally
from easyfirst.treebank.tree import Tree
from tests.bench.toy_runs import run_module

ROOT = Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "examples" / "toy"
RECIPE = ROOT / "docs" / "development" / "recipe.md"


def test_tables_of_ones_own(tmp_path: Path) -> None:
    """The example files of the page declare what the page says."""
    page = RECIPE.read_text(encoding="utf-8")
    for name in ("mine-treebanks.toml", "mine.toml"):
        [block] = re.findall(rf"<!-- {re.escape(name)} -->\n```toml\n(.*?)```", page, re.DOTALL)
        (tmp_path / name).write_text(block, encoding="utf-8")
    plan = read_plan([tmp_path / "mine.toml"], tmp_path / "mine-treebanks.toml")
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
    command = ["tables.check_split", *[str(path)] * 3]
    assert run_module(*command).stdout.count("words 5,") == 3
    done = run_module(*command, "--treebank", "ptb")
    assert done.returncode == 1
    assert "words 5 (WRONG: 950,028)" in done.stdout
    assert "relations 4 (check: 45 expected)" in done.stdout
    assert run_module(*command, "--treebank", "ctb").returncode == 0
    (tmp_path / "empty.conllu").touch()
    for name, message in (("empty.conllu", "has no sentences"), ("none.conllu", "none.conllu")):
        done = run_module(*command[:-1], str(tmp_path / name), "--treebank", "ctb")
        assert done.returncode == 2
        assert message in done.stderr
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
    with pytest.raises(InputError, match="cannot compare 1 gold sentences with 0"):
        score_by_tags.score(files[0], [], {"``"})
    done = run_module("tables.score_by_tags", str(tmp_path / "gold"), str(tmp_path / "none"), "--tags", "PU")
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_jackknifed_tags(toys: Path) -> None:
    """Tag a treebank that has only XPOS, like PTB; stop, and resume."""
    shutil.copy(TOY / "handwritten.conllu", toys / "train.conllu")
    for path in (toys / f"{name}.conllu" for name in jackknife_tags.PARTS):
        path.write_bytes(re.sub(rb"(?m)^(\d+\t[^\t]+\t[^\t]+\t)[A-Z]+", rb"\1_", path.read_bytes()))
    command = ["tables.jackknife_tags", *(f"--{name}={toys / name}.conllu" for name in jackknife_tags.PARTS)]
    command += ["--out", str(toys / "tagged"), "--folds", "2", "--epochs", "1"]
    first = run_module(*command)
    assert first.returncode == 0, first.stderr
    for name in jackknife_tags.PARTS:
        made, gold = (list(read_conllu(folder / f"{name}.conllu")) for folder in (toys / "tagged", toys))
        assert [sentence.forms for sentence in made] == [sentence.forms for sentence in gold]
        assert [sentence.heads for sentence in made] == [sentence.heads for sentence in gold]
        assert all({*sentence.upos} == {"_"} for sentence in made)
        assert all("_" not in sentence.xpos for sentence in made)
    before = (toys / "tagged" / "train.conllu").read_bytes()
    fold = toys / "tagged" / "jackknife" / "fold-1.json"
    when = fold.stat().st_mtime_ns
    (toys / "tagged" / "train.conllu").unlink()
    assert run_module(*command).stdout == first.stdout
    assert (toys / "tagged" / "train.conllu").read_bytes() == before
    assert fold.stat().st_mtime_ns == when
    other = run_module(*command, "--folds", "3")
    assert other.returncode == 2
    assert "(to start over, give another --out)" in other.stderr


JAVA = r"""#!/bin/sh
if [ "$1" = -jar ]; then  # Penn2Malt: words, tags, heads and relations
    awk 'BEGIN { OFS = "\t" } { print $0, "NN", 0, "ROOT"; print "" }' "$3" > "$3.3.pa.gs.tab"
else  # the Stanford Parser, whose last argument is a file
    for file; do :; done
    awk 'BEGIN { OFS = "\t" } { print 1, $0, "_", "NN", "NN", "_", 0, "root", "_", "_"; print "" }' "$file"
fi
"""
"""A stand-in for the converters: the "trees" of the test are words, one per line."""


def converted(tmp_path: Path, heading: str, **folders: Path) -> dict[str, list[str]]:
    """Run the commands of a section of the recipe, and return the words of each part."""
    section = RECIPE.read_text(encoding="utf-8").partition(f"\n## {heading}")[2].partition("\n## ")[0]
    script = textwrap.dedent(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0])
    (tmp_path / "java").write_text(JAVA, encoding="utf-8")
    (tmp_path / "java").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    environment |= {name: str(folder) for name, folder in folders.items()}
    done = subprocess.run(["bash", "-eu", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, list[str]] = {}
    for path in tmp_path.rglob("*.conllu"):
        sentences = list(read_conllu(path))
        assert all((*s.upos, *s.xpos, *s.heads) == ("_", "NN", 0) for s in sentences)
        found[path.stem] = [form for sentence in sentences for form in sentence.forms]
    return found


def test_conversion_of_ptb(tmp_path: Path) -> None:
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02d}"
        folder.mkdir(parents=True)
        (folder / f"wsj_{section:02d}01.mrg").write_text(f"w{section}\n", encoding="utf-8")
    parts = converted(tmp_path, "PTB", WSJ=tmp_path / "wsj")
    assert parts == {"train": [f"w{section}" for section in range(2, 22)], "dev": ["w22"], "test": ["w23"]}


@pytest.mark.skipif(shutil.which("iconv") is None, reason="iconv is not installed")
def test_conversion_of_ctb(tmp_path: Path) -> None:
    """File numbers have three or four digits; lines in angle brackets are removed."""
    folder = tmp_path / "bracketed"
    folder.mkdir()
    for number in (1, 815, 816, 885, 886, 931, 932, 1000, 1001, 1136, 1137, 1147, 1148, 1151, 1152):
        name = f"chtb_{number:03d}.fid" if number < 1000 else f"chtb_{number}.nw"
        (folder / name).write_bytes(f"<DOC>\n<S ID=1>\n中{number}\n</S>\n</DOC>\n".encode("gb18030"))
    parts = converted(tmp_path, "CTB 5", BRACKETED=folder)
    assert parts == {
        "train": ["中1", "中815", "中1001", "中1136"],
        "dev": ["中886", "中931", "中1148", "中1151"],
        "test": ["中816", "中885", "中1137", "中1147"],
    }


def test_mistakes_before_taggers_are_trained(toys: Path) -> None:
    def message(*options: str) -> str:
        command = ["tables.jackknife_tags", "--out", str(toys / "tagged")]
        for name in ("train", "dev", "test"):
            command += [f"--{name}", str(toys / f"{name}.conllu")]
        done = run_module(*command, *options)
        assert (done.returncode, (toys / "tagged").exists()) == (2, False)
        assert "Traceback" not in done.stderr
        return done.stderr

    assert "no such file" in message("--test", str(toys / "none.conllu"))
    assert "--folds must be from 2" in message("--folds", "1")
    assert "the number of sentences, 2" in message("--folds", "3")
    assert "--jobs and --epochs" in message("--jobs", "0", "--folds", "2")
    assert "would be overwritten" in message("--out", str(toys))


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
