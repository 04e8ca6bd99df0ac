"""The ids of documents and sentences that CoNLL-U needs: ``# newdoc id`` and ``# sent_id``."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath

from easyfirst.cli.files import STDIN
from easyfirst.tables.identity import document_id, sentence_id, sentence_stem
from easyfirst.treebank.streams import is_gzip


class Identifiers:
    """Makes ids that are unique in one output.

    The second document of ``letters.txt`` is ``letters-2``, and its first sentence ``letters-2-1``. Text without a file
    is named ``text``, and a file whose name is taken gets a number: ``letters.2``. If a document has an id of its own,
    its sentences are numbered from 1, or go on if the id was there before.
    """

    def __init__(self, name: str | None = None) -> None:
        """``name``: that of the only file, if it is not made from the file's own name."""
        self._given_name = name
        self._names: dict[str | None, str] = {}
        self._n_documents: dict[str, int] = {}
        self._file: str | None = None
        self._document = ""
        self._n_sentences = 0
        self._counts: dict[str, int] = {}  # sentences so far, by the start of their ids, for ids that were given
        self._is_given = False

    @property
    def document(self) -> str:
        """The id of the document."""
        return self._document

    def new_document(self, file: str | None, given: str | None = None) -> str:
        """Begin a document, and return its id, which may be given."""
        self._file = file
        if given is not None and (own := document_id(given)):
            self._document, self._is_given = own, True
            self._n_sentences = self._counts.get(sentence_stem(own), 0)
            return own
        name = self._names.get(file) or self._given_name or self._name(file)
        self._names[file] = name
        self._n_documents[name] = self._n_documents.get(name, 0) + 1
        self._document, self._is_given, self._n_sentences = f"{name}-{self._n_documents[name]}", False, 0
        return self._document

    def is_new(self, file: str | None) -> bool:
        """Return whether a file is not that of the last document."""
        return not self._document or file != self._file

    def new_sentence(self) -> str:
        """Return the id of the next sentence of the document."""
        self._n_sentences += 1
        if self._is_given:
            self._counts[sentence_stem(self._document)] = self._n_sentences
        return sentence_id(self._document, self._n_sentences)

    def _name(self, file: str | None) -> str:
        """Return a name for a file: its own without endings, if that is free."""
        stem = "text" if file in (None, STDIN) else name_of(PurePath(PurePath(file).name))
        taken, name, number = set(self._names.values()), stem, 1
        while name in taken:
            number += 1
            name = f"{stem}.{number}"
        return name


def name_of(place: PurePath) -> str:
    """Return a name for a file in a directory: ``2025_letters`` for ``2025/letters.txt.gz``."""
    plain = place.name[:-3] if is_gzip(place.name) else place.name
    whole = "_".join((*place.parent.parts, PurePath(plain).stem))
    return re.sub(r"[^\w.+-]+", "_", unicodedata.normalize("NFC", whole)).strip("_") or "text"
