"""Without spaCy, everything else works, and what needs it names the extra."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT_SPACY = "import sys; sys.modules['spacy'] = None; import easyfirst\n"
MESSAGE = 'EasyFirstError: this needs spaCy; install it with: pip install "easyfirst[spacy]"'


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "call",
    [
        "easyfirst.spacy",
        "easyfirst.from_spacy(None)",
        "easyfirst.load('en')('The fox.').to_spacy(None)",
        "easyfirst.load('en')('The fox.')[0].to_spacy(None)",
    ],
)
def test_spacy_is_missing(call: str) -> None:
    done = run(WITHOUT_SPACY + call)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(MESSAGE)


def test_parsing_does_not_import_it() -> None:
    done = run(
        "import easyfirst, sys; easyfirst.load('en')('The fox.'); print(sorted({'spacy', 'srsly'} & {*sys.modules}))"
    )
    assert done.stdout == "[]\n"
