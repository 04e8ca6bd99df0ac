"""Data augmentation for the tokenizer: paragraphs of a treebank, changed so that they show what treebanks lack.

Names get initials and titles, sentences get abbreviations, addresses, hashtags and emoji, words are exchanged, and
marks are replaced by others of their kind. Some paragraphs become lists of lines, or lose their punctuation. Changes
that do not fit the habits of the treebank are not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from easyfirst.model.word_cuts import MIN_SEEN, find_whole_words
from easyfirst.training.habits import Habits
from easyfirst.training.layouts import FINAL, in_lines, without_marks, wrapped
from easyfirst.training.made_tokens import emoji, made_token, telephone
from easyfirst.training.pieces import Piece, Pieces, paragraph_of, pieces_of
from easyfirst.treebank.raw_text import Paragraph

CHANGED = 0.8  # the probability that a sentence of an augmented paragraph is changed
MAX_CHANGES = 2  # of one sentence
MAX_SENTENCES = 8  # of an augmented paragraph; longer ones are divided
MAX_MERGED = 4  # paragraphs that become one without punctuation, or with a line for each sentence
QUOTES = (("'", "'"), ("‘", "’"), ("“", "”"), ('"', '"'), ("'", "'"), ("‘", "’"))
CURRENCIES = ("$", "€", "£", "¥", "₹", "US$")
LAST_MARKS = ("...", "…", "....", "..", "!!", "?!", "!!!")
DASHES = ("—", "–", "--")
BULLETS = ("-", "*", "•", "·", ">")
UNITS = ("kg", "km", "cm", "mm", "ml", "mg", "lb", "ft", "mph", "GB", "MB", "kHz", "V", "W", "K")
LABELS = ("info", "news", "home", "mail", "web", "shop", "photo", "my", "the", "city")  # for languages in other scripts
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Change = Callable[["Augmenter", Pieces, np.random.Generator], Pieces | None]


def _chosen(rng: np.random.Generator, items: Sequence[str]) -> str:
    return items[int(rng.integers(len(items)))]


class Augmenter:
    """Makes augmented paragraphs of a treebank."""

    def __init__(self, paragraphs: Sequence[Paragraph], known: Mapping[str, int]) -> None:
        """``known``: words of other text, with their frequencies."""
        self._sentences = [
            sentences[begin : begin + MAX_SENTENCES]
            for sentences in map(pieces_of, paragraphs)
            for begin in range(0, len(sentences), MAX_SENTENCES)
        ]
        self.habits = Habits.of([sentence for sentences in self._sentences for sentence in sentences])
        more = [Piece.of(form) for form in known]
        names = [*self.habits.names, *(piece.form for piece in more if piece.is_name)]
        words = [*self.habits.words, *(piece.form for piece in more if piece.is_lower)]
        self.names, self.words = names or words, words or names
        self.labels = [form for form in words if form.isascii()] or LABELS
        at_risk = find_whole_words(paragraphs, {form.lower(): MIN_SEEN for form in (*names, *words)})
        self._risky = {
            True: [form for form in names if form.lower() in at_risk] or self.names,
            False: [form for form in words if form in at_risk] or self.words,
        }
        changes = [[change] * n for change, n, is_allowed in _CHANGES if is_allowed(self.habits)]
        self._changes = [change for same in changes for change in same] if self.names else []

    def paragraphs(self, share: float, rng: np.random.Generator) -> list[Paragraph]:
        """Return augmented versions of a random share of the paragraphs; long ones count as several."""
        return list(self._augmented(share, rng))

    def _augmented(self, share: float, rng: np.random.Generator) -> Iterator[Paragraph]:
        gap = " " if self.habits.has_spaces else ""
        for k in np.flatnonzero(rng.random(len(self._sentences)) < share).tolist():
            style = rng.random()
            sentences = self._sentences[k] if style >= 0.45 else self._neighbours(k, rng)
            if style < 0.25:
                sentences = without_marks(sentences, rng, gap=gap)
            else:
                sentences = [self._changed(sentence, rng) for sentence in sentences]
                if style < 0.45:
                    sentences = in_lines(sentences, rng)
                elif style < 0.5:
                    sentences = wrapped(sentences, rng)
            if sentences:
                yield paragraph_of(sentences)

    def _neighbours(self, k: int, rng: np.random.Generator) -> list[Pieces]:
        """Return the sentences of some paragraphs from the k-th on, or a few of them: texts may be long or short."""
        n = int(rng.integers(1, MAX_MERGED + 1))
        sentences = [sentence for paragraph in self._sentences[k : k + n] for sentence in paragraph]
        if rng.random() < 0.5:
            return sentences
        begin = int(rng.integers(len(sentences)))
        return sentences[begin : begin + int(rng.integers(2, 5))]

    def _changed(self, sentence: Pieces, rng: np.random.Generator) -> Pieces:
        if not self._changes or rng.random() >= CHANGED:
            return sentence
        space = sentence[-1].space
        for _ in range(int(rng.integers(1, MAX_CHANGES + 1))):
            change = self._changes[int(rng.integers(len(self._changes)))]
            sentence = change(self, sentence, rng) or sentence
        return [*sentence[:-1], sentence[-1].spaced(space)]

    def word(self, rng: np.random.Generator, *, is_name: bool) -> str:
        """Return a word, in half of the cases one that a tokenizer might cut."""
        return _chosen(rng, self._risky[is_name] if rng.random() < 0.5 else self.names if is_name else self.words)

    def abbreviation(self, rng: np.random.Generator, kind: str) -> Pieces:
        """Return an abbreviation of a kind (a field of :class:`Abbreviations`) as tokens, or one of the treebank."""
        listed: Sequence[str] = getattr(self.habits.listed, kind) if self.habits.listed else ()
        own = self.habits.abbreviations
        form = _chosen(rng, listed if listed and (not own or rng.random() < 0.9) else own) if listed or own else ""
        return [Piece.of(part) for part in form.split("~") if part]


def _gap(sentence: Pieces, rng: np.random.Generator) -> int | None:
    """Return a random place between two tokens that a space separates."""
    gaps = [k for k, piece in enumerate(sentence[:-1], 1) if piece.space]
    return gaps[int(rng.integers(len(gaps)))] if gaps else None


def _name(sentence: Pieces, rng: np.random.Generator) -> int | None:
    """Return the place of a random name; rarely that of the first word, which may be one."""
    places = [k for k, piece in enumerate(sentence) if piece.is_name and (k or rng.random() < 0.3)]
    return places[int(rng.integers(len(places)))] if places else None


def _ends_with_period(sentence: Pieces) -> bool:
    return len(sentence) > 1 and sentence[-1].form == "." and not sentence[-2].space


def exchange_words(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Replace some words and names by others; the first words of multiword tokens as well."""
    changed: Pieces = []
    for k, piece in enumerate(sentence):
        first = piece.words[0]
        is_name = piece.is_name or (len(piece.words) > 1 and first.istitle() and k > 0)
        if rng.random() < 0.2 and (is_name or (piece.is_lower and len(piece.form) > 3)):
            form = augmenter.word(rng, is_name=is_name)
            if len(piece.words) == 1:
                piece = piece.renamed(form)
            elif piece.form == "".join(piece.words) and first.isalpha() and not piece.form.isalpha():
                piece = Piece(form + piece.form[len(first) :], (form, *piece.words[1:]), piece.space)
        changed.append(piece)
    return changed


