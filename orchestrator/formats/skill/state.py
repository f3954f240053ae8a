"""The state file of a session, `skill-orchestration-SESSION.json` (S1, S5): plain JSON, fit for `jq`.

The document lays down `.step_outputs`, by the step's number as a text, and `.fsm.state`. Beside them stand what a
session begins with: skill, request, project.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from orchestrator.formats.skill.config import skill_fields, skill_of
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.model.composite import (
    STEPS,
    Classified,
    Confidence,
    Domain,
    PhaseDone,
    SkillSession,
    SkillState,
)

PROTOCOL: Final = "skill-orchestration"
HEX_ID: Final = re.compile(r"[0-9a-f]{12}")

_TEXT: Final = {"type": "string"}
_ID: Final = {"type": "string", "pattern": "^[0-9a-f]{12}$"}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:agent-orchestrator:skill-state",
    "title": "skill-orchestration/state/skill-orchestration-SESSION.json",
    "description": "The state of one run of a composite skill.",
    **_object(
        protocol={"const": PROTOCOL},
        session_id=_ID,
        project={**_TEXT, "description": "The folder in which it works; memory files are named from there."},
        skill=_TEXT,
        request=_TEXT,
        fsm=_object(
            state={"enum": list(SkillState), "description": "What comes next."},
            phase={"type": ["string", "null"], "description": "The phase at work, or null."},
        ),
        step_outputs={
            "type": "object",
            "description": "The outputs of the steps that were done, by number.",
            "properties": {
                "1": _object(task_id=_ID),
                "2": _object(domain={"enum": list(Domain)}, confidence={"enum": list(Confidence)}),
                "3": _object(skill_config={"$ref": "urn:agent-orchestrator:skill-config"}),
                "4": _object(memory_file=_TEXT),
                "5": _object(
                    phases_completed={
                        "type": "array",
                        "items": _object(phase_id=_TEXT, agent=_TEXT, memory_file=_TEXT),
                    }
                ),
                "6": _object(summary=_TEXT),
            },
        },
    ),
}
"""The published JSON Schema (`docs/reference/schemas/skill-state.schema.json`)."""

SCHEMA["properties"]["seal"] = _TEXT | {
    "description": "A keyed hash of all the rest and of where the file lies. An edited file is refused."
}
SCHEMA["properties"]["task"] = _TEXT | {
    "description": "The task in which the daemon drives the session; missing while commands drive it."
}


def read_session(data: bytes, name: str) -> SkillSession:
    """Return the session that a state file holds. Whether it may be so is for `pm.plan.composite.machine` to say.

    Raises:
        BadFile: with every fault.

    """
    return read_json(data, name, _session, FILE_BYTES)


def write_session(session: SkillSession) -> bytes:
    """Return a state file."""
    phase = session.phase
    driven = {"task": session.task} if session.task else {}
    document = {
        "protocol": PROTOCOL,
        "session_id": session.session,
        "project": session.project,
        "skill": session.skill,
        "request": session.request,
        **driven,
        "fsm": {"state": session.state.value, "phase": phase.id if phase else None},
        "step_outputs": step_outputs(session),
    }
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def step_outputs(session: SkillSession) -> dict[str, Any]:
    """Return the outputs of the steps that were done, by the step's number as a text."""
    made = dict[str, Any]()
    if session.task_id is not None:
        made["1"] = {"task_id": session.task_id}
    if (classified := session.classified) is not None:
        made["2"] = {"domain": classified.domain.value, "confidence": classified.confidence.value}
        if classified.reason:
            made["2"]["reason"] = classified.reason
    if session.config is not None:
        made["3"] = {"skill_config": skill_fields(session.config)}
    if session.memory_file is not None:
        made["4"] = {"memory_file": session.memory_file}
    if session.phases_completed:
        made["5"] = {
            "phases_completed": [
                {"phase_id": each.phase, "agent": each.agent, "memory_file": each.memory_file}
                for each in session.phases_completed
            ]
        }
    if session.summary is not None:
        made["6"] = {"summary": session.summary}
    return made


def _session(fields: Fields) -> SkillSession:
    if fields.text("protocol") not in {PROTOCOL, ""}:
        fields.fault(f"`protocol` is not {PROTOCOL}")
    session = fields.text("session_id")
    if not HEX_ID.fullmatch(session):
        fields.fault("`session_id` has 12 hexadecimal digits")
    project = fields.text("project")
    if not project.startswith("/"):
        fields.fault("`project` is an absolute path")
    fsm, outputs = fields.object("fsm"), fields.object("step_outputs")
    state = fsm.member("state", SkillState) if fsm else SkillState.GENERATE_TASK_ID
    if fsm is None or outputs is None:
        fields.fault("`fsm` and `step_outputs` are objects of every state file")
        return SkillSession(session, project, "", "")
    return _with_outputs(
        SkillSession(
            session,
            project,
            fields.name("skill", what="skill name"),
            fields.text("request"),
            state,
            task=fields.name("task", what="task name") if fields.has("task") else "",
        ),
        outputs,
    )


def _with_outputs(session: SkillSession, outputs: Fields) -> SkillSession:
    for key in outputs.names_of_fields:
        if key not in {str(number) for number in range(1, len(STEPS) + 1)}:
            outputs.fault(f"`step_outputs` has no step {key[:20]!a}: there are 1 to {len(STEPS)}")
    first, second, third = (outputs.object(key) for key in "123")
    fourth, fifth, sixth = (outputs.object(key) for key in "456")
    config = third.object("skill_config") if third else None
    if third and config is None:
        third.fault("`step_outputs.3.skill_config` is missing: write an object")
    return SkillSession(
        session.session,
        session.project,
        session.skill,
        session.request,
        session.state,
        _task_id(first) if first else None,
        _classified(second) if second else None,
        skill_of(config) if config else None,
        fourth.text("memory_file") if fourth else None,
        _phases(fifth) if fifth else (),
        sixth.text("summary") if sixth else None,
        session.task,
    )


def _task_id(fields: Fields) -> str:
    task_id = fields.text("task_id")
    if not HEX_ID.fullmatch(task_id):
        fields.fault("`step_outputs.1.task_id` has 12 hexadecimal digits")
    return task_id


def _classified(fields: Fields) -> Classified:
    return Classified(
        fields.member("domain", Domain), fields.member("confidence", Confidence), fields.text("reason", "")
    )


def _phases(fields: Fields) -> tuple[PhaseDone, ...]:
    return tuple(
        PhaseDone(each.name("phase_id", what="phase id"), each.name("agent"), each.text("memory_file"))
        for each in fields.objects("phases_completed", required=True)
    )
