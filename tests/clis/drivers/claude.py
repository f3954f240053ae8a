"""Claude Code: told by hooks, which its settings file names."""

from __future__ import annotations

import os
from typing import Any, Final

from tests.clis.model_request import ModelRequest
from tests.clis.place import KEY, Place

EVENTS: Final = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
SESSION: Final = "11111111-2222-4333-8444-555555555555"


class Claude:
    """Both pinned versions take the same configuration."""

    ends = "Stop"
    mode = "acceptEdits"

    def lay_down(self, place: Place) -> None:
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        place.write(
            place.home / ".claude.json",
            {
                "hasCompletedOnboarding": True,
                "hasSeenAutoDefaultNotice": True,
                "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
                "projects": {os.fspath(place.work): trusted},
            },
        )
        place.write(place.home / ".claude" / "settings.json", {"skipDangerousModePermissionPrompt": True})
        hook = {"hooks": [{"type": "command", "command": place.recording("hooks")}]}
        place.write(place.run / "settings.json", {"hooks": {name: [hook] for name in EVENTS}})

    def environ(self, place: Place) -> dict[str, str]:
        return {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": place.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        argv = [place.program, "--settings", os.fspath(place.run / "settings.json")]
        argv += ["--strict-mcp-config", "--permission-mode", self.mode]
        argv += ["--resume", resume] if resume else ["--session-id", SESSION]
        return [*argv, order] if order else argv

    def go_on(self, place: Place, order: str, session: str) -> None:
        """Nothing: it was an argument."""

    def is_main(self, request: ModelRequest) -> bool:
        return request.offers_tools

    def session(self, place: Place) -> str:
        return SESSION

    def events(self, place: Place) -> list[dict[str, Any]]:
        return place.recorded("hooks")

    def kind(self, event: dict[str, Any]) -> str:
        return str(event["hook_event_name"])
