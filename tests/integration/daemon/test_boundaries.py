"""The two boundaries of docs/explanation/security-boundaries.md, with an agent that tries them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.another_user import SOMEBODY, by_root
from tests.bubblewrap import bwrap_works
from tests.integration.daemon.world import World

SANDBOXED = Path(__file__).parents[3] / "deploy" / "sandboxed"
SETPRIV = f"setpriv --reuid={SOMEBODY} --regid={SOMEBODY} --clear-groups"

AGENT = """#!/bin/sh
# Tries each thing that it must not be able to do, then does its work and reports.
try() {
    what=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "$what: done"; else echo "$what: refused"; fi
}
{
    try list ls "$STATE/daemon.lock"
    try journal sh -c "cat '$STATE'/tasks/*/journal/*"
    try request sh -c "echo x >'$STATE'/tasks/x"
    try plant sh -c "ls -d '$STATE'/tasks/*/requests && echo x >\\"\\$(ls -d '$STATE'/tasks/*/requests)/x.json\\""
    try signal kill -0 "$DAEMON"
    [ -n "$MILD" ] || try kill kill -9 "$DAEMON"
    try tmux tmux -S "$SOCKET" list-sessions
    try settings sh -c "echo x >>'$HOUSE'/config.toml"
    try order test -r "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_REPLY_TO"
    try brief sh -c "echo 'test.check: touch x' >>'$ORCHESTRATOR_TASK_DIR/task.md'"
    try instead mv "$ORCHESTRATOR_TASK_DIR/task.md" "$ORCHESTRATOR_TASK_DIR/was.md"
    try workspace sh -c 'echo x >made.txt'
    [ -z "$SANDBOXED" ] || {
        common=$(git rev-parse --git-common-dir)
        try config git config core.fsmonitor "touch x"
        try unlock sh -c "rm -f '$common/config.lock' && git config core.fsmonitor 'touch x'"
        try hook sh -c "mkdir -p '$common/hooks' && echo x >'$common/hooks/post-checkout'"
        try elsewhere sh -c "mkdir made && echo '$PWD/made' >'$common/commondir'"
        try own sh -c "printf '[core]\nfsmonitor = touch x\n' >'$common/config.worktree'"
        try submodule mkdir -p "$common/modules/sub"
        try worktree mkdir -p "$common/worktrees/another"
        try filter sh -c "mkdir -p '$common/info' && echo '* filter=x' >'$common/info/attributes'"
        try others sh -c "echo x >'$ORCHESTRATOR_TASK_DIR/artifacts/x'"
        try handoffs mv "$ORCHESTRATOR_TASK_DIR/handoffs" "$ORCHESTRATOR_TASK_DIR/were"
        try repository mv "$PROJECT/.git" "$PROJECT/.was"
        try tasks mv "$PROJECT/tasks" "$PROJECT/were"
        try other mkdir "$PROJECT/tasks/another"
        try forge sh -c "echo x >'$ORCHESTRATOR_TASK_DIR/handoffs/review-20260101-000000.md'"
        try slip sh -c "echo x >'$ORCHESTRATOR_TASK_DIR/scratchpad/plan/outbox/plan-20260101-000000.md'"
        try redirect sh -c "mv '$ORCHESTRATOR_HANDOFFS' '$ORCHESTRATOR_SCRATCHPAD/was'"
    }
    [ -z "$SHARED" ] || {
        try commit sh -c 'git add made.txt && git -c user.name=x -c user.email=x commit -qm Made'
        try branch sh -c 'git checkout -q -b side && git checkout -q main && git branch -q -d side'
        try stash sh -c 'echo y >>made.txt && git stash -q && git stash pop -q && git add made.txt'
    }
} >"$ORCHESTRATOR_ARTIFACTS/tried.txt"
report=$ORCHESTRATOR_HANDOFFS/$ORCHESTRATOR_AGENT-$(date +%Y%m%d-%H%M%S).md
{
    printf '# Handoff: %s\\n**Status:** COMPLETE\\n**Run:** %s\\n' "$ORCHESTRATOR_AGENT" "$ORCHESTRATOR_RUN"
    printf '\\n## Completed Work\\nDone.\\n\\n## Artifacts Generated\\n- artifacts/analysis/tried.txt\\n'
} >"$ORCHESTRATOR_SCRATCHPAD/report"
mv "$ORCHESTRATOR_SCRATCHPAD/report" "$report"
"""
MUST_NOT = ("list", "journal", "request", "plant", "signal", "kill", "tmux", "settings")
NOR_IN_THE_SANDBOX = (
    *("brief", "instead", "others", "handoffs", "tasks", "other", "repository"),
    *("config", "unlock", "hook", "elsewhere", "own", "submodule", "worktree", "filter"),
)
BUT_STILL = ("commit", "branch", "stash")


def tried(world: World, *before: str, workspace: str = "worktree", outboxes: bool = False) -> dict[str, str]:
    """Let an agent try everything behind a boundary, and return what became of each."""
    (world.root / "home" / "config.toml").touch(0o600)
    agent = world.project / "agent.sh"
    agent.write_text(AGENT)
    daemon = world.daemon()
    given = {
        "STATE": world.state,
        "DAEMON": daemon,
        "SOCKET": world.tmux.path,
        "HOUSE": world.root / "home",
        "PROJECT": world.project,
        "MILD": "" if before else "1",
        "SANDBOXED": "1" if str(SANDBOXED) in before else "",
        "SHARED": "1" if str(SANDBOXED) in before and workspace == "shared" else "",
    }
    reported = " ".join(f"{name}={value}" for name, value in given.items())
    words = " ".join(before)
    world.let({"plan": [{"hold": "looked"}]})
    folder = world.brief(
        "t1",
        f"workspace: {workspace}",
        f"outboxes: {'yes' if outboxes else 'no'}",
        f"explore.command: {words} env {reported} /bin/sh {agent}",
    )
    brief = folder / "task.md"
    lines = brief.read_text().split("\n")
    ours = [line for line in lines if line.startswith("explore.command:")]
    brief.write_text("\n".join(line for line in lines if line != ours[0]))
    for each in (
        "handoffs",
        "scratchpad",
        "artifacts/analysis",
        "scratchpad/explore",
        "scratchpad/plan/outbox",
    ):
        (folder / each).mkdir(parents=True, exist_ok=True)
    if workspace == "shared":
        for path in (world.project, folder, *folder.rglob("*/")):
            path.chmod(0o777)
        world.root.chmod(0o711)
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    world.until_works("plan")
    lines = (folder / "artifacts" / "analysis" / "tried.txt").read_text().splitlines()
    assert world.pid == daemon
    return dict(line.split(": ") for line in lines)


@pytest.mark.skipif(not bwrap_works(), reason="bwrap is not here, or may not make namespaces")
@pytest.mark.parametrize("workspace", ["worktree", "shared"])
def test_sandbox_reaches_its_workspace_and_nothing_else(world: World, workspace: str) -> None:
    """In a shared tree it can still use git, and afterwards the user's `git status` runs nothing that it planted."""
    world.git("config", "extensions.worktreeConfig", "true")
    shutil.rmtree(world.project / ".git" / "hooks")
    became = tried(world, str(SANDBOXED), "--", workspace=workspace)
    must_not = (*MUST_NOT, *NOR_IN_THE_SANDBOX)
    assert {each: became[each] for each in must_not} == dict.fromkeys(must_not, "refused")
    may = ("order", "workspace", *(BUT_STILL if workspace == "shared" else ()))
    assert {each: became[each] for each in may} == dict.fromkeys(may, "done")
    world.git("status")
    assert not (world.project / "x").exists()
    guards = ("config.lock", "config.worktree", "commondir", "hooks", "modules")
    assert [each for each in guards if (world.project / ".git" / each).exists()] == []


@pytest.mark.skipif(not bwrap_works(), reason="bwrap is not here, or may not make namespaces")
@pytest.mark.parametrize("outboxes", [True, False])
def test_in_the_sandbox_no_agent_hands_in_for_another(world: World, *, outboxes: bool) -> None:
    """With an outbox of its own it cannot write into `handoffs/`, nor into that of another, and yet reports."""
    became = tried(world, str(SANDBOXED), "--", outboxes=outboxes)
    assert became["forge"] == ("refused" if outboxes else "done")
    assert became["slip"] == became["redirect"] == "refused"
    names = {path.name.partition("-")[0] for path in (world.project / "tasks/t1/handoffs").iterdir()}
    assert "explore" in names


@by_root
@pytest.mark.skipif(
    shutil.which("setpriv") is None, reason="setpriv, which stands for sudo -u here, is not here"
)
def test_other_user_reaches_its_workspace_and_nothing_else(world: World) -> None:
    """As another user an agent reaches its workspace and nothing of the pm."""
    became = tried(world, SETPRIV, workspace="shared")
    assert {each: became[each] for each in MUST_NOT} == dict.fromkeys(MUST_NOT, "refused")
    assert (became["order"], became["workspace"]) == ("done", "done")
    assert (world.project / "made.txt").stat().st_uid == SOMEBODY


def test_without_a_boundary_an_agent_can_do_what_its_user_can(world: World) -> None:
    """What docs/explanation/security.md says plainly: the same user is no boundary."""
    became = tried(world)
    assert became["journal"] == became["signal"] == became["tmux"] == became["settings"] == "done"
