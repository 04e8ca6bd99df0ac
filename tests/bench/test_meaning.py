"""The comparison of tree encoders: its data, the baseline that was written for it, and resuming."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from bench import meaning
from bench.meaning_data import Corpus, labelled_subtrees, read_sst
from bench.meaning_models import DIM, SYSTEMS, Batch, ChildSum, highest, target_distribution
from easyfirst import Tree

DATA = Path(__file__).parent.parent / "data" / "meaning"
TREES = [Tree((2, 0, 4, 2), ("det", "root", "amod", "obj")), Tree((0,), ("root",)), Tree((3, 1, 0), ("x", "y", "root"))]


def batch_of(trees: list[Tree]) -> Batch:
    words = [np.zeros(len(tree), dtype=np.int64) for tree in trees]
    heads = [np.array([tree.root - 1]) for tree in trees]
    spans = [np.array([[0, len(tree)]]) for tree in trees]
    return Batch.of(Corpus(words, trees, []), range(len(trees)), heads, spans, with_parser=False)


def test_the_child_sum_tree_lstm_is_that_of_the_paper() -> None:
    """Equations 2 to 8 of Tai et al., one node at a time."""
    torch.manual_seed(1)
    model = ChildSum(6)
    vectors = torch.randn(sum(map(len, TREES)), 6)
    of_input = model.of_input.weight.split(DIM), model.of_input.bias.split(DIM)
    of_sum = model.of_sum.weight.split(DIM)
    expected: list[torch.Tensor] = []
    start = 0
    for tree in TREES:

        def node(m: int, tree: Tree = tree, start: int = start) -> tuple[torch.Tensor, torch.Tensor]:
            x = vectors[start + m - 1]
            below = [node(child) for child in tree.children(m)]
            total = sum((h for h, _ in below), torch.zeros(DIM))
            i, o, u = (of_input[0][k] @ x + of_input[1][k] + of_sum[k] @ total for k in range(3))
            c = torch.sigmoid(i) * torch.tanh(u)
            for h_below, c_below in below:
                forget = torch.sigmoid(of_input[0][3] @ x + of_input[1][3] + model.of_child.weight @ h_below)
                c = c + forget * c_below
            return torch.sigmoid(o) * torch.tanh(c), c

        expected += [node(m)[0] for m in range(1, len(tree) + 1)]
        start += len(tree)
    torch.testing.assert_close(model(batch_of(TREES), vectors), torch.stack(expected), rtol=1e-4, atol=1e-5)


def test_the_highest_of_phrases() -> None:
    rows = torch.randn(8, 3)
    found = highest(rows, batch_of(TREES))
    torch.testing.assert_close(found, torch.stack([rows[:4].amax(0), rows[4], rows[5:].amax(0)]))


def test_scores_become_distributions_with_the_same_mean() -> None:
    scores = torch.tensor([1.0, 3.2, 4.75, 5.0])
    found = target_distribution(scores)
    torch.testing.assert_close(found.sum(1), torch.ones(4))
    torch.testing.assert_close(found @ torch.arange(1.0, 6.0), scores)


def test_subtrees_have_the_labels_of_phrases_with_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "sst").mkdir()
    shutil.copy(DATA / "sst.txt", tmp_path / "sst" / "dev.txt")
    sentences = list(read_sst(tmp_path, "dev"))
    words, spans = sentences[2]
    assert words == ["This", "film", "is", "really", "wonderful"]
    tree = Tree((2, 5, 5, 5, 0), ("det", "nsubj", "cop", "advmod", "root"))
    heads, found, labels = labelled_subtrees(tree, spans)
    assert (heads, labels) == ([4, 0, 1, 2, 3], [4, 2, 2, 2, 3])
    assert found == [(0, 5), (0, 1), (0, 2), (2, 3), (3, 4)]
    assert sentences[5][0] == ["(", "Nice", ")", "songs"]


@pytest.mark.slow
def test_runs_are_written_one_by_one_and_not_repeated(tmp_path: Path) -> None:
    for name in ("train", "trial", "test_annotated"):
        (tmp_path / "sick").mkdir(exist_ok=True)
        shutil.copy(DATA / "sick.txt", tmp_path / "sick" / f"SICK_{name}.txt")
    (tmp_path / "embeddings").mkdir()
    vectors = np.random.default_rng(1).normal(size=(2, 100)).astype(np.float32)
    np.savez(tmp_path / "embeddings" / "en-100d.npz", words=np.array(["baker", "bread"]), vectors=vectors)
    out = tmp_path / "runs.jsonl"
    options = argparse.Namespace(
        data=tmp_path, work=tmp_path / "work", tasks=["sick"], systems=["bag", "childsum"], seeds=[1], out=out, epochs=1
    )
    meaning.run(options)
    first = out.read_bytes()
    assert [json.loads(line)["system"] for line in first.splitlines()] == ["bag", "childsum"]
    options.systems = list(SYSTEMS)
    meaning.run(options)
    lines = out.read_bytes().splitlines()
    assert b"\n".join(lines[:2]) + b"\n" == first
    assert {json.loads(line)["system"] for line in lines} == set(SYSTEMS)
    assert len(lines) == len(SYSTEMS)
