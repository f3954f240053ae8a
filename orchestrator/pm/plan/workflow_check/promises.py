"""Checks that each success criterion of the task is met by evidence that somebody shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with criteria."""
    shown = {f"{agent.id}.{each.id}" for agent in design.plan.agents for each in agent.evidence}
    wanted = None if design.around.criteria is None else {_same(each) for each in design.around.criteria}
    seen = set[str]()
    for at, criterion in enumerate(design.plan.criteria):
        path = ("criteria", at)
        said, key = criterion.text[:80], _same(criterion.text)
        if key in seen:
            yield DesignFinding(Rule.CRITERION_TWICE, f"{said!r} is listed twice", "keep one", path)
        elif wanted is not None and key not in wanted:
            yield DesignFinding(
                Rule.CRITERION_UNKNOWN,
                f"{said!r} is no success criterion of task.md",
                "write it as task.md does, or add it there",
                (*path, "text"),
            )
        seen.add(key)
        if not criterion.by:
            yield DesignFinding(
                Rule.CRITERION_UNPROVEN,
                f"nothing proves {said!r}",
                "name evidence under `by`, such as AGENT.EVIDENCE",
                path,
            )
        for number, name in enumerate(criterion.by):
            if name not in shown:
                yield DesignFinding(
                    Rule.CRITERION_EVIDENCE,
                    f"{said!r} is proven by {name[:80]!a}, which nobody shows",
                    _hint(design, name),
                    (*path, "by", number),
                )
    for each in design.around.criteria or ():
        if _same(each) not in seen:
            yield DesignFinding(
                Rule.CRITERION_UNCOVERED,
                f"no entry of `criteria` covers {each[:80]!r}",
                "add it, and the evidence that meets it",
                ("criteria",),
            )


def _same(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def _hint(design: Design, name: str) -> str:
    agent = design.agents.get(name.partition(".")[0])
    if agent is None:
        return "write AGENT.EVIDENCE, by their ids"
    return (
        f"{agent.id} shows {', '.join(f'{agent.id}.{each.id}' for each in agent.evidence) or 'no evidence'}"
    )
