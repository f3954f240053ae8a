#!/usr/bin/env python3
"""`task skill entry`: a front, for those who call the protocol by its own names."""

import os
import sys
from pathlib import Path

TASK = Path(__file__).resolve().parents[1] / "task"
os.execv(TASK, ["task", "skill", "entry", *sys.argv[1:]])
