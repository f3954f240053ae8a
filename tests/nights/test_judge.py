"""The judge is judged: a sound night passes every rule, and each thing that can be wrong is found by its own rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.nights import shop
from tests.nights.__main__ import word
from tests.nights.judging.measures import lost_commits, lost_edits, started_twice, wasted
from tests.nights.judging.orders import goes_on, only_one_run, second_order_bears
from tests.nights.judging.table import as_markdown, as_text, troubles, unchecked
from tests.nights.judging.verdict import RULES, Verdict, judge
from tests.nights.judging.work import dead_time
from tests.nights.looking import (
    EXIT_CODE,
    LIST,
    LIST_JSON,
    NOTIFICATION,
    PROGRESS,
    QUESTIONS,
    STATUS,
    STATUS_JSON,
    WHY,
)
from tests.nights.night import Job, Morning, Night, Planned
from tests.nights.observation import (
    DEAD_DAEMON,
    Happening,
    Key,
    Life,
    Missing,
    Observation,
    Order,
    Outcome,
    RefsSeen,
    Request,
    Shown,
    TaskSeen,
    TipJudged,
    TreeSeen,
    Window,
    keep,
    kept,
)

BEGAN = 1_795_363_200.0  # 16:00:00 UTC
NIGHT = Night(runtimes={"*": "claude"}, jobs=(Job("shop", ("greet",)),), name="sound")
GREET, ALL = shop.PARTS["greet"].criterion, shop.ALL_PASS
BASE, TIP = "b" * 40, "c" * 40
ONE_COMMIT = "1 commit, 2 files changed, +13 -0"
Alter = Callable[[Observation], None]


def a_document(**changed: Any) -> str:
    """What `task status --json` prints of a task of which one agent works."""
    reported = {
        "task": "shop",
        "state": "running",
        "branch": "task/shop",
        "base": BASE,
        "steps": [
            {"id": "explore", "status": "passed", "attempts": 1, "why": ""},
            {"id": "dev:greet", "status": "working", "attempts": 1, "why": ""},
        ],
        "agents": [{"name": "dev", "run": "r-2", "step": "dev:greet", "state": "alive", "turn": "busy"}],
        "questions": [],
        "criteria": [],
        "usage": {"tokens": 1000},
        "outcome": {"next": "nothing has to be done; `task attach shop` shows the agents"},
    }
    return json.dumps(reported | changed)


def a_round(number: int, at: float, document: str, **texts: str) -> list[Shown]:
    """One round of looks: the document at its beginning and end, and the texts between."""
    sources = {"list_": LIST, "list_json": LIST_JSON, "status": STATUS, "page": PROGRESS, "asked": QUESTIONS}
    shown = [Shown(at, number, STATUS_JSON, "shop", document)]
    for name, text in texts.items():
        source = sources[name]
        shown.append(
            Shown(at + 0.2, number, source, "" if source in {LIST, LIST_JSON, QUESTIONS} else "shop", text)
        )
    return [*shown, Shown(at + 0.6, number, STATUS_JSON, "shop", document)]


def listed(state: str, passed: int, total: int, live: int) -> str:
    each = {
        "task": "shop",
        "state": state,
        "steps_passed": passed,
        "steps_set_aside": 0,
        "steps_total": total,
    }
    return json.dumps({"tasks": [each | {"questions_open": 0, "agents_live": live}]})


def a_sound_night() -> Observation:
    """A night in which one limit was waited for, the work was done, and nothing that is not so was shown."""
    seen = Observation("sound", 60.0, BEGAN, BEGAN + 120, BEGAN + 480)
    seen.tasks = [TaskSeen("shop", BEGAN, BEGAN + 100, "task/shop", BASE, TIP, 1, (GREET, ALL))]
    seen.tips = [
        TipJudged(BASE, tests_pass=True, criteria={GREET: False, ALL: True}, files=("shop/prices.py",)),
        TipJudged(TIP, tests_pass=True, criteria={GREET: True, ALL: True}, files=("shop/greet.py",)),
    ]
    seen.refs = [
        RefsSeen(BEGAN, {"refs/heads/task/shop": BASE}),
        RefsSeen(BEGAN + 90, {"refs/heads/task/shop": TIP}),
    ]
    seen.commits = {BASE: 3, TIP: 1}
    seen.surveys = {BASE: "0 commits, 0 files changed, +0 -0", TIP: ONE_COMMIT}
    seen.kept_commits, seen.kept_blobs = {BASE, TIP}, {"blob-1"}
    seen.orders = [
        Order("r-1", "shop", "explore", "/w/look"),
        Order("r-2", "shop", "dev", "/w/greet", "greet"),
    ]
    seen.orders.append(Order("r-3", "shop", "dev", "/w/greet", "greet"))
    seen.windows = [Window("claude", "limit", BEGAN + 20, BEGAN + 60, BEGAN + 61)]
    seen.requests = [
        Request(1, BEGAN + 2, BEGAN + 9, Outcome.ANSWERED, "claude", run="r-1", tokens=500),
        Request(2, BEGAN + 12, BEGAN + 19, Outcome.ANSWERED, "claude", run="r-2", call="Bash ls", tokens=250),
        Request(
            3, BEGAN + 20, BEGAN + 20, Outcome.REFUSED, "claude", trouble="usage_limit", run="r-2", step=1
        ),
        Request(4, BEGAN + 63, BEGAN + 98, Outcome.ANSWERED, "claude", run="r-3", tokens=250),
    ]
    seen.lives = [
        Life("r-1", 11, BEGAN + 0.5, BEGAN + 10.5, "claude", first=True),
        Life("r-2", 12, BEGAN + 11, BEGAN + 21, "claude", first=True),
        Life("r-3", 13, BEGAN + 62, BEGAN + 99.5, "claude", first=True),
    ]
    seen.trees = [
        TreeSeen(BEGAN + 15, "/w/greet", BASE, {"shop/greet.py": "blob-1"}),
        TreeSeen(BEGAN + 91, "/w/greet", TIP, {}),
    ]
    seen.shown = [
        *a_round(
            1,
            BEGAN + 15,
            a_document(),
            list_="TASK  STATE  STEPS\nshop  running  DEVELOPING  1/2    ~/shop\n",
            list_json=listed("running", 1, 2, 1),
            status="shop  running  DEVELOPING\ncheck-in  none; daemon up\n",
            page="**Now:** at work, phase DEVELOPING; 1 of 2 steps passed; 1 agent running\n",
            asked="no question is waiting for your answer\n",
        ),
        *a_round(
            2,
            BEGAN + 30,
            a_document(agents=[]),
            status="shop  running  DEVELOPING\ncheck-in  none; daemon up\n  limited, goes on at 16:01: You hit it\n",
        ),
        Shown(BEGAN + 31, 0, NOTIFICATION, "", "shop: dev is limited\nYou've hit your 5-hour limit"),
        *a_round(
            3,
            BEGAN + 110,
            an_end(),
            status="shop  complete  COMPLETE\nsuccess criteria: 2 of 2 met\n",
            page=a_result(),
        ),
        Shown(BEGAN + 111, 3, EXIT_CODE, "shop", "", 0),
        Shown(BEGAN + 111, 3, WHY, "shop", f"the work of dev:greet is commit {TIP[:10]} (1 file)\n"),
        Shown(BEGAN + 112, 0, NOTIFICATION, "", "shop is complete\nevery step is settled"),
    ]
    seen.named = 3
    return seen


def an_end(**changed: Any) -> str:
    steps = [{"id": step, "status": "passed", "attempts": 1, "why": ""} for step in ("explore", "dev:greet")]
    mark = {"text": GREET, "met": True, "evidence": ["shop/greet.py"]}
    return a_document(**({"state": "complete", "steps": steps, "agents": [], "criteria": [mark]} | changed))


def a_result() -> str:
    page = "**Now:** complete, phase COMPLETE; 2 of 2 steps passed; no agent running\n"
    work = f"branch `task/shop` at {TIP[:10]}: {ONE_COMMIT}; check before: exited 0 (OK), check after: exited 0 (OK)"
    page += f"- **Outcome:** complete; 2 of 2 steps passed\n- **Work:** {work}\n"
    return f"{page}- [x] {GREET} (evidence: shop/greet.py)\n- The work is on the branch `task/shop`\n"


def shows(
    source: str, text: str, at: float = 110, *, task: str = "shop", number: int = 9, took: float = 0.0
) -> Alter:
    """Let something be shown besides."""

    def alter(seen: Observation) -> None:
        seen.shown.append(Shown(BEGAN + at, number, source, task, text, 0, took))

    return alter


def in_a_round(document: str, at: float = 16, **texts: str) -> Alter:
    """Let a whole round be shown besides."""
    return lambda seen: seen.shown.extend(a_round(8, BEGAN + at, document, **texts))


def without_the_work(seen: Observation) -> None:
    """Let the branch stand where it began."""
    seen.refs.pop()
    seen.tasks = [replace(seen.tasks[0], tip=BASE, ahead=0)]


def happens(what: str, at: float, until: float) -> Alter:
    return lambda seen: seen.happenings.append(Happening(BEGAN + at, BEGAN + until, what))


def both(*alters: Callable[[Observation], object]) -> Alter:
    def alter(seen: Observation) -> None:
        for each in alters:
            each(seen)

    return alter


def missing_twice(seen: Observation) -> None:
    seen.missing += [Missing(BEGAN, number, PROGRESS, "shop", "file", "dev.md.tmp") for number in (4, 5)]
    seen.named += 2


def hung(seen: Observation) -> None:
    """Let the developer's stream hang; ten minutes of this night are ten seconds."""
    del seen.requests[2]
    seen.requests[1] = replace(seen.requests[1], outcome=Outcome.HUNG, ended=None)


