"""The ids of documents and sentences, as all formats can hold them."""

from __future__ import annotations

from easyfirst.errors import InputError


def document_id(given: object) -> str:
    """Return an id as a text without line ends: white space becomes single spaces, and bytes are read as UTF-8.

    The result is empty if nothing else is left. Raise an :class:`InputError` for bytes that are not UTF-8.
    """
    if isinstance(given, bytes):
        try:
            given = given.decode()
        except UnicodeDecodeError:
            raise InputError(f"the id {given!r} is not UTF-8; give texts or numbers as ids") from None
    return " ".join(str(given).split())


def sentence_stem(doc_id: str) -> str:
    """Return what the ids of the sentences of a document begin with. They have no spaces."""
    return doc_id.replace(" ", "_")


def sentence_id(doc_id: str, number: int) -> str:
    """Return the id of a sentence of a document."""
    return f"{sentence_stem(doc_id)}-{number}"
