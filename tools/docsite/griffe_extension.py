"""The extension of Griffe, which reads docstrings for mkdocstrings, that turns them into Markdown."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object

from tools.docsite.docstrings import as_markdown


class MarkdownDocstrings(Extension):
    """Turns the docstring of every object into Markdown."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Replace the docstring of an object."""
        del kwargs
        if obj.docstring is not None:
            owner = obj if obj.is_class else obj.parent
            obj.docstring.value = as_markdown(obj.docstring.value, owner.name if owner and owner.is_class else "")
