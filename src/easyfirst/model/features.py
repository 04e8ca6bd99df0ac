"""FEATS as data: bundles such as ``Case=Nom|Number=Sing``, and the values of single attributes.

The tagger scores whole bundles and, beside them, the values of each attribute. A bundle's score is its own plus those
of its values. Bundles that are unseen in training have the score of ``OTHER`` in place of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from easyfirst.nn.arrays import Floats, Ints

NO_FEATURES = "_"
OTHER = "<other>"  # stands for all bundles that occur less than twice in training
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


def nearest_bundle(bundle: str, rows: Mapping[str, int]) -> int:
    """Return the row of the most similar bundle: the one with the fewest values that are in only one of both. Of equal
    ones it is the first."""
    given = set(attributes_of(bundle).items())
    return min((len(given ^ set(attributes_of(known).items())), row) for known, row in rows.items())[1]


@dataclass(frozen=True)
class Features:
    """The bundles and the values that a tagger knows. In the row of values, those of an attribute are side by side, and
    the first of them is the empty string: the attribute is not present."""

    bundles: tuple[str, ...]  # starts with OTHER
    values: Mapping[str, tuple[str, ...]]  # attribute -> values

    @classmethod
    def of(cls, bundles: Iterable[str]) -> Features | None:
        """Collect those of a treebank; None if no word has features."""
        counts = Counter(bundles)
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
        """Make it of bundles and of values as ``Case=Nom``; raise :class:`ValueError` if they do not fit."""
        of_names: dict[str, list[str]] = {}
        for pair in values:
            name, equals, value = pair.partition("=")
            if not equals or (name not in of_names) != (value == ""):
                raise ValueError(f"{pair!r} is not the value of an attribute after its empty value")
            of_names.setdefault(name, []).append(value)
        found = cls(tuple(bundles), {name: tuple(values) for name, values in of_names.items()})
        if list(bundles[:1]) != [OTHER] or found.names != tuple(values):
            raise ValueError("feats and features do not fit")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The values as ``Case=Nom``, and ``Case=`` for the empty one."""
        return tuple(f"{name}={value}" for name, values in self.values.items() for value in values)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The places of each attribute in the row of values."""
        ends = np.cumsum([len(values) for values in self.values.values()]).tolist()
        return tuple(map(slice, [0, *ends[:-1]], ends))

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {bundle: number for number, bundle in enumerate(self.bundles)}

    def bundle_ids(self, bundles: Iterable[str]) -> Ints:
        """Return the numbers of bundles; that of OTHER for those it does not know."""
        return np.array([self._numbers.get(bundle, 0) for bundle in bundles], dtype=np.int64)

    def value_ids(self, bundles: Iterable[str]) -> Ints:
        """Return for each bundle and attribute the number of its value, counted from 0: (n_bundles, n_attributes)."""
        places = [(name, {value: k for k, value in enumerate(values)}) for name, values in self.values.items()]
        rows: dict[str, list[int]] = {}
        found: list[list[int]] = []
        for bundle in bundles:
            if bundle not in rows:
                given = attributes_of(bundle)
                rows[bundle] = [numbers.get(given.get(name, ""), 0) for name, numbers in places]
            found.append(rows[bundle])
        return np.array(found, dtype=np.int64).reshape(-1, len(self.values))

    @cached_property
    def membership(self) -> Floats:
        """1 where a value is in a bundle: (n_values, n_bundles). OTHER has none."""
        table = np.zeros((len(self.names), len(self.bundles)), dtype=np.float32)
        for attribute, ids in zip(self.slices, self.value_ids(self.bundles).T, strict=True):
            table[attribute.start + ids, np.arange(len(ids))] = 1
        table[:, 0] = 0
        return table

    def choose(self, bundle_scores: Floats, value_scores: Floats) -> list[str]:
        """Return the best bundle of each word. ``bundle_scores``: (n_words, n_bundles), those of the bundles' values
        included; ``value_scores``: (n_words, n_values)."""
        known = bundle_scores[:, 1:].argmax(axis=1) + 1 if len(self.bundles) > 1 else np.zeros(len(bundle_scores), int)
        best = np.stack([value_scores[:, part].argmax(axis=1) for part in self.slices], axis=1)
        highest = sum(value_scores[:, part].max(axis=1) for part in self.slices)
        is_other = bundle_scores[:, 0] + highest > bundle_scores[np.arange(len(known)), known]
        chosen = [self.bundles[number] for number in known.tolist()]
        for word in np.flatnonzero(is_other | (known == 0)).tolist():
            chosen[word] = self._made_of(tuple(best[word].tolist()))
        return chosen

    def _made_of(self, numbers: tuple[int, ...]) -> str:
        pairs = zip(self.values.items(), numbers, strict=True)
        return bundle_of({name: values[number] for (name, values), number in pairs if number})
