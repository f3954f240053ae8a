"""The verdict on a night: what it came to, held against what it said beforehand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tests.nights import shop
from tests.nights.judging import advice, claims, counts, history, measures, service_times
from tests.nights.judging.rules import FalseStatement, Rule, Ruled, documents
from tests.nights.judging.work import Dead, dead_time
from tests.nights.looking import NOTIFICATION, PROGRESS, STATUS
from tests.nights.night import ENDED, Job, Night
from tests.nights.observation import DEAD_DAEMON, Key, Observation, Request

RULES: Final[dict[str, Rule]] = {
    "complete": claims.complete,
    "criteria": claims.criteria,
    "evidence": claims.evidence,
    "on-branch": claims.on_branch,
    "surveyed": claims.surveyed,
    "checked": claims.checked,
    "limit-ends": service_times.limit_ends,
    "service-troubles": service_times.service_troubles,
    "busy": service_times.busy,
    "counts": counts.counts,
    "questions": counts.questions,
    "next": advice.next_step,
    "names": counts.names,
    "runs": counts.runs,
    "attempts": counts.attempts,
    "daemon": counts.daemon,
    "disk": counts.disk,
    "usage": counts.usage,
    "history": history.history,
    "at-work": history.at_work,
    "task-md": history.as_task_md_says,
}
"""Every rule that a sentence shown is held against."""


@dataclass(slots=True)
class Verdict:
    """What a night came to. `faults` are the bench's own; `failures` are what is not as the night says it must be."""

    night: str
    finished: bool
    ends: dict[str, str]
    dead: list[Dead]
    dead_time: float
    keys: list[Key]
    wasted: list[Request]
    lost: list[str]
    twice: list[str]
    false: list[FalseStatement]
    checked: dict[str, int]
    took: float
    faults: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether the night went as it says it must, and was measured."""
        return not self.failures and not self.faults


def judge(night: Night, seen: Observation) -> Verdict:
    """Judge what was seen of a night."""
    ruled: dict[str, Ruled] = {name: rule(seen) for name, rule in RULES.items()}
    per_task = {task.name: dead_time(seen, task) for task in seen.tasks}
    worst = max(per_task.values(), key=lambda spans: sum(span.counts for span in spans), default=list[Dead]())
    lost = [*measures.lost_commits(seen), *measures.lost_edits(seen)]
    verdict = Verdict(
        night=night.name,
        finished=False,
        ends={task.name: _state(seen, task.name) for task in seen.tasks},
        dead=worst,
        dead_time=sum(span.counts for span in worst),
        keys=seen.keys,
        wasted=measures.wasted(seen),
        lost=lost,
        twice=measures.started_twice(seen),
        false=[each for name in RULES for each in ruled[name].false],
        checked={name: ruled[name].checked for name in RULES},
        took=seen.ended - seen.began,
        faults=seen.faults,
    )
    missing = _unfinished(night, seen, verdict)
    verdict.finished = not missing
    verdict.failures = [*missing, *_failures(night, seen, verdict)]
    return verdict


def _unfinished(night: Night, seen: Observation, verdict: Verdict) -> list[str]:
    wrong = []
    if not seen.tasks:
        return ["nothing was seen"]
    for job, task in zip(night.jobs, seen.tasks, strict=True):
        state = verdict.ends[task.name]
        if state not in night.expects.ends:
            wrong.append(
                f"{task.name} is {state or 'not shown'}, not {' or '.join(sorted(night.expects.ends))}"
            )
        wrong += measures.unfinished(seen, task, *_expected(night, job))
    return wrong


def _expected(night: Night, job: Job) -> tuple[list[str], list[str]]:
    there = job.parts if night.expects.there is None else night.expects.there
    absent = [shop.PARTS[name].criterion for name in night.expects.absent]
    return [shop.PARTS[name].criterion for name in there], absent


def _failures(night: Night, seen: Observation, verdict: Verdict) -> list[str]:
    expects, wrong = night.expects, list[str]()
    if verdict.dead_time > expects.dead:
        parts = "; ".join(f"{span.counts / 60:.1f} min: {span.why}" for span in verdict.dead)
        wrong.append(f"dead time {verdict.dead_time / 60:.1f} min, allowed {expects.dead / 60:.1f} ({parts})")
    needless = [key for key in verdict.keys if not key.planned]
    wrong += [f"a person was asked: {key.text.splitlines()[0]}" for key in needless]
    if night.planned and not any(key.planned for key in verdict.keys):
        wrong.append("the person whom the night needs was not asked")
    if len(verdict.wasted) > expects.wasted:
        wrong.append(f"{len(verdict.wasted)} requests wasted, allowed {expects.wasted}")
    if verdict.lost and not expects.loses_by_trouble:
        wrong.append(f"lost: {', '.join(verdict.lost)}")
    wrong += [f"started twice: {each}" for each in verdict.twice]
    wrong += [f"false ({each.rule}) in {each.source}: {each.said!r}; {each.truth}" for each in verdict.false]
    wrong += [f"{each.what}" for each in seen.happenings if each.what == DEAD_DAEMON]
    wrong += _unsaid(night, seen)
    for also in expects.also:
        wrong += also(seen)
    return wrong


def _unsaid(night: Night, seen: Observation) -> list[str]:
    last = {(each.source, each.task): each.text for each in seen.shown if each.source in {STATUS, PROGRESS}}
    notified = "\n".join([*last.values(), *(each.text for each in seen.shown if each.source == NOTIFICATION)])
    return [
        f"nothing says {each!r} in the morning"
        for each in night.expects.shown
        if not re.search(each, notified)
    ]


def _state(seen: Observation, task: str) -> str:
    states = [str(notified.get("state")) for shown, notified in documents(seen) if shown.task == task]
    return states[-1] if states else ""


__all__ = ["ENDED", "RULES", "Verdict", "judge"]
