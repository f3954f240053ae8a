import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli import main as main_module
from orchestrator.cli.main import VERBS

CHANGING = [
    ["start", "tidy"],
    ["stop", "tidy"],
    ["checkin", "tidy"],
    ["spawn", "tidy", "dev", "--instructions", "x"],
    ["order", "tidy", "dev", "x"],
    ["merge", "tidy"],
    ["merge", "tidy", "--dry-run"],
    ["rebase", "tidy"],
    ["undo", "tidy", "dev:one"],
    ["delete", "tidy", "--yes", "--unmerged"],
    ["archive", "tidy", "--yes"],
    ["archive", "tidy", "--restore"],
    ["answer", "tidy", "q1", "keep"],
    ["attach", "tidy"],
    ["attach", "tidy", "--read-only"],
    ["watch"],
    ["serve", "--port", "0"],
    ["setup-agents"],
    ["notify", "test"],
    ["workflow", "new", "tidy"],
    ["workflow", "approve", "tidy"],
    ["skill", "run", "--daemon", "develop-project", "Add an export"],
    ["memory", "forget", "mem_1702311000_abc123"],
    ["memory", "mark", "mem_1702311000_abc123", "misled"],
    ["memory", "search", "--all-projects"],
    ["doctor", "me@127.0.0.1"],
    ["daemon", "run"],
    ["daemon", "start"],
    ["daemon", "stop"],
    ["daemon", "install"],
    ["daemon", "uninstall"],
]
LOOKING = [
    ["status", "tidy"],
    ["list"],
    ["list", "--archived"],
    ["hosts"],
    ["questions"],
    ["templates"],
    ["config"],
    ["doctor"],
    ["completion", "bash"],
    ["notify", "list"],
    ["memory", "search"],
    ["observe"],
    ["skill", "list"],
    ["daemon", "status"],
    ["daemon", "alarm"],
    ["help"],
]


@pytest.mark.parametrize("words", CHANGING, ids=" ".join)
def test_inside_a_run_nothing_can_be_changed(house, task, daemon, monkeypatch, words):
    house.task(questions=[house.question()])
    monkeypatch.setenv("ORCHESTRATOR_RUN", "dev-run")
    before = sorted(str(path) for path in house.root.rglob("*"))
    said = task(*words)
    assert said.code == 2
    assert "is not for agents" in said.err
    assert said.err.count("\n") == 1
    assert daemon.heard == []
    assert sorted(str(path) for path in house.root.rglob("*")) == before


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_inside_a_run_everything_can_be_looked_at(house, task, monkeypatch, words):
    house.task()
    monkeypatch.setenv("ORCHESTRATOR_RUN", "dev-run")
    assert task(*words).code == 0


def test_words_may_stand_behind_options(house, task):
    """`task why NAME --project P STEP` was "unrecognized arguments": argparse takes an optional word at once."""
    house.task()
    journal = house.home("tidy-0a1b2c3d") / "journal"
    journal.mkdir()
    said = task("why", "tidy", "--project", str(house.project), "nobody")
    assert (said.code, "nobody" in said.err) == (1, True)


def test_words_with_a_dash_may_stand_behind_two_dashes(house, task, daemon):
    house.task(questions=[house.question(options=[])])
    assert task("answer", "--", "tidy", "q1", "-no").code == 0
    assert daemon.heard[-1]["arguments"]["text"] == "-no"


def test_every_verb_either_changes_or_looks():
    shown = {words[0] for words in [*CHANGING, *LOOKING]} | {"logs", "why", "diff", "report", "mcp"}
    assert shown == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(task, capfd, verb):
    with pytest.raises(SystemExit) as ended:
        main_module.main([verb, "--help"])
    assert ended.value.code == 0
    shown = capfd.readouterr().out
    assert VERBS[verb] in shown
    assert "example:\n  task " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert task("help", verb).out == shown


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]], ids=str)
def test_the_help_shows_every_verb(task, words):
    said = task(*words)
    assert said.code == 0
    assert all(f"\n  {verb} " in said.out for verb in VERBS)
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize("topic", ["json", "exit-codes"])
def test_the_documents_and_exit_codes_are_explained(task, topic):
    said = task("help", topic)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 110


def test_the_folder_of_schemas_is_named(task):
    assert Path(task("help", "schemas").out.rstrip("\n"), "status.schema.json").is_file()


def test_the_version(task):
    assert task("--version").out == "agent-orchestrator 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["stats"], "there is no verb 'stats': did you mean `task status`?"),
        (["xyzzy"], "there is no verb 'xyzzy': `task --help` lists all verbs"),
        (["\x1b[2J"], "there is no verb '\\x1b[2J'"),
        (["answer"], "task answer: the following arguments are required: "),
        (["status", "tidy", "--jsn"], "unrecognized arguments: --jsn"),
        (["help", "xyzzy"], "there is no help on 'xyzzy': see `task help`"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(house, task, words, why):
    house.task()
    said = task(*words)
    assert (said.code, said.out) == (2, "")
    assert why in said.err
    assert said.err.count("\n") == 1


def test_what_was_not_foreseen_is_one_sentence_too(house, task, monkeypatch):
    house.task(steps=[3])
    said = task("status", "tidy")
    assert said.code == 1
    assert said.err.startswith("task: internal error (AttributeError: ")
    assert "to see where, set ORCHESTRATOR_DEBUG=1" in said.err
    assert said.err.count("\n") == 1
    monkeypatch.setenv("ORCHESTRATOR_DEBUG", "1")
    assert "Traceback" in task("status", "tidy").err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_the_system_refuses_is_one_sentence(house, task):
    house.task()
    (house.state / "tasks").chmod(0)
    said = task("list")
    (house.state / "tasks").chmod(stat.S_IRWXU)
    assert said.err == f"task: {house.state}/tasks: Permission denied\n"


def test_a_missing_folder_in_the_way_is_one_sentence(house, task):
    (house.state / "tasks").write_text("")
    said = task("list")
    assert (said.code, said.err) == (1, f"task: {house.state}/tasks is not a folder: take it away\n")


def test_it_runs_as_a_module(house):
    command = [sys.executable, "-m", "orchestrator.cli", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "no tasks yet" in done.stdout


def test_terminal_without_unicode_is_no_error(house):
    house.task(steps=[house.step(title="名前…")])
    command = [sys.executable, "-X", "utf8=0", "-m", "orchestrator.cli", "status", "tidy"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"explore" in done.stdout


def test_a_relative_state_folder_is_refused(task, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_HOME", "here")
    said = task("list")
    assert (said.code, said.err) == (2, "task: ORCHESTRATOR_HOME is 'here': give an absolute path\n")
