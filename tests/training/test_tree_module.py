"""The public tree encoder against the recursive definition of section 3, in all orders and in both libraries."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import easyfirst
from easyfirst import NumpyTreeEncoder, Tree, TreeEncoder
from easyfirst.errors import ConfigError, InputError, ModelError
from easyfirst.meaning.encoder_model import EncoderConfig, EncoderModel
from easyfirst.nn.tree_levels import ORDERS
from easyfirst.parsing.actions import easiest
from easyfirst.parsing.nodes import Member, Nodes
from easyfirst.parsing.state import State
from easyfirst.parsing.workspace import Workspace
from tests.nn.random_models import kinds_of_models
from tests.small_models import small_model
from tests.twins import LEFT, RIGHT, Rnn

NAMES = ("nsubj", "obj", "det")


class Recursion:
    """c of a subtree, one node at a time, with nothing of the package but the names of the arrays."""

    def __init__(self, model: EncoderModel, arrays: dict[str, Any]) -> None:
        self._order, self.rnn, self.xp, self.arrays = model.config.order, model.config.rnn, torch, arrays
        self._rows = {name: row for row, name in enumerate(model.relations)}

    def c(self, tree: Tree, vectors: Sequence[torch.Tensor], t: int) -> torch.Tensor:
        outputs: list[torch.Tensor] = []
        prefixes = {"outward": ["rnn"], "inward": ["rnn"], "bidirectional": ["rnn", "inward"]}[self._order]
        for prefix in prefixes:
            for side, words in ((LEFT, range(t - 1, 0, -1)), (RIGHT, range(t + 1, len(tree) + 1))):
                modifiers = [m for m in words if tree.heads[m - 1] == t]
                items = [vectors[t - 1], *(self.enc(tree, vectors, m) for m in modifiers)]
                if self._order == "inward" or prefix == "inward":
                    items.reverse()
                rnn = Rnn(self, prefix, side)  # pyright: ignore[reportArgumentType]
                for item in items:
                    rnn.append(item)
                outputs.append(rnn.output)
        return torch.concatenate(outputs)

    def enc(self, tree: Tree, vectors: Sequence[torch.Tensor], m: int) -> torch.Tensor:
        parts = [self.c(tree, vectors, m)]
        if "relation" in self.arrays:
            relation, table = tree.relations[m - 1], self.arrays["relation"]
            row = self._rows.get(relation, self._rows.get(relation.split(":")[0]))
            parts.append(0 * table[0] if row is None else table[row])
        return torch.tanh(torch.concatenate(parts) @ self.arrays["encode"] + self.arrays["bias"])


def parameters_of(encoder: TreeEncoder) -> dict[str, torch.Tensor]:
    return {name: encoder.get_parameter(name.replace(".", "_")) for name in encoder.model.arrays}


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree, or several beside each other: arcs may cross, and relations may be unknown."""
    n = draw(st.integers(1, 8))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = draw(st.sampled_from([0, *order[:place]]))
    names = st.sampled_from([*NAMES, "nsubj:pass", "vocative", ""])
    return Tree(tuple(heads), tuple(draw(st.lists(names, min_size=n, max_size=n))))


@st.composite
def encoders(draw: st.DrawFn) -> TreeEncoder:
    made = TreeEncoder(
        draw(st.integers(1, 4)),
        draw(st.integers(1, 4)),
        relations=draw(st.sampled_from([(), NAMES])),
        order=draw(st.sampled_from(ORDERS)),
        layers=draw(st.integers(1, 2)),
        relation_dim=draw(st.integers(1, 3)),
        rnn=draw(st.sampled_from(["lstm", "gru", "elman"])),
        seed=draw(st.integers(0, 1000)),
    )
    with torch.no_grad():
        for parameter in made.parameters():  # no bias is zero
            parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(7))
    return made


@settings(deadline=None, max_examples=80)
@given(encoders(), st.lists(trees(), min_size=1, max_size=3), st.integers(0, 1000))
def test_values_and_gradients_are_those_of_the_recursion(encoder: TreeEncoder, batch: list[Tree], seed: int) -> None:
    encoder = encoder.double()
    n = sum(map(len, batch))
    rng = np.random.default_rng(seed)
    of_result = torch.from_numpy(rng.normal(size=(n, encoder.dim)))
    found: list[tuple[torch.Tensor, dict[str, torch.Tensor], torch.Tensor]] = []
    for is_naive in (False, True):
        vectors = torch.from_numpy(np.random.default_rng(seed).normal(size=(n, encoder.config.vector_dim)))
        vectors.requires_grad_()
        encoder.zero_grad()
        if is_naive:
            recursion = Recursion(encoder.model, parameters_of(encoder))
            rows: list[torch.Tensor] = []
            for tree in batch:
                own = list(vectors[len(rows) : len(rows) + len(tree)])
                rows += [recursion.c(tree, own, t) for t in range(1, len(tree) + 1)]
            c = torch.stack(rows)
        else:
            c = encoder(batch, vectors)
        (c * of_result).sum().backward()
        grads = {
            name: torch.zeros_like(x) if x.grad is None else x.grad.clone()
            for name, x in parameters_of(encoder).items()
        }
        assert vectors.grad is not None
        found.append((c.detach(), grads, vectors.grad))
    torch.testing.assert_close(*found)


