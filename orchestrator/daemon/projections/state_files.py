"""Projections: the state as files that anyone can read, written whole and never the only copy of anything.

`state.json` is what `task` shows. The steps of a large plan are stored beside it in pages of 64 steps, and it names the
pages; after a change only the affected page is written. A page's name contains a hash of its content, and new pages
exist before `state.json` names them. So a reader has all of one moment, or finds a page gone and reads `state.json`
again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.core.task_paths import code_of
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import neutral_json
from orchestrator.model.budget import Budget, Measure
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.model.task import TaskState
from orchestrator.pm.policies.budget import budget_of
from orchestrator.pm.state.results import counts
from orchestrator.pm.state.usage_limits import parked, shown_reset
from orchestrator.ports.files import Unreadable
from orchestrator.scribe.page import put_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from orchestrator.daemon.boxes.transfer_status import TransferStatus
    from orchestrator.daemon.projections.outcome import Outcome
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.model.usage import Usage
    from orchestrator.pm.state.runs import Runs
    from orchestrator.pm.state.steps import Steps
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

VERSION: Final = 1
PAGED: Final = 2
"""The version of a `state.json` that names pages."""

FEW: Final = 256
"""Up to this many steps are stored in `state.json` itself."""

_USUAL: Final = Limits()

NOTICES_SHOWN: Final = 10
"""How many of the last notices are shown, here and in progress.md."""

HELD_SHOWN: Final = 50
"""How many of the steps that wait for an answer are named."""


@dataclass(frozen=True, slots=True)
class Unjournaled:
    """What is shown of a task beside its state: files `behind` on boxes, and for what runs are `waiting`."""

    behind: Sequence[TransferStatus] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)


NOTHING: Final = Unjournaled()


def projection(
    state: PMState,
    *,
    last_checkin: float,
    at: float,
    limits: Limits = _USUAL,
    outcome: Outcome | None = None,
    unjournaled: Unjournaled = NOTHING,
) -> dict[str, Any]:
    """Return what `task status` shows, without secrets. Times are seconds since the epoch."""
    steps = _visible_steps(state.steps.values(), state.runs)
    return _shape(state, last_checkin, at, limits, outcome, unjournaled, steps=steps)


def _shape(  # noqa: PLR0913 (it is gathered from several sources)
    state: PMState,
    last_checkin: float,
    at: float,
    limits: Limits,
    outcome: Outcome | None,
    unjournaled: Unjournaled,
    *,
    steps: list[dict[str, Any]] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "version": VERSION if pages is None else PAGED,
        "id": state.id,
        "task": state.name,
        "project": state.project,
        "phase": state.phase.value,
        "state": state.state.value,
        "why": _masked(state.why),
        "limited": next((_limit(step) for step in sorted(parked(state), key=_next_try)), None),
        "counts": asdict(counts(state)),
        "outcome": {} if outcome is None else _outcome(outcome),
        **({"steps": steps} if pages is None else {"pages": pages}),
        "agents": [_agent(run, unjournaled.waiting.get(run.id, "")) for run in _shown(state)],
        "boxes": [_behind(each) for each in unjournaled.behind],
        "questions": [
            {
                "id": question.id,
                "step": question.step,
                "text": _masked(question.text),
                "options": list(question.options),
                "asked_at": question.asked_at,
                "kind": question.kind.value,
                "run": question.run,
                "default": question.default,
                "deadline": question.deadline,
                "holds": _held_up(state, question.step),
            }
            for question in state.open_questions
        ],
        "criteria": [
            {
                "text": _masked(mark.text),
                "met": mark.met,
                "evidence": [_masked(each) for each in mark.evidence],
                "details": [_masked(each) for each in mark.details],
                "reason": _masked(mark.reason),
            }
            for mark in state.criteria
        ],
        "usage": _used(state, limits, at),
        "used_by": [
            {"agent": agent, "runs": spent.runs, "time": spent.time, **_usage(spent.usage)}
            for agent, spent in state.runs.spent.items()
        ],
        "edited": [
            {"key": each.key, "was": _masked(each.was), "now": _masked(each.now)} for each in state.edited
        ],
        "branch": state.branch,
        "base": state.base,
        "tip": state.tip,
        "code": str(code_of(state.project, state.brief)),
        "started_at": state.started_at,
        "last_checkin": last_checkin or None,
        "updated": at,
        "notices": [_masked(notice) for notice in state.notices[-NOTICES_SHOWN:]],
        "noticed": max(state.noticed, len(state.notices)),
    }


@dataclass(slots=True)
class Shown:
    """The state of a task in `state.json` and its pages. `_pages` are the ones written last, with their names."""

    files: Files
    home: Path
    limits: Limits = _USUAL
    _pages: list[tuple[object, str]] = field(default_factory=list)
    _swept: bool = False

    def write(
        self,
        state: PMState,
        last_checkin: float,
        at: float,
        outcome: Outcome | None = None,
        unjournaled: Unjournaled = NOTHING,
    ) -> None:
        """Write `state.json`, and the pages that changed. Raises OSError."""
        if self._pages and self.files.entry(layout.task_pages(self.home)) is None:
            self._pages = []  # somebody deleted them
        before = {name for _, name in self._pages}
        if len(state.steps) <= FEW:
            document = projection(
                state,
                last_checkin=last_checkin,
                at=at,
                limits=self.limits,
                outcome=outcome,
                unjournaled=unjournaled,
            )
            self._pages = []
        else:
            self._pages = self._written(state.steps, state.runs)
            pages = [name for _, name in self._pages]
            document = _shape(state, last_checkin, at, self.limits, outcome, unjournaled, pages=pages)
        put_page(self.files, layout.task_state(self.home), _packed(document))
        self._remove(before)

    def _written(self, steps: Steps, runs: Runs) -> list[tuple[object, str]]:
        """Write the pages that changed, and return all of them."""
        folder, known = layout.task_pages(self.home), dict(enumerate(self._pages))
        pages: list[tuple[object, str]] = []
        self.files.make_folder(folder)
        for number, chunk in enumerate(steps.chunks):
            kept, name = known.get(number, (None, ""))
            if kept is not chunk:
                data = _packed(_visible_steps((step for _, step in chunk), runs))
                new = f"{number:04}-{blake2b(data, digest_size=8).hexdigest()}.json"
                if new != name:
                    self.files.write(folder / new, data)
                name = new
            pages.append((chunk, name))
        return pages

    def _remove(self, before: set[str]) -> None:
        """Remove the pages that are no longer named; the first time also those of an earlier daemon."""
        folder, named = layout.task_pages(self.home), {name for _, name in self._pages}
        if not self._swept:
            before |= {entry.name for entry in self.files.entries(folder)}
        for name in before - named:
            self.files.remove(folder / name)
        self._swept = True


def write_pm_state(files: Files, task_folder: Path, state: PMState, *, last_checkin: float, at: float) -> int:
    """Write `pm_state.json` into the task's folder, as its documentation says. Return its bytes. Raises OSError."""
    document = {
        "task": state.name,
        "phase": state.phase.value,
        "state": state.state.value,
        "last_checkin": last_checkin or None,
        "updated": at,
        "branch": state.branch,
    }
    milestones = [
        {
            "id": step.id,
            "title": _masked(step.title),
            "status": step.state.value,
            "phase": step.phase.value,
            "attempts": state.runs.tries(step.id),
        }
        for step in state.steps.values()
        if Gate.DECISION not in step.gates
    ]
    # One milestone a line, to be read and compared; `indent` would spread each, and is ten times slower.
    head = "".join(f"{_spaced(key)}: {_spaced(value)},\n" for key, value in document.items())
    listed = ",\n ".join(_spaced(each) for each in milestones)
    data = neutral_json(f'{{\n{head}"milestones": [\n {listed}\n]\n}}\n').encode()
    if files.entry(task_folder) is not None:
        put_page(files, layout.pm_state(task_folder), data, 0o644)
    return len(data)


