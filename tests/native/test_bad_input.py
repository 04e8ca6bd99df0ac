"""Input that is out of range and weights that are not numbers: an exception, never a crash or a silent result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from easyfirst.errors import ModelError
from easyfirst.native.compiled import Members
from easyfirst.native.encoder import Encoder, Given
from easyfirst.native.library import Core
from easyfirst.nn.characters import Spelling
from easyfirst.nn.parser_network import network_of
from easyfirst.nn.words import WordIds
from tests.native.cores import each_precision, run_python
from tests.native.networks import N_FORMS, LivelyModel, numpy_vectors, parse, random_ids, small_config
from tests.nn.random_models import N_TAGS, N_WORDS
from tests.twins import N_CHARACTERS

LENGTHS = [9, 7, 3, 1]
MODEL = LivelyModel(small_config(), 1, n_relations=4, has_external=True)
ALL_NANS = [np.uint32(bits).view(np.float32) for bits in (0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FC12345)]
"""The usual one, its negative, a signalling one, and one with random bits."""


def ids() -> WordIds:
    return random_ids(MODEL, sum(LENGTHS), 1)


class TestNumbersOutOfRange:
    BAD = (-1, -(2**31), 2**31 - 1, 10**6)

    @pytest.mark.parametrize("bad", BAD)
    @pytest.mark.parametrize("field", ["words", "external", "tags", "forms", "characters"])
    def test_rows(self, core: Core, field: str, bad: int) -> None:
        changed = ids()
        assert changed.spelling is not None
        arrays = {"tags": changed.tags[0], "characters": changed.spelling.characters}
        array = arrays[field] if field in arrays else getattr(changed, field)
        for place in (0, -1):
            before = array[place]
            array[place] = bad
            with pytest.raises(ValueError, match="out of range"):
                parse(core, [MODEL.network], changed, LENGTHS)
            array[place] = before
        parse(core, [MODEL.network], changed, LENGTHS)

    def test_the_first_row_beyond_a_table(self, core: Core) -> None:
        changed = ids()
        assert changed.external is not None
        assert changed.forms is not None
        assert changed.spelling is not None
        arrays = {
            N_WORDS: (changed.words, changed.external),
            N_TAGS: changed.tags,
            N_FORMS: (changed.forms,),
            N_CHARACTERS: (changed.spelling.characters,),
        }
        for size, of_size in arrays.items():
            for array in of_size:
                before = array[-1]
                array[-1] = size
                with pytest.raises(ValueError, match="out of range"):
                    parse(core, [MODEL.network], changed, LENGTHS)
                array[-1] = before

    def test_every_member_of_an_ensemble_is_checked(self, core: Core) -> None:
        shorter = {**MODEL.arrays, "words.embedding": MODEL.arrays["words.embedding"][: N_WORDS // 2]}
        networks = [MODEL.network, network_of(shorter, rnn="lstm")]
        assert ids().words.max() >= N_WORDS // 2
        for order in (networks, networks[::-1]):
            with pytest.raises(ValueError, match="out of range"):
                parse(core, order, ids(), LENGTHS)

    @pytest.mark.parametrize(
        "lengths", [[9, 7], [21], [9, 7, 3, 2], [3, 7, 9, 1], [9, 11], [20, 0], [25, -5], [-20], [2**31 - 1], [0]]
    )
    def test_lengths_of_sentences(self, core: Core, lengths: list[int]) -> None:
        with pytest.raises(ValueError, match=r"add up|out of range"):
            parse(core, [MODEL.network], ids(), lengths)

    @pytest.mark.parametrize("change", [-1, 1, -(10**6), 2**31 - 20])
    @pytest.mark.parametrize("place", [0, 8, -1])
    def test_lengths_of_forms(self, core: Core, change: int, place: int) -> None:
        changed = ids()
        assert changed.spelling is not None
        changed.spelling.lengths[place] += change
        with pytest.raises(ValueError, match=r"add up|out of range"):
            parse(core, [MODEL.network], changed, LENGTHS)

    def test_forms_of_no_length_and_not_sorted(self, core: Core) -> None:
        changed = ids()
        assert changed.spelling is not None
        for lengths in ([*changed.spelling.lengths[::-1]], [*changed.spelling.lengths[:-1], 0, 1]):
            total = int(sum(lengths))
            spelling = Spelling(np.zeros(total, dtype=np.int64), np.array(lengths))
            words = WordIds(changed.words, changed.external, changed.tags, changed.forms, spelling)
            with pytest.raises(ValueError, match="out of range"):
                parse(core, [MODEL.network], words, LENGTHS)

    @pytest.mark.parametrize("number", [0, -1, -(2**31)])
    def test_groups_and_rows(self, core: Core, number: int) -> None:
        members, words = Members(core, [MODEL.network], "float32"), Given.of_words(LENGTHS, ids())
        for sizes in ({"group": number}, {"rows": number}):
            with pytest.raises(ValueError, match="out of range"):
                members.parse(words, **sizes)


class TestMissingInput:
    """The encoder reads more than it is given."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda words: WordIds(words.words, None, words.tags, words.forms, words.spelling),
            lambda words: WordIds(words.words, words.external, (), words.forms, words.spelling),
            lambda words: WordIds(words.words, words.external, words.tags, None, words.spelling),
            lambda words: WordIds(words.words, words.external, words.tags, words.forms, None),
            lambda words: WordIds(words.words, words.external, words.tags * 2, words.forms, words.spelling),
            lambda words: WordIds(words.words[:1], words.external, words.tags, words.forms, words.spelling),
            lambda words: WordIds(words.words, words.external, words.tags, words.forms[:-1], words.spelling),
        ],
    )
    def test_words(self, core: Core, change: Callable[[WordIds], WordIds]) -> None:
        with pytest.raises(ValueError, match=r"add up|out of range|encoder reads"):
            parse(core, [MODEL.network], change(ids()), LENGTHS)

    def test_vectors_of_another_width(self, core: Core) -> None:
        encoder = Encoder(core, width=6, stacks=MODEL.network.words.stacks[:0], precision="float32")
        assert encoder.read([2], vectors=np.ones((2, 6))).shape == (2, 6)
        for vectors in (np.ones((2, 5)), np.ones((2, 7)), np.ones(2), np.ones((3, 6))):
            with pytest.raises(ValueError, match=r"add up|encoder reads"):
                encoder.read([2], vectors=vectors)
        with pytest.raises(ValueError, match="encoder reads"):
            encoder.read([2], [np.zeros(2, dtype=np.int64)])

    def test_vectors_instead_of_rows(self, core: Core) -> None:
        characters = MODEL.network.words.characters
        assert characters is not None
        encoder = Encoder(core, tables=[characters.embedding], stacks=[characters.layers], precision="float32")
        with pytest.raises(ValueError, match="encoder reads"):
            encoder.read([50], vectors=np.ones((50, 3)))

    def test_vectors_of_forms(self, core: Core) -> None:
        tables, characters = [np.ones((3, 4), dtype=np.float32)], MODEL.network.words.characters
        encoder = Encoder(core, tables=tables, form_dim=2, characters=characters, precision="float32")
        words, forms = np.array([0, 1, 2]), np.array([0, 4, 1])
        spelling = Spelling(np.zeros(5, dtype=np.int64), np.ones(5, dtype=np.int64))
        given = {"forms": forms, "form_vectors": np.ones((5, 2)), "spelling": spelling}
        assert encoder.read([3], [words], **given).shape == (3, 12)
        for changes in (
            {"form_vectors": np.ones((5, 1))},
            {"form_vectors": np.ones((4, 2))},
            {"form_vectors": None},
            {"spelling": None},
            {"spelling": Spelling(np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64))},
            {"forms": None},
        ):
            with pytest.raises(ValueError, match=r"as many|out of range|encoder reads"):
                encoder.read([3], [words], **{**given, **changes})

    def test_networks_that_do_not_go_together(self, core: Core) -> None:
        for other in (
            LivelyModel(small_config(), 2, n_relations=5),
            LivelyModel(small_config(window=2), 2, n_relations=4),
        ):
            with pytest.raises(ValueError, match="same window and the same relations"):
                Members(core, [MODEL.network, other.network], "float32")
        with pytest.raises(ValueError, match="same window and the same relations"):
            Members(core, [], "float32")


