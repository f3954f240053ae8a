"""As much of systemd as a unit of ours needs: `small_systemd.py systemctl|supervise …`, in the folder of this copy.

`systemctl` carries out what it is asked by `supervise`, a process that starts the unit's command with nothing but
the unit's environment, hears what it says, and starts it again when it fails.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
LONGEST = 60.0


def main(verb: str, *words: str) -> int:
    if verb == "supervise":
        return supervise(*words)
    (HERE / "calls").open("a").write(f"{shlex.join(words)}\n")
    match words:
        case ("--user", "start", _) | ("--user", "enable", "--now", _):
            return started()
        case ("--user", "restart", _):
            return ended() or started()
        case ("--user", "stop", _) | ("--user", "disable", "--now", _):
            return ended()
        case ("--user", "show", *_):
            sys.stdout.write("".join(f"{key}={value}\n" for key, value in properties().items()))
        case _:
            pass
    return 0


def unit() -> dict[str, list[str]]:
    path = Path(os.environ["HOME"], ".config", "systemd", "user", "agent-orchestrator.service")
    said: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            said.setdefault(key, []).append(value)
    return said


def properties() -> dict[str, str]:
    try:
        return dict(json.loads((HERE / "told").read_text()))
    except FileNotFoundError:
        return {"ActiveState": "inactive", "Result": "success", "MainPID": "0", "ExecMainPID": "0"}


def publish(**news: object) -> None:
    part = HERE / "told.part"
    part.write_text(json.dumps(properties() | {key: str(value) for key, value in news.items()}))
    part.rename(HERE / "told")


def until(state: set[str]) -> str:
    deadline = time.monotonic() + LONGEST
    while (now := properties()["ActiveState"]) not in state:
        if time.monotonic() > deadline:
            return now
        time.sleep(0.01)
    return now


def started() -> int:
    if properties()["ActiveState"] == "active":
        return 0
    publish(ActiveState="activating")
    subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, "supervise", os.environ["HOME"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(HERE / "trouble").open("ab"),
        start_new_session=True,
    )
    return 0 if until({"active", "failed", "inactive"}) == "active" else 1


def ended() -> int:
    if properties()["ActiveState"] != "active":
        return 0
    os.kill(int(properties()["MainPID"]), signal.SIGTERM)
    return 0 if until({"inactive"}) == "inactive" else 1


def supervise(home: str) -> int:
    said = unit()
    given = dict(shlex.split(value)[0].replace("%%", "%").split("=", 1) for value in said["Environment"])
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(f"{HERE}/notify")
        ours.settimeout(0.02)
        while True:
            with Path(said["StandardOutput"][0].removeprefix("append:")).open("ab") as log:
                child = subprocess.Popen(
                    shlex.split(said["ExecStart"][0]),
                    cwd=said["WorkingDirectory"][0],
                    umask=int(said["UMask"][0], 8),
                    env={
                        "HOME": home,
                        "NOTIFY_SOCKET": f"{HERE}/notify",
                        "WATCHDOG_USEC": "120000000",
                        **given,
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            publish(MainPID=child.pid, ExecMainPID=child.pid)
            code = heard(ours, child)
            if code == 0:
                publish(ActiveState="inactive", Result="success", MainPID=0)
                (HERE / "notify").unlink()
                return 0
            publish(ActiveState="activating", Result="signal" if code < 0 else "exit-code", MainPID=0)


def heard(ours: socket.socket, child: subprocess.Popen[bytes]) -> int:
    """Hear what the daemon says until it has ended; return how."""
    while (code := child.poll()) is None:
        try:
            words = ours.recv(4096).decode().split("\n")
        except TimeoutError:
            continue
        with (HERE / "heard").open("a") as file:
            file.write(" ".join(words) + "\n")
        if "READY=1" in words:
            publish(ActiveState="active", Result="success")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
