"""The open connections: how many there may be, in all and of each client, and which one makes room for a new one.

When there are too many, the one that has waited longest for its client is closed: an idle one, one whose request is not
complete, or one whose response is not read. A connection whose request is being answered is never closed.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import Protocol

from easyfirst.server.limits import Limits


class Member(Protocol):
    """A connection."""

    @property
    def client(self) -> str:
        """The address of the client."""
        ...

    @property
    def n_unsent(self) -> int:
        """The number of bytes that the client has not read yet."""
        ...

    def evict(self) -> None:
        """Close the connection now."""
        ...


class Connections:
    """The open connections of a server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._clients: dict[Member, str] = {}
        self._counts: Counter[str] = Counter()
        self._waiting: dict[Member, None] = {}  # for their clients, the longest first

    def __len__(self) -> int:
        return len(self._clients)

    def admit(self, member: Member) -> bool:
        """Add a connection, which waits for its client. Return whether there is room for it, or another one made
        room."""
        client = client_of(member.client)
        if self._counts[client] >= self._limits.max_client_connections:
            if not self._evict_one(client):
                return False
        elif len(self._clients) >= self._limits.max_connections and not self._evict_one():
            return False
        self._clients[member] = client
        self._counts[client] += 1
        self.wait(member)
        return True

    def wait(self, member: Member) -> None:
        """Note that a connection waits for its client from now on."""
        if member in self._clients:
            self._waiting.pop(member, None)
            self._waiting[member] = None

    def work(self, member: Member) -> None:
        """Note that a request is complete, so that the client waits for the server."""
        self._waiting.pop(member, None)

    def leave(self, member: Member) -> None:
        """Remove a connection. It may have left before."""
        client = self._clients.pop(member, None)
        self._waiting.pop(member, None)
        if client is not None:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]

    def bound_unsent(self) -> None:
        """Close connections until the responses that clients have not read are small enough to keep."""
        unread = {member: n for member in self._waiting if (n := member.n_unsent)}
        total = sum(unread.values())
        for member, n in unread.items():
            if total <= self._limits.max_bytes_waiting:
                return
            self._evict(member)
            total -= n

    def _evict_one(self, client: str | None = None) -> bool:
        """Close the connection that has waited longest, of one client or of all. Return whether there was one."""
        for member in self._waiting:
            if client is None or self._clients[member] == client:
                self._evict(member)
                return True
        return False

    def _evict(self, member: Member) -> None:
        self.leave(member)
        member.evict()


def client_of(address: str) -> str:
    """Return what is counted as one client: an address, or a network of 64 bits in IPv6, which one client often has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found) >> 64 << 64, 64)))
