from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.ingest.finished_writers import Stopped
from orchestrator.daemon.ingest.handoff_reader import DOUBT
from orchestrator.daemon.ingest.handoffs import ABANDONED, HandoffIngest
from orchestrator.model.consultation import PMAction
from orchestrator.model.facts import DecisionLanded, Intruded, ReportLanded
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.task import Location
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.pm.story import Story

TASK = Path("/p/tasks/t")
HANDOFFS = TASK / "handoffs"
GOOD = "# Handoff: explore\n**Status:** COMPLETE\n\n## Completed Work\nDone.\n"
NAME = "explore-20251127-153001.md"
TREE = Path("/state/worktrees/t-1/look")


class Desk:
    """An intake on a disk in memory, for a task whose explore agent has an open order."""

    def __init__(self):
        self.now = 1000.0
        self.files = MemoryFiles(now=lambda: self.now)
        self.files.make_folder(HANDOFFS)
        story = Story()
        story.starts()
        self.state = story.state
        self.kept = dict[str, bytes]()
        trees = (TREE, TASK.parent.parent)
        keep = self.kept.__setitem__
        self.intake = HandoffIngest(self.files, TASK, keep, Limits(), lambda: "nonce", lambda _: trees)

    def put(self, name, text, kind=Kind.FILE):
        data = text if isinstance(text, bytes) else text.encode()
        self.files.put(HANDOFFS / name, data, kind)

    def scan(self, **more):
        return self.intake.scan(self.state, self.now, **more)

    def last_words(self, instance="explore"):
        return self.scan(done={instance: Stopped.RUN})


@pytest.fixture
def desk():
    return Desk()


def test_a_whole_report_is_a_fact_at_once_and_only_once(desk):
    desk.put(NAME, GOOD)
    (fact,) = desk.scan()
    assert isinstance(fact, ReportLanded)
    assert fact.instance == "explore"
    assert fact.report is not None
    assert fact.report.status is ReportStatus.COMPLETE
    assert desk.kept == {fact.sha256: GOOD.encode()}
    assert desk.scan() == []


def test_after_a_restart_what_was_dealt_with_is_only_read(desk):
    desk.put(NAME, GOOD)
    (fact,) = desk.scan()
    state = replace(desk.state, seen={NAME: fact.sha256})
    anew = HandoffIngest(desk.files, TASK, desk.kept.__setitem__, Limits(), lambda: "nonce")
    changed = []
    desk.files.before = lambda step, path: changed.append((step, path))
    assert anew.scan(state, desk.now) == []
    assert changed == []


def test_a_hint_reads_one_name_alone(desk):
    desk.put(NAME, GOOD)
    desk.put("explore-20251127-153002.md", GOOD)
    assert [fact.name for fact in desk.intake.look(NAME, desk.state, desk.now)] == [NAME]
    assert desk.intake.look("nothing-20251127-153002.md", desk.state, desk.now) == []


def test_a_file_that_is_still_open_for_writing_waits(desk):
    desk.put(NAME, GOOD)
    desk.files.writing.add(HANDOFFS / NAME)
    assert desk.scan() == []
    assert desk.intake.unsettled
    desk.files.writing.clear()
    assert desk.scan() == []
    desk.now += DOUBT
    assert len(desk.scan()) == 1
    assert not desk.intake.unsettled


@pytest.mark.parametrize("end", ["", "\n"])
def test_report_of_a_killed_writer_is_refused(desk, end):
    """Even if it reads well."""
    desk.put(NAME, GOOD.rstrip() + end)
    if end:
        desk.files.writing.add(HANDOFFS / NAME)
        assert desk.scan() == []
        desk.files.writing.clear()
        desk.now += 10
    assert desk.scan() == []
    (fact,) = desk.scan(done={"explore": Stopped.KILLED})
    assert fact.report is None
    assert "cut off" in fact.faults[0].reason
    assert desk.scan() == []


def test_complete_report_before_a_kill_counts(desk):
    desk.put(NAME, GOOD)
    (fact,) = desk.scan(done={"explore": Stopped.KILLED})
    assert fact.report is not None


def test_report_without_final_newline_waits_for_its_writer(desk):
    """It counts once its writer is known to live on, or to have ended."""
    desk.put(NAME, GOOD.rstrip())
    assert desk.scan() == []
    assert desk.intake.unsettled
    desk.now += DOUBT
    assert desk.scan()[0].report is not None

    desk.put("explore-20251127-153002.md", GOOD.rstrip())
    assert desk.scan(done={"explore": Stopped.RUN})[0].report is not None