FALSE: dict[str, tuple[str, Alter]] = {
    "complete in JSON": ("complete", without_the_work),
    "complete before the work": ("complete", shows(STATUS, "shop  complete  COMPLETE\n", at=30)),
    "complete in the list": ("complete", shows(LIST, "shop  complete  COMPLETE  2/2\n", at=30, task="")),
    "complete on the page": ("complete", shows(PROGRESS, "**Now:** complete, phase COMPLETE\n", at=30)),
    "complete as news": ("complete", shows(NOTIFICATION, "shop is complete\n", at=30, task="")),
    "complete as the outcome": ("complete", shows(PROGRESS, "- **Outcome:** complete; 2 of 2\n", at=30)),
    "a branch that does not stand there": (
        "surveyed",
        shows(STATUS, f"work  branch task/shop at {TIP[:10]}: {ONE_COMMIT}; ", at=30),
    ),
    "a branch of other commits": (
        "surveyed",
        shows(PROGRESS, f"branch `task/shop` at {TIP[:10]}: 2 commits, 2 files changed, +13 -0"),
    ),
    "nothing on a branch that has work": ("surveyed", shows(STATUS, "nothing is on the branch task/shop;")),
    "a check that passes no more": (
        "checked",
        both(
            lambda seen: seen.tips.append(replace(seen.tips.pop(), tests_pass=False)),
            shows(STATUS, "check before: exited 0, check after: exited 0 (OK)"),
        ),
    ),
    "a check that passes and is told to fail": ("checked", shows(STATUS, "check after: exited 1 (FAILED)")),
    "another exit code": (
        "counts",
        lambda seen: seen.shown.append(Shown(BEGAN + 112, 10, EXIT_CODE, "shop", "", 7)),
    ),
    "set aside, and not in the list": (
        "counts",
        in_a_round(
            a_document(steps=[{"id": "a", "status": "passed"}, {"id": "b", "status": "set_aside"}]),
            list_="shop  running  DEVELOPING  1/2  ~/shop\n",
        ),
    ),
    "more criteria than hold": ("criteria", shows(STATUS, "success criteria: 2 of 2 met\n", at=30)),
    "a tick too many": ("criteria", shows(PROGRESS, f"- [x] {GREET} (evidence: shop/greet.py)\n", at=30)),
    "fewer criteria than asked": ("criteria", shows(STATUS, "success criteria: 1 of 1 met\n")),
    "evidence that is not there": (
        "evidence",
        shows(STATUS_JSON, an_end(criteria=[{"text": GREET, "met": True, "evidence": ["shop/no.py:3"]}])),
    ),
    "a branch without work": ("on-branch", without_the_work),
    "a limit that ends later": ("limit-ends", shows(STATUS, "limited since 16:00, until 16:09 (hit)", at=30)),
    "a limit that ends earlier": (
        "limit-ends",
        both(
            lambda seen: seen.windows.append(Window("claude", "limit", BEGAN + 25, BEGAN + 300, BEGAN + 300)),
            shows(STATUS, "  limited since 16:00, until 16:03", at=30),
        ),
    ),
    "a limit to a second that nobody told": (
        "limit-ends",
        both(
            lambda seen: seen.windows.append(Window("claude", "limit", BEGAN + 25, BEGAN + 110, BEGAN + 110)),
            shows(PROGRESS, "held up by a usage limit until 2026-11-22 16:01:00 UTC", at=30),
        ),
    ),
    "a limit that ended and is in force": (
        "limit-ends",
        both(
            lambda seen: seen.windows.append(Window("claude", "limit", BEGAN + 25, BEGAN + 62, BEGAN + 170)),
            shows(STATUS, "limited since 16:00, until 16:01", at=130),
        ),
    ),
    "a limit that is over and nobody goes on": (
        "limit-ends",
        both(
            lambda seen: seen.requests.pop(),
            shows(STATUS, "  limited, goes on at 16:01: You've hit your limit", at=130),
        ),
    ),
    "a limit on another day without a date": (
        "limit-ends",
        both(
            lambda seen: seen.windows.append(
                Window("claude", "limit", BEGAN + 25, BEGAN + 90_000, BEGAN + 90_000)
            ),
            shows(STATUS, "  limited, goes on at 17:00", at=30),
        ),
    ),
    "a limit that nobody set": (
        "limit-ends",
        both(lambda seen: seen.windows.clear(), shows(STATUS, "  limited, goes on at 16:01", at=30)),
    ),
    "limited without a limit": (
        "service-troubles",
        both(lambda seen: seen.windows.clear(), shows(NOTIFICATION, "shop: dev is limited", at=30, task="")),
    ),
    "overloaded without an overload": (
        "service-troubles",
        shows(STATUS, "  overloaded: 529 Overloaded", at=30),
    ),
    "logged out without a refusal": (
        "service-troubles",
        shows(QUESTIONS, "dev is not logged in any more", task=""),
    ),
    "busy on a stream that hangs": ("busy", both(hung, shows(STATUS_JSON, a_document(), at=60))),
    "other steps in the list": (
        "counts",
        in_a_round(a_document(), list_="shop  running  DEVELOPING  2/2  ~/shop\n"),
    ),
    "other steps in the list's JSON": (
        "counts",
        in_a_round(a_document(), list_json=listed("running", 2, 2, 1)),
    ),
    "another state in the list's JSON": (
        "counts",
        in_a_round(a_document(), list_json=listed("waiting", 1, 2, 1)),
    ),
    "other agents in the list's JSON": (
        "counts",
        in_a_round(a_document(), list_json=listed("running", 1, 2, 0)),
    ),
    "other steps on the page, and still so": (
        "counts",
        both(
            in_a_round(a_document(), page="**Now:** at work; 2 of 2 steps passed; 1 agent running"),
            lambda seen: seen.shown.extend(
                a_round(
                    9, BEGAN + 17, a_document(), page="**Now:** at work; 2 of 2 steps passed; 1 agent running"
                )
            ),
        ),
    ),
    "nothing waits, and something does": (
        "questions",
        in_a_round(
            a_document(questions=[{"id": "q1", "text": "Why?"}]),
            asked="no question is waiting for your answer\n",
        ),
    ),
    "waiting for nobody": ("questions", shows(STATUS_JSON, a_document(state="waiting"), at=16)),
    "nothing to be done, and a question is open": (
        "next",
        shows(STATUS_JSON, a_document(questions=[{"id": "q1", "text": "May it?"}]), at=16),
    ),
    "nothing to be done, and the page asks": (
        "next",
        shows(
            PROGRESS,
            "## Result so far\n- **Cost:** 1 s. Next: nothing has to be done\n"
            "  Answer with: `task answer shop q1 allow`\n",
            at=16,
        ),
    ),
    "a question to answer that is not open": (
        "next",
        shows(STATUS_JSON, a_document(outcome={"next": "`task answer shop q2 retry`"}), at=16),
    ),
    "a name that leads nowhere": ("names", missing_twice),
    "gone, and it lives": (
        "runs",
        shows(STATUS_JSON, a_document(agents=[{"name": "dev", "run": "r-2", "state": "gone"}]), at=13),
    ),
    "alive, and it is gone": (
        "runs",
        shows(STATUS_JSON, a_document(agents=[{"name": "dev", "run": "r-2", "state": "alive"}]), at=40),
    ),
    "more tries than runs": (
        "attempts",
        shows(STATUS_JSON, an_end(steps=[{"id": "dev:greet", "status": "passed", "attempts": 5}])),
    ),
    "up, and dead": (
        "daemon",
        both(happens("daemon killed", 32, 60), shows(STATUS, "check-in  none; daemon up", at=45)),
    ),
    "a full disk that nobody tells": (
        "disk",
        both(happens("disk full", 32, 60), shows(STATUS, "check-in  none; daemon up", at=45)),
    ),
    "a start at another time": ("history", shows(WHY, "16:01:30 run r-2 lives as process 12\n")),
    "an end at another time": ("history", shows(WHY, "16:01:30 run r-2 was ended by signal 15\n")),
    "a commit of other files": (
        "history",
        shows(WHY, f"the work of dev:greet is commit {TIP[:10]} (7 files)\n"),
    ),
    "a commit that is none": (
        "history",
        shows(WHY, "the work of dev:greet is commit dddddddddd (2 files)\n"),
    ),
    "at work, and nobody is": (
        "at-work",
        shows(PROGRESS, "**Now:** at work, phase DEVELOPING; 1 of 2 steps passed; no agent running", at=50),
    ),
    "what task.md does not say": (
        "task-md",
        shows(STATUS, "! nobody answered q1: deny, as task.md says", at=50),
    ),
    "what was accepted and is not on the branch": (
        "on-branch",
        shows(PROGRESS, "- What was accepted so far is on the branch `task/shop`", at=16),
    ),
    "work so far that is not on the branch": (
        "on-branch",
        both(
            shows(STATUS_JSON, a_document(steps=[{"id": "dev:greet", "status": "passed"}]), at=30),
            shows(PROGRESS, "- The work so far is on the branch `task/shop`", at=40),
        ),
    ),
    "fewer tokens than were counted": ("usage", shows(STATUS_JSON, an_end(usage={"tokens": 700}))),
    "more tokens than were counted": ("usage", shows(STATUS_JSON, an_end(usage={"tokens": 1100}))),
}


