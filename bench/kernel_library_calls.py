"""The matrix products of libraries that ``bench.kernel_libraries`` compares with ours.

C functions are called through ctypes with prepared arguments. The same number of calls of a function that does nothing
is timed beside them, because the parser calls products from C.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array: TypeAlias = NDArray[Any]
CCall: TypeAlias = tuple[Any, tuple[object, ...]]
"""A function of ctypes and its arguments."""

ALIGNMENT = 64
INT8 = "int8-fast"
"""The precision of ours that 8-bit products of libraries are compared with: 8-bit weights, 7-bit activations."""


class MissingError(Exception):
    """A library, or a function of it, that is not available here."""


@dataclass(frozen=True)
class Call:
    """A product with all its arguments."""

    run: Callable[[], object]
    output: Array
    expected: Array
    tolerance: float = 1e-5  # of the largest number of the result
    empty: Callable[[], object] | None = None  # the call without the product; its time is subtracted
    keep: Sequence[object] = ()  # what the arguments point to


Product: TypeAlias = Callable[[Array], Call]
"""Takes (m, k) activations in float32 and returns the call that multiplies them by packed weights."""

Pack: TypeAlias = Callable[[Array], Product]
"""Takes (k, n) weights in float32."""


@dataclass(frozen=True)
class Library:
    """A product of a library, and the precision of ours that it is compared with."""

    name: str
    precision: str
    pack: Pack
    isa: str | None = None  # of ours


# -- arrays


def empty(shape: tuple[int, ...], kind: DTypeLike) -> Array:
    """Return zeros that start at a cache line; some libraries are much slower otherwise."""
    n_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = np.zeros(n_bytes + ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(kind).reshape(shape)


def aligned(array: Array, quantum: int = 1) -> Array:
    """Return a copy that starts at a cache line, with rows padded with zeros to a multiple of ``quantum``."""
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


def exact(a: Array, b: Array) -> Array:
    """Return the product in float64, which is exact for integers."""
    return a.astype(np.float64) @ b.astype(np.float64)


# -- calls of C functions


def address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def undeclared(function: Any) -> Any:
    """Return a C function whose arguments ctypes does not check, like those of a ``CDLL``."""
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.cast(function, ctypes.c_void_p).value or 0)


def c_call(calls: Sequence[CCall], output: Array, expected: Array, tolerance: float, keep: Sequence[object]) -> Call:
    """Return the call of C functions, and the same number of calls of a function that does nothing."""
    nothing = undeclared(ctypes.pythonapi.Py_IsInitialized)

    def run() -> None:
        for function, arguments in calls:
            function(*arguments)

    def run_nothing() -> None:
        for _, arguments in calls:
            nothing(*arguments)

    return Call(run, output, expected, tolerance, run_nothing, keep)


def float_product(weights: Array, calls: Callable[[Array, Array], Sequence[CCall]]) -> Product:
    """Return a product of C functions that take unpacked float32 weights. ``calls`` takes activations and output."""

    def bind(x: Array) -> Call:
        out = empty((len(x), weights.shape[1]), np.float32)
        return c_call(calls(x, out), out, exact(x, weights), 1e-5, (x, weights))

    return bind


def module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingError(str(error)) from error


# -- NumPy and its OpenBLAS


def numpy_libraries(_: bool) -> list[Library]:
    def pack(weights: Array) -> Product:
        def bind(x: Array) -> Call:
            out = empty((len(x), weights.shape[1]), np.float32)
            return Call(lambda: np.matmul(x, weights, out=out), out, exact(x, weights))

        return bind

    return [Library("NumPy", "float32", pack)]


def openblas_libraries(_: bool) -> list[Library]:
    """Return the OpenBLAS of NumPy's wheel, called through C: whole products, and products cut into blocks."""
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    path = next((path for folder in folders for path in folder.glob("*scipy_openblas64*")), None)
    if path is None:
        raise MissingError("this NumPy has no OpenBLAS of its own")
    library = ctypes.CDLL(str(path))
    gemm, gemv = library.scipy_cblas_sgemm64_, library.scipy_cblas_sgemv64_
    row_major, plain, transposed = (ctypes.c_int(value) for value in (101, 111, 112))
    one, zero, size = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int64

    def calls(x: Array, w: Array, out: Array, n_rows: int, n_columns: int) -> list[CCall]:
        (k, n), step = w.shape, size(1)
        if len(x) == 1:
            start = (row_major, transposed, size(k), size(n), one, address(w), size(n))
            return [(gemv, (*start, address(x), step, zero, address(out), step))]
        found: list[CCall] = []
        for row in range(0, len(x), n_rows):
            for column in range(0, n, n_columns):
                shape = (size(min(n_rows, len(x) - row)), size(min(n_columns, n - column)), size(k))
                inputs = (one, address(x[row:]), size(k), address(w[:, column:]), size(n))
                output = (zero, address(out[row:, column:]), size(n))
                found.append((gemm, (row_major, plain, plain, *shape, *inputs, *output)))
        return found

    def whole(weights: Array) -> Product:
        return float_product(weights, lambda x, out: calls(x, weights, out, len(x), weights.shape[1]))

    def blocks(weights: Array) -> Product:
        """With AVX-512, OpenBLAS has better kernels for products of up to a million multiply-adds."""
        k, n = weights.shape

        def blocked(x: Array, out: Array) -> list[CCall]:
            n_rows = min(len(x), 16)
            return calls(x, weights, out, n_rows, min(n, 1_000_000 // (n_rows * k) // 32 * 32))

        return float_product(weights, blocked)

    return [Library("OpenBLAS", "float32", whole), Library("OpenBLAS, in blocks", "float32", blocks)]


# -- BLIS


def blis_libraries(_: bool) -> list[Library]:
    library = ctypes.CDLL(module("blis.cy").__file__)
    try:
        gemm, gemv = library.bli_sgemm, library.bli_sgemv
    except AttributeError as error:
        raise MissingError("this wheel does not export the functions of BLIS") from error
    size, numbers = ctypes.c_int64, (ctypes.c_float(1), ctypes.c_float(0))
    one, zero = (ctypes.byref(number) for number in numbers)
    plain, transposed, step = ctypes.c_int(0), ctypes.c_int(8), size(1)

    def pack(weights: Array) -> Product:
        k, n = (size(value) for value in weights.shape)

        def calls(x: Array, out: Array) -> list[CCall]:
            w, a, c = address(weights), address(x), address(out)
            if len(x) == 1:
                return [(gemv, (transposed, plain, k, n, one, w, n, step, a, step, zero, c, step))]
            return [(gemm, (plain, plain, size(len(x)), n, k, one, a, k, step, w, n, step, zero, c, n, step))]

        return float_product(weights, calls)

    return [Library("blis", "float32", pack)]


# -- NumKong


def numkong_libraries(avx2: bool) -> list[Library]:
    """Return the products of NumKong. Rows of int8 are padded to 64 numbers, because it is slower otherwise."""
    if avx2:
        for name in ("skylake", "icelake", "genoa"):
            module("numkong").disable_capability(name)
    library, size = ctypes.CDLL(module("numkong._numkong").__file__), ctypes.c_size_t

    def packer(suffix: str, convert: Callable[[Array], Array], quantum: int, result: DTypeLike) -> Pack:
        packed_size, pack_rows, multiply = (
            getattr(library, f"nk_dots_{name}_{suffix}") for name in ("packed_size", "pack", "packed")
        )
        packed_size.restype = size

        def pack(weights: Array) -> Product:
            rows = aligned(convert(weights.T), quantum)  # (n, k)
            n, k = rows.shape
            packed = empty((packed_size(size(n), size(k)),), np.uint8)
            pack_rows(address(rows), size(n), size(k), size(rows.strides[0]), address(packed))

            def bind(x: Array) -> Call:
                a, out = aligned(convert(x), quantum), empty((len(x), n), result)
                sizes = map(size, (len(x), n, k, a.strides[0], out.strides[0]))
                calls = [(multiply, (address(a), address(packed), address(out), *sizes))]
                return c_call(calls, out, exact(a, rows.T), 1e-5, (a, packed))

            return bind

        return pack

    return [
        Library("NumKong", "float32", packer("f32", np.asarray, 1, np.float64)),
        Library("NumKong", INT8, packer("i8", to_int8, 64, np.int32)),
    ]


# -- oneDNN


class _Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", ctypes.c_void_p))


class OneDnn:
    """The matmul primitive of oneDNN, with weights in the layout that it prefers. Numbers are those of its headers."""

    KINDS: Mapping[str, int] = {"float32": 3, "int32": 4, "int8": 5, "uint8": 6}
    ANY, ROW_MAJOR = 1, 3
    SOURCE, DESTINATION, WEIGHTS, WEIGHTS_QUERY = 1, 17, 33, 131

    def __init__(self) -> None:
        path = Path(sys.prefix) / "lib" / "libdnnl.so.3"
        if not path.exists():
            raise MissingError("no libdnnl.so.3 in this environment")
        self.library = ctypes.CDLL(str(path))
        self.library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.engine = self.create("engine_create", ctypes.c_int(1), ctypes.c_size_t(0))
        self.stream = self.create("stream_create", self.engine, ctypes.c_uint(1))

    def create(self, function: str, *arguments: object) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        if status := getattr(self.library, f"dnnl_{function}")(ctypes.byref(handle), *arguments):
            raise MissingError(f"dnnl_{function} returned {status}")
        return handle

    def layout(self, array: Array, tag: int = ROW_MAJOR) -> ctypes.c_void_p:
        dims, kind = (ctypes.c_int64 * 12)(*array.shape), ctypes.c_int(self.KINDS[array.dtype.name])
        return self.create("memory_desc_create_with_tag", ctypes.c_int(2), dims, kind, ctypes.c_int(tag))

    def memory(self, layout: ctypes.c_void_p, array: Array | None = None) -> ctypes.c_void_p:
        pointer = ctypes.c_void_p(-1) if array is None else address(array)  # -1: the library allocates
        return self.create("memory_create", layout, self.engine, pointer)

    def execution(self, description: ctypes.c_void_p, memories: Mapping[int, ctypes.c_void_p]) -> CCall:
        primitive = self.create("primitive_create", description)
        pairs = [_Argument(number, handle.value) for number, handle in memories.items()]
        arguments = (primitive, self.stream, ctypes.c_int(len(pairs)), (_Argument * len(pairs))(*pairs))
        return self.library.dnnl_primitive_execute, arguments

    def product(self, a: Array, w: Array, out: Array) -> CCall:
        """Pack the weights for a product with ``len(a)`` rows, and return the call of the product."""
        layouts = (self.layout(a), self.layout(w, self.ANY), None, self.layout(out), None)
        matmul = self.create("matmul_primitive_desc_create", self.engine, *layouts)
        query = (matmul, ctypes.c_int(self.WEIGHTS_QUERY), ctypes.c_int(0))
        preferred = ctypes.c_void_p(self.library.dnnl_primitive_desc_query_md(*query))
        packed = self.memory(preferred)
        between = (self.layout(w), self.engine, preferred, self.engine, None)
        reorder = self.create("reorder_primitive_desc_create", *between)
        source = self.memory(self.layout(w), w)
        function, arguments = self.execution(reorder, {self.SOURCE: source, self.DESTINATION: packed})
        function(*arguments)
        self.library.dnnl_stream_wait(self.stream)
        rows, result = self.memory(self.layout(a), a), self.memory(self.layout(out), out)
        return self.execution(matmul, {self.SOURCE: rows, self.WEIGHTS: packed, self.DESTINATION: result})


def onednn_libraries(_: bool) -> list[Library]:
    onednn = OneDnn()

    def float32(weights: Array) -> Product:
        return float_product(weights, lambda x, out: [onednn.product(x, weights, out)])

    def int8(weights: Array) -> Product:
        w = aligned(to_int8(weights))

        def bind(x: Array) -> Call:
            a, out = aligned(to_uint7(x)), empty((len(x), w.shape[1]), np.int32)
            return c_call([onednn.product(a, w, out)], out, exact(a, w), 0, (a, w))

        return bind

    return [Library("oneDNN", "float32", float32), Library("oneDNN", INT8, int8)]


Source: TypeAlias = Callable[[bool], list[Library]]
"""Takes whether only AVX2 is to be used."""

SOURCES: Mapping[str, Source] = {
    "NumPy": numpy_libraries,
    "OpenBLAS": openblas_libraries,
    "blis": blis_libraries,
    "NumKong": numkong_libraries,
    "oneDNN": onednn_libraries,
}
