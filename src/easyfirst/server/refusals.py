"""What the server answers when it cannot do what it was asked for: a status of HTTP and a sentence that says why."""

from __future__ import annotations

from easyfirst.errors import EasyFirstError


class RefusedError(EasyFirstError):
    """A request that is not served."""

    status = 422
    headers: dict[str, str] = {}  # noqa: RUF012 (never changed)


class BadRequestError(RefusedError):
    """It cannot be read."""

    status = 400


class ForbiddenError(RefusedError):
    """It comes from a page of another site."""

    status = 403


class SlowBodyError(RefusedError):
    """Its body does not arrive in time."""

    status = 408


class TooLargeError(RefusedError):
    """It has more bytes or words than the server takes."""

    status = 413


class MediaTypeError(RefusedError):
    """Its body is something else than JSON."""

    status = 415


class WrongHostError(RefusedError):
    """It is meant for another host."""

    status = 421


class BusyError(RefusedError):
    """Too many others are waiting, or the server is about to stop."""

    status = 503
    headers = {"Retry-After": "1"}  # noqa: RUF012


class TooSlowError(RefusedError):
    """It took too long."""

    status = 504
