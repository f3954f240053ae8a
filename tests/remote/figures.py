"""What the way to a box costs, beside its floors: `python -m tests.remote.figures`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh import sftp
from orchestrator.hosts.ssh.box import question
from orchestrator.hosts.ssh.channel import Channel
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.marks import check_marks
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.hosts.ssh.sync import FOLDERS, LocalPaths, TaskSync
from orchestrator.model.boxes import Address
from orchestrator.ports.box_link import Cut
from orchestrator.ports.host import LaunchSpec, Standing
from tests.polling import wait_until
from tests.remote.boxes import MISSING, Box, Boxes, boxes, may_isolate
from tests.remote.pulling import pull

_TIMES = 20
_IDLE = 20.0


def _seconds(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def _row(what: str, seconds: list[float]) -> None:
    low, middle, high = (1000 * each for each in (min(seconds), median(seconds), max(seconds)))
    sys.stdout.write(f"{what:<52} {low:8.1f} {middle:8.1f} {high:8.1f} ms\n")
    sys.stdout.flush()


def _noticed(link: Link, box: Box) -> float:
    """Return how long after a cut a command that runs is known to be cut off."""
    ended: list[float] = []

    def run() -> None:
        try:
            link.run(["sleep", "60"], deadline=60)
        except Cut:
            ended.append(time.monotonic())

    runner = threading.Thread(target=run)
    runner.start()
    while not any("sleep" in _command(each.pid) for each in box.processes()):
        time.sleep(0.01)
    with box.cut():
        began = time.monotonic()
        runner.join()
    # The box was told nothing of the end: what ran there still does.
    box.kill_sessions()
    wait_until(lambda: not box.sessions())
    return ended[0] - began


def _pulls(user: Boxes, box: Box, link: Link, folder: str, count: int) -> None:
    """Measure pulls of a task with so many files in a folder, beside the floor: its mark, and one rsync."""
    name = f"{folder}-{count}"
    there = RemotePaths(f"{name}-0123abcd", name, str(box.home), str(box.home / "own"))
    home = user.folder / name
    here = LocalPaths(home / "task", home / "home", home / "mirror")
    here.folder.mkdir(parents=True)
    sync = TaskSync(link, DiskFiles(), there, here, os.environ)
    sync.prepare()
    for number in range(count):
        (box.home / "tasks" / name / folder / f"dev-{number:05}.md").write_text("done\n")
    mirror = Mirror(link, home / "floor", os.environ)

    def floor() -> None:
        check_marks(link, [there.shared], there.task)
        mirror.bring([f"{there.shared}/./{folder}"])

    def bring() -> None:
        assert not pull(sync, ["r-1"]).ended

    def one_more() -> None:
        handoff = box.home / "tasks" / name / "handoffs" / f"new-{time.monotonic_ns()}.md"
        handoff.write_text("done\n")
        sync.pull_control(["r-1"])
        assert (home / "task/handoffs" / handoff.name).exists()

    what = f"{count} {folder}"
    floor()
    _row(f"floor: mark and rsync, {what}, nothing new", [_seconds(floor) for _ in range(_TIMES)])
    began = time.monotonic()
    while pull(sync, ["r-1"]).more:
        pass
    _row(f"pulls, {what}, all new", [time.monotonic() - began])
    _row(f"pull, {what}, nothing new", [_seconds(bring) for _ in range(_TIMES)])
    _row(f"pull, {what}, a new handoff is here", [_seconds(one_more) for _ in range(_TIMES)])


def _files(box: Box, link: Link) -> None:
    def put() -> None:
        with sftp.opened(link) as there:
            for number in range(5):
                there.put(f"{box.home}/file-{number}", bytes(4000))

    _row("five files of 4 KB by SFTP", [_seconds(put) for _ in range(_TIMES)])


def _runs(box: Box, link: Link, state: Path) -> None:
    task = state / "tasks" / "figures-0123abcd"
    host = BoxHost(link, state)
    host.open_session(task.name, "figures", task / "pm.log")
    runs = [task / "runs" / f"r{number}" for number in range(_TIMES)]

    def launch(folder: Path) -> None:
        argv = ("sleep", "600")
        host.launch(
            LaunchSpec(folder.name, folder, argv, box.home, task.name, "dev", {"PATH": os.environ["PATH"]})
        )
        while host.observe(folder).standing is not Standing.ALIVE:
            time.sleep(0.001)

    _row("launch, until it is seen alive", [_seconds(partial(launch, run)) for run in runs])
    _row("observe one of them", [_seconds(lambda: host.observe(runs[0])) for _ in range(_TIMES)])
    _row("observe all 20", [_seconds(lambda: host.observe_all(runs)) for _ in range(_TIMES)])
    afresh = [_seconds(lambda: BoxHost(link, state).observe_all(runs)) for _ in range(_TIMES)]
    _row("observe all 20, none seen before", afresh)
    _row("every pane", [_seconds(host.panes) for _ in range(_TIMES)])
    _row("end by KILL, until it is gone", [_seconds(partial(host.end, run, kill=True)) for run in runs])


def _handoffs(box: Box, link: Link, files: int) -> None:
    """Measure how long after a rename there a line is read here, and what the program that tells costs idle."""
    there = RemotePaths("told-0123abcd", "told", str(box.home), str(box.home / "own"))
    make_folders(link, there, list(FOLDERS))
    folder = Path(there.shared) / "handoffs"
    for number in range(files):
        (Path(there.shared) / "artifacts" / str(number)).touch()
    channel = Channel(link, [there], os.environ)
    wait_until(lambda: channel.read(1))

    def one() -> float:
        while channel.read(0.3):
            pass
        (folder / ".tmp-new").touch()
        began = time.monotonic()
        (folder / ".tmp-new").rename(folder / f"dev-{time.monotonic_ns()}.md")
        assert wait_until(lambda: channel.read(1))
        return time.monotonic() - began

    _row("a handoff renamed there, told here", [one() for _ in range(_TIMES)])
    busy = [_processor(each.pid) for each in box.sessions()]
    began = time.monotonic()
    while time.monotonic() - began < _IDLE:
        channel.read(1)
    spent = sum(_processor(each.pid) for each in box.sessions()) - sum(busy)
    share = 100 * spent / (time.monotonic() - began)
    sys.stdout.write(
        f"the channel ({channel.how}), nothing new, {files} files{share:24.2f} % of a processor\n"
    )
    channel.close()


def _processor(pid: int) -> float:
    """Return the processor time that a process spent, in seconds, with what its ended children did."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:  # noqa: PTH123 - a process, not a file of ours
            return file.read()
    except OSError:
        return ""


