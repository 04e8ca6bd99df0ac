"""FEATS as data: bundles such as ``Case=Nom|Number=Sing``, and the values of single attributes.

The tagger scores whole bundles and, beside them, the values of each attribute. The score of a bundle is its own plus
those of its values. Any combination of values can also come out with the score of ``OTHER`` in place of its own, so
that bundles that are unseen in training can be predicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from easyfirst.nn.arrays import Floats, Ints

NO_FEATURES = "_"
OTHER = "<other>"  # stands for all bundles that are rarer than MIN_COUNT in training
MIN_COUNT = 2


@lru_cache(maxsize=1 << 14)
def attributes_of(bundle: str) -> Mapping[str, str]:
    """Return the attributes of a bundle with their values; a part without a value has the value Yes."""
    if bundle in (NO_FEATURES, OTHER):
        return {}
    return {name: value or "Yes" for name, _, value in (part.partition("=") for part in bundle.split("|"))}


def bundle_of(attributes: Mapping[str, str]) -> str:
    """Return attributes as a bundle, in the order of UD: by name, without regard to case."""
    names = sorted(attributes, key=lambda name: (name.lower(), name))
    return "|".join(f"{name}={attributes[name]}" for name in names) or NO_FEATURES


@lru_cache(maxsize=1 << 14)
def nearest_bundle(bundle: str, known: tuple[str, ...]) -> str:
    """Return the most similar of the known bundles: the one with the fewest attributes that differ. If several are
    equally similar, return the first."""
    given = attributes_of(bundle)

    def n_different(other: str) -> int:
        n_missing = n_equal = 0
        for name, value in attributes_of(other).items():
            n_missing += name not in given
            n_equal += given.get(name) == value
        return len(given) + n_missing - n_equal

    return min(known, key=n_different)


@dataclass(frozen=True)
class Features:
    """The bundles and the values that a tagger can predict. The first value of each attribute is the empty string: the
    attribute is absent. In a row of value scores, the values of an attribute are side by side."""

    bundles: tuple[str, ...]  # starts with OTHER
    values: Mapping[str, tuple[str, ...]]  # attribute -> values

    @classmethod
    def of(cls, bundles: Iterable[str]) -> Features | None:
        """Collect the bundles and values of a treebank; return None if no word has features."""
        counts = Counter(bundle for bundle in bundles if bundle != OTHER)
        found: dict[str, set[str]] = {}
        for bundle in counts:
            for name, value in attributes_of(bundle).items():
                found.setdefault(name, set()).add(value)
        if not found:
            return None
        frequent = sorted((bundle for bundle in counts if counts[bundle] >= MIN_COUNT), key=lambda b: (-counts[b], b))
        return cls((OTHER, *frequent), {name: ("", *sorted(found[name])) for name in sorted(found)})

    @classmethod
    def from_names(cls, bundles: Sequence[str], values: Sequence[str]) -> Features:
        """Undo :attr:`bundles` and :attr:`names`; raise a :class:`ValueError` if they are not well-formed."""
        of_names: dict[str, list[str]] = {}
        for pair in values:
            name, equals, value = pair.partition("=")
            if not equals or (name not in of_names) != (value == ""):
                raise ValueError(f"{pair!r} must be Name=value, and the first value of a name empty")
            of_names.setdefault(name, []).append(value)
        found = cls(tuple(bundles), {name: tuple(values) for name, values in of_names.items()})
        if list(bundles[:1]) != [OTHER]:
            raise ValueError(f"feats must start with {OTHER}")
        if found.names != tuple(values):
            raise ValueError("the values of each attribute must be side by side")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The values as ``Case=Nom``, and ``Case=`` for the empty one."""
        return tuple(f"{name}={value}" for name, values in self.values.items() for value in values)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The places of each attribute's values in a row of value scores."""
        ends = np.cumsum([len(values) for values in self.values.values()]).tolist()
        return tuple(map(slice, [0, *ends[:-1]], ends))

    @cached_property
    def _starts(self) -> Ints:
        return np.array([part.start for part in self.slices], dtype=np.intp)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {bundle: number for number, bundle in enumerate(self.bundles)}

    def bundle_ids(self, bundles: Iterable[str]) -> Ints:
        """Return the number of each bundle: (n_bundles,). A bundle that cannot be predicted has that of OTHER."""
        return np.array([self._numbers.get(bundle, 0) for bundle in bundles], dtype=np.intp)

    def value_ids(self, bundles: Iterable[str]) -> Ints:
        """Return the number of each attribute's value in each bundle: (n_bundles, n_attributes). 0 is absent."""
        places = [(name, {value: k for k, value in enumerate(values)}) for name, values in self.values.items()]
        rows: dict[str, list[int]] = {}
        found: list[list[int]] = []
        for bundle in bundles:
            if bundle not in rows:
                given = attributes_of(bundle)
                rows[bundle] = [numbers.get(given.get(name, ""), 0) for name, numbers in places]
            found.append(rows[bundle])
        return np.array(found, dtype=np.intp).reshape(-1, len(self.values))

    @cached_property
    def membership(self) -> Floats:
        """1 where a value is in a bundle: (n_values, n_bundles). OTHER has none."""
        table = np.zeros((len(self.names), len(self.bundles)), dtype=np.float32)
        for attribute, ids in zip(self.slices, self.value_ids(self.bundles).T, strict=True):
            table[attribute.start + ids, np.arange(len(ids))] = 1
        table[:, 0] = 0
        return table

    def choose(self, bundle_scores: Floats, value_scores: Floats) -> list[str]:
        """Return the best bundle of each word. ``bundle_scores``: (n_words, n_bundles), which include the scores of the
        bundles' values; ``value_scores``: (n_words, n_values)."""
        scores = bundle_scores.copy()
        scores[:, 0] += np.maximum.reduceat(value_scores, self._starts, axis=1).sum(axis=1)
        best: list[int] = scores.argmax(axis=1).tolist()
        return [self.bundles[n] if n else self._combined(value_scores[word]) for word, n in enumerate(best)]

    def _combined(self, scores: Floats) -> str:
        """Return the bundle of the best values of one word."""
        parts = zip(self.values.items(), self.slices, strict=True)
        best = {name: values[int(scores[part].argmax())] for (name, values), part in parts}
        return bundle_of({name: value for name, value in best.items() if value})
