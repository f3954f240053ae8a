"""The tools of `task mcp`: what each takes, which verb's document it gives, and which permission it needs.

They call what the verbs call, and return the documents that these print with `--json`.
"""

from __future__ import annotations

import io
import json
import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from orchestrator import layout
from orchestrator.cli import list as listing
from orchestrator.cli import questions, status, why
from orchestrator.cli.answer import answered
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.mcp_server.bounded import LEFT_OUT
from orchestrator.cli.tasks import TaskRecord, find, only_task
from orchestrator.shipped import shipped

MESSAGE: Final = "mcp-message"
"""The schema of what `answer` and `start` give: what the verb would print."""

_LEFT_OUT_SCHEMA: Final = {
    "type": "array",
    "items": {"type": "string"},
    "description": "What was left out because the result would have been too large.",
}


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
_NAME: Final = r"^[a-z0-9][a-z0-9_-]{0,72}$"
_NAME_OR_NONE: Final = r"^([a-z0-9][a-z0-9_-]{0,72})?$"


class _Taken(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class OfProject(_Taken):
    """Which tasks are meant: those of a project."""

    project: Text = Field(
        "",
        max_length=4096,
        description="Folder of the project; needed if several projects have a task of that name.",
    )


class OfTask(OfProject):
    """Which task is meant."""

    task: str = Field(
        "",
        pattern=_NAME_OR_NONE,
        description="The task, by name or id; may be left out if there is only one.",
    )

    def record(self) -> TaskRecord:
        """Return the task. Raises CommandError: it is not known, or the name is not enough to tell."""
        return find(self.task, self.project or None) if self.task else only_task(self.project or None)


class OfDecisions(OfTask):
    """Which decisions are meant."""

    about: Text = Field("", max_length=200, description="Only decisions about this step, agent or question.")
    count: int = Field(20, ge=1, le=100, description="How many decisions, the newest last.")


class AnAnswer(OfTask):
    """An answer to a question."""

    question: Text = Field(max_length=64, description="The question's id, such as q1.")
    text: Text = Field(
        min_length=1,
        max_length=10_000,
        description="The answer: the number of an option, an option, or any text.",
    )


class AStart(OfProject):
    """A task to start."""

    name: str = Field(pattern=_NAME, description="The task's name: a-z, 0-9, '_' and '-'.")
    task_md: Text = Field(
        "",
        max_length=1_000_000,
        description="The text of task.md for a new task; left out: the task.md that lies there is started.",
    )


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `schema` is the name of the published schema of its result, `permission` what the user must give."""

    name: str
    summary: str
    takes: type[_Taken]
    schema: str
    run: Callable[[Any], dict[str, Any]]
    permission: str = ""

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments."""
        return self.takes.model_json_schema()

    def output_schema(self) -> dict[str, Any]:
        """Return the published JSON Schema of its result, with the field that says what was left out."""
        schema: dict[str, Any] = json.loads(
            (shipped("schemas") / f"{self.schema}.schema.json").read_text(encoding="utf-8")
        )
        schema["properties"][LEFT_OUT] = _LEFT_OUT_SCHEMA
        return schema


def _list(taken: OfProject) -> dict[str, Any]:
    return listing.document(taken.project)


def _status(taken: OfTask) -> dict[str, Any]:
    return status.shape(taken.record().readable_view(), Beat(_state()))


def _why(taken: OfDecisions) -> dict[str, Any]:
    return why.document(taken.record(), taken.about or None, taken.count)


def _report(taken: OfTask) -> dict[str, Any]:
    from orchestrator.cli.reporting import document  # half as much again as all else here

    return document(taken.record())


def _questions(taken: OfTask) -> dict[str, Any]:
    return questions.document(taken.task or None, taken.project or None)


def _answer(taken: AnAnswer) -> dict[str, Any]:
    return {"message": "\n".join(answered(taken.record(), taken.question, taken.text))}


def _start(taken: AStart) -> dict[str, Any]:
    """Start a task as its verb does; what that prints is the message.

    A daemon that is down is not started: it would inherit the environment of the agent CLI, and so would its agents.
    """
    from orchestrator.cli.brief import lay_down_text
    from orchestrator.cli.start_target import folder_of, project_folder
    from orchestrator.cli.starting import run as start_verb

    if not Beat(_state()).up:
        raise CommandError(
            Exit.DOWN,
            "the daemon is down: start it in a terminal by `task daemon start`, then start the task",
        )
    project = project_folder(taken.project or ".")
    if taken.task_md:
        lay_down_text(folder_of(project, taken.name), taken.task_md)
    elif not layout.task_brief(layout.task_folder(project, taken.name)).exists():
        raise CommandError(Exit.USAGE, f"{project} has no task.md of {taken.name}: give its text as task_md")
    said = io.StringIO()
    options = Namespace(
        name=taken.name,
        project=str(project),
        template=None,
        family=None,
        check=False,
        json=False,
        yes=False,
        follow=False,
        verbose=False,
    )
    with redirect_stdout(said):
        start_verb(options)
    return {"message": said.getvalue().rstrip("\n")}


def _state() -> str:
    return layout.state_folder(os.environ)


TOOLS: Final = (
    Tool("list", "Lists the tasks of this user, the one that changed last first.", OfProject, "list", _list),
    Tool(
        "status",
        "Shows one task: state, result, steps, agents, open questions, success criteria, usage.",
        OfTask,
        "status",
        _status,
    ),
    Tool(
        "why", "Shows why the PM did what it did: its last decisions as sentences.", OfDecisions, "why", _why
    ),
    Tool(
        "report",
        "Reports on one task as a whole: attempts, rejections, checks, commits with diffs, waits, what is unknown.",
        OfTask,
        "report",
        _report,
    ),
    Tool("questions", "Lists the open questions that wait for a person.", OfTask, "questions", _questions),
    Tool(
        "answer",
        "Answers an open question in the user's name. Answer only what the user has decided.",
        AnAnswer,
        MESSAGE,
        _answer,
        permission="answer",
    ),
    Tool(
        "start",
        "Starts a task from a task.md: agents then work on it, and commands that it names are run.",
        AStart,
        MESSAGE,
        _start,
        permission="start",
    ),
)
