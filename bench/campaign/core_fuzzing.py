"""Fuzzing of the compiled core: with libFuzzer where there is clang, or else with random bytes. AddressSanitizer and
UndefinedBehaviorSanitizer end it at the first access outside an array.

    python -m bench.campaign.core_fuzzing 10  # minutes; a run of the part fuzz with this target only
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.campaign.record import ROOT, WORK, Record
from hatch_build import FLAGS, OTHER, SOURCES, X86_64

HARNESS = Path(__file__).parent / "core_fuzzer.c"
NAME = "core"
GRACE = 300.0  # the seconds that a fuzzer may take besides its time
SANITIZE = ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
_EXECUTED = re.compile(r"stat::number_of_executed_units: +(\d+)")


def compile_fuzzer(output: Path) -> bool:
    """Compile the harness with the core for all instruction sets. Return whether libFuzzer is in it; raise a
    RuntimeError if there is no compiler with sanitizers."""
    has_clang = shutil.which("clang") is not None
    compiler = "clang" if has_clang else "cc"
    kinds = "fuzzer,address,undefined" if has_clang else "address,undefined"
    inputs = [HARNESS, *(ROOT / SOURCES).glob("*.[ch]")]
    if output.exists() and output.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return has_clang
    flags = [*(flag for flag in FLAGS if flag != "-O3"), *SANITIZE, f"-I{ROOT / SOURCES}"]
    macros = _run([compiler, "-E", "-dM", "-x", "c", "/dev/null"])
    sets = X86_64 if "#define __x86_64__" in macros else OTHER
    output.parent.mkdir(parents=True, exist_ok=True)
    objects: list[str] = []
    sources = [(ROOT / SOURCES / "core.c", isa, [f"-DEF_ISA={isa}", *options]) for isa, options in sets.items()]
    sources.append((ROOT / SOURCES / "dispatch.c", "dispatch", []))
    sources.append((HARNESS, "harness", [] if has_clang else ["-DSTANDALONE"]))
    for source, name, options in sources:
        made = str(output.parent / f"{name}.o")
        coverage = "fuzzer-no-link,address,undefined" if has_clang else kinds
        _run([compiler, *flags, f"-fsanitize={coverage}", *options, "-c", str(source), "-o", made])
        objects.append(made)
    _run([compiler, f"-fsanitize={kinds}", *objects, "-o", str(output), "-lm"])
    return has_clang


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout


def fuzz(record: Record, until: float) -> None:
    """Fuzz the core until a time."""
    fuzzer = WORK / "core-build" / "fuzzer"
    try:
        has_clang = compile_fuzzer(fuzzer)
    except (RuntimeError, OSError) as error:
        print(f"the core is not fuzzed: {error}")
        return
    corpus, chance = WORK / NAME, record.chance
    corpus.mkdir(parents=True, exist_ok=True)
    while (left := int(until - time.monotonic())) > 0:
        seed = chance.randrange(1, 2**31)
        if has_clang:
            options = [f"-seed={seed}", f"-max_total_time={left}", "-max_len=2048", "-len_control=0", "-timeout=120"]
            options += ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={WORK}/found-core-", str(corpus)]
        else:
            options = [str(left), str(seed)]
        done = subprocess.run([str(fuzzer), *options], capture_output=True, timeout=left + GRACE, check=False)
        said = done.stderr.decode(errors="replace")
        n_inputs = int(found[1]) if (found := _EXECUTED.search(said)) else 0
        record.facts["core fuzzed with"] = "libFuzzer, ASan, UBSan" if has_clang else "random bytes, ASan, UBSan"
        record.add(f"{NAME}: inputs", n_inputs)
        record.add("inputs", n_inputs)
        if done.returncode == 0:
            return
        (WORK / f"core-{time.time_ns()}.log").write_text(said)
        record.fail(f"core: {' / '.join(re.findall('.*ERROR.*', said)) or said[-300:]}")
        if not n_inputs:
            return


if __name__ == "__main__":
    alone = Record("fuzz", 1)
    fuzz(alone, time.monotonic() + 60 * float(sys.argv[1]))
    alone.save(quiet=False)
    sys.exit(1 if alone.problems else 0)
