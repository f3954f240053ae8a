"""The handoff format `markdown`, which ships (H6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.report import read_report, render_report
from orchestrator.formats.text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orchestrator.formats.handoff_format import ReportForm
    from orchestrator.model.handoff import Report

suffix: Final = ".md"

_HEADING: Final = "# Handoff:"
_FORM: Final = """\
```markdown
# Handoff: {agent}
**Timestamp:** (the local date and time)
**Status:** (one word: COMPLETE, BLOCKED or NEEDS_REVIEW)
{verdict}**Run:** {run}
**In reply to:** {order}

## Completed Work
(what you accomplished)

## Artifacts Generated
- (the full path of a file that you wrote, one line for each; or None)

## Blockers
(what prevented progress, if BLOCKED; otherwise None)

## Skill Gaps
(what skill or context was missing, if BLOCKED; otherwise None)
{unchanged}{sections}```
"""
_VERDICT: Final = "**Verdict:** (one word: APPROVED or REJECTED)\n"
_SUBTASKS: Final = """
## Subtasks
- [first-id] (what is to be done) (agent: dev; files: the files and folders it will change, as path or folder/**)
  Done when: (how anyone can see that it is done)
- [second-id] (what is to be done) (agent: dev; needs: first-id; files: …)
  Done when: (how anyone can see that it is done)
(subtasks that need nothing of each other and name different files are worked on at the same time)
"""
_HANDED_ON: Final = """
## Next Steps
- (what the next role is to do)

## Constraints
- (what must be and what must not be)

## Acceptance Criteria
- (how anybody can see that it is done)

## Issues
- [high] (what is wrong: critical, high, medium or low)
  Recommendation: (what to do about it)

## Coordination
```json
{"handoff": {"type": "(what it means: your instructions name it)"},
 "context": {"dependencies": ["(a file that the work is about; a plan must name some)"]}}
```
"""
_UNCHANGED: Final = """
## No Changes
(only if you changed no file in your working directory: why no change was needed; otherwise leave this section out)
"""
_EVIDENCE: Final = """\
(instead, for each that is not met: - [ ] the criterion (reason: why it is not met))
(evidence is looked up, and counts only if it exists: a file on the task's branch, or in the folder of an agent's own
`cwd:`, as `path` or `path:line`, a file in artifacts/, a commit, or a check that the PM ran as `check test:ID`;
separate several by commas)
"""


def read(data: bytes, name: str, limit: int, sections: Collection[str]) -> Report:
    """Return the report that a file is. Raises BadFile, as `read_report` does."""
    return read_report(data, name, limit, sections)


def write(agent: str, at: float, report: Report) -> bytes:
    """Return a report as a file."""
    return render_report(agent, at, report).encode()


def form(wanted: ReportForm) -> str:
    """Return the form of a report as its agent reads it."""
    marks = "" if wanted.criteria is None else _marks(wanted.criteria)
    filled = _FORM.format(
        agent=wanted.agent,
        run=wanted.run,
        order=wanted.order,
        verdict=_VERDICT if wanted.verdict else "",
        unchanged=_UNCHANGED if wanted.unchanged else "",
        sections=(_HANDED_ON if wanted.hands_on else "")
        + (_SUBTASKS if wanted.subtasks else "")
        + marks
        + wanted.sections,
    )
    return f"`{filled.rstrip()}`\n" if wanted.hands_on else filled  # it holds a fence itself


def within(message: str) -> str:
    """Return the report that an agent's last message holds, without the fence that it may stand in."""
    start = message.find(_HEADING)
    if start < 0:
        return ""
    stripped = message[start:].rstrip()
    return stripped.removesuffix("```").rstrip() + "\n" if stripped.count("```") % 2 else stripped + "\n"


def _marks(criteria: Sequence[str]) -> str:
    listed = [one_line(criterion).replace("```", "'''") for criterion in criteria] or ["(a criterion)"]
    lines = "".join(f"- [x] {criterion} (evidence: (what shows it))\n" for criterion in listed)
    return f"\n## Success Criteria\n{lines}{_EVIDENCE}"
