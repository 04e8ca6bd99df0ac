"""Running out of memory is an exception, after which everything still works, and no memory is lost."""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from easyfirst.native.compiled import Members
from easyfirst.native.encoder import Encoder, Given
from easyfirst.native.library import Core
from easyfirst.native.matrix import Matrix
from tests.native.cores import IS_SANITIZED, each_precision, limited, run_python
from tests.native.networks import LivelyModel, ensemble, random_ids, small_config

LENGTHS = [40, 17, 9, 9, 3, 2, 2, 1]


def is_refused(run: Callable[[], bytes], expected: bytes) -> bool:
    """Return whether a call lacks memory. If it does not, its result must be right."""
    try:
        assert run() == expected
    except MemoryError:
        return True
    return False


def assert_fails_cleanly(core: Core, run: Callable[[], bytes], *, steps: int) -> None:
    """Raise the limit of memory step by step until it is enough. Every call either lacks memory or is right, and so
    does the next one in the same workspace."""
    expected, enough = run(), 1
    is_enough = False
    while not is_enough:
        enough *= 2
        with limited(core, enough):
            is_enough = not is_refused(run, expected)
    refused: list[bool] = []
    for limit in np.linspace(1, enough, steps, dtype=np.int64).tolist():
        with limited(core, limit):
            refused += [is_refused(run, expected), is_refused(run, expected)]
    assert refused[0]
    assert steps / 2 < refused.count(True) < 2 * steps
    with limited(core, 4 * enough):  # a workspace keeps a block for the next call, which may not fit in
        assert not any(is_refused(run, expected) for _ in range(5))


@each_precision
@pytest.mark.parametrize("n_members", [1, 2])
def test_parsing_with_little_memory(core: Core, precision: str, n_members: int) -> None:
    model = LivelyModel(small_config(), 1, n_relations=7)
    members = Members(core, ensemble(model, n_members), precision)
    words = Given.of_words(LENGTHS, random_ids(model, sum(LENGTHS), 1))
    assert_fails_cleanly(core, lambda: b"".join(array.tobytes() for array in members.parse(words, group=3)), steps=150)


@each_precision
def test_encoding_with_little_memory(core: Core, precision: str) -> None:
    model = LivelyModel(small_config(), 2)
    encoder = Encoder.of_words(core, model.network.words, precision)
    ids = random_ids(model, sum(LENGTHS), 2)
    tables = [ids.words, *ids.tags]
    assert_fails_cleanly(
        core, lambda: encoder.read(LENGTHS, tables, forms=ids.forms, spelling=ids.spelling).tobytes(), steps=80
    )


@each_precision
def test_products_with_little_memory(core: Core, precision: str) -> None:
    rng = np.random.default_rng(3)
    matrix = Matrix(core, rng.normal(size=(19, 23)), None, precision)
    x = rng.normal(size=(200, 19))
    assert_fails_cleanly(core, lambda: matrix.product(x).tobytes(), steps=80)


def test_a_workspace_recovers_for_smaller_sentences(core: Core) -> None:
    """After a call that needed too much memory, one that needs little succeeds in the same workspace."""
    model = LivelyModel(small_config(), 4)
    members = Members(core, [model.network], "int8")
    small, large = (Given.of_words([n], random_ids(model, n, 4)) for n in (3, 2000))
    expected = members.parse(small).heads.tobytes()
    with limited(core, 1_000_000):
        for _ in range(3):
            assert members.parse(small).heads.tobytes() == expected
            with pytest.raises(MemoryError, match="cannot allocate"):
                members.parse(large)


def test_a_workspace_reuses_its_memory(core: Core) -> None:
    """A limit that is enough for one call is enough for any number of calls."""
    model = LivelyModel(small_config(), 5)
    members = Members(core, [model.network], "int8")
    calls = [Given.of_words([n], random_ids(model, n, n)) for n in (1, 300, 2, 100, 250, 300)]
    workspace = core.new_workspace(8_000_000)
    core.workspace = lambda: nullcontext(workspace)  # type: ignore[method-assign]
    try:
        for _ in range(20):
            for words in calls:
                members.parse(words)
    finally:
        del core.workspace
        core.function("workspace_free")(workspace)


measures_memory = pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or IS_SANITIZED, reason="memory is measured with /proc"
)


