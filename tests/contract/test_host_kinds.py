"""The published suite for host kinds, held against the simplest one: this machine, wrapped by nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.hosts.host_kinds import HOST_KINDS, host_of_kind
from orchestrator.hosts.wrapped import WrappedHost
from orchestrator.model.errors import Refused
from orchestrator.ports.host import Host, LaunchSpec
from orchestrator.ports.host_kind import HostKind
from orchestrator.testing.contracts.hosts import HostKindContract


class Plain(WrappedHost):
    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        return spec


class PlainKind:
    def lacks(self, name: str) -> str:
        return ""

    def host(self, name: str, local: Host) -> Host:
        return Plain(local)


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    def make() -> HostKind:
        return PlainKind()

    HOST_KINDS.register("plain", make, "plain 1.0")
    yield
    HOST_KINDS.unregister("plain")


class TestPlain(HostKindContract):
    kind = "plain"

    def name(self, folder: Path) -> str:
        return "any"


@pytest.mark.parametrize("host", ["local", "me@box", "box:22", "[::1]:22", "nokind://x"])
def test_what_is_no_host_of_a_kind_is_refused(host) -> None:
    with pytest.raises(Refused):
        host_of_kind(host, Plain(None))  # type: ignore[arg-type]
