"""What personas and templates say of files is what the program reads: paths, fields, values, and whole examples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from enum import StrEnum
from itertools import chain

import pytest

from orchestrator.formats.workflow.archives import (
    INDEX_FILE,
    LOG_FILE,
    read_archive_index,
    read_cleanup_log,
)
from orchestrator.formats.workflow.edits import EDIT_FIELDS, read_edits
from orchestrator.formats.workflow.plan import (
    AGENT_KEYS,
    CHECKPOINT_KEYS,
    ESCALATION_KEYS,
    EVIDENCE_KEYS,
    INPUT_KEYS,
    PLAN_KEYS,
    POC_KEYS,
    read_plan,
)
from orchestrator.formats.workflow.plan_values import Workspace
from orchestrator.formats.workflow.research import read_research
from orchestrator.formats.workflow.results import read_judgement, read_resolution, read_results
from orchestrator.formats.workflow.session import read_session
from orchestrator.formats.workflow.status import GATE_KEY, read_status
from orchestrator.model import workflow, workflow_records
from orchestrator.model.workflow import (
    DECISION_FILE,
    INSTRUCTIONS_FILE,
    OUTPUT_FOLDER,
    PLAN_FILE,
    RESULTS_FILE,
    SESSION_FILE,
    STATUS_FILE,
    AgentKind,
    Bounds,
    EditKind,
)
from orchestrator.model.workflow_records import AgentStatus, Effect, NoteKind, NoteStatus
from orchestrator.pm.plan.adaptation import Adaptation, Progress, adapt
from orchestrator.pm.plan.workflow_check import Rule, Surroundings, check_design
from tests.unit.personas.texts import PAGES, PERSONAS, TEMPLATES, blocks, filled, instructions, spans

AGENT = r"agents/[A-Za-z_]+"
PATHS = [
    r"(?:tasks/NAME/orchestration/)?conversation_summary_[A-Za-z_]+\.md",
    re.escape(PLAN_FILE),
    re.escape(STATUS_FILE),
    rf"(?:{AGENT}/)?(?:{re.escape(INSTRUCTIONS_FILE)}|{re.escape(RESULTS_FILE)}|{re.escape(DECISION_FILE)})",
    rf"(?:{AGENT}/)?(?:completion_drive/)?(?:session_current|session_YYYYMMDD_HHMM_SLUG)\.json",
    rf"(?:{AGENT}/)?completion_drive/",
    rf"(?:{AGENT}/)?{OUTPUT_FOLDER}/(?:[A-Za-z_.]+)?",
    r"resolution_N\.json",
    rf"(?:agents/archival_agent/)?(?:{re.escape(LOG_FILE)}|{re.escape(INDEX_FILE)})",
    "agents/archival_agent/",
    r"records/(?:events\.jsonl|verifications/|outputs/|adaptations/|plans/)?",
    r"(?:verifications|outputs|adaptations|plans)/|events\.jsonl",  # in `records/`, which stands before them
    r"tasks/|tasks/(?:NAME|database_agent)/orchestration/",
    r"\$ORCHESTRATOR_TASK_DIR/orchestration",
    r"tasks/NAME/(?:task\.md|scratchpad/adaptation\.json)|task\.md",
    r"tasks/\.research/(?:TECHNOLOGY/(?:EPOCH-SHA8\.md)?)?",
    r"agents/|protocols/?|references/(?:plan|files)\.md|SKILL\.md",
    r"\.claude/(?:protocols/|agents/\*\.md)|\.kiro/agents/(?:\*|plan-developer)\.json",
    r"\.codex/agents/plan-developer\.toml",
    r"orchestration_(?:doer|verifier|solution_architect)_agent_template\.md",
]
EXAMPLE_FILES = {"example_agent.py", "decision.md", "run.log", "tables.md", "locks.json", "database_agent"}
PATH_LIKE = re.compile(r"[\w$.*/{}-]*(?:/|\.(?:json|jsonl|md|log|toml|ya?ml))[\w$.*/{}-]*")

SHAPES: dict[frozenset[str], Callable[..., object]] = {
    frozenset({"task_id", "session_start", "notes"}): read_session,
    frozenset({"task_id", "timestamp", "result", "missing_evidence"}): read_results,
    frozenset({"task_id", "timestamp", "evidence", "decision", "rationale", "edits"}): read_judgement,
    frozenset({"task_id", "timestamp", "items"}): read_resolution,
    frozenset({"task_id", "status", "session_start", "agents", "verification", GATE_KEY}): read_status,
    frozenset({"edits"}): read_edits,
    frozenset({"operations"}): read_cleanup_log,
    frozenset({"sessions"}): read_archive_index,
}
"""Which reader reads a document with these fields."""

FIELDS = {
    *chain.from_iterable(SHAPES),
    *("completion_drive_notes_count", "unresolved_notes", "dependencies", "last_update", "assigned_agents"),
    *("note_id", "timestamp", "description", "context", "status", "resolution", "resolved_by"),
    *("resolution_timestamp", "escalation_reason", "kind"),
    *("agent", "route", "text", "checked", "overrides", "edits", "edit"),
    *chain.from_iterable(EDIT_FIELDS.values()),
    *("operation", "from", "to", "sha256", "reason", "archived_at", "file"),
    *("technology", "task_type", "keywords", "sources", "created", "workflow"),
}
"""The fields of the contract's files, beside those of the plan."""

