"""The observer's figures, each checked by another way; and the form of its report."""

import json
import random
import statistics
from collections import Counter
from dataclasses import replace
from datetime import datetime

import pytest

from orchestrator.formats.coordination.handoff import render_handoff
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import (
    HandoffStatus,
    Issue,
    IssueSeverity,
    PipelineRole,
    Transition,
    iso,
    moment,
)
from orchestrator.records.advice import recommendations
from orchestrator.records.archive import open_archive
from orchestrator.records.daily_report import report
from orchestrator.records.handoff_facts import read_archive
from orchestrator.records.observer import DAY, observe
from orchestrator.records.passages import issues_of, of_roles, of_task
from tests.unit.records.pipelines import BEGAN, PIPELINE, handed_on
from tests.unit.reporting.journal import AT, Lines

DAWN = moment("2025-12-11T00:00:00Z") or 0.0


def figures(handoffs, began, tasks=(), *, since=DAWN, until=DAWN + DAY, now=DAWN + 2 * DAY):
    chains = {each.task: each.at for each in handoffs if each.transition is Transition.COMPLETE}
    return observe(
        list(of_roles(handoffs, began)),
        list(issues_of(handoffs)),
        chains,
        tasks,
        since=since,
        until=until,
        now=now,
    )


def read(tmp_path, *handoffs, started=BEGAN):
    archive = open_archive(DiskFiles(), tmp_path / "handoffs")
    for each in handoffs:
        archive.take(each, started=started)
    return read_archive(DiskFiles(), tmp_path / "handoffs")


def test_the_report_has_the_form_of_the_document(tmp_path):
    found = read(tmp_path, *PIPELINE)
    assert report(figures(found.handoffs, found.began)) == (
        "# Handoff Pipeline Report - 2025-12-11\n"
        "\n"
        "## Summary\n"
        "- Total handoffs: 4\n"
        "- Completed chains: 1\n"
        "- Active handoffs: 0\n"
        "- Stuck handoffs: 0\n"
        "\n"
        "## Performance\n"
        "- Avg PLANNER→IMPLEMENTER: 90 min\n"
        "- Avg IMPLEMENTER→AUDITOR: 30 min\n"
        "- Avg AUDITOR→CLEANER: 15 min\n"
        "- Avg CLEANER→ORCHESTRATOR: 15 min\n"
        "\n"
        "## Issues\n"
        "- 0 requires_replanning events\n"
        "- 0 high-severity issues in audit\n"
        "- 0 critical blockers\n"
        "\n"
        "## Recommendations\n"
        "- None: no figure is out of the ordinary\n"
    )


def test_issues_are_said_as_the_document_does(tmp_path):
    """Of the audit: the high ones, and whether the newest handoff has them still."""
    wrong = Issue(IssueSeverity.HIGH, "The plan misses the cache")
    hole = Issue(IssueSeverity.HIGH, "Anybody may write")
    stop = Issue(IssueSeverity.CRITICAL, "No credentials")
    back = handed_on(2, Transition.REPLAN, 100, wrong)
    back = replace(back, head=replace(back.head, source=PipelineRole.IMPLEMENTER))
    others = (
        handed_on(5, Transition.CLEAN_UP, 150, hole, task="task_2"),
        handed_on(6, Transition.IMPLEMENT, 160, stop, task="task_3"),
    )
    found = read(tmp_path, PIPELINE[0], back, *others)
    text = report(figures(found.handoffs, found.began))
    assert "- 1 requires_replanning event (The plan misses the cache)\n" in text
    assert "- 1 high-severity issue in audit (1 open)\n- 1 critical blocker\n" in text
    assert "more detailed plans (reduce replanning: 1 of 4 handoffs)" in text


def test_what_nobody_took_for_a_day_is_stuck(tmp_path):
    """Unless a later handoff of its task shows that it was taken."""
    taken = handed_on(1, Transition.IMPLEMENT, 0)
    left = handed_on(2, Transition.AUDIT, 10)
    accepted = handed_on(3, Transition.IMPLEMENT, 20, task="task_2")
    accepted = replace(accepted, head=replace(accepted.head, status=HandoffStatus.ACCEPTED))
    found = read(tmp_path, taken, left, accepted)
    day_later = figures(found.handoffs, found.began, until=DAWN + 3 * DAY, now=BEGAN + 600 + DAY + 1)
    assert [each.id for each in day_later.stuck] == [left.head.id]
    assert day_later.active == 2
    assert figures(found.handoffs, found.began, until=DAWN + 3 * DAY, now=BEGAN + 600 + DAY).stuck == ()


