"""Lemmas and features on the command line: which columns are filled in, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

from easyfirst.parser import load
from tests.commands import Run
from tests.morphology import sentences_with_features

TEXT = "The black fox likes apples."
LEMMA, UPOS, XPOS, FEATS = 2, 3, 4, 5


def rows_of(done: CompletedProcess[bytes]) -> list[list[str]]:
    """Return the cells of the words."""
    assert done.returncode == 0, done.stderr
    return words_in(done.stdout.decode())


def words_in(conllu: str) -> list[list[str]]:
    rows = (line.split("\t") for line in conllu.splitlines())
    return [row for row in rows if row[0].isdigit()]


def test_text_has_all_columns(run: Run, whole_model: Path) -> None:
    rows = rows_of(run("parse", "--model", whole_model, "--text", TEXT))
    words = [word for parse in load(whole_model)(TEXT) for word in parse.tagged.words]
    assert [row[LEMMA : FEATS + 1] for row in rows] == [[w.lemma, w.upos, w.xpos, w.feats] for w in words]
    assert "_" not in {word.lemma for word in words}
    assert {word.feats for word in words} != {"_"}


def test_tokens_have_all_columns(run: Run, whole_model: Path) -> None:
    rows = rows_of(run("parse", "--model", whole_model, "--from", "tokens", stdin=b"The fox barks\n"))
    assert all("_" not in row[LEMMA:FEATS] for row in rows)


def test_conllu_keeps_its_columns(run: Run, whole_model: Path, tmp_path: Path) -> None:
    """Only HEAD and DEPREL change; with --write-tags, also cells that were empty."""
    sentences = [sentence for sentence in sentences_with_features() if set(sentence.feats) != {"_"}]
    treebank = tmp_path / "treebank.conllu"
    treebank.write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))
    given = words_in(treebank.read_text(encoding="utf-8"))
    plain = rows_of(run("parse", "--model", whole_model, treebank))
    written = rows_of(run("parse", "--model", whole_model, treebank, "--write-tags"))
    for old, row, tagged in zip(given, plain, written, strict=True):
        assert row[:6] + row[8:] == old[:6] + old[8:]
        assert tagged == row  # all words have lemmas and tags, and each sentence has features


def test_empty_columns_are_filled_in_on_request(run: Run, whole_model: Path) -> None:
    cells = [["The", "_", "_", "_"], ["fox", "FOX", "ADJ", "_"], ["barks", "_", "_", "_"]]
    lines = [
        "\t".join([str(n), form, lemma, upos, xpos, "_", "_", "_", "_", "_"])
        for n, (form, lemma, upos, xpos) in enumerate(cells, 1)
    ]
    given = ("\n".join(lines) + "\n\n").encode()
    plain = rows_of(run("parse", "--model", whole_model, stdin=given))
    assert [row[LEMMA : FEATS + 1] for row in plain] == [[*each[1:], "_"] for each in cells]
    written = rows_of(run("parse", "--model", whole_model, "--write-tags", stdin=given))
    assert written[1][LEMMA : UPOS + 1] == ["FOX", "ADJ"]
    assert all("_" not in row[LEMMA:FEATS] for row in written)
    assert {row[FEATS] for row in written} != {"_"}
    assert [row[6:8] for row in written] == [row[6:8] for row in plain]


def test_json_has_lemmas_and_features(run: Run, whole_model: Path, text_model: Path) -> None:
    def words_by(model: Path) -> list[dict[str, object]]:
        done = run("parse", "--model", model, "--text", TEXT, "--to", "json")
        return [word for line in done.stdout.splitlines() for word in json.loads(line)["words"]]

    words = words_by(whole_model)
    expected = [word for parse in load(whole_model)(TEXT) for word in parse.tagged.words]
    assert list(words[0])[:6] == ["id", "form", "lemma", "upos", "xpos", "feats"]
    assert [word["lemma"] for word in words] == [word.lemma for word in expected]
    assert [word["feats"] for word in words] == [None if word.feats == "_" else word.feats for word in expected]
    assert {(word["lemma"], word["feats"]) for word in words_by(text_model)} == {(None, None)}


def test_info_names_the_columns(run: Run, whole_model: Path, text_model: Path, model: Path) -> None:
    facts = json.loads(run("info", whole_model, "--json").stdout)
    assert facts["gives"] == ["LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL"]
    assert (facts["format_version"], facts["formats_of_parts"]["tagger"]) == (4, 4)
    assert facts["tags"].keys() == {"upos", "xpos", "feats"}
    shown = run("info", whole_model).stdout.decode().splitlines()
    assert ["writes", "LEMMA,", "UPOS,", "XPOS,", "FEATS,", "HEAD,", "DEPREL"] in [line.split() for line in shown]
    assert any(f"{facts['tags']['feats']} FEATS bundles" in line for line in shown)
    assert json.loads(run("info", text_model, "--json").stdout)["gives"] == ["UPOS", "XPOS", "HEAD", "DEPREL"]
    assert json.loads(run("info", model, "--json").stdout)["gives"] == ["HEAD", "DEPREL"]


def test_trees_show_the_columns_that_are_chosen(run: Run, whole_model: Path) -> None:
    trees = load(whole_model)(TEXT)
    done = run("parse", "--model", whole_model, "--text", TEXT, "--show", "lemma", "--show", "feats")
    assert done.stdout.decode() == "".join(f"{parse.draw(show='lemma,feats')}\n\n" for parse in trees)
    done = run("parse", "--model", whole_model, "--text", TEXT, "--show", "none", "--to", "tree")
    assert done.stdout.decode() == "".join(f"{parse.draw(show='none')}\n\n" for parse in trees)


def test_other_formats_have_all_columns(run: Run, whole_model: Path) -> None:
    for options in (["--to", "json"], ["--to", "conllu"], ["--deps"]):
        done = run("parse", "--model", whole_model, "--text", TEXT, "--show", "lemma", *options)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"error: --show is for drawn trees" in done.stderr
    done = run("parse", "--model", whole_model, "--text", TEXT, "--show", "lema")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'lema' is not a column that can be shown" in done.stderr


def test_all_columns_are_predicted_if_asked(run: Run, whole_model: Path, data: Path) -> None:
    path = data / "multiword.conllu"
    given = words_in(path.read_text(encoding="utf-8"))
    plain = rows_of(run("parse", "--model", whole_model, path, "--predicted-tags"))
    written = rows_of(run("parse", "--model", whole_model, path, "--predicted-tags", "--write-tags"))
    assert [row[: FEATS + 1] for row in plain] == [row[: FEATS + 1] for row in given]
    assert [row[6:8] for row in plain] == [row[6:8] for row in written]
    for column in range(LEMMA, FEATS + 1):
        assert [row[column] for row in written] != [row[column] for row in given]
