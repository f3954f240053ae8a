"""Rules of crashes, of who stands still, and of escalations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.recorded import Event, events, of
from tests.auditor.rules import rule


@rule(21)
def _crashes_are_bounded(folder: Folder) -> Iterator[str]:
    """Crashes in a row are bounded; the last one is followed by the user, or by an edit of the plan."""
    row, given_up = defaultdict[str, int](int), set[str]()
    for each in events(folder):
        about = {str(each.get("agent")), str(each.get("number"))}
        match each["event"]:
            case "crash":
                step, agent = each["step"], each["agent"]
                row[step] += 1
                most = folder.bound(agent, "crashes", 3) + 1
                if max(row[step], each["number"]) > most:
                    yield f"{each['run']} was crash {row[step]} of {step} in a row, and {most} are the last"
                if each["number"] >= most:
                    given_up.add(step)
            case "launch" if each["step"] in given_up:
                yield f"{each['run']} began after {each['step']} had crashed as often as it may"
            case "turn_end" | "transition" | "asked":
                over = [step for step in row if about & {step.partition(":")[2], _agent_of(folder, step)}]
                for step in over:
                    row[step] = 0
            case "user_answer" | "adaptation" | "gap":
                row.clear()
                given_up.clear()
            case _:
                pass


def _agent_of(folder: Folder, step: str) -> str:
    """Return whose run does a step: an agent's own, or its verifier's."""
    kind, _, name = step.partition(":")
    return name if kind == "do" else str(folder.agents.get(name, {}).get("verifier"))


@rule(22)
def _only_dependents_stand_still(folder: Folder) -> Iterator[str]:
    """While a workflow waits for answers alone, nobody waits whose needs are verified."""
    asked = {each["question"] for each in of(folder, "question") if not each.get("agent")}
    if folder.status.get("status") != "blocked" or asked - {e["question"] for e in of(folder, "user_answer")}:
        return
    for agent, plan in folder.workers.items():
        ready = all(folder.stands(need) in VERIFIED for need in plan.get("needs") or [])
        if agent not in folder.on_call and ready and folder.stands(agent) == "pending":
            yield f"{agent} waits, and all that it needs is verified"


@rule(23)
def _first_come_first_served(folder: Folder) -> Iterator[str]:
    """Escalations are answered one at a time, in the order in which they came."""
    came, settled = set[int](), set[int]()
    for each in of(folder, "escalation", "asked", "answer", "gap"):
        if each["event"] == "gap":
            came, settled = set(), set()
            continue
        number = each["number"]
        earlier = {other for other in came - settled if other < number}
        if each["event"] == "asked" and earlier:
            yield f"escalation {number} was asked about while {min(earlier)} waited"
        if each["event"] == "escalation" and number not in came and number < max(came, default=0):
            yield f"escalation {number} came after {max(came)}"
        came.add(number)
        if each["event"] == "answer":
            settled.add(number)


@rule(24)
def _answers_were_compared(folder: Folder) -> Iterator[str]:
    """What a resolver answers, or lets pass, names everybody whose task it touches.

    Where a resolver gives no answer that holds, what others answered stands, and the case is as deep as none other is.
    """
    plans, via = dict[int, str](), dict[tuple[int, str], str]()
    deepest = (folder.plan.get("bounds") or {}).get("depth", 2)
    for each in events(folder):
        if each["event"] == "launch" and each["step"].startswith("resolve:"):
            plans[int(each["step"].partition(":")[2])] = each["plan"]
        if each["event"] not in {"escalation", "asked", "answer"}:
            continue
        for note in each.get("notes", []):
            key = each["number"], note["note_id"]
            was, via[key] = via.get(key), note["via"]
            answered = was in {"resolver", "loop"} and note["via"] == "nobody"
            if answered and each.get("depth", 0) <= deepest:
                touched = _touched(folder.plan_of(plans.get(each["number"], "")), each["agent"])
                for other in sorted(touched - set(note.get("checked", []))):
                    yield f"the answer to {note['note_id']} of {each['agent']} was not compared with {other}"


def _touched(plan: dict[str, Any], agent: str) -> set[str]:
    """Return who needs an agent or is needed by it, reads the same outputs, or names a file that it names."""
    agents = {each["id"]: each for each in plan.get("agents", [])}
    on_call = {(plan.get("escalation") or {}).get(each) for each in ("resolver", "architect", "loop")}
    own = agents.get(agent, {"kind": "verifier"})
    if own["kind"] == "verifier":
        return set()
    others = {
        name: each
        for name, each in agents.items()
        if name != agent and each["kind"] != "verifier" and name not in on_call
    }
    return {
        name
        for name, each in others.items()
        if name in (own.get("needs") or [])
        or agent in (each.get("needs") or [])
        or _sources(own) & _sources(each)
        or set(own.get("files") or []) & set(each.get("files") or [])
    }


def _sources(agent: dict[str, Any]) -> set[str]:
    return {each["from"] for each in agent.get("inputs") or []}


@rule(25)
def _loops_are_seen(folder: Folder) -> Iterator[str]:
    """Who asks the same once more than its bound allows is in a loop."""
    asked = defaultdict[tuple[str, str], list[str]](list)
    cases = dict[int, Event]()
    for each in of(folder, "escalation", "answer", "adaptation", "gap"):
        if each["event"] == "gap":
            asked.clear()
        if each["event"] == "adaptation":
            for key in [key for key in asked if key[0] in each.get("effects", {})]:
                asked[key] = []
        if each["event"] == "answer" and each.get("loop"):
            by_user = any(note.get("by") == "user" for note in each.get("notes", []))
            asked[each["agent"], each["task_id"]] = [] if by_user else asked[each["agent"], each["task_id"]]
        if each["event"] != "escalation" or each["number"] in cases:
            continue
        cases[each["number"]] = each
        earlier, said = asked[each["agent"], each["task_id"]], [_asked(note) for note in each["notes"]]
        most = folder.bound(each["agent"], "loops", 3)
        again = [text for text in said if text and earlier.count(text) + 1 >= most]
        if again and not each.get("loop"):
            yield f"{each['agent']} asks for the {most}th time: {again[0]}"
        earlier += said


def _asked(note: dict[str, Any]) -> str:
    return " ".join(str(note.get("question", "")).split()).casefold()
