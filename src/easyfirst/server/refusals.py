"""The errors that refuse a request, each with its HTTP status."""

from __future__ import annotations

from easyfirst.errors import EasyFirstError


class RefusedError(EasyFirstError):
    """A request that is refused."""

    status = 422
    headers: dict[str, str] = {}  # noqa: RUF012 (never changed)


class BadRequestError(RefusedError):
    """A request that cannot be read."""

    status = 400


class ForbiddenError(RefusedError):
    """A request from a page of another site."""

    status = 403


class SlowBodyError(RefusedError):
    """A request whose body does not arrive in time."""

    status = 408


class TooLargeError(RefusedError):
    """A request with more bytes or words than the server takes."""

    status = 413


class MediaTypeError(RefusedError):
    """A request whose body is not JSON."""

    status = 415


class WrongHostError(RefusedError):
    """A request for another host."""

    status = 421


class BusyError(RefusedError):
    """A request that finds too many others waiting, or the server shutting down."""

    status = 503
    headers = {"Retry-After": "1"}  # noqa: RUF012


class TooSlowError(RefusedError):
    """A request that took too long."""

    status = 504
