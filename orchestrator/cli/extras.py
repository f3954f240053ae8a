"""Says of libraries that are an extra, and not installed, how to install them."""

from __future__ import annotations

import importlib.util
from typing import Final

from orchestrator.cli.exits import CommandError, Exit

OF_OBSERVER: Final = {"traces": "opentelemetry.exporter.otlp.proto.http", "metrics": "prometheus_client"}
"""The extras that a setting of the same name in `[observer]` needs, each with a module that only it brings."""


def is_installed(extra: str) -> bool:
    """Return whether an extra of `OF_OBSERVER` is installed."""
    try:
        return importlib.util.find_spec(OF_OBSERVER[extra]) is not None
    except ModuleNotFoundError:
        return False


def require(extra: str, need: str) -> None:
    """Check that an extra of `OF_OBSERVER` is there. Raises CommandError: it is not; `need` says what needs what."""
    if not is_installed(extra):
        raise CommandError(Exit.FAILED, f"{need}, which is an extra: {remedy(extra)}")


def remedy(*extras: str) -> str:
    """Return how extras are installed, as a clause."""
    wanted = f"'.[{','.join(extras)}]'"
    return f"in this program's folder, `pipx install --force {wanted}` or `python3 -m pip install {wanted}`"
