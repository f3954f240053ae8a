"""opencode's plugin alone, under Node.js: what it reports, and when, which takes minutes with opencode itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clis.pinned import NODE, default_cache, pins, why_missing

pytestmark = pytest.mark.skipif(bool(why_missing(NODE)), reason=why_missing(NODE))

PLUGIN = Path(__file__).parents[2] / "orchestrator" / "runtimes" / "laid" / "opencode_plugin.js"

RELAY = '#!/bin/sh\n[ "$1" = waits ] || { cat; echo; } >>"$(dirname "$0")/reports"\n'

DRIVE = """
import { readFileSync } from "node:fs"
const { Orchestrator } = await import("%s")
const { event } = await Orchestrator({ client: {}, directory: "/", worktree: "/" })
for (const each of JSON.parse(readFileSync("%s", "utf8"))) event({ event: each })
await new Promise((done) => setTimeout(done, %d))
"""


def messages(folder: Path, events: list[dict[str, Any]], every: int, wait: int) -> list[dict[str, Any]]:
    """Return what the plugin reports of these events within `wait` ms, if it reports use every `every` ms."""
    for name, text in {
        "plugin.mjs": PLUGIN.read_text(),
        "relay.sh": RELAY,
        "opencode-run.json": json.dumps({"usedEvery": every, "order": str(folder / "order.md")}),
        "events.json": json.dumps(events),
        "reports": "",
    }.items():
        (folder / name).write_text(text)
    script = DRIVE % (folder / "plugin.mjs", folder / "events.json", wait)
    node = pins()[NODE].path(default_cache())
    subprocess.run([node, "--input-type=module", "-e", script], check=True, timeout=60)
    return [json.loads(line) for line in (folder / "reports").read_text().splitlines() if line]


def created() -> dict[str, Any]:
    return {"id": "e-0", "type": "session.created", "properties": {"info": {"id": "s"}}}


def answered(number: int) -> dict[str, Any]:
    """A message of the model that is complete, with a hundred tokens."""
    at = 10**14
    info = {"id": f"m-{number}", "role": "assistant", "time": {"created": at, "completed": at}, "cost": 1}
    tokens = {"input": 100, "output": 0, "cache": {}}
    return {
        "id": f"e-{number}",
        "type": "message.updated",
        "properties": {"sessionID": "s", "info": {**info, "tokens": tokens}},
    }


def used(reports: list[dict[str, Any]]) -> list[int]:
    return [each["usage"]["input"] for each in reports if each["type"] == "used"]


def test_use_is_reported_later_after_a_recent_report(tmp_path: Path) -> None:
    """The use of a second message within ten seconds was lost if the run was ended before its turn was over."""
    found = messages(tmp_path, [created(), answered(1), answered(2), answered(3)], every=300, wait=2000)
    assert used(found) == [100, 300]


def test_use_is_reported_before_a_refusal(tmp_path: Path) -> None:
    """A run that the service refuses is ended: nothing comes after that."""
    retry = {
        "id": "e-9",
        "type": "session.status",
        "properties": {"sessionID": "s", "status": {"type": "retry", "message": "limit", "next": 1}},
    }
    found = messages(tmp_path, [created(), answered(1), answered(2), retry], every=60_000, wait=1000)
    assert [each["type"] for each in found] == ["started", "used", "used", "retry"]
    assert used(found) == [100, 200]
