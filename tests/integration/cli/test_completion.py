"""Real shells complete `task`: bash always, zsh and fish where they are installed."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator.cli.completion import SHELLS
from scripts.reference.completion import script

MAIN = Path(__file__).resolve().parents[3] / "orchestrator" / "cli" / "__main__.py"
PATIENCE = 20.0


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """An environment with `task` in it, and two tasks."""
    for name in ("bin", "state", "home", "project", "project/my folder"):
        (tmp_path / name).mkdir(mode=0o700)
    for shell in SHELLS:
        (tmp_path / "home" / f"task.{shell}").write_text(script(shell))
    front = tmp_path / "bin" / "task"
    front.write_text(f'#!/bin/sh\nexec {sys.executable} -P {MAIN} "$@"\n')
    front.chmod(0o755)
    for task, question in (("tidy-0a1b2c3d", "q1"), ("tide-0a1b2c3e", "q2")):
        home = tmp_path / "state" / "tasks" / task
        home.mkdir(parents=True, mode=0o700)
        reported = {
            "version": 1, "task": task[:-9], "project": "/p", "phase": "", "state": "running",
            "agents": [{"name": f"dev-{question}"}], "questions": [{"id": question}],
        }  # fmt: skip
        (home / "state.json").write_text(json.dumps(reported))
    (tmp_path / "config.toml").write_text('[hosts.farm]\nboxes = ["me@alpha", "ssh://me@beta:22"]\n')
    return {
        "HOME": str(tmp_path / "home"),
        "ORCHESTRATOR_CONFIG": str(tmp_path / "config.toml"),
        "ORCHESTRATOR_HOME": str(tmp_path / "state"),
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "PWD": str(tmp_path / "project"),
        "TERM": "dumb",
    }


LINES = [
    ("task sta", {"start", "status"}),
    ("task completion ", {"bash", "zsh", "fish"}),
    ("task status ", {"tide", "tidy"}),
    ("task status tid", {"tide", "tidy"}),
    ("task status tidy ", set()),
    ("task attach tidy ", {"dev-q1"}),
    ("task attach --read-only tidy ", {"dev-q1"}),
    ("task attach --project /x tide ", {"dev-q2"}),
    ("task answer tide ", {"q2"}),
    ("task setup-agents --form k", {"kiro"}),
    ("task setup-agents --form=k", {"kiro"}),
    ("task start --template ti", {"tidy"}),
    ("task logs -n ", set()),
    ("task daemon sta", {"start", "status"}),
    ("task doctor ", {"me@alpha", "ssh://me@beta:22"}),
    ("task doctor --project /x me", {"me@alpha"}),
    ("task nonsense ", set()),
    ("task status --j", {"--json"}),
]
OF_BASH = """
source ~/task.bash
COMP_LINE=$1 COMP_POINT=${#1}
# As readline parts it: `=`, `@`, `:` and blanks, and an empty word at the end.
words=${1//=/ = } words=${words//@/ @ } words=${words//:/ : }
read -ra COMP_WORDS <<<"$words"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
# What would be replaced: an `@` is part of that.
replaced=${1##*[ =:]}
[[ $replaced == *@* ]] && replaced=@${replaced##*@}
_agent_orchestrator task "$replaced" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def said(user: dict[str, str], *command: str) -> set[str]:
    """Return the words that a command prints; it must not complain."""
    done = subprocess.run(
        command, env=user, cwd=user["PWD"], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("line", "offered"), LINES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_bash(user: dict[str, str], line: str, offered: set[str]) -> None:
    assert said(user, "bash", "--norc", "-c", OF_BASH, "bash", line) == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("task doctor me@al", {"@alpha"}),
        ("task doctor me@", {"@alpha"}),
        ("task doctor ssh:", {"//me@beta:22"}),
        ("task doctor ssh://me@b", {"@beta:22"}),
        ("task doctor me@alpha ", set()),
        ("task start --template=", {"tidy"}),
    ],
)
def test_bash_completes_what_readline_parts(user: dict[str, str], line: str, offered: set[str]) -> None:
    assert said(user, "bash", "--norc", "-c", OF_BASH, "bash", line) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "offered"), LINES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_fish(user: dict[str, str], line: str, offered: set[str]) -> None:
    if "--form=" in line:
        offered = set()
    reported = said(
        user, "fish", "--no-config", "-c", f"source ~/task.fish; complete -C '{line}' | string split -f 1 \\t"
    )
    assert reported == offered


def test_a_shell_without_any_of_it_is_no_error(user: dict[str, str]) -> None:
    """What stands in a prompt while the program is gone, or fails."""
    Path(user["PATH"].split(":")[0], "task").write_text("#!/bin/sh\necho trouble >&2\nexit 1\n")
    assert said(user, "bash", "--norc", "-c", OF_BASH, "bash", "task status ") == set()


class Terminal:
    """An interactive shell on a terminal."""

    def __init__(self, command: list[str], user: dict[str, str]) -> None:
        self.pid, self.file = pty.fork()
        if not self.pid:
            os.chdir(user["PWD"])
            os.execvpe(command[0], command, user)

    def types(self, text: str, until: str) -> str:
        """Type, and return what is shown from then on: until something is, or nobody waits any longer."""
        os.write(self.file, text.encode())
        deadline, shown = time.monotonic() + PATIENCE, ""
        while until not in shown and time.monotonic() < deadline:
            if select.select([self.file], [], [], 0.1)[0]:
                shown += os.read(self.file, 4096).decode(errors="replace")
        return shown

    def end(self) -> None:
        os.write(self.file, b"\x03\nexit\n")
        os.waitpid(self.pid, 0)
        os.close(self.file)


def test_a_person_at_bash(user: dict[str, str]) -> None:
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], user)
    for typed, shown in (
        ("PS1='> '; source <(task completion bash); echo loa''ded\n", "loaded"),
        ("task attach tidy d\t", "attach tidy dev-q1 "),
        ("\x15task list --project my\t", "--project my\\ folder/"),
        ("\x15task setup-a\t", "setup-agents "),
        ("\x15task doctor me@al\t", "doctor me@alpha "),
        ("\x15task doctor ssh:\t", "doctor ssh://me@beta:22 "),
    ):
        assert shown in terminal.types(typed, shown)
    terminal.end()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_a_person_at_zsh(user: dict[str, str]) -> None:
    terminal = Terminal(["zsh", "-f", "-i"], user)
    begin = "PS1='> '; bindkey -e; autoload -U compinit; compinit -D -u; source <(task completion zsh)"
    for typed, shown in (
        (f"{begin}; echo loa''ded\n", "loaded"),
        ("\x15task attach tidy d\t", "ev-q1"),
        ("\x15task answer tide \t", "q2"),
        ("\x15task setup-a\t", "gents"),
        ("\x15task setup-agents --form ki\t", "ro"),
        ("\x15task start --temp\t", "late"),
        ("\x15task start --template ti\t", "dy"),
        ("\x15task list --project my\t", "my\\ folder/"),
        ("\x15task sta\t\t", "show the state of a task"),
    ):
        assert shown in terminal.types(typed, shown)
    terminal.end()
