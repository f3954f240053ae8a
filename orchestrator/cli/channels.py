"""By which ways the user would be told, as `task start` says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from orchestrator import places
from orchestrator.cli.findings import Finding, Severity
from orchestrator.model.news import TERMINAL, USUAL_CHANNELS
from orchestrator.tellers.usual import at_hand

if TYPE_CHECKING:
    from orchestrator.model.settings import NotifySettings

_MEND = 'channels = ["ntfy://my-topic"]   (under [notify] of {path}; `task notify test` tries it)'


def channels_found(settings: NotifySettings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield how the user would be told."""
    mend = _MEND.format(path=places.config_file(environ))
    if not settings.channels:
        yield Finding(
            "channels", Severity.WARN, "nobody is told of anything: the settings have no channel", mend
        )
    elif settings.channels == USUAL_CHANNELS:
        yield Finding("channels", Severity.NOTE, f"none is set: {usual_said(settings, environ)}", mend)
    else:
        named = ", ".join(f"{each.name} ({each.scheme})" for each in settings.channels)
        yield Finding("channels", Severity.OK, f"you are told by {named}")


def usual_said(settings: NotifySettings, environ: Mapping[str, str]) -> str:
    """Return in words by which of the usual channels a user is told."""
    names = [each.name for each in at_hand(settings, environ).channels]
    desktop = "" if names == [TERMINAL] else ", and a message on the desktop"
    return f"you are told by the bell of this terminal, a line in tmux while you are attached{desktop}"
