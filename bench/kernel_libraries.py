"""Compare matrix products of libraries with ours, at the shapes that the parser needs.

    pip install numkong blis onednn-cpu-gomp
    python -m bench.kernel_libraries
    OPENBLAS_CORETYPE=Haswell ONEDNN_MAX_CPU_ISA=AVX2 python -m bench.kernel_libraries --avx2

The products are (m, k) x (k, n) with constant weights, which a library may pack beforehand. One thread, CPU time. All
products take turns in each round, and a ratio is the median of the ratios in the same round, so other load on the
machine slows down both. The time of an empty call is subtracted, except from NumPy's, which the parser cannot avoid.
The table has the median rate over the shapes, and the lowest and the highest ratio. A library that is not installed is
skipped and listed.

float32 products are compared with our float32, 8-bit products with our ``int8-fast`` (8-bit weights, 7-bit
activations), both with the best instruction set of this processor. Our ``int8`` has activations of 14 bits, which no
library offers. Libraries take activations that are quantized already and return integers. Ours takes and returns
float32, so its time includes quantization and scaling. It also includes a copy of the result that the parser does not
make.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"), "1")

import argparse
import ctypes
import importlib.metadata
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import report
from bench.kernel_library_calls import (
    SOURCES,
    Array,
    Call,
    Library,
    MissingError,
    Pack,
    Product,
    Source,
    address,
    aligned,
    c_call,
    empty,
    exact,
    undeclared,
)
from easyfirst.errors import ConfigError
from easyfirst.native import library as native
from easyfirst.native.matrix import Matrix

ISAS = ("v3", "v4", "v4vnni")
ROWS = (1, 2, 4, 8, 16, 64)
SHAPES = ((400, 800), (200, 800), (200, 1200))
PACKAGES = ("numkong", "blis", "onednn-cpu-gomp")
LIMITS = {"OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA"}
SAMPLE_SECONDS = 0.002


def our_libraries(avx2: bool) -> list[Library]:
    """Return our product in each precision, for the instruction sets of this processor."""
    package = Path(native.__file__).parent
    path = next((file for name in native.NAMES if (file := package / name).exists()), None)
    if path is None:
        raise MissingError("the core is not compiled")
    library = ctypes.CDLL(str(path))
    found: list[Library] = []
    for isa in ISAS[:1] if avx2 else ISAS:
        try:
            core = native.Core(library, isa)
        except ConfigError:
            continue
        found += [Library("easyfirst", name, our_packer(core, name), isa) for name in native.PRECISIONS]
    return found


def our_packer(core: native.Core, precision: str) -> Pack:
    product, workspace = undeclared(core.function("product")), ctypes.c_void_p(core.new_workspace())
    tolerance = {"float32": 1e-5, "int8": 1e-2, "int8-fast": 3e-2}[precision]

    def pack(weights: Array) -> Product:
        matrix = Matrix(core, weights, np.zeros(weights.shape[1], dtype=np.float32), precision)

        def bind(x: Array) -> Call:
            out = empty((len(x), weights.shape[1]), np.float32)
            handle, m = ctypes.c_void_p(matrix.address), ctypes.c_int32(len(x))
            calls = [(product, (handle, workspace, m, address(x), address(out)))]
            return c_call(calls, out, exact(x, weights), tolerance, (x, matrix))

        return bind

    return pack


def load(source: Source, avx2: bool) -> tuple[list[Library], str | None]:
    """Return the products of a library, and why there are none."""
    try:
        return source(avx2), None
    except MissingError as error:
        return [], str(error)
    except OSError:  # its message has a path of this machine
        return [], "it cannot be loaded"


def find_libraries(avx2: bool) -> tuple[list[Library], dict[str, str]]:
    """Return the products that can be measured here, ours first, and the libraries that are skipped."""
    found: list[Library] = []
    skipped: dict[str, str] = {}
    for name, source in {"easyfirst": our_libraries, **SOURCES}.items():
        libraries, reason = load(source, avx2)
        found += libraries
        if reason is not None:
            skipped[name] = reason
            print(f"{name} is skipped: {reason}")
    return found, skipped


def check(library: Library, call: Call) -> None:
    """Raise if a product is wrong, so that no wrong product is timed."""
    call.run()
    error = float(np.abs(call.output - call.expected).max() / np.abs(call.expected).max())
    if not error <= call.tolerance:
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


def samples_of(runs: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Return the CPU times of each call; in every round each call has its turn."""
    repetitions = [repetitions_for(run) for run in runs]
    samples = [[seconds(run, n) for run, n in zip(runs, repetitions, strict=True)] for _ in range(rounds)]
    return [list(times) for times in zip(*samples, strict=True)]


