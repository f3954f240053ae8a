"""What a played agent reads in the order that it was spawned with, and the handoff that it answers with."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from tests.clis.answers import Reply, say
from tests.clis.hands import may_write, write
from tests.clis.model_request import ModelRequest


class NotAnOrder(AssertionError):
    """A prompt is not the one that an agent is spawned with."""


@dataclass(frozen=True, slots=True)
class Spawned:
    """One spawn: who it is, where it works, what it answers."""

    agent: str
    task: str
    run: str
    in_reply_to: str
    handoffs: str
    artifacts: str
    scratchpad: str
    instructions: str

    @property
    def role(self) -> str:
        """The agent without the number of a second one."""
        return re.sub(r"-\d+$", "", self.agent)

    def report(self, *sections: str, status: str = "COMPLETE", verdict: str = "") -> str:
        """Return a handoff; each of `sections` is a heading with what stands under it."""
        head = [f"# Handoff: {self.agent}", "**Timestamp:** 2026-11-20 12:00:00", f"**Status:** {status}"]
        head += [f"**Verdict:** {verdict}"] if verdict else []
        head += [f"**Run:** {self.run}", f"**In reply to:** {self.in_reply_to}"]
        return "\n".join(head) + "\n\n" + "\n\n".join(sections) + "\n"

    def hand_in(self, request: ModelRequest, report: str, suffix: str = ".md") -> Reply:
        """Return a reply that wants a report put into the handoffs' folder under the name that it must have.

        One that may not write files says its report.
        """
        if not may_write(request):
            return say(report)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        return write(request, f"{self.handoffs}/{self.agent}-{stamp}{suffix}", report)


def spawned(prompt: str) -> Spawned:
    """Read the prompt that an agent is spawned with (`orchestrator.formats.preamble`). Raises NotAnOrder.

    A conversation that goes on after a refused turn has the orders one after the other in one message: the last counts.
    """
    prompt = prompt[prompt.rfind("\n# Agent: ") + 1 :]
    folders = re.findall(r"^- (/.*)/$", prompt, re.MULTILINE)
    if len(folders) != len(("handoffs", "artifacts", "scratchpad")):
        raise NotAnOrder(f"no file structure in {prompt[:200]!r}")
    handoffs, artifacts, scratchpad = folders
    return Spawned(
        _field(prompt, r"^# Agent: (.+)$"),
        _field(prompt, r"^\*\*Task:\*\* (.+)$"),
        _field(prompt, r"^\*\*Run:\*\* (.+)$", r'^ +"run": "(.+)",$'),
        _field(prompt, r"^\*\*In reply to:\*\* (.+)$", r'^ +"inReplyTo": "(.+)",$'),
        handoffs,
        artifacts,
        scratchpad,
        prompt.partition("## Your Instructions\n")[2],
    )


def _field(prompt: str, *patterns: str) -> str:
    """Return what stands in a field, in the form of the report that is asked for: markdown or JSON."""
    for pattern in patterns:
        if found := re.search(pattern, prompt, re.MULTILINE):
            return found[1]
    raise NotAnOrder(f"nothing matches {patterns[0]} in {prompt[:200]!r}")
