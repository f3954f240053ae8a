"""One driver for each agent CLI."""

from __future__ import annotations

from tests.clis.drivers.aider import Aider
from tests.clis.drivers.claude import Claude
from tests.clis.drivers.codex import Codex
from tests.clis.drivers.driver import Driver
from tests.clis.drivers.gemini import Gemini
from tests.clis.drivers.opencode import Opencode

DRIVERS: dict[str, Driver] = {
    "aider": Aider(),
    "claude": Claude(),
    "codex": Codex(),
    "gemini": Gemini(),
    "opencode": Opencode(),
}

__all__ = ["DRIVERS", "Driver"]