def net_times(calls: Sequence[Call], rounds: int) -> list[list[float]]:
    """Return the CPU times of each product in every round, without its call."""
    times = samples_of([call.run for call in calls], rounds)
    overheads = samples_of([call.empty or (lambda: None) for call in calls], rounds)
    return [
        [taken - (statistics.median(overhead) if call.empty else 0) for taken in of_call]
        for call, of_call, overhead in zip(calls, times, overheads, strict=True)
    ]


def reference(libraries: Sequence[Library], precision: str) -> int | None:
    """Return the number of the product that others of this precision are compared with: ours with the best set."""
    ours = [i for i, library in enumerate(libraries) if library.isa and library.precision == precision]
    return ours[-1] if ours else None


def measure(libraries: Sequence[Library], shape: tuple[int, int], rounds: int) -> list[dict[str, Any]]:
    """Return a record for each number of rows and library."""
    rng = np.random.default_rng(0)
    weights = aligned(rng.standard_normal(shape, dtype=np.float32))
    products = [library.pack(weights) for library in libraries]
    records: list[dict[str, Any]] = []
    for m in ROWS:
        x = aligned(rng.standard_normal((m, shape[0]), dtype=np.float32))
        calls = [product(x) for product in products]
        for library, call in zip(libraries, calls, strict=True):
            check(library, call)
        times = net_times(calls, rounds)
        for library, taken in zip(libraries, times, strict=True):
            ours = reference(libraries, library.precision)
            ratios = [] if ours is None else [a / b for a, b in zip(times[ours], taken, strict=True)]
            records.append(
                {
                    **{"library": library.name, "isa": library.isa, "precision": library.precision},
                    **{"m": m, "k": shape[0], "n": shape[1]},
                    "gmac_per_second": round(m * shape[0] * shape[1] / statistics.median(taken) / 1e9, 1),
                    "compared_with": None if ours is None else f"{library.precision}, {libraries[ours].isa}",
                    "ratio": round(statistics.median(ratios), 3) if ratios else None,
                }
            )
    return records


def table_rows(records: Sequence[dict[str, Any]]) -> list[list[object]]:
    """Return a row for each product. A cell has the median rate over the shapes, and the range of the ratios."""
    cells: dict[tuple[str, ...], dict[int, list[tuple[float, float | None]]]] = {}
    for record in sorted(records, key=lambda record: record["precision"]):
        ours = f"easyfirst, {record['precision']}, {record['isa']}"
        key = (ours if record["isa"] else record["library"], record["compared_with"] or "")
        cell = cells.setdefault(key, {}).setdefault(record["m"], [])
        cell.append((record["gmac_per_second"], record["ratio"]))
    return [[*key, *(text_of(found) for found in by_rows.values())] for key, by_rows in cells.items()]


def text_of(found: Sequence[tuple[float, float | None]]) -> str:
    rate = f"{statistics.median(rate for rate, _ in found):.0f}"
    ratios = [ratio for _, ratio in found if ratio is not None]
    return rate if set(ratios) <= {1} else f"{rate} ({min(ratios):.2f}–{max(ratios):.2f})"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that are installed."""
    installed = {package.metadata["Name"].lower(): package.version for package in importlib.metadata.distributions()}
    return {package: installed[package] for package in PACKAGES if package in installed}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=31)
    arguments.add_argument("--avx2", action="store_true", help="do not use AVX-512")
    options = arguments.parse_args()
    if options.avx2 and not os.environ.keys() >= LIMITS:
        arguments.error(f"--avx2 needs {' and '.join(sorted(LIMITS))} to limit the libraries, see above")
    libraries, skipped = find_libraries(options.avx2)
    records = [record for shape in SHAPES for record in measure(libraries, shape, options.rounds)]
    conditions = report.conditions()
    result = {
        "cpu": f"{conditions['cpu']}, limited to AVX2" if options.avx2 else conditions["cpu"],
        "versions": {**conditions["versions"], **versions()},
        "unit": "10^9 multiply-adds per CPU second, without the overhead of the call",
        "rounds": options.rounds,
        "skipped": skipped,
        "products": records,
    }
    header = ("GMAC/s (ratio)", "ratio to easyfirst", *(f"m = {m}" for m in ROWS))
    report.write("kernel_libraries_avx2" if options.avx2 else "kernel_libraries", result, header, table_rows(records))


if __name__ == "__main__":
    main()