def verdict_of(alter: Alter | None = None, night: Night = NIGHT) -> Verdict:
    seen = a_sound_night()
    if alter:
        alter(seen)
    return judge(night, seen)


def test_a_sound_night_passes_and_leaves_no_rule_without_work() -> None:
    verdict = verdict_of()
    assert verdict.passed, verdict.failures
    assert {name for name, count in verdict.checked.items() if not count} <= {
        "attempts",
        "at-work",
        "task-md",
    }


@pytest.mark.parametrize("what", FALSE)
def test_a_false_statement_is_found_by_its_rule(what: str) -> None:
    rule, alter = FALSE[what]
    found = {each.rule for each in verdict_of(alter).false}
    assert rule in found
    assert not verdict_of(alter).passed


def test_every_rule_has_something_that_it_finds() -> None:
    assert {rule for rule, _ in FALSE.values()} == set(RULES)


TRUE: dict[str, Alter] = {
    "complete in part": shows(STATUS, "shop  complete in part\n", at=30),
    "the outcome in part": shows(PROGRESS, "- **Outcome:** complete in part: 1 of 2\n", at=30),
    "an empty branch": shows(
        STATUS, "work  nothing is on the branch task/shop; the PM has run no check", at=30
    ),
    "an older branch": shows(PROGRESS, f"branch `task/shop` at {TIP[:10]}: {ONE_COMMIT}", at=91),
    "a check of another commit": both(
        lambda seen: seen.tips.append(replace(seen.tips.pop(), criteria={GREET: True, ALL: True})),
        shows(STATUS, f"check after: exited 1, on {BASE[:10]} and not on what came after it"),
    ),
    "what was planned anew is not counted": in_a_round(
        a_document(
            steps=[{"id": "a", "status": "passed"}, {"id": "b", "status": "set_aside", "replaced": True}]
        ),
        list_="shop  running  DEVELOPING  1/1  ~/shop\n",
    ),
    "an agent's own words": shows(
        PROGRESS, "- dev-20261122-160000.md: dev COMPLETE: I am overloaded and complete.\n", at=30
    ),
    "what task.md says": both(
        lambda seen: seen.tasks.append(replace(seen.tasks.pop(), config=("unanswered: deny after 1 h",))),
        shows(STATUS, "! nobody answered q1 since 16:00: deny, as task.md says", at=50),
    ),
    "no work so far": shows(PROGRESS, "- The work so far is on the branch `task/shop`", at=16),
    "between two runs": shows(PROGRESS, "**Now:** at work, phase DEVELOPING; no agent running", at=25),
    "what happened then": shows(WHY, "16:00:11 run r-2 lives as process 12\n16:00:21 run r-2 exited 0\n"),
    "a limit and its next try": shows(
        STATUS, "limited until 16:01 (hit 4:01pm); tried again at 16:00", at=30
    ),
    "a limit on another day": both(
        lambda seen: seen.windows.append(
            Window("claude", "limit", BEGAN + 25, BEGAN + 90_000, BEGAN + 90_000)
        ),
        shows(STATUS, "limited until Nov 23, 17:00; tried again at 16:15", at=30),
    ),
    "a limit to the second": shows(STATUS, "  limited, goes on at 16:01:03: You've hit your limit", at=30),
    "a dead daemon that is called so": both(
        happens("daemon killed", 32, 60), shows(STATUS, "check-in  none; daemon down; as of 16:00", at=45)
    ),
    "a daemon that was killed while it was looked at": both(
        happens("daemon killed", 32, 60),
        shows(STATUS, "check-in  none; daemon up; as of 16:00", at=45, took=12),
    ),
    "a branch that stood there between two looks at the refs": both(
        lambda seen: seen.moves.append(RefsSeen(BEGAN + 89, {"refs/heads/task/shop": "5" * 40})),
        lambda seen: seen.surveys.update({"5" * 40: "7 commits, 7 files changed, +7 -7"}),
        shows(PROGRESS, f"branch `task/shop` at {'5' * 10}: 7 commits, 7 files changed, +7 -7", at=91),
    ),
    "a full disk that is told": both(
        happens("disk full", 32, 60), shows(STATUS, "check-in  none; daemon up; no room on the disk", at=45)
    ),
    "what a daemon believes that has just come back": both(
        happens("daemon killed", 38, 42), shows(STATUS_JSON, a_document(), at=40)
    ),
    "a page that was written a moment later": in_a_round(
        a_document(), page="**Now:** at work; 2 of 2 steps passed; 1 agent running"
    ),
    "a file that was being renamed": lambda seen: seen.missing.append(
        Missing(BEGAN, 4, PROGRESS, "shop", "file", "dev.md.tmp")
    ),
}