@settings(deadline=None, max_examples=60)
@given(encoders(), st.lists(trees(), max_size=4), st.integers(0, 1000))
def test_numpy_computes_the_same(encoder: TreeEncoder, batch: list[Tree], seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(sum(map(len, batch)), encoder.config.vector_dim))
    expected = encoder(batch, torch.from_numpy(vectors.astype(np.float32))).detach().numpy()
    np.testing.assert_allclose(encoder.to_numpy()(batch, vectors), expected, atol=2e-6)


@settings(deadline=None, max_examples=30)
@given(encoders(), st.lists(trees(), min_size=1, max_size=4))
def test_a_tree_is_encoded_alike_alone_and_in_a_batch(encoder: TreeEncoder, batch: list[Tree]) -> None:
    vectors = torch.randn(sum(map(len, batch)), encoder.config.vector_dim)
    together = encoder(batch, vectors)
    start = 0
    for tree in batch:
        alone = encoder([tree], vectors[start : start + len(tree)])
        torch.testing.assert_close(together[start : start + len(tree)], alone)
        start += len(tree)


KINDS = [model for model in kinds_of_models() if model.config.tree_layers]


@pytest.mark.parametrize("model", KINDS)
def test_the_encoder_of_a_parser_is_what_parsing_computes(model: Any) -> None:
    """The states that the NumPy engine has at the end are those of the finished trees."""
    batch = model.sentences([9, 7, 7, 2, 1], seed=3)
    vectors, lengths = model.vectors(batch), [len(sample) for sample in batch]
    member = Member.of(model.network, 1)
    state = State.start([member], vectors, lengths, Workspace())
    heads = [[0] * n for n in lengths]
    relations = [["root"] * n for n in lengths]
    starts = np.cumsum([0, *lengths])
    for step in range(1, lengths[0]):
        n_active = sum(n > step for n in lengths)
        actions = easiest(state.candidates, n_active)
        h, m = state.arcs_of(actions)
        n_next = sum(n > step + 1 for n in lengths)
        if n_next:
            state.attach(h[:n_next], m[:n_next], actions)
        over = slice(
            n_next, None
        )  # the parser skips the last attachment of a sentence, since nothing is scored after it
        if len(h[over]):
            state.nodes[0].attach(h[over], m[over], actions.directions[over], actions.relations[over])
        for sentence, (head, modifier, relation) in enumerate(zip(h, m, actions.relations, strict=True)):
            heads[sentence][modifier - starts[sentence]] = int(head - starts[sentence]) + 1
            relations[sentence][modifier - starts[sentence]] = str(relation)
    [nodes] = state.nodes
    assert isinstance(nodes, Nodes)
    made = [Tree(tuple(of_heads), tuple(names)) for of_heads, names in zip(heads, relations, strict=True)]
    arrays = {name.removeprefix("trees."): array for name, array in model.arrays.items() if name.startswith("trees.")}
    del arrays["padding"]
    sizes = {name: getattr(model.config, name) for name in ("vector_dim", "tree_dim", "tree_layers", "relation_dim")}
    encoder = NumpyTreeEncoder(EncoderModel(EncoderConfig(**sizes, rnn=model.config.rnn), model.relation_names, arrays))
    np.testing.assert_allclose(encoder(made, vectors), nodes.c[:-1], atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_an_encoder_starts_from_a_parser(order: str) -> None:
    model = small_model("upos")
    encoder = TreeEncoder.of_parser(SimpleNamespace(model=model), order=order)
    assert encoder.config.order == order
    assert encoder.relations == model.vocabulary.plain_relations
    tree, vectors = Tree((2, 0, 2), ("det", "root", "obj")), torch.randn(3, encoder.config.vector_dim)
    outward = TreeEncoder.of_parser(SimpleNamespace(model=model))([tree], vectors)
    if order != "inward":  # the second direction changes nothing yet
        torch.testing.assert_close(encoder([tree], vectors)[:, : outward.shape[1]], outward)
    alone = encoder([Tree((0,), ("root",))], vectors[:1])  # a single word is read alike in every order
    torch.testing.assert_close(alone[0, -outward.shape[1] :], outward[0])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relations", [(), NAMES])
def test_an_encoder_is_saved_and_loaded(tmp_path: Any, order: str, relations: tuple[str, ...]) -> None:
    encoder = TreeEncoder(4, 3, order=order, relations=relations, seed=3)
    encoder.save(tmp_path / "encoder")
    batch, vectors = [(2, 0, 2), (0, 1)], torch.randn(5, 4)
    expected = encoder(batch, vectors)
    loaded = TreeEncoder.load(tmp_path / "encoder")
    torch.testing.assert_close(loaded(batch, vectors), expected)
    assert (loaded.config, loaded.relations) == (encoder.config, relations)
    plain = NumpyTreeEncoder.load(tmp_path / "encoder")
    np.testing.assert_allclose(plain(batch, vectors.numpy()), expected.detach().numpy(), atol=1e-6)
    plain.save(tmp_path / "again")
    torch.testing.assert_close(TreeEncoder.load(tmp_path / "again")(batch, vectors), expected)


def test_training_changes_it_and_what_is_saved_is_new(tmp_path: Any) -> None:
    encoder = TreeEncoder(4, 3)
    before = encoder.to_numpy()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    vectors = torch.randn(3, 4)
    encoder([(2, 0, 2)], vectors).sum().backward()
    optimizer.step()
    assert not np.allclose(before([(2, 0, 2)], vectors), encoder.to_numpy()([(2, 0, 2)], vectors))
    encoder.save(tmp_path / "encoder")
    torch.testing.assert_close(TreeEncoder.load(tmp_path / "encoder").encode, encoder.encode)


def test_roots_are_rows_of_the_result() -> None:
    assert TreeEncoder.roots([(2, 0, 2), (0, 1)]).tolist() == [1, 3]
    assert NumpyTreeEncoder.roots([Tree((0,), ("root",))]).tolist() == [0]
    with pytest.raises(InputError, match="no words"):
        TreeEncoder.roots([()])


def test_trees_may_be_of_several_types() -> None:
    encoder, vectors = TreeEncoder(4, 3, relations=("det",)), torch.randn(2, 4)
    tree = Tree((2, 0), ("det", "root"))
    expected = encoder([tree], vectors)
    torch.testing.assert_close(encoder([SimpleNamespace(tree=tree)], vectors), expected)
    sentence = easyfirst.Sentence.from_words(["the", "fox"], heads=tree.heads, relations=tree.relations)
    torch.testing.assert_close(encoder([sentence], vectors), expected)
    without = easyfirst.Sentence.from_words(["the", "fox"])
    with pytest.raises(InputError, match="tree 2: word 1 'the' has no head"):
        encoder([sentence, without], vectors)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([(2, 1)], "tree 1: the heads form a cycle"),
        ([(0,), (1,)], "tree 2: the heads form a cycle"),
        ([(3, 0)], "tree 1: word 1 has head 3 in a tree of 2 words"),
        ([3], "tree 1 is 3; give a Tree"),
        (Tree((0,), ("root",)), "put a single tree into a list"),
        ([(0, 1, 1)], "the vectors have the shape .2, 4.; 1 trees of 3 words in all need .3, 4."),
    ],
)
def test_what_is_not_a_tree_is_refused(batch: Any, message: str) -> None:
    encoder = TreeEncoder(4, 3)
    for encode in (encoder, encoder.to_numpy()):
        with pytest.raises(InputError, match=message):
            encode(batch, torch.zeros(2, 4))


def test_what_cannot_be_made_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="order must be one of outward, inward, bidirectional, not 'sideways'"):
        TreeEncoder(order="sideways")
    with pytest.raises(ModelError, match="there is no model"):
        TreeEncoder.load(tmp_path / "none")
    TreeEncoder(4, 3).save(tmp_path / "encoder")
    with pytest.raises(ModelError, match="is an easyfirst-encoder, and an easyfirst-parser is needed"):
        easyfirst.load(tmp_path / "encoder")


def test_the_program_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "meaning.md").read_text(encoding="utf-8")
    [program] = re.findall(r"<!-- run by the tests of the tree encoder -->\n```python\n(.*?)```", page, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == re.findall(r"# (torch\.Size\(\[\d+, \d+\]\))", program)
    assert NumpyTreeEncoder.load(tmp_path / "my-encoder").dim == 600
