"""What `--json` prints is as the published schemas say, down to the last field.

The fixture `task` holds every document that any test of this folder prints against its schema. Here the states are
those that the daemon itself would write.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from orchestrator.cli import help as helping
from orchestrator.cli.main import VERBS
from orchestrator.daemon.boxes.transfer_status import Failing, Missing, TransferStatus
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.state_document import NOTHING, Unjournaled
from orchestrator.daemon.projections.state_files import FEW, Shown
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.handoff import ReportStatus, Subtask
from orchestrator.model.run import Exit
from orchestrator.model.usage_limit import Reset
from scripts.reference.catalogue import DOCUMENTS
from scripts.reference.schemas import schemas
from tests.json_schemas import FOLDER, faults, schema_of
from tests.unit.pm.story import AT, Story


@cache
def made():
    return schemas()


def started():
    story = Story()
    story.starts()
    story.comes_alive("explore")
    return story


def limited():
    story = started()
    event = Event(
        EventKind.FAILED, text="resets at 5pm", failure=Failure.LIMIT, reset=Reset((AT + 3600,), 60.0)
    )
    story.emits("explore", event)
    story.ends("explore", Exit(signal=15))
    return story


def asking():
    story = started()
    for _ in range(2):
        story.does("explore", ReportStatus.BLOCKED, blockers="which name?")
        story.passes(3600)
    return story


def large():
    story = Story()
    story.starts()
    story.does("explore")
    story.comes_alive("plan")
    story.reports("plan", subtasks=tuple(Subtask(f"s{n}", "Do it") for n in range(FEW)))
    return story


def shown(house, story, unjournaled=NOTHING):
    """Write a task as its daemon does."""
    home = house.home("tidy-0a1b2c3d")
    Shown(DiskFiles(house.state), home).write(
        story.state, story.at, story.at, outcome_of(story.state, None), unjournaled
    )
    return home


@pytest.mark.parametrize("story", [started, limited, asking, large])
def test_documents_of_a_daemons_own_state_fit_their_schemas(house, task, story):
    made_story = story()
    shown(house, made_story)
    assert task("status", "tidy", "--json").json["id"] == made_story.state.id
    assert len(task("list", "--json").json["tasks"]) == 1
    asked = task("questions", "--json").json["questions"]
    assert len(asked) == (1 if story is asking else 0)


def test_what_lies_on_boxes_fits_its_schema(house, task):
    lost = TransferStatus(
        "me@box", "no route", (Failing("artifacts", AT, "no rsync"),), (Missing("dev", "r-1", AT),)
    )
    shown(house, started(), Unjournaled((lost,)))
    (box,) = task("status", "tidy", "--json").json["boxes"]
    assert box["missing"][0]["run"] == "r-1"


def test_a_field_that_no_schema_names_is_noticed(house, task):
    shown(house, started())
    document = task("status", "tidy", "--json").json
    assert faults("status", document) == []
    document["steps"][0]["colour"] = "red"
    del document["phase"]
    document["state"] = "happy"
    document["updated"] = "yesterday"
    assert len(faults("status", document)) == 4


@pytest.mark.parametrize("name", DOCUMENTS)
def test_published_schemas_are_those_of_the_code(name):
    assert json.loads((FOLDER / f"{name}.schema.json").read_text()) == made()[name]


@pytest.mark.parametrize(("name", "command"), [(name, command) for name, (command, _) in DOCUMENTS.items()])
def test_the_schema_of_a_command_is_found_by_its_words(name, command):
    assert schema_of(command.split()) == name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_help_names_every_field_of_a_document(name):
    words = set(helping.JSON.replace("[]", " ").replace(",", " ").replace(":", " ").replace(";", " ").split())
    assert set(_fields(made()[name])) - words == set()


def test_every_verb_with_json_has_a_schema():
    verbs = {path.stem.replace("_", "-") for path in Path(helping.__file__).parent.glob("*.py")}
    asked = {verb for verb in verbs if verb in VERBS and '"--json"' in _source(verb)}
    assert {command.split()[0] for command, _ in DOCUMENTS.values()} == asked


def _source(verb):
    return Path(helping.__file__).with_name(f"{verb.replace('-', '_')}.py").read_text()


def _fields(schema):
    match schema:
        case {"properties": dict(named), **more}:
            yield from named
            yield from _fields(list(named.values()))
            yield from _fields(more)
        case dict():
            yield from _fields(list(schema.values()))
        case list():
            for each in schema:
                yield from _fields(each)
        case _:
            return
