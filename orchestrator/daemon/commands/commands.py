"""The commands of users: what each request becomes, and its answer."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.commands import start
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.ingest import requests
from orchestrator.daemon.process.orphans import Orphans
from orchestrator.daemon.task import Task
from orchestrator.formats.workflow.edits import read_edits
from orchestrator.model.errors import JournalFailed, OrchestratorError, Refused, Unconfirmed
from orchestrator.model.facts import (
    AdaptAsked,
    Answered,
    RebaseAsked,
    SessionAsked,
    SpawnAsked,
    StopAsked,
    UndoAsked,
)
from orchestrator.runtimes.roster import undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.model.agents import Agent
    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.draft import Decision

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Commands:
    """Carries out the requests to all open tasks.

    `release` closes a task that is deleted or archived and returns the reply; `watch` has a task's files watched.
    """

    context: Context
    tasks: Mapping[str, Task]
    release: Callable[[Task, str], str]
    watch: Callable[[Task], None]
    _orphans: Orphans = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is ended yet."""
        self._orphans = Orphans(self.context)

    def answer(self, task: Task, name: str) -> None:
        """Do what the request of this name asks for, and answer it."""
        files = self.context.adapters.files
        try:
            task.keep()  # nothing would be kept in a folder that was deleted
            request = requests.read_request(files, task.home, name)
            message = self._granted(task, request)
            if message is None:  # it is handled again when a worker has done its part
                return
            requests.answer(files, task.home, name, ok=True, message=message)
        except JournalFailed:  # no refusal: it may be written, and the next daemon handles it again
            raise
        except OrchestratorError as error:
            confirm = error.confirm if isinstance(error, Unconfirmed) else ""
            requests.answer(files, task.home, name, ok=False, message=str(error), confirm=confirm)

    def _granted(self, task: Task, request: requests.Request) -> str | None:
        """Do what a request asks for and return the reply; None if it must wait. Raises Refused."""
        if request.verb == "release":
            return self.release(task, request.arguments.get("why", ""))
        if request.verb != "start" and not task.begun:
            raise Refused(f"{task.id} was never started")
        if request.verb == "checkin":
            self.context.adapters.boxes.call_again()  # the user may ask because something was fixed
            task.check_in(asked=True)
            task.act_again()
            task.show(now=True)
            return f"{task.engine.state.name} was checked: {task.engine.state.state}"
        fact = self._fact_of(task, request)
        was_begun = task.begun
        ended = "" if was_begun else self._end_unknown(task, request.arguments)
        if ended is None:
            return None
        decision = task.feed(fact)
        task.see_brief()  # edits of an ended task's task.md count once it goes on
        if not was_begun:
            task.template = self.template(task)
        self.watch(task)
        task.show(now=True)
        return f"{_reply(decision)}{ended}"

    def _fact_of(self, task: Task, request: requests.Request) -> Fact:
        """Return the fact that a request leads to. Raises Refused."""
        arguments, at = request.arguments, self.context.clock.now()
        match request.verb:
            case "start":
                self.context.adapters.boxes.call_again()  # the cause of a failure may be fixed
                given = tuple(arguments.get(word, "") for word in ("project", "name", "unfit", "confirmed"))
                self._refuse_twin(task, *given[:2])
                states = [each.engine.state for each in self.tasks.values() if each.begun]
                return start.started(self.context, task, start.StartRequest(request.id, *given), states)
            case "stop":
                return StopAsked(at, request.id)
            case "answer":
                self.context.adapters.boxes.call_again()  # the question may have been about a box that is fixed now
                text = arguments.get("text", "")
                question = arguments.get("question", "")
                task.inputs.see_last_words(question)
                task.inputs.make_folder_again(question, text)
                skills = start.skills_of(self.context, Path(task.engine.state.project)).found
                return Answered(at, self.context.nonce(), request.id, question, text, skills)
            case "spawn":
                agent = self._agent(task, arguments.get("agent", ""))
                instructions = arguments.get("instructions", "")
                return SpawnAsked(at, self.context.nonce(), request.id, agent, instructions)
            case "adapt":
                edits = read_edits(arguments.get("edits", "").encode(), arguments.get("file", "edits.json"))
                base, why = arguments.get("base", ""), arguments.get("why", "")
                return AdaptAsked(at, self.context.nonce(), request.id, edits, base, why)
            case "rebase":
                base, old, new = (arguments.get(word, "") for word in ("base", "old", "new"))
                commits = _pairs(arguments.get("commits", ""))
                return RebaseAsked(at, self.context.nonce(), request.id, base, old, new, commits)
            case "undo":
                step, old, new = (arguments.get(word, "") for word in ("step", "old", "new"))
                return UndoAsked(at, self.context.nonce(), request.id, step, old, new)
            case "give-back":
                return SessionAsked(at, request.id)
            case verb:
                raise Refused(f"there is no request {verb[:40]!a}")

    def _end_unknown(self, task: Task, arguments: Mapping[str, str]) -> str | None:
        """End what works for a task that is to begin, and that no journal knows; return a sentence for the user.

        None while it ends.

        Raises Refused: another daemon of this user knows it.
        """
        name = arguments["name"]
        folder = layout.task_folder(Path(arguments["project"]), name)
        known = {run for each in self.tasks.values() for run in each.engine.state.runs}
        ended = self._orphans.end(task.id, folder, known, task.strangers())
        if ended is None:
            return None
        for each in ended:
            log.warning("task %s: run %s is in no journal and is ended", task.id, each)
            task.engine.say(f"run {each} worked for {name} and is in no journal: it was ended")
        return f"; ended what worked for it and is in no journal: {', '.join(ended)}" if ended else ""

    def _refuse_twin(self, task: Task, project: str, name: str) -> None:
        """Refuse to begin a task while one of the same name is at work whose own folder was deleted. Raises Refused.

        The caller found nothing there. That folder is written anew now, and will be found the next time.
        """
        for each in self.tasks.values():
            known = each.engine.state
            if task.begun or each.rests or (known.project, known.name) != (project, name):
                continue
            each.keep()
            each.show(now=True)
            raise Refused(
                f"{name} is at work as {each.id}; its own folder was deleted and is being restored: try again"
            )

    def _agent(self, task: Task, name: str) -> Agent:
        state = task.engine.state
        found = state.agents.get(name)
        if found is None:
            found = start.roster(self.context, Path(state.project), state.brief).agents.get(name)
        if found is None:
            raise Refused(undefined(name, state.project))
        start.check_agent(self.context, state.brief, found)
        return found

    def template(self, task: Task) -> Path | None:
        """Return the template of a task; None, and a line in its log, if that is gone."""
        try:
            return start.template_of(self.context, task.engine.state.brief)
        except Refused as error:
            task.engine.say(f"its template is gone: {error}")
            return None

    def is_to_stop(self, home: Path) -> bool:
        """Return whether the user has asked to stop a task, which needs nothing of its plan."""
        files = self.context.adapters.files
        for name in requests.waiting(files, home):
            with suppress(OrchestratorError):  # an invalid request is answered once the task is open
                if requests.read_request(files, home, name).verb == "stop":
                    return True
        return False


def _pairs(text: str) -> dict[str, str]:
    """Return the lines of a text as pairs of words; the second word may be missing."""
    return {old: new for old, _, new in (line.partition(" ") for line in text.splitlines())}


def _reply(decision: Decision | None) -> str:
    if decision is None:
        return ""
    if decision.confirm:
        raise Unconfirmed(decision.reply, decision.confirm)
    if decision.refused:
        raise Refused(decision.reply)
    return decision.reply
