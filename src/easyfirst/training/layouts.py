"""Layouts of augmented paragraphs: a line for each sentence, wrapped lines, and text without punctuation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfirst.training.pieces import Piece, Pieces

FINAL = (".", "!", "?", "。", "！", "？", "।", "...", "…")  # the last marks of sentences


def in_lines(sentences: Sequence[Pieces], rng: np.random.Generator) -> list[Pieces]:
    """Put each sentence on its own line; none, some or all of them without the last mark."""
    bare = rng.choice([0, 0.5, 1])
    found: list[Pieces] = []
    for sentence in sentences:
        if len(sentence) > 1 and sentence[-1].form in FINAL and rng.random() < bare:
            sentence = sentence[:-1]
        found.append([*sentence[:-1], sentence[-1].spaced("\n")])
    return found


def without_marks(sentences: Sequence[Pieces], rng: np.random.Generator, *, gap: str) -> list[Pieces]:
    """Drop all punctuation; in most cases in lower case, in some with a sentence on each line. ``gap``: what stands
    in place of a mark."""
    space = "\n" if rng.random() < 0.15 else gap
    is_lower = rng.random() < 0.85
    found: list[Pieces] = []
    for sentence in sentences:
        kept: Pieces = []
        for piece in sentence:
            if any(map(str.isalnum, piece.form)):
                kept.append(_lowered(piece) if is_lower else piece)
            elif kept:
                kept[-1] = kept[-1].spaced(kept[-1].space or gap)
        if kept:
            found.append([*kept[:-1], kept[-1].spaced(space)])
    return found


def _lowered(piece: Piece) -> Piece:
    return Piece(piece.form.lower(), tuple(word.lower() for word in piece.words), piece.space)


def wrapped(sentences: Sequence[Pieces], rng: np.random.Generator) -> list[Pieces]:
    """End lines where they are full."""
    width, at = int(rng.integers(30, 80)), 0
    found: list[Pieces] = []
    for sentence in sentences:
        made: Pieces = []
        for piece in sentence:
            at += len(piece.form) + 1
            is_full = at >= width and piece.space == " "
            made.append(piece.spaced("\n") if is_full else piece)
            at = 0 if is_full else at
        found.append(made)
    return found
