import os
import time
from pathlib import Path

import bounded


def gone(pid: int) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").is_file() and ") Z " in Path(f"/proc/{pid}/stat").read_text(
            encoding="utf-8"
        ):
            return True
        time.sleep(0.01)
    return False


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    script = f"sleep 600 & echo $$ $! > {tmp_path}/pids; echo waiting; wait"
    ended = bounded.run(["sh", "-c", script], cwd=tmp_path, environment=os.environ, limit=1)
    assert (ended.status, ended.tail) == (None, "waiting\n")
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text(encoding="utf-8").split())


def test_a_program_that_ends_takes_with_it_what_it_left_running(tmp_path):
    script = f"sleep 600 & echo $! > {tmp_path}/pid; exit 7"
    ended = bounded.run(["sh", "-c", script], cwd=tmp_path, environment=os.environ, limit=60)
    assert ended.status == 7
    assert gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_of_a_flood_only_the_end_is_kept(tmp_path):
    script = "head -c 3000000 /dev/zero | tr '\\0' x; echo end"
    ended = bounded.run(["sh", "-c", script], cwd=tmp_path, environment=os.environ, limit=60)
    assert len(ended.tail) == bounded.TAIL_BYTES
    assert ended.tail.endswith("xend\n")
