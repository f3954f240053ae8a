"""The environment variables that the program reads, and those that it gives to agents."""

from __future__ import annotations

from typing import Final

from orchestrator.layout import CONFIG_VARIABLE, HOME_VARIABLE

VARIABLES: Final = (
    (HOME_VARIABLE, "Folder in which the daemon keeps its state; an absolute path."),
    (CONFIG_VARIABLE, "The settings file; an absolute path."),
    (
        "ORCHESTRATOR_SECTION__KEY",
        "Overrides one setting, such as `ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL=5m`.",
    ),
    ("ORCHESTRATOR_DEBUG", "If set, unexpected errors are shown with their stack trace."),
    ("NO_COLOR", "If set, output has no colours."),
    ("COLUMNS", "Width of the output where it is no terminal."),
)