def add_initials(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put one or two initials before a name, after a first name, or before any word."""
    place = _name(sentence, rng)
    style = rng.random()
    if place is None or style < 0.15:
        place = _gap(sentence, rng)
    if place is None:
        return None
    one, two = (_chosen(rng, LETTERS) + "." for _ in range(2))
    if style < 0.15:  # the U. S. Army
        initials = [Piece.of("U."), Piece.of("S.")] if rng.random() < 0.5 else [Piece.of(one), Piece.of(two)]
    elif style < 0.3:
        initials = [Piece.of(one + two)]
    elif style < 0.5:
        initials = [Piece.of(one), Piece.of(two)]
    else:
        initials = [Piece.of(one)]
    if style >= 0.3 and rng.random() < 0.6:  # a first name before them
        initials.insert(0, Piece.of(augmenter.word(rng, is_name=True)))
    return [*sentence[:place], *initials, *sentence[place:]]


def add_abbreviation(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put an abbreviation beside a name or a number, or between two words."""
    kind = ("titles", "titles", "titles", "suffixes", "numbered", "numbered", "units", "others")[int(rng.integers(8))]
    if not (pieces := augmenter.abbreviation(rng, kind)):
        return None
    is_first = kind in ("titles", "numbered") and rng.random() < 0.35
    place = 0 if is_first else _name(sentence, rng) if kind in ("titles", "suffixes") else _gap(sentence, rng)
    if place is None:
        return None
    if kind == "suffixes":
        if not sentence[place].space or place + 1 == len(sentence):
            return None
        place += 1
    digits = str(rng.integers(1, 10 ** int(rng.integers(1, 5))))
    if kind == "titles" and is_first and sentence[0].is_plain:
        sentence = [sentence[0].renamed(augmenter.word(rng, is_name=True)), *sentence[1:]]
    if kind == "titles" and rng.random() < 0.3:
        pieces += [Piece.of(augmenter.word(rng, is_name=True))]
    elif kind == "numbered":
        pieces += [Piece.of(digits)]
    elif kind == "units":
        pieces = [Piece.of(digits), *pieces]
    return [*sentence[:place], *pieces, *sentence[place:]]


def end_with_abbreviation(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put an abbreviation or a single letter before the period at the end. An abbreviation and it share one."""
    if not _ends_with_period(sentence) or not sentence[-2].form[-1].isalnum():
        return None
    before, space = [*sentence[:-2], sentence[-2].spaced(" ")], sentence[-1].space
    if rng.random() < 0.3:
        return [*before, Piece.of(_chosen(rng, LETTERS), ""), sentence[-1]]
    kind = ("suffixes", "units", "others")[int(rng.integers(3))]
    if not (pieces := augmenter.abbreviation(rng, kind)):
        return None
    if kind == "units":
        before.append(Piece.of(str(rng.integers(1, 100))))
    *others, last = pieces
    if augmenter.habits.parts_last_period:
        return [*before, *others, last.renamed(last.form[:-1]).spaced(""), Piece.of(".", space)]
    return [*before, *others, last.spaced(space)]


def add_made_token(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put an address, a hashtag or a telephone number between two words, in brackets or before the last mark."""
    made = telephone(rng) if rng.random() < 0.25 else made_token(rng, augmenter.labels)
    pairs = [pair for pair in ("()", "<>", "[]") if set(pair) <= augmenter.habits.marks]
    if pairs and rng.random() < 0.25:
        left, right = _chosen(rng, pairs)
        made = [Piece.of(left, ""), *made[:-1], made[-1].spaced(""), Piece.of(right)]
    if rng.random() < 0.4 and _ends_with_period(sentence):
        return [*sentence[:-2], sentence[-2].spaced(" "), *made[:-1], made[-1].spaced(""), sentence[-1]]
    if made[0].form[0] in "#@" and rng.random() < 0.5:
        return [*sentence[:-1], sentence[-1].spaced(" "), *made]
    if (place := _gap(sentence, rng)) is None:
        return None
    if "," in augmenter.habits.marks and rng.random() < 0.2:
        made = [*made[:-1], made[-1].spaced(""), Piece.of(",")]
    return [*sentence[:place], *made, *sentence[place:]]


def add_emoji(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put emoji at the end, before or after the last mark, or between two words."""
    made = emoji(rng)
    space = "" if rng.random() < 0.2 and not made[0].form[0].isascii() else " "
    style = rng.random()
    if style < 0.2 and (place := _gap(sentence, rng)) is not None:
        return [*sentence[: place - 1], sentence[place - 1].spaced(space), *made, *sentence[place:]]
    if style < 0.4 and sentence[-1].form in FINAL and len(sentence) > 1:
        return [*sentence[:-2], sentence[-2].spaced(space), *made]
    return [*sentence[:-1], sentence[-1].spaced(space), *made]


def replace_marks(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Replace a currency sign, a dash, a comma or the last period by a similar mark."""
    changed = list(sentence)
    for k, piece in enumerate(sentence):
        after = sentence[k + 1] if k + 1 < len(sentence) else None
        if piece.form in CURRENCIES:
            changed[k] = piece.renamed(_chosen(rng, CURRENCIES))
        elif after is None:
            if piece.form == "." and rng.random() < 0.3:
                changed[k] = piece.renamed(_chosen(rng, LAST_MARKS))
        elif k == 0:
            continue
        elif piece.form in DASHES:
            changed[k] = piece.renamed(_chosen(rng, DASHES))
        elif piece.form == "-" and not piece.space and not sentence[k - 1].space:
            changed[k] = piece.renamed("–" if rng.random() < 0.5 else "-")
        elif piece.form == "," and sentence[k - 1].is_plain and after.is_plain and rng.random() < 0.3:
            space = "" if rng.random() < 0.7 else " "
            changed[k - 1], changed[k] = sentence[k - 1].spaced(space), Piece.of(_chosen(rng, DASHES), space)
    return changed


def add_quotes(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put quotes around some words, or around the whole sentence."""
    left, right = QUOTES[int(rng.integers(len(QUOTES)))]
    if rng.random() < 0.2:
        return [Piece.of(left, ""), *sentence[:-1], sentence[-1].spaced(""), Piece.of(right)]
    if (begin := _gap(sentence, rng)) is None:
        return None
    last = min(begin + int(rng.choice([0, 0, 1, 1, 2, 3, 5])), len(sentence) - 1)
    if any(not any(map(str.isalnum, piece.form)) for piece in sentence[begin : last + 1]):
        return None
    quoted = [
        Piece.of(left, ""),
        *sentence[begin:last],
        sentence[last].spaced(""),
        Piece.of(right, sentence[last].space),
    ]
    return [*sentence[:begin], *quoted, *sentence[last + 1 :]]


def add_unit(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put a number and a unit between two words or at the end, without a space between them."""
    number = str(rng.integers(1, 500)) + (f".{rng.integers(10)}" * (rng.random() < 0.2))
    number = ("-" if rng.random() < 0.2 else "") + number
    degrees = [Piece.of("°", ""), Piece.of(_chosen(rng, "CFK"))]
    units = [Piece.of(_chosen(rng, UNITS))] if rng.random() < 0.5 else degrees
    return _inserted(sentence, [Piece.of(number, ""), *units], rng)


def add_short_year(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put a year without its century between two words or at the end."""
    form = _chosen(rng, "'’") + str(rng.integers(10, 100)) + ("s" if rng.random() < 0.4 else "")
    return _inserted(sentence, [Piece.of(form)], rng)


def _inserted(sentence: Pieces, made: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Put tokens between two words, or before the last period."""
    if rng.random() < 0.4 and _ends_with_period(sentence):
        return [*sentence[:-2], sentence[-2].spaced(" "), *made[:-1], made[-1].spaced(""), sentence[-1]]
    place = _gap(sentence, rng)
    return None if place is None else [*sentence[:place], *made, *sentence[place:]]


def begin_item(augmenter: Augmenter, sentence: Pieces, rng: np.random.Generator) -> Pieces | None:
    """Begin a sentence like an item of a list."""
    if rng.random() < 0.5:
        return [Piece.of(_chosen(rng, BULLETS)), *sentence]
    if not {".", ")"} <= augmenter.habits.marks:
        return None
    number = str(rng.integers(1, 20)) if rng.random() < 0.7 else _chosen(rng, "abcdef")
    return [Piece.of(number, ""), Piece.of(")" if number.isalpha() or rng.random() < 0.4 else "."), *sentence]


def _always(habits: Habits) -> bool:
    return True


def _has_spaces(habits: Habits) -> bool:
    return habits.has_spaces


def _abbreviates(habits: Habits) -> bool:
    return habits.keeps_periods and habits.has_spaces


_CHANGES: tuple[tuple[Change, int, Callable[[Habits], bool]], ...] = (
    (exchange_words, 2, _has_spaces),
    (add_initials, 1, _abbreviates),
    (add_abbreviation, 4, _abbreviates),
    (end_with_abbreviation, 3, _abbreviates),
    (add_made_token, 2, _always),
    (add_emoji, 1, _always),
    (replace_marks, 2, _always),
    (add_quotes, 1, lambda habits: '"' in habits.marks and habits.has_spaces),
    (add_unit, 1, lambda habits: habits.parts_units),
    (add_short_year, 1, lambda habits: habits.has_short_years),
    (begin_item, 1, _has_spaces),
)
"""The changes of a sentence, how frequent each is, and whether the habits of a treebank allow it."""