class TestNotFinite:
    @each_precision
    @pytest.mark.parametrize("name", sorted(MODEL.arrays))
    def test_weights_that_are_nan(self, core: Core, name: str, precision: str) -> None:
        for nan in ALL_NANS:
            arrays = {**MODEL.arrays, name: np.full_like(MODEL.arrays[name], nan)}
            with pytest.raises(ModelError, match="not finite"), np.errstate(all="ignore"):
                parse(core, [network_of(arrays, rnn="lstm")], ids(), LENGTHS, precision)

    @each_precision
    @pytest.mark.parametrize("name", ["words.embedding", "words.external", "words.upos", "characters.embedding"])
    def test_one_nan_in_a_row_that_is_used(self, core: Core, name: str, precision: str) -> None:
        words = ids()
        assert words.external is not None
        assert words.spelling is not None
        used = {"words.embedding": words.words, "words.external": words.external, "words.upos": words.tags[0]}
        row = used[name][3] if name in used else words.spelling.characters[:12].min()
        for column in range(MODEL.arrays[name].shape[1]):
            for nan in ALL_NANS:
                arrays = {**MODEL.arrays, name: MODEL.arrays[name].copy()}
                arrays[name][row, column] = nan
                with pytest.raises(ModelError, match="not finite"), np.errstate(all="ignore"):
                    parse(core, [network_of(arrays, rnn="lstm")], words, LENGTHS, precision)

    @each_precision
    @pytest.mark.parametrize("name", sorted(MODEL.arrays))
    def test_weights_that_are_infinite(self, core: Core, name: str, precision: str) -> None:
        """Infinity may be harmless, as tanh of it is 1; then all scores are numbers."""
        for bad in (np.inf, -np.inf, 3e38, -3e38):
            arrays = {**MODEL.arrays, name: MODEL.arrays[name].copy()}
            arrays[name].flat[::3] = bad
            with np.errstate(all="ignore"):
                try:
                    steps = parse(core, [network_of(arrays, rnn="lstm")], ids(), LENGTHS, precision)
                except ModelError:
                    continue
            assert np.isfinite(steps.scores).all()

    @each_precision
    def test_nan_goes_where_it_does_in_numpy(self, core: Core, precision: str) -> None:
        """Encoders raise no error, so a NaN must show in their results, and only in those that depend on it."""
        words = ids()
        arrays = {**MODEL.arrays, "words.embedding": MODEL.arrays["words.embedding"].copy()}
        for nan in ALL_NANS:
            arrays["words.embedding"][words.words[0], 2] = nan
            network = network_of(arrays, rnn="lstm")
            tables = [words.words, words.external, *words.tags]
            encoder = Encoder.of_words(core, network.words, precision)
            found = encoder.read(LENGTHS, tables, forms=words.forms, spelling=words.spelling)
            with np.errstate(invalid="ignore"):
                expected = numpy_vectors([network], words, LENGTHS)
            assert np.isnan(expected).any()
            assert not np.isnan(expected).all()
            np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


