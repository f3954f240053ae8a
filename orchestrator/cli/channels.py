"""Which channels would notify the user, as `task start` reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.cli.findings import Finding, Severity
from orchestrator.model.notification import DEFAULT_CHANNELS, TERMINAL
from orchestrator.notifications.default_channels import at_hand

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
        named = ", ".join(f"{each.name} ({each.scheme})" for each in settings.channels)
        yield Finding("channels", Severity.OK, f"you are notified by {named}")


def usual_said(settings: NotifySettings, environ: Mapping[str, str]) -> str:
    """Return in words which of the default channels would notify the user."""
    names = [each.name for each in at_hand(settings, environ).channels]
    desktop = "" if names == [TERMINAL] else ", and a message on the desktop"
    return f"you are notified by the bell of this terminal, a line in tmux while you are attached{desktop}"