@pytest.mark.parametrize("what", TRUE)
def test_what_is_true_or_just_being_written_is_left_alone(what: str) -> None:
    assert not verdict_of(TRUE[what]).false


def test_a_night_that_could_not_be_watched_is_called_so() -> None:
    """It was "NOT as it must: 0 things"."""
    verdict = verdict_of()
    assert word(verdict) == "as it must"
    assert word(replace(verdict, faults=["watching failed"])) == "not measured"
    assert word(replace(verdict, failures=["shop is running"])) == "NOT as it must: 1 things"


def test_an_end_that_the_night_does_not_allow_is_no_finish() -> None:
    assert not verdict_of(shows(STATUS_JSON, an_end(state="failed"))).finished
    assert not verdict_of(without_the_work).finished
    strict = replace(NIGHT, expects=Morning(absent=("greet",)))
    assert not judge(strict, a_sound_night()).finished


def test_dead_time_is_what_nobody_forced() -> None:
    seen = a_sound_night()
    (task,) = seen.tasks
    assert dead_time(seen, task) == []
    seen.windows = [replace(seen.windows[0], until=BEGAN + 50)]
    (span,) = dead_time(seen, task)
    assert 50 <= span.begin - BEGAN < span.end - BEGAN <= 62
    assert span.counts == pytest.approx(12 - 4, abs=1), "by the wall's clock"
    assert "nobody" in span.why


