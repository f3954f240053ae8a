"""The pages about workflows: the table of statuses, and the rules that a design is checked by."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from orchestrator.formats.workflow.edits import EDIT_FIELDS
from orchestrator.model.workflow import AgentKind, EditKind
from orchestrator.model.workflow_records import (
    AgentEvent,
    AgentStatus,
    Effect,
    NoteKind,
    NoteStatus,
    PocDecision,
    PocEvidence,
    Resolver,
    Route,
    VerificationStatus,
    WorkflowStatus,
    Writer,
)
from orchestrator.pm.plan.workflow_check.findings import ADVICE, Rule
from orchestrator.pm.state.agent_transitions import MOVES
from orchestrator.pm.state.note_changes import Forbidden
from scripts.reference.markdown import code, page, sentence, table
from scripts.reference.sources import meanings

_STATES: Final = """\
The files of a [workflow](../how-to/workflows.md) use these words. A change of an agent's status that is in no row of
the table of moves changes nothing."""

_RULES: Final = """\
What `task workflow check` holds a design to. With a *fault* a design must not be run; *advice* is worth a thought.
Each finding has file, line, and what to do; files that do not read are found before any rule is asked."""

_PLACES: Final = """\
## Where agents may work

| kind | this machine | [host kinds](../how-to/containers.md) | [boxes](../how-to/boxes.md) |
| --- | --- | --- | --- |
| `doer`, `poc` | yes | yes | yes; what is to be merged with `bring: branch` |
| `architect` | yes | yes | yes |
| `verifier` | yes | yes | no |

A verifier on a box is refused. A pass is worth what was judged: the subject's commit, in a tree that is compared
before and after each run of its verifier, and outputs whose SHA-256 is compared once more when its turn ends. All of
that lies here. On a box a verifier would judge copies, and nobody could tell whether they were these; and a box may
speak only for the agents that work on it, not for whom they judge. So it is with reviewers of other tasks: only
developers and architects work remotely."""


def workflow_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages about statuses and about rules."""
    moves = [
        (
            ", ".join(code(source.value) for source in move.sources),
            code(move.target.value),
            code(move.event.value),
            ", ".join(code(writer.value) for writer in move.writers),
            sentence(move.when),
        )
        for move in MOVES
    ]
    edits = [
        (code(kind.value), ", ".join(map(code, ("edit", "agent", *EDIT_FIELDS[kind])))) for kind in EditKind
    ]
    yield (
        "workflow-states.md",
        page(
            "Workflow states",
            _STATES,
            f"## Agents\n\n{_words(AgentKind, 'kind')}",
            _words(AgentStatus, "status"),
            "### Moves\n\n" + table(("from", "to", "event", "brought by", "when"), moves),
            f"### Events\n\n{_words(AgentEvent, 'event')}",
            f"### Writers\n\n{_words(Writer, 'writer')}",
            f"## Verifiers\n\n{_words(VerificationStatus, 'status')}",
            f"## The whole workflow\n\n{_words(WorkflowStatus, 'status')}",
            f"## Notes\n\n{_words(NoteStatus, 'status')}",
            _words(NoteKind, "kind"),
            _words(Resolver, "resolved by"),
            f"Changes of notes that are put back:\n\n{_words(Forbidden, 'reason')}",
            f"## Proofs of concept\n\n{_words(PocEvidence, 'evidence')}",
            _words(PocDecision, "decision"),
            f"## Resolutions\n\n{_words(Route, 'route')}",
            "## Edits of a running plan\n\n" + table(("edit", "fields"), edits),
            _words(Effect, "effect"),
        ),
    )
    said = meanings(Rule)
    rules = [
        (code(rule.value), "advice" if rule in ADVICE else "fault", sentence(said[name]))
        for name, rule in Rule.__members__.items()
    ]
    yield (
        "workflow-rules.md",
        page("Rules of a workflow's design", _RULES, table(("rule", "weight", "what holds"), rules), _PLACES),
    )


def _words(of: type[StrEnum], head: str) -> str:
    said = meanings(of)
    rows = [(code(each.value or '""'), sentence(said[name])) for name, each in of.__members__.items()]
    return table((head, "meaning"), rows)
