"""``--constraints`` and ``--keep-heads`` of ``easyfirst parse`` and ``explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.rows import blanked, sentences
from tests.commands import Run

ROWS = (
    b"# text = Do salt the soup\r\n"
    b"1\tDo\t_\t_\t_\t_\t4\taux\t_\tFixedHead=2\r\n"
    b"2\tsalt\t_\t_\t_\t_\t_\t_\t_\t_\r\n"
    b"3-4\tthesoup\t_\t_\t_\t_\t_\t_\t_\tFixedHead=9\r\n"
    b"3\tthe\t_\t_\t_\t_\t_\tdet\t_\tForbiddenHead=4,2:det|FixedRel=punct|Bracket=1:3\r\n"
    b"4\tsoup\t_\t_\t_\t_\t0\troot\t_\tFixedHead=0|SpaceAfter=No\r\n"
    b"\r\n"
)
PLAIN = b"1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def test_misc_stays_as_it_is_and_is_obeyed_on_request(run: Run, model: Path) -> None:
    free, done = (run("parse", "-m", model, *option, stdin=ROWS + PLAIN) for option in ((), ("--constraints",)))
    assert done.returncode == free.returncode == 0
    assert blanked(done.stdout) == blanked(free.stdout) == blanked(ROWS + PLAIN)
    found, plain = sentences(done.stdout)
    assert (found.heads[0], found.heads[3], found.relations[2]) == (2, 0, "punct")
    assert found.heads[2] != 4
    assert plain.heads == (0,)


def test_heads_that_are_there_are_kept(run: Run, model: Path) -> None:
    done = run("parse", "-m", model, "--keep-heads", stdin=ROWS.replace(b"\tdet\t", b"\tpunct\t") + PLAIN)
    assert done.returncode == 0
    found, _ = sentences(done.stdout)
    assert (found.heads[0], found.relations[0]) == (4, "aux")
    assert (found.heads[3], found.relations[3], found.relations[2]) == (0, "root", "punct")


def test_json_says_what_was_fixed(run: Run, model: Path) -> None:
    done = run("parse", "-m", model, "--constraints", "--to", "json", stdin=ROWS)
    words = json.loads(done.stdout)["words"]
    assert [word["fixed"] for word in words] == [["head"], [], ["relation"], ["head"]]


def test_explanations(run: Run, model: Path) -> None:
    for option, heads in (("--constraints", {1: 2, 4: 0}), ("--keep-heads", {1: 4, 4: 0})):
        content = ROWS.replace(b"\tdet\t", b"\tpunct\t")
        done = run("explain", "-m", model, option, "--to", "json", "-n", "99", stdin=content)
        assert done.returncode == 0
        found = json.loads(done.stdout)
        assert {m: found["words"][m - 1]["head"] for m in heads} == heads
        others = [other for step in found["steps"] for other in step["runners_up"]]
        assert all(other["head"] == heads.get(other["modifier"], other["head"]) for other in others)
    done = run("explain", "-m", model, "--keep-heads", "--from", "tokens", stdin=b"a b\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: --keep-heads is for CoNLL-U")


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        (
            ["--constraints", "--keep-heads"],
            ROWS,
            "<stdin>:2: these cannot hold together: 1 'Do' has the head 4 'soup'",
        ),
        (["--constraints"], ROWS.replace(b"FixedHead=2", b"FixedHead=7"), "<stdin>:2: there is no arc from 7 to 1"),
        (["--constraints"], ROWS.replace(b"FixedHead=2", b"FixedHead=x"), "<stdin>:2: word 1 'Do': FixedHead is 'x'"),
        (
            ["--constraints"],
            ROWS.replace(b"FixedRel=punct", b"FixedRel=q"),
            "<stdin>:5: word 3 cannot have the relation",
        ),
        (["--constraints", "--from", "tokens"], b"a b\n", "--constraints is for CoNLL-U"),
        (["--keep-heads", "--text", "a b"], b"", "--keep-heads is for CoNLL-U"),
    ],
)
def test_mistakes(run: Run, model: Path, tmp_path: Path, options: list[str], content: bytes, message: str) -> None:
    output = tmp_path / "out.conllu"
    output.write_bytes(b"old")
    done = run("parse", "-q", "-m", model, "-o", output, *options, stdin=content)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"error: {message}")
    assert done.stderr.count(b"\n") == 1
    assert output.read_bytes() == b"old"