def test_dead_time_elsewhere_is_scaled() -> None:
    seen = a_sound_night()
    seen.windows.clear()
    (span,) = dead_time(seen, seen.tasks[0])
    assert span.counts == pytest.approx(60 * (62 - 21 - 4), abs=120)


def test_hung_stream_is_dead_time_and_cli_waits_are_unscaled() -> None:
    """A hung stream is dead time and what a cli waits itself is not scaled."""
    seen = a_sound_night()
    hung(seen)
    seen.lives[1].last = BEGAN + 61
    seen.windows.clear()
    (span,) = dead_time(seen, seen.tasks[0])
    assert "hung" in span.why
    assert span.counts > 45 * 60
    again = a_sound_night()
    again.windows.clear()
    again.lives[1].last = BEGAN + 61
    again.requests.insert(3, replace(again.requests[2], number=9, at=BEGAN + 60))
    assert sum(each.counts for each in dead_time(again, again.tasks[0])) == pytest.approx(40, abs=3)


def test_idle_task_is_dead_time_unless_refused() -> None:
    """A task that stands still is dead until morning but while it is refused."""
    seen = a_sound_night()
    seen.tasks = [replace(seen.tasks[0], ended=None)]
    assert any("until morning" in each.why for each in dead_time(seen, seen.tasks[0]))
    seen.windows.append(Window("claude", "limit", BEGAN + 97, BEGAN + 9e5, BEGAN + 9e5))
    seen.requests.append(replace(seen.requests[2], number=8, at=BEGAN + 99, run="r-3"))
    assert not any("until morning" in each.why for each in dead_time(seen, seen.tasks[0]))


