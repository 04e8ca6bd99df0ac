"""``easyfirst parse`` as a process: bytes in, bytes out."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
BOM = b"\xef\xbb\xbf"
ROWS = b"1\tYes\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n2\tno\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n"


def blanked(content: bytes) -> bytes:
    """CoNLL-U with HEAD and DEPREL of every word taken out."""
    lines = [line.split(b"\t") for line in content.split(b"\n")]
    return b"\n".join(
        b"\t".join([*cells[:6], b"?", b"?", *cells[8:]] if cells[0].lstrip(BOM).isdigit() else cells) for cells in lines
    )


def sentences(content: bytes) -> list[Sentence]:
    """The sentences of an output, which all must have a tree."""
    found = list(ConlluReader(io.BytesIO(content), "output"))
    for sentence in found:
        check_tree(sentence)
    return found


class TestBytes:
    @pytest.mark.parametrize("name", ["multiword", "nonprojective", "scripts", "windows"])
    def test_only_head_and_deprel_change(self, run: Run, model: Path, data: Path, name: str) -> None:
        path = data / f"{name}.conllu"
        done = run("parse", "--model", model, path)
        assert done.returncode == 0
        assert blanked(done.stdout) == blanked(path.read_bytes())
        parses = load(model).parse(read_conllu(path))
        assert [(s.heads, s.relations) for s in sentences(done.stdout)] == [(p.heads, p.relations) for p in parses]

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\n",
            b"# only a comment\n",
            ROWS,
            ROWS.rstrip(b"\n"),
            ROWS + b"\n\n\n",
            b"\n\n" + ROWS + b"\n# end\n",
            ROWS.replace(b"\n", b"\r\n") + b"\r\n",
            BOM + ROWS + b"\n",
        ],
    )
    def test_what_surrounds_the_words_stays(self, run: Run, model: Path, content: bytes) -> None:
        done = run("parse", "-m", model, stdin=content)
        assert done.returncode == 0
        assert blanked(done.stdout) == blanked(content)

    def test_deps_are_of_conllu_alone(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "--deps", "--to", "json", stdin=ROWS)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: --deps is for CoNLL-U")

    def test_a_packed_file_is_called_so(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, stdin=lzma.compress(ROWS))
        assert done.returncode == 2
        assert done.stderr == b"error: <stdin>: this is an xz file; unpack it first: xz -dk FILE\n"

    def test_an_empty_name(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "")
        assert (done.returncode, done.stderr) == (2, b"error: the name of an input is empty; check the command\n")

    def test_deps(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "--deps", stdin=ROWS)
        for word in sentences(done.stdout)[0].words:
            assert word.deps == f"{word.head}:{word.relation}"

    def test_order_is_kept_whatever_the_batches(self, run: Run, model: Path) -> None:
        lengths = [3, 1, 40, 2, 7, 1, 19, 5] * 5
        text = "".join(" ".join(f"{n}.{i}" for i in range(length)) + "\n" for n, length in enumerate(lengths)).encode()
        outputs = [
            run("parse", "-m", model, "--from", "tokens", "--batch-size", size, "-q", stdin=text).stdout
            for size in ("1", "3", "256")
        ]
        assert [sentence.forms[0] for sentence in sentences(outputs[0])] == [f"{n}.0" for n in range(40)]
        assert len({blanked(output) for output in outputs}) == 1


class TestTokens:
    def test_words_are_separated_by_spaces_only(self, run: Run, model: Path) -> None:
        text = "The fox  jumps\n\n10\u00a0000 👩‍🍳 ספר\r\nYes".encode()
        done = run("parse", "-m", model, "--from", "tokens", stdin=text)
        assert done.returncode == 0
        forms = [sentence.forms for sentence in sentences(done.stdout)]
        assert forms == [("The", "fox", "jumps"), ("10\u00a0000", "👩‍🍳", "ספר"), ("Yes",)]

    def test_long_sentence(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "--from", "tokens", "-", stdin=b"word and " * 1000)
        assert [len(sentence) for sentence in sentences(done.stdout)] == [2000]

    @pytest.mark.parametrize("comment", [b"", b"# sent_id = 1\n"])
    def test_conllu_is_not_taken_for_tokens(self, run: Run, model: Path, comment: bytes) -> None:
        done = run("parse", "-m", model, "--from", "tokens", stdin=comment + ROWS)
        assert done.returncode == 2
        line = b"2" if comment else b"1"
        assert done.stderr == b"error: <stdin>:" + line + b": this looks like CoNLL-U; use --from conllu\n"


class TestSeveralInputs:
    def test_each_keeps_its_trailer(self, run: Run, model: Path, tmp_path: Path) -> None:
        contents = [ROWS + b"\n# end of one\n\n", b"", b"# nothing\n\n", ROWS + b"\n", b"\n"]
        paths = [tmp_path / f"{number}.conllu" for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        done = run("parse", "-m", model, *paths)
        assert blanked(done.stdout) == blanked(b"".join(contents))

    @pytest.mark.parametrize(
        ("first", "joint"),
        [
            (ROWS, b"\n"),
            (ROWS.rstrip(b"\n"), b"\n\n"),
            (ROWS.replace(b"\n", b"\r\n"), b"\r\n"),
            (ROWS + b"\n# end\n", b"\n"),
        ],
    )
    def test_sentences_do_not_run_together(
        self, run: Run, model: Path, tmp_path: Path, first: bytes, joint: bytes
    ) -> None:
        (tmp_path / "first").write_bytes(first)
        done = run("parse", "-m", model, tmp_path / "first", "-", stdin=BOM + ROWS)
        assert blanked(done.stdout) == blanked(first + joint + ROWS)
        assert len(sentences(done.stdout)) == 2

    def test_a_missing_one_is_noticed_before_anything_is_written(self, run: Run, model: Path, data: Path) -> None:
        done = run("parse", "-m", model, data / "multiword.conllu", data / "missing.conllu")
        assert (done.returncode, done.stdout) == (2, b"")


class TestOutput:
    def test_a_file(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, data / "multiword.conllu", "-o", tmp_path / "out.conllu")
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr.startswith(b"parsed 2 sentences, 16 words in ")
        assert blanked((tmp_path / "out.conllu").read_bytes()) == blanked((data / "multiword.conllu").read_bytes())
        assert [path.name for path in tmp_path.iterdir()] == ["out.conllu"]

    def test_quiet(self, run: Run, model: Path) -> None:
        assert run("parse", "-m", model, "--quiet", stdin=ROWS).stderr == b""

    def test_gzip(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in.gz").write_bytes(gzip.compress(ROWS))
        assert run("parse", "-m", model, tmp_path / "in.gz", "-o", tmp_path / "out.gz").returncode == 0
        assert blanked(gzip.decompress((tmp_path / "out.gz").read_bytes())) == blanked(ROWS)

    def test_the_input_itself(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "same.conllu"
        path.write_bytes(ROWS)
        path.chmod(0o640)
        assert run("parse", "-m", model, path, "-o", path).returncode == 0
        assert blanked(path.read_bytes()) == blanked(ROWS)
        assert path.read_bytes() != ROWS
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_failed_run_leaves_the_old_output(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "out.conllu"
        path.write_bytes(b"old")
        done = run("parse", "-m", model, "-o", path, stdin=ROWS + b"\nbroken\tline\n")
        assert done.returncode == 2
        assert path.read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == ["out.conllu"]

    def test_a_link_stays_a_link(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("target")
        assert run("parse", "-m", model, "-o", tmp_path / "link", stdin=ROWS).returncode == 0
        assert (tmp_path / "link").is_symlink()
        assert blanked((tmp_path / "target").read_bytes()) == blanked(ROWS)

    def test_a_device(self, run: Run, model: Path) -> None:
        assert run("parse", "-m", model, "-o", os.devnull, stdin=ROWS).returncode == 0

    def test_missing_directory(self, run: Run, model: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, "-o", tmp_path / "no" / "out", stdin=ROWS)
        assert done.returncode == 2
        assert b"there is no directory" in done.stderr

    def test_a_directory(self, run: Run, model: Path, tmp_path: Path) -> None:
        done = run("parse", "-m", model, "-o", tmp_path, stdin=ROWS)
        assert done.returncode == 2
        assert b"this is a directory" in done.stderr


class TestErrors:
    def error(self, done: subprocess.CompletedProcess[bytes]) -> str:
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert done.stderr.count(b"\n") == 1
        return done.stderr.decode()

    def test_missing_input(self, run: Run, model: Path) -> None:
        assert "missing.conllu: there is no such file" in self.error(run("parse", "-m", model, "missing.conllu"))

    def test_missing_model(self, run: Run, tmp_path: Path) -> None:
        assert "there is no model" in self.error(run("parse", "-m", tmp_path / "none", stdin=ROWS))

    def test_wrong_columns(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, stdin=ROWS + b"3\tx\n"))
        assert "<stdin>:3: 2 tab-separated columns where CoNLL-U has 10" in message
        assert "--from tokens" not in message

    def test_text_instead_of_conllu(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, stdin=b"The fox jumps\nYes\n"))
        assert "<stdin>:1: this is not CoNLL-U, which has ten columns" in message
        assert "use --from text" in message
        assert "use --from lines, or --from tokens" in message

    def test_a_text_where_a_file_is_to_be(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, "The fox jumps."))
        assert "The fox jumps.: there is no such file; check the name; to give the text itself, use --text" in message
        assert "--text" not in self.error(run("parse", "-m", model, "fox.conllu"))

    @pytest.mark.parametrize("options", [["--from", "tokens"], ["--to", "json"], ["--to", "tree"]])
    def test_an_input_is_not_replaced_by_another_format(
        self, run: Run, model: Path, tmp_path: Path, options: list[str]
    ) -> None:
        path, link = tmp_path / "input", tmp_path / "link"
        path.write_bytes(ROWS)
        link.symlink_to(path)
        for output in (path, link):
            message = self.error(run("parse", "-m", model, *options, path, "-o", output))
            assert message == f"error: {output}: this is also an input, and would be lost; choose another --output\n"
        assert path.read_bytes() == ROWS

    def test_conllu_may_be_parsed_in_place(self, run: Run, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "input"
        path.write_bytes(ROWS)
        assert run("parse", "-m", model, path, "-o", path).returncode == 0
        assert len(path.read_bytes().splitlines()) == len(ROWS.splitlines())

    def test_a_full_disk(self, run: Run, model: Path) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no device that is always full")
        command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model)]
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(command, input=ROWS, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        assert self.error(done) == "error: <stdout>: No space left on device\n"

    def test_spaces_instead_of_tabs(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, stdin=ROWS.replace(b"\t", b" ")))
        assert "use single tabs" in message
        assert "--from tokens" not in message

    def test_missing_tags(self, run: Run, xpos_model: Path, data: Path) -> None:
        message = self.error(run("parse", "-m", xpos_model, data / "scripts.conllu"))
        assert "scripts.conllu:3: the model needs XPOS tags" in message
        message = self.error(run("parse", "-m", xpos_model, "--from", "tokens", stdin=b"\na b\n"))
        assert "<stdin>:2: the model needs XPOS tags" in message

    def test_usage(self, run: Run, model: Path) -> None:
        assert run("parse", "-m", model, "--batch-size", "0").returncode == 2
        assert run("parse", "-m", model, "--from", "text").returncode == 2
        assert run("nothing").returncode == 2


class TestProcess:
    def test_streaming_one_by_one(self, model: Path) -> None:
        command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "--batch-size", "1", "-q"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin
            assert process.stdout
            for _ in range(3):
                process.stdin.write(ROWS + b"\n")
                process.stdin.flush()
                assert [process.stdout.readline()[:1] for _ in range(3)] == [b"1", b"2", b"\n"]
            process.stdin.close()
            assert process.wait(30) == 0

    def test_a_reader_that_stops(self, model: Path) -> None:
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
            assert process.wait(30) == 141

    @pytest.mark.skipif(os.name == "nt", reason="no such signals for a single process on Windows")
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_interrupt(self, model: Path, tmp_path: Path, number: signal.Signals, code: int) -> None:
        command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), "-o", str(tmp_path / "out")]
        pipe = subprocess.PIPE
        with subprocess.Popen([*command, "--batch-size", "1"], stdin=pipe, stderr=pipe) as process:
            assert process.stdin
            assert process.stderr
            process.stdin.write((ROWS + b"\n") * 2)
            process.stdin.flush()
            while not list(tmp_path.iterdir()):  # until it is at work
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
            assert process.wait(30) == code
            assert process.stderr.read() == b""
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on Windows")
    @pytest.mark.parametrize(("options", "has_columns"), [([], False), (["--deps"], True)])
    def test_a_terminal_gets_a_drawing_unless_a_column_is_asked_for(
        self, model: Path, options: list[str], has_columns: bool
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
    def test_progress_on_a_terminal(self, model: Path, data: Path, tmp_path: Path) -> None:
        master, slave = os.openpty()
        command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(model), str(data / "multiword.conllu")]
        subprocess.run([*command, "-o", str(tmp_path / "out")], stderr=slave, check=True)
        os.close(slave)
        shown = b""
        while b"parsed" not in shown:
            shown += os.read(master, 4096)
        os.close(master)
        assert b"16 words" in shown

    def test_threads(self, model: Path) -> None:
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


def test_help_has_examples(run: Run) -> None:
    assert "easyfirst parse --model my-model input.conllu -o output.conllu" in run("--help").stdout.decode()
    for verb in ("train", "parse", "evaluate", "info"):
        assert f"\n    easyfirst {verb} " in run(verb, "--help").stdout.decode().replace("\r\n", "\n")


def test_version(run: Run) -> None:
    assert run("--version").stdout == b"easyfirst 0.3.0.dev0\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_an_error_and_no_traceback(model: Path, data: Path) -> None:
    command = [sys.executable, "-m", "easyfirst", "parse", "--model", model, data / "windows.conllu"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr


def test_a_closed_input_is_an_error_and_no_traceback(model: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


@pytest.mark.parametrize("verb", ["parse --model", "info"])
def test_a_closed_output_is_an_error_and_no_traceback(model: Path, verb: str) -> None:
    command = f"exec {sys.executable} -m easyfirst {verb} '{model}' >&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: <stdout>: standard output is closed")


def test_a_closed_output_that_is_not_needed(model: Path, tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' -o '{tmp_path / 'out'}' >&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [len(sentence) for sentence in sentences((tmp_path / "out").read_bytes())] == [2]


def test_closed_errors_print_nothing(model: Path) -> None:
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}' 2>&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert done.returncode == 0
    assert [len(sentence) for sentence in sentences(done.stdout)] == [2]
    assert b"parsed" not in done.stdout
    command = f"exec {sys.executable} -m easyfirst parse --model '{model}/none' 2>&-"
    done = subprocess.run(["sh", "-c", command], input=ROWS, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


def test_tags_of_another_tagset_are_noticed(run: Run, xpos_model: Path, data: Path) -> None:
    content = (data / "multiword.conllu").read_bytes()
    assert b"warning" not in run("parse", "--model", xpos_model, stdin=content).stderr
    foreign = b"1\tYes\t_\t_\tFOREIGN\t_\t_\t_\t_\t_\n\n"
    done = run("parse", "--model", xpos_model, stdin=foreign)
    assert b"warning: the model does not know 100% of the XPOS tags" in done.stderr
    assert not run("parse", "--model", xpos_model, "--quiet", stdin=foreign).stderr
