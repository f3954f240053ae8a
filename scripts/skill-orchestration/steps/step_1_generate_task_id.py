#!/usr/bin/env python3
"""`task skill step_1_generate_task_id`: a front, for those who call the protocol by its own names."""

import os
import sys
from pathlib import Path

TASK = Path(__file__).resolve().parents[2] / "task"
os.execv(TASK, ["task", "skill", "step_1_generate_task_id", *sys.argv[1:]])
