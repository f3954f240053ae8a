"""Installs the pinned agent CLIs into a cache of their own: `scripts/clis --help`.

npm and PyPI only. What is there and said its version is left alone; what is there in part is made anew.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.clis.pinned import NODE, STAMP, Pin, default_cache, pins

INSTALLING: Final = 900  # seconds that npm or pip may take over one CLI
ASKING: Final = 60  # seconds that a CLI may take to say its version


class NotHad(Exception):
    """A CLI could not be installed; the message says why."""


def main(words: Sequence[str] | None = None) -> int:
    """Install what is asked for. Returns 0; with `--strict` 1 if something could not be had."""
    parser = _parser()
    asked = parser.parse_args(words)
    cache: Path = asked.into
    known = pins()
    if unknown := [name for name in asked.clis if name not in known]:
        parser.error(f"no such CLI: {', '.join(unknown)}; there are {', '.join(known)}")
    wanted = list(known) if not asked.clis else [NODE, *(name for name in asked.clis if name != NODE)]
    if asked.list:
        for name in wanted:
            _say(f"{name} {known[name].version}: {_where(known[name], cache)}")
        return 0
    cache.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []
    with _alone(cache):
        for name in wanted:
            if known[name].source == "npm" and NODE in missing:
                _say(f"{name} {known[name].version}: NOT HAD: it needs {NODE}")
                missing.append(name)
            elif not _have(known[name], cache):
                missing.append(name)
    if missing:
        _say(f"could not be had: {', '.join(missing)}")
    return 1 if missing and asked.strict else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/clis", description=__doc__)
    parser.add_argument("clis", nargs="*", metavar="CLI", help=", ".join(pins()))
    parser.add_argument("--into", type=Path, default=default_cache(), help="the cache (%(default)s)")
    parser.add_argument("--list", action="store_true", help="say what is there, and install nothing")
    parser.add_argument("--strict", action="store_true", help="fail if one could not be had")
    return parser


def _where(pin: Pin, cache: Path) -> str:
    return str(pin.path(cache)) if pin.is_installed(cache) else "not installed"


def _have(pin: Pin, cache: Path) -> bool:
    """Install one, unless it is there. Says how it went, and returns whether it is there now."""
    if pin.is_installed(cache):
        _say(f"{pin.name} {pin.version}: there")
        return True
    began = time.monotonic()
    _say(f"{pin.name} {pin.version}: installing from {pin.source} …")
    try:
        _install(pin, cache)
    except NotHad as why:
        _say(f"{pin.name} {pin.version}: NOT HAD: {why}")
        return False
    _say(f"{pin.name} {pin.version}: installed in {time.monotonic() - began:.0f} s")
    return True


def _install(pin: Pin, cache: Path) -> None:
    folder = pin.folder(cache)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environ = os.environ | {"PATH": f"{pins()[NODE].path(cache).parent}:{os.environ['PATH']}"}
    for command in _commands(pin, folder):
        _run(command, environ, INSTALLING)
    said = _run([os.fspath(pin.path(cache)), "--version"], environ | {"HOME": os.fspath(folder)}, ASKING)
    if pin.says not in said:
        raise NotHad(f"`{pin.program} --version` does not say {pin.says}, but {said.strip()!r}")
    (folder / STAMP).write_text(said, "utf-8")


def _commands(pin: Pin, folder: Path) -> Iterator[list[str]]:
    wanted = f"{pin.package}@{pin.version}"
    if pin.source == "npm":
        # A package.json of its own: without one npm climbs to the first folder above that has one.
        (folder / "package.json").write_text('{"private": true}\n', "utf-8")
        yield [
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--fetch-retries=1",
            "--fetch-timeout=60000",
            "--prefix",
            os.fspath(folder),
            wanted,
        ]
        return
    yield [sys.executable, "-m", "venv", os.fspath(folder / "venv")]
    pip = [os.fspath(folder / "venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    yield [*pip, "install", "--quiet", "--retries", "2", "--timeout", "30", f"{pin.package}=={pin.version}"]


def _run(command: list[str], environ: dict[str, str], within: float) -> str:
    """Run a command and return what it printed. Raises NotHad with the end of its words."""
    try:
        done = subprocess.run(
            command,
            env=environ,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise NotHad(str(fault)) from fault
    if done.returncode:
        words = " ".join((done.stdout + done.stderr).split())
        raise NotHad(f"{command[0]} ended with {done.returncode}: {words[-600:]}")
    return done.stdout


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Wait for another installer that works on the same cache. The lock ends with this process."""
    with (cache / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another scripts/clis is at work on this cache: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    sys.stderr.write(f"clis: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
