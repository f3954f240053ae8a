"""How a daemon is started: by users, by service managers, by its predecessor."""

from __future__ import annotations

import sys
from typing import Final

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.daemon")
"""`-P`: a folder `orchestrator` in the current directory must not be imported."""
