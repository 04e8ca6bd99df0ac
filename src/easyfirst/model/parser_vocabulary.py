"""What the model knows by name: words, tags, relations, and the words of external vectors.

Numbers become one token ("1990", "3.14", "1,000"; but "3rd" stays itself) and words are lower-cased for the word
embedding. External vectors look a form up as written first, then normalised. Row 0 of every table is the unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from easyfirst.errors import ModelError
from easyfirst.model.lexicon import (
    UNKNOWN,
    distinct_forms,
    external_ids,
    normalise,
    numbered,
    ranked_names,
    spelling_of,
    tags_of,
)
from easyfirst.nn.arrays import Ints
from easyfirst.nn.words import WordIds
from easyfirst.treebank.sentence import Sentence

MIN_CHARACTER_COUNT = 2
"""Characters that training saw less often are unknown ones."""


@dataclass(frozen=True)
class ParserVocabulary:
    """Names and their row numbers."""

    words: Mapping[str, int]  # normalised form -> row, from 1
    counts: Ints  # (n_words,) how often each row was seen in training; the unknown: 0
    tags: Mapping[str, Mapping[str, int]]  # kind -> tag -> row, from 1
    relations: tuple[str, ...]  # all but the root's
    root_relation: str
    external: Mapping[str, int] | None = None  # form -> row, from 1
    characters: Mapping[str, int] | None = None  # from 1; None: characters are not read

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        *,
        tag_kinds: Sequence[str],
        external: Sequence[str] | None = None,
        min_count: int = 1,
        reads_characters: bool = False,
    ) -> ParserVocabulary:
        """Of the words (those seen often enough), tags and relations of a treebank; the most frequent first."""
        characters: Counter[str] = Counter()
        words: Counter[str] = Counter()
        tags: dict[str, Counter[str]] = {kind: Counter() for kind in tag_kinds}
        relations: Counter[str] = Counter()
        roots: Counter[str] = Counter()
        for sentence in sentences:
            words.update(map(normalise, sentence.forms))
            characters.update("".join(sentence.forms))
            for kind in tag_kinds:
                tags[kind].update(tags_of(sentence, kind))
            for head, relation in zip(sentence.heads, sentence.relations, strict=True):
                if head is not None and relation is not None:  # else it is not known in full, and not learnt
                    (roots if head == 0 else relations)[relation] += 1
        ranked = ranked_names(words, min_count)
        return cls(
            words=numbered(ranked),
            counts=np.array([0] + [words[word] for word in ranked], dtype=np.int64),
            tags={kind: numbered(ranked_names(counter)) for kind, counter in tags.items()},
            relations=tuple(ranked_names(relations)),
            root_relation=ranked_names(roots)[0] if roots else "root",
            external=None if external is None else {word: row for row, word in enumerate(external, 1)},
            characters=numbered(ranked_names(characters, MIN_CHARACTER_COUNT)) if reads_characters else None,
        )

    def encode(self, sentences: Sequence[Sentence]) -> WordIds:
        """The words of sentences, one sentence after the other, as row numbers."""
        forms = [form for sentence in sentences for form in sentence.forms]
        words = self.words
        external = None
        if self.external is not None:
            external = external_ids(self.external, forms)
        tags = tuple(
            np.array([rows.get(tag, UNKNOWN) for sentence in sentences for tag in tags_of(sentence, kind)], np.int64)
            for kind, rows in self.tags.items()
        )
        word_ids = np.array([words.get(normalise(form), UNKNOWN) for form in forms], np.int64)
        if self.characters is None:
            return WordIds(word_ids, external, tags)
        distinct, numbers = distinct_forms(forms)
        return WordIds(word_ids, external, tags, numbers, spelling_of(distinct, self.characters))

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "words": list(self.words),
            "counts": self.counts[1:].tolist(),
            "tags": {kind: list(rows) for kind, rows in self.tags.items()},
            "relations": list(self.relations),
            "root_relation": self.root_relation,
            "external": None if self.external is None else list(self.external),
        } | ({} if self.characters is None else {"characters": list(self.characters)})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserVocabulary:
        """The inverse of :meth:`to_dict`; raises :class:`ModelError` if something is missing or of the wrong kind."""
        try:
            external, root_relation = values["external"], values["root_relation"]
            if not isinstance(root_relation, str):
                raise ValueError("root_relation must be text")
            words = numbered(values["words"])
            return cls(
                words=words,
                counts=_counted(values["counts"], len(words)),
                tags={str(kind): numbered(tags) for kind, tags in values["tags"].items()},
                relations=_some(numbered(values["relations"])),
                root_relation=root_relation,
                external=None if external is None else numbered(external),
                characters=numbered(values["characters"]) if "characters" in values else None,
            )
        except KeyError as error:
            raise ModelError(f"the vocabulary is damaged ({error} is missing)") from error
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelError(f"the vocabulary is damaged ({error})") from error


def _some(relations: Mapping[str, int]) -> tuple[str, ...]:
    if not relations:
        raise ValueError("there are no relations")
    return tuple(relations)


def _counted(counts: object, n_words: int) -> Ints:
    if not isinstance(counts, list) or not all(type(count) is int for count in cast("list[object]", counts)):
        raise ValueError("counts must be a list of whole numbers")
    numbers = np.array([0, *cast("list[int]", counts)], dtype=np.int64)
    if len(numbers) != n_words + 1 or numbers.min() < 0:
        raise ValueError("as many counts as words are needed, none of them negative")
    return numbers
