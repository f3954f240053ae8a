"""False statements of the daemon are found, each by its rule; true ones are left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.nights.judging.verdict import RULES
from tests.nights.looking import (
    EXIT_CODE,
    LIST,
    NOTIFICATION,
    PROGRESS,
    QUESTIONS,
    STATUS,
    STATUS_JSON,
    WHY,
)
from tests.nights.observation import (
    Missing,
    RefsSeen,
    Shown,
    Window,
)
from tests.nights.sound_night import (
    ALL,
    BASE,
    BEGAN,
    GREET,
    ONE_COMMIT,
    TIP,
    Alter,
    a_document,
    a_round,
    an_end,
    both,
    happens,
    hung,
    in_a_round,
    listed,
    missing_twice,
    shows,
    verdict_of,
    without_the_work,
)

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
