"""Gemini CLI: told by hooks, which its settings file names."""

from __future__ import annotations

from typing import Any, Final

from tests.clis.model_request import ModelRequest
from tests.clis.place import Place

EVENTS: Final = (
    "SessionStart",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "AfterAgent",
    "Notification",
    "PreCompress",
    "SessionEnd",
)
SESSION: Final = "11111111-2222-4333-8444-555555555555"


class Gemini:
    """Its folder for the user is `$GEMINI_CLI_HOME/.gemini`; here that is the home."""

    ends = "AfterAgent"

    def lay_down(self, place: Place) -> None:
        hook = {"hooks": [{"type": "command", "name": "bench", "command": place.recording("hooks")}]}
        place.write(
            place.home / ".gemini" / "settings.json",
            {
                "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
                "hooks": {name: [hook] for name in EVENTS},
                "privacy": {"usageStatisticsEnabled": False},
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
                "ui": {"hideTips": True, "hideBanner": True},
            },
        )

    def environ(self, place: Place) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "dummy-key-of-the-bench",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": place.url,
        }

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        argv = [place.program, "--model", "gemini-2.5-pro", "--approval-mode", "auto_edit"]
        argv += ["--resume", resume] if resume else ["--session-id", SESSION]
        return [*argv, f"--prompt-interactive={order}"] if order else argv

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
