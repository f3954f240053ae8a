"""Puts together what was seen of a night, and looks itself at what lies in git: no word of the product counts here."""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.clis.answers import Fault, Hang, Reply, Text, Then
from tests.clis.dialects.wire import tokens_of
from tests.clis.model_server import Served
from tests.nights import shop
from tests.nights.directing import Scene
from tests.nights.looking import STATUS_JSON
from tests.nights.moments import Turn
from tests.nights.night import ENDED, Job
from tests.nights.observation import Observation, Order, Outcome, RefsSeen, Request, TaskSeen, TipJudged
from tests.nights.service import program_of


def gather(scene: Scene, ended: float) -> Observation:
    """Return all that was seen of a night."""
    from tests.nights.running import versions

    night, service, looker, watcher = scene.night, scene.service, scene.looker, scene.watcher
    turns = {request.number: turn for _, request, turn in service.seen}
    seen = Observation(
        night.name,
        night.factor,
        scene.began,
        ended,
        scene.began + night.morning / night.factor,
        versions(night),
    )
    seen.requests = [_request(each, turns, scene) for each in scene.house.server.served]
    seen.orders = list(_orders(scene))
    seen.windows = service.windows
    seen.lives = list(watcher.lives.values())
    seen.shown, seen.missing, seen.named = looker.shown, looker.missing, looker.named
    seen.trees, seen.refs = watcher.trees, watcher.refs
    seen.happenings, seen.keys = scene.happenings, scene.keys
    faults = [f"{type(fault).__name__}: {fault}" for fault in scene.house.server.faults]
    seen.faults = [*scene.faults, *dict.fromkeys(looker.faults), *dict.fromkeys(watcher.faults), *faults]
    seen.tasks = [_task(job, seen, scene) for job in night.jobs]
    for repository in watcher.repositories:
        seen.kept_commits |= set(_git(repository, scene, "rev-list", "--all").split())
        listed = _git(repository, scene, "rev-list", "--objects", "--all").splitlines()
        seen.kept_blobs |= {line.split(" ", 1)[0] for line in listed}
    seen.kept_blobs |= _lying(seen, scene)
    seen.commits = {
        commit: len(
            _git(scene.house.world.project, scene, "show", "--format=", "--name-only", commit).split()
        )
        for commit in seen.kept_commits
    }
    for job in night.jobs:
        folder = scene.house.world.project / "tasks" / job.name
        seen.task_files += [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    seen.moves = [move for task in seen.tasks for move in _moves(task.branch, scene)]
    seen.tips = [_judged(tip, scene) for tip in _tips(seen)]
    for task in seen.tasks:
        if task.base:
            seen.surveys |= {tip.commit: _survey(tip.commit, task, scene) for tip in seen.tips}
    return seen


def _lying(seen: Observation, scene: Scene) -> set[str]:
    """Return the content, as git hashes it, of the files that stood uncommitted in a tree and lie there in the end."""
    named = {Path(tree.path, name) for tree in seen.trees for name in tree.dirty}
    there = sorted(str(path) for path in named if path.is_file())
    return (
        set(_git(scene.house.world.project, scene, "hash-object", "--", *there).split()) if there else set()
    )


def _request(served: Served, turns: dict[int, Turn | None], scene: Scene) -> Request:
    request, answer = served.request, served.answer
    turn = turns.get(request.number)
    main = request.number in turns
    owner = scene.service.vendor_of(turn.order.agent) if turn else program_of(request)
    outcome, trouble, call = Outcome.ANSWERED, "", ""
    match answer:
        case Hang():
            outcome = Outcome.HUNG
        case Fault():
            outcome, trouble = Outcome.REFUSED, answer.trouble.name.lower()
        case Reply():
            call = " ".join(
                f"{part.name} {part.arguments}" for part in answer.parts if not isinstance(part, Text)
            )
            if answer.then in {Then.HANG, Then.PING}:
                outcome = Outcome.HUNG
            elif answer.then is Then.DROP or (served.ended and not served.whole):
                outcome = Outcome.CUT
            elif served.ended is None:
                outcome = Outcome.OPEN
    tokens = sum(tokens_of(answer, request)) if isinstance(answer, Reply) else 0
    return Request(
        request.number,
        request.at,
        served.ended,
        outcome,
        owner,
        main,
        trouble,
        turn.order.run if turn else "",
        call,
        turn.step if turn else 0,
        tokens,
    )


def _orders(scene: Scene) -> Iterator[Order]:
    from tests.nights.troubles import working_directory

    known = dict[str, Turn]()
    for _, _, turn in scene.service.seen:
        if turn is not None:
            known.setdefault(turn.order.run, turn)
    for run, turn in known.items():
        tree = str(working_directory(run, scene) or "")
        order = turn.order
        yield Order(run, order.task, order.agent, tree, turn.part, order.instructions, turn.earlier)


def _task(job: Job, seen: Observation, scene: Scene) -> TaskSeen:
    reported = scene.looker.last.get(job.name, {})
    branch, base = str(reported.get("branch") or f"task/{job.name}"), str(reported.get("base") or "")
    project = scene.house.world.project
    tip = _git(project, scene, "rev-parse", "--verify", "-q", f"{branch}^{{commit}}").strip()
    ahead = _git(project, scene, "rev-list", "--count", f"{base}..{tip}").strip() if tip and base else "0"
    criteria = (*(shop.PARTS[name].criterion for name in job.parts), shop.ALL_PASS)
    began = next(
        (each.at for each in seen.shown if each.source == "task start" and each.task == job.name), seen.began
    )
    return TaskSeen(
        job.name, began, _first_end(job.name, seen), branch, base, tip, int(ahead or 0), criteria, job.config
    )


def _first_end(task: str, seen: Observation) -> float | None:
    """Return when a task was shown as ended, and stayed so; None if it did not end."""
    ended = None
    for each in seen.shown:
        if each.source == STATUS_JSON and each.task == task and each.code == 0:
            state = str(_read(each.text).get("state"))
            ended = (ended or each.at) if state in ENDED else None
    return ended


def _tips(seen: Observation) -> list[str]:
    """Return every commit that a task's branch has stood at, and where it began."""
    branches = {f"refs/heads/{task.branch}" for task in seen.tasks}
    tips = [refs.refs[name] for refs in [*seen.refs, *seen.moves] for name in refs.refs if name in branches]
    return list(dict.fromkeys([*(task.base for task in seen.tasks if task.base), *tips]))


def _moves(branch: str, scene: Scene) -> Iterator[RefsSeen]:
    """Yield where a branch stood, as git's log of it says; nothing of a branch that is gone."""
    name = f"refs/heads/{branch}"
    words = ["log", "-g", "--format=%H %gd", "--date=unix", name, "--"]
    for line in reversed(_git(scene.house.world.project, scene, *words).splitlines()):
        commit, moved = line.split(" ", 1)
        yield RefsSeen(float(moved.rpartition("@{")[2].rstrip("}")), {name: commit})


def _survey(tip: str, task: TaskSeen, scene: Scene) -> str:
    """Say what a commit has beyond the one from which its branch began."""
    project = scene.house.world.project
    commits = int(_git(project, scene, "rev-list", "--count", f"{task.base}..{tip}") or 0)
    lines = [
        row.split("\t") for row in _git(project, scene, "diff", "--numstat", task.base, tip).splitlines()
    ]
    added, removed = (sum(int(row[place]) for row in lines if row[place] != "-") for place in (0, 1))
    plural = f"{commits} commit{'s' * (commits != 1)}, {len(lines)} file{'s' * (len(lines) != 1)} changed"
    return f"{plural}, +{added} -{removed}"


def _judged(tip: str, scene: Scene) -> TipJudged:
    """Check a commit out into a folder of its own, run the tests and the judge's own probes."""
    world = scene.house.world
    packed = subprocess.run(
        ["git", "-C", str(world.project), "archive", tip], env=world.environ, capture_output=True, check=False
    ).stdout
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        if packed:
            with tarfile.open(fileobj=BytesIO(packed)) as archive:
                archive.extractall(folder, filter="data")
        passed, said = shop.tests_pass(Path(folder)) if packed else (False, "the commit is gone")
        files = tuple(
            sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
        )
        criteria = {part.criterion: shop.holds(Path(folder), name) for name, part in shop.PARTS.items()}
    return TipJudged(tip, passed, criteria | {shop.ALL_PASS: passed}, files, said)


def _git(repository: Path, scene: Scene, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *words],
        env=scene.house.world.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def _read(text: str) -> dict[str, Any]:
    try:
        reported = json.loads(text)
    except ValueError:
        return {}
    return reported if isinstance(reported, dict) else {}
