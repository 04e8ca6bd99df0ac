"""The frequent words of a plain text, for the tokenizer: augmentation uses them, and they are known whole."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath

from easyfirst.errors import DataError
from easyfirst.model.word_cuts import MIN_SEEN, is_letter
from easyfirst.treebank.streams import decode_text, open_file, read_lines


@dataclass(frozen=True, slots=True)
class KnownWords:
    """Words of letters with their frequencies, and a checksum of both."""

    counts: Mapping[str, int]
    sha256: str


def read_known_words(path: str | PathLike[str]) -> KnownWords:
    """Read the words that occur several times in a text. White space separates words, and words with other characters
    than letters are left out, so the text may be tokenized or not."""
    counts: Counter[str] = Counter()
    name = fspath(path)
    with open_file(path) as stream:
        for number, line in enumerate(read_lines(stream, name), 1):
            counts.update(decode_text(line, name=name, line=number).split())
    words = {form: n for form, n in sorted(counts.items()) if n >= MIN_SEEN and all(map(is_letter, form))}
    if not words:
        raise DataError(f"no word occurs {MIN_SEEN} times in this text; give a longer one", source=name)
    digest = hashlib.sha256("\n".join(f"{form} {n}" for form, n in words.items()).encode())
    return KnownWords(words, digest.hexdigest())