FUZZ = """
import numpy as np
from easyfirst.errors import ModelError
from easyfirst.native.encoder import Encoder, Given
from easyfirst.native.library import find_core
from easyfirst.native.compiled import Members
from easyfirst.nn.characters import Spelling
from easyfirst.nn.words import WordIds
from tests.native.networks import LivelyModel, random_ids, small_config

core, rng = find_core(), np.random.default_rng(SEED)
model = LivelyModel(small_config(), 1, n_relations=4, has_external=True)
members = Members(core, [model.network], PRECISION)
encoder = Encoder.of_words(core, model.network.words, PRECISION)
lengths = [9, 7, 3, 1]
good = random_ids(model, 20, 1)
expected = [array.tobytes() for array in members.parse(Given.of_words(lengths, good))]
refused = 0

def nasty(array):
    array = np.array(array, dtype=np.int64)
    kind, place = rng.integers(6), rng.integers(len(array))
    if kind == 0:
        array[:] = np.frombuffer(rng.bytes(8 * len(array)), dtype=np.int64)
    elif kind == 1:
        array[:] = np.frombuffer(rng.bytes(4 * len(array)), dtype=np.int32)
    elif kind == 2:
        array[place] = rng.choice([-1, 0, 2**31 - 1, -2**31, 2**31, 2**32, 2**63 - 1, -2**63, 10**9])
    elif kind == 3:
        array = rng.permutation(array)
    elif kind == 4:
        array = array[:place]
    else:
        array = np.concatenate([array, array[:1 + place]])
    return array

for _ in range(2000):
    words, external, tags, forms = good.words, good.external, good.tags, good.forms
    characters, sizes, of_sentences = good.spelling.characters, good.spelling.lengths, lengths
    for field in rng.choice(7, size=rng.integers(1, 4), replace=False):
        if field == 0: words = nasty(words)
        if field == 1: external = nasty(external)
        if field == 2: tags = tuple(nasty(each) for each in tags)
        if field == 3: forms = nasty(forms)
        if field == 4: characters = nasty(characters)
        if field == 5: sizes = nasty(sizes)
        if field == 6: of_sentences = nasty(of_sentences)
    try:
        ids = WordIds(words, external, tags, forms, Spelling(characters, sizes))
        given = Given.of_words(of_sentences, ids)
        steps = members.parse(given)
        assert np.isfinite(steps.scores).all()
        encoder.read(of_sentences, [words, external, *tags], forms=forms, spelling=ids.spelling)
    except (ValueError, ModelError, MemoryError, OverflowError):
        refused += 1
assert refused > 1000, refused
assert [array.tobytes() for array in members.parse(Given.of_words(lengths, good))] == expected
print("survived")
"""


