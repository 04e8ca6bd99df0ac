"""Several processes that train a parser together: as one process would, and never without one another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import ConfigError, ModelError
from easyfirst.training.processes import ALONE, Group, processes
from tests.commands import run_here
from tests.patience import PATIENCE, wait_until

TOY = Path(__file__).parent.parent.parent / "examples" / "toy"
SETTINGS = {
    **{f"network.{name}_dim": 6 for name in ("word", "tag", "relation", "vector", "tree", "hidden")},
    "network.spelling_dim": 4,
    "training.averaging": 0.9,
    "training.attention": 0.5,
}
WITHOUT_CHANCE = {f"training.{name}": 0 for name in ("word_dropout", "explore_prob", "dropout", "attention")}


def command(out: Path, *more: str, **settings: object) -> list[str]:
    pairs = SETTINGS | {key.replace("_", ".", 1): value for key, value in settings.items()}
    options = [part for key, value in pairs.items() for part in ("--set", f"{key}={value}")]
    return ["train", str(TOY / "handwritten.conllu"), "--no-dev", "--out", str(out), *options, *more]


def weights(out: Path) -> dict[str, np.ndarray]:
    return safetensors.numpy.load_file(out / "weights.safetensors")


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40).flatmap(lambda x: st.tuples(st.just(x), st.permutations(x))),
    st.integers(1, 5),
)
def test_each_sentence_has_one_process_and_the_work_is_shared_evenly(
    drawn: tuple[list[int], list[int]], size: int
) -> None:
    lengths = np.array(drawn[1])
    numbers = np.flatnonzero(lengths % 3 != 1)
    shares = [Group(rank, size).share(numbers, lengths) for rank in range(size)]
    assert sorted(np.concatenate(shares)) == numbers.tolist()
    counts = [len(share) for share in shares]
    assert max(counts) - min(counts) <= 1
    if len(numbers):
        work = [int(lengths[share].sum()) for share in shares]
        assert max(work) - min(work) <= lengths[numbers].max()


def test_one_process_is_alone_and_none_is_too_few() -> None:
    with processes(1, print) as group:
        assert group is ALONE
        assert group.sums(1, 2.5) == (1, 2.5)
    with pytest.raises(ConfigError, match="at least 1"), processes(0, print):
        pass


@pytest.mark.slow
def test_two_processes_learn_what_one_learns_from_the_same_batches(tmp_path: Path) -> None:
    """Without chance, only the order of additions differs: an update reads as many violations of each process. (The
    loss of attention is a mean over the words of a process, so it is left out.)"""
    one = run_here(*command(tmp_path / "one", "--epochs", "1", training_update_after=20, **chance_free()))
    two = run_here(
        *command(tmp_path / "two", "--epochs", "1", "--processes", "2", training_update_after=10, **chance_free())
    )
    assert one.returncode == two.returncode == 0, two.stderr
    expected, found = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=0.02, atol=2e-4, err_msg=name)


def chance_free() -> dict[str, object]:
    return {key.replace(".", "_", 1): value for key, value in WITHOUT_CHANCE.items()}


@pytest.mark.slow
def test_a_resumed_run_of_two_processes_is_the_same_run(tmp_path: Path) -> None:
    options = ("--processes", "2")
    for out, epochs in (("whole", 3), ("parts", 2)):
        assert run_here(*command(tmp_path / out, "--epochs", str(epochs), *options)).returncode == 0
    assert run_here(*command(tmp_path / "parts", "--epochs", "3", "--resume", *options)).returncode == 0
    whole, parts = (weights(tmp_path / out) for out in ("whole", "parts"))
    assert all(np.array_equal(array, parts[name]) for name, array in whole.items())


def children_of(pid: int) -> list[int]:
    """Return the processes that take part in a training; another one tracks the resources of all."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the processes in /proc")
@pytest.mark.parametrize("victim", ["first", "other"])
def test_no_process_goes_on_without_the_others(tmp_path: Path, victim: str) -> None:
    arguments = command(tmp_path / "out", "--epochs", "10000", "--processes", "2")
    with subprocess.Popen([sys.executable, "-m", "easyfirst", *arguments], stderr=subprocess.PIPE) as first:
        assert first.stderr is not None
        wait_until((tmp_path / "out" / "training" / "metrics.jsonl").exists)
        (other,) = children_of(first.pid)
        os.kill(first.pid if victim == "first" else other, signal.SIGKILL)
        report = first.stderr.read().decode()
        code = first.wait(PATIENCE)
    if victim == "other":
        assert code == 2
        assert "was killed; continue with --resume" in report
        assert "Traceback" not in report
    wait_until(lambda: not Path(f"/proc/{other}").exists() or "\nState:\tZ" in status_of(other))


def status_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "\nState:\tZ"


def fail(group: Group) -> None:
    raise ConfigError(f"process {group.rank} of {group.size} does not like it")


@pytest.mark.slow
def test_an_error_of_another_process_is_raised_here() -> None:
    with pytest.raises(ConfigError, match="process 1 of 2 does not like it"), processes(2, fail) as group:
        group.sums(1)


def divide(group: Group) -> None:
    group.sums(1 / (group.rank - 1))


@pytest.mark.slow
def test_a_bug_in_another_process_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    expected = "failed with ZeroDivisionError: .*by zero"
    with pytest.raises(ModelError, match=expected), processes(3, divide) as group:
        group.sums(1)
    assert "Traceback" in capfd.readouterr().err


class DiesWhenItArrives:
    """Pickles as a call that ends the process which unpickles it."""

    def __call__(self, group: Group) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


@pytest.mark.slow
def test_a_process_that_dies_before_it_joins_is_not_waited_for() -> None:
    with pytest.raises(ModelError, match="ended with exit code 9"), processes(2, DiesWhenItArrives()):
        pass
    assert not active_children()


@pytest.mark.slow
def test_processes_meet_in_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ein Größenvergleich 100%"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with processes(2, add_ranks) as group:
        assert group.sums(10) == (11,)


def add_ranks(group: Group) -> None:
    group.sums(group.rank)


@pytest.mark.slow
def test_an_error_here_ends_the_other_processes() -> None:
    def fail_here() -> None:
        with processes(3, add_ranks) as group:
            assert group.sums(10) == (13,)
            assert len(active_children()) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_here()
    assert not active_children()
