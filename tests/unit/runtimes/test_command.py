import subprocess

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.model.hands import Hands
from orchestrator.runtimes import Runtime
from orchestrator.runtimes.command import ANSWER, Command
from orchestrator.runtimes.registry import RUNTIMES, runtime_of
from tests.unit.runtimes.spawns import a_spawn


def test_the_command_is_run_as_it_stands():
    command = ("/bin/sh", "-c", "echo $HOME; {x}", "-n", "")
    launching = Command().launching(a_spawn(agent=Agent("dev", command=command)))
    assert (launching.argv, launching.environment, launching.files) == (command, {}, {})


def test_without_a_command_it_says_what_to_write():
    with pytest.raises(Refused, match=r"agent dev has no command to run: write `dev.command: …`"):
        Command().launching(a_spawn())


def test_command_reports_only_by_its_handoff():
    runtime: Runtime = Command()
    assert (runtime.name, runtime.receipts, runtime.variables) == ("command", False, ())
    assert runtime.event({"hook_event_name": "Stop"}) is None


@pytest.mark.parametrize("runtime", ["auto", "command"])
def test_an_agent_with_a_command_gets_it(runtime):
    assert runtime_of(Agent("dev", runtime=runtime, command=("x",))) is RUNTIMES["command"]


def test_auto_without_a_command_says_what_to_write():
    with pytest.raises(
        Refused, match=r"agent dev names no runtime and no command, and no agent CLI was found"
    ):
        runtime_of(Agent("dev"))


def test_unknown_runtime_is_reported_with_the_known_ones():
    with pytest.raises(Refused, match="agent dev asks for the runtime 'foo': there is command, "):
        runtime_of(Agent("dev", runtime="foo", command=("x",)))


def run_as_text_agent(folder, program):
    """Run a shell command as the program of a text agent whose order is `do it`."""
    (folder / "order.md").write_text("do it\n")
    agent = Agent("dev", command=("sh", "-c", program), hands=Hands.OPERATIONS)
    launching = Command().launching(a_spawn(agent=agent, folder=folder, order=folder / "order.md"))
    for name, data in launching.files.items():
        (folder / name).write_bytes(data)
    return subprocess.run(launching.argv, capture_output=True, text=True, check=False, timeout=30)


@pytest.mark.parametrize(("program", "code"), [("tr a-z A-Z", 0), ("cat; exit 7", 7)])
def test_text_program_gets_its_order_and_its_words_are_kept(tmp_path, program, code):
    """It reads the order on standard input; what it writes is shown and kept; it ends with its own status."""
    done = run_as_text_agent(tmp_path, program)
    said = "DO IT\n" if code == 0 else "do it\n"
    assert (done.returncode, done.stdout, (tmp_path / ANSWER).read_text()) == (code, said, said)


@pytest.mark.parametrize(
    ("program", "code", "kept"),
    [("yes", 0, 1001), ("yes | head -c 1001", 0, 1001), ("yes | head -c 1000; exit 7", 7, 1000)],
)
def test_endless_text_is_cut_where_the_pm_ends_reading(tmp_path, monkeypatch, program, code, kept):
    """One byte more than it reads is kept: so it reports what was wrong, and no disk is filled."""
    monkeypatch.setattr("orchestrator.formats.operations.candidates.TEXT_BYTES", 1000)
    done = run_as_text_agent(tmp_path, program)
    assert (done.returncode, (tmp_path / ANSWER).stat().st_size) == (code, kept)