@each_precision
def test_random_numbers_crash_nothing(precision: str) -> None:
    found = run_python(FUZZ.replace("SEED", "7").replace("PRECISION", repr(precision)))
    assert (found.returncode, found.stdout.strip(), found.stderr) == (0, "survived", "")


RANDOM_WEIGHTS = """
import numpy as np
from easyfirst.errors import ModelError
from easyfirst.native.library import find_core
from easyfirst.nn.parser_network import network_of
from tests.native.networks import LivelyModel, parse, random_ids, small_config

core, rng, refused, kept = find_core(), np.random.default_rng(3), 0, 0
np.seterr(all="ignore")
model = LivelyModel(small_config(), 1, n_relations=4, has_external=True)
for number in range(150):
    arrays = {name: array.copy() for name, array in model.arrays.items()}
    for name in rng.choice(sorted(arrays), size=rng.integers(1, 4), replace=False):
        flat = arrays[name].reshape(-1)
        places = rng.integers(len(flat), size=rng.integers(1, 1 + len(flat)))
        flat[places] = np.frombuffer(rng.bytes(4 * len(places)), dtype=np.float32)
    try:
        steps = parse(core, [network_of(arrays, rnn="lstm")], random_ids(model, 20, number), [9, 7, 3, 1], PRECISION)
        assert np.isfinite(steps.scores).all()
        kept += 1
    except ModelError:
        refused += 1
assert refused and kept, (refused, kept)
print("survived")
"""


@each_precision
def test_weights_of_random_bytes_crash_nothing(precision: str) -> None:
    found = run_python(RANDOM_WEIGHTS.replace("PRECISION", repr(precision)))
    assert (found.returncode, found.stdout.strip(), found.stderr) == (0, "survived", "")
