"""`task mcp`: the SDK's own client in memory, against the server, on a state folder as a daemon leaves it."""

import importlib.util
import json
import os
import sys

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from orchestrator.cli import mcp as verb
from orchestrator.cli.mcp_server.bounded import LARGEST, LEFT_OUT, bounded
from orchestrator.cli.mcp_server.server import make_server
from orchestrator.cli.mcp_server.tools import TOOLS
from tests.json_schemas import faults
from tests.unit.cli.test_imports import imported
from tests.unit.reporting.journal import Lines

READING = ["list", "status", "why", "report", "questions"]
ALL = frozenset({"answer", "start"})
HOSTILE = [
    "../x",
    "/etc/passwd",
    ".",
    "-R",
    "--all",
    "a\nb",
    "a\0b",
    "A",
    "a" * 300,
    "\N{FULLWIDTH LATIN SMALL LETTER T}idy",
    "tidy ",
    "*",
    "$(id)",
]
BRIEF = "# Task: new\n\n## Goal\nGo.\n\n## Success Criteria\n- [ ] done\n\n## Agent Config\n"
AGENTS = "".join(f"{name}.command: true\n" for name in ("explore", "plan", "dev", "test", "review"))


def asked(act, may=frozenset(), run=""):
    """Return what comes of `act`, which talks to a server as its client."""

    async def talk():
        async with Client(make_server(may, run)) as client:
            return await act(client)

    return anyio.run(talk)


def offered(may=frozenset(), run=""):
    async def act(client):
        return (await client.list_tools()).tools

    return asked(act, may, run)


def called(name, arguments, may=frozenset(), run=""):
    async def act(client):
        return await client.call_tool(name, arguments)

    return asked(act, may, run)


def document(tool, may=frozenset(), **arguments):
    """Return the structured result of a call that succeeds; it fits its schema, and its text says the same."""
    result = called(tool, arguments, may)
    assert not result.is_error, result.content[0].text
    found = result.structured_content
    (schema,) = [each.schema for each in TOOLS if each.name == tool]
    assert faults(schema, {key: value for key, value in found.items() if key != LEFT_OUT}) == []
    assert json.loads(result.content[0].text) == found
    return found


def refusal(name, arguments, may=frozenset(), run=""):
    result = called(name, arguments, may, run)
    assert (result.is_error, result.structured_content) == (True, None)
    return result.content[0].text


def written(root):
    return sorted(str(path) for path in root.rglob("*"))