def test_half_a_report_is_refused_after_the_settle_time(desk):
    desk.put(NAME, "# Handoff: explore\n")
    assert desk.scan() == []
    desk.now += Limits().settle_time
    (fact,) = desk.scan()
    assert fact.report is None
    assert "Status" in str(fact.faults[0])


def test_half_a_report_of_an_ended_writer_is_read_at_once(desk):
    desk.put(NAME, "# Handoff: explore\n")
    desk.files.writing.add(HANDOFFS / NAME)
    (fact,) = desk.last_words()
    assert fact.faults


def test_final_scan_finds_new_unfinished_and_changed_files(desk):
    desk.put(NAME, GOOD)
    desk.put("explore-20251127-153000.md", GOOD)
    assert len(desk.scan()) == 2
    desk.put("explore-20251127-153002.md", "# Handoff: explore\n")
    assert desk.scan() == []
    desk.now += 1
    desk.put(NAME, GOOD.replace("Done", "Done well"))
    desk.put("dev-20251127-153003.md", GOOD)
    reported = {fact.name for fact in desk.last_words()}
    assert reported == {"dev-20251127-153003.md", "explore-20251127-153002.md", NAME}
    assert desk.last_words() == []
    assert not desk.intake.unsettled


def test_for_last_words_nothing_of_others_is_looked_at_again(desk, monkeypatch):
    for number in range(50):
        desk.put(f"dev-20251127-1530{number:02}.md", GOOD)
    assert len(desk.scan()) == 50
    desk.put(NAME, GOOD)
    looked = []
    entry = desk.files.entry

    def watched(path):
        looked.append(path.name)
        return entry(path)

    monkeypatch.setattr(desk.files, "entry", watched)
    assert len(desk.last_words()) == 1
    assert looked == [NAME]


def test_changed_content_under_an_old_name_is_a_fact(desk):
    desk.put(NAME, GOOD)
    first = desk.scan()[0].sha256
    desk.now += 1
    desk.put(NAME, GOOD.replace("Done", "Done well"))
    assert desk.scan()[0].sha256 != first


@pytest.mark.parametrize(
    ("claim", "counts"),
    [
        ("artifacts/code/notes.md", True),
        (f"{TASK}/artifacts/code/notes.md", True),
        ("artifacts/code", True),
        ("artifacts/void", False),
        ("artifacts", False),
        ("shop/greet.py", True),  # in the tree in which it worked
        (f"{TREE}/shop/greet.py", True),
        (f"{TASK.parent.parent}/README.md", True),
        ("scratchpad/explore/notes.md", True),
        ("task.md", False),
        ("progress.md", False),
        (str(TASK), False),
        (str(TREE), False),
        ("/etc/passwd", False),
        ("/proc/self/environ", False),
        ("artifacts/out", False),  # a link
    ],
)
def test_only_what_an_agent_can_have_made_is_an_artifact(desk, claim, counts):
    for path in (
        TASK / "artifacts/code/notes.md",
        TASK / "scratchpad/explore/notes.md",
        TASK / "task.md",
        TASK / "progress.md",
        TREE / "shop/greet.py",
        TASK.parent.parent / "README.md",
        Path("/etc/passwd"),
        Path("/proc/self/environ"),
    ):
        desk.files.put(path, b"x")
    desk.files.make_folder(TASK / "artifacts" / "void")
    desk.files.put(TASK / "artifacts" / "out", b"/etc/passwd", Kind.LINK)
    desk.put(NAME, f"{GOOD}\n## Artifacts Generated\n- {claim}\n")
    assert desk.scan()[0].missing == (() if counts else (claim,))


def test_artifacts_and_evidence_that_are_not_on_disk_are_named(desk):
    desk.files.make_folder(TASK / "artifacts")
    desk.files.put(TASK / "artifacts" / "there.md", b"x")
    listed = "\n## Artifacts Generated\n- artifacts/there.md\n- artifacts/gone.md\n- ../../etc/passwd\n"
    desk.put(NAME, GOOD + listed)
    assert desk.scan()[0].missing == ("artifacts/gone.md", "../../etc/passwd")


