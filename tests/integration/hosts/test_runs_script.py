"""The script that looks at the runs of a box, by the shells that there are, and where there is no /proc."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.hosts.processes import Process, alive, pids, rows_of, start_of
from orchestrator.hosts.run_processes import MARK
from orchestrator.hosts.ssh import runs
from orchestrator.hosts.ssh.runs import ROOT, Answered, RunQuery, read_answer, read_observations, read_used
from orchestrator.model.run import Exit, Leftover
from orchestrator.ports.host import Observation, Standing
from tests.polling import wait_until

FOLDER = "tasks/it's #{a} task/runs/r1"


class Script:
    """The script in a home of its own."""

    def __init__(self, home: Path, shell: list[str], *, proc: bool) -> None:
        self.home = home
        self.folder = home / ROOT / FOLDER
        self._shell = shell
        self._proc = proc

    def ask(self, verb: str, *words: str) -> Answered:
        _, dash_c, text, *rest = runs.command(verb, *words)
        if not self._proc:
            text = text.replace("/proc/", f"{self.home}/no-proc/")
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [*self._shell, dash_c, text, *rest],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=True,
        )
        assert done.stderr == b""
        return read_answer(done.stdout)

    def observe(self, seen: Observation | None = None) -> Observation | None:
        asked = [RunQuery(FOLDER, seen)]
        (found,) = read_observations(self.ask("observe", *runs.observing(asked)[6:]), asked)
        return found

    def launcher(self, text: str) -> list[str]:
        """Return the command of a launcher of the run, which does something else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "launch.sh").write_text(f"{text}\n")
        return ["/bin/sh", str(self.folder / "launch.sh")]

    def launched(self, pid: int) -> None:
        """Write down what a launcher would have written of itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "claimed").touch()
        start = start_of(pid) if self._proc else _lstart(pid)
        (self.folder / "pid").write_text(f"pid {pid}\nstart {start}\nsession {pid}\npane %1\n")


def _lstart(pid: int) -> str:
    words = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(
        words, env=os.environ | {"LC_ALL": "C"}, capture_output=True, text=True, check=True
    ).stdout.strip()


# A bash before 5.1 writes here-documents to files: on this one's disk for these there is no room.
FULL = ["bash", "-c", 'BASH_COMPAT=50 TMPDIR=/proc exec bash "$@"', "no room in /tmp"]
SHELLS = [
    shell
    for shell in (["dash"], ["bash", "--posix"], ["bash"], ["busybox", "sh"], FULL)
    if shutil.which(shell[0])
]


@pytest.fixture(params=[*((shell, True) for shell in SHELLS), (["sh"], False)], ids=str)
def script(request: pytest.FixtureRequest, tmp_path: Path) -> Script:
    shell, proc = request.param
    if proc and not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc here")
    return Script(tmp_path / "a $HOME", shell, proc=proc)


@pytest.fixture
def agent(script: Script) -> Iterator[subprocess.Popen[bytes]]:
    """Give what leads a session, ignores TERM, and outlives what runs in it by a moment, as a launcher does."""
    with subprocess.Popen(
        script.launcher("trap '' TERM; echo ready; sleep 600 & sleep 600; exit 3"),
        start_new_session=True,
        stdout=subprocess.PIPE,
    ) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == b"ready\n"
        yield made
        with suppress(ProcessLookupError):
            os.killpg(made.pid, signal.SIGKILL)


def test_a_look_makes_nothing(script: Script) -> None:
    script.home.mkdir()
    assert script.observe() == Observation(Standing.NOT_CLAIMED)
    assert read_used(script.ask("cpu", FOLDER)) is None
    assert list(script.home.iterdir()) == []


def test_a_run_lives_is_ended_and_gone(script: Script, agent: subprocess.Popen[bytes]) -> None:
    script.launched(agent.pid)
    seen = script.observe()
    assert seen is not None
    assert (seen.standing, seen.pid, seen.pane) == (Standing.ALIVE, agent.pid, "%1")
    assert script.observe(seen) == seen
    (script.folder / "pid").unlink()
    # Of one that was seen alive only its process is looked at.
    assert script.observe(seen) == seen
    (script.folder / "pid").write_text(f"pid {agent.pid}\nstart {seen.start}\nsession {agent.pid}\npane %1\n")
    script.ask("end", FOLDER, "", "TERM")
    assert agent.poll() is None
    script.ask("end", FOLDER, "", "KILL")
    assert agent.wait(timeout=10) == 3
    assert script.observe(seen) == Observation(Standing.GONE, agent.pid, "%1", Exit(lost=True))


def test_another_process_of_the_same_number_is_none_of_it(
    script: Script, agent: subprocess.Popen[bytes]
) -> None:
    script.launched(agent.pid)
    text = (script.folder / "pid").read_text().replace("start ", "start 1")
    (script.folder / "pid").write_text(text)
    for how in ("TERM", "KILL"):
        script.ask("end", FOLDER, "", how)
    assert agent.poll() is None
    found = script.observe()
    assert found is not None
    assert found.exit == Exit(lost=True)


def test_a_run_that_nobody_claimed_never_begins(script: Script) -> None:
    script.home.mkdir()
    for _ in range(2):
        script.ask("end", FOLDER, "", "TERM")
        assert script.observe() == Observation(Standing.GONE, exit=Exit(signal=signal.SIGTERM))
    assert script.ask("prepare", FOLDER, "", "inbox").lines == [b"claimed"]
    assert script.folder.stat().st_mode & 0o7777 == 0o700
    assert (script.home / ROOT).stat().st_mode & 0o7777 == 0o700


def test_a_claim_that_was_seen_and_is_not_there_makes_nothing(script: Script) -> None:
    script.home.mkdir()
    assert script.ask("end", FOLDER, "known", "KILL").lines == [b"missing"]
    assert script.ask("prepare", FOLDER, "known", "inbox").lines == [b"missing"]
    assert not script.folder.exists()


def test_processor_time_is_that_of_the_living(script: Script) -> None:
    with subprocess.Popen(script.launcher("while :; do :; done"), start_new_session=True) as busy:
        script.launched(busy.pid)
        if script._proc:
            wait_until(lambda: (read_used(script.ask("cpu", FOLDER)) or 0) > 0.02)
        else:
            assert read_used(script.ask("cpu", FOLDER)) is None
        busy.kill()


# A file that names a stranger -----------------------------------------------------------------------


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that leads a session of its own, and belongs to no run."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as made:
        yield made
        made.kill()


@pytest.fixture
def pair(script: Script) -> Iterator[subprocess.Popen[bytes]]:
    """Give the leader of a session, and a launcher beneath it, as launch.sh has them."""
    words = script.launcher("(echo ready; sleep 600; exit 3)\nexit $?")
    with subprocess.Popen(words, start_new_session=True, stdout=subprocess.PIPE) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == b"ready\n"
        yield made
        with suppress(ProcessLookupError):
            os.killpg(made.pid, signal.SIGKILL)


def test_a_pid_that_names_a_stranger_is_not_believed(
    script: Script, stranger: subprocess.Popen[bytes]
) -> None:
    script.launched(stranger.pid)
    assert script.observe() == Observation(Standing.CLAIMED)
    for how in ("TERM", "KILL"):
        script.ask("end", FOLDER, "", how)
    assert read_used(script.ask("cpu", FOLDER)) is None
    assert stranger.poll() is None


@pytest.mark.parametrize("lives", [True, False])
def test_a_session_that_a_stranger_leads_is_not_ended(
    script: Script, agent: subprocess.Popen[bytes], stranger: subprocess.Popen[bytes], *, lives: bool
) -> None:
    script.launched(agent.pid)
    text = (script.folder / "pid").read_text()
    (script.folder / "pid").write_text(text.replace(f"session {agent.pid}", f"session {stranger.pid}"))
    if not lives:
        os.killpg(agent.pid, signal.SIGKILL)
        agent.wait()
        (script.folder / "exit").write_text("code 0\noom_kills 0\nuptime 999999999\n")
    script.ask("end", FOLDER, "", "KILL")
    assert stranger.poll() is None


@pytest.mark.parametrize("script", [(shell, True) for shell in SHELLS], indirect=True, ids=str)
@pytest.mark.parametrize("spoilt", ["", "pid 1\n", "a stranger", None])
def test_a_launcher_whose_pid_is_spoilt_is_found(
    script: Script, pair: subprocess.Popen[bytes], stranger: subprocess.Popen[bytes], spoilt: str | None
) -> None:
    script.launched(stranger.pid)
    if spoilt is None:
        (script.folder / "pid").unlink()
        os.utime(script.folder / "claimed", (0, 0))
    elif spoilt != "a stranger":
        (script.folder / "pid").write_text(spoilt)
    (launcher,) = {row.process for row in rows_of(pids()) if row.parent == pair.pid}
    assert script.observe() == Observation(Standing.ALIVE, launcher.pid, start=launcher.start)
    script.ask("end", FOLDER, "", "KILL")
    wait_until(lambda: not alive(launcher))
    assert stranger.poll() is None


# What outlives a launcher ---------------------------------------------------------------------------


WITH_PROC = pytest.mark.parametrize("script", [(shell, True) for shell in SHELLS], indirect=True, ids=str)
"""Without /proc nothing tells of it."""


@pytest.fixture
def left(script: Script) -> Iterator[subprocess.Popen[bytes]]:
    """Give what bears the mark of a run whose launcher is gone, in a session of its own."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as launcher:
        script.launched(launcher.pid)
        mark = f"{launcher.pid}@{start_of(launcher.pid)}"
        launcher.kill()
    environ = {"A": "b", MARK: mark, "Z": "y"}
    with subprocess.Popen(["sleep", "600"], start_new_session=True, env=environ) as made:
        yield made
        made.kill()


