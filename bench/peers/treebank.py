"""The treebank as every system sees it: syntactic words only, and the texts and sentences that are parsed.

Multiword ranges and empty nodes are stripped once. The text is rebuilt from the words, so that a system that finds
the gold words has found all of them: where a multiword token is not spelled as its words are, the text changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import easyfirst
from easyfirst import Sentence
from easyfirst.treebank.misc import entries
from easyfirst.treebank.raw_text import is_new_document, raw_text, read_paragraphs, surface_text
from easyfirst.treebank.scores import tree_heads

PARTS = ("train", "dev", "test")
NO_SPACE = "SpaceAfter=No"
KEPT = ("newdoc", "newpar", "sent_id")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the systems parse: the test set as paragraphs, as the texts of single sentences, and as words."""

    paragraphs: Sequence[str]
    texts: Sequence[str]
    sentences: Sequence[Sequence[str]]

    @property
    def n_words(self) -> int:
        """The number of gold words."""
        return sum(map(len, self.sentences))

    def write(self, path: Path) -> None:
        """Write a file for the workers."""
        content = {"paragraphs": self.paragraphs, "texts": self.texts, "sentences": self.sentences}
        path.write_text(json.dumps(content), encoding="utf-8")


def words_only(sentence: Sentence) -> Sentence:
    """Return the sentence without multiword ranges, empty nodes and enhanced dependencies.

    The words of a multiword token stand together without spaces.
    """
    misc: list[str] = []
    for token in sentence.surface_tokens:
        has_space_after = ("SpaceAfter", "=", "No") not in entries(token.misc)
        misc += [NO_SPACE] * (len(token.words) - 1) + ["_" if has_space_after else NO_SPACE]
    before = [line for line in sentence.prefix.decode().split("\n") if line.startswith("#")]
    comments = [line for line in (*before, *sentence.comments) if line[1:].strip().startswith(KEPT)]
    nothing = ("_",) * len(sentence)
    new = replace(sentence, deps=nothing, misc=tuple(misc), multiword=(), comments=(), lines=None, prefix=b"")
    return replace(new, comments=(*comments, f"# text = {surface_text(new)}"))


def stripped(path: Path) -> list[Sentence]:
    """Read a treebank and strip it."""
    return list(map(words_only, easyfirst.read_conllu(path)))


def write_conllu(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write a CoNLL-U file."""
    path.write_bytes(b"".join(sentence.to_bytes() for sentence in sentences))


def inputs_of(sentences: Sequence[Sentence]) -> Inputs:
    """Return what the systems parse."""
    paragraphs = [paragraph.text for paragraph in read_paragraphs(sentences)]
    return Inputs(paragraphs, [surface_text(each) for each in sentences], [list(each.forms) for each in sentences])


def sample(sentences: Sequence[Sentence], n_words: int) -> list[Sentence]:
    """Return whole documents, evenly distributed over the treebank, of about this many words."""
    documents: list[list[Sentence]] = []
    for sentence in sentences:
        if not documents or is_new_document(sentence):
            documents.append([])
        documents[-1].append(sentence)
    share = n_words / sum(map(len, sentences))
    chosen: list[Sentence] = []
    due = 0.0
    for document in documents:
        due += share * sum(map(len, document))
        if sum(map(len, chosen)) < due:
            chosen += document
    return chosen


def prepare(folder: Path, out: Path, *, n_train: int | None = None) -> None:
    """Write the stripped treebank, and what is parsed of its test set, as files for the workers.

    ``n_train`` is the number of training sentences, for a trial.
    """
    out.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        [path] = folder.glob(f"*-ud-{part}.conllu")
        sentences = stripped(path)
        if n_train is not None:
            sentences = sentences[: n_train if part == "train" else max(1, n_train // 4)]
        for n, sentence in enumerate(sentences, 1):
            tree_heads(n, part, sentence)
        write_conllu(out / f"{part}.conllu", sentences)
        (out / f"{part}.txt").write_text(raw_text(read_paragraphs(sentences)) + "\n", encoding="utf-8")
        if part == "test":
            inputs_of(sentences).write(out / "inputs.json")