@pytest.fixture
def known_task(house):
    """A task with a journal and a question."""
    home = house.task(questions=[house.question()])
    lines = Lines()
    lines.begin()
    lines.open("r-1", step="dev-1")
    lines.end("r-1")
    lines.say("time_passed", {"kind": "step_reopened", "step": "dev-1", "attempt": 2, "why": "no test"})
    (home / "journal").mkdir()
    (home / "journal" / "0000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return home


@pytest.mark.parametrize(
    ("may", "run", "names"),
    [
        (frozenset(), "", READING),
        (frozenset({"answer"}), "", [*READING, "answer"]),
        (ALL, "", [*READING, "answer", "start"]),
        (ALL, "dev-run", READING),
    ],
)
def test_a_client_is_offered_what_its_user_permitted(house, may, run, names):
    found = offered(may, run)
    assert [each.name for each in found] == names
    for each in found:
        assert each.annotations.read_only_hint == (each.name in READING)
        Draft202012Validator.check_schema(each.input_schema)
        Draft202012Validator.check_schema(each.output_schema)


def test_each_reading_tool_gives_its_verbs_document(known_task, task):
    for words, name, arguments in (
        (["list"], "list", {}),
        (["status", "tidy"], "status", {"task": "tidy"}),
        (["why", "tidy"], "why", {"task": "tidy"}),
        (["why", "tidy", "dev-1", "-n", "1"], "why", {"task": "tidy", "about": "dev-1", "count": 1}),
        (["questions", "tidy"], "questions", {"task": "tidy"}),
    ):
        assert document(name, **arguments) == task(*words, "--json").json
    (report,) = document("report", task="tidy")["reports"]
    (printed,) = task("report", "tidy", "--json").json["reports"]
    assert report["steps"] == printed["steps"]


def test_the_only_task_need_not_be_named(known_task):
    assert document("status")["task"] == "tidy"


def test_an_answer_reaches_the_daemon(known_task, daemon):
    said = document("answer", ALL, task="tidy", question="q1", text="2")
    assert said == {"message": "so be it"}
    assert [each["arguments"] for each in daemon.heard] == [{"question": "q1", "text": "rename"}]


@pytest.mark.parametrize("name", ["answer", "start"])
@pytest.mark.parametrize(
    ("may", "run", "why"),
    [(frozenset(), "", "the user has not permitted"), (ALL, "dev-run", "is not for agents")],
)
def test_what_is_not_permitted_changes_nothing(known_task, house, daemon, name, may, run, why):
    before = written(house.root)
    taken = {
        "answer": {"task": "tidy", "question": "q1", "text": "2"},
        "start": {"name": "new", "project": str(house.project), "task_md": BRIEF + AGENTS},
    }
    assert why in refusal(name, taken[name], may, run)
    assert daemon.heard == []
    assert written(house.root) == before


def test_a_task_is_started_from_the_text_of_its_task_md(house, shop, daemon, monkeypatch):
    def begin(home, request):
        (home / "state.json").write_text(json.dumps(house.state_json(home.name)))
        return True, "new begins"

    # The daemon of these tests lives in their own process, whose environment was fixed before they began.
    monkeypatch.setattr("orchestrator.cli.precheck.environment_of", lambda _: None)
    daemon.reply = begin
    taken = {"name": "new", "project": str(house.project), "task_md": BRIEF + AGENTS}
    assert "new begins" in document("start", ALL, **taken)["message"]
    assert (house.project / "tasks" / "new" / "task.md").read_text() == BRIEF + AGENTS
    assert [each["verb"] for each in daemon.heard] == ["start"]
    assert "says something else" in refusal("start", {**taken, "task_md": BRIEF}, ALL)
    assert (house.project / "tasks" / "new" / "task.md").read_text() == BRIEF + AGENTS


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        ({"task_md": "# Task: new\n"}, "task.md"),
        ({"task_md": BRIEF + "no.such.key: 1\n"}, "task.md"),
        ({}, "has no task.md of new"),
        ({"task_md": BRIEF, "project": "/nowhere/at/all"}, "is not a folder"),
    ],
)
def test_a_start_that_cannot_be_lays_nothing_down(house, daemon, taken, why):
    before = written(house.root)
    assert why in refusal("start", {"name": "new", "project": str(house.project), **taken}, ALL)
    assert (daemon.heard, written(house.root)) == ([], before)


def test_a_client_starts_no_daemon(house):
    """Its environment would be the agent CLI's, and so would that of all agents."""
    before = written(house.root)
    taken = {"name": "new", "project": str(house.project), "task_md": BRIEF}
    assert "the daemon is down: start it in a terminal" in refusal("start", taken, ALL)
    assert written(house.root) == before


