"""The command as a process of its own: streams, signals, terminals, threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.rows import ROWS
from tests.commands import Run
from tests.patience import PATIENCE, wait_until

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
TREEBANK = TOY / "handwritten.conllu"


@pytest.mark.parametrize(
    "arguments",
    [
        "--version",
        "parse -m MODEL --text A_fox. --to json",
        "parse -m MODEL -q TREEBANK",
        "parse -m MODEL --confidence TREEBANK",
        "evaluate TREEBANK TREEBANK --by-relation",
        "explain -m MODEL --text A_fox.",
        "render TREEBANK --to html",
        "info MODEL",
        "models",
        "serve -m MODEL --host no.such.host.invalid",
        "train TREEBANK -o OUT --epochs 0",
        "train TREEBANK -o OUT --resume",
        "combine MODEL MODEL -o OUT",
        "calibrate MODEL missing.conllu",
        "pack MODEL -o MODEL",
        "vectors missing.txt -o OUT.npz",
        "nothing",
    ],
)
def test_a_fresh_process_gives_the_same_as_this_one(
    run: Run, process: Run, text_model: Path, tmp_path: Path, arguments: str
) -> None:
    """The other tests run in this process, where all modules are imported and all variables set already."""
    places = {"MODEL": text_model, "TREEBANK": TREEBANK, "OUT": tmp_path / "out", "OUT.npz": tmp_path / "out.npz"}
    words = [places.get(word, word.replace("_", " ")) for word in arguments.split()]
    here, alone = (call(*words) for call in (run, process))
    assert (alone.returncode, alone.stdout, alone.stderr) == (here.returncode, here.stdout, here.stderr)
    assert not list(tmp_path.iterdir())


def test_streaming_one_by_one(model: Path) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "--batch-size", "1", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(3):
            process.stdin.write(ROWS + b"\n")
            process.stdin.flush()
            assert [process.stdout.readline()[:1] for _ in range(3)] == [b"1", b"2", b"\n"]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_a_closed_pipe(model: Path) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "--batch-size", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write((ROWS + b"\n") * 10)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 141


@pytest.mark.skipif(os.name == "nt", reason="no such signals for a single process on Windows")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt(model: Path, tmp_path: Path, number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "-o", str(tmp_path / "out")]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--batch-size", "1"], stdin=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write((ROWS + b"\n") * 2)
        process.stdin.flush()
        wait_until(lambda: list(tmp_path.iterdir()) or process.poll() is not None)  # the output has been begun
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        assert process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on Windows")
@pytest.mark.parametrize(("options", "has_columns"), [([], False), (["--deps"], True)])
def test_a_terminal_gets_a_drawing_unless_an_option_needs_columns(
    model: Path, options: list[str], has_columns: bool
) -> None:
    master, slave = os.openpty()
    command = [sys.executable, "-m", "easyfirst", "parse", "-q", "-m", str(model), *options]
    subprocess.run(command, input=ROWS, stdout=slave, check=True)
    os.close(slave)
    shown = os.read(master, 65536)
    os.close(master)
    assert b"Yes" in shown
    assert (b"0:root" in shown) == (b"\t" in shown) == has_columns


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on Windows")
def test_progress_on_a_terminal(model: Path, data: Path, tmp_path: Path) -> None:
    master, slave = os.openpty()
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), str(data / "multiword.conllu")]
    subprocess.run([*command, "-o", str(tmp_path / "out")], stderr=slave, check=True)
    os.close(slave)
    shown = b""
    while b"parsed" not in shown:
        shown += os.read(master, 4096)
    os.close(master)
    assert b"16 words" in shown


def test_threads(model: Path) -> None:
    code = (
        "import sys, os; sys.argv = ['easyfirst', *sys.argv[1:]]\n"
        "from easyfirst.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])"
    )
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for options, environment, wanted in (
        ([], clean, "1 1"),
        ([], clean | {"OMP_NUM_THREADS": "3"}, "3 3"),
        (["--threads", "2"], clean | {"OMP_NUM_THREADS": "3"}, "2 2"),
    ):
        command = [sys.executable, "-c", code, "parse", "-m", str(model), *options]
        done = subprocess.run(command, input=b"", capture_output=True, env=environment, check=True)
        assert done.stdout.decode().split("\n")[-2] == wanted
