"""Whether our scores equal the official scorer's (``udtools``), counted to the word, on a real treebank.

    python bench/scorer.py --treebank dev.conllu

The gold file is spoilt at random, more and more, and both scorers compare what results with it: first only heads and
relations, which is for :func:`easyfirst.score`, then tags, tokens, words and sentences as well, which is for
:func:`easyfirst.treebank.text_scores.score_text`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import report
from udtools.udeval import evaluate, load_conllu_file

import easyfirst
from easyfirst import Sentence
from easyfirst.treebank.text_scores import TextScores, score_text

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
SEED = 1
METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UAS", "LAS")


# Trees


def spoil_tree(sentence: Sentence, share: float, rng: random.Random, relations: list[str]) -> Sentence:
    """Hang some leaves under other words, and give some words another relation."""
    heads = [head or 0 for head in sentence.heads]
    labels = [relation or "_" for relation in sentence.relations]
    for m in range(1, len(heads) + 1):
        if heads[m - 1] and rng.random() < share:
            labels[m - 1] = rng.choice(relations)
        if heads[m - 1] and m not in heads and rng.random() < share:
            heads[m - 1] = rng.choice([h for h in range(1, len(heads) + 1) if h != m])
    return sentence.with_tree(heads, labels)


# Tokens and sentences


@dataclass(eq=False)
class Node:
    """A word that knows its head wherever the two are moved."""

    form: str
    upos: str
    xpos: str
    relation: str
    head: Node | None = None


@dataclass(eq=False)
class Piece:
    """A token: its form and its words."""

    form: str
    words: list[Node]
    is_multiword: bool = False


def pieces_of(sentence: Sentence) -> list[Piece]:
    columns = zip(sentence.forms, sentence.upos, sentence.xpos, sentence.relations, strict=True)
    nodes = [Node(form, upos, xpos, relation or "_") for form, upos, xpos, relation in columns]
    for node, head in zip(nodes, sentence.heads, strict=True):
        node.head = nodes[head - 1] if head else None
    return [Piece(t.form, [nodes[m] for m in t.words], t.is_multiword) for t in sentence.surface_tokens]


def nodes_of(pieces: Iterable[Piece]) -> list[Node]:
    return [node for piece in pieces for node in piece.words]


def join(one: Piece, other: Piece, nodes: list[Node]) -> Piece:
    """Two tokens as one: a single word where one word is the head of the other, else a multiword token."""
    form = one.form + other.form
    if not one.is_multiword and not other.is_multiword:
        [a], [b] = one.words, other.words
        if a.head is b or b.head is a:
            kept, gone = (b, a) if a.head is b else (a, b)
            for node in nodes:
                if node.head is gone:
                    node.head = kept
            kept.form = form
            return Piece(form, [kept])
    return Piece(form, one.words + other.words, True)


def part(piece: Piece, rng: random.Random) -> list[Piece]:
    """A multiword token as its words, if they spell it; a word as two, which may make up a multiword token."""
    if piece.is_multiword:
        spelt = "".join(node.form for node in piece.words) == piece.form
        return [Piece(node.form, [node]) for node in piece.words] if spelt else [piece]
    if len(piece.form) < 2:
        return [piece]
    [node] = piece.words
    cut = rng.randrange(1, len(piece.form))
    rest = Node(piece.form[cut:], node.upos, node.xpos, "goeswith", node)
    node.form = piece.form[:cut]
    if rng.random() < 0.5:
        return [Piece(piece.form, [node, rest], True)]
    return [Piece(node.form, [node]), Piece(rest.form, [rest])]


def spoil_tokens(pieces: list[Piece], share: float, rng: random.Random) -> list[Piece]:
    spoilt: list[Piece] = []
    for piece in pieces:
        if spoilt and rng.random() < share:
            spoilt[-1] = join(spoilt[-1], piece, nodes_of(pieces))
        else:
            spoilt += part(piece, rng) if rng.random() < share else [piece]
    for node in nodes_of(spoilt):
        if rng.random() < share:
            node.upos, node.xpos = "X", "FW"
    return spoilt


def spoil_sentences(sentences: list[list[Piece]], share: float, rng: random.Random) -> list[list[Piece]]:
    """Cut some sentences in two, put some together with the one before, and make trees of what results."""
    spoilt: list[list[Piece]] = []
    for pieces in sentences:
        cut = rng.randrange(1, len(pieces)) if len(pieces) > 1 and rng.random() < share else 0
        begin = pieces[:cut] or pieces
        if spoilt and rng.random() < share:
            spoilt[-1] = spoilt[-1] + begin
        else:
            spoilt.append(begin)
        if cut:
            spoilt.append(pieces[cut:])
    for pieces in spoilt:
        nodes = nodes_of(pieces)
        first, *others = [node for node in nodes if node.head not in nodes]
        first.head = None
        for node in others:
            node.head = first
    return spoilt


def spoil_text(gold: list[Sentence], share: float, rng: random.Random, relations: list[str]) -> bytes:
    """The same text as another system might see it, as CoNLL-U."""
    trees = [pieces_of(spoil_tree(sentence, share, rng, relations)) for sentence in gold]
    sentences = spoil_sentences([spoil_tokens(pieces, share, rng) for pieces in trees], share, rng)
    lines: list[str] = []
    for pieces in sentences:
        ids = {node: m for m, node in enumerate(nodes_of(pieces), 1)}
        for piece in pieces:
            if piece.is_multiword:
                first, last = ids[piece.words[0]], ids[piece.words[-1]]
                lines.append("\t".join([f"{first}-{last}", piece.form, *["_"] * 8]))
            for node in piece.words:
                head = ids[node.head] if node.head else 0
                cells = (ids[node], node.form, "_", node.upos, node.xpos, "_", head, node.relation, "_", "_")
                lines.append("\t".join(map(str, cells)))
        lines.append("")
    return "".join(f"{line}\n" for line in lines).encode()


# Comparing


def is_equal(scores: TextScores, official: dict[str, Any]) -> bool:
    """Whether all counts are the same, from which all shares follow."""
    return all(
        (metric.gold, metric.system, metric.correct, metric.aligned)
        == (theirs.gold_total, theirs.system_total, theirs.correct, theirs.aligned_total)
        for metric, theirs in ((metric, official[name]) for name, metric in scores.metrics.items())
    )


def compare(treebank: Path, gold: list[Sentence], content: bytes, *, same_words: bool) -> dict[str, Any]:
    """The scores of both scorers, the CPU time of each, reading included, and whether they are equal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "system.conllu"
        path.write_bytes(content)
        start = time.process_time()
        official = evaluate(load_conllu_file(str(treebank)), load_conllu_file(str(path)))
        middle = time.process_time()
        text = score_text(easyfirst.read_conllu(treebank), easyfirst.read_conllu(path))
        end = time.process_time()
        equal = is_equal(text, official)
        if same_words:
            plain = easyfirst.score(gold, easyfirst.read_conllu(path)).ud
            theirs = (official["UAS"].correct, official["LAS"].correct, official["LAS"].gold_total)
            equal = equal and theirs == (plain.heads, plain.labelled, plain.words)
    return {
        **{name: text.metrics[name].f1 for name in METRICS},
        "words": text.words.system,
        "equal": equal,
        "cpu_seconds": round(end - middle, 2),
        "official_cpu_seconds": round(middle - start, 2),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--treebank", type=Path, required=True)
    options = arguments.parse_args()
    gold = list(easyfirst.read_conllu(options.treebank))
    relations = sorted({relation for s in gold for relation in s.relations if relation not in (None, "root")})
    rng = random.Random(SEED)
    results: list[dict[str, Any]] = []
    for share in SHARES:
        content = b"".join(spoil_tree(sentence, share, rng, relations).to_bytes() for sentence in gold)
        found = compare(options.treebank, gold, content, same_words=True)
        results.append({"spoilt": share, "what": "trees", **found})
    for share in SHARES:
        content = spoil_text(gold, share, rng, relations)
        found = compare(options.treebank, gold, content, same_words=False)
        results.append({"spoilt": share, "what": "trees, tags, tokens, sentences", **found})
    rows = [
        (
            row["what"],
            f"{row['spoilt']:.0%}",
            *(f"{row[name]:.4f}" for name in METRICS),
            f"{row['words']:,}",
            row["equal"],
            row["cpu_seconds"],
            row["official_cpu_seconds"],
        )
        for row in results
    ]
    header = ("what", "spoilt", *METRICS, "words", "equal to the official scorer", "CPU seconds", "official")
    report.write("scorer", {"treebank": options.treebank.name, "seed": SEED, "comparisons": results}, header, rows)


if __name__ == "__main__":
    main()