def test_whom_the_night_needs_may_be_waited_for() -> None:
    key = Key(BEGAN + 20, BEGAN + 62, "shop", "q1", "the login", "go on", planned=True)
    needs = replace(NIGHT, planned=(Planned("login", "go on"),))

    def asked(seen: Observation) -> None:
        seen.windows.clear()
        seen.keys.append(key)

    verdict = verdict_of(asked, needs)
    assert verdict.dead_time == 0
    assert not verdict_of(None, needs).passed, "nobody was asked"
    needless = verdict_of(lambda seen: seen.keys.append(replace(key, planned=False)))
    assert any("a person was asked" in each for each in needless.failures)


def test_requests_within_a_known_limit_are_wasted() -> None:
    seen = a_sound_night()
    assert wasted(seen) == []
    seen.windows = [replace(seen.windows[0], stated_end=BEGAN + 120, until=BEGAN + 125)]
    again = replace(seen.requests[2], number=9, at=BEGAN + 40)
    seen.requests.append(again)
    assert wasted(seen) == [again]
    seen.windows = [replace(seen.windows[0], stated_end=BEGAN + 95)]
    assert wasted(seen) == [], "clocks differ by as much"
    seen.windows = [replace(seen.windows[0], stated_end=0.0)]
    assert wasted(seen) == [], "it was not told"


