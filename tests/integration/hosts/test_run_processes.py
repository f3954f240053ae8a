"""Which processes belong to a run, by each of the signs that tell it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.hosts import processes, run_processes
from orchestrator.hosts.processes import Process, start_of, uptime
from orchestrator.hosts.run_processes import (
    CGROUPS,
    MARK,
    Census,
    Censuses,
    Signs,
    group_of,
    members,
    remove_group,
)
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(not processes.LINUX, reason="reads /proc")


class Family:
    """A launcher that leads a session, and what was started beneath it or beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.pids: list[int] = []

    def launcher(self, script: str) -> Process:
        """Start a launcher that runs a script in a session of its own; `begun` notes the last child's pid."""
        begun = f"begun() {{ echo $! >>{self.folder}/begun; }}"
        made = self.start(["sh", "-c", f"{begun}; {script}"], session=True)
        return Process(made.pid, start_of(made.pid))

    def start(
        self, argv: list[str], *, session: bool = False, environ: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        made = subprocess.Popen(argv, start_new_session=session, env=environ, stdin=subprocess.DEVNULL)
        self.started.append(made)
        return made

    def begun(self, count: int) -> list[int]:
        """Wait until so many children have noted their pids, and return these."""
        path = self.folder / "begun"
        wait_until(lambda: path.exists() and len(path.read_text().split()) >= count)
        self.pids = [int(pid) for pid in path.read_text().split()]
        return self.pids

    def end(self) -> None:
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for made in self.started:
            made.kill()
            made.wait()


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    made = Family(tmp_path)
    yield made
    made.end()


def found(signs: Signs) -> set[int]:
    return {row.process.pid for row in Census().of(signs)}


def kill(launcher: Process, family: Family) -> None:
    os.kill(launcher.pid, signal.SIGKILL)
    next(made for made in family.started if made.pid == launcher.pid).wait()


def test_session_and_mark_are_found_and_nobody_else(family: Family) -> None:
    launcher = family.launcher("env -i sleep 600 & begun; sleep 600 & begun; wait")
    own = set(family.begun(2)) | {launcher.pid}
    left = family.start(["sleep", "600"], session=True, environ={MARK: str(launcher)})
    family.start(["sleep", "600"], session=True, environ={MARK: f"{launcher}0", "X": f"{MARK}={launcher}"})
    assert found(Signs(launcher, launcher.pid)) == own | {left.pid}


def test_child_is_found_without_mark_or_session(family: Family) -> None:
    """Child of a marked process is found without mark or session."""
    launcher = family.launcher("exec sleep 600")
    script = f"setsid env -i sleep 600 & echo $! >>{family.folder}/begun; exec sleep 600"
    marked = family.start(["sh", "-c", script], session=True, environ={MARK: str(launcher), **_path()})
    (child,) = family.begun(1)
    wait_until(lambda: b"sleep" in Path(f"/proc/{child}/cmdline").read_bytes())
    assert found(Signs(launcher)) == {marked.pid, child}


def test_what_bears_the_mark_of_another_run_belongs_to_that(family: Family) -> None:
    launcher = family.launcher("exec sleep 600")
    script = f"env {MARK}=1@another sleep 600 & echo $! >>{family.folder}/begun; exec sleep 600"
    marked = family.start(["sh", "-c", script], session=True, environ={MARK: str(launcher), **_path()})
    (child,) = family.begun(1)
    wait_until(lambda: b"another" in Path(f"/proc/{child}/environ").read_bytes())
    assert found(Signs(launcher)) == {marked.pid}


def test_session_shows_what_began_while_its_launcher_lived(family: Family) -> None:
    """After that its number may be another's, and nobody is taken for one of the run by it."""
    launcher = family.launcher("trap '' HUP; env -i sleep 600 & begun; wait")
    (child,) = family.begun(1)
    lived_until = uptime()
    kill(launcher, family)
    assert found(Signs(launcher, launcher.pid)) == set()
    assert found(Signs(launcher, launcher.pid, lived_until=lived_until)) == {child}
    before = Process(child, start_of(child)).began - 1
    assert found(Signs(launcher, launcher.pid, lived_until=before)) == set()


def test_a_marked_member_vouches_for_its_session(family: Family) -> None:
    marked = f"env {MARK}=$$@$(cut -d' ' -f22 /proc/$$/stat)@$(cat /proc/sys/kernel/random/boot_id) sleep 600"
    launcher = family.launcher(f"trap '' HUP; {marked} & begun; env -i sleep 600 & begun; wait")
    children = set(family.begun(2))
    wait_until(lambda: found(Signs(launcher)) & children)
    kill(launcher, family)
    assert found(Signs(launcher, launcher.pid)) == children


def test_this_process_is_never_one_of_a_run() -> None:
    me = Process(os.getpid(), start_of(os.getpid()))
    assert me.pid not in found(Signs(me, os.getsid(0)))


def test_a_process_that_begins_during_the_look_is_found(family: Family, monkeypatch) -> None:
    """It was started by one that is gone by the time at which it is looked at."""
    launcher = family.launcher("exec sleep 600")
    kill(launcher, family)
    late: list[int] = []
    look = processes.rows_of

    def and_meanwhile(wanted: set[int]) -> list[processes.Row]:
        if not late:
            late.append(family.start(["sleep", "600"], session=True, environ={MARK: str(launcher)}).pid)
        return look(wanted)

    monkeypatch.setattr(run_processes, "rows_of", and_meanwhile)
    assert found(Signs(launcher)) == set(late)


def test_one_census_serves_all_runs_that_had_ended_by_then(family: Family, monkeypatch) -> None:
    ended = [family.launcher("exec sleep 600") for _ in range(3)]
    wait_until(lambda: uptime() > max(each.began for each in ended) + 0.05)
    for each in ended:
        kill(each, family)
    taken = _counted(monkeypatch)
    censuses = Censuses()
    assert [censuses.left_by(Signs(each)) for each in ended] == [[], [], []]
    assert len(taken) == 1


def test_a_run_that_began_after_a_census_needs_its_own(family: Family, monkeypatch) -> None:
    censuses = Censuses()
    first = family.launcher("exec sleep 600")
    wait_until(lambda: uptime() > first.began + 0.05)
    kill(first, family)
    assert censuses.left_by(Signs(first)) == []
    later = family.launcher("exec sleep 600")
    left = family.start(["sleep", "600"], session=True, environ={MARK: str(later)})
    kill(later, family)
    taken = _counted(monkeypatch)
    assert [row.process.pid for row in censuses.left_by(Signs(later))] == [left.pid]
    assert len(taken) == 1
    left.kill()
    left.wait()
    assert censuses.left_by(Signs(later)) == []


def test_a_young_census_serves_all_who_signal(family: Family, monkeypatch) -> None:
    """Time stands still: a census is as young as it was. Who begins after it is in a new one, all the same."""
    there = [family.launcher("exec sleep 600") for _ in range(3)]
    at = _stopped_clock(monkeypatch)
    taken, censuses = _counted(monkeypatch), Censuses()
    for each in there:
        assert [row.process for row in censuses.recent(each).of(Signs(each, each.pid))] == [each]
    assert len(taken) == 1
    later = family.launcher("exec sleep 600")
    assert [row.process for row in censuses.recent(later).of(Signs(later, later.pid))] == [later]
    assert len(taken) == 2
    at[0] += 1
    censuses.recent(later)
    assert len(taken) == 3


def test_a_census_since_a_moment_began_no_earlier(monkeypatch) -> None:
    at = _stopped_clock(monkeypatch)
    taken, censuses = _counted(monkeypatch), Censuses()
    first = censuses.since(at[0])
    assert censuses.since(at[0]) is first
    assert censuses.since(at[0] + 1) is not first
    assert len(taken) == 2


# Control groups -------------------------------------------------------------------------------------


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A control group that may be entered, of a launcher that is none."""
    launcher = Process(os.getpid(), start_of(os.getpid()))
    group = next(filter(None, (_made(launcher, str(mount)) for mount in CGROUPS)), None)
    if group is None:
        pytest.skip("no control group can be made here")
    yield group
    wait_until(lambda: not members(group))
    remove_group(group)
    assert not group.exists()


def test_process_without_mark_or_parent_is_found_by_cgroup(family: Family, cgroup: Path) -> None:
    """Who has no mark session or parent left is found by cgroup."""
    launcher = family.launcher("exec sleep 600")
    hides = f"echo 0 >{cgroup}/cgroup.procs; setsid env -i sleep 600 & echo $! >>{family.folder}/begun"
    family.start(["sh", "-c", hides], session=True).wait()
    (hidden,) = family.begun(1)
    assert found(Signs(launcher)) == set()
    assert found(Signs(launcher, cgroup=cgroup)) == {hidden}
    os.kill(hidden, signal.SIGKILL)


def test_a_cgroup_beneath_belongs_to_the_run_and_goes_with_it(family: Family, cgroup: Path) -> None:
    nested = cgroup / "nested" / "more"
    nested.mkdir(parents=True)
    hides = f"echo 0 >{nested}/cgroup.procs; exec env -i sleep 600"
    hidden = family.start(["sh", "-c", hides], session=True)
    wait_until(lambda: members(cgroup) == {hidden.pid})
    remove_group(cgroup)
    assert nested.exists(), "it is in use"
    hidden.kill()


@pytest.mark.parametrize(
    "parent", ["", "/", "/tmp", "/sys/fs/cgroup/../../tmp", "relative", "/sys/fs/cgroups"]
)
def test_what_a_launcher_says_leads_to_no_other_place(parent: str) -> None:
    assert group_of(Process(1, "2@boot"), parent) is None
    assert group_of(Process(1, "../2@boot"), "/sys/fs/cgroup") is None


def _made(launcher: Process, mount: str) -> Path | None:
    group = group_of(launcher, mount)
    assert group is not None
    try:
        group.mkdir()
        (group / "cgroup.procs").read_text()
    except OSError:
        with suppress(OSError):
            group.rmdir()
        return None
    return group


def _stopped_clock(monkeypatch) -> list[float]:
    """Have the time of censuses stand still at what can be changed here."""
    at = [time.monotonic()]
    monkeypatch.setattr(run_processes, "time", SimpleNamespace(monotonic=lambda: at[0]))
    return at


def _path() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}


def _counted(monkeypatch) -> list[Callable[[], Census]]:
    taken: list[Callable[[], Census]] = []

    class Counted(Census):
        def __init__(self) -> None:
            taken.append(Census)
            super().__init__()

    monkeypatch.setattr(run_processes, "Census", Counted)
    return taken


def test_a_cgroup_may_vanish_while_it_is_read(tmp_path, monkeypatch) -> None:
    """Another thread removes the groups of ended runs meanwhile; that once ended a look at the process table."""
    (tmp_path / "group" / "beneath" / "it").mkdir(parents=True)
    (tmp_path / "group" / "beneath" / "cgroup.procs").write_text("7\n")
    (tmp_path / "group" / "cgroup.procs").write_text("5\n")
    scandir = os.scandir

    def too_late(folder: str | Path) -> Iterator[os.DirEntry[str]]:
        if str(folder).endswith("beneath"):
            shutil.rmtree(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", too_late)
    assert members(tmp_path / "group") == {5}
    assert members(tmp_path / "group" / "beneath") == set()
