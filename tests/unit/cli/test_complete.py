import json
import subprocess
import sys

import pytest

from orchestrator.cli.main import VERBS
from scripts.reference.completion_grammar import ASKED, FILES, FOLDERS, grammar


def names(said):
    assert (said.code, said.err) == (0, "")
    return said.out.split()


@pytest.fixture
def user(house):
    house.task(
        "tidy-0a1b2c3d", questions=[house.question("q1")], agents=[house.agent("dev"), house.agent("dev-2")]
    )
    house.task("other-0a1b2c3e", questions=[house.question("q7")], agents=[house.agent("scout")])
    return house


def test_tasks_are_those_that_there_are(user, task):
    assert names(task("complete", "tasks")) == ["other", "tidy"]


def test_agents_and_questions_of_the_typed_task_are_offered(user, task):
    assert names(task("complete", "runs", "tidy")) == ["dev", "dev-2"]
    assert names(task("complete", "questions", "other")) == ["q7"]
    assert names(task("complete", "questions")) == ["q1", "q7"]
    assert names(task("complete", "tasks+questions")) == ["other", "q1", "q7", "tidy"]


def test_shipped_and_project_agents_are_offered_to_spawn(user, task):
    folder = user.project / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "security.md").write_text("x")
    (folder / "notes.txt").write_text("x")
    found = names(task("complete", "agents", "tidy"))
    assert {"dev", "review", "security"} <= set(found)
    assert "notes" not in found
    assert "skills" not in found


def test_templates_are_found_wherever_the_settings_say(house, task):
    config = house.root / "config" / "agent-orchestrator"
    for folder in (config / "templates" / "own", house.root / "more" / "third", house.root / "more" / "none"):
        folder.mkdir(parents=True)
    (config / "templates" / "own" / "task.md").write_text("x")
    (house.root / "more" / "third" / "task.md").write_text("x")
    (config / "config.toml").write_text('[templates]\nfolders = ["~/more"]\n')
    assert names(task("complete", "templates")) == ["own", "third", "tidy"]


def test_boxes_in_use_and_of_pools_are_offered(house, task):
    assert names(task("complete", "boxes")) == []
    config = house.root / "config" / "agent-orchestrator"
    config.mkdir(parents=True)
    settings = config / "config.toml"
    settings.write_text(
        '[hosts.farm]\nboxes = ["me@alpha", "ssh://me@beta:22", "`x`", 3]\n[hosts.odd]\nboxes = 3\n'
    )
    shown = house.state / "boxes" / "boxes.json"
    shown.parent.mkdir(mode=0o700)
    shown.write_text(
        json.dumps({"boxes": [{"address": "me@beta:22"}, {"address": "old"}, {"address": "$(x)"}]})
    )
    shown.chmod(0o600)
    assert names(task("complete", "boxes")) == ["me@alpha", "old", "ssh://me@beta:22"]
    shown.write_text('{"boxes": 3}')
    settings.write_text("hosts = 3")
    assert names(task("complete", "boxes")) == []


@pytest.mark.parametrize(
    "broken", ["templates = ", "templates = 3", "[templates]\nfolders = [3]", "\xff templates"]
)
def test_settings_that_do_not_read_are_no_word_in_a_prompt(house, task, broken):
    config = house.root / "config" / "agent-orchestrator"
    config.mkdir(parents=True)
    (config / "config.toml").write_bytes(broken.encode("latin-1"))
    assert names(task("complete", "templates")) == ["tidy"]


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["tasks", "--odd", "\x1b"], ["questions", "no-such"]], ids=str
)
def test_nothing_that_is_asked_is_an_error(house, task, words):
    assert names(task("complete", *words)) == []


def test_a_state_that_cannot_be_read_is_no_error_either(house, task):
    house.task().joinpath("state.json").write_text("{")
    assert names(task("complete", "runs")) == []
    house.state.chmod(0o777)
    said = task("complete", "tasks")
    house.state.chmod(0o700)
    assert names(said) == []


def test_a_name_that_a_shell_would_take_for_more_is_left_out(house, task):
    house.task(agents=[house.agent(name) for name in ("dev", "$(reboot)", "a b", "`x`", "a\nb", "x" * 200)])
    assert names(task("complete", "runs")) == ["dev"]


def test_every_argument_has_a_kind_that_scripts_know():
    verbs = grammar()
    assert [verb.name for verb in verbs] == list(VERBS)
    kinds = {option.value or "" for verb in verbs for option in verb.options}
    kinds |= {kind for verb in verbs for kind in verb.places}
    asked = {part for kind in kinds if not kind.startswith("=") for part in kind.split("+")}
    assert asked <= {"", FOLDERS, FILES, *ASKED}
    assert set(ASKED) <= asked


def test_completion_imports_nothing_slow(user):
    shown = "print(*sys.modules, file=sys.stderr)"
    code = f"import sys; from orchestrator.cli.main import main; main(['complete', 'runs+agents+templates']); {shown}"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert not {"argparse", "pathlib", "pydantic", "tomllib", "typing"} & set(done.stderr.split())
