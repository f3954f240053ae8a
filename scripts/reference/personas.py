"""The page about the personas of workflows, from the definitions that ship."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from orchestrator.formats.persona_file import Invocation, Persona, read_persona
from orchestrator.shipped import shipped
from scripts.reference.markdown import code, page, sentence, table

_INTRODUCTION: Final = """\
`agent-orchestrator setup-agents --workflow` writes these into a project: personas that design a workflow of agents and
look after it, and the templates of its agents' instructions. They are not written by default, as more than twenty
descriptions and nine commands would stand in each conversation of people who never design a workflow. Change the files
as you like; `--remove` takes away those that you did not change.

Where nothing else is said, a path is in `tasks/NAME/orchestration/`."""

_INTERACTIVE: Final = """\
In Claude Code, Gemini CLI and opencode each is a slash command, with which a conversation takes the persona on. Codex
and Kiro have no commands in a project: there it is an agent (`kiro-cli chat --agent plan-developer`), and in Codex you
ask for it, with the skill `agent-workflow`."""

_AUTONOMOUS: Final = """\
Each is an agent of its own: of the designer, of the risk assessment, or of a plan, as a `persona` there."""

_TEMPLATES: Final = """\
The instruction writer makes each agent's `agent_instructions.md` of one of these. No agent reads a template. They are
in the folder `protocols` beside the CLI's agents, for example in `.claude/protocols/`."""

_CODE: Final = """\
Setting up directories, `shared_status.json`, the sequence of runs and the archival are not left to agents: the program
does them. Files that no persona writes are the program's."""

_WORKFLOW: Final = shipped("agents") / "workflow"


def persona_pages() -> Iterator[tuple[str, str]]:
    """Yield the page about personas."""
    personas = [read_persona(path.read_bytes(), path.name) for path in sorted(_WORKFLOW.glob("*.md"))]
    talking = [each for each in personas if Invocation.INTERACTIVE in each.invocation]
    working = [each for each in personas if Invocation.AUTONOMOUS in each.invocation]
    templates = sorted((_WORKFLOW / "protocols").glob("*.md"))
    yield (
        "personas.md",
        page(
            "Personas of workflows",
            _INTRODUCTION,
            f"## In a conversation\n\n{_INTERACTIVE}",
            _rows(talking, "command", lambda each: f"/{each.command.name} NAME"),
            f"## By themselves\n\n{_AUTONOMOUS}",
            _rows(working, "agent", lambda each: each.agent.name),
            f"## Templates\n\n{_TEMPLATES}",
            table(["template", "for"], ([code(path.name), _kinds(path.read_text())] for path in templates)),
            f"## What is code\n\n{_CODE}",
        ),
    )


def _rows(personas: Iterable[Persona], first: str, called: Callable[[Persona], str]) -> str:
    rows = (
        (
            code(called(each)),
            sentence(each.agent.description),
            ", ".join(map(code, each.writes)) or "nothing: it answers",
        )
        for each in personas
    )
    return table([first, "what for", "writes"], rows)


def _kinds(template: str) -> str:
    """Return the kinds of agents that the first line of a template names."""
    found = re.search(r"agents of kind ([a-z, ]+)\.", template)
    return ", ".join(map(code, re.split(r", | and ", found[1]))) if found else ""
