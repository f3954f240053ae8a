"""aider: has no tools and no hooks; a command of its own is run when it wants something, and when it is done."""

from __future__ import annotations

import os
from typing import Any, Final

from tests.clis.model_request import ModelRequest
from tests.clis.place import Place

_TELL_THE_END: Final = """status=0; "$@" || status=$?; printf '{"event": "exit"}\\n' >> "$0"; exit $status"""


class Aider:
    """The model edits by what it says; `--message` is one turn, after which it exits.

    Its notification comes at each question too, also where `--yes-always` answers it: ahead of the edits.
    """

    ends = "exit"

    def lay_down(self, place: Place) -> None:
        shown = 'printf "{\\"event\\": \\"waiting\\"}\\n" >> ' + f"{place.run}/events.jsonl"
        place.write(place.run / "notify.sh", f"#!/bin/sh\n{shown}\n").chmod(0o755)

    def environ(self, place: Place) -> dict[str, str]:
        return {
            "OPENAI_API_BASE": f"{place.url}/v1",
            "OPENAI_API_KEY": "dummy",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        argv = ["sh", "-c", _TELL_THE_END, os.fspath(place.run / "events.jsonl")]
        argv += [place.program, "--model", "openai/bench", "--edit-format", "whole", "--no-check-update"]
        argv += ["--no-show-release-notes", "--no-show-model-warnings", "--analytics-disable", "--no-pretty"]
        argv += ["--no-gitignore", "--no-detect-urls", "--map-tokens", "0", "--disable-playwright"]
        argv += ["--notifications", "--notifications-command", os.fspath(place.run / "notify.sh")]
        argv += ["--restore-chat-history"] if resume else []
        return [*argv, "--yes-always", f"--message={order}"] if order else argv

    def go_on(self, place: Place, order: str, session: str) -> None:
        """Nothing: it was an argument."""

    def is_main(self, request: ModelRequest) -> bool:
        return True

    def session(self, place: Place) -> str:
        return "the chat history in the folder that it works in"

    def events(self, place: Place) -> list[dict[str, Any]]:
        return place.recorded("events")

    def kind(self, event: dict[str, Any]) -> str:
        return str(event["event"])
