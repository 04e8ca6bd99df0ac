"""The toy treebank: its script writes the committed files, and they hold what their README says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.projective import is_projective
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree

TOY = Path(__file__).resolve().parent.parent / "examples" / "toy"
FILES = {"train.conllu": 257, "dev.conllu": 40, "handwritten.conllu": 27}
README_SENTENCE = "The black fox who really likes apples did not jump over a lazy dog yesterday ."


def text_of(sentence: Sentence) -> str:
    return sentence.metadata["text"]


def test_script_reproduces_the_files_byte_for_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", TOY / "make.py", "--out", tmp_path], check=True, stdout=subprocess.DEVNULL)
    for name in ("train.conllu", "dev.conllu"):
        assert (tmp_path / name).read_bytes() == (TOY / name).read_bytes(), f"run {TOY / 'make.py'} again"


@pytest.mark.parametrize(("name", "n_sentences"), FILES.items())
def test_every_sentence_is_a_tree_with_an_id_of_its_own(name: str, n_sentences: int) -> None:
    sentences = list(read_conllu(TOY / name))
    for sentence in sentences:
        check_tree(sentence)
    assert len(sentences) == n_sentences
    assert len({sentence.metadata["sent_id"] for sentence in sentences}) == n_sentences


@pytest.mark.parametrize(("name", "n_non_projective"), [("train.conllu", 3), ("dev.conllu", 0)])
def test_only_the_sentences_meant_to_are_non_projective(name: str, n_non_projective: int) -> None:
    trees = [check_tree(sentence) for sentence in read_conllu(TOY / name)]
    assert sum(not is_projective(tree.heads) for tree in trees) == n_non_projective


def test_train_and_dev_share_no_sentence() -> None:
    train, dev = ({text_of(sentence) for sentence in read_conllu(TOY / f"{part}.conllu")} for part in ("train", "dev"))
    assert not train & dev


def test_sentence_of_the_readme_is_new_but_its_words_are_known() -> None:
    sentences = [*read_conllu(TOY / "train.conllu"), *read_conllu(TOY / "dev.conllu")]
    assert README_SENTENCE not in {" ".join(sentence.forms) for sentence in sentences}
    known = {form.lower() for sentence in read_conllu(TOY / "train.conllu") for form in sentence.forms}
    assert set(README_SENTENCE.lower().split()) <= known
