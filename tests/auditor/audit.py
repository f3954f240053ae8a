"""An auditor of workflows. It knows the numbered rules of the contract and the files in a task's folder, nothing else.

It imports nothing of the program, so that a fault there cannot hide itself. The rules and their numbers are in
`docs/explanation/workflow-audit.md`. It is right about a workflow that waits or has ended, while no run of it lives.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import yaml

AUDITED: Final = ("orchestration", "handoffs")
"""The folders of a task that it looks at."""

AGENT_STATUSES: Final = frozenset(
    {
        "pending",
        "working",
        "completion_drive_review",
        "ready_for_verification",
        "verified",
        "blocked",
        "failed",
        "session_complete",
    }
)
VERIFIER_STATUSES: Final = frozenset({"pending", "working", "blocked", "failed", "verified"})
WORKFLOW_STATUSES: Final = frozenset({"pending", "in_progress", "blocked", "session_complete", "failed"})
NOTE_STATUSES: Final = frozenset({"open", "resolved", "escalated"})
VERIFIED: Final = frozenset({"verified", "session_complete"})
PASSES: Final = frozenset({"APPROVED", "PROCEED"})
BOLDNESS: Final = {"pass": {"proceed", "adapt", "ask"}, "partial": {"adapt", "ask"}, "fail": {"ask"}}
VERIFICATIONS: Final = 5

_TASK_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]*_\d{9,}")
_NAME: Final = re.compile(r"handoffs/(?P<who>.+)-(?P<at>\d{8}-\d{6})\.md")
_FIELD: Final = re.compile(r"^\*\*(.+?):\*\* *(.*?) *$", re.MULTILINE)
_SUBJECT: Final = re.compile(
    r"agent_instructions\.md in the task's folder, on the work of ([\w, -]+?)(?: together)?:"
)
_BLOCK: Final = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SESSION: Final = re.compile(
    r"orchestration/agents/(?P<agent>[^/]+)/completion_drive/session_(?P<when>current|.+)\.json"
)


@dataclass(frozen=True, order=True)
class Breach:
    """A rule that does not hold, and where."""

    rule: int
    text: str

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.text}"


@dataclass(frozen=True)
class Handoff:
    """An order or a report: its file, who wrote or gets it, when, its fields, and what it is about."""

    path: str
    agent: str
    at: str
    fields: Mapping[str, str]
    text: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whose work an order wants judged."""
        found = _SUBJECT.search(self.text)
        return tuple(each.strip() for each in found[1].split(",")) if found else ()


