"""The ids of documents and sentences that CoNLL-U needs: ``# newdoc id`` and ``# sent_id``."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath


class Identifiers:
    """Makes ids that are unique in one output.

    The second document of ``letters.txt`` is ``letters-2``, and its first sentence ``letters-2-1``. Text without a file
    is named ``text``, and a file whose name is taken gets a number: ``letters.2``.
    """

    def __init__(self) -> None:
        self._names: dict[str | None, str] = {}
        self._n_documents: dict[str, int] = {}
        self._file: str | None = None
        self._document = ""
        self._n_sentences = 0

    def new_document(self, file: str | None) -> str:
        """Begin a document, and return its id."""
        name = self._names.get(file) or self._name(file)
        self._names[file] = name
        self._n_documents[name] = self._n_documents.get(name, 0) + 1
        self._file, self._n_sentences = file, 0
        self._document = f"{name}-{self._n_documents[name]}"
        return self._document

    def is_new(self, file: str | None) -> bool:
        """Return whether a file is not that of the last document."""
        return not self._document or file != self._file

    def new_sentence(self) -> str:
        """Return the id of the next sentence of the document."""
        self._n_sentences += 1
        return f"{self._document}-{self._n_sentences}"

    def _name(self, file: str | None) -> str:
        """Return a name for a file: its own without endings, if that is free."""
        stem = "text" if file is None else PurePath(PurePath(file).name.removesuffix(".gz")).stem
        stem = re.sub(r"[^\w.+-]+", "_", unicodedata.normalize("NFC", stem)).strip("_") or "text"
        taken, name, number = set(self._names.values()), stem, 1
        while name in taken:
            number += 1
            name = f"{stem}.{number}"
        return name
