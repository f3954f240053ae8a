"""A box as a host, in trouble: cuts and kills in the middle of launches and ends, boxes that were emptied, garbage."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.local import LocalHost
from orchestrator.hosts.processes import start_of
from orchestrator.hosts.ssh import box_tmux
from orchestrator.hosts.ssh.host import BoxHost
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.run import Exit
from orchestrator.ports.box_link import Cut, Unreachable
from orchestrator.ports.host import Observation, Standing
from tests.polling import wait_until
from tests.remote.boxes import Boxes
from tests.remote.runs_bench import STARTS, TASK, RunsBench, way_to

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def bench(boxes: Boxes, tmp_path: Path) -> Iterator[RunsBench]:
    made = RunsBench(boxes, tmp_path / "state")
    yield made
    made.end()


# Launches that are cut off ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["session", "box"])
@pytest.mark.thorough(reason="every step of a launch: another test here takes the cable out at one")
def test_link_cut_during_a_launch_never_makes_a_second_agent(bench: RunsBench, how: str) -> None:
    """A link cut at any step of a launch never makes a second agent."""

    def cut() -> None:
        if how == "session":
            bench.box.kill_sessions()
        else:
            bench.box.stop()
            bench.box.start()

    step, reached = 0, True
    while reached:
        step += 1
        run = f"r{step}"
        spec = bench.spec(run, STARTS)
        bench.cut_at(step, cut)
        with suppress(Unreachable):
            bench.host.launch(spec)
        reached = bench.link.steps >= step
        bench.insist(partial(bench.host.launch, spec))
        bench.quiet(run)
        assert bench.starts(run) == 1, f"cut ahead of step {step}"
        assert bench.host.observe(spec.folder).exit == Exit(code=0)
    assert step > 12


@pytest.mark.thorough(reason="every second step of a launch: chaos/test_far.py kills a daemon at one")
def test_daemon_killed_during_a_launch_starts_nothing_twice(bench: RunsBench) -> None:
    """A daemon killed at any step of a launch starts nothing twice."""
    step, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        step += 2
        bench.link.close()
        words = map(str, (bench.boxes.folder, bench.state, bench.box.home, step))
        daemon = [sys.executable, "-m", "tests.remote.runs_bench", *words]
        status = subprocess.run(daemon, cwd=CHECKOUT, check=False, timeout=120).returncode
        assert status in {-signal.SIGKILL, 0}
        bench.host = BoxHost(bench.link, bench.state)
        bench.insist(partial(bench.host.launch, bench.spec("r1", STARTS)))
        bench.quiet("r1")
        assert bench.starts("r1") == 1, f"killed ahead of step {step}"
        shutil.rmtree(bench.there("r1"))
        (bench.box.home / "r1.starts").unlink()
    assert step > 10


def test_cable_out_during_a_launch_leaves_one_agent(bench: RunsBench) -> None:
    """A cable out in the middle of a launch is known and leaves one agent."""
    spec = bench.spec("r1", f"{STARTS}; exec sleep 600")
    with ExitStack() as cable:
        bench.cut_at(8, lambda: cable.enter_context(bench.box.cut()))
        began = time.monotonic()
        with pytest.raises(Cut):
            bench.host.launch(spec)
        assert time.monotonic() - began < 15
    for _ in range(2):
        bench.insist(partial(bench.host.launch, spec))
    wait_until(lambda: bench.starts("r1"), within=30)
    wait_until(lambda: sum(not each.dead for each in bench.host.panes()) == 2)
    assert bench.starts("r1") == 1
    assert bench.standing("r1") is Standing.ALIVE


def test_of_launches_that_a_frozen_tmux_there_kept_back_one_runs(bench: RunsBench, monkeypatch) -> None:
    monkeypatch.setattr(box_tmux, "DEADLINE", 1.0)
    called_off = bench.spec("r2", STARTS)
    with bench.frozen_tmux():
        for spec in (bench.spec("r1", STARTS), bench.spec("r1", STARTS), called_off):
            with pytest.raises(Cut):
                bench.host.launch(spec)
        bench.host.end(called_off.folder, kill=False)
    # What the server was told before it thawed is opened by then.
    monkeypatch.undo()
    bench.insist(bench.host.panes)
    for run, starts in (("r1", 1), ("r2", 0)):
        bench.quiet(run)
        assert bench.starts(run) == starts


def test_run_ended_before_a_retried_launch_never_begins(bench: RunsBench) -> None:
    """One that was ended before a cut off launch is tried again never begins."""
    spec = bench.spec("r1", STARTS)
    bench.host.end(spec.folder, kill=False)
    bench.host.launch(spec)
    bench.quiet("r1")
    assert bench.host.observe(spec.folder).exit == Exit(signal=15)
    assert bench.starts("r1") == 0


@pytest.mark.parametrize("word", ["fence", "end"])
def test_claim_without_pid_is_given_up_after_a_minute(bench: RunsBench, word: str) -> None:
    """Its box was switched off in between, or its disk was full: else it would be nobody's for ever."""
    deeds: dict[str, Callable[[Path], None]] = {
        "fence": bench.host.fence,
        "end": partial(bench.host.end, kill=True),
    }
    deed = deeds[word]
    spec = bench.spec("r1", STARTS)
    claimed = bench.there("r1") / "claimed"
    claimed.parent.mkdir(parents=True)
    claimed.touch()
    deed(spec.folder)
    assert bench.standing("r1") is Standing.CLAIMED
    os.utime(claimed, (0, 0))
    deed(spec.folder)
    assert bench.host.observe(spec.folder) == Observation(Standing.GONE, exit=Exit(signal=15))


