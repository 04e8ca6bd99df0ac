"""Trees, and what a gold sentence needs to be one."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path

import pytest

from easyfirst.errors import DataError
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree, check_tree, find_cycle

DATA = Path(__file__).parent.parent / "data"


def test_a_tree_knows_its_root_and_each_head_its_children() -> None:
    tree = Tree((2, 0, 2, 3), ("nsubj", "root", "obj", "amod"))
    assert len(tree) == 4
    assert tree.root == 2
    assert tree.children(0) == (2,)
    assert tree.children(2) == (1, 3)
    assert tree.children(4) == ()


@pytest.mark.parametrize("path", sorted(DATA.glob("*.conllu")), ids=lambda path: path.stem)
def test_good_gold_sentences_pass_and_become_trees(path: Path) -> None:
    for sentence in read_conllu(path):
        assert check_tree(sentence) == Tree(sentence.heads, sentence.relations)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("0 root, _ dep", 4, "word 2 'w2' has no head; a gold tree needs a HEAD for every word"),
        ("0 root, 1 _", 4, "word 2 'w2' has no relation; a gold tree needs a DEPREL for every word"),
        ("2 dep, 1 dep", 3, "no word has HEAD 0; a tree needs one root"),
        ("0 root, 1 dep, 0 root", 5, "words 1 'w1' and 3 'w3' all have HEAD 0; a tree has one root"),
        ("0 root, 4 a, 2 a, 3 a", 4, "form a cycle: 2 'w2' -> 4 'w4' -> 3 'w3' -> 2 'w2'; a tree has none"),
        ("0 root, 2 a, 2 a", 4, "form a cycle: 2 'w2' -> 2 'w2'"),
    ],
)
def test_a_gold_sentence_that_is_no_tree_is_named_at_the_word(rows: str, line: int, message: str) -> None:
    cells = [row.split() for row in rows.split(", ")]
    words = [f"{m}\tw{m}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n" for m, (head, relation) in enumerate(cells, 1)]
    (sentence,) = ConlluReader(io.BytesIO("".join(["\n# c\n", *words]).encode()), "gold.conllu")
    with pytest.raises(DataError, match=message) as error:
        check_tree(sentence)
    assert (error.value.source, error.value.line) == ("gold.conllu", line)


def test_a_sentence_from_no_file_is_checked_too() -> None:
    with pytest.raises(DataError, match=r"^word 1 'a' has no head"):
        check_tree(Sentence.from_words(["a"]))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_cycle_is_found_exactly_where_following_heads_never_ends(n: int) -> None:
    for heads in product(range(n + 1), repeat=n):

        def reaches_root(m: int, heads: tuple[int, ...] = heads) -> bool:
            for _ in heads:
                m = heads[m - 1] if m else 0
            return m == 0

        cycle = find_cycle(heads)
        assert (cycle == []) == all(reaches_root(m) for m in range(1, n + 1))
        for m, h in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            assert heads[m - 1] == h
