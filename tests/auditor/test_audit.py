"""Each rule of the auditor holds for finished workflows, and fails once one is mutated to break it.

The workflow in `fixtures/wf/finished.json` is one of the simulation: five agents, of which one is a proof of concept
whose verifier asked, two rejections, an escalated note that the user answered, and verifiers that crashed. It is of a
version that recorded nothing. The one in `recorded.json` has `records/`: six agents, a proof of concept, a rejection,
and an agent that was asked for a session that can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.auditor.audit import audit
from tests.auditor.rules import RULES
from tests.auditor.test_escalation_rules import BROKEN

PAGE = Path(__file__).parents[2] / "docs/explanation/workflow-audit.md"
FOUND = json.loads((Path(__file__).parents[1] / "fixtures/wf/finished.json").read_text())
ROOT = "orchestration"
STATUS, PLAN = f"{ROOT}/shared_status.json", f"{ROOT}/workflow_coordination_plan.md"
SESSION = f"{ROOT}/agents/a0/completion_drive/session_20251128_0323_a0.json"
INDEX, LOG = (f"{ROOT}/agents/archival_agent/{name}.json" for name in ("archive_index", "cleanup_log"))
Files = dict[str, str]
Mutation = Callable[[Files], object]


def said(path: str, edit: Callable[[Any], None]) -> Mutation:
    """Return a mutation of a JSON file."""

    def mutate(files: Files) -> None:
        document = json.loads(files[path])
        edit(document)
        files[path] = json.dumps(document)

    return mutate


def put(path: str, **values: Any) -> Mutation:
    """Return a mutation that writes a JSON file."""
    return lambda files: files.update({path: json.dumps(values)})


def text(path: str, old: str, new: str) -> Mutation:
    """Return a mutation of a text that stands in a file."""

    def mutate(files: Files) -> None:
        assert old in files[path]
        files[path] = files[path].replace(old, new)

    return mutate


def without(path: str) -> Mutation:
    return lambda files: files.pop(path)


def note(**values: Any) -> Mutation:
    return said(SESSION, lambda session: session["notes"][0].update(values))


def entry(agent: str, **values: Any) -> Mutation:
    return said(STATUS, lambda status: status["agents"][agent].update(values))


TASK = {"task_id": "a0_1764254000", "timestamp": 1764264773}
MUTATIONS: list[tuple[int, str, Mutation]] = [
    (1, "a JSON file breaks off", text(STATUS, "{", "")),
    (1, "a time is a text", note(timestamp="2025-11-27")),
    (1, "a time is a fraction", said(INDEX, lambda index: index["sessions"][0].update(archived_at=1.5))),
    (2, "an agent has a status that there is not", entry("a0", status="done")),
    (2, "the workflow has one", said(STATUS, lambda status: status.update(status="complete"))),
    (2, "a note has one", note(status="closed")),
    (3, "two agents share a task_id", text(PLAN, "task_id: a1_1764254000", "task_id: a0_1764254000")),
    (3, "a task_id has no epoch", text(PLAN, "task_id: a1_1764254000", "task_id: a1")),
    (
        4,
        "a decision is about another task",
        said(f"{ROOT}/agents/a1/poc_decision.json", lambda it: it.update(task_id="x_1764254000")),
    ),
    (5, "two notes have one id", said(SESSION, lambda it: it["notes"].append(it["notes"][0]))),
    (6, "a resolved note says not how", note(resolution=None)),
    (6, "a resolved note says not when", note(resolution_timestamp=None)),
    (7, "an escalated note says not why", note(status="escalated", escalation_reason=None)),
    (8, "an agent settles what needs others", note(resolved_by="agent_self")),
    (9, "a note is not counted", entry("a0", completion_drive_notes_count=0)),
    (
        9,
        "the gate is shut for nothing",
        said(STATUS, lambda it: it.update(overall_completion_drive_gate="blocked")),
    ),
    (
        13,
        "an agent starts a day too early",
        text("handoffs/pm-20251127-194409.md", "2025-11-27 20:44:09", "2025-11-26 20:44:09"),
    ),
    (13, "a need was never passed", without("handoffs/judge-20251128-042122.md")),
    (14, "dependencies are others", entry("a4", dependencies=["a0"])),
    (15, "two are at work where one may be", text("handoffs/pm-20251127-155714.md", "16:57:14", "16:00:00")),
    (
        15,
        "two change the same files at once",
        lambda files: (
            [
                each(files)
                for each in (
                    text(PLAN, "max_parallel: 1", "max_parallel: 9"),
                    text(PLAN, "ui/a2/**", "ui/a0/**"),
                    text("handoffs/pm-20251127-173323.md", "18:33:23", "18:30:00"),
                )
            ]
        ),
    ),
    (
        16,
        "an agent is started while it works",
        text("handoffs/pm-20251127-172635.md", "18:26:35", "16:30:00"),
    ),
    (17, "the report that passes it is missing", without("handoffs/judge-20251127-193024.md")),
    (17, "another verifier passed it", text(PLAN, "verifier: referee", "verifier: umpire")),
    (18, "a note is still escalated", note(status="escalated")),
    (
        18,
        "a results file is still there",
        put(f"{ROOT}/agents/a0/verification_results.json", **TASK, result="fail", missing_evidence=["x"]),
    ),
    (
        19,
        "a rejection names nothing",
        lambda files: files.update(
            {
                "handoffs/judge-20251127-182250.md": re.sub(
                    r"(?m)^- .*$", "", files["handoffs/judge-20251127-182250.md"]
                )
            }
        ),
    ),
    (
        20,
        "a rejected agent is not run again",
        lambda files: (
            [
                files.pop(each)
                for each in (
                    "handoffs/pm-20251128-014347.md",
                    "handoffs/pm-20251128-020053.md",
                    "handoffs/a0-20251128-042022.md",
                )
            ]
        ),
    ),
    (
        26,
        "it proceeds on evidence that says no",
        said(
            f"{ROOT}/agents/a1/poc_decision.json", lambda it: it.update(decision="proceed", evidence="fail")
        ),
    ),
    (30, "an output is gone", without(f"{ROOT}/agents/a2/task_output/a2.md")),
    (30, "evidence is gone", without(f"{ROOT}/agents/a2/task_output/run.log")),
    (
        31,
        "nobody approved",
        lambda files: files.update(
            {PLAN: re.sub(r"(?s)approval:\n.*?```", "approval: null\n```", files[PLAN])}
        ),
    ),
    (34, "an archive is gone", without(SESSION)),
    (34, "the log says nothing of an archive", said(LOG, lambda it: it["operations"].pop())),
    (34, "a session was archived twice", said(INDEX, lambda it: it["sessions"].append(it["sessions"][0]))),
    (
        35,
        "a report is of another run",
        lambda files: files.update(
            {
                "handoffs/a2-20251127-183902.md": re.sub(
                    r"\*\*Run:\*\* \S+", "**Run:** r-00000000", files["handoffs/a2-20251127-183902.md"]
                )
            }
        ),
    ),
    (36, "an agent is not complete", entry("a3", status="verified")),
    (
        36,
        "a session is not archived",
        put(f"{ROOT}/agents/a0/completion_drive/session_current.json", **TASK, session_start=1, notes=[]),
    ),
]


RECORDED = json.loads((Path(__file__).parents[1] / "fixtures/wf/recorded.json").read_text())
EVENTS = f"{ROOT}/records/events.jsonl"
BEGAN = json.loads(RECORDED[EVENTS].splitlines()[0])["plan"]


def event(edit: Callable[[dict[str, Any]], object], **which: Any) -> Mutation:
    """Return a mutation of the first event that has these values."""

    def mutate(files: Files) -> None:
        events = [json.loads(line) for line in files[EVENTS].splitlines()]
        edit(next(each for each in events if which.items() <= each.items()))
        files[EVENTS] = "".join(json.dumps(each) + "\n" for each in events)

    return mutate


def last_event(agent: str) -> Mutation:
    """Return a mutation that drops the last event about an agent."""

    def mutate(files: Files) -> None:
        lines = files[EVENTS].splitlines()
        lines.remove([line for line in lines if json.loads(line).get("agent") == agent][-1])
        files[EVENTS] = "\n".join(lines)

    return mutate


def record(kind: str, name: str, **values: Any) -> Mutation:
    return said(f"{ROOT}/records/{kind}/{name}.json", lambda it: it.update(values))


def adapted(number: int, base: str, result: str, by: str = "user", approval: str = "kept") -> Mutation:
    """Return a mutation that adds the record of an adaptation, as the daemon writes it."""
    about = {"number": number, "at": 1764254500, "by": by, "cause": "as asked", "edits": [], "effects": []}
    path = f"{ROOT}/records/adaptations/{number}.json"
    return put(path, **about, base=base, result=result, approval=approval)


def both(*mutations: Mutation) -> Mutation:
    return lambda files: [each(files) for each in mutations]


A0_RUN, A0_PASSED = {"step": "do:a0"}, {"event": "transition", "agent": "a0", "to": "verified"}
ON_RECORDS: list[tuple[int, str, Mutation]] = [
    (10, "an event has an earlier number", event(lambda it: it.update(seq=0), seq=13)),
    (
        10,
        "an event stands there twice",
        lambda files: files.update(
            {EVENTS: files[EVENTS].replace("\n", "\n" + files[EVENTS].split("\n")[0] + "\n", 1)}
        ),
    ),
    (11, "an agent passes itself", event(lambda it: it.update(by="own_run"), **A0_PASSED)),
    (
        11,
        "a status is left out",
        event(lambda it: it.update({"from": "blocked"}), event="transition", to="working"),
    ),
    (
        11,
        "a move begins where the last one did not end",
        event(lambda it: it.update({"from": "failed"}), event="transition", agent="a2", to="working"),
    ),
    (12, "the last move of an agent is missing", last_event("a5")),
    (17, "the verdict is on other outputs", record("verifications", "a1-1", version="0" * 64)),
    (17, "the verdict is another agent's", record("verifications", "a1-1", verifier="a2")),
    (17, "the last verdict was none that passes", record("verifications", "a2-2", result="fail")),
    (17, "the verdict is not recorded", without(f"{ROOT}/records/verifications/a1-1.json")),
    (27, "what is protected starts first", event(lambda it: it.update(seq=2), step="do:a1")),
    (
        28,
        "an agent began with what nobody passed",
        event(lambda it: it["inputs"].update(a0="1" * 64), step="do:a1"),
    ),
    (
        29,
        "an input was passed anew, and nobody ran again",
        both(
            put(
                f"{ROOT}/records/outputs/a0-2.json",
                **TASK,
                agent="a0",
                number=2,
                version="2" * 64,
                files=[{"path": "a0.md", "sha256": "3" * 64}],
            ),
            put(f"{ROOT}/records/verifications/a0-2.json", **TASK, number=2, version="2" * 64, result="pass"),
        ),
    ),
    (30, "an output was changed later", text(f"{ROOT}/agents/a1/task_output/a1.md", "", "more ")),
    (30, "a version is not that of its files", record("outputs", "a1-1", files=[])),
    (31, "a plan was not kept", without(f"{ROOT}/records/plans/{BEGAN}.md")),
    (31, "a run began by a plan that nobody made", event(lambda it: it.update(plan="4" * 64), **A0_RUN)),
    (32, "an adaptation is missing", both(adapted(1, BEGAN, "5" * 64), adapted(3, "5" * 64, "6" * 64))),
    (32, "an adaptation is of another plan", both(adapted(1, BEGAN, "5" * 64), adapted(2, BEGAN, "6" * 64))),
    (33, "an agent lowers the bar", adapted(1, BEGAN, "5" * 64, by="judge", approval="void")),
]


def audited(files: Files) -> list[int]:
    return [each.rule for each in audit({path: content.encode() for path, content in files.items()})]


@pytest.mark.parametrize("found", [FOUND, RECORDED])
def test_finished_workflow_breaks_no_rule(found: Files) -> None:
    assert audit({path: content.encode() for path, content in found.items()}) == []


def test_adaptations_that_follow_on_each_other_break_no_rule() -> None:
    files = dict(RECORDED)
    both(adapted(1, BEGAN, "5" * 64), adapted(2, "5" * 64, BEGAN, "user", "void"))(files)
    assert audited(files) == []


@pytest.mark.parametrize(("number", "mutate"), [(number, mutate) for number, _, mutate in ON_RECORDS],
                         ids=[f"{number}: {what}" for number, what, _ in ON_RECORDS])  # fmt: skip
def test_mutated_records_break_their_rule(number: int, mutate: Mutation) -> None:
    files = dict(RECORDED)
    mutate(files)
    assert number in audited(files)


@pytest.mark.parametrize(("number", "mutate"), [(number, mutate) for number, _, mutate in MUTATIONS],
                         ids=[f"{number}: {what}" for number, what, _ in MUTATIONS])  # fmt: skip
def test_mutated_workflow_breaks_its_rule(number: int, mutate: Mutation) -> None:
    files = dict(FOUND)
    mutate(files)
    assert number in audited(files)


def test_each_rule_has_a_mutation_and_is_on_the_page() -> None:
    assert {number for number, _, _ in [*MUTATIONS, *ON_RECORDS, *BROKEN]} == set(RULES)
    rows = dict(
        re.findall(r"^\| (\d+) \| .*? \| (files|journal|not yet) \|$", PAGE.read_text(), re.MULTILINE)
    )
    assert [int(each) for each in rows] == list(range(1, 37))
    assert {int(number) for number, by in rows.items() if by == "files"} == set(RULES)