def _figures(user: Boxes) -> None:
    box = user.add("alpha")
    link = Link(Address("alpha"), user.folder / "s", os.environ, config=user.config, connect=60)

    def fresh() -> None:
        link.close()
        link.run(["true"])

    def floor() -> None:
        made = next(path for path in (user.folder / "s").iterdir() if path.is_socket())
        raw = ["ssh", "-F", "none", "-S", str(made), "--", "alpha", "true"]
        subprocess.run(raw, check=True, stdin=subprocess.DEVNULL)

    _row(
        "floor: ssh true, a connection of its own",
        [_seconds(lambda: user.ssh("--", "alpha", "true")) for _ in range(5)],
    )
    _row("connect, and one command", [_seconds(fresh) for _ in range(5)])
    _row("floor: ssh true over the shared connection", [_seconds(floor) for _ in range(_TIMES)])
    _row("Link.run true", [_seconds(lambda: link.run(["true"])) for _ in range(_TIMES)])
    _row(
        "what a box is like, one round trip",
        [_seconds(lambda: link.run(question("/", ["git"]))) for _ in range(_TIMES)],
    )
    _files(box, link)
    _runs(box, link, user.folder / "state")
    for folder in ("artifacts", "handoffs"):
        for count in (10, 10_000):
            _pulls(user, box, link, folder, count)
    _handoffs(box, link, 10_000)
    noticed = []
    for _ in range(3):
        link.again()
        noticed.append(_noticed(link, box))
    _row("cable out (or sshd frozen), known", noticed)
    link.close()


if __name__ == "__main__":
    if MISSING:
        sys.exit(f"{' and '.join(MISSING)} missing: scripts/setup --boxes installs them")
    kind = "a network namespace behind a veth pair" if may_isolate() else "a port of loopback"
    sys.stdout.write(f"the box is {kind}; least, median, most\n")
    with boxes() as user:
        _figures(user)
