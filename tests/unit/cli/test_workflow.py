"""`task workflow`: a first design, its check, its approval, and how it is shown."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from itertools import pairwise

import pytest

from orchestrator.cli.workflow_design import unclaimed
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.results import read_results
from orchestrator.formats.workflow.session import read_session
from orchestrator.formats.workflow.status import read_status
from orchestrator.model.workflow_records import AgentStatus, Writer
from orchestrator.pm.state.agent_transitions import claimed_event, transition

PLAN = "workflow_coordination_plan.md"
DRAFT = "agents/draft/agent_instructions.md"
TASK_MD = "# Task: Mine\n\n## Goal\nDo it.\n\n## Success Criteria\n- It works\n- It is fast\n- It is small\n"


@pytest.fixture
def verb(house, task):
    """Run an action of `task workflow` on the task `text` of the project."""

    def run(action, *words, name="text"):
        return task("workflow", action, name, "--project", str(house.project), *words)

    return run


@pytest.fixture
def root(house, verb):
    """Return the folder of a new design."""
    assert verb("new").code == 0
    return house.project / "tasks" / "text" / "orchestration"


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def rules(said):
    return [each["rule"] for each in said.json["findings"]]


# new ---------------------------------------------------------------------------------------------------


def test_new_design_passes_its_check(verb, root):
    said = verb("check", "--json")
    assert said.code == 0
    assert (said.json["sound"], said.json["approval"], rules(said)) == (True, "none", [])
    plan = read_plan((root / PLAN).read_bytes())
    assert [(agent.id, agent.runtime) for agent in plan.agents] == [
        ("draft", "command"),
        ("polish", "command"),
        ("verify", "command"),
    ]


def test_new_lists_what_it_wrote(house, verb):
    said = verb("new", "--json")
    root = house.project / "tasks" / "text" / "orchestration"
    assert said.json["folder"] == str(root)
    assert str(root / PLAN) in said.json["files"]
    assert read_status((root / "shared_status.json").read_bytes()).task_id == "text"
    assert (root / "agents" / "draft" / "completion_drive").is_dir()
    assert (root / "agents" / "draft" / "task_output").is_dir()


def test_new_takes_the_criteria_of_a_task_that_exists(house, verb):
    folder = house.project / "tasks" / "text"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text(TASK_MD)
    assert verb("new").code == 0
    assert (folder / "task.md").read_text() == TASK_MD
    assert verb("check", "--json").json["findings"] == []
    plan = read_plan((folder / "orchestration" / PLAN).read_bytes())
    assert [each.text for each in plan.criteria] == ["It works", "It is fast", "It is small"]
    assert {agent.runtime for agent in plan.agents} == {"auto"}


def test_new_overwrites_nothing(verb, root):
    (root / DRAFT).write_text("mine")
    said = verb("new")
    assert said.code == 2
    assert (root / DRAFT).read_text() == "mine"
    (root / PLAN).unlink()
    assert verb("new").code == 0
    assert (root / DRAFT).read_text() == "mine"


@pytest.mark.parametrize("link", ["orchestration", "orchestration/agents", "orchestration/agents/draft"])
def test_new_writes_nothing_through_a_link(house, verb, link):
    """A repository may bring such a link along, to have files created where it points."""
    place = house.project / "tasks" / "text" / link
    place.parent.mkdir(parents=True)
    target = house.root / "target"
    target.mkdir()
    place.symlink_to(target)
    assert verb("new").code == 2
    assert list(target.iterdir()) == []


def test_example_agents_play_the_whole_workflow(house, root):
    """The commands in the task.md that `new` writes do one turn each; every step is one that the table allows."""
    brief = (root.parent / "task.md").read_text()
    line = next(line for line in brief.splitlines() if line.startswith("dev.command: "))
    command = [sys.executable, *shlex.split(line.partition(": ")[2])[1:]]

    def status(agent):
        found = read_status((root / "shared_status.json").read_bytes())
        return next(each.status for each in found.agents if each.name == agent)

    def turn(agent):
        before = {each: status(each) for each in ("draft", "polish")}
        subprocess.run([*command, agent], check=True, cwd=house.root)
        writer = Writer.VERIFIER_RUN if agent == "verify" else Writer.OWN_RUN
        for each, was in before.items():
            if (now := status(each)) is not was:
                event = claimed_event(now)
                start = AgentStatus.WORKING if was is AgentStatus.PENDING else was
                assert event is not None
                assert transition(start, event, writer) is now

    turn("draft")
    assert status("draft") is AgentStatus.READY
    session = read_session((root / "agents/draft/completion_drive/session_current.json").read_bytes())
    assert session.task_id == read_plan((root / PLAN).read_bytes()).agents[0].task_id
    output = root / "agents/draft/task_output/draft.md"
    whole = output.read_text()
    output.write_text("")
    turn("verify")
    results = root / "agents/draft/verification_results.json"
    assert read_results(results.read_bytes()).missing_evidence == ("draft.md is missing or empty",)
    output.write_text(whole)
    turn("verify")
    assert status("draft") is AgentStatus.VERIFIED
    assert not results.exists()
    turn("polish")
    turn("verify")
    assert status("polish") is AgentStatus.VERIFIED
    assert "polished" in (root / "agents/polish/task_output/text.md").read_text()


# check -------------------------------------------------------------------------------------------------


def test_check_without_a_design_says_how_to_begin(verb):
    said = verb("check")
    assert said.code == 2
    assert "task workflow new text" in said.err


def test_check_names_file_line_and_correction(verb, root):
    change(root / PLAN, "needs: [draft]", "needs: [drafts]")
    said = verb("check")
    lines = (root / PLAN).read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if "needs: [drafts]" in line)
    assert said.code == 1
    assert f"{PLAN}:{number}:13: " in said.out
    assert "did you mean draft?" in said.out


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("persona: dev ", "persona: nobody ", "persona_unknown"),
        ("runtime: command", "runtime: nothing", "runtime_unknown"),
        ("workflow: text", "workflow: other", "workflow_name"),
        ("from: draft,", "from: verify,", "input_not_needed"),
        ("by: [draft.written]", "by: [draft.unwritten]", "criterion_evidence"),
    ],
)
def test_check_finds_what_is_wrong_with_a_plan(verb, root, old, new, rule):
    change(root / PLAN, old, new)
    said = verb("check", "--json")
    assert said.code == 1
    assert rule in rules(said)


def test_check_of_a_command_that_task_md_does_not_name(verb, root):
    change(root.parent / "task.md", "review.command:", "# review.command:")
    assert rules(verb("check", "--json")) == ["command_missing"]


def test_check_of_a_criterion_that_task_md_adds(verb, root):
    change(root.parent / "task.md", "- The text is polished", "- The text is polished\n- The text is short")
    assert rules(verb("check", "--json")) == ["criterion_uncovered"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kind: doer", "kind: dooer"),
        ("needs: [draft]", "needs: &x [draft]"),
        ("max_parallel: 4", "max_paralell: 4"),
        ("max_parallel: 4", "max_parallel: four"),
        ("```yaml", "```yml\n```\n```yaml"),
        ("groups: {}", "groups: {"),
    ],
)
def test_check_of_a_plan_that_does_not_read(verb, root, old, new):
    change(root / PLAN, old, new)
    said = verb("check", "--json")
    assert said.code == 1
    finding = said.json["findings"][0]
    assert (finding["rule"], finding["file"]) == ("unreadable", PLAN)
    assert finding["line"]


def test_check_shows_faults_of_other_files(verb, root):
    (root / "shared_status.json").write_text('{"status": "odd"}')
    (root.parent / "task.md").write_text("nothing")
    files = {each["file"] for each in verb("check", "--json").json["findings"]}
    assert files == {"shared_status.json", "task.md"}


def test_check_follows_no_link(house, verb, root):
    secret = house.root / "secret.md"
    secret.write_text("a secret that is long enough to be instructions of an agent")
    (root / DRAFT).unlink()
    (root / DRAFT).symlink_to(secret)
    (root / "agents" / "polish").rename(house.root / "polish")
    (root / "agents" / "polish").symlink_to(house.root / "polish")
    said = verb("check", "--json")
    unread = [each["file"] for each in said.json["findings"] if each["rule"] == "unreadable"]
    assert sorted(unread) == [DRAFT, "agents/polish/agent_instructions.md"]
    assert "secret that is long" not in said.out


def test_check_reads_no_endless_file(verb, root):
    (root / DRAFT).write_bytes(b"x" * 300_000)
    assert "unreadable" in rules(verb("check", "--json"))


# approve -----------------------------------------------------------------------------------------------


def test_approval_holds_until_something_changes(verb, root):
    said = verb("approve", "--json")
    assert said.code == 0
    plan = read_plan((root / PLAN).read_bytes())
    assert plan.approval is not None
    assert plan.approval.hash == said.json["hash"]
    assert verb("check", "--json").json["approval"] == "valid"
    change(root / PLAN, "max_parallel: 4", "max_parallel: 2")
    assert verb("check", "--json").json["approval"] == "valid"
    change(root / DRAFT, "Write a first draft", "Write a first long draft")
    said = verb("check", "--json")
    assert (said.code, said.json["approval"], rules(said)) == (1, "void", ["approval_void"])
    assert verb("approve").code == 0
    assert verb("check").code == 0


def test_approval_covers_the_definitions(verb, root):
    assert verb("approve").code == 0
    change(root.parent / "task.md", "dev.command: python3", "dev.command: python3 -u")
    assert verb("check", "--json").json["approval"] == "void"


def test_approving_changes_one_line_of_the_plan(verb, root):
    before = (root / PLAN).read_text().splitlines()
    assert verb("approve").code == 0
    after = (root / PLAN).read_text().splitlines()
    at = next(at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    assert before[at].startswith("approval: null")
    assert [*before[:at], *before[at + 1 :]] == [*after[:at], *after[at + 4 :]]
    again = (root / PLAN).read_bytes()
    assert verb("approve").code == 0
    assert (root / PLAN).read_bytes() == again


def test_design_with_faults_is_not_approved(verb, root):
    change(root / PLAN, "verifier: verify", "verifier: nobody")
    said = verb("approve")
    assert said.code == 1
    assert "nobody" in said.err
    assert read_plan((root / PLAN).read_bytes()).approval is None


def test_approval_writes_status_and_folders_of_the_plan(verb, root):
    change(root / PLAN, "id: polish", "id: finish")
    change(root / PLAN, "[polish.polished]", "[finish.polished]")
    (root / "agents/polish").rename(root / "agents/finish")
    text = (root / "agents/verify/agent_instructions.md").read_text()
    (root / "agents/verify/agent_instructions.md").write_text(
        text.replace("agents/polish/", "agents/finish/")
    )
    assert {"status_agents", "status_verifiers"} <= set(rules(verb("check", "--json")))
    assert verb("approve").code == 0
    assert verb("check", "--json").json["findings"] == []
    assert (root / "agents/finish/completion_drive").is_dir()


def test_workflow_that_has_begun_is_not_approved_again(verb, root):
    path = root / "shared_status.json"
    status = json.loads(path.read_text())
    status["agents"]["draft"]["status"] = "working"
    path.write_text(json.dumps(status))
    assert verb("approve").code == 1
    assert json.loads(path.read_text()) == status


@pytest.mark.parametrize("action", ["new", "approve"])
def test_agents_neither_write_nor_approve_designs(verb, root, monkeypatch, action):
    monkeypatch.setenv("ORCHESTRATOR_RUN", "dev-1")
    assert verb(action).code == 2
    assert verb("check").code == 0


# show --------------------------------------------------------------------------------------------------


def test_show_has_the_status_of_each_agent(verb, root):
    path = root / "shared_status.json"
    status = json.loads(path.read_text())
    status["agents"]["draft"]["status"] = "verified"
    path.write_text(json.dumps(status))
    shown = verb("show", "--json").json
    assert {node["id"]: node["status"] for node in shown["nodes"]} == {
        "draft": "verified",
        "polish": "pending",
        "verify": "pending",
    }
    assert {(edge["source"], edge["target"]) for edge in shown["edges"] if edge["kind"] == "needs"} == {
        ("draft", "polish")
    }


@pytest.mark.parametrize("form", ["text", "mermaid", "dot"])
def test_show_draws_each_form(verb, root, form):
    said = verb("show", "--format", form)
    assert said.code == 0
    places = [said.out.index(f"{name}") for name in ("draft", "polish")]
    assert all(one < other for one, other in pairwise(places))


def test_show_of_a_plan_that_does_not_read_names_the_line(verb, root):
    change(root / PLAN, "kind: doer", "kind: dooer")
    said = verb("show")
    assert said.code == 1
    assert f"{PLAN}, line " in said.err


def test_format_belongs_to_show(verb, root):
    assert verb("check", "--format", "dot").code == 2
    assert verb("show", "--format", "dot", "--json").code == 2


@pytest.mark.parametrize(
    "line", ["cwd: far:/srv/code", "dev.cwd: far:/srv/code", "dev.host: podman:far", "pm: yes"]
)
def test_check_says_what_start_refuses(verb, root, task, house, line):
    """A design may be sound and ask for what the engine does not do: that is said before anybody relies on it."""
    page = root.parent / "task.md"
    page.write_text(f"{page.read_text()}{line}\n")
    answer = verb("check", "--json")
    said = answer.json
    assert said["sound"]
    assert answer.code == 1
    (reason,) = said["refused"]
    number, key = len(page.read_text().splitlines()), line.partition(": ")[0]
    assert f"`{key}:`" in reason
    assert reason.startswith(f"task.md:{number}: ") or key == "pm"
    checked = task("start", "text", "--check", "--project", str(house.project), "--json")
    assert checked.code == 1
    assert reason in [each["text"] for each in checked.json["findings"] if each["topic"] == "plan"]
    shown = verb("check")
    assert shown.code == 1
    assert "the design is sound, but it cannot be started as it is: " in shown.out
    assert "does not carry it out" in shown.out
    assert "to carry it out" not in verb("approve").out


def test_start_refuses_nothing_of_a_new_design(verb, root, task, house):
    def plan_findings():
        said = task("start", "text", "--check", "--project", str(house.project), "--json")
        return [each["text"] for each in said.json["findings"] if each["topic"] == "plan"]

    assert verb("check", "--json").json["refused"] == []
    assert plan_findings() == ["nobody has approved the workflow"]
    assert "to carry it out" in verb("approve").out
    assert plan_findings() == []


# design, adapt and archive --------------------------------------------------------------------------------


def cli_in(house, monkeypatch, *names):
    """Put programs of these names first on the PATH."""
    folder = house.root / "clis"
    folder.mkdir()
    for name in names:
        program = folder / name
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_design_begins_with_whoever_comes_next(house, task, verb, root, monkeypatch):
    cli_in(house, monkeypatch, "claude")
    missing = verb("design", "--json")
    assert (missing.code, "setup-agents --workflow" in missing.err) == (2, True)
    assert task("setup-agents", "--workflow", "--form", "claude", "--project", str(house.project)).code == 0
    said = verb("design", "--json")
    assert (said.json["persona"], said.json["cli"]) == (
        "design-verifier",
        "claude",
    )  # the new design has no fault
    assert said.json["command"] == ["claude", "/persona-design-verifier text"]
    change(root / PLAN, "needs: [draft]", "needs: [nobody]")
    assert verb("design", "--json").json["persona"] == "workflow-designer"
    (root / "conversation_summary_text.md").unlink()
    assert verb("design", "--json").json["persona"] == "plan-developer"


def test_design_without_an_agent_cli_says_what_else_there_is(house, verb, root, monkeypatch):
    cli_in(house, monkeypatch)
    said = verb("design")
    assert (said.code, "task workflow new" in said.err) == (2, True)


def test_design_becomes_the_agent_cli(house, task, verb, root, monkeypatch):
    cli_in(house, monkeypatch, "claude")
    task("setup-agents", "--workflow", "--form", "claude", "--project", str(house.project))
    begun = []
    monkeypatch.setattr("os.execvp", lambda program, words: begun.append((program, words)))
    monkeypatch.setattr("os.chdir", begun.append)
    verb("design", "--persona", "risk-assessment")
    assert begun == [house.project, ("claude", ["claude", "/persona-risk-assessment text"])]


def test_adapt_without_a_file_shows_how_one_looks(verb, root):
    said = verb("adapt")
    assert (said.code, '"edit": "set_needs"' in said.err, "reinstruct" in said.err) == (2, True, True)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"edits": []}', '{"edits": [{"edit": "fly"}]}'])
def test_adapt_refuses_what_is_no_list_of_edits(house, verb, root, text):
    path = house.root / "edits.json"
    path.write_text(text)
    said = verb("adapt", str(path))
    assert said.code == 2
    assert "edits.json" in said.err


def test_archive_puts_sessions_away_and_logs_it(house, verb, root):
    assert verb("archive").out == "there is no session to put away\n"
    session = root / "agents" / "draft" / "completion_drive" / "session_current.json"
    session.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"task_id": "draft_text_1727539200", "session_start": 1727539800, "notes": []})
    session.write_text(text)
    (put,) = verb("archive", "--json").json["sessions"]
    assert (put["agent"], put["done"], put["reason"]) == ("draft", True, "")
    assert (root / put["target"]).read_text() == text
    assert not session.exists()
    assert (root / "agents" / "archival_agent").is_dir()


def test_archive_leaves_what_is_no_session_and_says_so(house, verb, root):
    session = root / "agents" / "draft" / "completion_drive" / "session_current.json"
    session.parent.mkdir(parents=True, exist_ok=True)
    session.write_text("{")
    said = verb("archive", "--json")
    (put,) = said.json["sessions"]
    assert (said.code, put["done"], bool(put["reason"]), session.exists()) == (1, False, True, True)


def test_archive_of_a_workflow_at_work_is_refused(house, verb, root):
    house.task("text-0a1b2c3d", state="running")
    said = verb("archive")
    assert (said.code, "task stop text" in said.err) == (1, True)


@pytest.mark.parametrize(
    "words", [("show", "edits.json"), ("check", "--why", "x"), ("new", "--cli", "claude")]
)
def test_options_of_one_action_belong_to_no_other(verb, root, words):
    said = verb(*words)
    assert (said.code, "only belongs to" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("stopped", "text is stopped: nobody works at it"),
        ("failed", "text has failed: nobody works at it"),
        ("partial", "text is complete in part: nobody works at it"),
        ("running", ""),
        ("complete", ""),
    ],
)
def test_a_stopped_workflow_is_not_shown_as_at_work(house, verb, root, state, said):
    """ "working" was shown of agents whose runs had been ended with the task."""
    house.task("text-0a1b2c3d", state=state)
    shown = verb("show")
    assert shown.code == 0
    assert ("nobody works" in shown.out) == bool(said)
    assert said in shown.out
    assert verb("show", "--json").json["task_state"] == state
    for drawn in ("mermaid", "dot"):
        assert ("nobody works" in verb("show", "--format", drawn).out) == bool(said)


def test_a_design_whose_folder_is_gone_is_not_begun_anew(house, verb, root):
    """`workflow new` was advised for a task that had worked: it would have laid a blank design in its place."""
    missing = verb("show", name="other").err
    assert "workflow new" in missing
    house.task("text-0a1b2c3d", state="stopped")
    root.parent.rename(root.parent.with_name("moved"))
    said = verb("show")
    assert said.code == 1
    assert "workflow new" not in said.err
    assert "put it back" in said.err


@pytest.mark.parametrize(
    ("work", "judged", "shown"),
    [
        ("working", "pending", "working"),
        ("passed", "working", "ready_for_verification"),
        ("pending", "pending", "pending"),
        ("blocked", "pending", "blocked"),
        ("set_aside", "set_aside", "failed"),
        ("passed", "passed", "verified"),
    ],
)
def test_a_claim_to_be_verified_is_not_shown_as_so(work, judged, shown):
    """Agents may write their status while they run: "verified" in the shared file was shown before anybody judged."""
    steps = [{"id": "do:draft", "status": work}, {"id": "verify:draft", "status": judged}]
    assert unclaimed({"draft": "verified", "verify": "pending"}, {"steps": steps}) == {
        "draft": shown,
        "verify": "pending",
    }


def test_statuses_of_a_design_without_a_task_are_those_of_its_file():
    assert unclaimed({"draft": "verified"}, {}) == {"draft": "verified"}
