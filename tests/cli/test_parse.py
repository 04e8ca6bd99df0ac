"""``easyfirst parse``: bytes in, bytes out, and what is refused."""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conllu import read_conllu
from tests.cli.rows import BOM, ROWS, blanked, sentences
from tests.commands import Run


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
            b"# newdoc\n",
            ROWS,
            ROWS.rstrip(b"\n"),
            ROWS + b"\n\n\n",
            b"\n\n" + ROWS + b"\n# end\n",
            ROWS.replace(b"\n", b"\r\n") + b"\r\n",
            BOM + ROWS + b"\n",
        ],
    )
    def test_bytes_around_the_words_are_kept(self, run: Run, model: Path, content: bytes) -> None:
        done = run("parse", "-m", model, stdin=content)
        assert done.returncode == 0
        assert blanked(done.stdout) == blanked(content)

    def test_deps_need_conllu_output(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "--deps", "--to", "json", stdin=ROWS)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: --deps is for CoNLL-U")

    def test_a_compressed_input_is_named(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, stdin=lzma.compress(ROWS))
        assert done.returncode == 2
        assert done.stderr == b"error: <stdin>: this is an xz file; unpack it first: xz -dk FILE\n"

    def test_an_empty_name(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "")
        assert (done.returncode, done.stderr) == (2, b"error: the name of an input is empty; check the command\n")

    def test_deps(self, run: Run, model: Path) -> None:
        done = run("parse", "-m", model, "--deps", stdin=ROWS)
        for word in sentences(done.stdout)[0].words:
            assert word.deps == f"{word.head_id}:{word.relation}"

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

    def test_a_missing_input_is_reported_before_anything_is_written(self, run: Run, model: Path, data: Path) -> None:
        done = run("parse", "-m", model, data / "multiword.conllu", data / "missing.conllu")
        assert (done.returncode, done.stdout) == (2, b"")


class TestErrors:
    def error(self, done: subprocess.CompletedProcess[bytes]) -> str:
        assert done.returncode == 2
        *notes, message = done.stderr.decode().splitlines(keepends=True)
        assert message.startswith("error: ")
        assert all(note.startswith("reading ") for note in notes)
        return message

    def test_missing_input(self, run: Run, model: Path) -> None:
        assert "missing.conllu: there is no such file" in self.error(run("parse", "-m", model, "missing.conllu"))

    def test_missing_model(self, run: Run, tmp_path: Path) -> None:
        assert "there is no model" in self.error(run("parse", "-m", tmp_path / "none", stdin=ROWS))

    def test_wrong_columns(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, stdin=ROWS + b"3\tx\n"))
        assert "<stdin>:3: 2 tab-separated columns where CoNLL-U has 10" in message
        assert "--from tokens" not in message

    def test_text_instead_of_conllu(self, run: Run, model: Path) -> None:
        message = self.error(run("parse", "-m", model, "--from", "conllu", stdin=b"The fox jumps\nYes\n"))
        assert "<stdin>:1: this is not CoNLL-U, which has ten columns" in message
        assert "use --from text" in message
        assert "use --from lines, or --from tokens" in message

    def test_a_text_instead_of_a_file_name(self, run: Run, model: Path) -> None:
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


def test_help_has_examples(run: Run) -> None:
    assert "easyfirst parse --model my-model input.conllu -o output.conllu" in run("--help").stdout.decode()
    for verb in ("train", "parse", "evaluate", "info"):
        assert f"\n    easyfirst {verb} " in run(verb, "--help").stdout.decode().replace("\r\n", "\n")


def test_version(run: Run) -> None:
    assert run("--version").stdout.startswith(b"easyfirst 0.3.0.dev0, engine n")


def test_unknown_tags_give_a_warning(run: Run, xpos_model: Path, data: Path) -> None:
    content = (data / "multiword.conllu").read_bytes()
    assert b"warning" not in run("parse", "--model", xpos_model, stdin=content).stderr
    foreign = b"1\tYes\t_\t_\tFOREIGN\t_\t_\t_\t_\t_\n\n"
    done = run("parse", "--model", xpos_model, stdin=foreign)
    assert b"warning: 100% of the XPOS tags are unknown to the model" in done.stderr
    assert not run("parse", "--model", xpos_model, "--quiet", stdin=foreign).stderr
