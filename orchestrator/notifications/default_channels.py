"""Which of the default channels exist on this machine, for a user who has set none."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.notification import DEFAULT_CHANNELS, DESKTOP

if TYPE_CHECKING:
    from orchestrator.model.notify_settings import NotifySettings

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def at_hand(settings: NotifySettings, environ: Mapping[str, str]) -> NotifySettings:
    """Return the settings without default channels that this machine lacks. Channels that the user has set stay."""
    if settings.channels != DEFAULT_CHANNELS or desktop_program(environ):
        return settings
    return replace(settings, channels=tuple(each for each in settings.channels if each.scheme != DESKTOP))


def desktop_program(environ: Mapping[str, str]) -> str:
    """Return the program that shows a message on the desktop; empty if there is no desktop or no such program."""
    if sys.platform == "darwin":
        program = "osascript"
    elif any(environ.get(display) for display in _DISPLAYS):
        program = "notify-send"
    else:
        return ""
    from shutil import which  # its import costs a verb milliseconds, and most servers have no desktop

    return which(program, path=environ.get("PATH", "")) or ""
