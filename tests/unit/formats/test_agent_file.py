import json
import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.agent_file import (
    filled,
    read_agent,
    read_kiro_agent,
    render_claude_agent,
    render_kiro_agent,
)
from orchestrator.formats.lines import trimmed
from orchestrator.formats.text import neutral, one_line
from orchestrator.model.agents import Agent, Role
from orchestrator.model.errors import BadFile
from tests.unit.formats.texts import HUB, attempted, junk, lines, names, prose

DEV = Agent(
    "dev",
    role=Role.DEV,
    description="Implement code changes according to plan",
    prompt="System prompt here...",
    tools=("Read", "Write", "Edit", "Bash"),
    model="sonnet",
    source="dev",
)


def claude(text: str) -> Agent:
    return read_agent(text.encode(), "dev", trusted=True)


def faults(read: Callable[..., Agent], text: str, *, trusted: bool = True) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read(text.encode(), "dev", trusted=trusted)
    return [str(fault) for fault in caught.value.faults]


# The document ------------------------------------------------------------------------------------


def test_the_documents_agent_for_claude_is_read_and_written():
    data = (HUB / "agent_dev.md").read_bytes()
    assert read_agent(data, "dev", trusted=False) == DEV
    assert render_claude_agent(DEV).encode() == data


def test_the_documents_agent_for_kiro_is_read_and_written():
    data = (HUB / "agent_dev.json").read_bytes()
    assert read_kiro_agent(data, "dev", trusted=False) == DEV
    assert json.loads(render_kiro_agent(DEV)) == json.loads(data)


def test_the_documents_new_agent_is_read():
    data = (HUB / "agent_security_reviewer.md").read_bytes()
    assert read_agent(data, "x.md", trusted=False) == Agent(
        "security-reviewer",
        description="Security-focused code review",
        prompt="You are a security reviewer. Focus on...",
        tools=("Read", "Grep", "Glob"),
        source="x.md",
    )


# Claude's form -----------------------------------------------------------------------------------


def test_values_are_read_in_every_simple_form():
    agent = claude(
        '\ufeff---\r\nname: "sec"\r\nrole: review  # plays this\r\n'
        "description: 'It''s: a #1 review' # so\r\ntools:\r\n  - Read\r\n  - 'Bash(git log:*)'\r\n\r\n# why\r\n"
        "model: inherit\r\ncolor: blue\r\nskills:\r\n- a\r\n- b\r\nruntime: codex\r\n"
        "---\r\n\r\n\r\n  Be strict.\r\n---\r\nEnd\r\n"
    )
    assert agent == Agent(
        "sec",
        role=Role.REVIEW,
        description="It's: a #1 review",
        prompt="  Be strict.\n---\nEnd",
        tools=("Read", "Bash(git log:*)"),
        runtime="codex",
        source="dev",
    )


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Read, Grep", ("Read", "Grep")),
        ("[Read, 'Grep']", ("Read", "Grep")),
        ("[]", ()),
        ("", ()),
        ('"*"', ("*",)),
        ("Bash(git:*, ls), Read", ("Bash(git:*, ls)", "Read")),
        ("mcp__db__query", ("mcp__db__query",)),
    ],
)
def test_tools_are_listed_in_every_way(value, tools):
    assert claude(f"---\nname: x\ntools: {value}\n---\n").tools == tools


def test_a_role_is_the_name_where_none_is_given():
    assert claude("---\nname: test\n---").role is Role.TEST
    assert claude("---\nname: tester\n---").role is None
    assert claude("---\nname: tester\nrole: test\n---").role is Role.TEST


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("", ["has no `name`", "line 1: has no front matter: begin with a line `---`"]),
        ("name: x\n", ["has no `name`", "line 1: has no front matter"]),
        ("---\nname: x\n", ["has no `name`", "line 1: the front matter is never closed"]),
        ("---\nmodel: opus\n---", ["has no `name`"]),
        ("---\nname: ../x\n---", ["line 2: `name` '../x' is no agent name"]),
        ("---\nname: [a, b]\n---", ["line 2: `name` is a list: write one text"]),
        ("---\nname: x\nrole: boss\n---", ["line 3: `role` is 'boss': write one of pm, explore, plan"]),
        ("---\nname: x\nmodel: --yolo\n---", ["line 3: `model` '--yolo' is no model's name"]),
        ("---\nname: x\nruntime: A\n---", ["line 3: `runtime` 'A' is no runtime name"]),
        ("---\nname: !!python/object x\n---", ["line 2: `name:` holds a tag"]),
        ("---\nname: x\nmodel: &m opus\n---", ["line 3: `model:` holds an anchor"]),
        ("---\nname: x\nmodel: *m\n---", ["line 3: `model:` holds an alias"]),
        ("---\nname: x\ndescription: |\n  a\n---", ["line 3: `description:` holds a block", "line 4: is not"]),
        ("---\nname: x\nhooks:\n  Stop:\n    - a\n---", ["line 4: is not `key: value`: nesting"]),
        ("---\nname: x\nhooks: {a: b}\n---", ["line 3: `hooks:` holds nesting"]),
        ("---\nname: x\ntools:\n  - [a]\n---", ["line 4: `tools:` holds nesting"]),
        ("---\nname: x\ntools:\n  - - a\n---", ["line 4: `tools:` holds nesting"]),
        ("---\nname: x\nname: y\n---", ["line 3: `name:` is in line 2 and in line 3: keep one of them"]),
        ("---\nname: x\n- y\n---", ["line 3: is not `key: value`"]),
        ('---\nname: x\nmodel: "a\n---', ["line 3: `model:` cannot be read: a text in double quotes"]),
        ("---\nname: x\nmodel: 'a\n---", ["line 3: `model:` cannot be read: the single quote is never closed"]),
        ("---\nname: x\nmodel: 'a' b\n---", ["line 3: `model:` goes on after its closing quote"]),
        ("---\nname: x\ntools: [a] b\n---", ["line 3: goes on after its list"]),
        ("---\nname: x\ncommand: sh -c 'a\n---", ["line 3: `command` does not read as a command"]),
        ('---\nname: x\ncommand: ["a\\u0000"]\n---', ["line 3: `command` holds a NUL"]),
        ("---\nname: x\nmodel: [\n---", ["line 3: `model:` holds nesting"]),
    ],
)  # fmt: skip
def test_fault_is_reported_with_its_line(text, reported):
    problems = faults(read_agent, text)
    assert [problem.startswith(start) for problem, start in zip(problems, reported, strict=False)] == [
        True
    ] * len(reported)


