"""The result of parsing a text: the parses of its sentences, and the position of every token in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from easyfirst.counting import count
from easyfirst.errors import InputError
from easyfirst.render.html import draw_html
from easyfirst.render.notebook import Display
from easyfirst.render.svg import WIDTH, Theme
from easyfirst.results.notebook import document_html, shown
from easyfirst.results.parses import Parse, shortened
from easyfirst.results.pickling import pack_document, restore_document
from easyfirst.results.tables import Per, arrow_table, data_frame, document_rows
from easyfirst.text.sentences import TokenizedText
from easyfirst.treebank.raw_text import Place, Token
from easyfirst.treebank.words import Word

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A parsed text. Iterate over it to get its sentences: ``for parse in document``."""

    text: str
    """The text as it was given."""
    sentences: tuple[Parse, ...]
    """The parses of its sentences."""
    tokens: tuple[tuple[Token, ...], ...]
    """The tokens of each sentence: their positions in the text, and the words they consist of (several for a multiword
    token). There is nothing but white space between tokens."""

    def __post_init__(self) -> None:
        """Give each parse its place in the text."""
        places = (Place(self.text, tokens) for tokens in self.tokens)
        placed = tuple([parse.at(place) for parse, place in zip(self.sentences, places, strict=True)])
        object.__setattr__(self, "sentences", placed)

    @classmethod
    def of(cls, tokenized: TokenizedText, parses: Iterator[Parse]) -> Document:
        """Make the document of a text from the next parses, one for each of its sentences."""
        return cls(tokenized.text, tuple(islice(parses, len(tokenized.tokens))), tokenized.tokens)

    @classmethod
    def of_parse(cls, parse: Parse) -> Document:
        """Make a document of a single sentence, whose text is that of the sentence."""
        place = Place.of(parse.sentence)
        return cls(place.text[: place.end], (parse,), (place.tokens,))

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    def __iter__(self) -> Iterator[Parse]:
        """Iterate over the sentences."""
        return iter(self.sentences)

    @overload
    def __getitem__(self, number: SupportsIndex) -> Parse: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[Parse, ...]: ...

    def __getitem__(self, number: SupportsIndex | slice) -> Parse | tuple[Parse, ...]:
        """Return a sentence, counted from 0, or the sentences of a slice."""
        return self.sentences[number]

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of all sentences."""
        return tuple([word for parse in self.sentences for word in parse])

    def __repr__(self) -> str:
        n_words = sum(map(len, self.sentences))
        counts = f"{count(len(self), 'sentence')}, {count(n_words, 'word')}"
        return f"Document({shortened(self.text)!r}, {counts})"

    def _repr_html_(self) -> str:
        return document_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_document, pack_document(self)

    def __str__(self) -> str:
        """Draw the trees, one after the other."""
        return "\n\n".join(parse.draw() for parse in self.sentences)

    def to_conllu(self, *, name: str = "text", confidence: bool = False) -> str:
        """Return all sentences as CoNLL-U. MISC has the position of each token, ``TokenRange=start:end``, and with
        ``confidence`` the probabilities of arcs and labels, as in :meth:`Parse.to_bytes`. ``name`` is the id of the
        document; the sentences are ``name-1``, ``name-2``, ... A sentence has all of its ``n_best`` trees."""
        if not re.fullmatch(r"[^\s/]+", name):
            raise InputError(f"the name of a document is {name!r}; give a name without white space and /")
        headers = self.headers([f"{name}-{number}" for number in range(1, len(self) + 1)], name)
        blocks: list[str] = []
        for header, parse in zip(headers, self.sentences, strict=True):
            for each in parse.n_best:
                block = header + each.to_conllu(confidence=confidence)
                blocks.append(block if each.ranking is None else each.ranking.annotate(block.encode()).decode())
        return "".join(blocks)

    def headers(self, names: Sequence[str | None], name: str | None = None) -> Iterator[str]:
        """Yield the first comments of each sentence in CoNLL-U, given the ids of the sentences and that of the
        document, if it begins here: ``# newdoc id``, ``# newpar`` after a blank line, and ``# sent_id``."""
        end = None
        for sent_id, tokens in zip(names, self.tokens, strict=True):
            if end is None:
                begin = f"# newdoc id = {name}\n" if name is not None else ""
            else:
                begin = "# newpar\n" if _BLANK_LINE.search(self.text, end, tokens[0].start) else ""
            yield begin if sent_id is None else f"{begin}# sent_id = {sent_id}\n"
            end = tokens[-1].end

    def display(
        self,
        *,
        steps: bool = False,
        width: float = WIDTH,
        theme: Theme = "auto",
        show: str | Iterable[str] | None = None,
    ) -> Display:
        """Draw all trees in a notebook, which also draws the first ones of a document that is the value of a cell. The
        options are those of :meth:`Parse.display`."""
        return shown(self.sentences, steps=steps, width=width, theme=theme, show=show)

    def to_nltk(self) -> list[Any]:
        """Return an ``nltk.parse.DependencyGraph`` for each sentence."""
        return [parse.to_nltk() for parse in self.sentences]

    def to_pandas(self, *, per: Per = "word", name: str | None = None) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each word, or with ``per="sentence"`` one for each sentence.
        ``name`` is the id of the document, as for :meth:`to_conllu`."""
        return data_frame(document_rows(self, doc_id=name), per)

    def to_arrow(self, *, per: Per = "word", name: str | None = None) -> Any:
        """Return a ``pyarrow.Table`` with a row for each word, or with ``per="sentence"`` one for each sentence, as
        ``easyfirst parse --to parquet`` stores them. ``name`` is the id of the document."""
        return arrow_table(document_rows(self, doc_id=name), per)

    def to_dict(self) -> dict[str, Any]:
        """Return the document for JSON: the text, and each sentence with its words and its tokens' places."""
        return {"text": self.text, "sentences": [self._sentence_dict(number) for number in range(len(self))]}

    def sentence_dicts(self, number: int = 1, start: int = 0) -> Iterator[dict[str, Any]]:
        """Yield each sentence for JSON on its own, with its text, the ``number`` of the document in its input and the
        ``start`` of the document there."""
        for n, tokens in enumerate(self.tokens):
            text = self.text[tokens[0].start : tokens[-1].end]
            yield {"document": number, "document_start": start, "text": text} | self._sentence_dict(n)

    def to_html(self, *, width: float = WIDTH, show: str | Iterable[str] | None = None) -> str:
        """Return a page with all trees that steps through their derivations, as :meth:`Parse.to_html` does."""
        columns = show if show is None or isinstance(show, str) else list(show)
        return draw_html([parse.drawing(show=columns) for parse in self.sentences], width=width)

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Return the document as a spaCy ``Doc`` of the same text, with heads, relations, tags, features, lemmas,
        sentence starts, ``token._.arc_confidence`` and ``doc._.easyfirst``. It needs the extra ``spacy``.

        A word is a token of the Doc, and so is white space other than single spaces. The words of a multiword token are
        merged to one token, unless the token consists of them. ``vocab`` is that of a pipeline: ``nlp.vocab``."""
        from easyfirst.results.spacy_docs.writing import to_doc  # it imports this module

        return to_doc(self, vocab)

    def _sentence_dict(self, number: int) -> dict[str, Any]:
        tokens: list[dict[str, Any]] = []
        first = 1
        for token in self.tokens[number]:
            last = first + len(token.words) - 1
            tokens.append({"start": token.start, "end": token.end, "words": [first, last]})
            first = last + 1
        return self.sentences[number].to_dict() | {"tokens": tokens}
