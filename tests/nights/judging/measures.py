"""What a night came to: finished, dead time, keys pressed, requests wasted, work lost, agents started twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Final

from tests.nights.judging.work import requests_of
from tests.nights.observation import Life, Observation, Outcome, Request, TaskSeen, TipJudged, TreeSeen

CLOCKS: Final = 60.0
"""Real seconds by which clocks differ: so long before the minute of its end a limit is no more sure to hold."""
AT_ONCE: Final = 2.0
"""Real seconds within which two requests are one: the second could not know of the first's refusal."""
NO_WORK: Final = (".aider.tags.cache", "__pycache__/")
"""What programs leave in a tree beside the work."""
SAME_CALL: Final = 20
"""So often the same call of a tool may be answered in one run before each further one is wasted."""


def tip_of(seen: Observation, task: TaskSeen) -> TipJudged | None:
    """Return the judge's own findings on the tip of a task's branch."""
    return next((tip for tip in seen.tips if tip.commit == task.tip), None)


def unfinished(seen: Observation, task: TaskSeen, there: list[str], absent: list[str]) -> list[str]:
    """Return what is wrong with a task in the morning: criteria that must hold on its branch, or must not."""
    tip = tip_of(seen, task)
    if tip is None:
        return [f"{task.name}: its branch {task.branch} does not resolve"]
    wrong = [f"{task.name}: does not hold: {each}" for each in there if not tip.criteria.get(each)]
    wrong += [f"{task.name}: is there and should not be: {each}" for each in absent if tip.criteria.get(each)]
    return wrong


def wasted(seen: Observation) -> list[Request]:
    """Return the requests that were made while a limit was known to hold, beyond the first, and idle repetitions."""
    found = []
    for window in (each for each in seen.windows if each.kind == "limit"):
        refused = sorted(
            (
                each
                for each in seen.requests
                if each.main
                and each.vendor == window.vendor
                and each.outcome is Outcome.REFUSED
                and window.since <= each.at <= window.stated_end - window.stated_end % 60 - CLOCKS
            ),
            key=lambda each: each.at,
        )
        # Whoever was not told when it ends has to ask.
        found += [each for each in refused[1:] if each.at - refused[0].at > AT_ONCE]
    return found + _repeated(seen)


def _repeated(seen: Observation) -> list[Request]:
    found = []
    for run in {each.run for each in seen.requests if each.run}:
        counts = Counter[str]()
        for each in requests_of(seen, run):
            if each.call and each.outcome is Outcome.ANSWERED:
                counts[each.call] += 1
                if counts[each.call] > SAME_CALL:
                    found.append(each)
    return found


def lost_commits(seen: Observation) -> list[str]:
    """Return the commits that a ref or a tree bore at some time and that nothing leads to in the end."""
    borne = {commit for refs in seen.refs for commit in refs.refs.values()}
    borne |= {tree.head for tree in seen.trees if tree.head.strip("0")}
    return sorted(borne - seen.kept_commits)


def lost_edits(seen: Observation) -> list[str]:
    """Return the files that stood uncommitted in a tree, vanished from it, and are on no ref and in no tree."""
    trees = defaultdict[str, list[TreeSeen]](list)
    for tree in seen.trees:
        trees[tree.path].append(tree)
    found = []
    for path, states in trees.items():
        for before, after in pairwise(states):
            for name, blob in before.dirty.items():
                changed = after.dirty.get(name)
                # What an agent wrote anew stands there with other content; what was put back or taken away does not.
                if changed is None and blob not in seen.kept_blobs and not name.startswith(NO_WORK):
                    found.append(f"{path}/{name}")
    return sorted(set(found))


def started_twice(seen: Observation) -> list[str]:
    """Return the runs of which the agent's program was started more than once, and those that shared a tree at once."""
    lives = defaultdict[str, list[Life]](list)
    for life in seen.lives:
        if life.first:
            lives[life.run].append(life)
    twice = [f"{run}: {len(each)} times" for run, each in lives.items() if len(each) > 1]
    trees = {order.run: order.tree for order in seen.orders if "/look" not in order.tree}
    spans = sorted(
        (life.begun, life.last, run) for run, each in lives.items() for life in each if run in trees
    )
    for (_, end, one), (begin, _, other) in pairwise(spans):
        if begin < end - 0.5 and trees[one] == trees[other] and one != other:
            twice.append(f"{one} and {other} at once in {trees[one]}")
    return twice