@WITH_PROC
@pytest.mark.parametrize("exit_", [Exit(code=3), Exit(lost=True)])
def test_what_outlives_a_launcher_is_reported_and_ended(
    script: Script, left: subprocess.Popen[bytes], exit_: Exit
) -> None:
    if exit_.code is not None:
        (script.folder / "exit").write_text(f"code {exit_.code}\noom_kills 0\nuptime 12.34\n")
    seen = script.observe()
    assert seen is not None
    assert (seen.standing, seen.left) == (Standing.LEFT, (Leftover(left.pid, "sleep"),))
    assert seen.exit == exit_
    script.ask("end", FOLDER, "", "TERM")
    assert left.wait(timeout=10) == -signal.SIGTERM
    assert script.observe() == Observation(Standing.GONE, _pid(script), "%1", exit_)


@WITH_PROC
def test_session_shows_what_began_while_the_launcher_lived(script: Script) -> None:
    """Its session tells of what began while the launcher lived."""
    if not script._proc:
        pytest.skip("without /proc nothing tells of it")
    words = ["sh", "-c", "trap '' HUP; env -i sleep 600 & echo $!; wait"]
    with subprocess.Popen(words, start_new_session=True, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        wait_until(
            lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n"
        )  # not the shell's fork any more
        script.launched(launcher.pid)
        launcher.kill()
    try:
        assert _standing(script) is Standing.GONE, "its number may be another's by now"
        began = Process(child, start_of(child)).began
        (script.folder / "exit").write_text(f"code 0\noom_kills 0\nuptime {began - 1:.2f}\n")
        assert _standing(script) is Standing.GONE
        (script.folder / "exit").write_text(f"code 0\noom_kills 0\nuptime {began + 1:.2f}\n")
        seen = script.observe()
        assert seen is not None
        assert seen.left == (Leftover(child, "sleep"),)
    finally:
        os.kill(child, signal.SIGKILL)


@WITH_PROC
@pytest.mark.parametrize("said", ["/tmp", "/sys/fs/cgroup/../..", "relative", "/sys/fs/cgroupx"])
def test_a_control_group_is_looked_for_nowhere_else(script: Script, tmp_path: Path, said: str) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as launcher:
        script.launched(launcher.pid)
        launcher.kill()
    with (script.folder / "pid").open("a") as file:
        file.write(f"cgroup {said}\n")
    assert _standing(script) is Standing.GONE


def _standing(script: Script) -> Standing | None:
    seen = script.observe()
    return None if seen is None else seen.standing


def _pid(script: Script) -> int:
    return int((script.folder / "pid").read_text().split()[1])
