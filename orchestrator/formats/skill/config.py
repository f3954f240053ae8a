"""The configuration of a composite skill, `protocols/skill/composite/NAME/config.yaml` (S2)."""

from __future__ import annotations

from typing import Any, Final

from orchestrator.formats.text import FILE_BYTES, decoded, refused
from orchestrator.formats.workflow.nodes import Fields
from orchestrator.formats.workflow.yaml_block import parse_yaml
from orchestrator.model.composite import CompositeSkill, Context, Domain, SkillPhase
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.names import NAME

CONFIG_FILE: Final = "config.yaml"
MOST_PHASES: Final = 100

_KEYS: Final = ("name", "description", "match", "domain", "phases")
_PHASE_KEYS: Final = ("id", "agent", "instructions", "context", "alongside")
_NAME: Final = {"type": "string", "pattern": f"^{NAME}$"}

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:agent-orchestrator:skill-config",
    "title": "protocols/skill/composite/NAME/config.yaml",
    "description": "A composite skill: phases, each the work of one agent.",
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "phases"],
    "properties": {
        "name": {**_NAME, "description": "The skill's name: that of its folder."},
        "description": {"type": "string", "description": "What it is for."},
        "match": {
            "type": "array",
            "items": {"type": "string", "pattern": r"\S"},
            "description": "Words and phrases by which a request is recognised; `build*`: words that begin so.",
        },
        "domain": {"enum": list(Domain), "description": "The domain where no rule says another."},
        "phases": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_PHASES,
            "description": "In order. No two have the same id or the same agent.",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "agent"],
                "properties": {
                    "id": {**_NAME, "description": "The phase's name."},
                    "agent": {**_NAME, "description": "Who works in it; its memory file is named by it."},
                    "instructions": {"type": "string", "description": "What the agent is asked for."},
                    "context": {
                        "anyOf": [{"enum": list(Context)}, {"type": "array", "items": _NAME}],
                        "default": Context.PREVIOUS,
                        "description": "Whose memory files it may read: those of the phase before, of all phases "
                        "before, of none, or of these phases.",
                    },
                    "alongside": {
                        "type": "boolean",
                        "default": False,
                        "description": "true: it works at the same time as the phase before it, whose memory file it "
                        "does not read. That phase counts as one with it for the phases after.",
                    },
                },
            },
        },
    },
}
"""The published JSON Schema (`docs/reference/schemas/skill-config.schema.json`)."""


def read_skill(data: bytes, name: str) -> CompositeSkill:
    """Return the skill that a `config.yaml` describes.

    Args:
        data: The file's bytes.
        name: Its path, for messages.

    Raises:
        BadFile: with every fault and its line.

    """
    text = decoded(data, name, FILE_BYTES)
    if not text.strip():
        raise BadFile(name, [Fault(0, "is empty: write `name:` and `phases:`")])
    faults = list[Fault]()
    skill = skill_of(Fields(parse_yaml(text, name), "", faults, _KEYS))
    if faults:
        raise refused(name, faults)
    return skill


def skill_of(fields: Fields) -> CompositeSkill:
    """Return the skill in an object, of YAML or of JSON. What is wrong with it goes into the faults of `fields`."""
    phases = list[SkillPhase]()
    for each in fields.objects("phases", _PHASE_KEYS, required=True):
        phase = _phase(each, phases)
        phases.append(phase)
    if not 1 <= len(phases) <= MOST_PHASES:
        fields.fault(f"`{fields.path('phases')}` has {len(phases)} entries: write 1 to {MOST_PHASES}")
    return CompositeSkill(
        fields.name("name", what="skill name"),
        tuple(phases),
        fields.text("description", ""),
        fields.texts("match"),
        fields.member("domain", Domain) if fields.has("domain") else None,
    )


def skill_fields(skill: CompositeSkill) -> dict[str, Any]:
    """Return a skill as an object of JSON, without what it leaves open."""
    made: dict[str, Any] = {"name": skill.name}
    if skill.description:
        made["description"] = skill.description
    if skill.match:
        made["match"] = list(skill.match)
    if skill.domain is not None:
        made["domain"] = skill.domain.value
    return made | {"phases": [_phase_fields(phase) for phase in skill.phases]}


def _phase(fields: Fields, before: list[SkillPhase]) -> SkillPhase:
    identifier, agent = fields.name("id", what="phase id"), fields.name("agent")
    if identifier and identifier in {each.id for each in before}:
        fields.fault(
            f"`{fields.path('id')}`: a phase before is called {identifier!a}, too", fields.mark_of("id")
        )
    if agent and agent in {each.agent for each in before}:
        fields.fault(
            f"`{fields.path('agent')}`: {agent!a} works in a phase before, and memory files are named by agents: "
            "choose another one",
            fields.mark_of("agent"),
        )
    alongside = fields.has("alongside") and fields.boolean("alongside")
    if alongside and not before:
        fields.fault(
            f"`{fields.path('alongside')}`: there is no phase before this one", fields.mark_of("alongside")
        )
    ended = before[: _first_at_once(before)] if alongside else before
    return SkillPhase(identifier, agent, fields.text("instructions", ""), _context(fields, ended), alongside)


def _first_at_once(before: list[SkillPhase]) -> int:
    """Return where those begin that work at the same time as the last phase of a list."""
    return next((number for number in range(len(before) - 1, 0, -1) if not before[number].alongside), 0)


def _context(fields: Fields, before: list[SkillPhase]) -> Context | tuple[str, ...]:
    node = fields.node("context")
    if node is None or isinstance(node.value, str):
        return fields.member("context", Context, Context.PREVIOUS)
    wanted = fields.names("context", "phase id")
    for each in wanted:
        if each not in {phase.id for phase in before}:
            fields.fault(f"`{fields.path('context')}`: no phase before is called {each!a}", node.mark)
    return wanted


def _phase_fields(phase: SkillPhase) -> dict[str, Any]:
    made: dict[str, Any] = {"id": phase.id, "agent": phase.agent}
    if phase.instructions:
        made["instructions"] = phase.instructions
    if phase.context is not Context.PREVIOUS:
        made["context"] = phase.context.value if isinstance(phase.context, Context) else list(phase.context)
    if phase.alongside:
        made["alongside"] = True
    return made
