"""Check that our scorers give exactly the counts of the official scorer (``udtools``) on real treebanks.

    python -m bench.scorer dev.conllu other-dev.conllu

Each gold file is corrupted at random, at increasing rates, and both scorers compare the result with gold. First trees,
tags, features and lemmas are corrupted, for :func:`easyfirst.score`; then also tokens, words and sentences, for
:func:`easyfirst.treebank.text_scores.score_text`. All metrics of the CoNLL 2018 shared task are compared.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from udtools.udeval import evaluate, load_conllu_file

import easyfirst
from bench import report
from easyfirst import Sentence
from easyfirst.treebank.conll18 import METRICS, Conll18Scores
from easyfirst.treebank.text_scores import score_text

SHARES = (0.0, 0.1, 0.4)
SEED = 1
SAME_WORDS, OTHER_WORDS = "trees, tags, lemmas", "also tokens, sentences"


# Trees and other columns


@dataclass
class Values:
    """The values of a treebank, to choose wrong ones from."""

    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]
    relations: list[str]

    @classmethod
    def of(cls, gold: Sequence[Sentence]) -> Values:
        def values(column: str) -> list[str]:
            return sorted({value or "_" for sentence in gold for value in getattr(sentence, column)})

        relations = [relation for relation in values("relations") if relation != "root"]
        return cls(values("lemmas"), values("upos"), values("xpos"), values("feats"), relations)


def corrupt_tree(sentence: Sentence, share: float, rng: random.Random, relations: list[str]) -> Sentence:
    """Attach some leaves to other words, and change the relations of some words."""
    heads = [head or 0 for head in sentence.heads]
    labels = [relation or "_" for relation in sentence.relations]
    for m in range(1, len(heads) + 1):
        if heads[m - 1] and rng.random() < share:
            labels[m - 1] = rng.choice(relations)
        if heads[m - 1] and m not in heads and rng.random() < share:
            heads[m - 1] = rng.choice([h for h in range(1, len(heads) + 1) if h != m])
    return sentence.with_tree(heads, labels)


def corrupt_features(feats: str, rng: random.Random, values: list[str]) -> str:
    """Drop a feature, add one that is not universal, reverse the order, or choose the features of another word."""
    features = [] if feats == "_" else feats.split("|")
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(values)
    if kind == 1 and features:
        features.pop(rng.randrange(len(features)))
    elif kind == 2:
        features.append("Own[layer]=Yes")
    else:
        features.reverse()
    return "|".join(features) or "_"


def corrupt_words(sentence: Sentence, share: float, rng: random.Random, values: Values) -> Sentence:
    """Corrupt the tree, the tags, the features and the lemmas of some words."""

    def some(column: Sequence[str], choices: list[str]) -> tuple[str, ...]:
        return tuple(rng.choice(choices) if rng.random() < share else value for value in column)

    feats = (corrupt_features(cell, rng, values.feats) if rng.random() < share else cell for cell in sentence.feats)
    return replace(
        corrupt_tree(sentence, share, rng, values.relations),
        lemmas=some(sentence.lemmas, [*values.lemmas, "_"]),
        upos=some(sentence.upos, values.upos),
        xpos=some(sentence.xpos, values.xpos),
        feats=tuple(feats),
    )


# Tokens and sentences


@dataclass(eq=False)
class Node:
    """A word with a reference to its head, which survives moving either."""

    form: str
    tags: tuple[str, str, str, str]  # lemma, UPOS, XPOS and features
    relation: str
    head: Node | None = None


@dataclass(eq=False)
class Piece:
    """A token: its form and its words."""

    form: str
    words: list[Node]
    is_multiword: bool = False


def pieces_of(sentence: Sentence) -> list[Piece]:
    tags = zip(sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats, strict=True)
    columns = zip(sentence.forms, tags, sentence.relations, strict=True)
    nodes = [Node(form, of_word, relation or "_") for form, of_word, relation in columns]
    for node, head in zip(nodes, sentence.heads, strict=True):
        node.head = nodes[head - 1] if head else None
    return [Piece(t.form, [nodes[m] for m in t.words], t.is_multiword) for t in sentence.surface_tokens]


def nodes_of(pieces: Iterable[Piece]) -> list[Node]:
    return [node for piece in pieces for node in piece.words]


def join(one: Piece, other: Piece, nodes: list[Node]) -> Piece:
    """Join two tokens: into one word if one is the head of the other, else into a multiword token."""
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


def split(piece: Piece, rng: random.Random) -> list[Piece]:
    """Split a multiword token into its words if they spell it, or a word into two, perhaps as a multiword token."""
    if piece.is_multiword:
        is_spelt = "".join(node.form for node in piece.words) == piece.form
        return [Piece(node.form, [node]) for node in piece.words] if is_spelt else [piece]
    if len(piece.form) < 2:
        return [piece]
    [node] = piece.words
    cut = rng.randrange(1, len(piece.form))
    rest = Node(piece.form[cut:], node.tags, "goeswith", node)
    node.form = piece.form[:cut]
    if rng.random() < 0.5:
        return [Piece(piece.form, [node, rest], True)]
    return [Piece(node.form, [node]), Piece(rest.form, [rest])]


def corrupt_tokens(pieces: list[Piece], share: float, rng: random.Random) -> list[Piece]:
    corrupted: list[Piece] = []
    for piece in pieces:
        if corrupted and rng.random() < share:
            corrupted[-1] = join(corrupted[-1], piece, nodes_of(pieces))
        else:
            corrupted += split(piece, rng) if rng.random() < share else [piece]
    return corrupted


def corrupt_sentences(sentences: list[list[Piece]], share: float, rng: random.Random) -> list[list[Piece]]:
    """Split some sentences in two, join some with the previous one, and repair the trees."""
    corrupted: list[list[Piece]] = []
    for pieces in sentences:
        cut = rng.randrange(1, len(pieces)) if len(pieces) > 1 and rng.random() < share else 0
        begin = pieces[:cut] or pieces
        if corrupted and rng.random() < share:
            corrupted[-1] = corrupted[-1] + begin
        else:
            corrupted.append(begin)
        if cut:
            corrupted.append(pieces[cut:])
    for pieces in corrupted:
        nodes = nodes_of(pieces)
        first, *others = [node for node in nodes if node.head not in nodes]
        first.head = None
        for node in others:
            node.head = first
    return corrupted


def corrupt_text(gold: list[Sentence], share: float, rng: random.Random, values: Values) -> bytes:
    """Return the text as CoNLL-U, with corrupted trees, tags, lemmas, tokens and sentences."""
    trees = [pieces_of(corrupt_words(sentence, share, rng, values)) for sentence in gold]
    sentences = corrupt_sentences([corrupt_tokens(pieces, share, rng) for pieces in trees], share, rng)
    lines: list[str] = []
    for pieces in sentences:
        ids = {node: m for m, node in enumerate(nodes_of(pieces), 1)}
        for piece in pieces:
            if piece.is_multiword:
                first, last = ids[piece.words[0]], ids[piece.words[-1]]
                lines.append("\t".join([f"{first}-{last}", piece.form, *["_"] * 8]))
            for node in piece.words:
                head = ids[node.head] if node.head else 0
                cells = (ids[node], node.form, *node.tags, head, node.relation, "_", "_")
                lines.append("\t".join(map(str, cells)))
        lines.append("")
    return "".join(f"{line}\n" for line in lines).encode()


# Comparing


def is_equal(scores: Conll18Scores, official: dict[str, Any]) -> bool:
    """Return whether all counts are equal, which implies equal scores."""
    return all(
        (metric.gold, metric.system, metric.correct, metric.aligned)
        == (theirs.gold_total, theirs.system_total, theirs.correct, theirs.aligned_total)
        for metric, theirs in ((metric, official[name]) for name, metric in scores.metrics.items())
    )


def compare(treebank: Path, gold: list[Sentence], content: bytes, *, same_words: bool) -> dict[str, Any]:
    """Return our scores, the CPU time of both scorers (including reading), and whether they agree."""
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
            plain = easyfirst.score(gold, easyfirst.read_conllu(path))
            theirs = (official["UAS"].correct, official["LAS"].correct, official["LAS"].gold_total)
            equal = equal and theirs == (plain.ud.heads, plain.ud.labelled, plain.ud.words)
            equal = equal and plain.conll18 is not None and is_equal(plain.conll18, official)
    return {
        **{name: text.metrics[name].f1 for name in METRICS},
        "words": text.words.system,
        "equal": equal,
        "cpu_seconds": round(end - middle, 2),
        "official_cpu_seconds": round(middle - start, 2),
    }


def compare_all(treebank: Path) -> list[dict[str, Any]]:
    """Return a row for each kind of corruption and each share."""
    gold = list(easyfirst.read_conllu(treebank))
    values, rng = Values.of(gold), random.Random(SEED)
    rows: list[dict[str, Any]] = []
    for share in SHARES:
        content = b"".join(corrupt_words(sentence, share, rng, values).to_bytes() for sentence in gold)
        found = compare(treebank, gold, content, same_words=True)
        rows.append({"treebank": treebank.name, "corrupted": share, "what": SAME_WORDS, **found})
    for share in SHARES:
        found = compare(treebank, gold, corrupt_text(gold, share, rng, values), same_words=False)
        rows.append({"treebank": treebank.name, "corrupted": share, "what": OTHER_WORDS, **found})
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("treebanks", type=Path, nargs="+")
    results = [row for path in arguments.parse_args().treebanks for row in compare_all(path)]
    rows = [
        (
            row["treebank"].removesuffix(".conllu"),
            row["what"],
            f"{row['corrupted']:.0%}",
            *(f"{row[name]:.2f}" for name in METRICS),
            f"{row['words']:,}",
            "yes" if row["equal"] else "NO",
            row["cpu_seconds"],
            row["official_cpu_seconds"],
        )
        for row in results
    ]
    header = ("treebank", "corrupted", "share", *METRICS, "words", "equal counts", "CPU seconds", "official")
    report.write("scorer", {"seed": SEED, "comparisons": results}, header, rows)


if __name__ == "__main__":
    main()
