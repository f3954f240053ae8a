"""A runtime that only the settings define."""

from __future__ import annotations

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.model.event import EventKind, Reply, Say
from orchestrator.model.programs import SHIPPED, Program
from orchestrator.runtimes.claude import SETTINGS, Claude
from orchestrator.runtimes.configured import Configured
from orchestrator.runtimes.registry import RUNTIMES, runtime_known, runtime_of
from orchestrator.runtimes.screens import dialog_on
from tests.unit.runtimes.spawns import SPAWN, a_spawn

QWEN = Program("qwen", ("qwen", "--model={model}", "-i", "{prompt}"), variables=("QWEN_*",))
HOOKED = Program(
    "own",
    ("own", "--settings", "{folder}/claude-settings.json", "{prompt}"),
    resume=("own", "--resume", "{session}", "{prompt}"),
    environment=(("DISABLE_AUTOUPDATER", "0"), ("OWN", "1")),
    events="claude",
)


def test_no_runtime_that_ships_can_be_defined_anew():
    assert set(RUNTIMES) < set(SHIPPED)


def test_an_agent_gets_it_by_its_name():
    runtime = runtime_of(Agent("dev", runtime="qwen"), (QWEN,))
    assert (runtime.name, runtime.variables, runtime.receipts) == ("qwen", ("QWEN_*",), False)
    with pytest.raises(Refused, match=r"asks for the runtime 'other': there is command.*, qwen"):
        runtime_of(Agent("dev", runtime="other"), (QWEN,))


def test_runtime_removed_from_the_settings_yields_no_events():
    assert runtime_known(Agent("dev", runtime="qwen"), ()) is RUNTIMES["command"]


def test_places_are_filled_in_once():
    spawn = a_spawn(prompt="say {order}; $HOME", agent=Agent("dev", model="big"))
    assert Configured(QWEN).launching(spawn).argv == ("qwen", "--model=big", "-i", "say {order}; $HOME")


def test_granted_folders_are_words_or_one_list():
    program = Program("x", ("x", "--add", "{granted}", "--in={granted}", "{order}"))
    one, two = map(str, SPAWN.granted)
    argv = Configured(program).launching(SPAWN).argv
    assert argv == ("x", "--add", one, two, f"--in={one},{two}", str(SPAWN.order))


def test_it_speaks_as_another_with_its_files_and_environment():
    runtime = runtime_of(Agent("dev", runtime="own"), (HOOKED,))
    launching = runtime.launching(SPAWN)
    assert launching.argv == ("own", "--settings", f"{SPAWN.folder}/{SETTINGS}", SPAWN.prompt)
    assert launching.files == Claude().launching(SPAWN).files
    assert launching.environment == dict(Claude().launching(SPAWN).environment) | {
        "DISABLE_AUTOUPDATER": "0",
        "OWN": "1",
    }
    assert runtime.receipts
    event = runtime.event({"hook_event_name": "UserPromptSubmit", "prompt": "x", "session_id": "s"})
    assert event
    assert (event.kind, event.session) == (EventKind.TAKEN, "s")
    assert runtime.answer(Reply(Say.GO_ON, "on")) == Claude().answer(Reply(Say.GO_ON, "on"))


def test_a_conversation_goes_on_by_its_session():
    resumed = Configured(HOOKED, Claude()).launching(a_spawn(resumes="abc"))
    assert resumed.argv == ("own", "--resume", "abc", SPAWN.prompt)


def test_lost_conversation_is_known_as_by_the_shipped_runtime() -> None:
    assert not Configured(HOOKED, Claude()).remembers(b'{"type":"mode"}')
    assert Configured(HOOKED, Claude()).remembers(b'{"type":"user"}')
    assert Configured(QWEN).remembers(b"")


def test_without_a_way_to_go_on_it_begins_anew():
    assert Configured(QWEN).launching(a_spawn(resumes="abc")).argv[0:2] == ("qwen", "--model=")


def test_one_that_speaks_as_nobody_here_is_not_launched():
    with pytest.raises(Refused, match="speaks as claude, which is not here"):
        Configured(HOOKED).launching(SPAWN)


def test_its_screens_are_read_by_a_file_of_the_users(tmp_path):
    rules = tmp_path / "own.toml"
    rules.write_text("[[dialog]]\nname = 'which way'\npattern = 'left or right'\nwithin = 1\n")
    runtime = Configured(Program("own", ("own", "{prompt}"), screens=str(rules)))
    assert dialog_on("left or right?\n", runtime.screens) == "which way"
    assert runtime.launching(SPAWN).argv[0] == "own"


@pytest.mark.parametrize(
    "text",
    [None, "[[dialog]]\nname = 'x'\n", "[[dialog]]\npattern = '('\nname = 'x'\nwithin = 1", "dialog = 3"],
)
def test_invalid_screen_rules_are_reported_before_launch(tmp_path, text):
    rules = tmp_path / "own.toml"
    if text is not None:
        rules.write_text(text)
    runtime = Configured(Program("own", ("own", "{prompt}"), screens=str(rules)))
    assert runtime.screens == ()
    with pytest.raises(Refused, match=r"own\.toml of runtime own do not read"):
        runtime.launching(SPAWN)
