"""What is kept of each turn: `records/outputs/A-N.json` and `records/verifications/A-N.json`.

A verdict that something is missing has all fields of `verification_results.json`, and can be read as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.formats.workflow.json_text import json_text

if TYPE_CHECKING:
    from orchestrator.model.turn_end import HandIn, VerdictGiven


def hand_in_text(made: HandIn) -> bytes:
    """Return a version of an agent's outputs as a file. `version` is the SHA-256 of lines as of `sha256sum`."""
    return json_text(
        {
            "task_id": made.task_id,
            "timestamp": int(made.at),
            "agent": made.agent,
            "number": made.number,
            "run": made.run,
            "version": made.version,
            "files": [{"path": path, "sha256": digest} for path, digest in made.files],
        }
    )


def verdict_text(verdict: VerdictGiven) -> bytes:
    """Return a verdict as a file. `evidence` and `decision` are of proofs of concept only."""
    decided = verdict.judgement
    said = {"evidence": decided.evidence.value, "decision": decided.decision.value} if decided else {}
    return json_text(
        {
            "task_id": verdict.task_id,
            "timestamp": int(verdict.at),
            "result": "fail" if verdict.missing else "pass",
            "missing_evidence": list(verdict.missing),
            "agent": verdict.agent,
            "number": verdict.number,
            "verifier": verdict.by,
            "run": verdict.run,
            "version": verdict.version,
            **said,
        }
    )
