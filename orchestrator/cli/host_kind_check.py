"""`task doctor KIND:NAME`: reports what keeps agents from a host of a kind, such as a container of an image."""

from __future__ import annotations

from orchestrator.cli.findings import Finding, Severity
from orchestrator.extensions import discover
from orchestrator.formats.location import read_host
from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.model.errors import Refused
from orchestrator.ports.host_kind import kind_and_name


def named_kind(text: str) -> tuple[str, str]:
    """Return the host kind that a text names and what names the host within it; empty if it names a box."""
    try:
        kind, name = kind_and_name(read_host(text))
    except Refused:
        return ("", "")
    if kind not in HOST_KINDS:
        discover()
    return (kind, name) if kind in HOST_KINDS else ("", "")


def of_kind(kind: str, name: str) -> Finding:
    """Return what is found of a host of a kind."""
    lacks = _lacks(kind, name)
    severity = Severity.MISSING if lacks else Severity.OK
    return Finding(f"host {kind}", severity, lacks or f"agents can be run by {kind}:{name}")


def lacking(host: str) -> str:
    """Return what keeps agents from a host, as runs name it; empty if nothing does. Raises Refused."""
    discover()
    return _lacks(*kind_and_name(host))


def _lacks(kind: str, name: str) -> str:
    return HOST_KINDS.find(kind).lacks(name)
