"""Measure how often a text is taken for one in another language.

    python -m bench.language en=UD_English-EWT fr=UD_French-Sequoia nl=UD_Dutch-LassySmall

Each argument names a language and the folder of a treebank, with a train and a dev file. The training words of each
treebank are what a model knows, and the sentences of every dev file are judged one by one, and in texts of at least 30,
60 and 100 words. For texts in the language itself every warning is a mistake. The bundled model is measured as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import easyfirst
from bench import report
from easyfirst.model.parser_vocabulary import ParserVocabulary
from easyfirst.text.language import Language
from easyfirst.treebank.sentence import Sentence

LENGTHS = (1, 30, 60, 100)
MIN_COUNT = 2  # of a word in the vocabulary, as in the preset of pipelines
BUNDLED = "the bundled model `en`"


def texts_of(sentences: Sequence[Sentence], n_words: int) -> Iterator[list[Sentence]]:
    """Yield runs of sentences with at least this many words that have letters."""
    text: list[Sentence] = []
    n = 0
    for sentence in sentences:
        text.append(sentence)
        n += sum(any(map(str.isalpha, form)) for form in sentence.forms)
        if n >= n_words:
            yield text
            text, n = [], 0


def measure(language: Language, sentences: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return the number of texts with a warning, and of all texts, for each length."""
    found: list[tuple[int, int]] = []
    for n_words in LENGTHS:
        problems = [language.problem(language.count(text)) for text in texts_of(sentences, n_words)]
        found.append((sum(problem is not None for problem in problems), len(problems)))
    return found


def part_of(folder: Path, part: str) -> list[Sentence]:
    [path] = folder.glob(f"*-{part}.conllu*")
    return list(easyfirst.read_conllu(path))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebanks", nargs="+", metavar="NAME=FOLDER")
    given = options.parse_args()
    folders = {name: Path(folder) for name, _, folder in (each.partition("=") for each in given.treebanks)}
    dev = {name: part_of(folder, "dev") for name, folder in folders.items()}
    languages = {BUNDLED: easyfirst.load("en").language}
    for name, folder in folders.items():
        languages[name] = Language.of(ParserVocabulary.of(part_of(folder, "train"), tag_kinds=(), min_count=MIN_COUNT))
    found = {
        name: {other: measure(language, sentences) for other, sentences in dev.items()}
        for name, language in languages.items()
    }
    header = ["model", "text", *("each sentence" if n == 1 else f"{n} words" for n in LENGTHS)]
    rows = [
        [name, other, *(f"{n} of {n_all}" for n, n_all in counts)]
        for name, others in found.items()
        for other, counts in others.items()
    ]
    result = {"treebanks": {name: folder.name for name, folder in folders.items()}, "warnings": found}
    report.write("language", result, header, rows)


if __name__ == "__main__":
    main()
