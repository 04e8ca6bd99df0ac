"""Measure tokens and sentences on kinds of text that treebanks lack.

    python -m bench.splits --treebank dev.conllu
    python -m bench.splits --treebank dev.conllu --tokenizer my-model/tokenizer --name splits-new

The text of a treebank is read as it is, with one sentence on each line, with lines wrapped at 72 characters, and in
lower case without punctuation: each document as one paragraph, or each of its paragraphs as a line. Then come the
hand-written cases of ``tests/data/splits.txt`` and ``splits-heldout.txt``: the share that is right entirely.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import io
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import easyfirst
from bench import report
from bench.split_cases import FILES, FOLDER, read_cases, shown
from easyfirst.model.tokenizer_store import load_tokenizer
from easyfirst.text.tokenizing import Tokenizer
from easyfirst.treebank.conllu import ConlluReader
from easyfirst.treebank.raw_text import Paragraph, is_new_document, raw_text, read_paragraphs
from easyfirst.treebank.sentence import Sentence
from easyfirst.treebank.text_scores import score_text

WIDTH = 72  # of wrapped lines
COLUMNS = ("Tokens", "Sentences", "Words", "LAS")


def is_punctuation(form: str) -> bool:
    return all(unicodedata.category(character)[0] in "PS" for character in form)


def plain(sentence: Sentence) -> Sentence | None:
    """Return a sentence in lower case without tokens of punctuation; None if nothing is left."""
    tokens = list(sentence.surface_tokens)
    kept = [token for token in tokens if not is_punctuation(token.form)]
    numbers = {m: k for k, m in enumerate((m for token in kept for m in token.words), 1)}

    def head_of(m: int) -> int:
        """Return the number of the nearest ancestor that is kept; 0 at the root."""
        while (head := sentence.heads[m] or 0) and head - 1 not in numbers:
            m = head - 1
        return numbers[head - 1] if head else 0

    lines = [comment for comment in sentence.comments if comment.startswith(("# newdoc", "# newpar"))]
    text = "".join(
        " " if is_punctuation(token.form) else token.form.lower() + " " * ("SpaceAfter=No" not in token.misc)
        for token in tokens
    )
    lines.append(f"# text = {' '.join(text.split())}")
    root: int | None = None
    for token in kept:
        if token.is_multiword:
            first, last = numbers[token.words[0]], numbers[token.words[-1]]
            lines.append(f"{first}-{last}\t{token.form.lower()}" + "\t_" * 8)
        for m in token.words:
            head, relation = head_of(m), sentence.relations[m]
            if head == 0 and root is not None:  # the root was punctuation, and had several dependents
                head, relation = root, "parataxis"
            elif head == 0:
                root, relation = numbers[m], "root"
            word = [numbers[m], sentence.forms[m].lower(), "_", sentence.upos[m], sentence.xpos[m], "_", head, relation]
            lines.append("\t".join(map(str, [*word, "_", "_"])))
    return next(iter(ConlluReader(io.BytesIO(("\n".join(lines) + "\n\n").encode()), "plain"))) if numbers else None


def plain_treebank(gold: Sequence[Sentence]) -> list[Sentence]:
    """Return what is left of the sentences. If nothing is left of the first one of a document, the document is joined
    with the one before it."""
    return [made for sentence in gold if (made := plain(sentence)) is not None]


def in_lines(paragraphs: Iterable[Paragraph]) -> str:
    """Return the text with one sentence on each line."""
    sentences = ((paragraph.text, sentence) for paragraph in paragraphs for sentence in paragraph.sentences)
    return "\n".join(text[sentence[0].start : sentence[-1].end] for text, sentence in sentences)


def wrapped(paragraphs: Iterable[Paragraph]) -> str:
    def fill(text: str) -> str:
        return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)

    return "\n\n".join(fill(paragraph.text) for paragraph in paragraphs)


def documents(treebank: Sequence[Sentence]) -> list[list[Sentence]]:
    found: list[list[Sentence]] = []
    for sentence in treebank:
        if not found or is_new_document(sentence):
            found.append([])
        found[-1].append(sentence)
    return found


def joined(treebank: Sequence[Sentence], separator: str) -> str:
    """Return the text, with the paragraphs of a document joined by a separator."""
    return "\n\n".join(separator.join(p.text for p in read_paragraphs(part)) for part in documents(treebank))


def measure(nlp: easyfirst.Parser, gold: Sequence[Sentence], text: str, *, with_trees: bool) -> dict[str, Any]:
    """Return F1 by the CoNLL 2018 scorer, and the length of the longest sentence in words."""
    if with_trees:
        system = [parse.tagged.with_tree(parse.heads, parse.relations) for parse in nlp(text)]
    else:
        system = [
            s.with_tree([0] + [1] * (len(s) - 1), ["root"] + ["dep"] * (len(s) - 1))
            for s in nlp.tokenize([text])[0].sentences()
        ]
    scores = score_text(gold, system).metrics
    found = {column: scores[column].f1 for column in COLUMNS if with_trees or column != "LAS"}
    return {**found, "longest": max(map(len, system)), "longest in gold": max(map(len, gold))}


def measure_cases(tokenizer: Tokenizer, path: Path) -> dict[str, Any]:
    cases = read_cases(path)
    wrong = [c for c in cases if shown(tokenizer.tokenize(c.text)) != shown(c.expected)]
    groups = {group: sum(c.group == group for c in cases) for group in dict.fromkeys(c.group for c in cases)}
    failed = {group: sum(c.group == group for c in wrong) for group in groups}
    right = {group: f"{n - failed[group]} of {n}" for group, n in groups.items()}
    return {"cases": len(cases), "right": len(cases) - len(wrong), "by group": right}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="en")
    options.add_argument("--tokenizer", type=Path, help="read texts with this tokenizer instead of the model's")
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--no-trees", action="store_true", help="tokens and sentences only, which is faster")
    options.add_argument("--name", default="splits", help="the name of the results file")
    given = options.parse_args()
    nlp = easyfirst.load(given.model)
    if given.tokenizer:
        nlp.tokenizer = Tokenizer(load_tokenizer(given.tokenizer))
    gold = list(easyfirst.read_conllu(given.treebank))
    unmarked = plain_treebank(gold)
    paragraphs = read_paragraphs(gold)
    texts: dict[str, tuple[Sequence[Sentence], Callable[[], str]]] = {
        "as it is": (gold, lambda: raw_text(paragraphs)),
        "a sentence on each line": (gold, lambda: in_lines(paragraphs)),
        f"wrapped at {WIDTH} characters": (gold, lambda: wrapped(paragraphs)),
        "no capitals and punctuation": (unmarked, lambda: joined(unmarked, " ")),
        "the same, a paragraph on each line": (unmarked, lambda: joined(unmarked, "\n")),
    }
    found = {name: measure(nlp, of, text(), with_trees=not given.no_trees) for name, (of, text) in texts.items()}
    tokenizer = nlp.require_tokenizer()
    cases = {name: measure_cases(tokenizer, FOLDER / name) for name in FILES if (FOLDER / name).exists()}
    rows: list[Sequence[object]] = [
        [name, *(f"{scores[c]:.2f}" if c in scores else "" for c in COLUMNS), scores["longest"]]
        for name, scores in found.items()
    ]
    rows += [[name, f"{of['right']} of {of['cases']} cases right", *[""] * len(COLUMNS)] for name, of in cases.items()]
    result = {"model": given.model, "treebank": given.treebank.name, "texts": found, "cases": cases}
    report.write(given.name, result, ["text", *COLUMNS, "longest sentence"], rows)


if __name__ == "__main__":
    main()
