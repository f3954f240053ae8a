#!/usr/bin/env python3
"""`task skill dispatcher`: a front, for those who call the protocol by its own names."""

import os
import sys
from pathlib import Path

TASK = Path(__file__).resolve().parents[0] / "task"
os.execv(TASK, ["task", "skill", "dispatcher", *sys.argv[1:]])
