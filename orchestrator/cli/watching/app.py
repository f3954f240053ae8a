"""The screen of `task watch`. It reads what the daemon writes, and leaves requests as other verbs do."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from typing import Any, ClassVar, Final

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.driver import Driver
from textual.widgets import OptionList, Static

from orchestrator.cli.answer import text_meant
from orchestrator.cli.exits import CommandError
from orchestrator.cli.screen import cut, harmless
from orchestrator.cli.tasks import TaskRecord
from orchestrator.cli.watching import picture
from orchestrator.cli.watching.appearance import FOOT, HELP, KEYS, STYLE, clipped, help_lines, room
from orchestrator.cli.watching.dialogs import AnswerBox, Confirm, Reader, plain
from orchestrator.cli.watching.panel import Panel, shown
from orchestrator.cli.watching.run_screen import RunScreen
from orchestrator.cli.watching.sent_requests import SentRequests
from orchestrator.cli.watching.tasks_seen import TasksSeen
from orchestrator.model.errors import OrchestratorError

PAUSE: Final = 0.08
"""Seconds between two looks at the files."""

SECOND: Final = 1.0
PANELS: Final = ("tasks", "questions", "steps", "agents")
_DECISIONS: Final = 40
_TERMINATED: Final = 128 + signal.SIGTERM
_NOT_SHOWN: Final = "a state.json cannot be shown"


class Watch(App[None]):
    """All tasks, and the chosen one's questions, steps, agents, and the last lines of an agent's terminal."""

    CSS = STYLE
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, action, word) for key, action, word in KEYS),
        Binding("ctrl+c", "quit"),
    ]

    def __init__(self, seen: TasksSeen, driver: type[Driver] | None = None) -> None:
        super().__init__(driver)
        self.theme = "ansi-dark"
        self._seen = seen
        self._requests = SentRequests()
        self._run_screen: tuple[str, str, RunScreen] | None = None
        self._shown: dict[str, object] = {}
        self._next_second = 0.0
        self._zoomed = ""
        self._panels = {name: Panel(name) for name in PANELS}
        self._texts = {name: Static(id=name, markup=False) for name in ("head", "lines", "said")}
        self._scroll = VerticalScroll(id="details")
        self._last_focus = "tasks"

    def compose(self) -> ComposeResult:
        """Show the parts from the top down."""
        yield self._texts["head"]
        yield from self._panels.values()
        with self._scroll:
            yield self._texts["lines"]
        yield self._texts["said"]
        yield Static(shown(FOOT), id="keys")

    def on_mount(self) -> None:
        """Draw for the first time, and look again and again. A terminal is given back when SIGTERM comes, too."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit, None, _TERMINATED)
        self._panels["tasks"].rows.focus()
        self._look()
        self.set_interval(PAUSE, self._look)

    # What is shown ------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at the files; draw what differs. Ages are drawn once a second."""
        if not self._scroll.is_attached:
            return  # the screen is being taken away
        changed = self._seen.look()
        if (now := time.monotonic()) >= self._next_second:
            self._next_second, changed = now + SECOND, True
            self._seen.look_at_daemon()
        self._hear()
        if self._run_screen is not None:
            changed = self._run_screen[2].look() or changed
        if changed:
            self._draw()

    def _draw(self) -> None:
        """Draw what differs from what is shown. A message may still come when the last screen is gone."""
        if not self.screen_stack:
            return
        try:
            self._draw_all(room(self.size.width), time.time())
        except picture.UNFIT as error:
            self._say(f"{_NOT_SHOWN} ({error}): `task list` says which is damaged")
        else:
            if str(self._shown.get("said")).startswith(_NOT_SHOWN):
                self._say("")

    def _draw_all(self, width: int, now: float) -> None:
        records, seen = self._seen.records, self._seen
        self._put("head", picture.headline(records, seen.fault or seen.daemon, width))
        self._texts["head"].set_class(not seen.daemon_up, "down")
        of_all = picture.of_all(records, width, now)
        self._show(of_all)
        task = self._chosen
        self._show(picture.of_task(task.view if task is not None else {}, width, now))
        self._hide(questions=bool(of_all["questions"].rows))
        details = self._details(task, width, now)
        self._put("lines", "\n".join(clipped(line, self.size.width) for line in details))

    def _show(self, parts: dict[str, picture.Listing]) -> None:
        for name, listing in parts.items():
            self._panels[name].show(picture.fitting(listing, self.size.width))

    def _details(self, task: TaskRecord | None, width: int, now: float) -> list[str]:
        """Return what is known of what is chosen in the part that has the keys, and the log of the run in question."""
        if task is None:
            return help_lines(width)
        view, part = task.view, self._part
        if part == "questions" and (asked := self._question):
            self._run_screen = None
            return picture.question_details(asked[1], width, now)
        if part == "agents" and (agent := self._agent):
            return [*picture.agent_details(agent, width, now), *self._screen_of(task, agent, width)]
        if part == "steps" and (step := self._step):
            lines = picture.step_details(step, width, now)
            agent = picture.agent_of_step(view, str(step.get("id")))
            return lines + (self._screen_of(task, agent, width) if agent else [])
        self._run_screen = None
        return picture.task_details(task, width, now)

    def _screen_of(self, task: TaskRecord, agent: dict[str, Any], width: int) -> list[str]:
        """Return the last lines of a run's terminal that fit, with a line above them that says whose they are."""
        run = str(agent.get("run"))
        if self._run_screen is None or self._run_screen[:2] != (task.home, run):
            self._run_screen = (task.home, run, RunScreen(task.home, run))
        log = self._run_screen[2]
        if not log.lines:
            return [cut(log.fault or "its terminal has shown no whole line yet", width)]
        most = max(self._scroll.size.height - 3, 3)
        last = [cut(line, width) for line in list(log.lines)[-most:]]
        return [f"── terminal of {harmless(agent.get('name'))}", *last]

    def _put(self, name: str, text: str) -> None:
        if self._shown.get(name) != text:
            self._shown[name] = text
            self._texts[name].update(plain(text))

    def _say(self, text: str) -> None:
        self._put("said", cut(harmless(" ".join(text.split())), 3 * room(self.size.width)))

    def _hide(self, *, questions: bool) -> None:
        """Hide what is not to be seen: no questions, and of a zoomed screen all but that part and the details."""
        for name in PANELS:
            away = bool(self._zoomed) and name != self._zoomed
            self._panels[name].set_class(away or (name == "questions" and not questions), "hidden")
            self._panels[name].set_class(name == self._zoomed, "zoomed")

    # What is chosen -----------------------------------------------------------------------------------

    @property
    def _part(self) -> str:
        """The part that has the keys; for the details the one that had them before."""
        focused = self.screen_stack[0].focused
        name = (focused.id or "").removesuffix("-rows") if focused is not None else ""
        if name in PANELS:
            self._last_focus = name
        return self._last_focus

    @property
    def _chosen(self) -> TaskRecord | None:
        key = self._panels["tasks"].rows.chosen
        return next((record for record in self._seen.records if record.id == key), None)

    @property
    def _question(self) -> tuple[TaskRecord, dict[str, Any]] | None:
        task, _, question = self._panels["questions"].rows.chosen.partition(" ")
        for record in self._seen.records:
            for each in record.view.get("questions") or ():
                if (record.id, str(each.get("id"))) == (task, question):
                    return record, each
        return None

    @property
    def _step(self) -> dict[str, Any] | None:
        return self._entry("steps", "id")

    @property
    def _agent(self) -> dict[str, Any] | None:
        return self._entry("agents", "run")

    def _entry(self, part: str, key: str) -> dict[str, Any] | None:
        task, chosen = self._chosen, self._panels[part].rows.chosen
        entries: list[dict[str, Any]] = task.view.get(part) or [] if task is not None else []
        return next((each for each in entries if str(each.get(key)) == chosen), None)

    def on_option_list_option_highlighted(self, _: OptionList.OptionHighlighted) -> None:
        """Show what was chosen."""
        self._draw()

    def on_descendant_focus(self) -> None:
        """Show the details of the part that has the keys now."""
        self._draw()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer a question by Enter."""
        if event.option_list is self._panels["questions"].rows:
            self.action_answer()

    # What can be done ---------------------------------------------------------------------------------

    def action_answer(self) -> None:
        """Ask for the answer to a question, and send it."""
        asked = self._question if self._part == "questions" else None
        task = self._chosen
        if asked is None and task is not None and (open_ones := task.view.get("questions")):
            asked = task, open_ones[0]
        if asked is None:
            self._say("no question of this task waits for an answer")
            return
        record, question = asked
        name = str(question.get("id"))

        def answered(text: str | None) -> None:
            if text:
                said = {"question": name, "text": text_meant(question, text)}
                self._ask(record, "answer", said, f"answer to {name}")

        lines = picture.question_details(question, room(self.size.width - 4), time.time())
        title = harmless(f"{record.name}, question {name}")
        self.push_screen(AnswerBox(title, lines, numbered=bool(question.get("options"))), answered)

    def action_check_in(self) -> None:
        """Let the PM check the chosen task."""
        if (task := self._task_or_word()) is not None:
            self._ask(task, "checkin", {}, "check-in")

    def action_stop(self) -> None:
        """Stop the chosen task, if the user confirms it."""
        if (task := self._task_or_word()) is None:
            return
        live = [
            harmless(each.get("name"))
            for each in task.view.get("agents") or ()
            if each.get("state") != "gone"
        ]

        def confirmed(yes: bool | None) -> None:  # noqa: FBT001 (what a dialog gives)
            if yes:
                self._ask(task, "stop", {}, "stop")

        whom = f"This ends its agents: {', '.join(live)}." if live else "No agent of it is running."
        self.push_screen(Confirm(f"Stop {task.name}? {whom} `task start` goes on with it later."), confirmed)

    def action_why(self) -> None:
        """Show the last decisions about what is chosen."""
        task, part = self._task_or_word(), self._part
        if task is None:
            return
        entry = {"steps": self._step, "agents": self._agent}.get(part)
        about = str(entry.get("id" if part == "steps" else "name")) if entry else None
        self._say("reading the journal …")
        self.run_worker(lambda: self._read_why(task, about), thread=True, exclusive=True)

    def _read_why(self, task: TaskRecord, about: str | None) -> None:
        """Read the journal, which may be long, beside the thread that draws."""
        from orchestrator.cli.why import decisions, lines_of

        try:
            lines = lines_of(decisions(task, about, _DECISIONS))
        except (OrchestratorError, CommandError, OSError) as error:
            lines = [harmless(error)]
        lines = lines or [f"the journal of {task.name} says nothing"]
        title = harmless(f"why: {task.name} {about or ''}".rstrip())
        self.call_from_thread(self._explain, title, lines)

    def _explain(self, title: str, lines: list[str]) -> None:
        self._say("")
        self.push_screen(Reader(title, lines, from_end=True))

    def action_attach(self) -> None:
        """Give the terminal to tmux until the user detaches."""
        if (task := self._task_or_word()) is None:
            return
        agent = self._agent if self._part == "agents" else None
        if self._part == "steps" and (step := self._step):
            agent = picture.agent_of_step(task.view, str(step.get("id")))
        words = [str(agent["name"])] if agent and agent.get("state") != "gone" else []
        command = [sys.executable, "-P", "-m", "orchestrator.cli", "attach", "--", task.id, *words]
        with self.suspend():
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        self._say(done.stderr.removeprefix("task: ") if done.returncode else "")

    def action_zoom(self) -> None:
        """Give one part the whole screen, or go back."""
        focused = self.focused
        name = (focused.id or "").removesuffix("-rows") if focused is not None else ""
        self._zoomed = "" if self._zoomed else name
        self._draw()

    def action_explain(self) -> None:
        """Show what each key does."""
        self.push_screen(Reader("keys of task watch", HELP.splitlines()))

    def _task_or_word(self) -> TaskRecord | None:
        if (task := self._chosen) is None:
            self._say("there is no task yet")
        return task

    # Requests -----------------------------------------------------------------------------------------

    def _ask(self, task: TaskRecord, verb: str, arguments: dict[str, str], what: str) -> None:
        """Send a request to the daemon; its reply is shown when it comes."""
        self._say(self._requests.send(task, verb, arguments, what))

    def _hear(self) -> None:
        """Show the replies that have come."""
        for reply in self._requests.replies():
            self._say(reply)
