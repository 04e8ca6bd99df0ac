"""``easyfirst parse --beam --n-best``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from easyfirst.treebank.conllu import read_conllu
from tests.commands import Run
from tests.small_models import TREEBANK

TEXT = "I saw the man with the telescope."


def test_conllu_has_a_block_for_each_tree(run: Run, tmp_path: Path) -> None:
    done = run("parse", "--text", TEXT, "--beam", "8", "--n-best", "3", "-o", tmp_path / "out.conllu")
    assert done.returncode == 0, done.stderr
    sentences = list(read_conllu(tmp_path / "out.conllu"))
    assert [sentence.metadata["parse_rank"] for sentence in sentences] == ["1", "2", "3"]
    assert len({sentence.metadata["sent_id"] for sentence in sentences}) == 1
    assert len({sentence.heads for sentence in sentences}) > 1
    assert (tmp_path / "out.conllu").read_text().count("# newdoc") == 1
    likely = [float(sentence.metadata["parse_probability"]) for sentence in sentences]
    assert likely == sorted(likely, reverse=True)
    assert 0.5 < sum(likely) <= 1


def test_conllu_from_conllu_changes_nothing_else(run: Run, tmp_path: Path) -> None:
    done = run("parse", TREEBANK, "--beam", "4", "-o", tmp_path / "out.conllu")
    assert done.returncode == 0, done.stderr
    for old, new in zip(read_conllu(TREEBANK), read_conllu(tmp_path / "out.conllu"), strict=True):
        own = [comment for comment in new.comments if not comment.startswith("# parse_")]
        assert own == list(old.comments)
        assert len(new.comments) == len(own) + 3
        assert new.misc == old.misc


def test_tokens_get_comments_in_every_block(run: Run) -> None:
    done = run("parse", "--from", "tokens", "--to", "conllu", "--beam=4", "--n-best=2", stdin=b"The fox jumps\n")
    blocks = done.stdout.decode().strip().split("\n\n")
    assert len(blocks) == 2
    assert [block.count("# newdoc") for block in blocks] == [1, 0]
    assert all(block.count("# sent_id") == 1 and "# text = The fox jumps" in block for block in blocks)


def test_json_has_alternatives(run: Run) -> None:
    done = run("parse", "--text", TEXT, "--beam", "8", "--n-best", "3", "--to", "json")
    [line] = done.stdout.splitlines()
    found = json.loads(line)
    assert [found["rank"], *(each["rank"] for each in found["alternatives"])] == [1, 2, 3]
    assert found["alternatives"][0]["probability"] < found["probability"]


def test_drawn_trees_have_a_title(run: Run) -> None:
    done = run("parse", "--text", TEXT, "--beam", "8", "--n-best", "2", "--to", "tree")
    assert done.stdout.decode().startswith("tree 1: score -")
    assert "\n\ntree 2: score -" in done.stdout.decode()


def test_predicted_tags_keep_the_original_in_all_trees(run: Run, tmp_path: Path) -> None:
    done = run("parse", TREEBANK, "--predicted-tags", "--beam=4", "--n-best=2", "-o", tmp_path / "out.conllu")
    assert done.returncode == 0, done.stderr
    forms = {sentence.metadata.get("sent_id"): sentence.upos for sentence in read_conllu(TREEBANK)}
    for sentence in read_conllu(tmp_path / "out.conllu"):
        assert sentence.upos == forms[sentence.metadata.get("sent_id")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-best", "5"], "n_best is 5, but a beam of 1 finds at most 1 tree"),
        (["--beam", "0"], "beam is 0; it must be from 1 to 64"),
        (["--beam", "8", "--keep-heads"], "--keep-heads restricts the greedy parser only"),
        (["--beam", "8", "--constraints"], "--constraints restricts the greedy parser only"),
        (["--beam", "8", "--n-best", "2", "--to", "parquet"], "--n-best is for CoNLL-U, JSON and drawn trees"),
    ],
)
def test_options_that_contradict_each_other(run: Run, options: list[str], message: str) -> None:
    done = run("parse", TREEBANK, *options)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "beam"], "the preset beam trains a parser further; name its model with --init"),
        (["--init", "en", "--parts", "all"], "--init is for the parser alone; leave out --parts"),
        (["--init", "en", "--tags", "none"], "--init keeps the network of the model; leave out --tags"),
        (["--init", "en", "--set", "network.tree_dim=5"], "--init keeps the network of the model"),
        (["--init", "nowhere"], "nowhere"),
        (["--set", "training.beam=65"], "training.beam must be from 1 to 64"),
    ],
)
def test_training_options_that_contradict_each_other(
    run: Run, tmp_path: Path, options: list[str], message: str
) -> None:
    done = run("train", TREEBANK, "--out", tmp_path / "model", *options)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not (tmp_path / "model").exists()
