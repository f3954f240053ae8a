from pathlib import Path

import pytest

from orchestrator.model.environment import PASSED
from orchestrator.runtimes.environment import Assignment, passed, run_environment, run_variables


@pytest.fixture
def assignment():
    return Assignment(
        run="r1",
        task="demo",
        instance="dev-2",
        agent="dev",
        step="dev-parser",
        attempt=2,
        order=Path("/pm/runs/r1/order.md"),
        reply_to="pm-20261120-090000.md",
        task_dir=Path("/p/tasks/demo"),
        handoffs=Path("/p/tasks/demo/handoffs"),
        workspace=Path("/pm/worktrees/parser"),
        artifacts=Path("/p/tasks/demo/artifacts/code"),
        scratchpad=Path("/p/tasks/demo/scratchpad/dev-2"),
        subtask="parser",
        template=Path("/t"),
        base="a" * 40,
        branch="task-work/demo/parser",
        check_exit=1,
    )


def test_environment_has_all_that_a_run_needs(assignment):
    assert run_variables(assignment) == {
        "ORCHESTRATOR_RUN": "r1",
        "ORCHESTRATOR_TASK": "demo",
        "ORCHESTRATOR_AGENT": "dev-2",
        "ORCHESTRATOR_DEFINITION": "dev",
        "ORCHESTRATOR_STEP": "dev-parser",
        "ORCHESTRATOR_SUBTASK": "parser",
        "ORCHESTRATOR_ATTEMPT": "2",
        "ORCHESTRATOR_ORDER": "/pm/runs/r1/order.md",
        "ORCHESTRATOR_REPLY_TO": "pm-20261120-090000.md",
        "ORCHESTRATOR_TASK_DIR": "/p/tasks/demo",
        "ORCHESTRATOR_HANDOFFS": "/p/tasks/demo/handoffs",
        "ORCHESTRATOR_WORKSPACE": "/pm/worktrees/parser",
        "ORCHESTRATOR_ARTIFACTS": "/p/tasks/demo/artifacts/code",
        "ORCHESTRATOR_SCRATCHPAD": "/p/tasks/demo/scratchpad/dev-2",
        "ORCHESTRATOR_TEMPLATE": "/t",
        "ORCHESTRATOR_BASE": "a" * 40,
        "ORCHESTRATOR_BRANCH": "task-work/demo/parser",
        "ORCHESTRATOR_CHECK_EXIT": "1",
        "ORCHESTRATOR_RESUMES": "",
    }


def test_what_does_not_apply_is_there_and_empty():
    p = Path("/x")
    said = run_variables(Assignment("r", "t", "dev", "dev", "s", 1, p, "o", p, p, p, p, p))
    assert {name for name, value in said.items() if not value} == {
        f"ORCHESTRATOR_{name}" for name in ("SUBTASK", "TEMPLATE", "BASE", "BRANCH", "CHECK_EXIT", "RESUMES")
    }


def test_passed_check_is_0_in_the_environment(assignment):
    p = Path("/x")
    assert (
        run_variables(Assignment("r", "t", "dev", "dev", "s", 1, p, "o", p, p, p, p, p, check_exit=0))[
            "ORCHESTRATOR_CHECK_EXIT"
        ]
        == "0"
    )


@pytest.mark.parametrize(
    "variable",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "TMUX",
        "TMUX_PANE",
        "TMUX_TMPDIR",
        "GITHUB_TOKEN",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "BASH_ENV",
        "GIT_DIR",
        "ORCHESTRATOR_HOME",
        "LCX",
        "PATHX",
        "path",
    ],
)
def test_what_is_not_on_the_list_never_reaches_an_agent(variable):
    assert passed({variable: "x"}, PASSED) == {}


@pytest.mark.parametrize("variable", ["LD_PRELOAD", "TMUX", "ORCHESTRATOR_RUN"])
def test_some_never_do_whatever_the_list_says(variable):
    assert passed({variable: "x"}, [variable, "*", "L*"]) == {}


def test_what_is_on_the_list_passes_byte_for_byte():
    environ = {"PATH": "/bin:/usr/bin", "LC_ALL": "C", "LC_": "x", "HOME": "/home/a b", "TZ": ""}
    assert passed(environ, PASSED) == environ


def test_a_users_choice_of_variables_counts():
    environ = {"ANTHROPIC_API_KEY": "k", "PATH": "/bin", "MY_A": "1"}
    assert passed(environ, ["ANTHROPIC_API_KEY", "MY_*"]) == {"ANTHROPIC_API_KEY": "k", "MY_A": "1"}


def test_user_variables_cannot_override_the_environment(assignment):
    environ = {"ORCHESTRATOR_RUN": "stolen", "PATH": "/bin"}
    made = run_environment(environ, ["*"], assignment, {"ORCHESTRATOR_RUN": "forged", "X": "1"})
    assert made == {"PATH": "/bin", "X": "1"} | run_variables(assignment)
