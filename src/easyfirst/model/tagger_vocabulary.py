"""The tagger's vocabulary: words, characters, and what it can predict in each column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from easyfirst.errors import DataError
from easyfirst.json_values import checking, distinct_strings, list_of, table
from easyfirst.model.features import Features, attributes_of
from easyfirst.model.lemma_scripts import check_script, script_of
from easyfirst.model.lexicon import ids_of, normalise, numbered, ranked_names, rows_from_json, tags_of
from easyfirst.nn.arrays import Ints
from easyfirst.nn.tagger_network import OUTPUTS
from easyfirst.treebank.sentence import Sentence

MIN_SCRIPT_COUNT = 2  # rarer lemma scripts are not learnt
MIN_SHARE = 0.9  # the share of a lemma among those of a form and a tag that makes it the known one
COLUMNS = ("upos", "xpos", "feats", "lemmas")  # the columns that a tagger can predict
_NOT_IN_CELLS = re.compile("[\t\n\r\ud800-\udfff]")


@dataclass(frozen=True)
class TaggerVocabulary:
    """Names and their row numbers; row 0 of words and characters is the unknown."""

    words: Mapping[str, int]  # normalised form -> row, from 1
    characters: Mapping[str, int]  # from 1
    outputs: Mapping[str, tuple[str, ...]]  # the names in each output of the network; their rows count from 0
    known_lemmas: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The lemmas of words seen in training, which need no prediction: tag -> form -> lemma."""

    @classmethod
    def of(cls, sentences: Sequence[Sentence], *, min_count: int) -> TaggerVocabulary:
        """Collect the vocabulary of a treebank, most frequent first. Columns that no word has are left out."""
        words = Counter(normalise(form) for sentence in sentences for form in sentence.forms)
        characters = Counter(character for sentence in sentences for form in sentence.forms for character in form)
        outputs: dict[str, Sequence[str]] = {}
        for kind in ("upos", "xpos"):
            outputs[kind] = ranked_names(Counter(tag for s in sentences for tag in tags_of(s, kind) if tag != "_"))
        if not any(outputs.values()):
            raise DataError("the treebank has neither UPOS nor XPOS tags; fill in at least one of these columns")
        if features := Features.of(bundle for sentence in sentences for bundle in sentence.feats):
            outputs |= {"feats": features.bundles, "features": features.names}
        scripts = Counter(script for sentence in sentences for script in lemma_scripts(sentence) if script)
        outputs["lemmas"] = ranked_names(scripts, MIN_SCRIPT_COUNT)
        kind = "upos" if outputs["upos"] else "xpos"
        return cls(
            words=numbered(ranked_names(words, min_count)),
            characters=numbered(ranked_names(characters, min_count)),
            outputs={kind: tuple(names) for kind, names in outputs.items() if names},
            known_lemmas=_known_lemmas(sentences, kind) if outputs["lemmas"] else {},
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The columns that the tagger predicts."""
        return tuple(kind for kind in COLUMNS if kind in self.outputs)

    @property
    def tag_kind(self) -> str:
        """The column by which lemmas are looked up: UPOS, or XPOS if there is no UPOS."""
        return self.kinds[0]

    @cached_property
    def features(self) -> Features | None:
        """The bundles and values that the tagger can predict; None if it predicts no FEATS."""
        if "feats" not in self.outputs:
            return None
        return Features.from_names(self.outputs["feats"], self.outputs["features"])

    @cached_property
    def lemmas(self) -> frozenset[str]:
        """The known lemmas, in lower case."""
        return frozenset(lemma.lower() for rows in self.known_lemmas.values() for lemma in rows.values())

    def word_ids(self, forms: Iterable[str]) -> Ints:
        """Return the rows of words in the embedding table."""
        return ids_of(self.words, map(normalise, forms))

    def to_dict(self) -> dict[str, Any]:
        """Return the vocabulary as JSON values."""
        outputs = {kind: list(names) for kind, names in self.outputs.items()}
        known = {tag: dict(rows) for tag, rows in self.known_lemmas.items()}
        content = {"words": list(self.words), "characters": list(self.characters), "tags": outputs}
        return content | ({"known_lemmas": known} if known else {})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TaggerVocabulary:
        """Undo :meth:`to_dict`; raise a :class:`ModelError` if something is missing or of the wrong type."""
        with checking("the vocabulary"):
            outputs = {kind: tuple(distinct_strings(t, kind)) for kind, t in table(values["tags"], "tags").items()}
            if not {"upos", "xpos"} & outputs.keys():
                raise ValueError("there must be tags of the kinds upos or xpos")
            for kind, names in outputs.items():
                if not names or any(map(_NOT_IN_CELLS.search, names)):
                    raise ValueError(f"{kind} must be names that fit into a cell of CoNLL-U, one or more")
            if list(outputs) != [kind for kind in OUTPUTS if kind in outputs]:
                raise ValueError(f"tags must be of the kinds {', '.join(OUTPUTS)}, in this order")
            if ("feats" in outputs) != ("features" in outputs):
                raise ValueError("there must be both feats and features, or neither")
            words, characters = (rows_from_json(values[name], name) for name in ("words", "characters"))
            known = table(values.get("known_lemmas", {}), "known_lemmas")
            if known and "lemmas" not in outputs:
                raise ValueError("there are known_lemmas without lemmas")
            for script in outputs.get("lemmas", ()):
                check_script(script)
            for tag in known:
                lemmas = list_of(str, list(table(known[tag], f"known_lemmas.{tag}").values()), f"known_lemmas.{tag}")
                if "" in lemmas or _NOT_IN_CELLS.search("".join(lemmas)):
                    raise ValueError("known_lemmas must fit into a cell of CoNLL-U")
            vocabulary = cls(words, characters, outputs, known)
            _ = vocabulary.features  # raises if the values do not fit the bundles
            return vocabulary


def lemma_scripts(sentence: Sentence) -> Iterator[str | None]:
    """Yield the lemma script of each word; None for a word without a lemma, and for one that would teach a wrong rule:
    a misspelt word, or a part of a word that is split by mistake (``goeswith``)."""
    relations = zip(sentence.heads, sentence.relations, strict=True)
    split = {head for head, relation in relations if relation == "goeswith" and head}
    columns = zip(sentence.forms, sentence.lemmas, sentence.feats, sentence.relations, strict=True)
    for number, (form, lemma, feats, relation) in enumerate(columns, 1):
        is_wrong = relation == "goeswith" or number in split or attributes_of(feats).get("Typo") == "Yes"
        yield None if lemma == "_" or is_wrong else script_of(form, lemma)


def _known_lemmas(sentences: Sequence[Sentence], kind: str) -> dict[str, dict[str, str]]:
    """Return the lemma of each tag and form, if nearly all words with them have the same."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for sentence in sentences:
        columns = (tags_of(sentence, kind), sentence.forms, sentence.lemmas, lemma_scripts(sentence))
        for tag, form, lemma, script in zip(*columns, strict=True):
            if script is not None and tag != "_":
                counts.setdefault((tag, form), Counter())[lemma] += 1
    known: dict[str, dict[str, str]] = {}
    for (tag, form), lemmas in sorted(counts.items()):
        [(lemma, count)] = lemmas.most_common(1)
        if count >= MIN_SHARE * lemmas.total():
            known.setdefault(tag, {})[form] = lemma
    return known
