"""What is removed from treebank trees before they are parsed: traces and function tags."""

from __future__ import annotations

import re
from dataclasses import replace

from easyfirst.constituents.tree import Constituents, Node
from easyfirst.errors import ConfigError

TRACES, FUNCTIONS = "traces", "functions"
STRIPPABLE = (TRACES, FUNCTIONS)
TRACE_TAG = "-NONE-"
_FUNCTION = re.compile(r"(?<=.)[-=].*")


def read_stripping(text: str) -> tuple[str, ...]:
    """Return what ``--strip`` names: ``traces``, ``functions``, both with a comma between, or ``none``."""
    names = tuple(name.strip() for name in text.split(","))
    if names == ("none",):
        return ()
    for name in names:
        if name not in STRIPPABLE:
            raise ConfigError(f"--strip {text}: there are {', '.join(STRIPPABLE)} and none")
    return names


def strip(tree: Constituents, what: tuple[str, ...]) -> Constituents | None:
    """Return the tree without ``traces`` and ``functions``, or None if there is no word left."""
    if FUNCTIONS in what:
        tree = replace(tree, nodes=tuple(Node(plain_label(label), *span) for label, *span in tree.nodes))
    return without_traces(tree) if TRACES in what else tree


def plain_label(label: str) -> str:
    """Return a label without function tags and indices.

    >>> [plain_label(label) for label in ("NP-SBJ-1", "NP=2", "-NONE-", "S")]
    ['NP', 'NP', '-NONE-', 'S']
    """
    return label if label.startswith("-") else _FUNCTION.sub("", label)


def without_traces(tree: Constituents) -> Constituents | None:
    """Return the tree without empty elements, and without the phrases of which nothing is left."""
    if TRACE_TAG not in tree.tags:
        return tree
    kept = [word for word, tag in enumerate(tree.tags) if tag != TRACE_TAG]
    if not kept:
        return None
    before = [0]  # the number of words that are kept before each word
    for tag in tree.tags:
        before.append(before[-1] + (tag != TRACE_TAG))
    spans = (Node(label, before[start], before[end]) for label, start, end in tree.nodes)
    nodes = tuple(node for node in spans if node.start < node.end)
    forms, tags = (tuple(column[word] for word in kept) for column in (tree.forms, tree.tags))
    return replace(tree, forms=forms, tags=tags, nodes=nodes)
