"""``easyfirst render``: CoNLL-U in, pictures out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner, Result

from easyfirst.cli import _Verbs
from easyfirst.cli.render import render
from easyfirst.render.displacy import to_displacy
from easyfirst.render.drawing import Drawing
from easyfirst.treebank.conllu import read_conllu

SVG = "{http://www.w3.org/2000/svg}"
ROWS = "1\tThe\t_\tDET\t_\t_\t2\tdet\t_\tArcConf=0.4|Step=1\n2\tfox\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"


def call(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """The verb, with the errors of the whole command."""
    app = typer.Typer(cls=_Verbs, rich_markup_mode=None, pretty_exceptions_enable=False, callback=lambda: None)
    app.command()(render)
    return CliRunner().invoke(app, ["render", *map(str, arguments)], input=stdin)


@pytest.fixture
def fox(tmp_path: Path) -> Path:
    path = tmp_path / "fox.conllu"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_trees_for_the_terminal_are_the_default(fox: Path) -> None:
    done = call(fox)
    assert done.exit_code == 0
    assert done.stdout == "╭─► The  DET   det   1  40 %\n╰── fox  NOUN  root\n\n"
    assert "\x1b" not in done.stdout
    assert call(stdin=ROWS.encode()).stdout == done.stdout


@pytest.mark.parametrize("options", [["--show", "lemma,feats"], ["--show", "lemma", "--show", "feats"]])
def test_columns_are_chosen(data: Path, options: list[str]) -> None:
    done = call(data / "multiword.conllu", "--sentence", "1", *options)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split()[-4:] == ["Do", "do", "Mood=Imp|VerbForm=Fin", "aux"]
    [picture] = json.loads(call(data / "multiword.conllu", "-s", "1", "--to", "displacy", *options).stdout)
    assert picture["words"][0] == {"text": "Do", "tag": "", "lemma": "do", "feats": "Mood=Imp|VerbForm=Fin"}
    for target in ("svg", "html", "latex", "dot"):
        shown = call(data / "multiword.conllu", "-s", "1", "--to", target, *options).stdout
        assert "Mood=Imp" in shown
        assert "AUX" not in shown


def test_columns_may_be_left_out(fox: Path) -> None:
    assert call(fox, "--show", "none").stdout.splitlines()[0] == "╭─► The  det   1  40 %"
    done = call(fox, "--show", "lema")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "'lema' is not a column that can be shown; choose lemma, upos, xpos, feats" in done.stderr


def test_width(data: Path) -> None:
    done = call(data / "nonprojective.conllu", "--width", "24")
    assert all(len(line) <= 24 for line in done.stdout.splitlines())


def test_one_sentence_as_svg(fox: Path, tmp_path: Path) -> None:
    root = ElementTree.fromstring(call(fox, "--to", "svg").stdout)
    assert [arc.get("data-modifier") for arc in root.iter(f"{SVG}g") if "arc" in arc.get("class", "").split()] == [
        "1",
        "2",
    ]
    target = tmp_path / "fox.svg"
    assert call(fox, "--to", "svg", "-o", target, "--theme", "dark").exit_code == 0
    assert "#17171c" in target.read_text(encoding="utf-8")
    assert not list(tmp_path.glob("*.tmp"))


def test_of_several_sentences_one_is_picked(data: Path) -> None:
    done = call(data / "scripts.conllu", "--to", "svg", "--sentence", "2")
    assert "تقرأ" in done.stdout
    done = call(data / "scripts.conllu", "--to", "svg", "--sentence", "99")
    assert done.exit_code == 2
    assert "there is no sentence 99" in done.stderr


def test_several_sentences_need_a_directory(data: Path, tmp_path: Path) -> None:
    done = call(data / "scripts.conllu", "--to", "svg")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "an SVG holds one sentence" in done.stderr
    assert "-o DIR" in done.stderr
    tmp_path = tmp_path / "made"
    assert call(data / "scripts.conllu", "--to", "svg", "-o", f"{tmp_path}/").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.svg", "2.svg", "3.svg", "4.svg"]
    for path, sentence in zip(sorted(tmp_path.iterdir()), read_conllu(data / "scripts.conllu"), strict=True):
        root = ElementTree.parse(path).getroot()
        forms = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "form"]
        assert forms == [form.replace("\x85", "\ufffd") for form in sentence.forms]


def test_a_picked_sentence_keeps_its_number_in_a_directory(data: Path, tmp_path: Path) -> None:
    assert call(data / "scripts.conllu", "--to", "svg", "-s", "3", "-o", tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["3.svg"]


def test_a_page(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "trees.html"
    assert call(data / "scripts.conllu", data / "nonprojective.conllu", "--to", "html", "-o", target).exit_code == 0
    page = target.read_text(encoding="utf-8")
    assert page.count("<svg ") == 7
    assert page.endswith("</html>\n")


def test_latex_and_dot(data: Path) -> None:
    document = call(data / "scripts.conllu", "--to", "latex").stdout
    assert document.startswith("\\documentclass")
    assert document.count("\\begin{dependency}") == document.count("\\end{dependency}") == 4
    assert document.endswith("\\end{document}\n")
    graphs = call(data / "scripts.conllu", "--to", "dot").stdout
    assert len(re.findall(r"^digraph ", graphs, re.MULTILINE)) == 4


def test_displacy(data: Path) -> None:
    made = json.loads(call(data / "scripts.conllu", "--to", "displacy").stdout)
    assert made == [to_displacy(Drawing.of(sentence)) for sentence in read_conllu(data / "scripts.conllu")]
    assert json.loads(call("--to", "displacy").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.conllu"], "missing.conllu: there is no such file"),
        (["-", "--to", "html", "-o", "no/where.html"], "there is no directory no for the output"),
        (["-", "--to", "svg", "-o", "/dev/null/in/"], "/dev/null/in/: the directory cannot be made: Not a directory"),
        (["-", "--to", "html", "-o", "."], "this is a directory; name a file"),
        (["-", "--to", "svg", "--width", "100"], "--width 100 is too little for svg"),
        (["-", "--to", "svg"], "the input has no sentence to draw"),
        (["-", "--to", "svg", "-o", "."], "the input has no sentence to draw"),
    ],
)
def test_errors_say_what_to_do(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_bad_file_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "trees.html"
    target.write_text("before", encoding="utf-8")
    done = call("--to", "html", "-o", target, stdin=ROWS.encode() + b"1\tx\t_\tX\t_\t_\t1\tx\t_\t_\n")
    assert done.exit_code == 2
    assert "<stdin>:4: word 1 has the head 1" in done.stderr
    assert target.read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["trees.html"]


def test_what_is_not_conllu_is_told_without_options_that_are_not_there() -> None:
    done = call(stdin=b"The fox jumps\n")
    assert done.exit_code == 2
    assert "<stdin>:1: this is not CoNLL-U" in done.stderr
    assert "--from" not in done.stderr


def test_help_has_examples() -> None:
    done = call("--help")
    assert done.exit_code == 0
    assert "easyfirst render trees.conllu -o trees.html" in done.stdout
