"""The documents about the program: its templates, settings, messages and daemon."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from orchestrator.model.notification import NotificationRule
from orchestrator.notifications.envelope import Standing
from orchestrator.ports.sender import SendResult
from scripts.reference.documents.parts import Moment, described


@described
class Template(TypedDict):
    """A template for tasks."""

    name: str
    """Its name."""
    description: str
    """The first line of its goal."""
    folder: str
    """Its folder."""


@described
class Templates(TypedDict):
    """All templates."""

    templates: list[Template]
    """The templates, by name."""


@described
class Setting(TypedDict):
    """One setting."""

    key: str
    """Its section and key."""
    value: str
    """Its value, as it would be written."""
    source: str
    """`default`, FILE:LINE, or the environment variable that it comes from."""


@described
class Config(TypedDict):
    """All settings."""

    settings: list[Setting]
    """The settings."""
    in_force: bool | None
    """Whether the daemon goes by this file as it is now; null: it is down."""


@described
class Sent(TypedDict):
    """A test message over one channel."""

    name: str
    """The channel."""
    scheme: str
    """What kind of channel it is."""
    result: SendResult
    """What became of the message."""
    reason: str
    """Why."""


@described
class NotifyTest(TypedDict):
    """What became of a test message."""

    channels: list[Sent]
    """Each channel."""


@described
class Delivery(TypedDict):
    """How far one channel is with a message."""

    name: str
    """The channel."""
    state: Standing
    """How far it is."""
    tries: int
    """How often it was tried."""
    last_try: Moment | None
    """When it was last tried."""
    reason: str
    """Why it is not delivered."""


@described
class Waits(TypedDict):
    """A channel that a message waits for."""

    channel: str
    """The channel."""
    until: Moment
    """When it is tried."""
    why: str
    """What it waits for."""


@described
class Message(TypedDict):
    """A message to the user."""

    id: str
    """Its id."""
    at: Moment
    """When it happened."""
    rule: NotificationRule
    """Why it is sent."""
    state: Literal["waiting", "delivered", "failed", "unknown", "not_sent"]
    """What became of it; `not_sent`: no channel was set for it, or the question was answered before."""
    title: str
    """Its title."""
    text: str
    """Its text."""
    task_id: str | None
    """The task that it is about."""
    question: str | None
    """The question that it is about."""
    why: str
    """Why it was not sent."""
    channels: list[Delivery]
    """How far each channel is."""
    waiting_for: list[Waits]
    """Channels that it waits for."""


@described
class NotifyList(TypedDict):
    """Messages to the user."""

    notifications: list[Message]
    """The messages, the newest first."""


@described
class DailyReport(TypedDict):
    """The daily reports of a daemon."""

    at: str
    """Local time at which they are written."""
    file: str | None
    """The newest one."""
    fault: str | None
    """Why one that is due could not be written."""


@described
class Telemetry(TypedDict):
    """What a daemon sends and writes for other programs."""

    traces: str | None
    """The collector to which traces are sent."""
    metrics: str | None
    """The file into which metrics are written."""
    at: Moment | None
    """When all of it went well last, since the daemon started."""
    fault: str | None
    """Why it did not the last time."""


@described
class DaemonStatus(TypedDict):
    """The daemon."""

    up: bool
    """Whether it runs."""
    pid: int | None
    """Its process."""
    started_at: Moment | None
    """When it was started."""
    beat_at: Moment | None
    """When it last gave a sign of life."""
    version: str | None
    """Its version."""
    tasks: int
    """How many tasks there are."""
    unit: str | None
    """File of the service manager that looks after it."""
    daily_report: DailyReport | None
    """The observer's daily reports; null: the daemon is down, or writes none (setting `observer.daily`)."""
    telemetry: Telemetry | None
    """Traces and metrics; null: the daemon is down, or neither `observer.traces` nor `observer.metrics` is set."""


@described
class McpMessage(TypedDict):
    """What the tools `answer` and `start` of `task mcp` give back."""

    message: str
    """What the verb of that name would print."""
