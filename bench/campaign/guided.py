"""Fuzz one target with atheris, which follows the coverage of the Python code.

    python -m bench.campaign.guided conllu --seconds 60 --seed 1 --corpus build/campaign/conllu --counts counts.json

It ends with another code than 0 at the first finding, whose input libFuzzer writes beside the corpus.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import atheris  # pyright: ignore[reportMissingImports]

with atheris.instrument_imports(include=["easyfirst"]):  # pyright: ignore
    from bench.campaign.seeds import MAX_LENGTH, MAX_LENGTHS, TARGETS


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("target", choices=sorted(TARGETS))
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--corpus", type=Path, required=True)
    options.add_argument("--counts", type=Path, required=True)
    given = options.parse_args()
    target, counts = TARGETS[given.target](), Counter[str]()
    saved = 0.0

    def save() -> None:
        temporary = given.counts.with_suffix(".new")
        temporary.write_text(json.dumps(counts))
        temporary.replace(given.counts)

    def test_one(data: bytes) -> None:
        nonlocal saved
        counts["inputs"] += 1
        counts[target(data)] += 1
        if time.monotonic() - saved > 0.5:
            saved = time.monotonic()
            save()

    length = MAX_LENGTHS.get(given.target, MAX_LENGTH)
    libfuzzer = [f"-seed={given.seed}", f"-max_len={length}", "-timeout=120", "-rss_limit_mb=4096", "-verbosity=0"]
    libfuzzer += [f"-max_total_time={max(1, round(given.seconds))}"]
    libfuzzer += [f"-artifact_prefix={given.corpus.parent}/found-{given.target}-", str(given.corpus)]
    atheris.Setup([sys.argv[0], *libfuzzer], test_one)  # pyright: ignore
    atheris.Fuzz()  # pyright: ignore


if __name__ == "__main__":
    main()
