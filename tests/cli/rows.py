"""CoNLL-U that the command reads and writes."""

from __future__ import annotations

import io

from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.tree import check_tree

BOM = b"\xef\xbb\xbf"
ROWS = b"1\tYes\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n2\tno\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n"


def blanked(content: bytes) -> bytes:
    """Remove HEAD and DEPREL of every word."""
    lines = [line.split(b"\t") for line in content.split(b"\n")]
    return b"\n".join(
        b"\t".join([*cells[:6], b"?", b"?", *cells[8:]] if cells[0].lstrip(BOM).isdigit() else cells) for cells in lines
    )


def sentences(content: bytes) -> list[Sentence]:
    """Return the sentences of an output, each of which must have a tree."""
    found = list(ConlluReader(io.BytesIO(content), "output"))
    for sentence in found:
        check_tree(sentence)
    return found
