"""Files in the safetensors format, compared with what the package of that name writes, reads and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from easyfirst.model.tensor_files import TYPES, TensorFileError, open_tensors, pack

Arrays = dict[str, np.ndarray]
FILES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ARRAYS = arrays_of.arrays(
    st.sampled_from(list(TYPES.values())), arrays_of.array_shapes(min_dims=0, min_side=0, max_side=3)
)
SOME = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.arange(4, dtype=np.int8)}


def file_of(header: object, values: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


def read(path: Path) -> tuple[dict[str, str], Arrays]:
    with open_tensors(path) as file:
        return dict(file.metadata), {name: file.read(name) for name in file.entries}


def is_accepted(content: bytes) -> bool:
    """Return whether the package reads a file, also if NumPy lacks one of its types."""
    try:
        safetensors.deserialize(content)
    except safetensors.SafetensorError:
        return False
    return True


def assert_same(found: Arrays, expected: Arrays) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


@FILES
@given(
    st.dictionaries(TEXT.filter(lambda name: name != "__metadata__"), ARRAYS, max_size=5),
    st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=1),  # the package reorders several keys
)
def test_files_are_those_of_the_package(tmp_path: Path, arrays: Arrays, metadata: dict[str, str] | None) -> None:
    content = pack(arrays, metadata)
    assert content == safetensors.numpy.save(arrays, metadata)
    (tmp_path / "file").write_bytes(content)
    found = read(tmp_path / "file")
    assert found[0] == (metadata or {})
    assert_same(found[1], arrays)


def test_arrays_in_any_memory_layout_are_written(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.float64).reshape(4, 6)
    arrays = {"strided": values[::2, ::3], "turned": values.T, "swapped": values.astype(">f8"), "one": np.array(2.0)}
    (tmp_path / "file").write_bytes(pack(arrays))
    assert_same(read(tmp_path / "file")[1], {name: np.array(array, "<f8", order="C") for name, array in arrays.items()})


def test_arrays_can_be_changed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(pack(SOME))
    _, arrays = read(tmp_path / "file")
    arrays["a"] += 1
    assert arrays["a"].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_types_that_the_format_lacks_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="a is of type object, which the format does not have"):
        pack({"a": np.array([None])})


def test_types_that_numpy_lacks_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(file_of({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"\0\0"))
    with open_tensors(tmp_path / "file") as file:
        assert file.entries["a"].type == "BF16"
        with pytest.raises(TensorFileError, match="a is of type BF16, which NumPy does not have"):
            file.read("a")


def changed(**facts: Any) -> bytes:
    """Return a file of two arrays with other facts about the second."""
    one = {"dtype": "I8", "shape": [2], "data_offsets": [0, 2]}
    two = {"dtype": "I8", "shape": [3], "data_offsets": [2, 5]}
    return file_of({"one": one, "two": {name: fact for name, fact in (two | facts).items() if fact != ()}}, b"12345")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the header is longer than the file"),
        (b"\2\0\0\0\0\0\0", "the header is longer than the file"),
        (b"\2\0\0\0\0\0\0\0{", "the header is longer than the file"),
        (b"\xff" * 8 + b"{}", "the header is longer than the file"),
        (file_of(b"[]"), "not a JSON object"),
        (file_of(b""), "not a JSON object"),
        (file_of(b"{"), "not valid JSON"),
        (file_of(b'{"\xff": 1}'), "not valid JSON"),
        (file_of(b'{"a": NaN}'), "not valid JSON: NaN is not a number"),
        (file_of(b'{"a":' * 100_000), "not valid JSON"),
        (file_of({"__metadata__": {"a": 1}}), "__metadata__ must be strings"),
        (file_of({"__metadata__": ["a"]}), "__metadata__ must be strings"),
        (file_of({"a": 1}), "the header lacks the type, the shape or the position of a"),
        (file_of({}, b"12"), "it has 2 bytes of values, and its header names 0"),
        (changed(dtype=()), "lacks the type"),
        (changed(dtype=8), "lacks the type"),
        (changed(shape=()), "lacks the type"),
        (changed(shape=3), "lacks the type"),
        (changed(shape=[True, 3]), "lacks the type"),
        (changed(shape=[3.0]), "lacks the type"),
        (changed(shape=[-3]), "lacks the type"),
        (changed(shape=[4]), "the shape of two does not fit its bytes"),
        (changed(shape=[2**62, 2**62]), "the shape of two does not fit its bytes"),
        (changed(dtype="I16"), "the shape of two does not fit its bytes"),
        (changed(data_offsets=()), "lacks the type"),
        (changed(data_offsets=[2, 5, 5]), "lacks the type"),
        (changed(data_offsets=[2]), "lacks the type"),
        (changed(data_offsets=[1, 4]), "the values of two are not where those before them end"),
        (changed(data_offsets=[3, 6]), "the values of two are not where those before them end"),
        (changed(data_offsets=[2, 1], shape=[0]), "are not where those before them end"),
        (changed(data_offsets=[2, 4], shape=[2]), "it has 5 bytes of values, and its header names 4"),
        (changed(data_offsets=[2, 6], shape=[4]), "it has 5 bytes of values, and its header names 6"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert not is_accepted(content)
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(TensorFileError, match=message):
        read(tmp_path / "file")


@pytest.mark.parametrize(
    "content",
    [
        file_of(rb'{"a": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1], "shape": [1]}}', b"1"),
        file_of(rb'{"\ud800": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}}', b"1"),
        file_of({"a": {"dtype": "I8", "shape": [0, 2**63], "data_offsets": [0, 0]}}),
        file_of({"a": {"dtype": "I8", "shape": [1] * 100, "data_offsets": [0, 1]}}, b"1"),
    ],
    ids=["repeated name", "invalid Unicode", "large dimension", "many dimensions"],
)
def test_what_numpy_or_the_format_does_not_allow_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(TensorFileError):
        read(tmp_path / "file")


def replace_byte(content: bytes, at: int, value: int) -> bytes:
    return content[: at % len(content)] + bytes([value]) + content[at % len(content) + 1 :]


def remove_bytes(content: bytes, at: int, n: int) -> bytes:
    return content[: at % len(content)] + content[at % len(content) + n :]


def repeat_bytes(content: bytes, at: int, n: int) -> bytes:
    return content[: at % len(content) + n] + content[at % len(content) :]


@settings(FILES, max_examples=1000)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([replace_byte, remove_bytes, repeat_bytes]), st.integers(0, 250), st.integers(0, 255)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_the_package_refuses_is_refused(
    tmp_path: Path, edits: list[tuple[Callable[[bytes, int, int], bytes], int, int]]
) -> None:
    content = pack(SOME, {"key": "value"})
    for edit, at, value in edits:
        content = edit(content, at, value) or b"\0"
    (tmp_path / "file").write_bytes(content)
    try:
        read(tmp_path / "file")
    except TensorFileError:
        return
    assert is_accepted(content)
