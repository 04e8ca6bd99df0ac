"""Two treebanks of one text, aligned by its characters: their tokens, sentences and words may differ.

A token or a sentence is a span of the text's characters without white space; a multiword token is one token.
Words align as the CoNLL 2018 shared task defines it:

* a word that is a token of its own aligns with one of the same span;
* the words of multiword tokens have no spans, so the words of the stretch that such tokens cover on either side align
  by the longest common subsequence of their lower-cased forms.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple
from unicodedata import category

from easyfirst.errors import DataError
from easyfirst.treebank.sentence import Sentence, SurfaceToken

N_SHOWN = 20  # characters of each text in an error message


class Span(NamedTuple):
    """A span of characters; ``end`` is exclusive."""

    start: int
    end: int


class SpannedWord(NamedTuple):
    """A word and its span in the text; a word of a multiword token has the span of that token."""

    span: Span
    form: str  # lower-cased, to compare
    is_part: bool  # of a multiword token


@dataclass(frozen=True, slots=True)
class SpannedText:
    """The text of a treebank and the spans of its tokens, sentences and words."""

    characters: str  # of all tokens, without white space
    tokens: list[Span]
    sentences: list[Span]
    words: list[SpannedWord]
    treebank: Sequence[Sentence]

    @classmethod
    def of(cls, treebank: Iterable[Sentence]) -> SpannedText:
        treebank = list(treebank)
        forms: list[str] = []
        tokens: list[Span] = []
        sentences: list[Span] = []
        words: list[SpannedWord] = []
        end = 0
        for sentence in treebank:
            first = end
            for token in sentence.surface_tokens:
                forms.append(form := _characters(token, sentence))
                tokens.append(span := Span(end, end + len(form)))
                end = span.end
                if token.is_multiword:
                    words += [SpannedWord(span, sentence.forms[m].lower(), True) for m in token.words]
                else:
                    words.append(SpannedWord(span, form.lower(), False))
            sentences.append(Span(first, end))
        return cls("".join(forms), tokens, sentences, words, treebank)

    def place_of(self, position: int) -> tuple[str | None, int | None]:
        """Return the file and line of the token at a character; of the last token for the end of the text."""
        index = bisect_right(self.tokens, position, key=lambda span: span.start) - 1
        places = ((sentence.source, token.line) for sentence in self.treebank for token in sentence.surface_tokens)
        return next(islice(places, max(index, 0), None), (None, None))


def check_same_text(gold: SpannedText, system: SpannedText) -> None:
    """Raise :class:`DataError` with the position of the first difference, if two texts differ."""
    if gold.characters == system.characters:
        return
    pairs = zip_longest(gold.characters, system.characters)
    position = next(k for k, (one, other) in enumerate(pairs) if one != other)
    before = gold.characters[max(position - N_SHOWN, 0) : position]
    gold_place = ":".join(str(part) for part in gold.place_of(position) if part is not None)
    source, line = system.place_of(position)
    after = [side.characters[position : position + N_SHOWN] for side in (system, gold)]
    here, there = (repr(characters) if characters else "the end" for characters in after)
    message = (
        f"the text differs {f'after {before!r}' if before else 'from its first character on'}: {here} here, {there} in "
        f"{gold_place or 'the gold text'}; both sides must hold the same characters, white space apart"
    )
    raise DataError(message, source=source, line=line)


def align(gold: SpannedText, system: SpannedText) -> list[tuple[int, int]]:
    """Return the pairs of aligned words (positions in ``words`` of the two sides), in the order of the text."""
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold.words) and s < len(system.words):
        gold_word, system_word = gold.words[g], system.words[s]
        if gold_word.is_part or system_word.is_part:
            gold_stretch, system_stretch = _multiword_stretch(gold.words, system.words, g, s)
            pairs += _align_forms(gold.words, system.words, gold_stretch, system_stretch)
            g, s = gold_stretch.stop, system_stretch.stop
        elif gold_word.span == system_word.span:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif gold_word.span.start <= system_word.span.start:
            g += 1
        else:
            s += 1
    return pairs


def _multiword_stretch(
    gold: Sequence[SpannedWord], system: Sequence[SpannedWord], g: int, s: int
) -> tuple[range, range]:
    """Return the words of both sides to align by their forms. ``g`` and ``s`` are the next words, at least one of them
    part of a multiword token.

    Words are added in the order in which they begin, gold first, until neither side's next word belongs to the stretch.
    A word that extends beyond the stretch is added if a later word belongs to it, and only one of the single words
    before the first multiword token is skipped, both as in the official scorer.
    """
    end = (gold[g] if gold[g].is_part else system[s]).span.end
    if not system[s].is_part and system[s].span.start < gold[g].span.start:
        s += 1
    elif not gold[g].is_part and gold[g].span.start < system[s].span.start:
        g += 1
    gold_start, system_start = g, s
    while _belongs(gold, g, end) or _belongs(system, s, end):
        gold_first = s == len(system) or (g < len(gold) and gold[g].span.start <= system[s].span.start)
        word = gold[g] if gold_first else system[s]
        if word.is_part:
            end = max(end, word.span.end)
        g, s = g + gold_first, s + (not gold_first)
    return range(gold_start, g), range(system_start, s)


def _belongs(words: Sequence[SpannedWord], k: int, end: int) -> bool:
    """Return whether a word lies in the stretch that ends here or, for a word of a multiword token, begins in it."""
    return k < len(words) and (words[k].span.start < end if words[k].is_part else words[k].span.end <= end)


def _align_forms(
    gold: Sequence[SpannedWord], system: Sequence[SpannedWord], gold_stretch: range, system_stretch: range
) -> Iterator[tuple[int, int]]:
    """Yield a longest common subsequence of the forms; if there are several, the one that skips gold words first."""
    gold_forms, system_forms = [gold[k].form for k in gold_stretch], [system[k].form for k in system_stretch]
    n, n_system = len(gold_forms), len(system_forms)
    longest = [[0] * (n_system + 1) for _ in range(n + 1)]  # of gold_forms[i:] and system_forms[j:]
    for i in reversed(range(n)):
        row, below = longest[i], longest[i + 1]
        for j in reversed(range(n_system)):
            same = gold_forms[i] == system_forms[j]
            row[j] = below[j + 1] + 1 if same else max(below[j], row[j + 1])
    i = j = 0
    while i < n and j < n_system:
        if gold_forms[i] == system_forms[j]:
            yield gold_stretch[i], system_stretch[j]
            i, j = i + 1, j + 1
        elif longest[i + 1][j] == longest[i][j]:
            i += 1
        else:
            j += 1


def without_spaces(form: str) -> str:
    """Return a form without spaces, which are Unicode's space separators (``Zs``)."""
    if " " not in form and form.isascii():
        return form
    return "".join(character for character in form if category(character) != "Zs")


def _characters(token: SurfaceToken, sentence: Sentence) -> str:
    """Return the characters of a token that are part of the text; raise an error if there are none."""
    if form := without_spaces(token.form):
        return form
    message = f"FORM is {token.form!r}, only white space, which is no part of a text; correct it"
    raise DataError(message, source=sentence.source, line=token.line)