class Folder:
    """What lies in a task's folder: its files by path, and what they say."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.faults = list[Breach]()

    def json(self, path: str) -> Any:
        """Return a JSON file; an empty object if it is missing or does not read."""
        try:
            return json.loads(self.files.get(path, b"{}"))
        except ValueError:
            return {}

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The block of the plan."""
        page = self.files.get("orchestration/workflow_coordination_plan.md", b"").decode()
        found = yaml.safe_load(_BLOCK.findall(page)[0]) if _BLOCK.findall(page) else {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def agents(self) -> dict[str, dict[str, Any]]:
        """The agents of the plan by id."""
        return {each["id"]: each for each in self.plan.get("agents", [])}

    @cached_property
    def workers(self) -> dict[str, dict[str, Any]]:
        """The agents whose work is verified."""
        return {name: each for name, each in self.agents.items() if each["kind"] != "verifier"}

    @cached_property
    def status(self) -> dict[str, Any]:
        """The shared status."""
        found = self.json("orchestration/shared_status.json")
        return found if isinstance(found, dict) else {}

    def stands(self, agent: str) -> str:
        """Return the status of an agent."""
        return str(self.status.get("agents", {}).get(agent, {}).get("status", ""))

    def session(self, agent: str) -> dict[str, Any]:
        """Return the session of an agent: the current one, else the one that was archived last."""
        current = f"orchestration/agents/{agent}/completion_drive/session_current.json"
        if current in self.files:
            return dict(self.json(current))
        named = [(path, match["when"]) for path in self.files if (match := _SESSION.fullmatch(path))]
        own = [path for path, _ in named if path.startswith(f"orchestration/agents/{agent}/")]
        own = [each for each in own if self.json(each).get("task_id") == self.agents[agent]["task_id"]]
        return dict(self.json(max(own))) if own else {}

    @cached_property
    def sessions(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Every session by its path: its agent, and what it says."""
        return {
            path: (match["agent"], self.json(path))
            for path in self.files
            if (match := _SESSION.fullmatch(path))
        }

    @cached_property
    def handoffs(self) -> tuple[Handoff, ...]:
        """All orders and reports, as they were written."""
        found = list[Handoff]()
        for path, data in self.files.items():
            if match := _NAME.fullmatch(path):
                text = data.decode(errors="replace")
                fields: dict[str, str] = dict(_FIELD.findall(text))
                agent = fields.get("Target", "") if match["who"] == "pm" else str(match["who"])
                at = fields.get("Timestamp", match["at"])[:19]
                found.append(Handoff(path, agent, at, fields, text))
        return tuple(sorted(found, key=lambda each: (each.at, each.path)))

    @cached_property
    def orders(self) -> tuple[Handoff, ...]:
        """What the PM wrote to agents of the plan."""
        own = (each for each in self.handoffs if each.path.startswith("handoffs/pm-"))
        return tuple(each for each in own if each.agent in self.agents)

    @cached_property
    def reports(self) -> dict[str, Handoff]:
        """What agents handed in, by the order that it answers."""
        own = (each for each in self.handoffs if not each.path.startswith("handoffs/pm-"))
        return {each.fields["In reply to"]: each for each in own if each.fields.get("In reply to")}

    def report_of(self, order: Handoff) -> Handoff | None:
        """Return the report on an order."""
        return self.reports.get(order.path.rpartition("/")[2])

    def orders_to(self, agent: str) -> list[Handoff]:
        """Return the orders to do the work of an agent."""
        return [each for each in self.orders if each.agent == agent and not each.subjects]

    def judged_of(self, agent: str) -> list[Handoff]:
        """Return the reports of the agent's verifier on it."""
        verifier = self.agents[agent].get("verifier")
        own = [each for each in self.orders if each.agent == verifier and agent in each.subjects]
        return [report for each in own if (report := self.report_of(each)) is not None]

    def passes_of(self, agent: str) -> list[Handoff]:
        """Return the reports in which the agent's verifier passes it: alone, or at a checkpoint."""
        reports = self.judged_of(agent)
        joint = {each for point in self.plan.get("checkpoints") or [] for each in point["subjects"]}
        return [each for each in reports if each.fields.get("Verdict") in PASSES or agent in joint]

    def bound(self, agent: str, name: str, usual: int) -> int:
        """Return a bound of an agent."""
        own = self.agents[agent].get("bounds") or {}
        return int(own.get(name, (self.plan.get("bounds") or {}).get(name, usual)))


Rule = Callable[[Folder], Iterator[str]]
RULES: Final[dict[int, list[Rule]]] = {}
"""What looks for breaches of each rule, by its number."""


def rule(number: int) -> Callable[[Rule], Rule]:
    """Register the function that looks for breaches of a rule."""

    def register(found: Rule) -> Rule:
        RULES.setdefault(number, []).append(found)
        return found

    return register


def audit(files: Mapping[str, bytes]) -> list[Breach]:
    """Return every rule that does not hold in a task's folder, with each place."""
    from tests.auditor import recorded  # noqa: F401 (it registers the rules that need the records)

    folder = Folder(files)
    looks = ((number, look) for number in sorted(RULES) for look in RULES[number])
    return [Breach(number, text) for number, look in looks for text in look(folder)]


# Files and values --------------------------------------------------------------------------------------


@rule(1)
def _json_parses(folder: Folder) -> Iterator[str]:
    """JSON parses; times are integers."""
    for path, data in folder.files.items():
        if not path.startswith("orchestration/") or not path.endswith(".json") or _is_kept(path):
            continue
        try:
            document = json.loads(data)
        except ValueError as error:
            yield f"{path} does not parse: {error}"
            continue
        yield from (f"{path}: {key} is {value!r}" for key, value in _times(document) if _is_no_time(value))


def _is_kept(path: str) -> bool:
    """Return whether a file is a copy of what an agent wrote: it is kept as it was."""
    return "/records/unreadable/" in path or "/records/replaced/" in path


_TIMES: Final = frozenset(
    {"session_start", "last_update", "timestamp", "resolution_timestamp", "archived_at", "at"}
)


def _times(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((key, each) for key, each in value.items() if key in _TIMES)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _times(each)


def _is_no_time(value: Any) -> bool:
    return value is not None and (isinstance(value, bool) or not isinstance(value, int))


@rule(2)
def _values(folder: Folder) -> Iterator[str]:
    """Values are those of the contract."""
    status = folder.status
    if status.get("status") not in WORKFLOW_STATUSES:
        yield f"the workflow is {status.get('status')!r}"
    for name, entry in status.get("agents", {}).items():
        if entry.get("status") not in AGENT_STATUSES:
            yield f"{name} is {entry.get('status')!r}"
    for name, entry in status.get("verification", {}).items():
        if entry.get("status") not in VERIFIER_STATUSES:
            yield f"{name} is {entry.get('status')!r}"
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") not in NOTE_STATUSES:
                yield f"{path}: {note.get('note_id')} is {note.get('status')!r}"


@rule(3)
def _task_ids(folder: Folder) -> Iterator[str]:
    """task_ids are unique, and `SLUG_EPOCH`."""
    names = Counter(each["task_id"] for each in folder.agents.values())
    yield from (f"{name} is used {times} times" for name, times in names.items() if times > 1)
    yield from (f"{name} is no SLUG_EPOCH" for name in names if not _TASK_ID.fullmatch(name))


@rule(4)
def _belong(folder: Folder) -> Iterator[str]:
    """Sessions and results carry their agent's task_id; a stale session is put away."""
    for agent, plan in folder.agents.items():
        base = f"orchestration/agents/{agent}"
        for name in (
            "completion_drive/session_current.json",
            "verification_results.json",
            "poc_decision.json",
        ):
            path = f"{base}/{name}"
            said = folder.json(path).get("task_id") if path in folder.files else plan["task_id"]
            if said != plan["task_id"] and folder.stands(agent) in VERIFIED:
                yield f"{path} is of {said}"


# Notes -------------------------------------------------------------------------------------------------


@rule(5)
def _note_ids(folder: Folder) -> Iterator[str]:
    """note_ids are unique in a session."""
    for path, (_, session) in folder.sessions.items():
        names = Counter(each.get("note_id") for each in session.get("notes", []))
        yield from (
            f"{path}: {name} stands there {times} times" for name, times in names.items() if times > 1
        )


@rule(6)
def _resolved(folder: Folder) -> Iterator[str]:
    """Resolved notes are complete, in the order of time."""
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") != "resolved":
                continue
            said = [note.get(key) for key in ("resolution", "resolved_by", "resolution_timestamp")]
            if not all(said):
                yield f"{path}: {note['note_id']} is resolved without resolution, resolver or time"


@rule(7)
def _escalated(folder: Folder) -> Iterator[str]:
    """Escalated notes have a reason."""
    for path, (_, session) in folder.sessions.items():
        for note in session.get("notes", []):
            if note.get("status") == "escalated" and not note.get("escalation_reason"):
                yield f"{path}: {note['note_id']} is escalated without a reason"


@rule(8)
def _by_itself(folder: Folder) -> Iterator[str]:
    """`agent_self` resolved no note that has a kind, or was escalated."""
    for agent in folder.workers:
        if folder.stands(agent) not in VERIFIED:
            continue
        for note in folder.session(agent).get("notes", []):
            if note.get("resolved_by") == "agent_self" and (
                note.get("kind") or note.get("escalation_reason")
            ):
                yield f"{agent} resolved {note['note_id']} by itself"


@rule(9)
def _counts(folder: Folder) -> Iterator[str]:
    """Counts and gate equal the notes."""
    for agent, entry in folder.status.get("agents", {}).items():
        if folder.stands(agent) not in VERIFIED or agent not in folder.agents:
            continue
        notes = folder.session(agent).get("notes", [])
        left = sum(each.get("status") != "resolved" for each in notes)
        shown = (entry.get("completion_drive_notes_count", 0), entry.get("unresolved_notes", 0))
        if shown != (len(notes), left):
            yield f"{agent} has {len(notes)} notes, {left} unresolved, and is shown with {shown}"
    unresolved = [each.get("unresolved_notes", 0) for each in folder.status.get("agents", {}).values()]
    gate = "blocked" if any(unresolved) else "clear"
    if folder.status.get("overall_completion_drive_gate") not in {gate, None}:
        yield f"the gate is {folder.status['overall_completion_drive_gate']}, and should be {gate}"


# Runs --------------------------------------------------------------------------------------------------


@rule(13)
def _needs(folder: Folder) -> Iterator[str]:
    """Needs were verified at launch. The user may let a proof of concept pass, once its verifier has judged it."""
    for agent, plan in folder.workers.items():
        for order in folder.orders_to(agent)[:1]:
            for need in plan.get("needs") or []:
                said = folder.judged_of(need) if _user_may_pass(folder, need) else folder.passes_of(need)
                if not any(each.at <= order.at for each in said):
                    yield f"{order.path} starts {agent} before {need} was verified"


def _user_may_pass(folder: Folder, agent: str) -> bool:
    return bool(folder.agents[agent]["kind"] == "poc")


@rule(14)
def _dependencies(folder: Folder) -> Iterator[str]:
    """`dependencies` equal the plan."""
    for agent, plan in folder.workers.items():
        shown = folder.status.get("agents", {}).get(agent, {}).get("dependencies")
        if shown is not None and shown != list(plan.get("needs") or []):
            yield f"{agent} is shown with {shown}, and needs {plan.get('needs')}"


def _spans(folder: Folder) -> list[tuple[str, str, str]]:
    """Return the agent, the beginning and the end of each run that was reported on."""
    answered = ((order, folder.report_of(order)) for order in folder.orders)
    return [(order.agent, order.at, report.at) for order, report in answered if report is not None]


@rule(15)
def _caps(folder: Folder) -> Iterator[str]:
    """Caps were held, and overlapping files were never worked on at once."""
    spans = _spans(folder)
    groups = {name: each["at_once"] for name, each in (folder.plan.get("groups") or {}).items()}
    caps = [("all", set(folder.agents), folder.plan.get("max_parallel", 4))]
    caps += [
        (name, {each for each, plan in folder.agents.items() if plan.get("group") == name}, most)
        for name, most in groups.items()
    ]
    for name, members, most in caps:
        own = [(begin, end) for agent, begin, end in spans if agent in members]
        for moment, _ in own:
            at_once = sum(begin < moment < end for begin, end in own) + 1
            if at_once > most:
                yield f"at {moment} {at_once} of {name} were at work, and {most} may be"
    files = {each: set(plan.get("files") or []) for each, plan in folder.agents.items()}
    for agent, begin, end in spans:
        for other, since, until in spans:
            if agent < other and files[agent] & files[other] and begin < until and since < end:
                yield f"{agent} and {other} were at work at once on {', '.join(files[agent] & files[other])}"


@rule(16)
def _one_run(folder: Folder) -> Iterator[str]:
    """One run of an agent lives at a time."""
    spans = sorted(_spans(folder))
    for (agent, _, end), (other, begin, _) in pairwise(spans):
        if agent == other and begin < end:
            yield f"{agent} was started at {begin}, and was at work until {end}"


def _passed_by_user(folder: Folder, agent: str) -> bool:
    """Return whether the user may have let a proof of concept pass: its verifier has judged it."""
    return _user_may_pass(folder, agent) and bool(folder.judged_of(agent))


@rule(17)
def _by_its_verifier(folder: Folder) -> Iterator[str]:
    """What is verified was passed by the verifier that the plan names."""
    for agent in folder.workers:
        if (
            folder.stands(agent) in VERIFIED
            and not folder.passes_of(agent)
            and not _passed_by_user(folder, agent)
        ):
            yield f"{agent} is {folder.stands(agent)}, and no report of {folder.agents[agent]['verifier']} passes it"


@rule(18)
def _nothing_left(folder: Folder) -> Iterator[str]:
    """What is verified has no unresolved note, and no results file."""
    for agent in folder.workers:
        if folder.stands(agent) not in VERIFIED:
            continue
        if any(each.get("status") != "resolved" for each in folder.session(agent).get("notes", [])):
            yield f"{agent} is verified with an unresolved note"
        if f"orchestration/agents/{agent}/verification_results.json" in folder.files:
            yield f"{agent} is verified beside its verification_results.json"


@rule(19)
def _fails_name_evidence(folder: Folder) -> Iterator[str]:
    """Fails name the missing evidence."""
    for order in folder.orders:
        report = folder.report_of(order)
        if (
            report is not None
            and report.fields.get("Verdict") == "REJECTED"
            and not re.search(r"^- \S", report.text, re.MULTILINE)
        ):
            yield f"{report.path} rejects, and names nothing"


@rule(20)
def _fails_are_bounded(folder: Folder) -> Iterator[str]:
    """A fail leads to another run of the agent, or it is not verified."""
    for agent in folder.workers:
        judged = [each for each in folder.orders if agent in each.subjects and len(each.subjects) == 1]
        for order in judged:
            report = folder.report_of(order)
            if report is None or report.fields.get("Verdict") != "REJECTED":
                continue
            if folder.stands(agent) in VERIFIED and not any(
                each.at >= report.at for each in folder.orders_to(agent)
            ):
                yield f"{report.path} rejects {agent}, which is verified without another run"


@rule(26)
def _decisions(folder: Folder) -> Iterator[str]:
    """Decisions on proofs of concept are never bolder than the evidence."""
    for agent in folder.workers:
        said = folder.json(f"orchestration/agents/{agent}/poc_decision.json")
        if (
            said
            and folder.stands(agent) in VERIFIED
            and said.get("decision") not in BOLDNESS.get(said.get("evidence"), set())
        ):
            yield f"{agent}: {said.get('decision')} on evidence that says {said.get('evidence')}"


# The whole ---------------------------------------------------------------------------------------------


@rule(30)
def _outputs(folder: Folder) -> Iterator[str]:
    """What is verified has its outputs and its evidence."""
    for agent, plan in folder.workers.items():
        wanted = [*(plan.get("outputs") or []), *(each["path"] for each in plan.get("evidence") or [])]
        for path in wanted:
            if (
                folder.stands(agent) in VERIFIED
                and f"orchestration/agents/{agent}/task_output/{path}" not in folder.files
            ):
                yield f"{agent} is verified without task_output/{path}"


@rule(31)
def _approved(folder: Folder) -> Iterator[str]:
    """Nothing starts that nobody approved."""
    approval = folder.plan.get("approval") or {}
    if folder.orders and not (
        re.fullmatch(r"[0-9a-f]{64}", str(approval.get("hash"))) and approval.get("by")
    ):
        yield "orders were given, and nobody approved the plan"


@rule(34)
def _archives(folder: Folder) -> Iterator[str]:
    """Archive, index and log agree, and nothing is archived twice."""
    base = "orchestration/agents/archival_agent"
    index = folder.json(f"{base}/archive_index.json").get("sessions", [])
    log = folder.json(f"{base}/cleanup_log.json").get("operations", [])
    done = {each["to"] for each in log if each.get("result") == "done"}
    for entry in index:
        if f"orchestration/{entry['file']}" not in folder.files:
            yield f"{entry['file']} is in the index, and not there"
        if entry["file"] not in done:
            yield f"{entry['file']} is in the index, and not in the log"
    kept = Counter((each["agent"], each["session_start"], each["sha256"]) for each in index)
    yield from (
        f"a session of {agent} was archived {times} times" for (agent, *_), times in kept.items() if times > 1
    )


@rule(35)
def _handoffs(folder: Folder) -> Iterator[str]:
    """Each report answers one order, of its own run and agent."""
    known = {each.path.rpartition("/")[2]: each for each in folder.orders}
    for name, report in folder.reports.items():
        order = known.get(name)
        if order is not None and order.fields.get("Run") not in {report.fields.get("Run"), None}:
            yield f"{report.path} is of another run than {order.path}"
        if order is not None and order.agent != report.agent:
            yield f"{report.path} answers an order to {order.agent}"


@rule(36)
def _complete(folder: Folder) -> Iterator[str]:
    """A complete workflow has every agent complete, and every session archived."""
    if folder.status.get("status") != "session_complete":
        return
    for agent in folder.workers:
        if folder.stands(agent) != "session_complete":
            yield f"the workflow is complete, and {agent} is {folder.stands(agent)}"
        if f"orchestration/agents/{agent}/completion_drive/session_current.json" in folder.files:
            yield f"the workflow is complete, and the session of {agent} is not archived"
