"""Shared by the tests of stalls."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.model.activity import Activity, Stage
from orchestrator.model.event import Event, EventKind
from orchestrator.model.limits import Limits
from orchestrator.model.run import Ending, Exit, Run, Sight
from tests.unit.pm.story import Story

LIMITS = Limits()


THIRD = LIMITS.stall_timeout / 3


RESCAN = 30.0


STILL = Sight(cpu=5.0, printed=9, said="abc/12")


TAKEN = Event(EventKind.TAKEN, "s-1", "/t.jsonl")


class Stalling(Story):
    """A story whose explorer is a program that tells of itself, and keeps records."""

    def __init__(self, **limits: float) -> None:
        super().__init__(limits=Limits(**limits))  # type: ignore[arg-type]
        self.agents = {name: replace(agent, receipts=True) for name, agent in self.agents.items()}
        self.sees = STILL
        self.seen = Activity()
        self.starts()
        self.begins()

    def begins(self) -> Run:
        """The newest run comes alive, takes its order, and its model is asked."""
        run = self.comes_alive("explore")
        self.seen = Activity()
        self.emits("explore", TAKEN, whole=True)
        self.wrote(Stage.MODEL)
        return run

    def wrote(self, stage: Stage, *, novel: bool = False, tool: str = "") -> bool:
        """Its program records one more thing; return whether the daemon takes note of that at once."""
        at = self.at if novel else self.seen.novel_at
        self.seen = Activity(stage, self.seen.records + 1, self.at, tool, at)
        return self.records("explore", self.seen)

    def passes(self, seconds: float) -> None:
        """Time passes; the records are read at each rescan, and ahead of each deadline."""
        until = self.at + seconds
        while self.at < until:
            super().passes(min(RESCAN, until - self.at))
            if self.works_on():
                self.records("explore", self.seen)

    @property
    def run(self) -> Run:
        return self.run_of("explore")

    @property
    def is_stalled(self) -> bool:
        return self.run.ending is Ending.STALLED

    def ends_and_begins(self) -> Run:
        """The run that is being ended is gone, and the next one begins."""
        self.ends(run=self.run, how=Exit(signal=15))
        self.passes(LIMITS.max_retry_pause)
        return self.begins()


def stalls(story: Stalling) -> Run:
    """Its model does not answer until its run is ended and gone; return that."""
    while story.run.ending is Ending.NOT:
        story.passes(30)
    run = story.run
    story.ends(run=run, how=Exit(signal=15))
    story.passes(LIMITS.max_retry_pause)
    return run
