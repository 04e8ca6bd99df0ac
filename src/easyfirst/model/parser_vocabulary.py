"""The parser's vocabulary: words, tags, features, relations, characters and the words of external vectors.

For the word embedding, forms are lower-cased and numbers become one token ("1990", "3.14" and "1,000", but not "3rd").
External vectors are looked up by the form as written, then normalised. Row 0 of every table is the unknown.

If the parser restores crossing arcs, a name in ``relations`` also encodes how an arc was lifted (``treebank.lifting``).
``labels`` and ``plain_relations`` decode them; only these are shown to users.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from easyfirst.json_values import checking, distinct_strings, list_of, scalar, table
from easyfirst.model.encoder_store import WordReader
from easyfirst.model.features import nearest_bundle
from easyfirst.model.lexicon import (
    distinct_forms,
    external_ids,
    ids_of,
    normalise,
    numbered,
    ranked_names,
    rows_from_json,
    spelling_of,
    tags_of,
)
from easyfirst.nn.arrays import Ints
from easyfirst.nn.words import WordIds
from easyfirst.treebank.lifting import SCHEMES, Label
from easyfirst.treebank.sentence import Sentence

MIN_CHARACTER_COUNT = 2  # rarer characters are unknown


@dataclass(frozen=True)
class ParserVocabulary:
    """Names and their row numbers."""

    words: Mapping[str, int]  # normalised form -> row, from 1
    counts: Ints  # (n_words + 1,): the frequency of each row in training; 0 for the unknown word
    tags: Mapping[str, Mapping[str, int]]  # kind -> tag -> row, from 1
    relations: tuple[str, ...]  # all but the root's
    root_relation: str
    external: Mapping[str, int] | None = None  # form -> row, from 1
    characters: Mapping[str, int] | None = None  # from 1; None: characters are not read
    crossing: str | None = None  # the scheme by which relations encode lifted arcs; None: they encode nothing
    reader: WordReader | None = field(default=None, compare=False)
    """The pretrained encoder, which reads sentences where they are encoded; None: the network has none."""

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The relations with the marks that their names encode."""
        return tuple(map(Label if self.crossing is None else Label.decode, self.relations))

    @cached_property
    def plain_relations(self) -> tuple[str, ...]:
        """The relations without marks."""
        return tuple(dict.fromkeys(label.relation for label in self.labels))

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        *,
        tag_kinds: Sequence[str],
        external: Sequence[str] | None = None,
        min_count: int = 1,
        reads_characters: bool = False,
        crossing: str | None = None,
    ) -> ParserVocabulary:
        """Collect the vocabulary of a treebank, most frequent first, without words rarer than ``min_count``.
        ``crossing``: the scheme of lifted arcs that the relations encode."""
        words, characters, relations, roots = (Counter[str]() for _ in range(4))
        tags = {kind: Counter[str]() for kind in tag_kinds}
        for sentence in sentences:
            words.update(map(normalise, sentence.forms))
            characters.update("".join(sentence.forms))
            for kind in tag_kinds:
                tags[kind].update(tags_of(sentence, kind))
            for head, relation in zip(sentence.heads, sentence.relations, strict=True):
                if head is not None and relation is not None:  # incomplete annotations are skipped
                    (roots if head == 0 else relations)[relation] += 1
        ranked = ranked_names(words, min_count)
        return cls(
            words=numbered(ranked),
            counts=np.array([0] + [words[word] for word in ranked], dtype=np.int64),
            tags={kind: numbered(ranked_names(counter)) for kind, counter in tags.items()},
            relations=tuple(ranked_names(relations)),
            root_relation=ranked_names(roots)[0] if roots else "root",
            external=None if external is None else numbered(external),
            characters=numbered(ranked_names(characters, MIN_CHARACTER_COUNT)) if reads_characters else None,
            crossing=crossing,
        )

    def encode(self, sentences: Sequence[Sentence]) -> WordIds:
        """Return the words of all sentences as row numbers, with the vectors of a pretrained encoder."""
        ids = self._rows(sentences)
        if self.reader is None:
            return ids
        return replace(ids, contextual=self.reader.vectors([sentence.forms for sentence in sentences]))

    def _rows(self, sentences: Sequence[Sentence]) -> WordIds:
        forms = [form for sentence in sentences for form in sentence.forms]
        external = None if self.external is None else external_ids(self.external, forms)
        tags = tuple(
            self.tag_ids(kind, [tag for sentence in sentences for tag in tags_of(sentence, kind)]) for kind in self.tags
        )
        word_ids = ids_of(self.words, map(normalise, forms))
        if self.characters is None:
            return WordIds(word_ids, external, tags)
        distinct, numbers = distinct_forms(forms)
        return WordIds(word_ids, external, tags, numbers, spelling_of(distinct, self.characters))

    def tag_ids(self, kind: str, tags: Sequence[str]) -> Ints:
        """Return the rows of tags. A bundle of features that was not seen in training is read as the most similar
        one."""
        rows = self.tags[kind]
        if kind != "feats" or not rows:
            return ids_of(rows, tags)
        nearest = {bundle: nearest_bundle(bundle, self._bundles) for bundle in set(tags) if bundle not in rows}
        return ids_of(rows, [nearest.get(bundle, bundle) for bundle in tags] if nearest else tags)

    @cached_property
    def _bundles(self) -> tuple[str, ...]:
        return tuple(self.tags["feats"])

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary as JSON values."""
        optional = {"characters": None if self.characters is None else list(self.characters), "crossing": self.crossing}
        return {
            "words": list(self.words),
            "counts": self.counts[1:].tolist(),
            "tags": {kind: list(rows) for kind, rows in self.tags.items()},
            "relations": list(self.relations),
            "root_relation": self.root_relation,
            "external": None if self.external is None else list(self.external),
        } | {name: value for name, value in optional.items() if value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserVocabulary:
        """Undo :meth:`to_dict`; raise a :class:`ModelError` if something is missing or of the wrong type."""
        with checking("the vocabulary"):
            external, characters, crossing = values["external"], values.get("characters"), values.get("crossing")
            words = rows_from_json(values["words"], "words")
            counts = list_of(int, values["counts"], "counts")
            if len(counts) != len(words) or not all(0 <= count < 1 << 63 for count in counts):
                raise ValueError("there must be as many counts as words, none of them negative or too large")
            vocabulary = cls(
                words=words,
                counts=np.array([0, *counts], dtype=np.int64),
                tags={kind: rows_from_json(names, kind) for kind, names in table(values["tags"], "tags").items()},
                relations=tuple(distinct_strings(values["relations"], "relations")),
                root_relation=scalar(str, values["root_relation"], "root_relation"),
                external=None if external is None else rows_from_json(external, "external"),
                characters=None if characters is None else rows_from_json(characters, "characters"),
                crossing=None if crossing is None else scalar(str, crossing, "crossing"),
            )
            if not vocabulary.relations:
                raise ValueError("there are no relations")
            if crossing not in (None, *SCHEMES):
                raise ValueError(f"crossing must be one of {', '.join(SCHEMES)}, not {crossing!r}")
            return vocabulary
