"""Many files, each parsed into an output of its own."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.cli import corpus_reports
from easyfirst.cli.ledger import NAME
from easyfirst.cli.listing import output_name
from easyfirst.cli.outputs import Target
from tests.cli.corpora import BAD, OUTPUTS, TEXT, tree
from tests.cli.rows import ROWS, blanked, sentences
from tests.commands import Run, unmeasured


class TestPlaces:
    @pytest.mark.parametrize("threads", [1, 3])
    def test_a_directory_is_mirrored(self, run: Run, text_model: Path, corpus: Path, threads: int) -> None:
        out = corpus.parent / "out" / "parsed"
        done = run("parse", "-m", text_model, corpus, "--out-dir", out, "--threads", threads)
        assert (done.returncode, done.stdout) == (0, b"")
        assert done.stderr.startswith(b"parsed 4 files, ")
        found = tree(out)
        assert set(found) == OUTPUTS
        for name, content in found.items():
            source = corpus / name.replace("c.conllu", "c.TXT").replace("a.conllu", "a.txt")
            alone = run("parse", "-q", "-m", text_model, source).stdout
            place = "".join(f"{part}_" for part in Path(name).parent.parts).encode()  # ids are unique in the whole run
            alone = re.sub(rb"(newdoc id|sent_id) = (?=[ac]-)", rb"\1 = " + place, alone)
            assert (gzip.decompress(content) if name.endswith(".gz") else content) == alone
            assert sentences(alone)

    def test_beside_the_inputs(self, run: Run, text_model: Path, corpus: Path) -> None:
        before = tree(corpus)
        assert run("parse", "-m", text_model, corpus, "--beside", "--to", "json").returncode == 0
        after = tree(corpus)
        names = {"a.parsed.jsonl", "b.parsed.jsonl", "deep/c.parsed.jsonl.gz", "deep/er/a.parsed.jsonl"}
        assert after.keys() - before.keys() == names
        assert before.items() <= after.items()
        assert json.loads(after["a.parsed.jsonl"].splitlines()[0])["file"] == str(corpus / "a.txt")
        again = run("parse", "-m", text_model, corpus, "--beside", "--to", "json")
        assert again.stderr.startswith(b"parsed 4 files, ")  # not what the first run has written

    def test_files_are_named_after_their_own_names(self, run: Run, model: Path, corpus: Path) -> None:
        (corpus / "shard.0001").write_bytes(ROWS)
        (corpus / "shard.0002").write_bytes(ROWS)
        out = corpus.parent / "out"
        given = [corpus / "shard.0001", corpus / "shard.0002", corpus / "b.conllu", corpus / "b.conllu"]
        assert run("parse", "-m", model, *given, "-d", out).returncode == 0
        assert set(tree(out)) == {"shard.0001.conllu", "shard.0002.conllu", "b.conllu"}
        assert blanked((out / "shard.0001.conllu").read_bytes()) == blanked(ROWS)

    def test_an_output_directory_among_the_inputs(self, run: Run, text_model: Path, corpus: Path) -> None:
        for _ in range(2):
            done = run("parse", "-m", text_model, corpus, "-d", corpus / "parsed")
            assert done.returncode == 0
            assert done.stderr.startswith(b"parsed 4 files, ")
        assert set(tree(corpus / "parsed")) == OUTPUTS

    @pytest.mark.parametrize(
        ("options", "names"),
        [
            (["--suffix", "md"], {"deep/notes.conllu"}),
            (["--suffix", ".md", "--suffix", ".TXT"], {"deep/notes.conllu", *OUTPUTS} - {"b.conllu"}),
            (["--from", "lines"], OUTPUTS - {"b.conllu"}),
            (["--from", "conllu"], {"b.conllu"}),
        ],
    )
    def test_which_files_count(
        self, run: Run, text_model: Path, corpus: Path, options: list[str], names: set[str]
    ) -> None:
        out = corpus.parent / "out"
        assert run("parse", "-m", text_model, corpus, "-d", out, *options).returncode == 0
        assert set(tree(out)) == names

    def test_a_directory_as_one_output(self, run: Run, text_model: Path, corpus: Path) -> None:
        done = run("parse", "-q", "-m", text_model, corpus, "--from", "text")
        names = ["a.txt", "deep/c.TXT.gz", "deep/er/a.txt"]
        alone = run("parse", "-q", "-m", text_model, *(corpus / name for name in names))
        assert (done.returncode, done.stdout) == (0, alone.stdout)

    def test_links(self, run: Run, model: Path, corpus: Path) -> None:
        shutil.rmtree(corpus / "deep")
        (corpus / "a.txt").unlink()
        (corpus / "link.conllu").symlink_to("b.conllu")
        (corpus / "loop").symlink_to(corpus, target_is_directory=True)
        out = corpus.parent / "out"
        assert run("parse", "-m", model, corpus, "-d", out).returncode == 0
        assert set(tree(out)) == {"b.conllu", "link.conllu"}


@given(
    stem=st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8),
    suffix=st.sampled_from([".txt", ".conllu", ".md", "", ".7"]),
    zipped=st.booleans(),
    beside=st.booleans(),
)
def test_an_output_never_has_the_name_of_an_input_beside_it(stem: str, suffix: str, zipped: bool, beside: bool) -> None:
    name = stem + suffix + ".gz" * zipped
    for target in Target:
        made = output_name(name, target, beside=beside)
        assert made.endswith(".gz") == (name.lower().endswith(".gz") and target is not Target.parquet)
        assert stem in made or stem.lower().endswith((".gz", ".txt", ".text", ".conllu", ".conll", ".conllx"))
        if beside and ".parsed" not in name:
            assert made != name


@pytest.mark.parametrize("options", [[], ["--resume"]])
def test_an_output_that_someone_else_has_written(run: Run, text_model: Path, corpus: Path, options: list[str]) -> None:
    (corpus.parent / "a.conllu").write_bytes(b"gold")
    done = run("parse", "-m", text_model, corpus / "a.txt", "-d", corpus.parent, *options)
    assert (done.returncode, b"was not written by" in done.stderr) == (1, True)
    assert (corpus.parent / "a.conllu").read_bytes() == b"gold"


class TestRefusals:
    """What is refused before any work: nothing is written, and the exit code is 2."""

    @pytest.fixture
    def refused(self, run: Run, text_model: Path, corpus: Path) -> Callable[..., str]:
        def refuse(*arguments: str | Path) -> str:
            before = tree(corpus.parent, records=True)
            done = run("parse", "-m", text_model, *arguments)
            assert (done.returncode, done.stdout) == (2, b"")
            assert tree(corpus.parent, records=True) == before
            return done.stderr.decode()

        return refuse

    def test_two_inputs_with_one_output(self, refused: Callable[..., str], corpus: Path) -> None:
        (corpus / "b.txt").write_bytes(TEXT)
        message = refused(corpus, "-d", corpus.parent / "out")
        assert f"{corpus / 'b.conllu'} and {corpus / 'b.txt'} would both be written to" in message
        assert "would both be written" in refused(corpus / "a.txt", corpus / "deep" / "er", "-d", corpus.parent / "out")
        assert "--suffix" in message

    def test_an_output_that_is_an_input(self, refused: Callable[..., str], corpus: Path) -> None:
        assert "would replace the input" in refused(corpus / "b.conllu", "-d", corpus)
        assert "both the input and --out-dir" in refused(corpus, "-d", corpus)

    def test_a_directory_without_files(self, refused: Callable[..., str], corpus: Path) -> None:
        (corpus / "empty").mkdir()
        assert "there are no files to parse (.txt" in refused(corpus / "empty", "-d", "out", "--from", "text")
        assert "there are no files to parse" in refused(corpus / "empty")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("CORPUS -d OUT --beside", "choose one of them"),
            ("CORPUS -d OUT -o x.conllu", "choose one of them"),
            ("-d OUT", "name files or directories"),
            ("-d OUT --text Hello", "name files or directories"),
            ("- --beside", "standard input has no name"),
            ("missing.txt -d OUT", "there is no such file"),
            (os.devnull + " -d OUT", "not a regular file"),
            ("CORPUS -d CORPUS/a.txt", "--out-dir needs a directory"),
            ("CORPUS -d OUT --encoding no-such", "there is no such encoding"),
            ("CORPUS -d OUT --suffix /", "--suffix needs"),
            ("CORPUS --resume", "use it with --out-dir"),
            ("CORPUS -d OUT -m no-such-model", "there is no model"),
            ("CORPUS -d OUT --confidence", "has no calibration"),
            ("CORPUS -d OUT --deps --to json", "--deps is for CoNLL-U"),
        ],
    )
    def test_options(self, refused: Callable[..., str], corpus: Path, arguments: str, message: str) -> None:
        places = {"CORPUS": corpus, "CORPUS/a.txt": corpus / "a.txt", "OUT": corpus.parent / "out"}
        assert message in refused(*(places.get(word, word) for word in arguments.split()))


class TestErrors:
    @pytest.mark.parametrize("threads", [1, 2])
    def test_an_error_stops_only_its_file(self, run: Run, text_model: Path, corpus: Path, threads: int) -> None:
        (corpus / "0.txt").write_bytes(BAD)
        (corpus / "deep" / "x.conllu").write_bytes(ROWS + b"\nbroken\tline\n")
        (corpus / "y.txt.gz").write_bytes(b"no gzip file")
        out = corpus.parent / "out"
        done = run("parse", "-m", text_model, corpus, "-d", out, "--threads", threads)
        assert done.returncode == 1
        *_, first, second, third, last = done.stderr.decode().splitlines()
        assert first.startswith(f"error: {corpus / '0.txt'}:1: byte 0xE9 at offset 3 is not valid UTF-8")
        assert second.startswith(f"error: {corpus / 'deep' / 'x.conllu'}:4: ")
        assert third.startswith(f"error: {corpus / 'y.txt.gz'}: damaged or incomplete gzip file")
        assert last == "3 of 7 files failed"
        assert set(tree(out)) == OUTPUTS
        quiet = run("parse", "-q", "-m", text_model, corpus, "-d", out, "--threads", threads)
        assert (quiet.returncode, quiet.stderr.decode().splitlines()) == (1, [first, second, third, last])

    def test_options_that_are_not_for_a_file(self, run: Run, text_model: Path, corpus: Path) -> None:
        done = run("parse", "-m", text_model, corpus, "-d", corpus.parent / "out", "--keep-heads")
        assert done.returncode == 1
        assert f"error: {corpus / 'a.txt'}: --keep-heads is for CoNLL-U" in done.stderr.decode()
        assert set(tree(corpus.parent / "out")) == {"b.conllu"}

    @pytest.mark.parametrize("threads", [1, 2])
    def test_a_bug_stops_only_its_file(
        self, run: Run, text_model: Path, corpus: Path, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from easyfirst.parser import Parser

        read = Parser.pipe
        monkeypatch.setattr(Parser, "pipe", lambda *args, **options: 1 / 0 if read else None)
        done = run("parse", "-m", text_model, corpus, "-d", corpus.parent / "out", "--threads", threads)
        assert done.returncode == 1
        assert b"Traceback" in done.stderr
        assert b"b.conllu: internal error, see the traceback above (ZeroDivisionError: " in done.stderr
        assert set(tree(corpus.parent / "out")) == OUTPUTS - {"b.conllu"}

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
    def test_an_output_directory_that_cannot_be_written(self, run: Run, text_model: Path, corpus: Path) -> None:
        out = corpus.parent / "out"
        out.mkdir()
        out.chmod(0o500)
        done = run("parse", "-m", text_model, corpus, "-d", out)
        assert done.returncode == 2

    @pytest.mark.parametrize("threads", [1, 2])
    def test_an_error_in_writing_ends_the_run(self, run: Run, text_model: Path, corpus: Path, threads: int) -> None:
        out = corpus.parent / "out"
        out.mkdir()
        (out / "deep").write_bytes(b"no directory")
        done = run("parse", "-m", text_model, corpus, "-d", out, "--threads", threads)
        assert done.returncode == 2
        assert re.search(rb"deep/(c\.conllu\.gz|er/a\.conllu): the output cannot be written: ", done.stderr)
        assert b"--resume continues it" in done.stderr
        assert b"Traceback" not in done.stderr

    def test_a_record_that_cannot_be_read(self, run: Run, text_model: Path, corpus: Path) -> None:
        (corpus.parent / "out" / NAME).mkdir(parents=True)
        done = run("parse", "-m", text_model, corpus, "-d", corpus.parent / "out")
        assert done.returncode == 2
        assert NAME.encode() in done.stderr

    @pytest.mark.skipif(os.name == "nt", reason="no limits of processes on Windows")
    @pytest.mark.parametrize("threads", ["1", "2"])
    def test_a_full_disk(self, text_model: Path, corpus: Path, threads: str) -> None:
        """Limit the size of files to less than what the largest output takes."""
        (corpus / "large.conllu").write_bytes((ROWS + b"\n") * 5000)
        out = corpus.parent / "out"
        command = f"{sys.executable} -m easyfirst parse -q -m '{text_model}' '{corpus}' -d '{out}' --threads {threads}"
        done = subprocess.run(
            ["bash", "-c", f"ulimit -f 64; exec {command}"], capture_output=True, check=False, env=unmeasured()
        )
        assert done.returncode == 2
        assert done.stderr == f"error: {out / 'large.conllu'}: the output cannot be written: File too large\n".encode()
        assert set(tree(out)) <= OUTPUTS
        assert "large.conllu" not in tree(out)

    def test_a_file_that_changes_while_it_is_read(
        self, run: Run, model: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from easyfirst.parser import Parser

        pipe, path = Parser.pipe, corpus / "b.conllu"

        def change(*arguments: object, **options: object) -> Iterator[object]:
            yield from pipe(*arguments, **options)  # type: ignore[arg-type, misc]
            path.write_bytes(ROWS * 2 + b"\n")

        monkeypatch.setattr(Parser, "pipe", change)
        done = run("parse", "-m", model, path, "-d", corpus.parent / "out")
        assert done.returncode == 1
        assert b"has changed while it was read" in done.stderr
        assert tree(corpus.parent / "out") == {}

    def test_other_languages_are_counted(self, run: Run, tmp_path: Path) -> None:
        french = "Le renard saute sur le chien et mange les pommes rouges de la voisine, qui les aimait beaucoup.\n"
        for number in range(3):
            (tmp_path / f"{number}.txt").write_text(french * 9, encoding="utf-8")
        done = run("parse", tmp_path, "-d", tmp_path / "out", "--threads", 2)
        assert done.returncode == 0
        expected = f"warning: 3 files do not seem to be in the language of the model, such as {tmp_path / '0.txt'}"
        assert [line for line in done.stderr.decode().splitlines() if "warning" in line] == [expected]
        assert b"warning" not in run("parse", "-q", tmp_path, "-d", tmp_path / "out").stderr


class TestProgress:
    def test_a_line_now_and_then(
        self, run: Run, text_model: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(corpus_reports, "EVERY", 0.0)
        done = run("parse", "-m", text_model, corpus, "-d", corpus.parent / "out", "--threads", "2")
        lines = done.stderr.decode().splitlines()
        assert any("4 of 4 files" in line and "words/s" in line and "min left" in line for line in lines)
        quiet = run("parse", "-q", "-m", text_model, corpus, "-d", corpus.parent / "out")
        assert quiet.stderr == b""

    def test_the_time_left(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        now = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: now)
        with corpus_reports.CorpusReport(3, 1000, quiet=False) as report:
            now += 59
            report.advance(100, 5)
            now += 1
            report.advance(100, 5)
            now += 5 * 3600
            report.advance(0, 490)
            report.file_end()
        first, second = capsys.readouterr().err.splitlines()
        assert first == "0 of 3 files  200 words  3 words/s  about 1 h 39 min left"
        assert second == "0 of 3 files  200 words  0 words/s  about 5 h 01 min left"

    @pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on Windows")
    def test_a_bar_on_a_terminal(self, text_model: Path, corpus: Path) -> None:
        master, slave = os.openpty()
        command = [sys.executable, "-m", "easyfirst", "parse", "-m", str(text_model), str(corpus)]
        subprocess.run([*command, "-d", str(corpus.parent / "out")], stderr=slave, stdout=slave, check=True)
        os.close(slave)
        shown = b""
        while b"parsed" not in shown:
            shown += os.read(master, 4096)
        os.close(master)
        assert b"4 of 4 files" in shown
        assert b"words/s" in shown
        assert set(tree(corpus.parent / "out")) == OUTPUTS  # CoNLL-U and no drawn trees