PLAN_FIELDS = {
    *chain(PLAN_KEYS, AGENT_KEYS, INPUT_KEYS, EVIDENCE_KEYS, POC_KEYS, CHECKPOINT_KEYS, ESCALATION_KEYS),
    *(field.name for field in fields(Bounds)),
    *("at_once", "text", "by", "hash", "at"),
}
VALUES = {
    str(member)
    for module in (workflow, workflow_records)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, StrEnum)
    for member in kind
} | {each.value for each in Workspace}

each_page = pytest.mark.parametrize("page", PAGES)


def paths(page: str) -> list[str]:
    """Return each piece of code in a page's prose that looks like a path of a file or folder."""
    reported = (re.sub(r"<[a-z_]+>", "database_agent", each) for each in spans(PAGES[page]))
    return [each for each in reported if PATH_LIKE.fullmatch(each) and not each.startswith("/persona-")]


def keys(value: object) -> set[str]:
    """Return each key in a JSON document, at any depth, but not the names of agents."""
    if isinstance(value, dict):
        named = {key for key in value if key.endswith(("_agent", "_verifier"))}
        return (value.keys() - named).union(*map(keys, value.values()))
    return set[str]().union(*map(keys, value)) if isinstance(value, list) else set()


@each_page
def test_each_path_is_one_of_the_contract(page):
    known = re.compile("|".join(f"(?:{pattern})" for pattern in PATHS))
    assert {each for each in paths(page) if not known.fullmatch(each)} <= EXAMPLE_FILES


