"""Outboxes: what an agent puts into its own speaks for it, and for nobody else."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.core.task_paths import hands_in_to
from orchestrator.daemon.ingest.finished_writers import Stopped
from orchestrator.daemon.ingest.outboxes import Outboxes
from orchestrator.model.facts import Intruded, ReportLanded
from orchestrator.model.limits import Limits
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.pm.story import Story

TASK = Path("/p/tasks/t")
HANDOFFS = TASK / "handoffs"
NAME = "explore-20251127-153001.md"


def report(run="", status="COMPLETE"):
    named = f"**Run:** {run}\n" if run else ""
    return f"# Handoff: explore\n**Status:** {status}\n{named}\n## Completed Work\nDone.\n".encode()


class Desk:
    """The outboxes of a task whose explore agent has an open order, on a disk in memory."""

    def __init__(self, *, outboxes=True):
        self.now = 1000.0
        self.files = MemoryFiles(now=lambda: self.now)
        self.files.make_folder(HANDOFFS)
        story = Story()
        story.starts()
        config = replace(story.state.brief.config, outboxes=outboxes)
        self.state = replace(story.state, brief=replace(story.state.brief, config=config))
        (self.run,) = self.state.live_runs
        self.outboxes = self.anew()
        self.files.make_folder(layout.outbox(TASK, self.run.instance))

    def anew(self):
        return Outboxes(self.files, TASK, Limits(), lambda: "nonce")

    def beside(self, instance):
        """Let another instance of the agent work beside it, which owes a report too."""
        twin = replace(self.run, id=f"r-{instance}", instance=instance, order=f"order-{instance}")
        self.state = replace(self.state, runs=self.state.runs.with_run(twin))
        order = replace(self.state.orders[self.run.order], name=twin.order, run=twin.id)
        self.state = replace(self.state, orders={**self.state.orders, twin.order: order})
        return twin

    def put(self, data, name=NAME, instance="explore", kind=Kind.FILE):
        self.files.put(layout.outbox(TASK, instance) / name, data, kind)

    def publish(self, **more):
        return self.outboxes.publish(self.state, self.now, **more)

    @property
    def public(self):
        return {name: self.files.read(HANDOFFS / name) for name in self.files.names(HANDOFFS)}


@pytest.fixture
def desk():
    return Desk()


def test_report_is_published_whole_and_once(desk):
    desk.put(report(desk.run.id))
    assert desk.publish() == []
    assert desk.public == {NAME: report(desk.run.id)}
    changed = []
    desk.files.before = lambda step, path: changed.append((step, path))
    assert desk.publish() == []
    desk.outboxes = desk.anew()
    assert desk.publish() == []
    assert changed == []


def test_corrected_report_is_published_again(desk):
    desk.put(report(desk.run.id, "COMPLETED?"))
    desk.publish()
    desk.now += 1
    desk.put(report(desk.run.id))
    desk.publish()
    assert desk.public == {NAME: report(desk.run.id)}


def test_what_was_corrected_in_handoffs_stays_after_a_restart(desk):
    desk.put(report(desk.run.id))
    desk.publish()
    desk.now += 1
    desk.files.put(HANDOFFS / NAME, b"by the user")
    desk.outboxes = desk.anew()
    desk.publish()
    assert desk.public == {NAME: b"by the user"}


@pytest.mark.parametrize(
    "name",
    ["review-20251127-153001.md", "explore-2-20251127-153001.md", "pm-20251127-153001.md", "report.md"],
)
def test_name_of_another_is_not_published(desk, name):
    desk.put(report(), name)
    (fact,) = desk.publish()
    assert isinstance(fact, ReportLanded)
    assert (fact.instance, fact.report) == ("explore", None)
    assert fact.faults
    assert desk.public == {}


def test_run_of_another_instance_is_not_published(desk):
    """A file may be named after the definition: `dev` could else hand in for `dev-2`."""
    twin = desk.beside("explore-2")
    desk.put(report(twin.id))
    (fact,) = desk.publish()
    assert fact.faults
    assert desk.public == {}


@pytest.mark.parametrize("content", [report(), b"no report"])
def test_report_without_run_speaks_for_no_other_instance(desk, content):
    """It belongs to the only run of its agent with an open order, which here is somebody else's."""
    desk.beside("explore-2")
    orders = {name: order for name, order in desk.state.orders.items() if order.run != desk.run.id}
    desk.state = replace(desk.state, orders=orders)
    desk.put(content)
    (fact,) = desk.publish()
    assert isinstance(fact, Intruded)
    name, digest = f"scratchpad/explore/outbox/{NAME}", sha256(content).hexdigest()
    assert (fact.at, fact.name, fact.sha256) == (desk.now, name, digest)
    assert desk.public == {}


def test_run_without_an_outbox_holds_back_no_other(desk):
    twin = desk.beside("explore-2")
    desk.files.rename(layout.outbox(TASK, "explore"), TASK / "scratchpad" / "explore" / "was")
    desk.put(report(twin.id), "explore-2-20251127-153001.md", "explore-2")
    assert desk.publish() == []
    assert list(desk.public) == ["explore-2-20251127-153001.md"]


def test_file_that_is_being_written_waits(desk):
    desk.put(report(desk.run.id))
    desk.files.writing.add(layout.outbox(TASK, "explore") / NAME)
    assert desk.publish() == []
    assert desk.public == {}
    assert desk.outboxes.look_again(desk.now) > desk.now
    desk.files.writing.clear()
    desk.publish()
    assert NAME in desk.public
    assert desk.outboxes.look_again(desk.now) is None


def test_report_of_a_killed_writer_is_not_published(desk):
    desk.put(report(desk.run.id))
    desk.files.writing.add(layout.outbox(TASK, "explore") / NAME)
    desk.publish()
    desk.files.writing.clear()
    (fact,) = desk.publish(done={"explore": Stopped.KILLED})
    assert "cut off" in fact.faults[0].reason
    assert desk.public == {}


@pytest.mark.parametrize("kind", [Kind.LINK, Kind.PIPE])
def test_what_is_no_plain_file_is_not_published(desk, kind):
    desk.put(b"/etc/passwd", kind=kind)
    (fact,) = desk.publish()
    assert fact.faults
    assert desk.public == {}


def test_bad_files_one_after_the_other_cost_few_lines(desk):
    facts = []
    for number in range(50):
        desk.now += 0.01
        desk.put(b"x", f"x{number}.md")
        facts += desk.publish()
    assert len(facts) < 10
    assert desk.outboxes.look_again(desk.now) is not None


def test_outbox_that_is_a_link_is_not_followed(desk):
    other = TASK / "scratchpad" / "review" / "outbox"
    desk.files.make_folder(other)
    desk.files.put(other / NAME, report(desk.run.id))
    desk.files.rename(layout.outbox(TASK, "explore"), TASK / "scratchpad" / "explore" / "was")
    desk.files.put(layout.outbox(TASK, "explore"), str(other).encode(), Kind.LINK)
    assert desk.publish() == []
    assert desk.public == {}


def test_without_outboxes_nothing_is_published():
    desk = Desk(outboxes=False)
    desk.put(report(desk.run.id))
    assert desk.publish() == []
    assert desk.public == {}
    assert hands_in_to(desk.state, desk.run, TASK) == HANDOFFS


def test_run_on_a_box_hands_in_there_as_ever(desk):
    assert hands_in_to(desk.state, desk.run, TASK) == layout.outbox(TASK, "explore")
    far = replace(desk.run, host="me@box")
    assert hands_in_to(desk.state, far, TASK) == HANDOFFS
