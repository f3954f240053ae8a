"""`task answer`: answers a question.

Question ids are unique within a task; the task may be omitted while only one has open questions.
"""

from __future__ import annotations

import os
import time

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import clock, cut, harmless
from orchestrator.cli.tasks import TaskRecord, called, find, tasks

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

_WITHDRAWN = "(withdrawn)"
"""What the journal has for the answer to a question that no longer mattered."""

_ANSWER_SHOWN = 200
"""How many characters of an earlier answer are shown."""

EXAMPLE = "task answer tidy q1 2        (option 2)\n  task answer tidy q1 Keep the old name."


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task answer`."""
    parser.usage = "task answer [NAME] ID TEXT… | NUMBER"
    parser.add_argument(
        "words", metavar="[NAME] ID TEXT", nargs="+", help="the task, the question's id, the answer"
    )
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")


def run(options: Namespace) -> int:
    """Send the answer to the daemon."""
    from orchestrator.notifications.terminals import remember

    remember(layout.state_folder(os.environ))
    task, words = _meant(options)
    if len(words) < 2:  # noqa: PLR2004 (an id and something to say)
        raise CommandError(Exit.USAGE, "give the question and the answer: `task answer NAME ID TEXT`")
    print("\n".join(answered(task, words[0], " ".join(words[1:]))))
    return Exit.DONE


def answered(task: TaskRecord, name: str, said: str) -> list[str]:
    """Send the answer to a question to the daemon; return what the user is to see of it, as harmless lines.

    Args:
        task: the task that asks.
        name: the question's id.
        said: the answer: the number of an option, an option, or any text.

    Raises:
        CommandError: there is no such open question, or the daemon refuses the answer, or is down or silent.

    """
    from orchestrator.cli.requests import ask

    question = open_question(task, name)
    if question is None:
        raise CommandError(Exit.USAGE, not_open(task, name))
    text = text_meant(question, said)
    lines = [harmless(ask(task.home, "answer", {"question": name, "text": text}))]
    offered = [str(option) for option in question.get("options") or ()]
    if offered and text.isdecimal() and text not in offered:
        lines.append(f"{text} is the number of no option: it is passed on as the answer's text")
    return lines


def _meant(options: Namespace) -> tuple[TaskRecord, list[str]]:
    """Return the task to answer, and the words after it."""
    words, state = options.words, layout.state_folder(os.environ)
    if tasks(state, words[0]):
        return find(words[0], options.project), words[1:]
    asking = [task for task in tasks(state) if task.view.get("questions")]
    if not asking:
        raise CommandError(Exit.USAGE, "no question is waiting for an answer")
    if len(asking) > 1:
        said = " ".join(words)
        raise CommandError(
            Exit.USAGE,
            "several tasks wait for an answer; choose one:\n"
            + "\n".join(f"  task answer {task.id} {said}" for task in asking),
        )
    return asking[0], words


def open_question(task: TaskRecord, name: str) -> dict[str, Any] | None:
    """Return a task's open question of this id; None if there is none. Raises CommandError: its state is unreadable."""
    return next((each for each in task.readable_view()["questions"] if each.get("id") == name), None)


def not_open(task: TaskRecord, name: str) -> str:
    """Return why a question of this id cannot be answered: it is closed, when and by whom; or there is none."""
    from orchestrator.formats.redact import redacted

    others = f"to see the open ones: `task questions {called(task)}`"
    closed = _closing(task, name)
    if closed is None:
        return f"{task.name} has no open question {name[:40]!a}; {others}"
    at, by, text = (
        clock(closed.get("at"), time.time()),
        str(closed.get("by") or ""),
        str(closed.get("text") or ""),
    )
    if text == _WITHDRAWN:
        return f"{name} of {task.name} was withdrawn {at}, as it no longer mattered; {others}"
    who = f" by {harmless(by)}" if by else ""
    said = harmless(cut(redacted(text), _ANSWER_SHOWN))
    return f"{name} of {task.name} was answered{who} {at}: {said}; {others}"


def _closing(task: TaskRecord, name: str) -> dict[str, Any] | None:
    """Return the journal's change that closed a question; None if it names none."""
    from pathlib import Path

    from orchestrator.cli.journal import newest_first

    for line in newest_first(Path(layout.task_journal(task.home)), b'"question_answered"'):
        for change in line.get("changes") or ():
            if change.get("kind") == "question_answered" and change.get("question") == name:
                return dict(change)
    return None


def text_meant(question: dict[str, Any], said: str) -> str:
    """Return the option that the answer means, by number or by text; else the answer itself."""
    options = [str(option) for option in question.get("options") or ()]
    if said.isdecimal() and 1 <= int(said) <= len(options) and said not in options:
        return options[int(said) - 1]
    return next((option for option in options if option.casefold() == said.casefold()), said)