# By another way -----------------------------------------------------------------------------------


def random_archive(seed, root):
    """Write handoffs of many tasks at random, as plain files; return the documents."""
    draw = random.Random(seed)
    for task in range(40):
        at = DAWN - 10 * DAY + draw.randrange(12 * 86_400)
        for number in range(draw.randrange(1, 9)):
            at += draw.randrange(60, 40_000)
            issues = [
                Issue(draw.choice(list(IssueSeverity)), f"issue {draw.randrange(6)}")
                for _ in range(draw.randrange(3))
            ]
            handoff = handed_on(
                100 * task + number,
                draw.choice(list(Transition)),
                (at - BEGAN) / 60,
                *issues,
                task=f"task_{task}",
            )
            status = draw.choice(list(HandoffStatus))
            handoff = replace(handoff, head=replace(handoff.head, status=status))
            folder = root / iso(at)[:10]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{handoff.head.id}.json").write_bytes(render_handoff(handoff))
    return [json.loads(path.read_text()) for path in root.glob("*/handoff_*.json")]


def seconds_of(head):
    return datetime.strptime(head["timestamp"], "%Y-%m-%dT%H:%M:%S%z").timestamp()


class Recount:
    """Counts from the JSON of handoffs, with no code of the observer. The period is 8 to 11 December."""

    def __init__(self, documents):
        self.took: dict[tuple[str, str], list[float]] = {}
        self.verdicts = Counter[tuple[tuple[str, str], bool | None]]()
        self.before = Counter[str]()
        self.inside: list[dict[str, str]] = []
        self.open, self.stuck, self.again = 0, set[str](), 0
        for task in {each["context"]["taskId"] for each in documents}:
            chain = [each for each in documents if each["context"]["taskId"] == task]
            chain.sort(key=lambda each: (each["handoff"]["timestamp"], each["handoff"]["handoffId"]))
            self.count_issues(chain)
            heads = [each["handoff"] for each in chain]
            for last, head, following in zip([None, *heads], heads, [*heads[1:], None], strict=False):
                if head["timestamp"] < "2025-12-12":
                    self.count(last, head, following)

    def count_issues(self, chain):
        shown = set()
        for each in chain:
            early = "2025-12-04" <= each["handoff"]["timestamp"][:10] <= "2025-12-07"
            for issue in each["issues"]:
                mark = issue["severity"], issue["description"]
                self.before[issue["severity"]] += early and mark not in shown
                shown.add(mark)

    def count(self, last, head, following):
        at = seconds_of(head)
        if following is None and head["status"] in {"pending", "accepted"} and head["type"] != "complete":
            self.open += 1
            if head["status"] == "pending" and DAWN + DAY - at > 86_400:
                self.stuck.add(head["handoffId"])
        if head["timestamp"] < "2025-12-08":
            return
        self.inside.append(head)
        route = head["from"], head["to"]
        sent_back = last and last["status"] == "rejected" and (last["from"], last["to"]) == route
        self.again += bool(head["type"] == "requires_replanning" or sent_back)
        if last:
            self.took.setdefault(route, []).append(at - seconds_of(last))
        self.verdicts[route, self.verdict(head, following)] += 1

    @staticmethod
    def verdict(head, following):
        if head["status"] == "rejected":
            return False
        if following:
            return not (following["type"] == "requires_replanning" and following["from"] == head["to"])
        return True if head["status"] == "completed" or head["type"] == "complete" else None


@pytest.mark.parametrize("seed", range(8))
def test_figures_of_an_archive_are_counted_again(tmp_path, seed):
    """From the JSON, with other means: the durations by the statistics of Python, nearest ranks by counting."""
    again = Recount(random_archive(seed, tmp_path / "handoffs"))
    facts = read_archive(DiskFiles(), tmp_path / "handoffs")
    found = figures(facts.handoffs, facts.began, since=DAWN - 3 * DAY)
    replanned = sum(each["type"] == "requires_replanning" for each in again.inside)
    assert len(found.passages) == len(again.inside) == sum(route.count for route in found.routes) > 0
    assert (found.replanned, found.reworked) == (replanned, again.again)
    assert (found.active, {each.id for each in found.stuck}) == (again.open, again.stuck)
    assert {key: count for key, count in found.issues_before.items() if count} == +again.before
    for route in found.routes:
        key = route.source, route.target
        good, bad = again.verdicts[key, True], again.verdicts[key, False]
        assert (route.good, route.decided) == (good, good + bad)
        check_durations(route.seconds, again.took.get(key, []))