def test_a_call_that_is_repeated_without_end_is_wasted() -> None:
    seen = a_sound_night()
    seen.requests += [replace(seen.requests[1], number=100 + n, at=BEGAN + 13 + n / 100) for n in range(30)]
    assert len(wasted(seen)) == 11


def test_a_commit_that_nothing_leads_to_is_lost() -> None:
    seen = a_sound_night()
    assert lost_commits(seen) == []
    seen.trees.append(TreeSeen(BEGAN + 50, "/w/greet", "d" * 40, {}))
    assert lost_commits(seen) == ["d" * 40]


def test_an_edit_that_is_put_back_and_on_no_ref_is_lost() -> None:
    seen = a_sound_night()
    assert lost_edits(seen) == []
    seen.kept_blobs.clear()
    assert lost_edits(seen) == ["/w/greet/shop/greet.py"]
    seen.trees[1] = replace(seen.trees[1], dirty={"shop/greet.py": "blob-2"})
    assert lost_edits(seen) == [], "an agent wrote it anew"


def test_two_programs_of_a_run_and_two_runs_in_a_tree_are_found() -> None:
    seen = a_sound_night()
    assert started_twice(seen) == []
    seen.lives.append(Life("r-1", 99, BEGAN + 5, BEGAN + 9, "claude", first=True))
    seen.lives.append(Life("r-3", 98, BEGAN + 14, BEGAN + 15, "claude", first=True))
    assert len(started_twice(seen)) == 3


