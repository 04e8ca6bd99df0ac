"""The targets by name, and the inputs that fuzzing begins with."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.campaign.fuzz_models import bodies, model_files, models
from bench.campaign.fuzz_targets import Target, annotated, conllu, constraints, text
from bench.campaign.record import ROOT

MAX_LENGTHS = {"models": 20_000, "text": 600}  # bytes of an input
MAX_LENGTH = 3_000  # of other targets
TARGETS: dict[str, Callable[[], Target]] = {
    "conllu": conllu,
    "text": text,
    "constraints": constraints,
    "annotated": annotated,
    "models": models,
    "bodies": bodies,
}
TEXTS = (
    "The black fox doesn't jump. It likes apples!",
    "Dr. Smith paid $3.50 (about €3) on 1999-12-31...\n\nwww.example.org \U0001f98a\U0001f98a cannot \u00e9t\u00e9",
    "\u4e2d\u6587\u3002 \u05e9\u05dc\u05d5\u05dd \u202etxt.exe \u200b\u00a0 \r\n\t \x00\x1b[31m",
    "a" * 300 + " " + "." * 300,
)
SPECIAL = (b"\t", b"\n", b"\0", b"\xff", b"0", b"-", b"\xe2\x80\xa8", b'"', b"[" * 50)
MISC = "FixedHead=2|FixedRel=obj|ForbiddenHead=1,3:nsubj|Bracket=1:2"
ANNOTATED = (
    f"1\tA\t_\tDET\tDT\t_\t_\t_\t_\t{MISC}\n2\tfox\t_\tNOUN\tNN\t_\t0\t_\t_\t_\n3\t.\t_\tPUNCT\t.\t_\t_\t_\t_\t_\n\n"
)


def seeds_of(target: str) -> Iterator[bytes]:
    """Yield inputs that are not far from valid ones."""
    if target in ("conllu", "annotated"):
        for path in sorted((ROOT / "tests" / "data").glob("*.conllu")):
            yield from (block + b"\n\n" for block in path.read_bytes().split(b"\n\n")[:20])
        yield ANNOTATED.encode()
    elif target == "text":
        yield from (each.encode() for each in TEXTS)
    elif target == "constraints":
        chance = random.Random(1)
        yield from (chance.randbytes(1 + 4 * n) for n in range(7))
    elif target == "models":
        with tempfile.TemporaryDirectory() as folder:
            files = model_files(Path(folder) / "m")
        yield from (bytes([number]) + files[name] for number, name in enumerate(sorted(files)))
    else:
        yield from (json.dumps({"text": each}).encode() for each in TEXTS)
        yield json.dumps({"sentences": TEXTS[:2]}).encode()
        yield b'{"tokens": [["A", "fox"], [["A", "DET"], ["fox", "NOUN"]], [["A", "DET", "DT"]]]}'


def mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Change an input at random, where there is no coverage to follow."""
    found = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(found) + 1)
        other = chance.choice(others)
        begin = chance.randrange(len(other) + 1)
        match chance.randrange(5):
            case 0:
                found[at : at + 1] = chance.randbytes(1)
            case 1:
                del found[at : at + chance.randrange(1, 20)]
            case 2:
                found[at:at] = other[begin : begin + chance.randrange(1, 40)]
            case 3:
                found[at : at + 1] = chance.choice(SPECIAL)
            case _:
                found[at:at] = found[at : at + chance.randrange(1, 30)]
    return bytes(found[: max(MAX_LENGTHS.values())])