def check_durations(took, times):
    assert took.count == len(times)
    if times:
        assert took.mean == pytest.approx(statistics.mean(times))
        assert (took.median, took.longest) == (statistics.median_low(times), max(times))
        assert sum(each <= took.p90 for each in times) >= 0.9 * len(times)
        assert sum(each < took.p90 for each in times) < 0.9 * len(times)


VIEW = {"task": "tidy", "id": "tidy-0a1b2c3d", "project": "/shop", "state": "complete"}


def journal():
    """A development that is rejected once, with a question and an hour without any program."""
    lines = Lines()
    lines.begin()
    lines.open("r-1", step="dev-1")
    lines.end("r-1", after=600)
    lines.say("time_passed", {"kind": "step_moved", "step": "dev-1", "to": "passed"})
    lines.open("r-2", step="test-1", agent="test", instance="test")
    asked = {"id": "q1", "step": "test-1", "text": "Which name?", "asked_at": lines[-1]["at"] + 30}
    lines.say("time_passed", {"kind": "question_asked", "question": asked}, after=30)
    lines.say("answered", {"kind": "question_answered", "question": "q1", "text": "x"}, after=7200)
    lines.end("r-2", after=300)
    lines.say("time_passed", {"kind": "step_reopened", "step": "dev-1", "attempt": 2, "why": "no"})
    lines.say("time_passed", {"kind": "step_moved", "step": "test-1", "to": "passed"}, after=1)
    lines.open("r-3", step="dev-1", attempt=2)
    lines.end("r-3", after=1200)
    lines.say("time_passed", {"kind": "step_moved", "step": "dev-1", "to": "passed"}, after=3600)
    lines.say("time_passed", {"kind": "task_moved", "to": "complete"})
    return lines


def view():
    steps = [
        {"id": "dev-1", "agent": "dev", "title": "Do it", "status": "passed"},
        {"id": "test-1", "agent": "test", "title": "Test it", "status": "passed"},
    ]
    used = [
        {"agent": "dev", "runs": 2, "time": 1800.0, "tokens": 1200, "cost": 0.5, "estimate": None},
        {"agent": "test", "runs": 1, "time": 7590.0, "tokens": None, "cost": None, "estimate": 0.25},
    ]
    return VIEW | {"steps": steps, "used_by": used}


def test_figures_of_a_journal_are_counted_again():
    """From the lines themselves, which say when each thing began and ended."""
    lines = journal()
    opened = [each["at"] for each in lines if any(c["kind"] == "run_opened" for c in each["changes"])]
    moved = {
        (change["kind"], change.get("step"), change.get("to")): line["at"]
        for line in lines
        for change in line["changes"]
        if change["kind"] in {"step_moved", "step_reopened"}
    }
    passed = [
        line["at"]
        for line in lines
        for change in line["changes"]
        if (change.get("step"), change.get("to")) == ("dev-1", "passed")
    ]
    (asked,) = [
        each["question"]["asked_at"]
        for line in lines
        for each in line["changes"]
        if each["kind"] == "question_asked"
    ]
    (answered,) = [each["at"] for each in lines if each["fact"]["kind"] == "answered"]
    found = figures(
        [],
        {},
        [of_task(view(), lines.history(), lines[-1]["at"] + 60)],
        since=AT - 60,
        until=AT + DAY,
        now=lines[-1]["at"] + 60,
    )
    assert (len(found.passages), found.completed, found.active, found.reworked) == (3, 1, 0, 1)
    assert (found.good, found.decided) == (2, 3)
    assert {(each.source, each.target, each.seconds) for each in found.passages} == {
        ("dev", "test", passed[0] - opened[0]),
        ("test", "dev", moved["step_moved", "test-1", "passed"] - opened[1]),
        ("dev", "end", passed[1] - opened[2]),
    }
    assert found.waits.mean == found.waits.longest == answered - asked
    assert found.at_work == lines[-1]["at"] - AT
    ends = [each["at"] for each in lines if each["fact"]["kind"] == "run_gone"]
    gaps = [opened[0] - AT, opened[1] - ends[0], opened[2] - ends[1], lines[-1]["at"] - ends[2]]
    assert found.dead == pytest.approx(sum(each for each in gaps if each >= 30))
    assert [(each.role, each.tokens, each.cost, each.estimate) for each in found.uses] == [
        ("dev", 1200, 0.5, None),
        ("test", None, None, 0.25),
    ]


