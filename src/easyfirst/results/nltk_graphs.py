"""Parses as dependency graphs of NLTK."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from easyfirst.errors import EasyFirstError

if TYPE_CHECKING:
    from easyfirst.results.parses import Parse


def nltk_graph(parse: Parse) -> Any:
    """Return the ``nltk.parse.DependencyGraph`` of a parse, with the tags it was parsed with."""
    try:
        graphs: Any = import_module("nltk.parse.dependencygraph")
    except ModuleNotFoundError:
        raise EasyFirstError("this needs NLTK; install it with: pip install nltk") from None
    rows = zip(parse.tagged.words, parse.heads, parse.relations, strict=True)
    lines = [
        [str(m), word.form, word.lemma, word.upos, word.xpos, word.feats, str(head), relation, "_", "_"]
        for m, (word, head, relation) in enumerate(rows, 1)
    ]
    root = parse.relations[parse.heads.index(0)]
    table = "\n".join("\t".join(cells) for cells in lines)
    return graphs.DependencyGraph(table, cell_separator="\t", top_relation_label=root)
