"""Words are split into subwords, and every subword is kept in exactly one window."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfirst.model.encoder_store import PretrainedEncoder
from easyfirst.pretrained.subwords import Splitter, Subwords, batches_of

UNKNOWN = 1


def test_every_word_has_subwords(encoder: PretrainedEncoder) -> None:
    """Also words of which the tokenizer leaves nothing, and words that it does not know."""
    split = Splitter(encoder.tokenizer, encoder.settings.unknown)
    words = ["the", "\u200b", "foxed", "🦊", "\x00", " "]
    found = split([words[:2], [], words[2:]])
    assert found.counts.tolist() == [1, 1, 2, 1, 1, 1]
    assert found.lengths == [2, 0, 5]
    names = [split._tokenizer.id_to_token(number) for number in found.ids.tolist()]
    assert names == ["the", "[UNK]", "fox", "##ed", "[UNK]", "[UNK]", "[UNK]"]


def test_subwords_do_not_depend_on_neighbours(encoder: PretrainedEncoder) -> None:
    split = Splitter(encoder.tokenizer, UNKNOWN)
    together = split([["the", "baker", "foxes"]])
    alone = [split([[word]]) for word in ("the", "baker", "foxes")]
    assert together.ids.tolist() == [number for each in alone for number in each.ids.tolist()]


@settings(deadline=None)
@given(st.lists(st.integers(0, 60), max_size=8), st.integers(4, 20), st.integers(1, 100))
def test_every_subword_is_kept_once(lengths: list[int], room: int, max_subwords: int) -> None:
    """Subwords are given as their own numbers, from 100 on, so that they can be recognised."""
    n = sum(lengths)
    subwords = Subwords(np.arange(100, 100 + n), np.ones(n, dtype=np.int64), lengths)
    seen: list[int] = []
    for batch in batches_of(subwords, room=room, before=[2], after=[3, 3], max_subwords=max_subwords):
        assert batch.ids.shape == batch.is_given.shape
        assert batch.ids.shape[1] <= room + 3
        assert len(batch.ids) == 1 or batch.is_given.sum() <= max_subwords
        assert (batch.ids.reshape(-1)[batch.kept] == 100 + batch.places).all()
        for row, is_given in zip(batch.ids, batch.is_given, strict=True):
            inside = row[: is_given.sum()]
            assert (inside[0], *inside[-2:]) == (2, 3, 3)
            assert (np.diff(inside[1:-2]) == 1).all()  # a window is a part of one sentence
            assert not row[is_given.sum() :].any()
        seen += batch.places.tolist()
    assert sorted(seen) == list(range(n))
