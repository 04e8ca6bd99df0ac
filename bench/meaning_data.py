"""The data of ``bench.meaning``: SICK and SST, parsed by the bundled model, with word vectors.

Parsing is done once. A directory for working files gets the trees as CoNLL-U and the parser's word vectors as NumPy
arrays, and later runs read them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import easyfirst
from easyfirst import Parse, Parser, Sentence, Tree
from easyfirst.meaning.subtrees import SubtreeEncoder
from easyfirst.model.embeddings import read_embeddings

SPLITS = ("train", "dev", "test")
SICK_FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
PTB_TOKENS = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}
NODE = re.compile(r"\((\d) |([^\s()]+)\)|\)")
Spans = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sentences: their words as rows of the table of vectors, their trees, and the parser's vectors of the words."""

    words: list[npt.NDArray[np.int64]]
    trees: list[Tree]
    of_parser: list[npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Pairs:
    """SICK: pairs of sentences by their numbers, and how related they are, from 1 to 5."""

    sentences: npt.NDArray[np.int64]  # (n, 2)
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Phrases:
    """SST: of each sentence, the labels of those subtrees that are constituents, by their heads and spans."""

    heads: list[npt.NDArray[np.int64]]  # words from 0; the root comes first
    spans: list[npt.NDArray[np.int64]]  # (n, 2) from the first word to the one after the last
    labels: list[npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Data:
    """A task: sentences, and what is known of them in each split."""

    table: npt.NDArray[np.float32]  # the vectors of words
    has_vector: npt.NDArray[np.bool_]
    corpora: dict[str, Corpus]
    splits: dict[str, Any]


def read_sick(directory: Path, split: str) -> Iterator[tuple[str, str, float]]:
    """Yield the pairs of sentences and their scores."""
    with (directory / "sick" / SICK_FILES[split]).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row["sentence_A"], row["sentence_B"], float(row["relatedness_score"])


def read_sst(directory: Path, split: str) -> Iterator[tuple[list[str], Spans]]:
    """Yield the words of each sentence, and the labels of its constituents by their spans."""
    for line in (directory / "sst" / f"{split}.txt").read_text(encoding="utf-8").splitlines():
        words: list[str] = []
        spans: Spans = {}
        opened: list[tuple[int, int]] = []
        for match in NODE.finditer(line):
            if match[1] is not None:
                opened.append((int(match[1]), len(words)))
                continue
            if match[2] is not None:
                words.append(PTB_TOKENS.get(match[2], match[2].replace("\\/", "/")))
            label, begin = opened.pop()
            spans[begin, len(words)] = label  # an outer node with the same words has the last word
        yield words, spans


def labelled_subtrees(tree: Tree, spans: Spans) -> tuple[list[int], list[tuple[int, int]], list[int]]:
    """Return the subtrees that are constituents, that of the whole sentence first, and their labels."""
    n = len(tree)
    found: list[tuple[int, tuple[int, int]]] = [(tree.root - 1, (0, n))]
    for word in range(1, n + 1):
        inside = tree.subtree(word)
        span = (inside[0] - 1, inside[-1])
        if word != tree.root and len(inside) == span[1] - span[0] and span in spans:
            found.append((word - 1, span))
    return [head for head, _ in found], [span for _, span in found], [spans[span] for _, span in found]


def parse_words(nlp: Parser, sentences: Sequence[Sequence[str]]) -> Iterator[Parse]:
    """Parse sentences that are given in words."""
    return nlp.pipe(Sentence.from_words(words) for words in sentences)


def parse_texts(nlp: Parser, texts: Sequence[str]) -> Iterator[Parse]:
    """Parse texts that are one sentence each."""
    return (document[0] for document in nlp.read(texts, one_sentence=True))


def parsed(work: Path, name: str, parse: Callable[[Parser], Iterator[Parse]]) -> tuple[list[Sentence], list[Any]]:
    """Return parsed sentences and the parser's vectors of their words, from the files of an earlier run if possible."""
    trees, vectors = work / f"{name}.conllu", work / f"{name}.npy"
    if not vectors.exists():
        nlp = easyfirst.load("en")
        parses = list(parse(nlp))
        trees.write_text("".join(found.to_conllu(tags=True) for found in parses), encoding="utf-8")
        of_words = SubtreeEncoder(nlp.model).words([found.tagged for found in parses])
        temporary = work / f"{name}.tmp.npy"
        np.save(temporary, np.concatenate(of_words).astype(np.float16))
        temporary.replace(vectors)
    sentences = list(easyfirst.read_conllu(trees))
    bounds = np.cumsum([len(sentence) for sentence in sentences])[:-1]
    return sentences, np.split(np.load(vectors, mmap_mode="r"), bounds)


def read_task(task: str, directory: Path, work: Path, vectors: Path) -> Data:
    """Read a task: ``sick``, ``sst5`` or ``sst2``."""
    work.mkdir(parents=True, exist_ok=True)
    raw: dict[str, tuple[list[Sentence], list[Any]]] = {}
    splits: dict[str, Any] = {}
    for split in SPLITS:
        if task == "sick":
            rows = list(read_sick(directory, split))
            texts = list(dict.fromkeys(text for *pair, _ in rows for text in pair))
            numbers = {text: number for number, text in enumerate(texts)}
            raw[split] = parsed(work, f"sick-{split}", lambda nlp, texts=texts: parse_texts(nlp, texts))
            pairs = np.array([[numbers[one], numbers[other]] for one, other, _ in rows])
            splits[split] = Pairs(pairs, np.array([score for *_, score in rows]))
        else:
            sentences = list(read_sst(directory, split))
            words = [of_sentence for of_sentence, _ in sentences]
            raw[split] = parsed(work, f"sst-{split}", lambda nlp, words=words: parse_words(nlp, words))
            spans = [of_sentence for _, of_sentence in sentences]
            raw[split], splits[split] = _phrases(*raw[split], spans, binary=task == "sst2")
    forms = sorted({form.lower() for sentences, _ in raw.values() for sentence in sentences for form in sentence.forms})
    rows_of = {form: row for row, form in enumerate(forms)}
    table, has_vector = _table(forms, vectors)
    corpora = {split: _corpus(*raw[split], rows_of) for split in SPLITS}
    return Data(table, has_vector, corpora, splits)


def _tree(sentence: Sentence) -> Tree:
    return Tree(tuple(head or 0 for head in sentence.heads), tuple(name or "" for name in sentence.relations))


def _corpus(sentences: Sequence[Sentence], of_parser: list[Any], rows_of: dict[str, int]) -> Corpus:
    words = [np.array([rows_of[form.lower()] for form in sentence.forms]) for sentence in sentences]
    return Corpus(words, [_tree(sentence) for sentence in sentences], of_parser)


def _phrases(
    sentences: list[Sentence], of_parser: list[Any], spans: Sequence[Spans], *, binary: bool
) -> tuple[tuple[list[Sentence], list[Any]], Phrases]:
    """Return the sentences and their labels. In the binary task neutral phrases have none, and sentences that are
    neutral are left out."""
    kept: list[int] = []
    phrases = Phrases([], [], [])
    for number, sentence in enumerate(sentences):
        found = labelled_subtrees(_tree(sentence), spans[number])
        if binary:
            if found[2][0] == 2:
                continue
            triples = [triple for triple in zip(*found, strict=True) if triple[2] != 2]
            found = tuple(zip(*((head, span, int(label > 2)) for head, span, label in triples), strict=True))
        kept.append(number)
        for column, values in zip((phrases.heads, phrases.spans, phrases.labels), found, strict=True):
            column.append(np.array(values))
    return ([sentences[number] for number in kept], [of_parser[number] for number in kept]), phrases


def _table(forms: Sequence[str], path: Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Return a vector for each word; those that have none start small and random, and are trained."""
    given = read_embeddings(path)
    rows = {word: row for row, word in enumerate(given.words)}
    found = np.array([rows.get(form, -1) for form in forms])
    rng = np.random.default_rng(0)
    table = rng.uniform(-0.05, 0.05, (len(forms), given.dim)).astype(np.float32)
    table[found >= 0] = given.vectors[found[found >= 0]]
    return table, found >= 0
