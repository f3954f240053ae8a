"""opencode: told by a plugin, which hears of every event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

from tests.clis.model_request import Json, ModelRequest
from tests.clis.place import Place
from tests.polling import wait_until

_PLUGIN: Final = """\
import { appendFileSync } from "node:fs"

export const Bench = async () => ({
  event: async ({ event }) => appendFileSync("%s", JSON.stringify(event) + "\\n"),
})
"""
_NOISE: Final = ("message.part.delta", "message.part.updated", "plugin.added", "catalog.updated")
_ASK: Final = """\
import sys, urllib.request
method, url, body = sys.argv[1:]
request = urllib.request.Request(url, body.encode() or None, {"Content-Type": "application/json"}, method=method)
print(urllib.request.urlopen(request, timeout=10).read().decode())
"""


def api(place: Place, method: str, path: str, body: Json | None = None) -> Any:
    """Ask the CLI's own HTTP API, in its network. Raises CalledProcessError."""
    words = [method, f"http://127.0.0.1:{place.port}{path}", json.dumps(body) if body else ""]
    command = place.network.inside([sys.executable, "-c", _ASK, *words])
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    return json.loads(done.stdout) if done.stdout.strip() else None


def serves(place: Place) -> bool:
    """Say whether the API answers."""
    with suppress(subprocess.CalledProcessError):
        api(place, "GET", "/session/status")
        return True
    return False


class Opencode:
    """Its provider is told by address, so that it speaks Chat Completions."""

    ends = "session.idle"

    def lay_down(self, place: Place) -> None:
        place.write(place.run / "plugin.js", _PLUGIN % (place.run / "events.jsonl"))
        # Plugins wait until npm has installed this; without a network that is longer than a minute.
        configuration = place.home / ".config" / "opencode"
        (configuration / "node_modules").mkdir(parents=True)
        there = {"dependencies": {"@opencode-ai/plugin": "*"}}
        place.write(configuration / "package.json", there)
        place.write(configuration / "package-lock.json", {"lockfileVersion": 3, "packages": {"": there}})
        models = {name: {"name": name} for name in ("model", "small")}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "bench",
            "options": {"baseURL": f"{place.url}/v1", "apiKey": "dummy"},
            "models": models,
        }
        place.write(
            place.run / "opencode.json",
            {
                "$schema": "https://opencode.ai/config.json",
                "autoupdate": False,
                "share": "disabled",
                "model": "bench/model",
                "small_model": "bench/small",
                "provider": {"bench": provider},
                "plugin": [f"file://{place.run}/plugin.js"],
                "permission": {"edit": "allow", "bash": "ask"},
            },
        )

    def environ(self, place: Place) -> dict[str, str]:
        return {
            "OPENCODE_CONFIG": os.fspath(place.run / "opencode.json"),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        argv = [place.program, "--port", str(place.port)]
        if resume:
            return [*argv, "--session", resume]
        return [*argv, f"--prompt={order}"] if order else argv

    def go_on(self, place: Place, order: str, session: str) -> None:
        """By HTTP: `--prompt` is left out of account when there is a `--session`."""
        wait_until(lambda: serves(place), within=60, every=0.2)
        instructions = {"parts": [{"type": "text", "text": order}]}
        api(place, "POST", f"/session/{session}/prompt_async", instructions)

    def is_main(self, request: ModelRequest) -> bool:
        return request.offers_tools

    def session(self, place: Place) -> str:
        created = next(each for each in self.events(place) if self.kind(each) == "session.created")
        return str(created["properties"]["info"]["id"])

    def events(self, place: Place) -> list[dict[str, Any]]:
        return [each for each in place.recorded("events") if each["type"] not in _NOISE]

    def kind(self, event: dict[str, Any]) -> str:
        return str(event["type"])
