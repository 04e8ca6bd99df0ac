"""Compare matrix products of libraries with ours, at the shapes that the parser needs.

    pip install numkong simsimd blis onednn-cpu-gomp onnxruntime onnx
    python -m bench.kernel_libraries

The products are (m, k) x (k, n) with constant weights, which a library may pack beforehand. One thread, CPU time,
medians over rounds in which all libraries take turns. A library that is not installed is skipped and listed as such.

Each library is called in the cheapest way that it allows from Python. C functions are called through ctypes with
prepared arguments, and the time of an empty ctypes call with the same arguments is subtracted, because the parser would
call them from C. Calls that need Python (NumPy, SimSIMD, onnxruntime) are timed as they are. Ours is called through
Python too, and the time of a product with a tiny matrix is subtracted.

Libraries receive activations that are quantized already and return sums in int32. Ours takes and returns float32, so
its figures include quantization and scaling. NumKong is slow unless k is a multiple of its vectors, so the script pads
k to a multiple of 64 for it. The rates count the multiply-adds of the unpadded product.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")

import argparse
import ctypes
import importlib
import importlib.metadata
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bench import report

Array: TypeAlias = NDArray[Any]

ROWS = (1, 2, 4, 6, 8, 16, 64)
SHAPES = ((400, 800), (600, 800), (200, 800), (200, 1200), (100, 98))
PACKAGES = ("numkong", "simsimd", "blis", "onednn-cpu-gomp", "onednn", "onnxruntime")
SAMPLE_SECONDS = 0.003
ALIGNMENT = 64
TOLERANCES = {"float32": 1e-5, "bf16": 2e-2, "int8": 0.0, "u8 x int8": 0.0, "int8a14": 2e-2, "int8a7": 5e-2}


class MissingError(Exception):
    """A library, or a function of it, that is not available here."""


@dataclass(frozen=True)
class Call:
    """A product with all its arguments."""

    run: Callable[[], object]
    output: Callable[[], Array]
    expected: Array
    empty: Callable[[], object] | None = None  # the call without the product; its time is subtracted
    keep: Sequence[Array] = ()  # the arrays whose addresses are among the arguments


Product: TypeAlias = Callable[[Array], Call]
"""Takes (m, k) activations in float32 and returns the call that multiplies them by weights that are already packed."""

Pack: TypeAlias = Callable[[Array], Product]
"""Takes (k, n) weights in float32."""


@dataclass(frozen=True)
class Library:
    name: str
    precision: str
    pack: Pack


# -- ours


def our_product(weights: Array, precision: str) -> Callable[[Array], Array]:
    """Return our product with these weights: takes (m, k) float32, returns (m, n) float32."""
    try:
        module = importlib.import_module("easyfirst.native.matrix")
    except ImportError as error:
        raise MissingError(str(error)) from error
    matrix = module.Matrix(weights, bias=None, precision=precision)
    return matrix.product


def _ours(precision: str) -> Pack:
    tiny = our_product(np.zeros((4, 16), dtype=np.float32), precision)

    def pack(weights: Array) -> Product:
        product = our_product(weights, precision)

        def bind(x: Array) -> Call:
            smallest = aligned(x[:1, :4])
            return Call(lambda: product(x), lambda: product(x), x @ weights, empty=lambda: tiny(smallest))

        return bind

    return pack


def _our_libraries() -> Iterator[Library]:
    for precision, label in (("float32", "float32"), ("int8", "int8a14"), ("int8a7", "int8a7")):
        yield Library("easyfirst", label, _ours(precision))


# -- NumPy and its OpenBLAS


def _numpy_libraries() -> Iterator[Library]:
    def pack(weights: Array) -> Product:
        def bind(x: Array) -> Call:
            out = empty((len(x), weights.shape[1]), np.float32)
            return Call(lambda: np.matmul(x, weights, out=out), lambda: out, x @ weights)

        return bind

    yield Library("NumPy", "float32", pack)


def _openblas_libraries() -> Iterator[Library]:
    """Yield the OpenBLAS of NumPy's wheel, called through C, also with the product cut into blocks."""
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    paths = [path for folder in folders for path in folder.glob("*scipy_openblas64*")]
    if not paths:
        raise MissingError("this NumPy has no OpenBLAS of its own")
    library = ctypes.CDLL(str(paths[0]))
    gemm, gemv = library.scipy_cblas_sgemm64_, library.scipy_cblas_sgemv64_
    row_major, plain, transposed = (ctypes.c_int(value) for value in (101, 111, 112))
    one, zero, size = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int64

    def vector(x: Array, weights: Array, out: Array) -> Sequence[CCall]:
        k, n = (size(value) for value in weights.shape)
        step = size(1)
        arguments = (
            *(row_major, transposed, k, n, one, address(weights), n, address(x), step),
            *(zero, address(out), step),
        )
        return [(gemv, arguments)]

    def matrix(x: Array, weights: Array, out: Array, rows: range, columns: range) -> Sequence[CCall]:
        k, n = weights.shape
        return [
            (
                gemm,
                (
                    *(row_major, plain, plain),
                    *(size(min(rows.step, len(x) - row)), size(min(columns.step, n - column)), size(k)),
                    *(one, address(x[row:]), size(k), address(weights[:, column:]), size(n)),
                    *(zero, address(out[row:, column:]), size(n)),
                ),
            )
            for row in rows
            for column in columns
        ]

    def pack_whole(weights: Array) -> Product:
        n = weights.shape[1]
        return _c_product(
            weights,
            lambda x, out: (
                vector(x, weights, out)
                if len(x) == 1
                else matrix(x, weights, out, range(0, len(x), len(x)), range(0, n, n))
            ),
        )

    def pack_blocks(weights: Array) -> Product:
        """OpenBLAS has better kernels for products of up to a million multiply-adds on some processors."""
        k, n = weights.shape

        def calls(x: Array, out: Array) -> Sequence[CCall]:
            if len(x) == 1:
                return vector(x, weights, out)
            n_rows = min(len(x), 16)
            n_columns = min(n, 1_000_000 // (n_rows * k) // 32 * 32)
            return matrix(x, weights, out, range(0, len(x), n_rows), range(0, n, n_columns))

        return _c_product(weights, calls)

    yield Library("OpenBLAS", "float32", pack_whole)
    yield Library("OpenBLAS, in blocks", "float32", pack_blocks)


# -- BLIS


def _blis_libraries() -> Iterator[Library]:
    path = _module("blis.cy").__file__
    library = ctypes.CDLL(path)
    try:
        gemm, gemv = library.bli_sgemm, library.bli_sgemv
    except AttributeError as error:
        raise MissingError("this wheel does not export the functions of BLIS") from error
    size, keep = ctypes.c_int64, (ctypes.c_float(1), ctypes.c_float(0))
    one, zero = (ctypes.byref(value) for value in keep)
    plain, transposed, step = ctypes.c_int(0), ctypes.c_int(8), size(1)

    def pack(weights: Array) -> Product:
        k, n = (size(value) for value in weights.shape)

        def calls(x: Array, out: Array) -> Sequence[CCall]:
            w, a, c = address(weights), address(x), address(out)
            if len(x) == 1:
                return [(gemv, (transposed, plain, k, n, one, w, n, step, a, step, zero, c, step))]
            m = size(len(x))
            return [(gemm, (plain, plain, m, n, k, one, a, k, step, w, n, step, zero, c, n, step))]

        return _c_product(weights, calls)

    yield Library("blis", "float32", pack)


# -- NumKong and SimSIMD


def _numkong_libraries() -> Iterator[Library]:
    library = ctypes.CDLL(_module("numkong._numkong").__file__)
    size = ctypes.c_size_t

    def packer(suffix: str, convert: Callable[[Array], Array], result: DTypeLike, quantum: int) -> Pack:
        packed_size = getattr(library, f"nk_dots_packed_size_{suffix}")
        packed_size.restype = size
        pack_weights = getattr(library, f"nk_dots_pack_{suffix}")
        multiply = getattr(library, f"nk_dots_packed_{suffix}")

        def pack(weights: Array) -> Product:
            n = weights.shape[1]
            rows = pad_columns(convert(np.ascontiguousarray(weights.T)), quantum)  # (n, k)
            depth = rows.shape[1]
            packed = empty((packed_size(size(n), size(depth)),), np.uint8)
            pack_weights(address(rows), size(n), size(depth), size(rows.strides[0]), address(packed))

            def bind(x: Array) -> Call:
                a, out = pad_columns(convert(x), quantum), empty((len(x), n), result)
                sizes = (len(x), n, depth, a.strides[0], out.strides[0])
                arguments = (address(a), address(packed), address(out), *map(size, sizes))
                expected = wide(a) @ wide(rows).T
                return _c_call([(multiply, arguments)], out, expected, keep=(a, packed))

            return bind

        return pack

    yield Library("NumKong", "float32", packer("f32", lambda array: array, np.float64, 1))
    yield Library("NumKong", "int8", packer("i8", to_int8, np.int32, 64))
    yield Library("NumKong", "bf16", packer("bf16", to_bf16, np.float32, 64))


def _simsimd_libraries() -> Iterator[Library]:
    cdist = _module("simsimd").cdist

    def packer(convert: Callable[[Array], Array]) -> Pack:
        def pack(weights: Array) -> Product:
            rows = aligned(convert(np.ascontiguousarray(weights.T)))

            def bind(x: Array) -> Call:
                a = aligned(convert(x))
                expected = wide(a) @ wide(rows).T
                return Call(
                    lambda: cdist(a, rows, metric="dot"),
                    lambda: np.asarray(cdist(a, rows, metric="dot")),
                    expected,
                )

            return bind

        return pack

    yield Library("SimSIMD", "float32", packer(lambda array: array))
    yield Library("SimSIMD", "int8", packer(to_int8))


# -- oneDNN


class _ExecArgument(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("memory", ctypes.c_void_p)]


def _onednn_libraries() -> Iterator[Library]:
    """Yield the matmul primitive of oneDNN, with weights in the layout that it prefers."""
    names = ("lib/libdnnl.so.3", "lib/libdnnl.3.dylib", "Library/bin/dnnl.dll")
    path = next((path for name in names if (path := Path(sys.prefix) / name).exists()), None)
    if path is None:
        raise MissingError("no libdnnl in this environment")
    library = ctypes.CDLL(str(path))
    query = library.dnnl_primitive_desc_query_md
    query.restype = ctypes.c_void_p
    f32, s32, s8, u8, bf16 = 3, 4, 5, 6, 2
    any_layout, row_major = 1, 3
    source, destination, weights_argument, weights_query = 1, 17, 33, 131

    def create(function: str, *arguments: object) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        status = getattr(library, function)(ctypes.byref(handle), *arguments)
        if status:
            raise MissingError(f"{function} returned {status}")
        return handle

    engine = create("dnnl_engine_create", ctypes.c_int(1), ctypes.c_size_t(0))
    stream = create("dnnl_stream_create", engine, ctypes.c_uint(1))

    def layout(shape: tuple[int, ...], kind: int, tag: int) -> ctypes.c_void_p:
        dims = (ctypes.c_int64 * 12)(*shape)
        return create("dnnl_memory_desc_create_with_tag", ctypes.c_int(2), dims, ctypes.c_int(kind), ctypes.c_int(tag))

    def memory(description: ctypes.c_void_p, array: Array | None) -> ctypes.c_void_p:
        pointer = ctypes.c_void_p(-1) if array is None else address(array)  # -1: the library allocates
        return create("dnnl_memory_create", description, engine, pointer)

    def execution(
        primitive: ctypes.c_void_p, memories: Mapping[int, ctypes.c_void_p]
    ) -> tuple[Any, tuple[object, ...]]:
        arguments = (_ExecArgument * len(memories))(
            *(_ExecArgument(number, handle.value) for number, handle in memories.items())
        )
        return library.dnnl_primitive_execute, (primitive, stream, ctypes.c_int(len(memories)), arguments)

    def packer(convert: Callable[[Array], Array], quantize: Callable[[Array], Array], kinds: tuple[int, ...]) -> Pack:
        a_kind, w_kind, c_kind = kinds

        def pack(weights: Array) -> Product:
            w = aligned(convert(weights))

            def bind(x: Array) -> Call:
                a = aligned(quantize(x))
                out = empty((len(x), w.shape[1]), np.int32 if c_kind == s32 else np.float32)
                a_layout, c_layout = layout(a.shape, a_kind, row_major), layout(out.shape, c_kind, row_major)
                plain, free = layout(w.shape, w_kind, row_major), layout(w.shape, w_kind, any_layout)
                arguments = (engine, a_layout, free, None, c_layout, None)
                description = create("dnnl_matmul_primitive_desc_create", *arguments)
                packed_layout = ctypes.c_void_p(query(description, ctypes.c_int(weights_query), ctypes.c_int(0)))
                packed = memory(packed_layout, None)
                arguments = (plain, engine, packed_layout, engine, None)
                reorder = create("dnnl_reorder_primitive_desc_create", *arguments)
                reordering = create("dnnl_primitive_create", reorder)
                function, arguments = execution(reordering, {source: memory(plain, w), destination: packed})
                function(*arguments)
                library.dnnl_stream_wait(stream)
                product = create("dnnl_primitive_create", description)
                memories = {source: memory(a_layout, a), weights_argument: packed, destination: memory(c_layout, out)}
                return _c_call([execution(product, memories)], out, wide(a) @ wide(w), keep=(a, w))

            return bind

        return pack

    yield Library("oneDNN", "float32", packer(lambda array: array, lambda array: array, (f32, f32, f32)))
    yield Library("oneDNN", "u8 x int8", packer(to_int8, to_uint7, (u8, s8, s32)))
    yield Library("oneDNN", "bf16", packer(to_bf16, to_bf16, (bf16, bf16, f32)))


# -- onnxruntime


def _onnxruntime_libraries() -> Iterator[Library]:
    onnx, runtime = _module("onnx"), _module("onnxruntime")
    helper, types = onnx.helper, onnx.TensorProto

    def packer(
        operator: str, convert: Callable[[Array], Array], quantize: Callable[[Array], Array], kinds: tuple[int, int]
    ) -> Pack:
        def pack(weights: Array) -> Product:
            w = convert(weights)
            k, n = w.shape
            graph = helper.make_graph(
                [helper.make_node(operator, ["x", "w"], ["y"])],
                "product",
                [helper.make_tensor_value_info("x", kinds[0], [None, k])],
                [helper.make_tensor_value_info("y", kinds[1], [None, n])],
                [onnx.numpy_helper.from_array(w, "w")],
            )
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
            model.ir_version = 8
            options = runtime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

            def bind(x: Array) -> Call:
                a = aligned(quantize(x))
                out = np.zeros((len(x), n), np.float32 if kinds[1] == types.FLOAT else np.int32)
                source, target = (runtime.OrtValue.ortvalue_from_numpy(array) for array in (a, out))
                binding = session.io_binding()
                binding.bind_ortvalue_input("x", source)
                binding.bind_ortvalue_output("y", target)
                return Call(lambda: session.run_with_iobinding(binding), target.numpy, wide(a) @ wide(w))

            return bind

        return pack

    yield Library(
        "onnxruntime",
        "float32",
        packer("MatMul", lambda array: array, lambda array: array, (types.FLOAT, types.FLOAT)),
    )
    yield Library("onnxruntime", "u8 x int8", packer("MatMulInteger", to_int8, to_uint7, (types.UINT8, types.INT32)))


SOURCES: Mapping[str, Callable[[], Iterator[Library]]] = {
    "easyfirst": _our_libraries,
    "NumPy": _numpy_libraries,
    "OpenBLAS": _openblas_libraries,
    "blis": _blis_libraries,
    "NumKong": _numkong_libraries,
    "SimSIMD": _simsimd_libraries,
    "oneDNN": _onednn_libraries,
    "onnxruntime": _onnxruntime_libraries,
}


# -- arrays


def empty(shape: tuple[int, ...], kind: DTypeLike) -> Array:
    """Return zeros that start at a cache line; some libraries are much slower otherwise."""
    n_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = np.zeros(n_bytes + ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(kind).reshape(shape)


def aligned(array: Array) -> Array:
    """Return a copy that starts at a cache line."""
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def pad_columns(array: Array, quantum: int) -> Array:
    """Return an aligned copy whose rows are filled up with zeros to a multiple of ``quantum``."""
    rows, columns = array.shape
    copy = empty((rows, -(-columns // quantum) * quantum), array.dtype)
    copy[:, :columns] = array
    return copy


def to_int8(array: Array) -> Array:
    """Quantize symmetrically, with one scale for the whole array; the scale does not matter here."""
    return np.rint(array * (127 / np.abs(array).max())).astype(np.int8)


def to_uint7(array: Array) -> Array:
    """Quantize to 1 ... 127; larger values overflow on processors without VNNI."""
    return (np.rint(array * (63 / np.abs(array).max())) + 64).astype(np.uint8)


def to_bf16(array: Array) -> Array:
    """Return the upper halves of float32."""
    return (np.ascontiguousarray(array, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)


def wide(array: Array) -> Array:
    """Return the values in float64, in which all the sums here are exact or nearly so."""
    if array.dtype == np.uint16:  # bf16
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


# -- calls of C functions

CCall: TypeAlias = tuple[Any, tuple[object, ...]]
"""A function of ctypes and its arguments."""


def address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _c_product(weights: Array, calls: Callable[[Array, Array], Sequence[CCall]]) -> Product:
    def bind(x: Array) -> Call:
        out = empty((len(x), weights.shape[1]), np.float32)
        return _c_call(calls(x, out), out, x @ weights, keep=(x, weights))

    return bind


def _c_call(calls: Sequence[CCall], out: Array, expected: Array, keep: Sequence[Array]) -> Call:
    """Return the call of C functions, and the same number of calls of a function that does nothing."""
    nothing = _do_nothing()

    def run() -> None:
        for function, arguments in calls:
            function(*arguments)

    def run_nothing() -> None:
        for _, arguments in calls:
            nothing(*arguments)

    return Call(run, lambda: out, expected, run_nothing, keep)


def _do_nothing() -> Any:
    """Return a C function that ignores its arguments, called like those of a ``CDLL``."""
    pointer = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
    if pointer is None:
        raise MissingError("no address of Py_IsInitialized")
    return ctypes.CFUNCTYPE(ctypes.c_int)(pointer)  # ctypes passes on arguments that are not declared


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingError(str(error)) from error


# -- measuring


def find_libraries() -> tuple[list[Library], dict[str, str]]:
    """Return the libraries that can be measured here, and why the others cannot."""
    found: list[Library] = []
    missing: dict[str, str] = {}
    for name, source in SOURCES.items():
        libraries, reason = _load(source)
        found.extend(libraries)
        if reason is not None:
            missing[name] = reason
            print(f"{name} is skipped: {reason}")
    return found, missing


def _load(source: Callable[[], Iterator[Library]]) -> tuple[list[Library], str | None]:
    try:
        return list(source()), None
    except (MissingError, OSError) as error:
        return [], str(error)


def check(library: Library, call: Call) -> None:
    """Raise if a product is wrong, so that no wrong product is timed."""
    call.run()
    error = float(np.abs(call.output() - call.expected).max() / np.abs(call.expected).max())
    if not error <= TOLERANCES[library.precision]:
        raise ValueError(f"{library.name}, {library.precision}: the relative error is {error:.1e}")


def seconds(run: Callable[[], object], repetitions: int) -> float:
    """Return the CPU time of one call."""
    started = time.process_time()
    for _ in range(repetitions):
        run()
    return (time.process_time() - started) / repetitions


def repetitions_for(run: Callable[[], object]) -> int:
    """Return how many calls take about as long as a sample should."""
    count = 1
    while (taken := seconds(run, count) * count) < SAMPLE_SECONDS / 2:
        count *= 2
    return max(1, round(count * SAMPLE_SECONDS / taken))


def medians(runs: Mapping[int, Callable[[], object]], rounds: int) -> dict[int, float]:
    """Return the median CPU time of each call; in every round each call has its turn."""
    repetitions = {key: repetitions_for(run) for key, run in runs.items()}
    samples: dict[int, list[float]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            samples[key].append(seconds(run, repetitions[key]))
    return {key: statistics.median(values) for key, values in samples.items()}


def measure(libraries: Sequence[Library], shape: tuple[int, int], rounds: int) -> list[dict[str, Any]]:
    """Return a record per library and number of rows: microseconds with and without the call, and the rate."""
    rng = np.random.default_rng(0)
    weights = aligned(rng.standard_normal(shape, dtype=np.float32))
    products = [library.pack(weights) for library in libraries]
    records: list[dict[str, Any]] = []
    for m in ROWS:
        x = aligned(rng.standard_normal((m, shape[0]), dtype=np.float32))
        calls = [product(x) for product in products]
        for library, call in zip(libraries, calls, strict=True):
            check(library, call)
        whole = medians({number: call.run for number, call in enumerate(calls)}, rounds)
        overheads = medians({number: call.empty for number, call in enumerate(calls) if call.empty}, rounds)
        for number, library in enumerate(libraries):
            net = max(whole[number] - overheads.get(number, 0.0), 1e-9)
            records.append(
                {
                    **{"library": library.name, "precision": library.precision},
                    **{"m": m, "k": shape[0], "n": shape[1]},
                    "microseconds": round(whole[number] * 1e6, 2),
                    "microseconds_of_the_call": round(overheads.get(number, 0.0) * 1e6, 2),
                    "gmac_per_second": round(m * shape[0] * shape[1] / net / 1e9, 1),
                }
            )
    return records


def table_rows(records: Sequence[dict[str, Any]]) -> list[list[object]]:
    """Return a row per shape, precision and library, with the rates for each number of rows."""
    rates: dict[tuple[str, str, str], dict[int, float]] = {}
    for record in records:
        key = (f"{record['k']} x {record['n']}", record["precision"], record["library"])
        rates.setdefault(key, {})[record["m"]] = record["gmac_per_second"]
    order = list(TOLERANCES)
    shapes = [f"{k} x {n}" for k, n in SHAPES]
    keys = sorted(rates, key=lambda key: (shapes.index(key[0]), order.index(key[1])))
    return [[*key, *(f"{rates[key][m]:.1f}" for m in ROWS)] for key in keys]


def versions() -> dict[str, str]:
    """Return the versions of the libraries that are installed."""
    installed = {package.metadata["Name"].lower(): package.version for package in importlib.metadata.distributions()}
    return {package: installed[package] for package in PACKAGES if package in installed}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=11)
    options = arguments.parse_args()
    libraries, missing = find_libraries()
    records = [record for shape in SHAPES for record in measure(libraries, shape, options.rounds)]
    result = {
        "versions": {**report.conditions()["versions"], **versions()},
        "unit": "10^9 multiply-adds per CPU second, without the overhead of the call",
        "rounds": options.rounds,
        "skipped": missing,
        "products": records,
    }
    header = ("k x n", "precision", "library", *(f"m = {m}" for m in ROWS))
    report.write("kernel_libraries", result, header, table_rows(records))


if __name__ == "__main__":
    main()