def test_only_the_pm_writes_orders(desk):
    desk.put("pm-20990101-000000.md", "# Handoff: pm\n**Status:** COMPLETE\n")
    (fact,) = desk.scan()
    assert isinstance(fact, Intruded)
    own = next(iter(desk.state.orders))
    desk.put(own, "whatever the PM wrote")
    assert desk.scan() == []


def with_run(run):
    return GOOD.replace("COMPLETE", f"COMPLETE\n**Run:** {run}")


def landed_misnamed(desk, name, text):
    desk.put(name, text)
    assert desk.scan() == []
    desk.now += Limits().settle_time
    (fact,) = desk.scan()
    return fact


@pytest.mark.parametrize(
    "name", ["explore-report.md", "explore.md", "explore_20251127.txt", "explore-20251127.md"]
)
def test_misnamed_report_is_requested_again(desk, name):
    """If its name says whose it is."""
    fact = landed_misnamed(desk, name, GOOD)
    assert isinstance(fact, ReportLanded)
    assert (fact.instance, fact.report) == ("explore", None)
    assert "AGENT-YYYYMMDD-HHMMSS" in fact.faults[0].reason


def test_or_if_the_report_says_whose(desk):
    (run,) = desk.state.live_runs
    fact = landed_misnamed(desk, "handoff.md", with_run(run.id))
    assert isinstance(fact, ReportLanded)
    assert (fact.instance, fact.report) == ("explore", None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("explorer-notes.md", GOOD),  # of somebody whose name only begins alike
        ("explore-2-report.md", GOOD),  # of a second instance
        ("plan-report.md", GOOD),  # of an agent with nothing to write
        ("explore-notes.md", "# Notes\nWhat I found so far.\n"),  # no report
        ("explore-half.md", "# Handoff: explore\n"),
        ("explore-progress.md", GOOD.replace("COMPLETE", "IN_PROGRESS")),
        ("handoff.md", GOOD),  # of nobody
        ("handoff.md", with_run("r-0000")),
        ("pm-order.md", GOOD),
    ],
)
def test_other_misnamed_files_are_only_noticed(desk, name, text):
    desk.put(name, text)
    desk.now += Limits().settle_time
    (fact,) = desk.scan()
    assert isinstance(fact, Intruded)


def test_misnamed_report_of_another_run_is_noticed(desk):
    (run,) = desk.state.live_runs
    known = replace(run, id="r-9", instance="dev")
    desk.state = replace(desk.state, runs=desk.state.runs.with_run(known))
    desk.put("dev-report.md", with_run(run.id))
    desk.now += Limits().settle_time
    assert isinstance(desk.scan()[0], Intruded)


@pytest.mark.parametrize(
    "name", [f"{NAME}.tmp.1", f"{NAME}.part", f".{NAME}.swp", f"#{NAME}#", "4913", "tmpab12cd34"]
)
def test_what_is_being_saved_is_waited_for_and_costs_nothing(desk, name):
    """Its writer may take its time: it gets its name, or goes, and until then nobody is asked to write again."""
    (run,) = desk.state.live_runs
    desk.put(name, with_run(run.id))
    for _ in range(3):
        desk.now += 10 * Limits().settle_time
        assert desk.scan() == []
        assert not desk.intake.unsettled, "nothing is looked at more often for it"
    desk.files.rename(HANDOFFS / name, HANDOFFS / NAME)
    (fact,) = desk.scan()
    assert fact.report is not None


@pytest.mark.parametrize("over", ["gone", "long"])
def test_temporary_file_that_stays_is_noticed(desk, over):
    desk.put(f"{NAME}.tmp.1", GOOD)
    assert desk.scan() == []
    if over == "long":
        desk.now += ABANDONED
    (fact,) = desk.scan(done={"explore": Stopped.RUN} if over == "gone" else {})
    assert isinstance(fact, Intruded)
    assert "temporary name" in fact.reason
    assert desk.scan() == []


def test_what_is_being_saved_when_a_turn_is_over_is_waited_for(desk):
    """What an agent started in the background may rename it minutes later (the night `handoff-aside`)."""
    (run,) = desk.state.live_runs
    desk.put(f"{NAME}.part", with_run(run.id))
    assert desk.scan(done={"explore": Stopped.TURN}) == []
    assert desk.intake.saving("explore") == f"{NAME}.part"
    assert desk.intake.saving("dev") == ""
    desk.files.rename(HANDOFFS / f"{NAME}.part", HANDOFFS / NAME)
    (fact,) = desk.scan()
    assert fact.report is not None
    assert desk.intake.saving("explore") == ""


