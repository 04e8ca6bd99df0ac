"""Second runs over files: what they replace, what they read, and inputs that cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from easyfirst.cli.ledger import NAME
from tests.cli.corpora import BAD, OUTPUTS, TEXT, tree
from tests.commands import Run

OTHER = TEXT.replace(b"fox", b"cat")


@pytest.fixture
def parse(run: Run, text_model: Path) -> Callable[..., tuple[int, str]]:
    def call(*arguments: str | Path) -> tuple[int, str]:
        done = run("parse", "-m", text_model, *arguments)
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stderr.decode()

    return call


Parse = Callable[..., tuple[int, str]]


class TestReplacing:
    def test_outputs_of_other_inputs_are_kept(self, parse: Parse, tmp_path: Path) -> None:
        for name, content in (("one", TEXT), ("two", OTHER)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a.txt").write_bytes(content)
        out = tmp_path / "out"
        assert parse(tmp_path / "one", "-d", out)[0] == 0
        before = tree(out, records=True)
        for options in ([], ["--resume"]):
            code, message = parse(tmp_path / "two", "-d", out, *options)
            assert (code, tree(out, records=True)) == (1, before)
            assert f"a.conllu is the output for another file, {tmp_path / 'one' / 'a.txt'}; move it away" in message
            assert "--overwrite" in message
        assert parse(tmp_path / "two", "-d", out, "--overwrite")[0] == 0
        assert b"cat" in (out / "a.conllu").read_bytes()
        (tmp_path / "two").rename(tmp_path / "three")  # the input of the output is gone
        assert parse(tmp_path / "one", "-d", out)[0] == 0

    def test_an_input_by_another_name(self, parse: Parse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a.txt").write_bytes(TEXT)
        (tmp_path / "here").symlink_to(tmp_path)
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 0
        monkeypatch.chdir(tmp_path)
        assert parse("a.txt", "-d", "out")[0] == 0
        assert parse("here/a.txt", "-d", "here/out")[0] == 0

    def test_a_corpus_and_its_outputs_that_were_moved(self, parse: Parse, tmp_path: Path) -> None:
        for name in ("old", "copy"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a.txt").write_bytes(TEXT)
        assert parse(tmp_path / "old" / "a.txt", "--beside")[0] == 0
        (tmp_path / "old").rename(tmp_path / "new")
        code, message = parse(tmp_path / "new", "--beside", "--resume")
        assert (code, message) == (0, "nothing to do: 1 file complete from an earlier run\n")

    @pytest.mark.parametrize("zipped", [False, True])
    def test_outputs_that_were_corrected_by_hand_are_kept(self, parse: Parse, tmp_path: Path, zipped: bool) -> None:
        source = tmp_path / ("a.txt.gz" if zipped else "a.txt")
        source.write_bytes(gzip.compress(TEXT) if zipped else TEXT)
        path = tmp_path / "out" / ("a.conllu.gz" if zipped else "a.conllu")
        assert parse(source, "-d", tmp_path / "out")[0] == 0
        content = path.read_bytes()
        corrected = (gzip.decompress(content) if zipped else content).replace(b"\troot\t", b"\tnsubj\t")
        path.write_bytes(gzip.compress(corrected) if zipped else corrected)
        for options in ([], ["--resume"]):
            code, message = parse(source, "-d", tmp_path / "out", *options)
            assert code == 1
            assert f"error: {source}: {path} has changed since 'easyfirst parse' wrote it; move it away" in message
        path.write_bytes(content)  # the time alone does not matter
        os.utime(path, (1, 1))
        assert parse(source, "-d", tmp_path / "out", "--resume")[1].startswith("nothing to do")
        assert parse(source, "-d", tmp_path / "out")[0] == 0
        path.write_bytes(corrected)
        assert parse(source, "-d", tmp_path / "out", "--resume", "--overwrite")[0] == 0
        assert path.read_bytes() == content

    @pytest.mark.parametrize("options", [[], ["--resume"], ["--resume", "-q"]])
    def test_an_output_that_is_kept_does_not_stop_other_files(
        self, parse: Parse, tmp_path: Path, options: list[str]
    ) -> None:
        for name in "abc":
            (tmp_path / f"{name}.txt").write_bytes(TEXT)
        out = tmp_path / "out"
        assert parse(tmp_path / "a.txt", tmp_path / "b.txt", "-d", out)[0] == 0
        (out / "b.conllu").write_bytes(b"corrected")
        code, message = parse(*(tmp_path / f"{name}.txt" for name in "abc"), "-d", out, *options)
        assert (code, set(tree(out))) == (1, {"a.conllu", "b.conllu", "c.conllu"})
        assert (out / "b.conllu").read_bytes() == b"corrected"
        hint = "move it away, choose another --out-dir, or replace it with --overwrite"
        reason = f"error: {tmp_path / 'b.txt'}: {out / 'b.conllu'} has changed since 'easyfirst parse' wrote it; {hint}"
        assert reason in message.splitlines()
        assert message.endswith(f"1 of {2 if options else 3} files failed\n")
        code, message = parse(*(tmp_path / f"{name}.txt" for name in "abc"), "-d", out, "--resume")  # only b is left
        done = "nothing to do: 2 files complete from an earlier run"
        assert (code, message.splitlines()) == (1, [done, reason, "1 of 1 file failed"])

    def test_a_directory_in_the_place_of_an_output(self, parse: Parse, tmp_path: Path) -> None:
        for name in "ab":
            (tmp_path / f"{name}.txt").write_bytes(TEXT)
        (tmp_path / "out" / "a.conllu").mkdir(parents=True)
        code, message = parse(tmp_path / "a.txt", tmp_path / "b.txt", "-d", tmp_path / "out", "--overwrite")
        assert (code, set(tree(tmp_path / "out"))) == (1, {"b.conllu"})
        assert f"{tmp_path / 'out' / 'a.conllu'} is a directory, so an output of this name cannot be" in message

    def test_a_file_in_the_place_of_an_output_that_failed(self, parse: Parse, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(BAD)
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 1
        (tmp_path / "out" / "a.conllu").write_bytes(b"gold")
        (tmp_path / "a.txt").write_bytes(TEXT)
        code, message = parse(tmp_path / "a.txt", "-d", tmp_path / "out")
        assert (code, "has changed since" in message) == (1, True)
        assert (tmp_path / "out" / "a.conllu").read_bytes() == b"gold"

    def test_an_output_stays_if_its_input_fails_later(self, parse: Parse, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes(TEXT)
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 0
        before = tree(tmp_path / "out")
        (tmp_path / "a.txt").write_bytes(BAD)
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 1
        assert tree(tmp_path / "out") == before
        (tmp_path / "a.txt").write_bytes(OTHER)
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 0  # it is what the first run has written

    @pytest.mark.parametrize(("n_lines", "there"), [(1, 0), (2, 0), (2, 1)])
    def test_a_run_that_was_killed_before_its_last_record(
        self, parse: Parse, tmp_path: Path, n_lines: int, there: int
    ) -> None:
        """The second run has recorded ``n_lines``, and the output of the first or the second run is there."""
        outputs: list[bytes] = []
        for content in (TEXT, OTHER):
            (tmp_path / "a.txt").write_bytes(content)
            assert parse(tmp_path / "a.txt", "-d", tmp_path / "out")[0] == 0
            outputs.append((tmp_path / "out" / "a.conllu").read_bytes())
        record = tmp_path / "out" / NAME
        lines = record.read_bytes().splitlines(keepends=True)
        assert ["bytes" in json.loads(line) for line in lines] == [False, False, True] * 2
        record.write_bytes(b"".join(lines[: 3 + n_lines]))
        (tmp_path / "out" / "a.conllu").write_bytes(outputs[there])
        assert parse(tmp_path / "a.txt", "-d", tmp_path / "out", "--resume")[0] == 0
        assert (tmp_path / "out" / "a.conllu").read_bytes() == outputs[1]

    def test_overwrite_is_for_many_outputs(self, parse: Parse, corpus: Path) -> None:
        assert "--overwrite is for --out-dir and --beside" in parse(corpus / "a.txt", "--overwrite")[1]


class TestReading:
    def test_outputs_of_other_runs_in_the_directory_are_left_out(self, parse: Parse, corpus: Path) -> None:
        for out in ("first", "second", "deep/third"):
            code, message = parse(corpus, "-d", corpus / out)
            assert (code, message.startswith("parsed 4 files, ")) == (0, True)
            assert set(tree(corpus / out)) == OUTPUTS

    def test_outputs_are_inputs_if_their_directory_is_given(self, parse: Parse, corpus: Path) -> None:
        assert parse(corpus, "-d", corpus / "parsed")[0] == 0
        code, message = parse(corpus / "parsed", "-d", corpus.parent / "again")
        assert (code, message.startswith("parsed 4 files, ")) == (0, True)

    def test_a_file_of_the_user_that_is_named_like_an_output(self, parse: Parse, corpus: Path) -> None:
        (corpus / "mine.parsed.txt").write_bytes(TEXT)
        assert parse(corpus, "-d", corpus.parent / "out")[0] == 0
        assert set(tree(corpus.parent / "out")) == {*OUTPUTS, "mine.parsed.conllu"}

    def test_endings_in_upper_case(self, parse: Parse, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "A.TXT.GZ").write_bytes(gzip.compress(TEXT))
        assert parse(tmp_path / "in", "-d", tmp_path / "out")[0] == 0
        [(name, content)] = tree(tmp_path / "out").items()
        assert (name, b"# newdoc id = A-1\n" in gzip.decompress(content)) == ("A.conllu.gz", True)


class TestIds:
    @pytest.mark.parametrize("places", [["--out-dir", "out"], ["--beside"]])
    def test_ids_are_unique_in_a_run(self, parse: Parse, corpus: Path, places: list[str]) -> None:
        given = [corpus] if places != ["--beside"] else [corpus / "deep" / "er", corpus / "a.txt"]
        options = [word.replace("out", str(corpus.parent / "out")) if word == "out" else word for word in places]
        assert parse(*given, *options)[0] == 0
        content = b"".join(tree(corpus.parent).values())
        for comment in (b"# newdoc id = ", b"# sent_id = "):
            found = re.findall(re.escape(comment) + rb"(.*)", content)
            assert len(set(found)) == len(found)
        assert (b"# newdoc id = deep_er_a-1\n" in content) == (places != ["--beside"])

    def test_paths_that_look_alike(self, parse: Parse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("a/b.txt", "a_b.txt"):
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(TEXT)
        assert parse(".", "-d", "out")[0] == 0
        found = re.findall(rb"# newdoc id = a_b\.[0-9a-f]{8}-1\n", b"".join(tree(tmp_path / "out").values()))
        assert len(set(found)) == 2


class TestErrors:
    def test_missing_inputs_do_not_stop_others(self, parse: Parse, corpus: Path) -> None:
        (corpus / "empty").mkdir()
        (corpus / "loop.txt").symlink_to("loop.txt")
        given = [corpus, corpus / "missing.txt", corpus / "empty", os.devnull]
        out = corpus.parent / "out"
        for _ in range(2):
            code, message = parse(*given, "-d", out, "--resume")
            assert (code, set(tree(out))) == (1, OUTPUTS)
            assert f"error: {corpus / 'missing.txt'}: there is no such file" in message
            assert f"error: {corpus / 'empty'}: there are no files to parse" in message
            assert f"error: {corpus / 'loop.txt'}: the file cannot be opened" in message
            assert f"error: {os.devnull}: this is not a regular file" in message
            assert re.search(r"^4 of [48] files failed$", message, re.M)

    def test_a_directory_that_cannot_be_read(self, parse: Parse, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        scan = os.scandir

        def refuse(path: str = ".") -> object:
            if str(path).endswith("er"):
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        code, message = parse(corpus, "-d", corpus.parent / "out")
        assert (code, set(tree(corpus.parent / "out"))) == (1, OUTPUTS - {"deep/er/a.conllu"})
        assert f"error: {corpus / 'deep' / 'er'}: the directory cannot be read: Permission denied" in message

    @pytest.mark.skipif(os.name == "nt", reason="other limits")
    @pytest.mark.parametrize("threads", [1, 2])
    def test_a_name_that_is_too_long(self, parse: Parse, corpus: Path, threads: int) -> None:
        (corpus / f"{'x' * 251}.txt").write_bytes(TEXT)
        code, message = parse(corpus, "-d", corpus.parent / "out", "--threads", threads)
        assert (code, set(tree(corpus.parent / "out"))) == (1, OUTPUTS)
        assert "the output cannot be written: File name too long" in message
        assert "1 of 5 files failed" in message

    @pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
    def test_a_name_that_is_not_utf_8(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        path = os.fsdecode(os.fsencode(tmp_path) + b"/b\xe4r.txt")
        try:
            Path(path).write_bytes(TEXT)
        except OSError:
            pytest.skip("the file system has names in UTF-8 only")
        done = run("parse", "-q", "-m", text_model, path, "--to", "json")
        assert json.loads(done.stdout.splitlines()[0])["file"] == f"{tmp_path}/b\\xe4r.txt"
