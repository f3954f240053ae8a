"""Everything that a daemon will ever import, imported at its start.

Its package may be replaced at any time: a later import would load another version.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

import orchestrator
from orchestrator.formats.prices import shipped_prices

_NOT_OURS: Final = (
    "orchestrator.cli",
    "orchestrator.demo",
    "orchestrator.testing",
    "orchestrator.notifications.senders",
    # Read by commands, with Jinja2 and SQLite: a tenth of a second.
    "orchestrator.reporting",
    "orchestrator.records.memory",
    "orchestrator.records.observer",
    "orchestrator.records.advice",
    "orchestrator.records.passages",
    "orchestrator.records.daily_report",
    "orchestrator.records.task_",
    # By the extras, which `task observe` alone uses.
    "orchestrator.records.otlp",
    "orchestrator.records.prometheus_text",
)
_LATE: Final = (
    "encodings.utf_8_sig",
    "rapidfuzz.fuzz",
    "pydantic._internal._dataclasses",
    "pydantic.dataclasses",
    "pydantic.plugin._loader",
)
"""What is imported only on first use; found by `integration/daemon/test_imports.py`."""


def preload() -> None:
    """Import every module of the daemon, and everything that would be imported late."""
    for module in pkgutil.walk_packages(orchestrator.__path__, "orchestrator.", onerror=_raise):
        if not module.name.startswith(_NOT_OURS) and not module.name.endswith(".__main__"):
            import_module(module.name)
    for name in _LATE:
        import_module(name)
    shipped_prices()  # cached from now on: its file may vanish with the package


def _raise(name: str) -> None:
    raise ImportError(f"{name} cannot be imported: this installation is incomplete, install it again")
