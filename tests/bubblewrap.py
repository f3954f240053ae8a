"""Whether bubblewrap can be used on this machine."""

from __future__ import annotations

import shutil
import subprocess


def bwrap_works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    tried = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "true"]
    return subprocess.run(tried, capture_output=True, check=False, timeout=20).returncode == 0
