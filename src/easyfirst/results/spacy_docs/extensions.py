"""What easyfirst adds to spaCy's objects: ``doc._.easyfirst``, ``token._.arc_confidence`` and ``label_confidence``.

A Doc holds its :class:`Document` as it is, and a plain dict after it was stored or sent to another process. The dict
becomes a document again when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from easyfirst.errors import EasyFirstError

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from easyfirst.results.documents import Document

DOCUMENT = "easyfirst"
ARC_CONFIDENCE, LABEL_CONFIDENCE = "arc_confidence", "label_confidence"
_STORED = ("._.", DOCUMENT, None, None)  # where spaCy keeps the values of extensions in Doc.user_data


def require_spacy() -> None:
    """Register the extensions. Raise an :class:`EasyFirstError` if spaCy is not installed."""
    if find_spec("spacy") is None:
        raise EasyFirstError('this needs spaCy; install it with: pip install "easyfirst[spacy]"')
    register()


def register() -> None:
    """Add the extensions to spaCy's classes, and make documents serializable."""
    from spacy.tokens import Doc, Token
    from srsly import msgpack_encoders

    if not Doc.has_extension(DOCUMENT):
        Doc.set_extension(DOCUMENT, getter=get_document, setter=set_document)
    for name in (ARC_CONFIDENCE, LABEL_CONFIDENCE):
        if not Token.has_extension(name):
            Token.set_extension(name, default=None)
    msgpack_encoders.register("easyfirst", func=encode)


def get_document(doc: Doc) -> Document | None:
    """Return the parses of a Doc; None if it has none."""
    stored: Any = doc.user_data.get(_STORED)
    if isinstance(stored, dict):
        from easyfirst.results.spacy_docs.packing import unpack

        stored = doc.user_data[_STORED] = unpack(stored)  # pyright: ignore[reportUnknownArgumentType]
    return stored


def set_document(doc: Doc, document: Document | None) -> None:
    """Store the parses of a Doc, or remove them."""
    if document is None:
        doc.user_data.pop(_STORED, None)
    else:
        doc.user_data[_STORED] = document


def encode(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """Encode a document for msgpack, and leave other values to the next encoder."""
    if type(value).__module__ == "easyfirst.results.documents":
        from easyfirst.results.spacy_docs.packing import pack

        return pack(value)
    return value if chain is None else chain(value)