def test_hostile_names_are_refused_and_do_nothing(known_task, house, daemon):
    before = written(house.root)
    for name in HOSTILE:
        for tool in ("status", "why", "report", "questions", "answer"):
            more = {"question": "q1", "text": "x"} if tool == "answer" else {}
            assert refusal(tool, {"task": name, **more}, ALL)
        assert refusal("start", {"name": name, "project": str(house.project), "task_md": BRIEF}, ALL)
        assert refusal("answer", {"task": "tidy", "question": name, "text": "x"}, ALL)
    assert (daemon.heard, written(house.root)) == ([], before)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("delete", {"task": "tidy"}, "there is no tool 'delete'"),
        ("status", {"task": "tidy", "force": True}, "force: Extra inputs"),
        ("status", {"task": 7}, "task: Input should be a valid string"),
        ("why", {"task": "tidy", "count": 10**9}, "count: Input should be less than or equal to 100"),
        ("list", {"project": "/a\0b"}, "project: Value error, holds a NUL"),
        ("status", {"task": "nobody"}, "there is no task nobody"),
    ],
)
def test_a_bad_call_is_answered_with_what_is_wrong(known_task, name, arguments, why):
    assert why in refusal(name, arguments)


def test_what_agents_wrote_is_shown_as_text(house):
    """A character that shows as nothing would be read by a model, and by nobody else."""
    hidden = "Keep it?\u202e\U000e0041\x1b]0;x\x07"
    house.task(questions=[house.question(text=hidden)])
    (question,) = document("questions")["questions"]
    assert question["text"] == "Keep it?\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}␛]0;x␇"


def test_a_large_result_is_shortened_and_says_so(house):
    steps = [house.step(f"dev-{number}", title="T" * 3000) for number in range(2000)]
    house.task(steps=steps)
    found = document("status", task="tidy")
    assert len(json.dumps(found)) <= LARGEST
    shown = len(found["steps"])
    assert 0 < shown < 2000
    assert f"steps: {shown} of 2000 are shown" in found[LEFT_OUT]
    assert any("texts are cut to" in each for each in found[LEFT_OUT])


def test_of_decisions_the_newest_are_kept():
    found = bounded({"decisions": [{"at": f"{n:06}", "sentences": ["x" * 90]} for n in range(9000)]})
    assert found["decisions"][-1]["at"] == "008999"


def test_a_small_document_stays_as_it_is():
    small = {"a": [1, None, True, "text"], "b": {"c": []}}
    assert bounded(small) == small


def test_without_the_sdk_it_says_how_to_install_it(house, task, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("orchestrator.cli.mcp_server.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    said = task("mcp")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "'.[mcp]'" in said.err


def test_at_a_terminal_it_says_who_starts_it(house, task, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    said = task("mcp")
    assert (said.code, "speaks with an agent CLI" in said.err) == (2, True)


def test_inside_a_run_its_verb_permits_nothing(house, monkeypatch, task):
    served = []
    monkeypatch.setenv("ORCHESTRATOR_RUN", "dev-run")
    monkeypatch.setattr("orchestrator.cli.mcp_server.server.serve", lambda *said: served.append(said))
    assert task("mcp", "--may", "answer", "start").code == 0
    assert served == [(ALL, "dev-run")]


@pytest.mark.parametrize("words", [("status", "tidy"), ("list",), ("help", "mcp"), ("help",)], ids=" ".join)
def test_no_other_verb_imports_the_sdk(house, words):
    assert importlib.util.find_spec("mcp")
    house.task()
    modules = set(imported(words))
    assert not {name for name in modules if name.partition(".")[0] in {"mcp", "mcp_types", "anyio"}}
    assert not {name for name in modules if name.startswith("orchestrator.cli.mcp_server")}


def test_over_real_stdio_it_is_a_server_of_its_own(known_task, house):
    """As an agent CLI starts it: a process that speaks over two pipes, and ends when they are closed."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def talk():
        words = ["-P", "-m", "orchestrator.cli", "mcp", "--may", "answer"]
        started = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(stdio_client(started)) as client:
            names = [each.name for each in (await client.list_tools()).tools]
            return names, await client.call_tool("status", {"task": "tidy"})

    names, result = anyio.run(talk)
    assert names == [*READING, "answer"]
    assert result.structured_content["task"] == "tidy"


def test_every_permission_is_one_that_the_verb_can_give():
    assert {each.permission for each in TOOLS} - {""} == set(verb.PERMISSIONS)
