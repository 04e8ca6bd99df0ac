"""Check which engine the installed package uses, and that it parses: python .ci/engine.py numpy|base|v3|v4|v4vnni"""

from __future__ import annotations

import sys

from smoke import TEXT, TREES

import easyfirst
from easyfirst.native.library import find_core, why_missing


def main() -> None:
    expected = sys.argv[1]
    core = find_core()
    engine = core.isa if core else "numpy"
    assert engine == expected, f"the engine is {engine} instead of {expected} ({why_missing()})"
    document = easyfirst.load("en")(TEXT)
    assert [[(word.form, word.head_id, word.relation) for word in parse] for parse in document] == TREES
    print(f"{easyfirst.__file__}: {engine}")


if __name__ == "__main__":
    main()
