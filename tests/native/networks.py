"""Random networks and sentences of every size, and the core's derivations checked step by step against NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from easyfirst.model.parser_config import NetworkConfig
from easyfirst.native.compiled import Members, Steps
from easyfirst.native.encoder import Given
from easyfirst.native.library import Core
from easyfirst.nn.arrays import Ints
from easyfirst.nn.characters import Spelling
from easyfirst.nn.namespace import NUMPY
from easyfirst.nn.parser_network import Network
from easyfirst.nn.sequences import Packing
from easyfirst.nn.trees import LEFT, RIGHT
from easyfirst.nn.words import WordIds, encode_words
from easyfirst.parsing.actions import Actions
from easyfirst.parsing.candidates import Candidates
from easyfirst.parsing.loop import Loop
from tests.nn.random_models import N_TAGS, N_WORDS, Model
from tests.twins import N_CHARACTERS

N_FORMS = 17
TOLERANCE = 1e-5


def small_config(**changes: object) -> NetworkConfig:
    """Return a network of odd sizes, with one of everything."""
    sizes = {"word_dim": 5, "tag_dim": 3, "relation_dim": 3, "vector_dim": 14, "tree_dim": 11, "hidden_dim": 13}
    others = {"bilstm_layers": 2, "tree_layers": 2, "window": 1, "character_dim": 3, "spelling_dim": 3}
    return NetworkConfig(**{**sizes, **others, **changes})  # type: ignore[arg-type]


class LivelyModel(Model):
    """A model with small biases, so that its trees have arcs of both directions and many relations."""

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        arrays = Model.arrays.func(self)
        for name, array in arrays.items():
            if "bias" in name:
                array *= np.float32(0.1)
            elif name.startswith(("trees.rnn", "scorer.")):
                array *= np.float32(2)
        return arrays


@st.composite
def lstm_models(draw: st.DrawFn) -> LivelyModel:
    """Every kind of network that the core runs, of any small size."""
    config = NetworkConfig(
        word_dim=draw(st.integers(1, 20)),
        tag_dim=draw(st.integers(1, 9)),
        relation_dim=draw(st.integers(1, 9)),
        vector_dim=2 * draw(st.integers(1, 20)),
        bilstm_layers=draw(st.integers(0, 3)),
        deep_bilstm=draw(st.booleans()),
        character_dim=draw(st.integers(1, 9)),
        spelling_dim=draw(st.integers(0, 10)),
        tree_dim=draw(st.integers(1, 20)),
        tree_layers=draw(st.integers(0, 3)),
        hidden_dim=draw(st.integers(1, 20)),
        window=draw(st.integers(0, 3)),
        tags=draw(st.sampled_from(["none", "upos", "both"])),
    )
    seed, n_relations = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 20))
    return LivelyModel(config, seed, n_relations, has_external=draw(st.booleans()))


def ensemble(model: Model, n_members: int) -> list[Network]:
    """Return networks of the same kind with different weights."""
    return [replace(model, seed=model.seed + number).network for number in range(n_members)]


def random_ids(model: Model, n_words: int, seed: int) -> WordIds:
    """Return words drawn at random. Forms do not go with words, so that equal words have different spellings."""
    rng = np.random.default_rng(seed)
    lengths = np.sort(rng.integers(1, 12, size=N_FORMS))[::-1]
    has_characters = model.config.spelling_dim > 0
    return WordIds(
        words=rng.integers(N_WORDS, size=n_words),
        external=rng.integers(N_WORDS, size=n_words) if model.has_external else None,
        tags=tuple(rng.integers(N_TAGS, size=n_words) for _ in model.config.tag_kinds),
        forms=rng.integers(N_FORMS, size=n_words) if has_characters else None,
        spelling=Spelling(rng.integers(N_CHARACTERS, size=int(lengths.sum())), lengths) if has_characters else None,
    )


def numpy_vectors(networks: Sequence[Network], ids: WordIds, lengths: Sequence[int]) -> np.ndarray:
    """Return v_i by every network, side by side."""
    found = [encode_words(NUMPY, network.words, ids, Packing.of(lengths)) for network in networks]
    return np.concatenate(found, axis=1)


def parse(
    core: Core, networks: Sequence[Network], ids: WordIds, lengths: Sequence[int], precision: str = "float32"
) -> Steps:
    """Parse sentences, longest first, in the core."""
    return Members(core, networks, precision).parse(Given.of_words(lengths, ids))


@dataclass
class Replay:
    """A chooser for NumPy's loop that repeats what the core chose, and compares the scores of both."""

    steps: Steps
    lengths: Sequence[int]
    tolerance: float = TOLERANCE
    time: int = 0
    leads: list[float] = field(default_factory=list[float])
    """By how much each chosen action was better than any other, in NumPy's scores."""

    @cached_property
    def scale(self) -> float:
        """What rounding errors are compared with: scores are differences of numbers of about this size."""
        return max(1.0, float(np.abs(self.steps.scores).max()))

    def __post_init__(self) -> None:
        self.lost_margins = np.full(len(self.steps.lost_margins) + 1, np.inf)  # the last one is that of the outside

    def __call__(self, candidates: Candidates, n_active: int) -> Actions:
        starts = np.cumsum(self.lengths)[:n_active] - np.asarray(self.lengths)[:n_active]
        places = starts + self.time
        self.time += 1
        heads, modifiers = self.steps.heads[places] - 1 + starts, self.steps.modifiers[places] - 1 + starts
        left: Ints = np.minimum(heads, modifiers).astype(np.int64)
        directions: Ints = np.where(modifiers < heads, LEFT, RIGHT)
        relations = self.steps.relations[places].astype(np.int64)
        np.testing.assert_array_equal(candidates.pending.next[left], np.maximum(heads, modifiers))  # neighbours
        scores = candidates.scores_of(left, directions)[np.arange(n_active), relations]
        self._compare(self.steps.scores[places], scores)
        self._compare(self.steps.margins[places], scores - candidates.rival_arcs(left, directions))
        rivals = candidates.rival_relations(left, directions, relations)
        self._compare(self.steps.label_margins[places], scores - rivals)
        for words, lost in candidates.lost_arcs(left, directions):
            for word, lead in zip(words.tolist(), (scores - lost).tolist(), strict=True):
                self.lost_margins[word] = min(self.lost_margins[word], lead)
        best = candidates.best(n_active)
        assert (best.max(axis=1) - scores <= self.tolerance * self.scale).all()
        others = best.copy()
        others[np.arange(n_active), 2 * (left - starts) + directions] = -np.inf
        self.leads += (scores - np.maximum(others.max(axis=1), rivals)).tolist()
        return Actions(left, directions, relations, scores)

    def compare_lost_margins(self) -> None:
        self._compare(self.steps.lost_margins, self.lost_margins[:-1])

    def _compare(self, found: np.ndarray, expected: np.ndarray) -> None:
        np.testing.assert_allclose(found, expected, rtol=self.tolerance, atol=self.tolerance * self.scale)


def assert_right(
    networks: Sequence[Network],
    ids: WordIds,
    lengths: Sequence[int],
    steps: Steps,
    *,
    tolerance: float = TOLERANCE,
) -> list[float]:
    """Repeat a derivation in NumPy. Every action must be open to the parser and have NumPy's score and margins, and no
    other may be better, except by rounding. Return by how much the actions led."""
    vectors = numpy_vectors(networks, ids, lengths)
    replay = Replay(steps, lengths, tolerance)
    Loop(*networks).run(vectors, lengths, replay)
    assert replay.time == max(lengths) - 1
    replay.compare_lost_margins()
    return replay.leads
