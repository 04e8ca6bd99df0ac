"""LaTeX, DOT and displaCy: read back piece by piece, and given to the programs they are for where these are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

from easyfirst.render.displacy import to_displacy
from easyfirst.render.dot import draw_dot
from easyfirst.render.drawing import Drawing
from easyfirst.render.latex import HEAD, TAIL, draw_latex, escape_latex
from tests.patience import PATIENCE
from tests.render.drawings import FOX, HEBREW, NASTY, drawings

NASTY_TREE = Drawing(NASTY, [*range(2, len(NASTY) + 1), 0], NASTY, NASTY, title=NASTY[0])


def test_latex() -> None:
    plain = Drawing(FOX.forms, FOX.heads, FOX.relations, FOX.tags)
    assert draw_latex(plain) == "\n".join(
        [
            r"\begin{dependency}",
            r"  \begin{deptext}[column sep=0.6em]",
            r"    The \& black \& fox \& likes \& apples \\",
            r"    DET \& ADJ \& NOUN \& VERB \& NOUN \\",
            r"  \end{deptext}",
            r"  \depedge{3}{1}{det}",
            r"  \depedge{3}{2}{amod}",
            r"  \depedge{4}{3}{nsubj}",
            r"  \deproot{4}{root}",
            r"  \depedge{4}{5}{obj}",
            "\\end{dependency}\n",
        ]
    )


def test_latex_shows_confidence_and_steps() -> None:
    edge = draw_latex(FOX).splitlines()[-2]
    assert edge == (
        r"  \depedge[edge style={draw={rgb,255:red,178;green,24;blue,43}, dashed}]{4}{5}{obj\textsuperscript{3}}"
    )


def test_latex_from_right_to_left() -> None:
    lines = draw_latex(HEBREW).splitlines()
    assert lines[2].split() == [")", r"\&", "ספר", r"\&", "(", r"\&", "קוראת", r"\&", "הילדה", r"\\"]
    assert r"  \depedge{4}{5}{nsubj}" in lines


@settings(max_examples=60, deadline=None)
@given(drawings(max_words=6))
def test_nothing_in_a_sentence_is_a_command_of_latex(drawing: Drawing) -> None:
    """What is left when all that escaping makes is taken out has no character that means something."""
    for text in (*drawing.forms, *drawing.relations):
        made = r"\\text[a-z]+\{\}|\\char38\{\}|\\[{}$#%_]|\{[][]\}|[-'`,!?]\{\}"
        rest = re.sub(made, "", escape_latex(text or ""))
        assert not set(rest) & set("\\{}$&#%_^~[]|\n\r\t\0")
    cells = draw_latex(drawing).splitlines()[2]
    assert cells.count(r"\&") == len(drawing) - 1
    assert cells.count(r"\\") == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xelatex") is None, reason="no XeLaTeX is installed")
def test_latex_compiles(tmp_path: Path) -> None:
    if subprocess.run(["kpsewhich", "tikz-dependency.sty"], capture_output=True, check=False).returncode:
        pytest.skip("LaTeX has no tikz-dependency")
    (tmp_path / "trees.tex").write_text(
        HEAD + draw_latex(FOX) + draw_latex(NASTY_TREE) + draw_latex(HEBREW) + TAIL, encoding="utf-8"
    )
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "trees.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert b"Output written on trees.pdf (3 pages" in done.stdout.replace(b"\n", b" ")


def test_dot() -> None:
    lines = draw_dot(FOX).splitlines()
    assert lines[0] == 'digraph "fox-1" {'
    assert r'  w1 [label="The\nDET"];' in lines
    assert '  w3 -> w1 [label="det 2", color="#053061", fontcolor="#053061", tooltip="99 %"];' in lines
    assert ('  w4 -> w5 [label="obj 3", color="#b2182b", fontcolor="#b2182b", tooltip="25 %", style=dashed];') in lines
    assert '  root4 -> w4 [label="root", color="#b35806", fontcolor="#b35806", tooltip="60 %"];' in lines
    assert lines[-1] == "}"


QUOTED = r'"(?:[^"\\\n]|\\.)*"'
STATEMENT = re.compile(
    rf"digraph {QUOTED} \{{|  ordering=out;|  (node|edge) \[\w+=\w+\];|\}}"
    rf"|  (w|root)\d+( -> w\d+)? \[\w+=({QUOTED}|\w+)(, \w+=({QUOTED}|\w+))*\];"
)


@settings(max_examples=60, deadline=None)
@given(drawings(max_words=6))
def test_nothing_in_a_sentence_is_a_statement_of_dot(drawing: Drawing) -> None:
    lines = draw_dot(drawing).split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert STATEMENT.fullmatch(line), line
    arcs = {tuple(map(int, found.groups())) for line in lines if (found := re.match(r"  w(\d+) -> w(\d+) ", line))}
    assert arcs == set(drawing.arcs)


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz is installed")
def test_graphviz_reads_it() -> None:
    graphs = "".join(draw_dot(drawing) for drawing in (FOX, NASTY_TREE))
    done = subprocess.run(["dot", "-Tplain"], input=graphs.encode(), capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    edges = [line.split()[1:3] for line in done.stdout.decode().splitlines() if line.startswith("edge ")]
    assert edges[:5] == [["w3", "w1"], ["w3", "w2"], ["w4", "w3"], ["w4", "w5"], ["root4", "w4"]]
    assert len(edges) == 5 + len(NASTY)


def test_displacy() -> None:
    assert to_displacy(Drawing(FOX.forms[:3], [3, 3, 0], ["det", "amod", "root"], FOX.tags and FOX.tags[:3])) == {
        "words": [
            {"text": "The", "tag": "DET"},
            {"text": "black", "tag": "ADJ"},
            {"text": "fox", "tag": "NOUN"},
        ],
        "arcs": [
            {"start": 0, "end": 2, "label": "det", "dir": "left"},
            {"start": 1, "end": 2, "label": "amod", "dir": "left"},
        ],
    }
    assert to_displacy(FOX)["arcs"][3] == {
        "start": 3,
        "end": 4,
        "label": "obj",
        "dir": "right",
        "confidence": 0.25,
        "step": 3,
    }
    assert to_displacy(HEBREW)["settings"] == {"direction": "rtl"}


@settings(max_examples=60, deadline=None)
@given(drawings(max_words=6))
def test_displacy_is_json_and_keeps_the_arcs(drawing: Drawing) -> None:
    made = json.loads(json.dumps(to_displacy(drawing)))
    arcs = {
        (arc["end"] + 1, arc["start"] + 1) if arc["dir"] == "left" else (arc["start"] + 1, arc["end"] + 1)
        for arc in made["arcs"]
    }
    assert arcs == set(drawing.arcs)
    assert all(arc["start"] < arc["end"] for arc in made["arcs"])
