"""Which connection makes room for another one."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

pytest.importorskip("fastapi", reason="the extra 'server' is not installed")

from easyfirst.server.connections import Connections, client_of
from easyfirst.server.limits import Limits


@dataclass(eq=False)
class Member:
    name: str
    client: str = "10.0.0.1"
    n_unsent: int = 0
    evicted: list[str] = field(default_factory=list)

    def evict(self) -> None:
        self.evicted.append(self.name)


@pytest.fixture
def evicted() -> list[str]:
    return []


def test_the_one_that_has_waited_longest_makes_room(evicted: list[str]) -> None:
    found = Connections(Limits(max_connections=3, max_client_connections=3))
    a, b, c, d, e = (Member(name, evicted=evicted) for name in "abcde")
    assert all(map(found.admit, (a, b, c)))
    found.work(a)  # its request is complete
    assert found.admit(d)
    assert evicted == ["b"]
    found.wait(c)  # it has begun a request: from now on, d has waited longest
    assert found.admit(e)
    assert evicted == ["b", "d"]
    assert len(found) == 3


def test_those_that_are_being_answered_are_kept(evicted: list[str]) -> None:
    found = Connections(Limits(max_connections=2, max_client_connections=2))
    a, b, c = (Member(name, evicted=evicted) for name in "abc")
    for each in (a, b):
        assert found.admit(each)
        found.work(each)
    assert not found.admit(c)
    found.wait(c)  # it was not admitted, so it is not counted
    assert (evicted, len(found)) == ([], 2)
    found.leave(c)
    found.leave(a)
    found.leave(a)
    assert found.admit(c)
    assert len(found) == 2


def test_a_client_with_too_many_connections_closes_its_own(evicted: list[str]) -> None:
    found = Connections(Limits(max_connections=10, max_client_connections=3))
    other = Member("other", "10.0.0.2", evicted=evicted)
    assert found.admit(other)
    members = [Member(str(n), evicted=evicted) for n in range(20)]
    assert all(map(found.admit, members))
    assert evicted == [str(n) for n in range(17)]
    assert len(found) == 4
    for member in members[-3:]:
        found.work(member)
    assert not found.admit(Member("one more", evicted=evicted))
    assert found.admit(Member("of another", "10.0.0.3", evicted=evicted))


def test_responses_that_are_not_read_are_bounded(evicted: list[str]) -> None:
    found = Connections(Limits(max_bytes=100))  # 3,200 bytes in all
    a, b, c, d = (
        Member(name, n_unsent=n, evicted=evicted) for name, n in zip("abcd", (900, 0, 1300, 1500), strict=True)
    )
    for each in (a, b, c):
        assert found.admit(each)
    found.bound_unsent()
    assert evicted == []
    assert found.admit(d)
    found.bound_unsent()
    assert evicted == ["a"]


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_clients(address: str, client: str) -> None:
    assert client_of(address) == client