def test_run_with_a_pid_is_never_given_up(bench: RunsBench) -> None:
    """One that told its pid is not given up however old its claim is."""
    spec = bench.launched("r1")
    os.utime(bench.there("r1") / "claimed", (0, 0))
    bench.host.fence(spec.folder)
    assert bench.standing("r1") is Standing.ALIVE


@pytest.mark.parametrize("step", [1, 2])
def test_an_end_that_is_cut_off_is_tried_again(bench: RunsBench, step: int) -> None:
    spec = bench.launched("r1", "setsid sleep 700 & exec sleep 600")
    bench.cut_at(step, bench.box.kill_sessions)
    with pytest.raises(Unreachable):
        bench.host.end(spec.folder, kill=True)
    bench.insist(partial(bench.host.end, spec.folder, kill=True))
    bench.quiet("r1")
    assert bench.host.cpu(spec.folder) is None


# What is seen of many -----------------------------------------------------------------------------

GARBAGE = [
    b"",
    b"\n",
    b"pid",
    b"pid 1",
    b"pid 1\nstart x\n",
    b"pid 1\nstart x",
    b"pid 1\nstart x\n.",
    b"pid -1\nstart x\nsession 1\npane %1\n",
    b"pid 0\nstart 0@x\n",
    b"pid 99999999999\nstart x\n",
    b"pid 1 1\nstart $(touch /tmp/x)\nsession `id`\npane ;\n",
    b"\xff\xfe\n",
    b"code 0\nrun 1\nlives\nclaimed\norchestrator-runs-end\n",
    b"code 7\noom_kills 0\n",
    b"code 7\noom_kills 0",
    b"code 7\noom_kills 0\n.\n",
    b"code 1000\n",
    b"signal 9\noom_kills 1\n",
    b"signal 9\noom_kills x\n",
    b"\n" * 5000,
    b"code 0\n" + b"x" * 4000 + b"\n",
    b"x" * 100_000,
    b"%s%n\\n\\0 *\n",
]


def test_many_runs_are_observed_in_one_round_trip(
    bench: RunsBench,
) -> None:
    """Of many runs all is told in one round trip and garbage harms nobody else."""
    bench.launched("alive")
    bench.launched("gone", "exit 3")
    wait_until(lambda: bench.standing("gone") is Standing.GONE)
    for name in ("pid", "exit"):
        for number, data in enumerate(GARBAGE):
            folder = bench.there(f"{name}-{number}")
            folder.mkdir()
            (folder / "claimed").touch()
            (folder / name).write_bytes(data)
        for kind in ("link", "folder", "pipe", "unreadable"):
            folder = bench.there(f"{name}-{kind}")
            folder.mkdir()
            (folder / "claimed").touch()
            place = folder / name
            match kind:
                case "link":
                    place.symlink_to(bench.there("gone") / name)
                case "folder":
                    place.mkdir()
                case "pipe":
                    os.mkfifo(place)
                case _:
                    place.write_bytes(b"code 0\n")
                    place.chmod(0)
    runs = ["alive", *sorted(each.name for each in bench.there("").iterdir()), "never"]
    # The same files on this machine, for they lie on it.
    local = LocalHost(Tmux("none", {}), DiskFiles())
    expected = {bench.folder(run): local.observe(bench.there(run)) for run in runs}
    bench.link.commands = 0
    seen = bench.host.observe_all([bench.folder(run) for run in runs])
    assert bench.link.commands == 1
    assert seen == expected
    assert bench.host.observe_all([bench.folder(run) for run in runs]) == expected
    assert bench.host.observe_all([]) == {}
    assert seen[bench.folder("alive")].standing is Standing.ALIVE
    assert seen[bench.folder("gone")].exit == Exit(code=3)
    assert not Path("/tmp/x").exists()


def test_as_many_as_there_are_can_be_asked_about(bench: RunsBench) -> None:
    runs = [bench.folder("r" * 100 + f"-{number}") for number in range(450)]
    bench.link.commands = 0
    seen = bench.host.observe_all(runs)
    assert seen == dict.fromkeys(runs, Observation(Standing.NOT_CLAIMED))
    assert bench.link.commands == 3