def test_dead_daemon_and_broken_bench_are_reported() -> None:
    """A daemon that dies by itself and a fault of the bench are said."""
    assert not verdict_of(happens(DEAD_DAEMON, 10, 11)).passed
    broken = verdict_of(lambda seen: seen.faults.append("a look failed"))
    assert not broken.passed
    assert "not measured: a look failed" in "\n".join(troubles([(NIGHT, broken)]))


def test_what_must_be_shown_in_the_morning_is_looked_for() -> None:
    wants = replace(NIGHT, expects=Morning(shown=("2 of 2 met", "set aside")))
    verdict = judge(wants, a_sound_night())
    assert verdict.failures == ["nothing says 'set aside' in the morning"]


def test_single_nights_judge_orders() -> None:
    seen = a_sound_night()
    assert goes_on("dev", "greet")(seen) == ["r-3 of dev for greet began with an empty conversation"]
    seen.orders[2] = replace(seen.orders[2], earlier=1, tree="/w/other", text="FAILED: it does not")
    assert goes_on("dev", "greet")(seen) == ["r-3 of dev for greet works in /w/other, not in /w/greet"]
    assert second_order_bears("dev", "greet", "it does not")(seen) == []
    assert second_order_bears("dev", "greet", "it does")(a_sound_night())
    assert only_one_run("dev", "greet")(seen)
    del seen.orders[2]
    assert only_one_run("dev", "greet")(seen) == []
    seen.orders[1] = replace(seen.orders[1], agent="dev-2")  # beside another developer
    assert only_one_run("dev", "greet")(seen) == []
    assert goes_on("dev", "greet")(seen)


def test_the_tables_tell_each_night() -> None:
    judged = [(NIGHT, verdict_of())]
    assert "sound" in as_text(judged)
    assert as_markdown(judged).count("\n") == 2
    assert unchecked(judged) == ["at-work", "attempts", "task-md"]


def test_an_observation_is_kept_and_read_again(tmp_path: Path) -> None:
    seen = a_sound_night()
    keep(seen, tmp_path / "seen.json")
    assert kept(tmp_path / "seen.json") == seen
