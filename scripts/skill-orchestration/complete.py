#!/usr/bin/env python3
"""`task skill complete`: a front, for those who call the protocol by its own names."""

import os
import sys
from pathlib import Path

TASK = Path(__file__).resolve().parents[1] / "task"
os.execv(TASK, ["task", "skill", "complete", *sys.argv[1:]])