@pytest.mark.parametrize("kind", [Kind.LINK, Kind.PIPE, Kind.FOLDER])
def test_misnamed_special_file_is_noticed(desk, kind):
    desk.put("explore-report.md", b"", kind)
    desk.now += Limits().settle_time
    assert isinstance(desk.scan()[0], Intruded)


def test_file_of_an_unknown_agent_is_only_noticed(desk):
    desk.put("notes.txt", "hello")
    desk.now += Limits().settle_time
    assert isinstance(desk.scan()[0], Intruded)


@pytest.mark.parametrize("kind", [Kind.LINK, Kind.PIPE, Kind.FOLDER])
def test_what_is_no_plain_file_is_refused_and_not_opened(desk, kind):
    desk.put(NAME, b"", kind)
    (fact,) = desk.scan()
    assert fact.faults
    assert fact.report is None


def test_a_huge_report_is_refused(desk):
    desk.put(NAME, b"x" * (Limits().max_handoff_bytes + 1))
    desk.now += Limits().settle_time
    assert "larger" in desk.scan()[0].faults[0].reason


def test_what_is_held_open_is_looked_at_less_and_less_often(desk):
    desk.put(NAME, GOOD)
    desk.files.writing.add(HANDOFFS / NAME)
    begun, looks = desk.now, 0
    desk.scan()
    while desk.now < begun + 1800:
        desk.now = desk.intake.look_again(desk.now)
        assert desk.intake.unsettled == [NAME]
        assert desk.intake.look(NAME, desk.state, desk.now) == []
        looks += 1
    assert looks < 250
    desk.files.writing.clear()
    assert desk.intake.look(NAME, desk.state, desk.now) == []
    assert desk.intake.look_again(desk.now) == desk.now + DOUBT
    desk.now += DOUBT
    assert len(desk.intake.look(NAME, desk.state, desk.now)) == 1
    assert desk.intake.look_again(desk.now) is None


def test_what_was_just_begun_is_looked_at_soon(desk):
    desk.put(NAME, GOOD[:20])
    desk.scan()
    assert desk.intake.look_again(desk.now) == desk.now + 0.5


def test_clock_set_back_does_not_delay_the_next_look(desk):
    desk.put(NAME, GOOD[:20])
    desk.scan()
    desk.now -= 3600
    assert desk.intake.look_again(desk.now) == desk.now + 0.5


def test_what_is_gone_is_not_waited_for(desk):
    desk.put(NAME, GOOD[:20])
    desk.scan()
    desk.files.remove(HANDOFFS / NAME)
    assert desk.intake.look(NAME, desk.state, desk.now) == []
    assert desk.intake.look_again(desk.now) is None


def test_a_hidden_folder_of_a_sandbox_is_nobodys_handoff(desk):
    for name in (".git", ".aws"):
        desk.put(name, "", Kind.FOLDER)
    desk.put("reports", "", Kind.FOLDER)
    assert [fact.name for fact in desk.scan()] == ["reports"]


def test_half_written_file_is_read_when_the_turn_ends(desk):
    desk.put(NAME, GOOD)
    desk.files.writing.add(HANDOFFS / NAME)
    assert desk.scan() == []
    desk.files.writing.clear()
    (fact,) = desk.last_words()
    assert fact.report is not None


# Decisions of the PM agent ------------------------------------------------------------------------

PM = "pm-20251127-153001.md"
DECIDED = "# Handoff: pm\n**Action:** ORDER\n**Target:** explore\n**Run:** {run}\n\n## Instructions\nLook.\n"


@pytest.fixture
def asked(desk):
    """A desk at which a PM agent is asked."""
    story = Story(pm="command")
    story.starts()
    desk.story, desk.state, desk.run = story, story.state, story.run_of("pm:1").id
    return desk


def test_what_names_the_run_that_is_asked_is_a_decision(asked):
    asked.put(PM, DECIDED.format(run=asked.run))
    (fact,) = asked.scan()
    assert isinstance(fact, DecisionLanded)
    assert fact.decision is not None
    assert (fact.run, fact.decision.action) == (asked.run, PMAction.ORDER)
    assert asked.kept == {fact.sha256: DECIDED.format(run=asked.run).encode()}
    assert asked.scan() == []


