"""`relay.sh`, in every shell that there is: what a hook is told reaches the PM whole, and the answer the hook."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.daemon.ingest.events import _NAME
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.launcher import checked_file, lay_down
from orchestrator.model.errors import Refused
from orchestrator.ports.host import RELAY, LaunchSpec
from orchestrator.runtimes.hooks import CAUTION, CAUTION_FILES
from tests.chaos.machine import fill_up
from tests.polling import wait_until

SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]
RUN = "r-0123abcd"


@dataclass
class Hooked:
    """A run's folder, and hooks in it."""

    home: Path
    shell: list[str]

    @property
    def run(self) -> Path:
        return self.home / "runs" / RUN

    @property
    def inbox(self) -> Path:
        return self.home / "requests" / "events"

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self.shell, str(self.run / RELAY), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"PATH": os.environ["PATH"]},
        )

    def report(self, said: bytes, *words: str) -> bytes:
        """Let a hook tell something and return what it printed."""
        return self.start(*words).communicate(said, timeout=20)[0]

    def events(self) -> list[Path]:
        return sorted(self.inbox.iterdir())


@pytest.fixture(params=SHELLS)
def hooked(request: pytest.FixtureRequest, tmp_path: Path) -> Hooked:
    home = tmp_path / "it's a #{home} $(x)"
    made = Hooked(home, [request.param, *(["sh"] if request.param == "busybox" else [])])
    spec = LaunchSpec(RUN, made.run, ("true",), tmp_path, "s", "w", files={"settings.json": b"{}"})
    made.run.mkdir(parents=True)
    lay_down(DiskFiles(), spec)
    made.inbox.mkdir(parents=True)
    return made


@pytest.mark.parametrize("said", [b"", b'{"a": "\\u00fc `$HOME` %s \\n"}', b"x" * 3_000_000])
def test_an_event_is_whole_under_a_name_that_is_read(hooked: Hooked, said: bytes) -> None:
    assert hooked.report(said) == b""
    (event,) = hooked.events()
    assert event.read_bytes() == said
    assert _NAME.fullmatch(event.name)
    assert event.name.startswith(f"{RUN}.")
    assert event.stat().st_mode & 0o077 == 0


def test_one_that_waits_prints_the_answer_and_nothing_else(hooked: Hooked) -> None:
    hook = hooked.start("waits", "no")
    assert hook.stdin is not None
    hook.stdin.write(b"{}")
    hook.stdin.close()
    (event,) = wait_until(lambda: [each for each in hooked.events() if not each.name.startswith(".")])
    assert event.name.endswith(".waits.json")
    assert hook.poll() is None
    answers = hooked.run / "answers"
    answers.mkdir()
    DiskFiles().write(answers / event.name.removesuffix(".waits.json"), b'{"decision": "allow"}')
    assert hook.wait(timeout=20) == 0
    assert hook.stdout is not None
    assert hook.stdout.read() == b'{"decision": "allow"}'
    hook.stdout.close()


def test_failed_relay_answers_with_the_fallback_at_once(hooked: Hooked) -> None:
    """What cannot be handed over is answered by the fallback at once."""
    shutil.rmtree(hooked.inbox)
    assert hooked.report(b"{}", "waits", '{"decision": "deny"}') == b'{"decision": "deny"}'
    assert hooked.report(b"{}", "waits", "") == b""
    assert hooked.report(b"{}") == b""


@pytest.fixture
def small_disk(hooked: Hooked) -> Iterator[Path]:
    """The task's folder for events on a disk of its own, which is full in a moment."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", str(hooked.inbox)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield hooked.inbox
    umount = ["umount", str(hooked.inbox)]
    wait_until(lambda: not subprocess.run(umount, capture_output=True, check=False).returncode)


@pytest.mark.parametrize("words", [(), ("waits", '{"decision": "deny"}')])
def test_on_a_full_disk_a_hook_waits_for_room_then_reports(
    hooked: Hooked, small_disk: Path, words: tuple[str, ...]
) -> None:
    """A hook that gave up printed its fallback, and the program asked at its own screen, for ever."""
    said = b'{"a": "' + b"x" * 9000 + b'\\n"}\n\n'
    filler = small_disk / "filler"
    fill_up(small_disk)
    hook = hooked.start(*words)
    assert hook.stdin is not None
    hook.stdin.write(said)
    hook.stdin.close()
    first = wait_until(lambda: sleeper(hook.pid))
    wait_until(lambda: sleeper(hook.pid) not in {0, first})
    assert [each.name for each in hooked.events()] == ["filler"], "it leaves nothing half"
    filler.unlink()
    (event,) = wait_until(lambda: [each for each in hooked.events() if not each.name.startswith(".")])
    assert event.read_bytes() == said
    if words:
        assert hook.poll() is None, "it waits for its answer"
        answers = hooked.run / "answers"
        answers.mkdir()
        DiskFiles().write(answers / event.name.removesuffix(".waits.json"), b"yes")
    assert hook.wait(timeout=20) == 0
    assert hook.stdout is not None
    assert hook.stdout.read() == (b"yes" if words else b"")
    hook.stdout.close()


def sleeper(pid: int) -> int:
    """Return the number of the `sleep` that a shell waits for between two tries; 0 if there is none just now."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text() == "sleep\n":
                return int(child)
    return 0


def test_many_at_once_are_each_an_event(hooked: Hooked) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: hooked.report(str(number).encode()), range(24)))
    assert sorted(int(event.read_bytes()) for event in hooked.events()) == list(range(24))


@pytest.mark.parametrize("name", ["../x", "launch.sh", "exit", "exit.new", "", "a/b", "A", ".x", "answers"])
def test_a_runtime_cannot_lay_a_file_over_ours(name: str) -> None:
    with pytest.raises(Refused):
        checked_file(name)


def test_caution_is_shown_ahead_of_one_tool_call(hooked: Hooked) -> None:
    """What the pm has to say is said ahead of one tool call and no more."""
    answers = hooked.run / "answers"
    (hooked.run / CAUTION).write_bytes(CAUTION_FILES[CAUTION])

    def calls() -> bytes:
        script = [*hooked.shell, str(hooked.run / CAUTION)]
        return subprocess.run(script, input=b"{}", capture_output=True, check=True, timeout=20).stdout

    assert calls() == b""
    answers.mkdir()
    assert calls() == b""
    DiskFiles().write(answers / "caution", b'{"a": "%s"}\n')
    assert [calls(), calls()] == [b'{"a": "%s"}\n', b""]
    # A daemon that is started again may write it once more.
    DiskFiles().write(answers / "caution", b"again")
    assert calls() == b""
