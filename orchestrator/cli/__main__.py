"""`python -m orchestrator.cli` is `task`."""

import sys

from orchestrator.cli.main import main

sys.exit(main())
