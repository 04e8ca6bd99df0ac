"""Train whole pipelines with the default command, score them, and compare them with published figures.

    python -m bench.pipelines --treebanks UD --work DIR
    python -m bench.pipelines --treebanks UD --work DIR UD_Tamil-TTB UD_French-Sequoia

UD is a folder with one folder for each treebank. A pipeline is trained by ``easyfirst train TRAIN --dev DEV --out OUT
--parts all`` and nothing else, with one thread. DIR holds the models; an interrupted run resumes, and the results are
written after each treebank. Scores are F1 as the CoNLL 2018 scorer defines it, on test (on dev, if there is no test).
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import bundled, report
from easyfirst.training.run_folders import FOLDER

NAME = "pipelines"
UDPIPE = {  # LAS with gold tokens, of the models of UDPipe 1 in its manual
    "UD_Afrikaans-AfriBooms": 78.4,
    "UD_Basque-BDT": 70.0,
    "UD_French-Sequoia": 84.8,
    "UD_Portuguese-Bosque": 83.8,
    "UD_Tamil-TTB": 57.0,
}
STANZA = {"UD_French-Sequoia": 91.6, "UD_Portuguese-Bosque": 87.8}  # LAS from raw text
TREEBANKS = (
    "UD_Afrikaans-AfriBooms",
    "UD_Basque-BDT",
    "UD_Chinese-GSD",
    "UD_Dutch-LassySmall",
    "UD_French-Sequoia",
    "UD_Portuguese-Bosque",
    "UD_Tamil-TTB",
)
COLUMNS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
INPUTS = ("gold tokens, predicted tags", "raw text")
HEADER = ("treebank", "part", "input", *COLUMNS, "UDPipe 1, LAS", "Stanza, LAS")


def file_of(folder: Path, part: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"*-ud-{part}.conllu"))), None)


def train(folder: Path, out: Path) -> None:
    """Train a pipeline by the default command, or resume its training."""
    command = [sys.executable, "-m", "easyfirst", "train", str(file_of(folder, "train"))]
    command += ["--dev", str(file_of(folder, "dev")), "--out", str(out), "--parts", "all"]
    command += ["--resume"] if (out / FOLDER).is_dir() else []
    subprocess.run(command, check=True)


def rows_of(found: dict[str, Any]) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, result in found.items():
        for given in INPUTS:
            scores = [f"{result['f1'][given][column]:.2f}" for column in COLUMNS]
            published = [UDPIPE.get(name, "") if given == INPUTS[0] else "", STANZA.get(name, "")]
            rows.append(
                [name, result["part"], given, *scores, published[0], published[1] if given == INPUTS[1] else ""]
            )
    return rows


def results() -> dict[str, Any]:
    """Return the results of earlier runs, and of those that run at the same time."""
    path = report.RESULTS / f"{NAME}.json"
    return json.loads(path.read_text(encoding="utf-8"))["treebanks"] if path.is_file() else {}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME", default=TREEBANKS, help="default: all seven")
    options.add_argument("--treebanks", type=Path, required=True, metavar="UD")
    options.add_argument("--work", type=Path, required=True, metavar="DIR")
    given = options.parse_args()
    for name in given.names:
        folder, out = given.treebanks / name, given.work / name
        train(folder, out)
        part = "test" if file_of(folder, "test") else "dev"
        scores = bundled.scores_of(str(out), file_of(folder, part) or folder, spaces="given")
        found = dict(sorted({**results(), name: {"part": part, "f1": scores}}.items()))
        report.write(NAME, {"treebanks": found}, HEADER, rows_of(found))


if __name__ == "__main__":
    main()
