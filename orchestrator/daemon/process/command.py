"""How a daemon is started: by users, by service managers, by its predecessor."""

from __future__ import annotations

import sys
from typing import Final

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.daemon")
"""`-P`: a folder `orchestrator` where somebody stands is not ours to import."""
