"""Rules 21 to 25 hold for runs as the contract wants them, and fail for each that breaks one.

What happened is a list of events, as the daemon writes them into `records/events.jsonl`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.auditor import escalation_rules  # noqa: F401 (it registers the rules)
from tests.auditor.folder import Folder
from tests.auditor.rules import RULES

PLAN = """```yaml
bounds: {crashes: 1, loops: 3, depth: 2}
agents:
  - {id: api, kind: doer, needs: [], verifier: judge, files: [api.py]}
  - {id: page, kind: doer, needs: [api], verifier: judge}
  - {id: docs, kind: doer, needs: [], verifier: judge, inputs: []}
  - {id: judge, kind: verifier}
  - {id: lead, kind: architect, needs: [], verifier: judge}
escalation: {resolver: lead, architect: null, loop: null}
```
"""
Events = list[dict[str, Any]]


def folder(happened: Events, status: str = "in_progress", **stands: str) -> Folder:
    """Return the folder of a workflow in which this happened, and whose agents stand like that."""
    lines = [json.dumps({"seq": seq, "at": seq, **each}) for seq, each in enumerate(happened, 1)]
    agents = {name: {"status": each} for name, each in stands.items()}
    files = {
        "workflow_coordination_plan.md": PLAN,
        "records/plans/p.md": PLAN,
        "records/events.jsonl": "".join(f"{line}\n" for line in lines),
        "shared_status.json": json.dumps({"status": status, "agents": agents}),
    }
    return Folder({f"orchestration/{name}": text.encode() for name, text in files.items()})


def crash(number: int, step: str = "do:api") -> dict[str, Any]:
    return {"event": "crash", "agent": "api", "run": f"r{number}", "step": step, "number": number}


LAUNCH = {"event": "launch", "agent": "api", "run": "r9", "step": "do:api"}
TURN_END = {"event": "turn_end", "agent": "api", "run": "r8"}
ANSWERED = {"event": "user_answer", "question": "q1"}
ASKED = {"event": "question", "question": "q1"}


def case(
    word: str, number: int = 1, via: str = "resolver", text: str = "Which port?", **more: Any
) -> dict[str, Any]:
    """Return an event of an escalation of `api` with one note."""
    checked = more.pop("checked", [])
    note = {"note_id": "note_001", "question": text, "via": via, "by": more.pop("by", "workflow_executor")}
    about = {"event": word, "agent": "api", "number": number, "task_id": "api_1764254000"}
    return about | {"notes": [note | {"checked": checked}]} | more


RESOLVES = {"event": "launch", "agent": "lead", "run": "r2", "step": "resolve:1", "plan": "p"}


def resolved(checked: list[str], **more: Any) -> Events:
    return [
        case("escalation"),
        case("asked", to="resolver"),
        RESOLVES,
        case("escalation", via="nobody", checked=checked, **more),
        case("answer", via="nobody", checked=checked, **more),
    ]


def one_after_the_other(*cases: Events) -> Events:
    return [each for events in cases for each in events]


def asked_and_answered(number: int, text: str, **more: Any) -> Events:
    return [
        case("escalation", number, "user", text, **more),
        case("asked", number, "user", text, to="user", **more),
        case("answer", number, "nobody", text, by="user", **more),
    ]


SOUND: list[tuple[int, str, Folder]] = [
    (21, "crashes as often as it may, then the user", folder([crash(1), LAUNCH, crash(2), ANSWERED, LAUNCH])),
    (21, "crashes on both sides of a turn", folder([crash(1), TURN_END, crash(1), LAUNCH])),
    (21, "an agent and its verifier each crash", folder([crash(1), crash(1, "verify:api"), LAUNCH])),
    (
        21,
        "an edit of the plan starts it again",
        folder([crash(1), crash(2), {"event": "adaptation", "number": 1}, LAUNCH]),
    ),
    (22, "dependents wait", folder([], "blocked", api="blocked", page="pending", docs="verified")),
    (22, "who answers is not asked", folder([], "blocked", api="blocked", docs="verified", lead="pending")),
    (
        22,
        "a question about the whole task is open",
        folder([ASKED], "blocked", api="blocked", docs="pending"),
    ),
    (22, "others still work", folder([], "in_progress", api="working", docs="pending")),
    (
        23,
        "one after the other",
        folder(one_after_the_other(resolved(["page"]), asked_and_answered(2, "Why?"))),
    ),
    (
        23,
        "the second comes meanwhile",
        folder([case("escalation"), case("asked"), case("escalation", 2), case("answer"), case("asked", 2)]),
    ),
    (
        23,
        "one that does not matter any more",
        folder([case("escalation"), case("answer"), case("escalation", 2), case("asked", 2)]),
    ),
    (24, "everybody is named", folder(resolved(["page"]))),
    (24, "the user answers", folder(asked_and_answered(1, "Which port?"))),
    (24, "the resolver gave no answer that holds", folder(resolved([], depth=3))),
    (25, "twice", folder(one_after_the_other(*(asked_and_answered(n, "Which port?") for n in (1, 2))))),
    (
        25,
        "the third is a loop",
        folder(
            [
                *asked_and_answered(1, "A?"),
                *asked_and_answered(2, "a?"),
                *asked_and_answered(3, "A ?"),
                *asked_and_answered(4, "A?", loop=True),
            ]
        ),
    ),
    (
        25,
        "the user settled the loop",
        folder(
            [
                *asked_and_answered(1, "A?"),
                *asked_and_answered(2, "A?"),
                *asked_and_answered(3, "A?", loop=True),
                *asked_and_answered(4, "A?"),
            ]
        ),
    ),
    (
        25,
        "its plan was changed",
        folder(
            [
                *asked_and_answered(1, "A?"),
                *asked_and_answered(2, "A?"),
                {"event": "adaptation", "effects": {"api": "works_again"}},
                *asked_and_answered(3, "A?"),
            ]
        ),
    ),
]

BROKEN: list[tuple[int, str, Folder]] = [
    (21, "a third crash in a row", folder([crash(1), crash(2), crash(2)])),
    (21, "it counts too few", folder([crash(1), crash(1), crash(1)])),
    (21, "it goes on without being asked", folder([crash(1), LAUNCH, crash(2), LAUNCH])),
    (22, "an independent agent waits", folder([], "blocked", api="blocked", docs="pending")),
    (22, "a dependent waits on", folder([], "blocked", api="verified", page="pending", docs="blocked")),
    (22, "the question was answered", folder([ASKED, ANSWERED], "blocked", api="blocked", docs="pending")),
    (
        23,
        "the second is asked about first",
        folder([case("escalation"), case("escalation", 2), case("asked", 2)]),
    ),
    (23, "two at once", folder([case("escalation"), case("escalation", 2), case("asked"), case("asked", 2)])),
    (23, "numbers fall", folder([case("escalation", 2), case("escalation")])),
    (24, "a dependent is left out", folder(resolved([]))),
    (24, "somebody else is named", folder(resolved(["docs"]))),
    (
        25,
        "the third is a question like others",
        folder(one_after_the_other(*(asked_and_answered(n, "A?") for n in (1, 2, 3)))),
    ),
    (
        25,
        "other cases, spaces in between",
        folder(
            [
                *asked_and_answered(1, "Which  port?"),
                *asked_and_answered(2, "which port?"),
                *asked_and_answered(3, "Which port?"),
            ]
        ),
    ),
    (
        25,
        "one that only the resolver dealt with",
        folder(
            [
                *asked_and_answered(1, "A?"),
                *asked_and_answered(2, "A?"),
                case("escalation", 3, "loop", "A?", loop=True),
                case("answer", 3, "nobody", "A?", loop=True),
                *asked_and_answered(4, "A?"),
            ]
        ),
    ),
]


def breaches(number: int, found: Folder) -> list[str]:
    return [text for look in RULES[number] for text in look(found)]


@pytest.mark.parametrize(("number", "found"), [(number, found) for number, _, found in SOUND],
                         ids=[f"{number}: {what}" for number, what, _ in SOUND])  # fmt: skip
def test_sound_run_breaks_no_rule(number: int, found: Folder) -> None:
    assert breaches(number, found) == []


@pytest.mark.parametrize(("number", "found"), [(number, found) for number, _, found in BROKEN],
                         ids=[f"{number}: {what}" for number, what, _ in BROKEN])  # fmt: skip
def test_broken_run_breaks_its_rule(number: int, found: Folder) -> None:
    assert breaches(number, found)
