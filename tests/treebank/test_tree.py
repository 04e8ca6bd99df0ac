"""Trees, and what a gold sentence needs to be one."""

from __future__ import annotations

import doctest
import io
import json
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.errors import DataError, EasyFirstError, InputError
from easyfirst.treebank import tree as tree_module
from easyfirst.treebank.conllu import ConlluReader, read_conllu
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import Tree, check_tree, find_cycle

DATA = Path(__file__).parent.parent / "data"
DOCS = Path(__file__).parent.parent.parent / "docs"
TREE = Tree((3, 3, 4, 0, 4, 5), ("det", "amod", "nsubj", "root", "obj", "nmod"))


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


def test_the_examples_of_the_methods_run() -> None:
    pytest.importorskip("networkx", reason="an example needs NetworkX")
    results = doctest.testmod(tree_module)
    assert results.attempted >= 15
    assert results.failed == 0


def test_the_examples_of_the_guide_run() -> None:
    pytest.importorskip("networkx", reason="an example needs NetworkX")
    results = doctest.testfile(str(DOCS / "trees.md"), module_relative=False, encoding="utf-8")
    assert results.attempted >= 15
    assert results.failed == 0


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree: words in any order, each below one of those before it."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 9)) + 1)))
    heads = dict.fromkeys(order, 0)
    for i, m in enumerate(order[1:], 1):
        heads[m] = order[draw(st.integers(0, i - 1))]
    return Tree(tuple(heads[m] for m in sorted(heads)), tuple(f"r{m}" for m in sorted(heads)))


def ways(tree: Tree, start: int) -> dict[int, tuple[int, ...]]:
    """The way from a word to every other, found by going to neighbours."""
    found, waiting = {start: (start,)}, [start]
    while waiting:
        node = waiting.pop()
        for m, h in enumerate(tree.heads, 1):
            for here, there in ((m, h), (h, m)):
                if here == node and there and there not in found:
                    found[there] = (*found[node], there)
                    waiting.append(there)
    return found


@settings(deadline=None)
@given(trees())
def test_paths_distances_and_common_ancestors_agree_with_a_search(tree: Tree) -> None:
    distances = tree.distances()
    for a in range(1, len(tree) + 1):
        for b, way in ways(tree, a).items():
            assert tree.path(a, b) == way
            assert distances[a - 1][b - 1] == len(way) - 1
            top = tree.lowest_common_ancestor(a, b)
            assert top == min(way, key=tree.depth)
            assert {a, b} <= set(tree.subtree(top))


@settings(deadline=None)
@given(trees())
def test_a_word_is_in_the_subtrees_of_what_is_above_it(tree: Tree) -> None:
    words = range(1, len(tree) + 1)
    assert tree.subtree(0) == tuple(words)
    for m in words:
        above = {h for h in words if m in tree.subtree(h)}
        assert above == {m, *tree.ancestors(m)}
        assert tree.depth(m) == len(above) - 1
        assert tree.span(m) == (min(tree.subtree(m)), max(tree.subtree(m)))
        assert all(tree.head(child) == m for child in tree.children(m))
        assert tree.relation(m) == f"r{m}"
    assert set(tree.leaves()) == {m for m in words if not tree.children(m)}
    assert sorted([*tree.leaves(), *tree.inner()]) == list(words)


@settings(deadline=None)
@given(trees())
def test_projective_trees_are_those_whose_subtrees_have_no_gaps(tree: Tree) -> None:
    spans = (tree.span(m) for m in range(1, len(tree) + 1))
    has_no_gaps = [last - first + 1 for first, last in spans] == [len(tree.subtree(m + 1)) for m in range(len(tree))]
    assert tree.is_projective == has_no_gaps


@settings(deadline=None)
@given(trees())
def test_a_dict_holds_the_whole_tree(tree: Tree) -> None:
    found: dict[int, tuple[int, str]] = {}
    waiting = [(0, json.loads(json.dumps(tree.to_dict())))]
    while waiting:
        head, node = waiting.pop()
        found[node["id"]] = (head, node["relation"])
        assert [child["id"] for child in node["children"]] == list(tree.children(node["id"]))
        waiting += [(node["id"], child) for child in node["children"]]
    assert tuple(found[m] for m in sorted(found)) == tuple(zip(tree.heads, tree.relations, strict=True))


@settings(deadline=None)
@given(trees())
def test_networkx_agrees(tree: Tree) -> None:
    networkx = pytest.importorskip("networkx")
    graph = tree.to_networkx(["w"] * len(tree))
    assert networkx.is_arborescence(graph)
    assert {m: graph.nodes[m]["relation"] for m in graph} == dict(enumerate(tree.relations, 1))
    assert {data["form"] for _, data in graph.nodes(data=True)} == {"w"}
    assert {(h, m) for m, h in enumerate(tree.heads, 1) if h} == set(graph.edges)
    lengths = dict(networkx.all_pairs_shortest_path_length(graph.to_undirected()))
    words = range(1, len(tree) + 1)
    assert tree.distances() == tuple(tuple(lengths[a][b] for b in words) for a in words)


def test_without_networkx_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(EasyFirstError, match="pip install networkx"):
        TREE.to_networkx()


@pytest.mark.parametrize("m", [-1, 7])
def test_words_that_are_not_there(m: int) -> None:
    for ask in (TREE.head, TREE.relation, TREE.children, TREE.subtree, TREE.span, TREE.depth, TREE.ancestors):
        with pytest.raises(InputError, match=f"there is no word {m} in a tree of 6 words"):
            ask(m)
    with pytest.raises(InputError, match="there is no word"):
        TREE.path(1, m)
    with pytest.raises(InputError, match="2 forms for a tree of 6 words"):
        TREE.to_dict(["a", "b"])


def test_a_cycle_is_an_error_and_never_an_endless_loop() -> None:
    tree = Tree((0, 3, 2), ("root", "a", "b"))
    for ask in (
        lambda: tree.depth(2),
        lambda: tree.subtree(3),
        lambda: tree.path(1, 2),
        lambda: tree.is_projective,
        tree.distances,
        tree.to_dict,
    ):
        with pytest.raises(InputError, match="form a cycle"):
            ask()


@pytest.mark.parametrize(
    ("heads", "relations", "message"),
    [
        ((2, 0), ("det",), "2 heads and 1 relation"),
        ((3, 0), ("a", "b"), "word 1 has head 3 in a tree of 2 words"),
        ((0, -1), ("a", "b"), "word 2 has head -1"),
    ],
)
def test_what_is_no_tree_at_all(heads: tuple[int, ...], relations: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tree(heads, relations)


def test_there_may_be_no_root() -> None:
    with pytest.raises(InputError, match="cycle"):
        _ = Tree((2, 1), ("a", "b")).root
    with pytest.raises(InputError, match="no words"):
        _ = Tree((), ()).root


def test_with_several_roots_the_way_leads_over_0() -> None:
    tree = Tree((0, 1, 0), ("root", "a", "root"))
    assert tree.path(2, 3) == (2, 1, 0, 3)
    assert tree.lowest_common_ancestor(2, 3) == 0
    assert tree.distances()[1][2] == 3
    with pytest.raises(InputError, match="2 words have the head 0"):
        tree.to_dict()


def test_deep_trees_are_no_problem() -> None:
    n = 3000
    chain = Tree((*range(2, n + 1), 0), ("x",) * n)
    assert chain.depth(1) == n - 1
    assert chain.span(n) == (1, n)
    assert chain.is_projective
    assert chain.to_dict()["id"] == n