@each_page
def test_each_word_of_code_is_one_of_the_contract(page):
    words = {each for each in spans(PAGES[page]) if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", each)}
    examples = {each for each in words if each.endswith(("_agent", "_verifier", "_poc"))}
    assert words - examples <= FIELDS | PLAN_FIELDS | VALUES


@each_page
def test_each_json_example_is_read(page):
    for text in map(filled, blocks(PAGES[page], "json")):
        document = json.loads(text)
        assert keys(document) <= FIELDS | PLAN_FIELDS
        if document.keys() == {"agents"}:
            (entry,) = document["agents"].values()
            assert AgentStatus(entry.pop("status"))
            assert entry == {}
        else:
            assert SHAPES[frozenset(document)](text.encode())


@each_page
def test_each_part_of_a_plan_names_its_fields(page):
    for text in blocks(PAGES[page], "yaml"):
        found = set(re.findall(r"(?:^|[{,]|- )\s*([a-z_]+):", text, re.MULTILINE))
        assert found - {"database"} <= PLAN_FIELDS


@each_page
def test_each_task_id_of_an_example_is_well_formed(page):
    """A status file's own `task_id` is the task's name."""
    for text in map(filled, blocks(PAGES[page], r"(?:json|yaml)")):
        if '"verification"' not in text:
            ids = re.findall(r"task_id\W+([a-z_0-9]+)", text)
            assert [each for each in ids if not workflow.TASK_ID.fullmatch(each)] == []


def test_the_plan_of_the_skill_is_read_whole():
    plan = read_plan(PAGES["skills/agent-workflow/references/plan.md"].encode())
    assert {agent.kind for agent in plan.agents} == set(AgentKind) - {AgentKind.ARCHITECT}
    assert {agent.persona for agent in plan.agents} <= set(PERSONAS)


def test_a_design_of_the_templates_has_no_faults():
    plan = read_plan(PAGES["skills/agent-workflow/references/plan.md"].encode())
    (summary, _task) = blocks(PERSONAS["plan-developer"].agent.prompt, "markdown")
    around = Surroundings(
        task="add_users",
        criteria=tuple(each.text for each in plan.criteria),
        instructions={each.instructions: instructions(each, plan) for each in plan.agents},
        summary=summary,
        personas=set(PERSONAS),
        runtimes=set(),
    )
    assert check_design(plan, around) == ()


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_that_nobody_filled_in_is_found(name):
    plan = read_plan(PAGES["skills/agent-workflow/references/plan.md"].encode())
    around = Surroundings(instructions={each.instructions: TEMPLATES[name] for each in plan.agents})
    found = {each.file for each in check_design(plan, around) if each.rule is Rule.INSTRUCTIONS_UNFINISHED}
    assert found == {each.instructions for each in plan.agents}


def test_the_example_of_an_adaptation_changes_the_plan():
    """With the agents that it speaks of in the plan: no edit is refused, and none lowers the bar."""
    (text,) = blocks(PERSONAS["workflow-adaptation"].agent.prompt, "json")
    plan = read_plan(PAGES["skills/agent-workflow/references/plan.md"].encode())
    database = next(each for each in plan.agents if each.id == "database_agent")
    api = replace(database, id="api_agent", task_id="api_1727539209", needs=("database_agent",), inputs=())
    api = replace(api, instructions="agents/api_agent/agent_instructions.md", files=("api/**",))
    adapted = adapt(
        replace(plan, agents=(*plan.agents, api)), read_edits(text.encode()), Progress(), by_user=False
    )
    assert isinstance(adapted, Adaptation)
    assert dict(adapted.effects)["roles_agent"] is Effect.ADDED
    assert adapted.voids == ()


def test_the_skill_explains_every_field_of_a_plan():
    text = PAGES["skills/agent-workflow/references/plan.md"]
    assert {*PLAN_KEYS, *AGENT_KEYS, *(each.name for each in fields(Bounds))} <= set(re.findall(r"\w+", text))


def test_the_note_of_research_is_read():
    (text,) = blocks(PAGES["best-practices-research.md"], "markdown")
    research = read_research(text.encode(), "research.md")
    assert research.sources
    assert research.keywords


def test_who_may_edit_a_plan_knows_every_edit():
    for name in ("poc-decision", "workflow-adaptation", "escalation-resolution", "loop-resolution"):
        assert set(EditKind) <= set(spans(PERSONAS[name].agent.prompt)), name


@pytest.mark.parametrize("name", PERSONAS)
def test_what_a_persona_writes_is_its_own_to_write(name):
    """Verdicts are the verifiers'; what the program writes is nobody's else (contract, Writers)."""
    writes = set(PERSONAS[name].writes)
    known = re.compile("|".join(f"(?:{pattern})" for pattern in PATHS))
    assert all(known.fullmatch(path) for path in writes)
    verdicts = {path for path in writes if path.endswith((RESULTS_FILE, DECISION_FILE))}
    assert not verdicts or name in {"workflow-verifier", "poc-decision"}
    assert not {path for path in writes if path.startswith(("records/", "agents/archival_agent/"))}


@pytest.mark.parametrize("name", PERSONAS)
def test_what_a_persona_writes_it_speaks_of(name):
    text = PERSONAS[name].agent.prompt
    for path in PERSONAS[name].writes:
        assert path.rstrip("/").split("/")[-1] in text


class TestTemplates:
    """Instructions made of a template say all that an agent needs, as it reads nothing else."""

    @pytest.mark.parametrize("name", TEMPLATES)
    def test_session_and_status_and_kinds_are_explained(self, name):
        code = set(spans(TEMPLATES[name]))
        assert {kind.value for kind in NoteKind if kind} <= {each.split(":")[0] for each in code}
        assert {STATUS_FILE, f"agents/<agent>/{SESSION_FILE}"} <= code
        assert '"note_id"' in TEMPLATES[name]

    @pytest.mark.parametrize("kind", ["doer", "solution_architect"])
    def test_those_who_work_know_notes_and_own_statuses(self, kind):
        text = TEMPLATES[f"orchestration_{kind}_agent_template.md"]
        assert {each.value for each in NoteStatus} <= set(spans(text))
        own = {AgentStatus.REVIEW, AgentStatus.READY, AgentStatus.BLOCKED}
        assert set(re.findall(r"^\| `(\w+)` \| ", text.partition("## Your status")[2], re.MULTILINE)) == own
        others = set(AgentStatus) - own - {AgentStatus.PENDING}
        assert others <= set(spans(text.partition("## Your status")[2]))

    def test_a_verifier_knows_both_verdicts_and_the_third(self):
        text = TEMPLATES["orchestration_verifier_agent_template.md"]
        assert "agents/<subject>/verification_results.json" in spans(text)
        assert "agents/<subject>/poc_decision.json" in spans(text)
        for evidence, decisions in {
            "pass": "`proceed`, `adapt`, `ask`",
            "partial": "`adapt`, `ask`",
            "fail": "`ask`",
        }.items():
            assert re.search(rf"^\| `{evidence}` \| .* \| {decisions} \|$", text, re.MULTILINE)

    @pytest.mark.parametrize("name", TEMPLATES)
    def test_each_blank_can_be_recognised(self, name):
        assert re.findall(r"\[[A-Z_]+\]|\{\{?\w+\}?\}|\bTODO\b", TEMPLATES[name]) == []
        assert "<task_id>" in TEMPLATES[name]
