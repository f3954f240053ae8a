"""Codex: told by hooks, and, more truly, by the rollout file that it writes for each session."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from tests.clis.model_request import ModelRequest
from tests.clis.place import Place

EVENTS: Final = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStop",
    "Stop",
)
_CONFIG: Final = """\
model = "gpt-5.1-codex"
model_provider = "bench"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"
notify = ["sh", "-c", {notify}, "notify"]

[model_providers.bench]
name = "bench"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"

[projects."{work}"]
trust_level = "trusted"

[analytics]
enabled = false

[feedback]
enabled = false

[tui]
animations = false
show_tooltips = false
"""


class Codex:
    """One process per pane: without `--no-daemon` it would start a server that outlives the pane."""

    ends = "Stop"

    def lay_down(self, place: Place) -> None:
        shown = f'printf "%s\\n" "$1" >> {place.run}/notify.jsonl'
        config = _CONFIG.format(url=place.url, work=place.work, notify=json.dumps(shown))
        place.write(place.home / ".codex" / "config.toml", config)
        hook = {"hooks": [{"type": "command", "command": place.recording("hooks")}]}
        place.write(place.home / ".codex" / "hooks.json", {"hooks": {name: [hook] for name in EVENTS}})

    def environ(self, place: Place) -> dict[str, str]:
        return {"CODEX_HOME": os.fspath(place.home / ".codex"), "OPENAI_API_KEY": "sk-dummy-key-of-the-bench"}

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        argv = [place.program]
        if resume:
            argv.append("resume")
        argv += ["--no-daemon", "--no-alt-screen", "--dangerously-bypass-hook-trust"]
        argv += [resume] * bool(resume)
        return [*argv, "--", order] if order else argv

    def go_on(self, place: Place, order: str, session: str) -> None:
        """Nothing: it was an argument."""

    def is_main(self, request: ModelRequest) -> bool:
        return request.offers_tools

    def session(self, place: Place) -> str:
        return str(self.events(place)[0]["session_id"])

    def events(self, place: Place) -> list[dict[str, Any]]:
        return place.recorded("hooks")

    def kind(self, event: dict[str, Any]) -> str:
        return str(event["hook_event_name"])