@pytest.mark.parametrize("run", ["r-00000000", ""])
def test_any_other_one_is_shown_and_not_obeyed(asked, run):
    asked.put(PM, DECIDED.format(run=run))
    asked.now += 5
    (fact,) = asked.scan()
    assert isinstance(fact, Intruded)


def test_nobody_is_asked_and_nobody_decides(desk):
    run = next(iter(desk.state.live_runs)).id
    desk.put(PM, DECIDED.format(run=run))
    (fact,) = desk.scan()
    assert isinstance(fact, Intruded)


def test_a_decision_that_is_being_written_is_waited_for(asked):
    asked.put(PM, "# Handoff: pm\n")
    assert asked.scan() == []
    asked.put(PM, f"# Handoff: pm\n**Run:** {asked.run}\n**Action:** OR")
    assert asked.scan() == []
    asked.put(PM, DECIDED.format(run=asked.run))
    (fact,) = asked.scan()
    assert fact.decision.target == "explore"


def test_invalid_decision_has_its_faults(asked):
    asked.put(PM, DECIDED.format(run=asked.run).replace("ORDER", "GO"))
    asked.now += 5
    (fact,) = asked.scan()
    assert isinstance(fact, DecisionLanded)
    assert fact.decision is None
    assert fact.faults[0].line == 2
    assert fact.run == asked.run


def test_a_decision_without_a_last_line_end_is_looked_at_again(asked):
    asked.put(PM, DECIDED.format(run=asked.run).rstrip("\n"))
    assert asked.scan() == []
    asked.now += DOUBT
    (fact,) = asked.scan()
    assert isinstance(fact, DecisionLanded)
    assert fact.decision is not None


def test_decision_over_an_order_of_the_same_second_counts(
    asked,
):
    """The order itself is no decision."""
    order = asked.state.runs[asked.run].order
    asked.put(order, f"# Handoff: pm\n**Target:** pm\n**Run:** {asked.run}\n\n## Instructions\nDecide.\n")
    assert asked.scan() == []
    asked.now += 1
    asked.put(order, DECIDED.format(run=asked.run))
    (fact,) = asked.scan()
    assert isinstance(fact, DecisionLanded)
    assert (fact.name, fact.run) == (order, asked.run)


# Files that are changed again and again -----------------------------------------------------------


def swapped(desk, seconds, every):
    """Swap a report for so long; return the facts that were made of it, and take note of them as the PM would."""
    facts, until, text = [], desk.now + seconds, 0
    while desk.now < until:
        text += 1
        desk.put(NAME, f"{GOOD}{text} {desk.now}\n")
        for fact in desk.scan():
            facts.append(fact)
            desk.state = replace(desk.state, seen={NAME: fact.sha256})
        desk.now += every
    return facts


def test_a_report_that_is_swapped_in_a_loop_is_a_few_facts(desk):
    """Each was a line of the journal: 653 in three seconds."""
    assert len(swapped(desk, seconds=3, every=0.005)) < 10
    assert len(swapped(desk, seconds=3600, every=1.0)) < 70


def test_what_was_swapped_is_dealt_with_as_it_is_in_the_end(desk):
    swapped(desk, seconds=30, every=0.1)
    desk.put(NAME, GOOD)
    assert desk.scan() == []
    assert desk.intake.unsettled == [NAME]
    desk.now += 600
    (fact,) = desk.scan()
    assert desk.kept[fact.sha256] == GOOD.encode()
    assert not desk.intake.unsettled


def littered(desk, seconds, every):
    """Leave foreign files for so long; return the facts that were made of them, which are taken note of."""
    facts, until, number = [], desk.now + seconds, 0
    while desk.now < until:
        number += 1
        desk.put(f"note {number}.txt", f"{number}")
        again = desk.intake.look_again(desk.now)
        due = desk.intake.unsettled if again is not None and desk.now >= again else []
        for name in (f"note {number}.txt", *due):
            for fact in desk.intake.look(name, desk.state, desk.now):
                taken_note_of(desk, fact)
                facts.append(fact)
        desk.now += every
    return facts, number


def taken_note_of(desk, fact):
    seen = {**desk.state.seen, fact.name: fact.sha256, **dict(fact.others)}
    desk.state = replace(desk.state, seen=seen)


def test_many_foreign_files_are_a_few_facts_and_none_is_lost(desk):
    """Each new one was a line of the journal."""
    facts, number = littered(desk, seconds=600, every=0.5)
    assert len(facts) < 30
    for _ in range(2):
        desk.now += 60
        for fact in desk.scan():
            taken_note_of(desk, fact)
    assert len(desk.state.seen) == number
    assert not desk.intake.unsettled


