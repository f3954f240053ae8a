"""A journal by hand, in the JSON form of its lines."""

from __future__ import annotations

from typing import Any

from orchestrator.reporting.history import History

AT = 1_764_254_100.0


class Lines(list[dict[str, Any]]):
    """Lines of a journal, a minute apart unless said otherwise."""

    def say(self, kind: str, *changes: dict[str, Any], after: float = 60.0, **fact: Any) -> int:
        """Add a line, and return its number."""
        at = self[-1]["at"] + after if self else AT
        number = len(self) + 1
        fact = {"kind": kind, "at": at, **fact}
        self.append({"n": number, "at": at, "fact": fact, "changes": list(changes), "actions": []})
        return number

    def begin(self) -> None:
        moved = {"kind": "task_moved", "to": "running", "why": "", "at": AT}
        self.say(
            "task_started", {"kind": "task_begun", "id": "tidy-0a1b2c3d"}, moved, name="tidy", project="/shop"
        )

    def open(self, run: str, step: str = "dev:one", attempt: int = 1, **other: Any) -> int:
        at = self[-1]["at"] + 60.0
        opened = {
            "id": run,
            "step": step,
            "attempt": attempt,
            "agent": "dev",
            "instance": "dev",
            "purpose": "work",
        }
        return self.say("time_passed", {"kind": "run_opened", "run": opened | {"opened_at": at} | other})

    def end(self, run: str, code: int = 0, lines: tuple[str, ...] = (), after: float = 60.0) -> int:
        return self.say("run_gone", run=run, exit={"code": code}, lines=list(lines), after=after)

    def history(self) -> History:
        """Return what they say, taken whole."""
        made = History()
        for line in self:
            made.take(line)
        return made
