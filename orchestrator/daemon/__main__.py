"""`python -m orchestrator.daemon`: the daemon in the foreground."""

from __future__ import annotations

import sys

from orchestrator.daemon.service import main

sys.exit(main())
