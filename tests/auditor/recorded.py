"""The rules that need what the daemon records: `records/` of a workflow.

A folder without `records/events.jsonl` is of a version that recorded nothing; these rules say nothing of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.rules import rule

EVENTS: Final = "orchestration/records/events.jsonl"
Event = dict[str, Any]

_BEFORE: Final = (
    "pending",
    "working",
    "completion_drive_review",
    "ready_for_verification",
    "blocked",
    "failed",
)
_WORK: Final = (
    "pending",
    "completion_drive_review",
    "ready_for_verification",
    "blocked",
    "failed",
    "verified",
)
MOVES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "working": (_WORK, ("daemon", "user")),
    "completion_drive_review": (("working",), ("own_run",)),
    "ready_for_verification": (("working", "completion_drive_review"), ("own_run",)),
    "blocked": (_BEFORE, ("own_run", "daemon")),
    "failed": (_BEFORE, ("daemon", "user")),
    "pending": (_BEFORE, ("daemon",)),
    "verified": (("ready_for_verification",), ("verifier_run",)),
    "session_complete": (("verified",), ("daemon",)),
}
"""From where a status is reached, and by whom (contract, Values and transitions)."""


def events(folder: Folder) -> list[Event]:
    """Return the events in the order in which they were written. A torn line is written again as a whole."""
    found = list[Event]()
    for line in folder.files.get(EVENTS, b"").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def of(folder: Folder, *kinds: str) -> list[Event]:
    """Return the events of some kinds."""
    return [each for each in events(folder) if each["event"] in kinds]


def records(folder: Folder, kind: str, agent: str = "") -> list[dict[str, Any]]:
    """Return the records of a kind, by their numbers: of one agent, or all."""
    name = re.compile(
        rf"orchestration/records/{kind}/{re.escape(agent) + '-' if agent else '(?:.+-)?'}\d+\.json"
    )
    found = [folder.json(path) for path in folder.files if name.fullmatch(path)]
    return sorted(found, key=lambda each: each["number"])


def passed_versions(folder: Folder, agent: str) -> list[str]:
    """Return the versions of an agent's outputs that its verifier passed. The user may pass a proof of concept."""
    lenient = folder.agents.get(agent, {}).get("kind") == "poc"
    said = records(folder, "verifications", agent)
    return [each["version"] for each in said if lenient or each["result"] == "pass"]


def is_recorded(folder: Folder) -> bool:
    """Return whether the folder has records."""
    return EVENTS in folder.files


@rule(10)
def _seq_rises(folder: Folder) -> Iterator[str]:
    """The numbers of events never fall, and no event stands there twice."""
    last, there = 0, set[str]()
    for each in events(folder):
        if each["seq"] < last:
            yield f"{each['event']} of {each['seq']} follows {last}"
        there = there if each["seq"] == last else set()
        said = json.dumps(each, sort_keys=True)
        if said in there:
            yield f"{each['event']} of {each['seq']} stands there twice"
        there.add(said)
        last = max(last, each["seq"])


@rule(11)
def _moves(folder: Folder) -> Iterator[str]:
    """Moves are those of the table, by those who may make them, each from where the last one led."""
    stands = dict[str, str]()
    for each in of(folder, "transition", "gap"):
        if each["event"] == "gap":
            stands = dict(each.get("statuses", {}))
            continue
        agent, was, to, by = (each[key] for key in ("agent", "from", "to", "by"))
        if each["cause"] != "started_again" and (was not in MOVES[to][0] or by not in MOVES[to][1]):
            yield f"{agent} went from {was} to {to} by {by}"
        if stands.get(agent, "pending") != was:
            yield f"{agent} went from {was} to {to}, and was {stands.get(agent, 'pending')}"
        stands[agent] = to


@rule(12)
def _status_is_the_last_move(folder: Folder) -> Iterator[str]:
    """The last moves equal the status file."""
    stands = dict[str, str]()
    for each in of(folder, "transition", "gap"):
        stands |= each.get("statuses", {}) if each["event"] == "gap" else {each["agent"]: each["to"]}
    for agent in folder.workers if is_recorded(folder) else ():
        if folder.stands(agent) != stands.get(agent, "pending"):
            yield f"{agent} is {folder.stands(agent)}, and its last move led to {stands.get(agent, 'pending')}"


@rule(17)
def _passed_as_handed_in(folder: Folder) -> Iterator[str]:
    """The last verdict on what is verified is of its own verifier, on the outputs that were handed in last."""
    for agent in folder.workers if is_recorded(folder) else ():
        if folder.stands(agent) not in VERIFIED:
            continue
        made, said = records(folder, "outputs", agent), records(folder, "verifications", agent)
        if not made or not said:
            yield f"{agent} is verified, and its outputs or the verdict on them are not recorded"
        elif said[-1]["version"] != made[-1]["version"] or made[-1]["version"] not in passed_versions(
            folder, agent
        ):
            yield f"{agent} is verified, and the verdict is on {said[-1]['version'][:8]}, not on what it handed in"
        elif said[-1].get("verifier") != folder.agents[agent]["verifier"]:
            yield f"{agent} was passed by {said[-1].get('verifier')}"


