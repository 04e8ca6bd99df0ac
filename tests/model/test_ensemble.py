"""Ensembles: the arrays of their members, and which parsers do not fit together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easyfirst.errors import ConfigError, ModelError
from easyfirst.model.embeddings import Embeddings
from easyfirst.model.ensemble import make_ensemble
from easyfirst.model.lexicon import numbered
from easyfirst.model.parser_config import ParserConfig
from easyfirst.model.parser_store import ParserModel, load_parser, save_parser
from easyfirst.model.shared_vectors import SharedVectors
from easyfirst.nn.members import MAX_MEMBERS, join_members, split_members
from easyfirst.parser import Parser
from easyfirst.treebank.sentence import Sentence
from tests.calibrations import BY_HAND
from tests.parsing.small_parsers import engine_of

MakeModel = Callable[..., ParserModel]
NAMES = ("a", "b", "c")


@pytest.fixture
def three(make_model: MakeModel) -> list[ParserModel]:
    models = [make_model(seed=seed, tags="both", spelling_dim=2) for seed in range(3)]
    return [
        replace(m, config=replace(m.config, training=replace(m.config.training, seed=7 + n)))
        for n, m in enumerate(models)
    ]


def first_scores(model: ParserModel, sentences: list[Sentence]) -> list[float]:
    """Return the score of each sentence's first attachment, which depends on no other."""
    return [float(parse.steps.scores[0]) for parse in Parser(model).parse(sentences) if len(parse.heads) > 1]


def test_splitting_undoes_joining() -> None:
    members = [{"x": n, "y": 10 * n} for n in range(12)]
    assert split_members(join_members(members), 12) == members


def test_members_keep_their_arrays(three: list[ParserModel]) -> None:
    combined = make_ensemble(three, NAMES)
    assert combined.config.members == 3
    assert combined.config.network == three[0].config.network
    for arrays, model in zip(split_members(combined.arrays, 3), three, strict=True):
        assert arrays.keys() == model.arrays.keys()
        assert all(np.array_equal(arrays[name], array) for name, array in model.arrays.items())


def test_what_is_combined_is_saved_and_loaded(
    three: list[ParserModel], tmp_path: Path, sentences: list[Sentence]
) -> None:
    combined = make_ensemble(three, NAMES)
    for bits in (32, 16):
        save_parser(tmp_path / str(bits), combined, bits=bits)
        loaded = load_parser(tmp_path / str(bits))
        assert loaded.config == combined.config
        found, expected = (first_scores(model, sentences) for model in (loaded, combined))
        np.testing.assert_allclose(found, expected, atol=1e-6 if bits == 32 else 0.05)


def test_eight_bits(make_model: MakeModel, tmp_path: Path, sentences: list[Sentence]) -> None:
    combined = make_ensemble([make_model(seed=seed, tree_dim=32, vector_dim=32) for seed in (1, 2)], NAMES[:2])
    save_parser(tmp_path, combined, bits=8)
    found, expected = (first_scores(model, sentences) for model in (load_parser(tmp_path), combined))
    np.testing.assert_allclose(found, expected, atol=0.1)
    assert found != expected


def test_a_calibration_is_of_other_scores(three: list[ParserModel]) -> None:
    calibrated = replace(three[0], calibration=BY_HAND)
    assert make_ensemble([calibrated, three[1]], NAMES[:2]).calibration is None


def test_combining_what_has_been_combined(three: list[ParserModel]) -> None:
    at_once = make_ensemble(three, NAMES)
    in_steps = make_ensemble([make_ensemble(three[:2], NAMES[:2]), three[2]], ("ab", "c"))
    assert in_steps.config.members == 3
    assert all(np.array_equal(in_steps.arrays[name], array) for name, array in at_once.arrays.items())


def test_a_tag_that_a_member_has_never_met_is_unknown_to_it(
    three: list[ParserModel], sentences: list[Sentence]
) -> None:
    """Predicted tags may differ from one training to the other, and be in another order."""
    one, other = three[0], three[1]
    order = [0, *reversed(range(2, len(other.vocabulary.tags["xpos"]) + 1))]  # without the first
    names = list(other.vocabulary.tags["xpos"])
    fewer = replace(
        other,
        vocabulary=replace(
            other.vocabulary,
            tags={**other.vocabulary.tags, "xpos": numbered([names[row - 1] for row in order[1:]])},
        ),
        arrays={**other.arrays, "words.xpos": other.arrays["words.xpos"][order]},
    )
    for models in ([one, fewer], [fewer, one]):
        combined = make_ensemble(models, NAMES[:2])
        assert set(combined.vocabulary.tags["xpos"]) == set(names)
        alone = [engine_of(Parser(model)).encode(sentences) for model in models]
        np.testing.assert_allclose(
            engine_of(Parser(combined)).encode(sentences), np.concatenate(alone, axis=1), atol=1e-6
        )


