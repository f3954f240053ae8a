"""Real shells have the last word: no line that was allowed runs what is denied, however it is put together."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from orchestrator.formats.permission_rules import read_permissions
from orchestrator.model.permission import Act, PermissionDecision, Policy
from orchestrator.model.tool_request import ToolRequest, Workplace
from orchestrator.pm.permissions import judge
from tests.integration.permissions.lines import random_line

SHELLS = [found for found in map(shutil.which, ("bash", "dash", "zsh")) if found]
GIT = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -C|-c) shift;; -*) ;; push) echo "git $*" >> "$HIT"; break;; *) break;; esac
    shift
done
"""
EVIL = '#!/bin/sh\necho "evil $*" >> "$HIT"\n'
REAL = ("env", "nohup", "timeout", "xargs", "sh", "bash", "find", "sed", "awk", "cat", "ls", "grep", "sleep")
POLICIES = [
    Policy(),
    Policy(read_permissions("deny run evil; deny run git push").rules, PermissionDecision.ALLOW),
    Policy(read_permissions("deny run evil; allow run env *; allow run timeout *; allow run ls *").rules),
]
LINES = int(os.environ.get("PERMISSION_LINES", "6000"))
FIRST = int(os.environ.get("PERMISSION_SEED", "0"))
"""How many lines each seed makes, and which seeds: more, and others, by hand."""


@pytest.fixture
def place(tmp_path):
    """Return a folder to run in, beside which there are no programs but a few, and two that tell of being run."""
    programs, work = tmp_path / "programs", tmp_path / "work"
    programs.mkdir()
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_text("evil\n", "utf-8")
    for name, text in (("git", GIT), ("evil", EVIL)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    for name in REAL:
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    return tmp_path


def ran(place: Path, shell: str, text: str, name: str) -> str:
    """Return what a shell ran of that which is denied; `name` is of this try alone, as something may be late."""
    hit, work = place / name, place / name.replace("hit", "work")
    shutil.copytree(place / "work", work)
    limits = 'ulimit -t 2; exec "$@"'
    process = subprocess.Popen(
        ["/bin/sh", "-c", limits, "limited", shutil.which(shell) or shell, "-c", text],
        env={"PATH": str(place / "programs"), "HIT": str(hit)},
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass  # a loop without an end: what it ran until then counts
    finally:
        # What it left in the background goes with it: a line may begin loops that nobody waits for.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(work, ignore_errors=True)
    return hit.read_text(encoding="utf-8", errors="replace") if hit.exists() else ""


@pytest.mark.parametrize(
    ("seed", "lines"),
    [
        (FIRST, LINES // 3),
        *(
            pytest.param(
                FIRST + more,
                LINES,
                marks=pytest.mark.thorough(reason="further seeds, with three times as many lines"),
            )
            for more in range(4)
        ),
    ],
)
def test_no_shell_runs_denied_commands_of_allowed_lines(place, seed, lines):
    random, workplace = Random(seed), Workplace((str(place / "work"),), own_tree=True)
    allowed = 0
    for number in range(lines):
        text, policy = random_line(random), POLICIES[number % len(POLICIES)]
        wish = ToolRequest("Bash", Act.RUN, command=text, cwd=str(place / "work"))
        conspicuous = any(word in text for word in ("git", "evil", "$", "`", "ev"))
        if not conspicuous or judge(policy, wish, workplace).decision is not PermissionDecision.ALLOW:
            continue
        allowed += 1
        found = [ran(place, shell, text, f"hit-{number}-{at}") for at, shell in enumerate(SHELLS)]
        assert found == [""] * len(SHELLS), text
    assert allowed > lines / 20


def test_the_shells_do_run_what_is_looked_for(place):
    """The stubs tell of being run: each way of hiding is one that some shell takes."""
    for number, text in enumerate(
        (
            "git -C x -c a=b push",
            "X=evil; $X",
            'eval "evil"',
            "echo evil | sh",
            "$'\\x65vil'",
            "{evil,x}",
            "cat <<EOF\n`evil`\nEOF",
            "ls ${x:-$(evil)}",
            "[[ a || evil ]]",
            "((evil))",
            "for i in evil; do $i; done",
            "read x < a.txt; $x",
            "f() { $1; }; f evil",
            "trap evil EXIT",
            "cat a.txt | xargs -I{} sh -c {}",
            "awk 'BEGIN{system(\"evil\")}'",
            "sed -n '1e evil' a.txt",
        )
    ):
        assert any(ran(place, shell, text, f"hit-{number}-{at}") for at, shell in enumerate(SHELLS)), text
