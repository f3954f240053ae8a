import tomllib

import pytest

from orchestrator.formats.agent_forms import (
    render_codex_agent,
    render_gemini_agent,
    render_opencode_agent,
)
from orchestrator.formats.front_matter import read_front_matter
from orchestrator.model.agents import Agent

DEV = Agent(
    "dev",
    description='Implements: "all" of it',
    tools=("Read", "Edit", "Bash", "Odd"),
    model="sonnet",
    prompt="Do it.\n\n---\nWell.",
)


def test_gemini_form_has_its_own_tool_names_and_fields():
    found = read_front_matter(render_gemini_agent(DEV))
    assert found.faults == []
    assert {key: field.value for key, field in found.fields.items()} == {
        "name": "dev",
        "description": 'Implements: "all" of it',
        "tools": ("read_file", "read_many_files", "list_directory", "replace", "run_shell_command"),
    }
    assert found.body.strip() == DEV.prompt


def test_without_tools_there_is_no_list_which_means_all():
    assert "tools" not in render_gemini_agent(Agent("dev", tools=("Odd",)))
    assert "permission" not in render_opencode_agent(Agent("dev"))


def test_opencode_is_denied_what_the_agent_may_not_do():
    head, body = render_opencode_agent(DEV).split("\n---\n", 1)
    assert head == (
        '---\ndescription: "Implements: \\"all\\" of it"\nmode: all\npermission:\n  webfetch: deny'
    )
    assert body.strip() == DEV.prompt
    looks = render_opencode_agent(Agent("explore", tools=("Read",)))
    assert "permission:\n  edit: deny\n  bash: deny\n  webfetch: deny\n" in looks


@pytest.mark.parametrize("prompt", ["Do it.", "'''", 'a\\b """ \x07', "ends in a quote'", ""])
def test_codex_reads_back_what_is_written(prompt):
    found = tomllib.loads(render_codex_agent(Agent("dev", description='a "b"', prompt=prompt)))
    assert found["name"] == "dev"
    assert found["description"] == 'a "b"'
    assert found["developer_instructions"].strip() == prompt.replace("\x07", "\u2407")


@pytest.mark.parametrize("render", [render_codex_agent, render_gemini_agent, render_opencode_agent])
def test_a_description_is_always_there(render):
    assert "The agent dev" in render(Agent("dev"))
