"""A night in which all is well, as it was observed, and ways to alter what was seen of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.nights import shop
from tests.nights.judging.verdict import Verdict, judge
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
from tests.nights.night import Job, Night
from tests.nights.observation import (
    Happening,
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


def without_the_work(seen: Observation) -> None:
    """Let the branch stand where it began."""
    seen.refs.pop()
    seen.tasks = [replace(seen.tasks[0], tip=BASE, ahead=0)]


def happens(what: str, at: float, until: float) -> Alter:
    return lambda seen: seen.happenings.append(Happening(BEGAN + at, BEGAN + until, what))


def hung(seen: Observation) -> None:
    """Let the developer's stream hang; ten minutes of this night are ten seconds."""
    del seen.requests[2]
    seen.requests[1] = replace(seen.requests[1], outcome=Outcome.HUNG, ended=None)


def verdict_of(alter: Alter | None = None, night: Night = NIGHT) -> Verdict:
    seen = a_sound_night()
    if alter:
        alter(seen)
    return judge(night, seen)


def in_a_round(document: str, at: float = 16, **texts: str) -> Alter:
    """Let a whole round be shown besides."""
    return lambda seen: seen.shown.extend(a_round(8, BEGAN + at, document, **texts))


def both(*alters: Callable[[Observation], object]) -> Alter:
    def alter(seen: Observation) -> None:
        for each in alters:
            each(seen)

    return alter


def missing_twice(seen: Observation) -> None:
    seen.missing += [Missing(BEGAN, number, PROGRESS, "shop", "file", "dev.md.tmp") for number in (4, 5)]
    seen.named += 2
