"""Count how far lemma scripts, a dictionary of known words and bundles of features go on treebanks, without a network.

    python -m bench.lemmas ud/UD_English-EWT ud/UD_Tamil-TTB

Each directory has ``*-train.conllu`` and ``*-dev.conllu``. Counts of scripts and bundles are those of the training
treebank. Shares are those of the words of the dev treebank that have a lemma (or, for bundles, of all words). A word is
seen if the training treebank has its form with its gold UPOS. There is no randomness.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import report
from easyfirst import Sentence, read_conllu
from easyfirst.model.features import MIN_COUNT
from easyfirst.model.lemma_scripts import apply_script, script_of
from easyfirst.model.tagger_vocabulary import MIN_SCRIPT_COUNT, TaggerVocabulary, lemma_scripts

HEADER = (
    "treebank",
    "training words",
    "scripts",
    "learnt",
    "dev words with a learnt script",
    "seen in training",
    "of these right",
    "in the dictionary",
    "of these right",
    "bundles",
    "learnt",
    "dev words with another bundle",
)


def only_file(directory: Path, name: str) -> Path:
    """Return the one file of a treebank whose name ends like this."""
    [path] = directory.glob(f"*-{name}.conllu")
    return path


def words_of(sentences: Sequence[Sentence]) -> Iterator[tuple[str, str, str]]:
    """Yield the form, the tag and the lemma of each word that has a lemma."""
    for sentence in sentences:
        for word in sentence.words:
            if word.lemma != "_":
                yield word.form, word.upos, word.lemma


def measure(directory: Path) -> dict[str, Any]:
    """Return the counts of one treebank."""
    train, dev = (list(read_conllu(only_file(directory, name))) for name in ("train", "dev"))
    vocabulary = TaggerVocabulary.of(train, min_count=1)
    learnt = set(vocabulary.outputs["lemmas"])
    scripts = Counter(script for sentence in train for script in lemma_scripts(sentence) if script is not None)
    by_word: dict[tuple[str, str], Counter[str]] = {}
    for form, tag, lemma in words_of(train):
        by_word.setdefault((form, tag), Counter())[script_of(form, lemma)] += 1
    counts = Counter[str]()
    for form, tag, lemma in words_of(dev):
        counts["words"] += 1
        counts["script is learnt"] += script_of(form, lemma) in learnt
        if (form, tag) in by_word:
            [(script, _)] = by_word[form, tag].most_common(1)
            counts["seen"] += 1
            counts["seen and right"] += apply_script(form, script) == lemma
        if (known := vocabulary.known_lemmas.get(tag, {}).get(form)) is not None:
            counts["known"] += 1
            counts["known and right"] += known == lemma
    bundles = Counter(bundle for sentence in train for bundle in sentence.feats)
    frequent = {bundle for bundle, count in bundles.items() if count >= MIN_COUNT}
    of_dev = [bundle for sentence in dev for bundle in sentence.feats]
    return {
        "treebank": directory.name,
        "training words": sum(map(len, train)),
        "dev words": len(of_dev),
        "scripts": len(scripts),
        "scripts learnt": sum(count >= MIN_SCRIPT_COUNT for count in scripts.values()),
        "of dev words with a lemma": dict(counts),
        "bundles": len(bundles),
        "bundles learnt": len(frequent),
        "dev words with another bundle": sum(bundle not in frequent for bundle in of_dev),
    }


def row_of(found: dict[str, Any]) -> list[str]:
    counts = found["of dev words with a lemma"]

    def share(part: str, whole: str) -> str:
        return f"{100 * counts[part] / counts[whole]:.1f} %"

    return [
        found["treebank"],
        f"{found['training words']:,}",
        f"{found['scripts']:,}",
        f"{found['scripts learnt']:,}",
        share("script is learnt", "words"),
        share("seen", "words"),
        share("seen and right", "seen"),
        share("known", "words"),
        share("known and right", "known"),
        f"{found['bundles']:,}",
        f"{found['bundles learnt']:,}",
        f"{100 * found['dev words with another bundle'] / found['dev words']:.2f} %",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="+", type=Path)
    found = [measure(directory) for directory in parser.parse_args().treebanks]
    report.write("lemmas", {"treebanks": found}, HEADER, list(map(row_of, found)))


if __name__ == "__main__":
    main()