def test_foreign_files_that_lie_there_together_are_a_few_facts(desk):
    for number in range(1000):
        desk.put(f"note {number}.txt", f"{number}")
    desk.now += 10
    facts = desk.scan()
    assert len(facts) <= 5
    assert desk.intake.unsettled


def test_report_among_foreign_files_does_not_wait(desk):
    littered(desk, seconds=30, every=0.1)
    desk.put(NAME, GOOD)
    facts = [fact for fact in desk.scan() if isinstance(fact, ReportLanded)]
    assert [fact.name for fact in facts] == [NAME]


def test_order_names_that_were_taken_are_known_at_once(desk):
    littered(desk, seconds=30, every=0.1)
    desk.put("pm-20251127-153002.md", "I am the PM")
    assert "pm-20251127-153002.md" in {fact.name for fact in desk.scan()}


def test_last_words_wait_for_no_calm(desk):
    swapped(desk, seconds=30, every=0.1)
    desk.put(NAME, GOOD)
    assert len(desk.last_words()) == 1


def test_report_that_grows_is_read_each_time(desk):
    assert len(swapped(desk, seconds=60, every=20)) == 3
    desk.now += 1200
    assert len(swapped(desk, seconds=60, every=20)) == 3


def landed_from_a_box(desk, withheld, *named):
    """Let a developer's report come from a box, where its task's folder is another one; return the fact."""
    story = Story(cwd=Location("/repo", "me@box"))
    story.planned("a")
    run = story.comes_alive("dev:a")
    assert run.on_box
    artifacts = "".join(f"- {each}\n" for each in named)
    text = f"# Handoff: dev\n**Status:** COMPLETE\n**Run:** {run.id}\n\n## Completed Work\nDone.\n\n## Artifacts\n"
    intake = HandoffIngest(
        desk.files, TASK, desk.kept.__setitem__, Limits(), lambda: "nonce", withheld=lambda: withheld
    )
    desk.put("dev-20251127-153001.md", text.replace("Artifacts", "Artifacts Generated") + artifacts)
    (fact,) = intake.scan(story.state, desk.now)
    return fact


def test_folder_of_a_box_that_is_here_in_part_is_withheld(desk):
    """One file of it is here, which says nothing of the others."""
    desk.files.put(TASK / "artifacts/code/one", b"1", Kind.FILE)
    why = {"artifacts/code": "not all of it came in time", "artifacts/other": "not named"}
    fact = landed_from_a_box(desk, why, "artifacts/code/", "artifacts/code/one", "artifacts/never")
    assert fact.withheld == (("artifacts/code/", "not all of it came in time"),)
    assert fact.missing == ("artifacts/never",)


def test_what_a_box_withholds_concerns_no_run_here(desk):
    desk.files.put(TASK / "artifacts/code/one", b"1", Kind.FILE)
    desk.put(NAME, GOOD + "\n## Artifacts Generated\n- artifacts/code\n")
    desk.intake = HandoffIngest(
        desk.files,
        TASK,
        desk.kept.__setitem__,
        Limits(),
        lambda: "nonce",
        withheld=lambda: {"artifacts/code": "not all of it came in time"},
    )
    (fact,) = desk.scan()
    assert (fact.missing, fact.withheld) == ((), ())


def test_absolute_paths_of_a_box_are_those_of_the_task_here(desk):
    """They were fetched and found, but judges and later agents, here or on other boxes, looked for the box's path.

    Behind a link, /repo is /data/repo there: what was named by that was neither fetched nor asked for.
    """
    desk.files.put(TASK / "artifacts/code/one", b"1", Kind.FILE)
    desk.files.put(TASK / "artifacts/code/two", b"2", Kind.FILE)
    paths = (
        "/repo/tasks/demo/artifacts/code/one",
        "/data/repo/tasks/demo/artifacts/code/two",
        "/data/repo/tasks/demo/artifacts/never",
        "/repo/tasks/demo/artifacts/../../../secret",
        "/data/results/table",
    )
    fact = landed_from_a_box(desk, {}, *paths)
    never, out = "artifacts/never", "artifacts/../../../secret"
    assert fact.report.artifacts == (
        "artifacts/code/one",
        "artifacts/code/two",
        never,
        out,
        "/data/results/table",
    )
    assert fact.missing == (never, out)
