"""Constituency treebanks as training data: brackets in, sentences with encoded trees out.

The relation of a root names the encoding and the phrases of a sentence of a single word (``constituents.encoding``). No
action decides it, so a model has one such relation, the most frequent. It is written to all sentences of two and more
words, where it means nothing else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath

from easyfirst.constituents.brackets import read_brackets
from easyfirst.constituents.encoding import encode, root_relation
from easyfirst.constituents.heads import head_rules
from easyfirst.constituents.stripping import TRACE_TAG, read_stripping, strip
from easyfirst.constituents.tree import Constituents
from easyfirst.errors import DataError, InputError
from easyfirst.model.constituency_config import ConstituencyConfig
from easyfirst.training.data import Treebank
from easyfirst.treebank.sentence import Sentence


def read_constituency_treebank(
    path: str | PathLike[str], config: ConstituencyConfig, like: Treebank | None = None
) -> Treebank:
    """Read all trees of a file as sentences. ``like``: the training treebank, if this is another one."""
    removed, digest = read_stripping(config.strip), hashlib.sha256()
    sentences: list[Sentence] = []
    for whole in read_brackets(path):
        digest.update(f"{whole}\n".encode())
        if (tree := strip(whole, removed)) is not None:
            sentences.append(encoded(tree, config))
    if not sentences:
        raise DataError("no trees in this file; give Penn-style brackets", source=fspath(path))
    root = _common_root(sentences if like is None else like.sentences, config)
    return Treebank(fspath(path), digest.hexdigest(), tuple(_with_root(sentence, root) for sentence in sentences))


def encoded(tree: Constituents, config: ConstituencyConfig) -> Sentence:
    """Return a tree as a sentence whose XPOS are the tags."""
    if TRACE_TAG in tree.tags:
        word = tree.forms[tree.tags.index(TRACE_TAG)]
        message = f"{word!r} is a trace, not a word; remove traces with --strip traces"
        raise DataError(message, source=tree.source, line=tree.line)
    heads, relations = encode(tree, head_rules(config.heads), config.encoding)
    try:
        sentence = Sentence.from_words(tree.forms, xpos=tree.tags, heads=heads, relations=relations)
    except InputError as error:
        raise DataError(str(error), source=tree.source, line=tree.line) from None
    return replace(sentence, source=tree.source, line=tree.line)


def _common_root(sentences: Sequence[Sentence], config: ConstituencyConfig) -> str:
    """Return the most frequent relation of sentences of a single word."""
    found = Counter(sentence.relations[0] for sentence in sentences if len(sentence) == 1)
    [(relation, _)] = found.most_common(1) or [(None, 0)]
    return relation or root_relation(config.encoding, "")


def _with_root(sentence: Sentence, root: str) -> Sentence:
    if len(sentence) == 1:
        return sentence
    arcs = zip(sentence.heads, sentence.relations, strict=True)
    return replace(sentence, relations=tuple(root if head == 0 else relation for head, relation in arcs))
