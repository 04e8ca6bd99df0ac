"""A directory of files to parse."""

from __future__ import annotations

import gzip
from pathlib import Path

from easyfirst.cli.ledger import NAME
from tests.cli.rows import ROWS

TEXT = b"The fox likes apples. The dog does not.\n"
BAD = b"caf\xe9\n"


def write_corpus(folder: Path) -> Path:
    """Write files of all kinds in a tree, and some that do not count."""
    files = {
        "b.conllu": ROWS + b"\n",
        "a.txt": TEXT,
        "deep/er/a.txt": TEXT * 3,
        "deep/c.TXT.gz": gzip.compress(TEXT),
        "deep/notes.md": b"# Not to be parsed\n",
        ".hidden/d.txt": BAD,
        ".d.txt": BAD,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


OUTPUTS = {"a.conllu", "b.conllu", "deep/c.conllu.gz", "deep/er/a.conllu"}


def tree(folder: Path, *, records: bool = False) -> dict[str, bytes]:
    """Return the files below a directory and their contents; there must be no temporary files."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in files if name.endswith(".tmp")]
    return {name: path.read_bytes() for name, path in files.items() if records or path.name != NAME}
