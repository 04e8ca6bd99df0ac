"""The command as a process of its own: streams, signals, terminals, threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.cli.loading import VARIABLES, parser_threads
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
        "train TREEBANK -o MODEL --resume",
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
    command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "--batch-size", "1", "-q"]
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
@pytest.mark.parametrize("options", ["--batch-size 1", "--batch-size 2 --threads 3"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt(model: Path, tmp_path: Path, number: signal.Signals, code: int, options: str) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "-q", "-m", str(model), "-o", str(tmp_path / "out")]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *options.split()], stdin=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write((ROWS + b"\n") * 40)
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


def _variables(*arguments: str, environment: dict[str, str]) -> str:
    """Return the numbers of threads that a command leaves in the environment."""
    code = (
        "import sys, os; sys.argv = ['easyfirst', *sys.argv[1:]]\n"
        "from easyfirst.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, input=b"", capture_output=True, env=environment, check=True)
    return done.stdout.decode().split("\n")[-2]


CLEAN = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}


@pytest.mark.parametrize(
    ("options", "environment", "wanted"),
    [([], {}, "1 1"), ([], {"OMP_NUM_THREADS": "3"}, "3 3"), (["--threads", "2"], {"OMP_NUM_THREADS": "3"}, "2 2")],
)
def test_threads_of_the_linear_algebra(
    model: Path, options: list[str], environment: dict[str, str], wanted: str
) -> None:
    found = _variables("explain", "-m", str(model), *options, environment=CLEAN | environment)
    assert found == wanted
    found = _variables("parse", "-m", str(model), *options, environment=CLEAN | environment)
    assert found == "1 1"  # the threads that parse have one each


@pytest.mark.parametrize(
    ("given", "variable", "wanted"),
    [(3, "2", 3), (None, "2", 2), (None, " 4,2", 4), (None, "0", 7), (None, "many", 7), (None, None, 7)],
)
def test_threads_that_parse(
    given: int | None, variable: str | None, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(7)), raising=False)
    assert parser_threads(given) == wanted
    assert [os.environ[name] for name in VARIABLES] == ["1", "1", "1"]
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert parser_threads(None) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        "parse TREEBANK --to json --batch-size 4",
        "parse TREEBANK --constraints --confidence --batch-size 2",
        "parse --from text RAW --to json --batch-size 4",
        "parse --from lines RAW --batch-size 4",
        "parse TREEBANK TREEBANK BROKEN --batch-size 2",
        "evaluate TREEBANK --model en --json --confidence --predicted-tags",
        "evaluate TREEBANK --model en --json --text",
    ],
)
def test_the_output_is_the_same_for_any_number_of_threads(process: Run, tmp_path: Path, arguments: str) -> None:
    places = {"TREEBANK": TREEBANK, "RAW": tmp_path / "raw.txt", "BROKEN": tmp_path / "broken.conllu"}
    sentences = TREEBANK.read_text(encoding="utf-8").split("\n\n")
    lines = [line for sentence in sentences for line in sentence.split("\n") if line.startswith("# text = ")]
    places["RAW"].write_text("\n\n".join(line[9:] for line in lines), encoding="utf-8")
    places["BROKEN"].write_text("1\tbroken\n\n", encoding="utf-8")
    words = [places.get(word, word) for word in arguments.split()]
    one, three = (process(*words, "--threads", str(n)) for n in (1, 3))
    assert (three.returncode, three.stdout) == (one.returncode, one.stdout)
    assert one.stdout
    assert one.returncode == (2 if "BROKEN" in arguments else 0)


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "many"])
def test_no_such_number_of_threads(run: Run, model: Path, number: str) -> None:
    done = run("parse", "-m", model, "--threads", number)
    assert done.returncode == 2
    assert b"--threads" in done.stderr
