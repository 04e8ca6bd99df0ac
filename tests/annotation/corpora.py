"""Corpora to annotate."""

from __future__ import annotations

from io import BytesIO

from easyfirst.annotation.corpus import Corpus
from easyfirst.annotation.records import Annotation, Check, Status
from easyfirst.annotation.store import UNTOUCHED, Store

WORDS = (("the", "fox", "jumps"), ("it", "likes", "apples"), ("go",), ("they", "eat", "fish", "here"))


def conllu(*sentences: tuple[str, ...], ending: str = "\n") -> bytes:
    """Return sentences with comments, features, and a tree whose first word is the root."""
    blocks: list[str] = []
    for number, forms in enumerate(sentences, 1):
        lines = ["# newpar", f"# sent_id = s{number}"]
        for m, form in enumerate(forms, 1):
            lines.append(f"{m}\t{form}\t{form}\tX\t_\tA=b\t{m - 1}\t{'root' if m == 1 else 'dep'}\t_\tGloss={form}")
        blocks.append("".join(line + ending for line in [*lines, ""]))
    return "".join(blocks).encode()


def corpus_of(data: bytes, confidence: tuple[float | None, ...] | None = None) -> Corpus:
    values = iter(confidence) if confidence is not None else iter(lambda: 0.5, None)
    return Corpus.read(BytesIO(data), values)


def small_corpus() -> Corpus:
    return corpus_of(conllu(*WORDS), (0.9, 0.2, None, 0.4))


def done(corpus: Corpus, number: int, by: str = "anna", relation: str = "dep") -> Annotation:
    """Return a whole tree in which every word but the first modifies the first."""
    n = len(corpus.sentence(number))
    heads, relations = [0, *[1] * (n - 1)], ["root", *[relation] * (n - 1)]
    return Annotation.of(corpus.sentence(number), Status.done, heads, relations, {1: Check.seen}, by=by)


def partial(corpus: Corpus, number: int, *words: int, by: str = "anna") -> Annotation:
    """Return a tree in which only some words are confirmed."""
    n = len(corpus.sentence(number))
    heads, relations = [0, *[1] * (n - 1)], ["root", *["dep"] * (n - 1)]
    checks = dict.fromkeys(words, Check.corrected)
    return Annotation.of(corpus.sentence(number), Status.partial, heads, relations, checks, by=by)


def save(store: Store, number: int, annotation: Annotation) -> str:
    """Save a sentence, whoever saved it before."""
    before = store[number]
    return store.save(number, annotation, revision=UNTOUCHED if before is None else before.revision)