def last_checkin_shown(files: Files, home: Path) -> float:
    """Return a task's last check-in as it was last shown, as it is not journaled; 0 if that is unknown."""
    try:
        document = json.loads(files.read(layout.task_state(home)))
        return float(document["last_checkin"] or 0.0)
    except (Unreadable, ValueError, RecursionError, TypeError, KeyError):
        return 0.0


def write_lost(files: Files, home: Path, kept: str, at: float) -> None:
    """Update the last `state.json` of a task whose journal cannot be read, not even its beginning."""
    try:
        document = json.loads(files.read(layout.task_state(home)))
    except (Unreadable, ValueError, RecursionError):
        return
    if not isinstance(document, dict):
        return
    why = f"its journal cannot be read and is kept as {kept}: start it again, then its handoffs are history"
    known = document.get("outcome")
    lost = {
        "outcome": f"failed: {why}",
        "work": "no page shows what was done: its branch and its handoffs are unchanged",
        "not_done": "unknown",
        "cost": "unknown",
        "next": f"`task start {quote(str(document.get('task')))} --project {quote(str(document.get('project')))}`",
    }
    outcome = (known if isinstance(known, dict) else {}) | lost
    document |= {"state": TaskState.FAILED.value, "why": why, "outcome": outcome}
    document |= {"agents": [], "questions": [], "updated": at}
    files.write(layout.task_state(home), json.dumps(document).encode())