class TestVectors:
    def model_with(self, make_model: MakeModel, seed: int, values: int, *, is_shared: bool) -> ParserModel:
        table = np.random.default_rng(values).normal(size=(2, 5)).astype(np.float32)
        vectors = SharedVectors.of(Embeddings(("The", "fox"), table))
        model = make_model(seed=seed, external=["The", "fox"])
        arrays = {**model.arrays, "words.external": vectors.table}
        return replace(model, arrays=arrays, vectors=vectors if is_shared else None)

    def test_shared_ones_are_stored_once(self, make_model: MakeModel, tmp_path: Path) -> None:
        models = [self.model_with(make_model, seed, 0, is_shared=True) for seed in (1, 2)]
        combined = make_ensemble(models, NAMES[:2])
        assert [name for name in combined.arrays if "external" in name] == ["words.external"]
        save_parser(tmp_path, combined)
        loaded = load_parser(tmp_path)
        assert np.array_equal(loaded.arrays["words.external"], models[0].arrays["words.external"])
        alone = [engine_of(Parser(model)).encode([Sentence.from_words(["The", "fox"])]) for model in models]
        both = engine_of(Parser(loaded)).encode([Sentence.from_words(["The", "fox"])])
        np.testing.assert_allclose(both, np.concatenate(alone, axis=1), atol=1e-6)

    def test_those_that_were_trained_on_are_each_members_own(self, make_model: MakeModel, tmp_path: Path) -> None:
        models = [self.model_with(make_model, seed, seed, is_shared=False) for seed in (1, 2)]
        save_parser(tmp_path, make_ensemble(models, NAMES[:2]))
        loaded = load_parser(tmp_path)
        assert np.array_equal(loaded.arrays["member1.words.external"], models[1].arrays["words.external"])

    def test_others_are_refused(self, make_model: MakeModel) -> None:
        models = [self.model_with(make_model, seed, seed, is_shared=True) for seed in (1, 2)]
        with pytest.raises(ModelError, match="b does not fit into an ensemble with a: its word vectors are different"):
            make_ensemble(models, NAMES[:2])

    def test_some_without(self, make_model: MakeModel) -> None:
        with_vectors = self.model_with(make_model, 1, 1, is_shared=True)
        for other in (make_model(seed=2), self.model_with(make_model, 2, 1, is_shared=False)):
            for models in ([with_vectors, other], [other, with_vectors]):
                with pytest.raises(ModelError, match=r"word vectors are different; .* --freeze-embeddings or none"):
                    make_ensemble(models, NAMES[:2])

    def test_another_width(self, make_model: MakeModel) -> None:
        one, other = (self.model_with(make_model, seed, 0, is_shared=False) for seed in (1, 2))
        wider = replace(other, arrays={**other.arrays, "words.external": np.zeros((3, 6), dtype=np.float32)})
        with pytest.raises(ModelError, match="have another width"):
            make_ensemble([one, wider], NAMES[:2])


class TestRefused:
    def test_one_alone(self, three: list[ParserModel]) -> None:
        with pytest.raises(ModelError, match="two models or more"):
            make_ensemble(three[:1], NAMES[:1])

    def test_the_same_twice(self, three: list[ParserModel]) -> None:
        with pytest.raises(ModelError, match="c is the same parser as a"):
            make_ensemble([three[0], three[1], three[0]], NAMES)

    def test_a_packed_copy(self, three: list[ParserModel], tmp_path: Path) -> None:
        for bits in (16, 8):
            save_parser(tmp_path / f"{bits}", three[0], bits=bits)
            packed = load_parser(tmp_path / f"{bits}")
            with pytest.raises(ModelError, match="c is the same parser as a"):
                make_ensemble([three[0], three[1], packed], NAMES)

    def test_another_network(self, make_model: MakeModel) -> None:
        with pytest.raises(ModelError, match=r"b does not .* a: its network is .* \(network.window is 1, not 2\)"):
            make_ensemble([make_model(), make_model(window=1)], NAMES[:2])

    def test_a_member_of_another(self, three: list[ParserModel]) -> None:
        pair = make_ensemble(three[:2], NAMES[:2])
        with pytest.raises(ModelError, match="b is the same parser as ab"):
            make_ensemble([pair, three[1]], ("ab", "b"))
        with pytest.raises(ModelError, match="ab has a member of b"):
            make_ensemble([three[1], pair], ("b", "ab"))

    @pytest.mark.parametrize(
        ("what", "message"),
        [
            ({"relations": ("a", "b", "c", "d")}, "other relations"),
            ({"root_relation": "top"}, "other root relations"),
            ({"words": {}}, "other words"),
            ({"characters": {}}, "other characters"),
        ],
    )
    def test_other_names(self, three: list[ParserModel], what: dict[str, object], message: str) -> None:
        other = replace(three[1], vocabulary=replace(three[1].vocabulary, **what))
        with pytest.raises(ModelError, match=f"it has {message}; train all of them on the same treebank"):
            make_ensemble([three[0], other], NAMES[:2])

    def test_too_many(self, make_model: MakeModel) -> None:
        models = [make_model(seed=seed) for seed in range(MAX_MEMBERS + 1)]
        with pytest.raises(ModelError, match="17 members are too many"):
            make_ensemble(models, [str(seed) for seed in range(MAX_MEMBERS + 1)])

    @pytest.mark.parametrize("members", [0, MAX_MEMBERS + 1, "2", True])
    def test_numbers_of_members_that_there_are_not(self, members: object) -> None:
        with pytest.raises(ConfigError, match="members must be"):
            ParserConfig.from_dict({"members": members})


def test_the_card(three: list[ParserModel]) -> None:
    scores = "| all words, full relations (selects the model) | 90.12 | 88.34 | 1,234 |"
    sections = [
        "# a\n\n- Licence: CC0; with care",
        "## Data\n\n| rows |\n\n<!-- mark -->",
        "## Whose\n\nThanks.",
        f"## Scores\n\n{scores}",
        "## Confidence\n\nstale",
    ]
    first = replace(three[0], card="\n\n".join(sections) + "\n")
    card = make_ensemble([first, *three[1:]], NAMES).card
    assert card.startswith("# a + b + c\n")
    assert "3 networks" in card
    assert "| `a` | 1 | 7 | 90.12 | 88.34 |" in card
    assert "| `b` | 1 | 8 |  |  |" in card
    assert "## Data\n\n| rows |\n\n## Whose\n\nThanks.\n\n## Scores" in card
    assert "- Licence: CC0; with care; not stated" in card
    assert "mark" not in card
    assert "stale" not in card
    assert "Not measured" in card
