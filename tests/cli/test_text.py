"""Raw text on the command line: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.parser import load
from easyfirst.treebank.conll18 import METRICS
from tests.commands import Run

TEXT = "The black fox likes apples. It isn't lazy!"


def test_text_to_conllu(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--text", TEXT)
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.decode() == load(text_model)(TEXT).to_conllu(name="text-1")


def test_text_to_trees(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--text", TEXT, "--to", "tree")
    assert done.stdout.decode() == "".join(f"{parse.draw()}\n\n" for parse in load(text_model)(TEXT))


def test_text_to_json(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--text", TEXT, "--to", "json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    document = load(text_model)(TEXT)
    assert [line["words"] for line in lines] == [parse.to_dict()["words"] for parse in document]
    for line in lines:
        assert line["document"] == 1
        first, last = line["tokens"][0]["start"], line["tokens"][-1]["end"]
        assert line["text"] == TEXT[first:last]


def test_on_a_terminal_a_tree_is_drawn(text_model: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "easyfirst", "parse", "--model", str(text_model), "--text", "The fox"]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # how a terminal says that the other side is gone
                break
            if not part:
                break
            shown += part
        process.communicate()
    os.close(ours)
    assert "►".encode() in shown or b"root" in shown
    assert b"\t" not in shown


def test_documents_are_separated_by_blank_lines(run: Run, text_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One fox.\nSame document.\n\n \nAnother one.", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf\r\nThird.\r\n")
    done = run("parse", "--model", text_model, "--from", "text", tmp_path / "a.txt", tmp_path / "b.txt")
    assert done.returncode == 0
    names = [line for line in done.stdout.splitlines() if line.startswith(b"# newdoc")]
    assert names == [b"# newdoc id = a-1", b"# newdoc id = a-2", b"# newdoc id = b-1"]
    assert done.stdout.split(b"# newdoc id")[3].startswith(b" = b-1\n# sent_id = b-1-1\n# text = T")


def test_a_sentence_a_line(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--from", "lines", stdin=b"One fox. Two foxes.\n\nA dog\n")
    texts = [line for line in done.stdout.splitlines() if line.startswith(b"# text")]
    assert texts == [b"# text = One fox. Two foxes.", b"# text = A dog"]


def test_lines_begin_a_document_only_after_a_blank_one(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--from", "lines", stdin=b"One fox\nTwo foxes\n\nA dog\nA cat\n")
    comments = [line for line in done.stdout.splitlines() if line.startswith(b"# ")]
    assert [line for line in comments if not line.startswith(b"# sent_id")] == [
        b"# newdoc id = text-1",
        b"# text = One fox",
        b"# text = Two foxes",
        b"# newdoc id = text-2",
        b"# text = A dog",
        b"# text = A cat",
    ]
    names = [line for line in comments if line.startswith(b"# sent_id")]
    assert names == [f"# sent_id = text-{name}".encode() for name in ("1-1", "1-2", "2-1", "2-2")]


@pytest.mark.parametrize("source", ["text", "lines"])
def test_places_in_the_file(run: Run, text_model: Path, tmp_path: Path, source: str) -> None:
    content = "\r\nÖne fox.\r\nSame document.\n\n \nAnother 🦊."
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + content.encode())
    (tmp_path / "b.txt").write_bytes(b"A dog.")
    names = (tmp_path / "a.txt", tmp_path / "b.txt")
    done = run("parse", "--model", text_model, "--from", source, "--to", "json", *names)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    starts = {line["document"]: line["document_start"] for line in lines}
    expected = ["Öne", "Another"] if source == "text" else ["Öne", "Same", "Another"]
    assert list(starts.values()) == [*map(content.index, expected), 0]
    for line in lines:
        whole = content if line["file"] == str(names[0]) else "A dog."
        first, last = line["tokens"][0]["start"], line["tokens"][-1]["end"]
        assert whole[line["document_start"] + first : line["document_start"] + last] == line["text"]


def test_a_table_inside_a_text_is_no_conllu(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--from", "text", stdin=b"A table:\n1\ta" + b"\tx" * 8 + b"\n")
    assert done.returncode == 0, done.stderr


def test_tokens_are_tagged(run: Run, text_model: Path) -> None:
    done = run("parse", "--model", text_model, "--from", "tokens", stdin=b"The fox\n")
    lines = done.stdout.splitlines()
    assert lines[:3] == [b"# newdoc id = text-1", b"# sent_id = text-1-1", b"# text = The fox"]
    assert all(row[3] != b"_" and row[4] != b"_" for row in (line.split(b"\t") for line in lines[3:] if line))


def test_conllu_keeps_its_columns_unless_asked(run: Run, text_model: Path) -> None:
    given = b"1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tfox\t_\tPRON\t_\t_\t_\t_\t_\t_\n\n"
    plain = run("parse", "--model", text_model, stdin=given)
    tagged = run("parse", "--model", text_model, "--write-tags", stdin=given)
    columns = [[line.split(b"\t")[3:5] for line in done.stdout.splitlines() if line] for done in (plain, tagged)]
    assert columns[0] == [[b"_", b"_"], [b"PRON", b"_"]]
    assert b"_" not in columns[1][0]
    assert columns[1][1][0] == b"PRON"


def test_tags_of_another_tagset_are_predicted(run: Run, text_model: Path) -> None:
    given = b"1\tThe\t_\tDET\tART\t_\t_\t_\t_\t_\n2\tfox\t_\tNOUN\tSUBST\t_\t_\t_\t_\t_\n\n"
    missing = given.replace(b"ART", b"_").replace(b"SUBST", b"_")
    done, expected = (run("parse", "--model", text_model, stdin=content) for content in (given, missing))
    assert b"warning: 100% of the XPOS tags are unknown to the model; it predicts them instead" in done.stderr
    assert b"warning" not in expected.stderr
    assert done.stdout == expected.stdout.replace(b"DET\t_", b"DET\tART").replace(b"NOUN\t_", b"NOUN\tSUBST")
    done, expected = (run("parse", "--model", text_model, "--write-tags", stdin=each) for each in (given, missing))
    assert done.stdout == expected.stdout


def test_all_tags_are_predicted_if_asked(run: Run, text_model: Path) -> None:
    given = b"1\tThe\tthe\tNOUN\tNN\t_\t_\t_\t_\t_\n2\tfox\tfox\tDET\tDT\t_\t_\t_\t_\t_\n\n" * 3
    missing = given.replace(b"NOUN\tNN", b"_\t_").replace(b"DET\tDT", b"_\t_")
    for options in ([], ["--write-tags"], ["--batch-size", "1"], ["--to", "json"], ["--threads", "2"]):
        done = run("parse", "--model", text_model, "--predicted-tags", "--quiet", *options, stdin=given)
        expected = run("parse", "--model", text_model, "--quiet", *options, stdin=missing)
        assert done.returncode == 0
        assert not done.stderr
        found = done.stdout.replace(b"NOUN\tNN", b"_\t_").replace(b"DET\tDT", b"_\t_")
        if options in ([], ["--batch-size", "1"], ["--threads", "2"]):
            assert b"NOUN\tNN" in done.stdout
            assert found == expected.stdout
        else:
            assert done.stdout == expected.stdout


def test_predicted_tags_need_a_tagger(run: Run, model: Path) -> None:
    done = run("parse", "--model", model, "--predicted-tags", stdin=b"")
    assert done.returncode == 2
    assert b"has no tagger to predict tags; leave out --predicted-tags" in done.stderr


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_in_nothing_out(run: Run, text_model: Path, text: str) -> None:
    for options in (["--text", text], ["--from", "text"]):
        done = run("parse", "--model", text_model, *options, stdin=text.encode())
        assert done.returncode == 0
        assert done.stdout == b""


class TestRefused:
    def test_text_and_files(self, run: Run, text_model: Path) -> None:
        done = run("parse", "--model", text_model, "--text", "a", "file.txt")
        assert done.returncode == 2
        assert done.stderr == b"error: --text is the input itself; leave out INPUT, --from and --encoding\n"

    def test_a_model_without_a_tokenizer(self, run: Run, model: Path) -> None:
        done = run("parse", "--model", model, "--text", "a")
        assert done.returncode == 2
        assert b"error: the model has no tokenizer, so it cannot read raw text" in done.stderr

    def test_conllu_as_text(self, run: Run, text_model: Path) -> None:
        done = run("parse", "--model", text_model, "--from", "text", stdin=b"# text = a\n1\ta" + b"\t_" * 8 + b"\n\n")
        assert done.returncode == 2
        assert done.stderr == b"error: <stdin>:2: this looks like CoNLL-U; use --from conllu\n"

    def test_bytes_that_are_no_text(self, run: Run, text_model: Path) -> None:
        done = run("parse", "--model", text_model, "--from", "text", stdin=b"caf\xe9\n")
        assert done.returncode == 2
        assert b"<stdin>:1" in done.stderr

    def test_a_missing_file_and_a_missing_model(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        assert run("parse", "--model", text_model, "--from", "text", tmp_path / "none.txt").returncode == 2
        done = run("parse", "--model", "xx", "--text", "a")
        assert done.returncode == 2
        assert b"there is no model xx, neither a directory nor bundled" in done.stderr


class TestEvaluate:
    def test_of_raw_text(self, run: Run, text_model: Path, data: Path) -> None:
        done = run("evaluate", data / "multiword.conllu", "--model", text_model, "--text", "--json")
        assert done.returncode == 0, done.stderr
        scores = json.loads(done.stdout)["text"]
        assert list(scores) == list(METRICS)

    def test_with_predicted_tags(self, run: Run, text_model: Path, model: Path, data: Path) -> None:
        done = run("evaluate", data / "multiword.conllu", "--model", text_model, "--predicted-tags", "--json")
        assert done.returncode == 0, done.stderr
        done = run("evaluate", data / "multiword.conllu", "--model", model, "--predicted-tags")
        assert done.returncode == 2
        assert b"has no tagger" in done.stderr


class TestModels:
    def test_pack(self, run: Run, text_model: Path, tmp_path: Path) -> None:
        done = run("pack", text_model, "--out", tmp_path / "small")
        assert done.returncode == 0, done.stderr
        sizes = [(path / "weights.safetensors").stat().st_size for path in (text_model, tmp_path / "small")]
        assert sizes[1] < 0.8 * sizes[0]
        assert load(tmp_path / "small")(TEXT).text == TEXT
        again = run("pack", text_model, "--out", tmp_path / "small")
        assert again.returncode == 2
        assert b"exists already" in again.stderr

    def test_info_names_the_parts(self, run: Run, text_model: Path) -> None:
        facts = json.loads(run("info", text_model, "--json").stdout)
        assert facts["parts"] == ["tokenizer", "tagger", "parser"]
        assert facts["reads"] == "raw text, tokens, CoNLL-U"
        assert facts["gives"] == ["UPOS", "XPOS", "HEAD", "DEPREL"]

    def test_models_lists_what_is_bundled(self, run: Run) -> None:
        done = run("models", "--json")
        assert done.returncode == 0
        found = json.loads(done.stdout)
        assert "en" in found
        for facts in found.values():
            assert Path(facts["path"]).is_dir()
        assert run("models").returncode == 0