# Trust -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["command: python3 x.py", "check: [pytest, -q]", "runtime: command", "command:\n  - sh\n  - x"]
)
def test_a_program_is_taken_from_whom_we_trust_alone(line):
    text = f"---\nname: x\n{line}\n---\n"
    assert claude(text).name == "x"
    (reported,) = faults(read_agent, text, trusted=False)
    assert reported.startswith(f"line 3: `{line.partition(':')[0]}` names a program, which only a template")


@pytest.mark.parametrize("field", ['"command": "sh x"', '"check": ["a"]', '"runtime": "command"'])
def test_a_program_in_json_is_taken_from_whom_we_trust_alone(field):
    text = f'{{"name": "x", {field}}}'
    assert read_kiro_agent(text.encode(), "x", trusted=True).name == "x"
    assert "names a program" in faults(read_kiro_agent, text, trusted=False)[0]


def test_programs_keep_their_places_until_they_are_filled():
    agent = claude("---\nname: x\ncommand: '{python} {template}/a.py --x={template} {other} $(y)'\n---\n")
    assert agent.command == ("{python}", "{template}/a.py", "--x={template}", "{other}", "$(y)")
    assert filled(agent.command, python="/usr/bin/python3", template="/t/{python}") == (
        "/usr/bin/python3",
        "/t/{python}/a.py",
        "--x=/t/{python}",
        "{other}",
        "$(y)",
    )


# Kiro's form -------------------------------------------------------------------------------------


def test_kiros_words_become_claudes():
    text = '{"name": "x", "tools": ["fs_read", "shell", "@db/query", "*"], "model": "auto", "prompt": null, "x": {}}'
    agent = read_kiro_agent(text.encode(), "x", trusted=False)
    assert (agent.tools, agent.model, agent.prompt) == (("Read", "Bash", "@db/query", "*"), "auto", "")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("[]", "line 1: is not a JSON object"),
        ("{}", "has no `name`"),
        ('{"name": "x", "name": "y"}', "holds 'name' twice in one object"),
        ('{"name": "x", "tools": [1]}', '"tools" is neither a text nor a list of texts'),
        ('{"name": {"a": 1}}', '"name" is neither a text nor a list of texts'),
        ('{"name": "x", "prompt": ["a"]}', '"prompt" is a list'),
        ('{"name": "x", "prompt": "a\\u0000"}', "holds a NUL in the prompt"),
        ('{"name": "x", "role": "boss"}', "`role` is 'boss'"),
    ],
)
def test_fault_in_json_is_reported(text, reported):
    assert faults(read_kiro_agent, text)[0].startswith(reported)


# Properties --------------------------------------------------------------------------------------

tools = st.sampled_from(
    ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "mcp__a__b", "Bash(git log:*)", "*"]
)
words = st.lists(
    st.text().filter(lambda text: "\0" not in text and not re.search("[\ud800-\udfff]", text)), max_size=3
)
agents = st.builds(
    Agent,
    name=names.filter(lambda name: name not in list(Role)),
    role=st.none() | st.sampled_from(Role),
    description=lines.map(one_line),
    prompt=prose.map(lambda text: trimmed(neutral(text).split("\n"))),
    tools=st.lists(tools, max_size=4).map(tuple),
    model=st.none() | st.sampled_from(["sonnet", "opus", "haiku", "qwen2.5:7b", "gpt-5/x"]),
    runtime=st.just("auto") | names,
    command=words.map(tuple),
    check=words.map(tuple),
    source=st.just("a"),
)


@given(agents)
def test_an_agent_reads_back_from_claudes_form(agent):
    assert read_agent(render_claude_agent(agent).encode(), "a", trusted=True) == agent


@given(agents)
def test_an_agent_reads_back_from_kiros_form(agent):
    assert read_kiro_agent(render_kiro_agent(agent).encode(), "a", trusted=True) == agent


@given(junk | prose.map(lambda text: f"---\nname: x\n{text}\n---\n".encode("utf-8", "replace")))
def test_any_bytes_are_an_agent_or_a_bad_file(data):
    for read in (read_agent, read_kiro_agent):
        agent, reported = attempted(partial(read, name="a", trusted=False), data)
        assert reported or not agent.command