def test_reused_pid_of_an_old_launcher_is_not_touched(bench: RunsBench) -> None:
    """A process that has the number of a launcher of old is not touched."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        folder = bench.there("r1")
        folder.mkdir(parents=True)
        (folder / "claimed").touch()
        before = start_of(other.pid).replace("@", "0@")
        (folder / "pid").write_text(f"pid {other.pid}\nstart {before}\nsession {other.pid}\npane %1\n")
        assert bench.host.observe(bench.folder("r1")).exit == Exit(lost=True)
        for kill in (False, True):
            bench.host.end(bench.folder("r1"), kill=kill)
        assert other.poll() is None
        assert bench.host.cpu(bench.folder("r1")) is None
        other.kill()


# Boxes that were emptied --------------------------------------------------------------------------


@pytest.mark.parametrize("brought", [False, True])
def test_run_without_its_folder_is_unknown(bench: RunsBench, *, brought: bool) -> None:
    """Of a run whose folder is not there any more nothing is believed."""
    spec = bench.launched("r1", f"{STARTS}; exec sleep 600")
    if brought:
        # Another daemon, which has only what was brought here of the run's files.
        bench.folder("r1").mkdir(parents=True)
        (bench.folder("r1") / "claimed").touch()
        bench.host = BoxHost(bench.link, bench.state)
    bench.root.rename(bench.box.home / "away")
    never = {bench.folder("r2"): Observation(Standing.NOT_CLAIMED)}
    seen = bench.host.observe_all([spec.folder, bench.folder("r2")])
    if brought:
        assert seen == never
        with pytest.raises(Unavailable, match="was the box emptied"):
            bench.host.observe(spec.folder)
    else:
        # Its process was seen before, and lives.
        assert seen.pop(spec.folder).standing is Standing.ALIVE
        assert seen == never
    assert not bench.root.exists()
    for deed in (bench.host.launch, lambda spec: bench.host.end(spec.folder, kill=True)):
        with pytest.raises(Unavailable, match="was the box emptied"):
            deed(spec)
    assert not bench.there("r1").exists()
    shutil.rmtree(bench.root)
    (bench.box.home / "away").rename(bench.root)
    assert bench.standing("r1") is Standing.ALIVE
    assert bench.starts("r1") == 1


def test_a_folder_that_cannot_be_made_is_reported(bench: RunsBench) -> None:
    (bench.root / "tasks" / TASK / "runs").write_text("in the way")
    with pytest.raises(Unavailable, match="could not prepare"):
        bench.host.launch(bench.spec("r1", STARTS))
    with pytest.raises(Unavailable, match="could not end"):
        bench.host.end(bench.folder("r1"), kill=False)
    (bench.root / "tasks" / TASK / "runs").unlink()
    with pytest.raises(Refused, match="not a run's path"):
        bench.host.observe(Path("/elsewhere"))
    with pytest.raises(Refused, match="not a run's path"):
        bench.host.observe(bench.state / "tasks" / ".." / ".." / "x")


# tmux there ---------------------------------------------------------------------------------------


def test_the_server_there_is_ours_alone(boxes: Boxes, tmp_path: Path) -> None:
    bench = RunsBench(boxes, tmp_path / "state")
    try:
        shown = bench.host._tmux.cmd("show-environment", "-g").stdout
        given = dict(line.split("=", 1) for line in shown if line)
        assert not [name for name in given if name.startswith("SSH_")]
        assert given["HOME"] == str(bench.box.home)
        assert bench.host._tmux.cmd("show-options", "-gv", "prefix").stdout == ["C-a", ""]
        assert bench.root.stat().st_mode & 0o7777 == 0o700
        (pane,) = bench.host.panes()
        wait_until(lambda: "has sent here: a bench" in bench.host.capture(pane.id, 20))
    finally:
        bench.end()


def test_a_frozen_server_there_holds_up_nobody_for_long(bench: RunsBench, monkeypatch) -> None:
    monkeypatch.setattr(box_tmux, "DEADLINE", 1.0)
    bench.launched("r1")
    with bench.frozen_tmux():
        with pytest.raises(Unavailable):
            bench.host.panes()
        assert bench.standing("r1") is Standing.ALIVE
    bench.insist(bench.host.panes)


def test_agents_events_lie_where_they_are_looked_for(bench: RunsBench) -> None:
    """What an agent program tells lies there where it is looked for."""
    spec = bench.spec("r1", 'echo "{}" | sh "$1/relay.sh"')
    argv = (*spec.argv, str(bench.there("r1")))
    bench.host.launch(replace(spec, argv=argv, files={"settings.json": b"{}"}))
    bench.quiet("r1")
    (event,) = (bench.root / "tasks" / TASK / "requests/events").iterdir()
    assert event.name.startswith("r1.")
    assert event.read_text() == "{}\n"
    assert (bench.there("r1") / "settings.json").read_bytes() == b"{}"
    assert (bench.there("r1") / "answers").is_dir()
    assert {path.stat().st_mode & 0o077 for path in bench.there("r1").iterdir()} == {0}


def test_a_session_that_was_left_is_found_by_the_next_daemon(bench: RunsBench, boxes: Boxes) -> None:
    bench.launched("r1")
    bench.link.close()
    link = way_to(boxes)
    host = BoxHost(link, bench.state)
    host.open_session(TASK, "a bench", bench.state / "tasks" / TASK / "pm.log")
    assert host.observe(bench.folder("r1")).standing is Standing.ALIVE
    assert {pane.run for pane in host.panes()} == {"", "r1"}
    link.close()
