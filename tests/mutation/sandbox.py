"""Runs a command on a copy of the checkout, where nothing that it does can reach anything else.

A mutant is this project's code with a fault in it, and this project ends processes and removes folders: `kill(pid)`
may become `kill(-1)`. So it runs with the system read-only around it, without a network but its own loopback, with
its own processes, and with a temporary folder that is gone when it ends, as all its processes are.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".mutants"
TREE = KEPT / "tree"
# Where a command finds the folder that it may write to.
OUT = "/tmp/out"
# A loop that was to end may fill a list: no process of the sandbox has more memory, in bytes.
MOST_MEMORY = 8 << 30


class Unusable(Exception):
    """There is no sandbox on this machine: the message says what to do."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit status, or `None` if it took too long, and the last of what it printed."""

    status: int | None
    printed: str = field(repr=False)


def refresh_tree() -> None:
    """Bring the copy in line with the checkout: what git knows or would know, and nothing else."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    names = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    wanted = {name for name in names if (ROOT / name).is_symlink() or (ROOT / name).is_file()}
    for path in [*TREE.rglob("*")] if TREE.is_dir() else []:
        name = path.relative_to(TREE).as_posix()
        if not path.is_dir() and name not in wanted and "__pycache__" not in path.parts:
            path.unlink()
    for name in wanted:
        _bring(ROOT / name, TREE / name)
    for name in (".venv", ".git"):
        place = TREE / name
        if (ROOT / name).is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            place.touch()


def _bring(source: Path, copy: Path) -> None:
    if copy.is_file() and not source.is_symlink():
        here, there = source.stat(), copy.stat()
        if (here.st_size, here.st_mtime_ns, here.st_mode) == (
            there.st_size,
            there.st_mtime_ns,
            there.st_mode,
        ):
            return
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)
    shutil.copy2(source, copy, follow_symlinks=False)


def run(
    command: Sequence[str],
    *,
    seconds: float,
    out: Path | None = None,
    replaced: Mapping[str, Path] | None = None,
    tree_writable: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in the copy, which stands where the checkout stands.

    Args:
        command: the program and its arguments; the checkout's own environment is first on PATH.
        seconds: after which everything that it started is ended.
        out: the one folder of this machine that it may write to; it finds it at `OUT`.
        replaced: files of the copy that are other files, by their path in the checkout.
        tree_writable: whether it may write to the copy, as a run that fills caches does.
        environ: variables beyond PATH, HOME and the language.

    Raises:
        Unusable: if bubblewrap is missing or may not be used here.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise Unusable(
            "mutants run in a sandbox, and bubblewrap is missing: run scripts/setup --boxes (Linux only)"
        )
    mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    mounts += ["--bind" if tree_writable else "--ro-bind", str(TREE), str(ROOT)]
    for name in (".venv", ".git"):
        mounts += ["--ro-bind", str(ROOT / name), str(ROOT / name)]
    for name, path in (replaced or {}).items():
        mounts += ["--ro-bind", str(path), str(ROOT / name)]
    if out is not None:
        mounts += ["--bind", str(out), OUT]
    variables = {
        "PATH": f"{ROOT / '.venv/bin'}:{os.environ.get('PATH', os.defpath)}",
        "HOME": "/tmp",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis",
        "SIMULATION_SEED": "mutants",
        **({} if tree_writable else {"PYTHONDONTWRITEBYTECODE": "1"}),
        **(environ or {}),
    }
    process = subprocess.Popen(
        [
            *(
                bwrap,
                *_apart(),
                "--die-with-parent",
                "--new-session",
                *mounts,
                "--chdir",
                str(ROOT),
                "--",
            ),
            *("bash", "-c", f'ulimit -v {MOST_MEMORY >> 10}; exec "$@"', "-", *command),
        ],
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        printed = None
    finally:
        # The first process of the sandbox is this one's child; with it all others are ended, by the kernel.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if printed is None:
        return Ended(None, "")
    if printed.startswith("bwrap:"):
        raise Unusable(f"mutants run in a sandbox, and this machine has none for them: {printed.strip()}")
    return Ended(process.returncode, printed[-20_000:])


def _apart() -> list[str]:
    """Say what the sandbox has of its own; root keeps the machine's users, since sshd and some tests change theirs."""
    own = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"]
    return own if os.geteuid() == 0 else [*own, "--unshare-user"]
