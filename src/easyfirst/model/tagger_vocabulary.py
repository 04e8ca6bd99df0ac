"""The tagger's vocabulary: words, characters and tags, with their row numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from easyfirst.errors import DataError
from easyfirst.json_values import checking, distinct_strings, table
from easyfirst.model.lexicon import ids_of, normalise, numbered, ranked_names, rows_from_json, tags_of
from easyfirst.nn.arrays import Ints
from easyfirst.nn.parser_network import TAG_KINDS
from easyfirst.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class TaggerVocabulary:
    """Names and their row numbers; row 0 of words and characters is the unknown."""

    words: Mapping[str, int]  # normalised form -> row, from 1
    characters: Mapping[str, int]  # from 1
    tags: Mapping[str, tuple[str, ...]]  # kind -> tags; their rows count from 0

    @classmethod
    def of(cls, sentences: Sequence[Sentence], *, min_count: int) -> TaggerVocabulary:
        """Collect the vocabulary of a treebank, most frequent first. Kinds of tags that no word has are left out."""
        words = Counter(normalise(form) for sentence in sentences for form in sentence.forms)
        characters = Counter(character for sentence in sentences for form in sentence.forms for character in form)
        tags = {kind: Counter(tag for s in sentences for tag in tags_of(s, kind) if tag != "_") for kind in TAG_KINDS}
        if not any(tags.values()):
            raise DataError("the treebank has neither UPOS nor XPOS tags; fill in at least one of these columns")
        return cls(
            words=numbered(ranked_names(words, min_count)),
            characters=numbered(ranked_names(characters, min_count)),
            tags={kind: tuple(ranked_names(counter)) for kind, counter in tags.items() if counter},
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.tags)

    def word_ids(self, forms: Iterable[str]) -> Ints:
        """Return the rows of words in the embedding table."""
        return ids_of(self.words, map(normalise, forms))

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary as JSON values."""
        tags = {kind: list(names) for kind, names in self.tags.items()}
        return {"words": list(self.words), "characters": list(self.characters), "tags": tags}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TaggerVocabulary:
        """Undo :meth:`to_dict`; raise a :class:`ModelError` if something is missing or of the wrong type."""
        with checking("the vocabulary"):
            tags = {kind: tuple(distinct_strings(t, kind)) for kind, t in table(values["tags"], "tags").items()}
            if not tags or not all(tags.values()) or list(tags) != [kind for kind in TAG_KINDS if kind in tags]:
                raise ValueError("tags must be of the kinds upos and xpos")
            words, characters = (rows_from_json(values[name], name) for name in ("words", "characters"))
            return cls(words, characters, tags)