def test_each_recommendation_names_its_figures():
    lines = journal()
    found = figures(
        [],
        {},
        [of_task(view(), lines.history(), lines[-1]["at"] + 60)],
        since=AT - 60,
        until=AT + DAY,
        now=lines[-1]["at"] + 60,
    )
    said = {each.text: each.figures for each in recommendations(found)}
    assert said["Answers could come sooner (1 answered, after 2 h 0 min avg)"] == {
        "answered": 1,
        "mean": 7200.0,
    }
    assert any(text.startswith("Find out why nobody worked (") for text in said)
    assert all(figures and any(sign.isdigit() for sign in text) for text, figures in said.items())


def test_a_task_in_the_archive_is_counted_once(tmp_path):
    """A family whose handoffs are archived leaves a journal as well: the archive counts."""
    lines = journal()
    task = of_task(view(), lines.history(), lines[-1]["at"] + 60)
    handoff = handed_on(1, Transition.IMPLEMENT, (AT + 60 - BEGAN) / 60, task=task.id)
    facts = read(tmp_path, handoff)
    found = figures(facts.handoffs, facts.began, [task], since=AT - 60, until=AT + DAY, now=AT + DAY)
    assert [each.id for each in found.passages] == [handoff.head.id]


def test_an_attempt_that_does_not_end_is_stuck():
    lines = Lines()
    lines.begin()
    lines.open("r-1", step="dev-1")
    now = AT + 2 * DAY
    task = of_task(view() | {"state": "running"}, lines.history(), now)
    found = figures([], {}, [task], since=AT - 60, until=AT + 3 * DAY, now=now)
    assert (len(found.passages), found.active) == (0, 1)
    assert [(each.id, each.source) for each in found.stuck] == [("dev-1, attempt 1", "dev")]


def test_what_the_audit_found_is_the_audits(tmp_path):
    """A rejected handoff holds what its receiver found: "0 in audit" was said of three failed audits."""
    hole = Issue(IssueSeverity.HIGH, "Nobody is greeted")
    first = handed_on(2, Transition.AUDIT, 120, hole)
    rejected = replace(first, head=replace(first.head, status=HandoffStatus.REJECTED))
    found = read(tmp_path, PIPELINE[0], rejected, handed_on(5, Transition.AUDIT, 150))
    seen = figures(found.handoffs, found.began)
    assert "- 1 high-severity issue in audit (resolved)\n" in report(seen)
    assert seen.reworked == 1, "what takes the place of a rejected handoff is work done again"


def test_a_moment_that_was_seen_late_is_no_end():
    """Two phases at once: the first was seen to end a moment after the second, whose line began what came next."""
    lines = Lines()
    lines.begin()
    lines.open("r-1", step="dev-1")
    lines.open("r-2", step="test-1", agent="test", instance="test")
    lines.say("time_passed", {"kind": "step_moved", "step": "dev-1", "to": "passed"})
    last = {
        "id": "r-3",
        "step": "last-1",
        "attempt": 1,
        "agent": "maker",
        "instance": "maker",
        "purpose": "work",
    }
    opened = {"kind": "run_opened", "run": last | {"opened_at": lines[-1]["at"] - 0.02}}
    lines.say("time_passed", {"kind": "step_moved", "step": "test-1", "to": "passed"}, opened, after=-0.02)
    lines.say("time_passed", {"kind": "step_moved", "step": "last-1", "to": "passed"})
    lines.say("time_passed", {"kind": "task_moved", "to": "complete"})
    steps = [*view()["steps"], {"id": "last-1", "agent": "maker", "title": "End it", "status": "passed"}]
    task = of_task(view() | {"steps": steps}, lines.history(), lines[-1]["at"])
    assert {(each.source, each.target) for each in task.passages} == {
        ("dev", "maker"),
        ("test", "maker"),
        ("maker", "end"),
    }
