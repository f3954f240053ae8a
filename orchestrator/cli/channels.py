"""Which channels would notify the user, as `task start` reports it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.cli.findings import Finding, Severity
from orchestrator.model.notification import DEFAULT_CHANNELS, DESKTOP, TERMINAL
from orchestrator.notifications.default_channels import at_hand, desktop_program

if TYPE_CHECKING:
    from orchestrator.model.notify_settings import NotifySettings

_MEND = '[notify]\nchannels = ["ntfy://my-topic"]'


def channels_found(settings: NotifySettings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield findings about the channels that would notify the user."""
    more = f"to be notified on a phone, for example, add to {layout.config_file(environ)}"
    if not settings.channels:
        text = f"no notification is sent, because the settings have an empty list; {more}"
        yield Finding("channels", Severity.WARN, text, _MEND)
    elif settings.channels == DEFAULT_CHANNELS:
        yield Finding(
            "channels", Severity.NOTE, f"none is set: {usual_said(settings, environ)}; {more}", _MEND
        )
    else:
        yield _set_by_user(settings, environ)


def _set_by_user(settings: NotifySettings, environ: Mapping[str, str]) -> Finding:
    """Return which of the channels that the user has set notify them: a desktop may not be here."""
    lacks = not desktop_program(environ)
    able = [each for each in settings.channels if not (lacks and each.scheme == DESKTOP)]
    named = ", ".join(f"{each.name} ({each.scheme})" for each in able) or "nothing"
    if len(able) == len(settings.channels):
        return Finding("channels", Severity.OK, f"you are notified by {named}")
    text = f"you are notified by {named}: there is no desktop here, or no notify-send"
    return Finding("channels", Severity.WARN, text)


def usual_said(settings: NotifySettings, environ: Mapping[str, str]) -> str:
    """Return in words which of the default channels would notify the user."""
    names = [each.name for each in at_hand(settings, environ).channels]
    ways = ["a line in tmux while you are attached"]
    if names != [TERMINAL]:
        ways.append("a message on the desktop")
    if any(os.isatty(descriptor) for descriptor in (2, 1, 0)):
        return f"you are notified by {_listed(['the bell of this terminal', *ways])}"
    return f"you are notified by {_listed(ways)}; this is no terminal whose bell could ring"


def _listed(words: list[str]) -> str:
    """Return words as a list in a sentence."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
