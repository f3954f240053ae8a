from pathlib import Path

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.runtimes import Runtime
from orchestrator.runtimes.choice import RUNTIMES, runtime_of
from orchestrator.runtimes.command import Command


def test_the_command_is_run_as_it_stands():
    command = ("/bin/sh", "-c", "echo $HOME; {x}", "-n", "")
    assert Command().argv(Agent("dev", command=command), Path("/order.md"), "text") == command


def test_without_a_command_it_says_what_to_write():
    with pytest.raises(Refused, match=r"agent dev has no command to run: write `dev.command: …`"):
        Command().argv(Agent("dev"), Path("/order.md"), "text")


def test_it_exits_and_is_not_typed_into():
    runtime: Runtime = Command()
    assert (runtime.name, runtime.stays_at_prompt) == ("command", False)
    assert runtime.environment(Agent("dev")) == {}


@pytest.mark.parametrize("runtime", ["auto", "command"])
def test_an_agent_with_a_command_gets_it(runtime):
    assert runtime_of(Agent("dev", runtime=runtime, command=("x",))) is RUNTIMES["command"]


def test_auto_without_a_command_says_what_to_write():
    with pytest.raises(Refused, match=r"agent dev names no runtime and no command: write `dev.command: …`"):
        runtime_of(Agent("dev"))


def test_an_unknown_runtime_is_told_with_those_there_are():
    with pytest.raises(Refused, match="agent dev asks for the runtime 'foo': there is command"):
        runtime_of(Agent("dev", runtime="foo", command=("x",)))
