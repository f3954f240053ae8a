"""What an agent of `hands: operations` is told when it is spawned, ahead of its order (F1, H8).

It touches no file: so it is told which files there are and what those say that its order names, where it may have files
changed, and how it writes what is to be done.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from orchestrator.formats.handoff_format import HANDOFF_FORMATS
from orchestrator.formats.operations.edits import FORMS
from orchestrator.formats.operations.read import EXAMPLE
from orchestrator.formats.text import local_time
from orchestrator.model.hands import Deletes
from orchestrator.model.task import MARKDOWN

if TYPE_CHECKING:
    from orchestrator.formats.handoff_format import ReportForm

_PREAMBLE: Final = """\
# Agent: {agent}
**Task:** {task}
**Spawned:** {spawned}

{begins}

## Your Answer
{must}one code block of JSON in this form:

```json
{example}
```

- `operation` is create, edit, append or delete. A create fails if the file exists, any other if it does not.
- `file_path` is absolute and lies below {roots}.
- To edit a file, {forms}.
- {deletes}
- `specialist_summary` beside `file_operations` is what you say about your work as a whole.
{report}
## Files
{files}
{definition}{earlier}
---

## Your Instructions
{order}
"""
_TEXT: Final = """\
You touch no file. You write text, once, and then end. The PM reads it and carries out the file operations in it, all of
them or none."""
_READS: Final = """\
You may read files, and change none. Your last message is your answer: then you end. The PM reads it and carries out the
file operations in it, all of them or none."""
_WRITES: Final = "Your answer must hold "
_LOOKS: Final = "Where files are to be written, your answer holds "
_REPORT: Final = """
{asked}:

{form}"""
_ASKED: Final = "Behind that your answer must hold your handoff, exactly in this form"
_OFFERED: Final = (
    "A handoff is written for you. Only if you are blocked, or no file needs a change, write it yourself, exactly in "
    "this form"
)
_DELETES: Final = {
    Deletes.ASK: "A delete has neither `content` nor `edit_instructions`. A person confirms it first.",
    Deletes.REFUSE: "Deletes are refused here.",
    Deletes.ALLOW: "A delete has neither `content` nor `edit_instructions`.",
}
_DEFINITION: Final = """
## Your Role
(Where this speaks of {apart} something yourself: you cannot, and need not. Say what you would do.)

{definition}
"""
_EARLIER: Final = """
## Earlier Work
{earlier}
"""


def operations_preamble(  # noqa: PLR0913 - a form with many blanks
    *,
    agent: str,
    task: str,
    at: float,
    roots: Sequence[str],
    files: str,
    form: ReportForm,
    writes: bool,
    deletes: Deletes,
    order: str,
    definition: str = "",
    earlier: str = "",
    handoff_format: str = MARKDOWN,
    reads: bool = False,
) -> str:
    """Return the prompt of a run whose program touches no file.

    Args:
        agent: The instance that the run is.
        task: The task's name.
        at: When it is spawned, in seconds since the epoch.
        roots: The folders below which it may have files changed, absolute.
        files: What it is shown of the files there.
        form: What its report must contain.
        writes: Whether its step is there to change files.
        deletes: What becomes of deletes.
        order: The text of its order.
        definition: The prompt of the agent's definition.
        earlier: Where work of earlier tries lies, if there is any.
        handoff_format: The format in which a report is written.
        reads: Whether its program has tools that read files.

    """
    asked = (
        form.verdict
        or form.subtasks
        or form.hands_on
        or form.criteria is not None
        or form.sections
        or not writes
    )
    return _PREAMBLE.format(
        begins=_READS if reads else _TEXT,
        agent=agent,
        task=task,
        spawned=local_time(at),
        must=_WRITES if writes else _LOOKS,
        example=json.dumps(EXAMPLE, indent=2),
        roots=" or ".join(f"{each}/" for each in roots),
        forms=FORMS,
        deletes=_DELETES[deletes],
        report=_REPORT.format(
            asked=_ASKED if asked else _OFFERED, form=HANDOFF_FORMATS.find(handoff_format).form(form)
        ),
        files=files.strip() or "There are none yet.",
        definition=_DEFINITION.format(
            apart="running or writing" if reads else "looking, running or writing",
            definition=definition.strip(),
        )
        if definition.strip()
        else "",
        earlier=_EARLIER.format(earlier=earlier.strip()) if earlier.strip() else "",
        order=order.rstrip("\n"),
    )