_masked: Final = lru_cache(maxsize=8192)(redacted)
"""Cached: most texts were shown before."""


def _held_up(state: PMState, step: str) -> list[str]:
    """Return the steps that wait for the answer about a step; none for a question about the whole task."""
    if not step:
        return []
    waiting = state.steps.among(state.steps.waiting(step) & state.steps.unsettled)
    return [each.id for each in islice(waiting, HELD_SHOWN)]


def _shown(state: PMState) -> list[Run]:
    """Return the live runs, and the latest run of each instance."""
    latest = [state.runs[run] for run in state.runs.latest.values()]
    return [run for run in latest if run.purpose is Purpose.WORK or run.live]


def _visible_steps(steps: Iterable[Step], runs: Runs) -> list[dict[str, Any]]:
    """Return steps as they are shown; of consultations only the open one, as they are not part of the plan."""
    return [
        _step(step, runs.tries(step.id))
        for step in steps
        if Gate.DECISION not in step.gates or not step.settled
    ]


def _next_try(step: Step) -> float:
    return step.not_before


def _step(step: Step, tries: int) -> dict[str, Any]:
    return {
        "id": step.id,
        "agent": step.agent,
        "title": _masked(step.title),
        "status": step.state.value,
        "attempts": step.attempt,
        "tries": tries,
        "phase": step.phase.value,
        "subtask": step.subtask,
        "since": step.since,
        "began": step.began_at or None,
        "said": _masked(step.feedback[-1]) if step.feedback else "",
        "why": _masked(step.why),
        **({} if (limit := _limit(step)) is None else {"limit": limit}),
        "replaced": step.replaced,
        "commit": step.commit,
        "unchanged": _masked(step.unchanged),
        "check": step.check_exit,
        "cause": None
        if step.cause is None
        else {
            "what": _masked(step.cause.what),
            "run": step.cause.run,
            "lines": [_masked(line) for line in step.cause.lines],
        },
    }


def _limit(step: Step) -> dict[str, Any] | None:
    """Return what is known of the usage limit that a step waits for."""
    limit = step.limit
    if limit is None or not step.limited:
        return None
    return {
        "since": limit.since,
        "refused_at": limit.at,
        "refusals": limit.refusals,
        "words": _masked(limit.words),
        "resets_at": shown_reset(limit),
        "next_try": step.not_before,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    lines = {key: _masked(text) for key, text in asdict(outcome).items() if key != "branch_seen"}
    return {**lines, "branch_seen": outcome.branch_seen}


def _used(state: PMState, limits: Limits, at: float) -> dict[str, Any]:
    """Return what the task has used, and may use. Times are in seconds."""
    worked, budget = state.worked.counted(at, busy=bool(state.runs.live)), budget_of(state, limits)
    return {
        **_usage(state.runs.usage),
        "time": worked.time,
        "idle": worked.idle,
        "limits": {each.value: budget.of(each) for each in Measure},
        "defaults": [Measure.TOKENS.value] if _is_by_default(state, budget) else [],
    }


def _is_by_default(state: PMState, budget: Budget) -> bool:
    """Return whether a task's token limit is the default, which nobody has set."""
    own = state.brief.config.limits.tokens is not None or Measure.TOKENS.value in state.raised
    return not own and budget.tokens == _USUAL.max_task_tokens


def _usage(usage: Usage) -> dict[str, Any]:
    """Return tokens and US dollars; null if no program reported them."""
    tokens = usage.tokens or None
    return {
        "tokens": tokens,
        "input": usage.input if tokens else None,
        "output": usage.output if tokens else None,
        "cached": usage.cached if tokens else None,
        "cost": usage.cost,
        "estimate": usage.estimate,
        "prices": usage.prices or None,
        "unpriced": list(usage.unpriced),
        "partial": usage.partial,
        "context": usage.context,
        "window": usage.window,
    }


def _spaced(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _packed(value: object) -> bytes:
    return neutral_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def _behind(each: TransferStatus) -> dict[str, Any]:
    return {
        "address": each.box,
        "lost": _masked(each.lost),
        "failing": [
            {"what": failing.what, "since": failing.since, "why": _masked(failing.why)}
            for failing in each.failing
        ],
        "missing": [asdict(missing) for missing in each.missing],
    }


def _agent(run: Run, obstacle: str) -> dict[str, Any]:
    return {
        "name": run.instance,
        "run": run.id,
        "agent": run.agent,
        "step": run.step,
        "state": run.life.value,
        "turn": run.turn.value,
        "evidence": f"waits: {obstacle}" if obstacle else run.evidence,
        "since": run.since,
        "turn_since": run.turn_since or run.since,
        "host": run.host,
        "pane": run.pane,
        "pid": run.pid,
        "order": run.order,
        **_usage(run.usage),
    }