def resident() -> int:
    """The memory of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


@measures_memory
@each_precision
def test_matrices_are_freed(core: Core, precision: str) -> None:
    weights = np.ones((500, 500), dtype=np.float32)  # 250 kB or 1 MB each
    for _ in range(20):
        Matrix(core, weights, None, precision)
    gc.collect()
    before = resident()
    for _ in range(300):
        Matrix(core, weights, None, precision)
    gc.collect()
    assert resident() - before < 25_000_000


@measures_memory
def test_workspaces_are_freed(core: Core) -> None:
    matrix, x = Matrix(core, np.ones((100, 100))), np.ones((5000, 100))
    with limited(core, 0):
        matrix.product(x)
    before = resident()
    for _ in range(200):
        with limited(core, 0):
            matrix.product(x)
    assert resident() - before < 25_000_000


LIMITED = """
import resource
import numpy as np
from easyfirst.native.encoder import Given
from easyfirst.native.library import find_core
from easyfirst.native.matrix import Matrix
from easyfirst.native.compiled import Members
from tests.native.networks import LivelyModel, random_ids, small_config

core = find_core()
model = LivelyModel(small_config(hidden_dim=300, window=3), 1)
members = Members(core, [model.network], "int8")
small, large = (Given.of_words([n], random_ids(model, n, 1)) for n in (20, 60_000))
expected = members.parse(small).heads.tobytes()
weights = np.zeros((3000, 3000), dtype=np.float32)
size = 4096 * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + 150_000_000, resource.RLIM_INFINITY))
for _ in range(2):
    try:
        members.parse(large)
    except MemoryError:
        print("refused")
    assert members.parse(small).heads.tobytes() == expected
try:
    kept = [Matrix(core, weights) for _ in range(100)]
except MemoryError:
    print("refused")
kept = []
assert members.parse(small).heads.tobytes() == expected
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux" or IS_SANITIZED, reason="needs RLIMIT_AS")
def test_the_system_refuses_memory() -> None:
    found = run_python(LIMITED)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.split() == ["refused", "refused", "refused", "done"]


SHRINKING = """
import resource
from easyfirst.native.encoder import Given
from easyfirst.native.library import find_core
from easyfirst.native.compiled import Members
from tests.native.networks import LivelyModel, random_ids, small_config

model = LivelyModel(small_config(hidden_dim=300, window=3), 1)
members = Members(find_core(), [model.network], "int8")
small, large = (Given.of_words([n], random_ids(model, n, 1)) for n in (20, 60_000))
expected = members.parse(small).heads.tobytes()
size = resource.getpagesize() * int(open("/proc/self/statm").read().split()[0])
for room in (150_000_000, 20_000_000):
    resource.setrlimit(resource.RLIMIT_AS, (size + room, resource.RLIM_INFINITY))
    if room > 100_000_000:
        try:
            members.parse(large)
        except MemoryError:
            print("refused")
for _ in range(3):
    assert members.parse(small).heads.tobytes() == expected
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux" or IS_SANITIZED, reason="needs RLIMIT_AS")
def test_a_small_sentence_needs_little_memory_after_a_large_one() -> None:
    """What a call took that failed is taken at once by the next one, but only if there is still memory for that."""
    found = run_python(SHRINKING)
    assert (found.returncode, found.stdout.split(), found.stderr) == (0, ["refused", "done"], "")


LONG = """
import resource
from easyfirst.native.encoder import Given
from easyfirst.native.library import find_core
from easyfirst.native.compiled import Members
from tests.native.networks import LivelyModel, random_ids, small_config

model = LivelyModel(small_config(), 1)
members = Members(find_core(), [model.network], "int8")
small, large = (Given.of_words([n], random_ids(model, n, 1)) for n in (20, 10_000))
members.parse(small)
size = resource.getpagesize() * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + 80_000_000, resource.RLIM_INFINITY))
members.parse(large)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux" or IS_SANITIZED, reason="needs RLIMIT_AS")
def test_memory_does_not_grow_with_the_steps_of_a_sentence() -> None:
    """It takes less than half of this room; what every step takes is given back after it."""
    found = run_python(LONG)
    assert (found.returncode, found.stdout.strip(), found.stderr) == (0, "done", "")
