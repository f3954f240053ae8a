"""Checks the instructions of agents and the conversation summary, as far as code can read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.model.workflow import (
    INSTRUCTIONS_FILE,
    OUTPUT_FOLDER,
    PLAN_FILE,
    RESULTS_FILE,
    SESSION_FILE,
    AgentKind,
)
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule
from orchestrator.pm.plan.workflow_check.paths import wrong_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.workflow import WorkflowAgent

SUMMARY_SECTIONS: Final = (
    "What We're Trying to Accomplish",
    "Key Decisions Made",
    "Constraints & Assumptions",
    "Questions Resolved",
    "Open Items",
    "Dependencies & Integration Points",
)

_SHORTEST: Final = 40
"""Characters that instructions have at least. Less says nothing that could be held against work."""

_PLACEHOLDER: Final = re.compile(
    r"\b(?:TODO|TBD|FIXME):|^[ \t]*(?:[-*] )?(?:TODO|TBD|FIXME)\b"
    r"|<(?:agent|task_id|workflow|subject|subject_task_id|upstream_agent)>"  # blanks of the templates
    r"|\[(?:TODO|TBD|[Ww]rite|[Ff]ill|[Dd]escribe|[Ii]nsert|[Yy]our|[Nn]ame)\b[^\]\n]{0,200}\](?!\()",
    re.MULTILINE,
)
_OUTPUT: Final = re.compile(
    rf"agents/([a-z0-9][a-z0-9_-]{{0,63}})/{OUTPUT_FOLDER}/([A-Za-z0-9_.@+/-]*[A-Za-z0-9_@+/-])?"
)
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with instructions and summary."""
    texts = design.around.instructions
    for at, agent in design.numbered:
        folder = f"agents/{agent.id}/"
        if wrong_path(agent.instructions) or not agent.instructions.startswith(folder):
            yield DesignFinding(
                Rule.INSTRUCTIONS_PATH,
                f"the instructions of {agent.id} are {agent.instructions[:80]!a}",
                f"put them into {folder}{INSTRUCTIONS_FILE}",
                ("agents", at, "instructions"),
            )
        elif texts is not None:
            yield from _instructions(design, at, agent, texts.get(agent.instructions))
    if design.around.summary is not None:
        yield from _summary(design.plan.summary, design.around.summary)


def _instructions(design: Design, at: int, agent: WorkflowAgent, text: str | None) -> Iterator[DesignFinding]:
    file = agent.instructions
    if text is None:
        yield DesignFinding(
            Rule.INSTRUCTIONS_MISSING,
            f"{agent.id} has no instructions: {file} is not there",
            "write the file",
            ("agents", at, "instructions"),
            PLAN_FILE,
        )
        return
    if len(text.strip()) < _SHORTEST:
        yield DesignFinding(
            Rule.INSTRUCTIONS_EMPTY,
            f"the instructions of {agent.id} say nothing",
            "write them",
            file=file,
            line=1,
        )
        return
    if found := _PLACEHOLDER.search(text):
        yield DesignFinding(
            Rule.INSTRUCTIONS_UNFINISHED,
            f"the instructions of {agent.id} hold the placeholder {found[0][:40]!r}",
            "write what belongs there",
            file=file,
            line=text.count("\n", 0, found.start()) + 1,
        )
    if agent.kind is AgentKind.VERIFIER:
        if RESULTS_FILE not in text:
            yield DesignFinding(
                Rule.INSTRUCTIONS_RESULTS,
                f"the instructions of {agent.id} do not name {RESULTS_FILE}",
                "say that it writes there what is missing, and deletes the file to pass the work",
                file=file,
                line=1,
            )
    else:
        yield from _contract(design, agent, text)
    yield from _paths_of_others(design, agent, text)


def _contract(design: Design, agent: WorkflowAgent, text: str) -> Iterator[DesignFinding]:
    """Yield what instructions leave out of what the plan says of an agent."""
    file = agent.instructions
    declared = agent.inputs if design.inputs_hold(agent) else ()
    inputs = [f"agents/{each.source}/{OUTPUT_FOLDER}/{each.path}" for each in declared]
    if missing := [path for path in inputs if path not in text]:
        yield DesignFinding(
            Rule.INSTRUCTIONS_INPUTS,
            f"the instructions of {agent.id} do not name the input {missing[0]}{_more(missing)}",
            "say under `Input Requirements` where to read it",
            file=file,
            line=1,
        )
    outputs = [*agent.outputs, *(each.path for each in agent.evidence)]
    if missing := [path for path in dict.fromkeys(outputs) if path not in text and not wrong_path(path)]:
        yield DesignFinding(
            Rule.INSTRUCTIONS_OUTPUTS,
            f"the instructions of {agent.id} do not name {missing[0]}{_more(missing)}",
            f"say what belongs into {OUTPUT_FOLDER}/{missing[0]}",
            file=file,
            line=1,
        )
    if SESSION_FILE.rpartition("/")[2] not in text:
        yield DesignFinding(
            Rule.INSTRUCTIONS_NOTES,
            f"the instructions of {agent.id} do not say how it notes assumptions",
            f"say that it keeps its notes in {SESSION_FILE}, and what it must escalate",
            file=file,
            line=1,
        )


def _paths_of_others(design: Design, agent: WorkflowAgent, text: str) -> Iterator[DesignFinding]:
    """Yield a path of another agent's output that the plan does not let this one read."""
    if agent.kind is AgentKind.ARCHITECT or not design.inputs_hold(agent):
        return  # about whose work an architect is asked, is not known before
    declared = {each.source for each in agent.inputs}
    judges = agent.kind is AgentKind.VERIFIER
    if judges:
        declared = design.read_by_verifier.get(agent.id, set())
    for found in _OUTPUT.finditer(text):
        source, path = found[1], found[2] or ""
        other = design.agents.get(source)
        if source == agent.id or (judges and other is not None and not design.has_verifier(other)):
            continue
        correction = ""
        if other is None:
            correction = design.near(source)
        elif source not in declared:
            correction = f"add it to the `inputs` of {agent.id}, or remove it from the instructions"
        elif path and not design.writes(source, path):
            correction = f"{source} writes {', '.join(other.outputs) or 'no outputs'}"
        if correction:
            yield DesignFinding(
                Rule.INSTRUCTIONS_PATHS,
                f"the instructions of {agent.id} read {found[0][:120]}, which the plan does not provide",
                correction,
                file=agent.instructions,
                line=text.count("\n", 0, found.start()) + 1,
            )


def _summary(name: str, text: str) -> Iterator[DesignFinding]:
    if not text.strip():
        yield DesignFinding(
            Rule.SUMMARY_MISSING,
            f"{name[:80]} is missing or empty",
            "write what the conversation settled",
            ("summary",),
        )
        return
    has = {_plain(found) for found in _HEADING.findall(text)}
    for title in SUMMARY_SECTIONS:
        if _plain(title) not in has:
            yield DesignFinding(
                Rule.SUMMARY_SECTIONS,
                f"there is no section `{title}`",
                f"add `## {title}`",
                file=name,
                line=1,
            )


def _plain(title: str) -> str:
    return " ".join(title.casefold().replace("’", "'").split())


def _more(missing: list[str]) -> str:
    return f" and {len(missing) - 1} more" if len(missing) > 1 else ""
