"""The exceptions and warnings of this package.

Every error a user can cause derives from :class:`EasyFirstError`; the command line prints its message and
exits with code 2. Any other exception is a bug and keeps its traceback.
"""

from __future__ import annotations


class EasyFirstError(Exception):
    """The base of all errors this package raises on purpose."""


class DataError(EasyFirstError):
    """Input that cannot be read. The message names the file, the line, and what to do."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.source: str | None = source
        """The name of the file, if there is one."""
        self.line: int | None = line
        """The number of the line, if it is known."""


class ModelError(EasyFirstError):
    """A model directory that is missing, corrupted, foreign, or written by a newer version."""


class ConfigError(EasyFirstError):
    """Settings that are unknown or inconsistent."""


class InputError(EasyFirstError):
    """A sentence given to the parser that it cannot parse as it stands, for example without the tags it needs."""


class LanguageWarning(UserWarning):
    """A text that does not seem to be in the language of the model, so its trees mean little."""


class ConstraintError(DataError):
    """Constraints on a tree that are invalid or unsatisfiable. The message names them and, for CoNLL-U, the line."""

    def __init__(
        self, message: str, *, source: str | None = None, line: int | None = None, conflict: tuple[object, ...] = ()
    ) -> None:
        super().__init__(message, source=source, line=line)
        self.conflict: tuple[object, ...] = conflict
        """A minimal conflict: dropping any one of these makes the rest satisfiable (or a whole cycle)."""