@rule(27)
def _protected(folder: Folder) -> Iterator[str]:
    """What a proof of concept protects starts after it was verified."""
    moves = of(folder, "transition")
    for agent, plan in folder.workers.items():
        for other in (plan.get("poc") or {}).get("protects") or []:
            done = [each["seq"] for each in moves if each["agent"] == agent and each["to"] == "verified"]
            begun = [each["seq"] for each in of(folder, "launch") if each["step"] == f"do:{other}"]
            if begun and (not done or begun[0] < done[0]):
                yield f"{other} was started before {agent} was verified"


@rule(28)
def _inputs_were_verified(folder: Folder) -> Iterator[str]:
    """Inputs are verified versions of what an agent needs."""
    for each in of(folder, "launch"):
        for need, version in each.get("inputs", {}).items():
            if each["step"].startswith("do:") and version not in passed_versions(folder, need):
                yield f"{each['run']} of {each['agent']} began with {version[:8]} of {need}, which was not verified"


@rule(29)
def _stale_inputs(folder: Folder) -> Iterator[str]:
    """Who is verified worked with the last contents of its declared inputs, or ran as often as its bound lets it."""
    for agent, plan in folder.workers.items():
        begun = [each for each in of(folder, "launch") if each["step"] == f"do:{agent}"]
        if folder.stands(agent) not in VERIFIED or not begun:
            continue
        for wanted in plan.get("inputs") or []:
            need, path = wanted["from"], wanted.get("path", "")
            made = {each["version"]: _contents(each, path) for each in records(folder, "outputs", need)}
            seen = [made.get(each.get("inputs", {}).get(need, "")) for each in begun]
            passed = passed_versions(folder, need)
            reruns = len(set(map(str, seen))) - 1
            if (
                passed
                and seen[-1] != made.get(passed[-1])
                and reruns < folder.bound(agent, "input_reruns", 3)
            ):
                yield f"{agent} is verified, and worked with an older {path or 'output'} of {need}"


def _contents(record: dict[str, Any], path: str) -> list[tuple[str, str]]:
    return [(each["path"], each["sha256"]) for each in record["files"] if path in {"", each["path"]}]


@rule(30)
def _manifest(folder: Folder) -> Iterator[str]:
    """Outputs equal what was handed in last, and that its version."""
    for made in records(folder, "outputs"):
        listed = "".join(f"{each['sha256']}  {each['path']}\n" for each in made["files"])
        if sha256(listed.encode()).hexdigest() != made["version"]:
            yield f"version {made['number']} of {made['agent']} is not that of its files"
    for agent in folder.workers:
        for each in (records(folder, "outputs", agent) or [{"files": []}])[-1]["files"]:
            data = folder.files.get(f"orchestration/agents/{agent}/task_output/{each['path']}", b"")
            if folder.stands(agent) in VERIFIED and sha256(data).hexdigest() != each["sha256"]:
                yield f"task_output/{each['path']} of {agent} is not what was handed in"


@rule(31)
def _plans_are_kept(folder: Folder) -> Iterator[str]:
    """Every plan by which something began is kept, and began the workflow or came of an adaptation."""
    made = {each["plan"] for each in of(folder, "began")}
    made |= {each["result"] for each in records(folder, "adaptations")}
    for each in of(folder, "began", "launch"):
        if f"orchestration/records/plans/{each['plan']}.md" not in folder.files:
            yield f"{each['event']} of {each['seq']}: the plan {each['plan'][:8]} is not kept"
        if each["plan"] not in made:
            yield f"{each['event']} of {each['seq']}: nobody made the plan {each['plan'][:8]}"


@rule(32)
def _chain(folder: Folder) -> Iterator[str]:
    """Adaptations follow on each other: numbers without a gap, each based on the result of the one before."""
    found = records(folder, "adaptations")
    last = [each["plan"] for each in of(folder, "began")][-1:]
    for number, each in enumerate(found, 1):
        if each["number"] != number:
            yield f"adaptation {number} is missing"
        if last and each["base"] != last[0]:
            yield f"adaptation {each['number']} is based on {each['base'][:8]}, and the plan was {last[0][:8]}"
        last = [each["result"]]


@rule(33)
def _void(folder: Folder) -> Iterator[str]:
    """What lowers the bar was the user's to decide."""
    for each in records(folder, "adaptations"):
        if each["approval"] == "void" and each["by"] != "user":
            yield f"adaptation {each['number']} by {each['by']} lowers the bar, and the user did not approve"
