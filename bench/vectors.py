"""Measure the CPU time and the memory of ``easyfirst vectors``, including the start of Python.

    xz -dc corpus.txt.xz > corpus.txt && python -m bench.vectors corpus.txt --dim 200

The text has one sentence per line, with words separated by spaces.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import report
from easyfirst.model.embeddings import read_embeddings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, nargs="+")
    parser.add_argument("--dim", type=int, default=100)
    given = parser.parse_args()
    n_words = sum(len(line.split()) for path in given.text for line in path.open("rb"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "vectors.npz"
        command = [sys.executable, "-m", "easyfirst", "vectors", *map(str, given.text), "-o", str(out)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run([*command, "--dim", str(given.dim), "--quiet"], check=True, env=environment)
        n_vectors = len(read_embeddings(out).words)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024  # kilobytes on Linux
    result = {
        "words": n_words,
        "vectors": n_vectors,
        "dim": given.dim,
        "cpu_seconds": round(seconds, 1),
        "megabytes": round(megabytes),
    }
    header = ("words of text", "vectors", "dimensions", "CPU seconds", "peak memory, MB")
    report.write(
        "vectors", result, header, [[f"{n_words:,}", f"{n_vectors:,}", given.dim, f"{seconds:.0f}", f"{megabytes:.0f}"]]
    )


if __name__ == "__main__":
    main()
