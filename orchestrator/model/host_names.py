"""What the machines are called on which runs live. Apart from `run`, since commands need it that load little else."""

from __future__ import annotations

from typing import Final

HERE: Final = "local"
"""This machine."""

KIND_MARK: Final = "://"
"""Stands between a host kind and what names the host within it: `podman://alpine`."""


def is_box(host: str) -> bool:
    """Tell whether a host is a machine over SSH: neither this one nor one of a kind that shares its files."""
    return host != HERE and KIND_MARK not in host
