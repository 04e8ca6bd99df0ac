"""The tokenizer of a pipeline, which can also parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.util import DummyTokenizer

from easyfirst.parsing.engine import BATCH_SIZE
from easyfirst.results.spacy_docs.extensions import set_document
from easyfirst.results.spacy_docs.noun_chunks import noun_chunks_for
from easyfirst.results.spacy_docs.writing import new_doc, to_doc
from easyfirst.spacy.models import UsesModel

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


class EasyFirstTokenizer(UsesModel, DummyTokenizer):
    """The tokenizer of a pipeline: makes Docs with the tokens, the sentences and the trees of a model.

    It has no files of its own, so its methods for serialization do nothing: the settings are in ``config.cfg``.
    """

    def __init__(
        self,
        nlp: Language,
        *,
        model: str | None = None,
        threads: int = 1,
        batch_size: int = BATCH_SIZE,
        parse: bool = True,
        keep_parses: bool = True,
    ) -> None:
        """Load a model, with settings as for :class:`EasyFirst`. Without ``parse``, Docs have tokens and sentence
        starts only, and a component can parse many of them at once."""
        super().__init__(model or nlp.lang, "nlp.tokenizer.model", threads, batch_size)
        self.parser.require_tokenizer()
        self.vocab = nlp.vocab
        self.parse = parse
        self.keep_parses = keep_parses
        if parse:
            nlp.vocab.get_noun_chunks = noun_chunks_for(nlp.vocab)

    def __call__(self, text: str) -> Doc:
        """Make the Doc of a text."""
        if not self.parse:
            [tokenized] = self.parser.tokenize([text])
            return new_doc(tokenized.text, tokenized.tokens, self.vocab)
        [document] = self.parser.read([text], batch_size=self.batch_size, threads=self.threads)
        doc = to_doc(document, self.vocab)
        if not self.keep_parses:
            set_document(doc, None)
        return doc
