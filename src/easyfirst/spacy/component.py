"""The pipeline component: parses the tokens of spaCy's Docs, many Docs at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from spacy.util import raise_error, registry

from easyfirst.errors import ConfigError, InputError
from easyfirst.inputs import chunks
from easyfirst.parsing.engine import BATCH_SIZE
from easyfirst.results.documents import Document
from easyfirst.results.spacy_docs.alignment import Placed, find_sentences
from easyfirst.results.spacy_docs.annotations import ANNOTATIONS, COLUMNS, DEP, LEMMA, MORPH, POS, SENT_START, to_label
from easyfirst.results.spacy_docs.extensions import set_document
from easyfirst.results.spacy_docs.noun_chunks import noun_chunks_for
from easyfirst.results.spacy_docs.writing import write_parses
from easyfirst.spacy.models import UsesModel
from easyfirst.streaming import TOKENIZED_AT_ONCE
from easyfirst.text.sentences import sentences_of
from easyfirst.treebank.raw_text import Token
from easyfirst.treebank.sentence import Sentence
from easyfirst.workers import Workers

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.tokens import Token as DocToken
    from spacy.training import Example

MAX_TOKENS = 20_000
"""The number of tokens of the Docs that are parsed at once, unless a single one has more."""
_SCORERS = ("parser", "tagger", "morphologizer", "lemmatizer")


class EasyFirst(UsesModel):
    """The pipeline component: parses the tokens of a Doc."""

    def __init__(
        self,
        nlp: Language,
        name: str = "easyfirst",
        *,
        model: str | None = None,
        threads: int = 1,
        batch_size: int = BATCH_SIZE,
        annotate: Collection[str] = ANNOTATIONS,
        overwrite: bool | Collection[str] = (DEP,),
        keep_parses: bool = True,
    ) -> None:
        """Load a model, by default the one that is named like the language of the pipeline.

        ``batch_size`` sentences are parsed at once, by ``threads`` threads. ``annotate`` names what is set: some of
        ``dep`` (heads and relations, which imply sentence starts), ``tag``, ``pos``, ``morph``, ``lemma`` and
        ``sent_start``. What a Doc has already is kept, and tags and sentence starts guide the parser, unless
        ``overwrite`` names it or is True. With ``keep_parses``, ``doc._.easyfirst`` has the parses.

        Raise a :class:`easyfirst.errors.ModelError` if the model cannot be used, and a
        :class:`easyfirst.errors.ConfigError` for other settings that cannot.
        """
        super().__init__(model or nlp.lang, f"components.{name}.model", threads, batch_size)
        self.name = name
        self.annotate = _names(annotate, "annotate")
        self.overwrite = _names(overwrite, "overwrite")
        self.keep_parses = keep_parses
        self._handle_error: Callable[..., Any] = raise_error
        if DEP in self.annotate:
            nlp.vocab.get_noun_chunks = noun_chunks_for(nlp.vocab)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations that the model predicts, as spaCy has them."""
        return tuple(map(to_label, self.parser.relations))

    def __call__(self, doc: Doc) -> Doc:
        """Parse a Doc and return it with the annotations."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Parse a stream of Docs and yield them in order. Up to ``batch_size`` Docs, or 20,000 tokens, are parsed at
        once."""
        for docs in chunks(stream, len, batch_size, MAX_TOKENS):
            yield from self._process(docs)

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        """Set the function that is called with the name, the component, the Docs and the error if a Doc fails."""
        self._handle_error = error_handler

    def get_error_handler(self) -> Callable[..., Any]:
        """Return the function that handles errors."""
        return self._handle_error

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score trees, sentences, tags, features and lemmas, as ``nlp.evaluate`` does for spaCy's own components."""
        known, scores = list(examples), dict[str, Any]()
        for name in _SCORERS:
            scores |= registry.scorers.get(f"spacy.{name}_scorer.v1")()(known, **kwargs)
        return scores

    def _process(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Yield Docs with annotations. If one fails, the others are processed one by one."""
        try:
            self._parse(docs)
        except Exception as error:
            if len(docs) > 1:
                for doc in docs:
                    yield from self._process([doc])
            else:
                self._handle_error(self.name, self, docs, error)
        else:
            yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        texts = [doc.text for doc in docs]
        found = [
            find_sentences(doc, tokens, self._known_starts(doc))
            for doc, tokens in zip(docs, self._tokenize(docs, texts), strict=True)
        ]
        sentences: list[Sentence] = []
        for doc, text, (placed, tokens) in zip(docs, texts, found, strict=True):
            sentences += self._with_tags(sentences_of(text, tokens), doc, placed)
        parses = iter(self.parser.parse(sentences, batch_size=self.batch_size, threads=self.threads))
        tagger = self.parser.tagger
        for doc, text, (placed, tokens) in zip(docs, texts, found, strict=True):
            document = Document(text, tuple(next(parses) for _ in tokens), tuple(tokens))
            write_parses(
                doc,
                placed,
                document,
                annotations=self.annotate,
                overwritten=self.overwrite,
                has_features=tagger is not None and "feats" in tagger.kinds,
            )
            set_document(doc, document if self.keep_parses else None)
            if DEP in self.annotate:  # the component may be that of another pipeline, with another vocabulary
                doc.vocab.get_noun_chunks = doc.noun_chunks_iterator = noun_chunks_for(doc.vocab)

    def _tokenize(self, docs: Sequence[Doc], texts: Sequence[str]) -> Iterable[Sequence[Sequence[Token]]]:
        """Yield the sentences that the tokenizer of the model finds in texts; none if the model has no tokenizer and
        the Docs have sentence starts."""
        if self.parser.tokenizer is None:
            if not all(doc.has_annotation("SENT_START") for doc in docs):
                raise InputError(
                    f"the model {self.model} has no tokenizer to find sentences, and the Doc has no sentence starts; "
                    f"add a component that sets them, as in nlp.add_pipe('sentencizer', before={self.name!r})"
                )
            return [()] * len(docs)
        parts = list(chunks(texts, len, None, TOKENIZED_AT_ONCE))
        with Workers(self.threads) as workers:
            tokenized = workers.start(self.parser.tokenizer.tokenize_texts, parts)()
        return [text.tokens for text in chain(*tokenized)]

    def _known_starts(self, doc: Doc) -> list[int]:
        """Return 1 for each token that begins a sentence, -1 if it does not, and 0 if that is not known."""
        if SENT_START in self.overwrite:
            return [0] * len(doc)
        return doc.to_array("SENT_START").astype("int64").tolist()

    def _with_tags(self, sentences: Iterable[Sentence], doc: Doc, placed: Sequence[Placed]) -> Iterator[Sentence]:
        """Yield the sentences of a Doc with the tags that its tokens have and that are not overwritten. The words of a
        multiword token have none."""
        kept = [name for name in COLUMNS if name not in (LEMMA, *self.overwrite) and doc.has_annotation(name.upper())]
        for sentence, (*_, tokens, n_words) in zip(sentences, (each for each in placed if each.tokens), strict=True):
            columns: dict[str, list[str]] = {COLUMNS[name]: [] for name in kept}
            for name in kept:
                for i, n in zip(tokens, n_words, strict=True):
                    columns[COLUMNS[name]] += [_tag(doc[i], name)] if n == 1 else ["_"] * n
            yield sentence.with_tags(**columns) if kept else sentence


def _names(given: bool | Collection[str], setting: str) -> frozenset[str]:
    """Return the annotations that a setting names."""
    if isinstance(given, bool):
        return frozenset(ANNOTATIONS if given else ())
    names = [given] if isinstance(given, str) else list(given)
    if isinstance(given, str) or not set(names) <= set(ANNOTATIONS):
        wrong = ", ".join(repr(name) for name in names if isinstance(given, str) or name not in ANNOTATIONS)
        raise ConfigError(f"{setting} has {wrong}; give a list of some of {', '.join(ANNOTATIONS)}")
    return frozenset(names)


def _tag(token: DocToken, name: str) -> str:
    """Return the tag of a token as CoNLL-U has it."""
    return (str(token.morph) if name == MORPH else token.pos_ if name == POS else token.tag_) or "_"
