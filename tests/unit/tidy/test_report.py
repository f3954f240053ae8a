import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import report
from errors import OrderError
from order import Order
from report import Report, Status, Verdict

NOW = datetime(2025, 11, 27, 15, 45, 0, tzinfo=timezone(-timedelta(hours=8), "PST"))


@pytest.fixture
def order(tmp_path: Path) -> Order:
    (tmp_path / "handoffs").mkdir()
    return Order(
        run="r-1a2b3c4d",
        agent="test",
        step="test:f401",
        subtask="f401",
        attempt=1,
        text_file=None,
        reply_to="pm-20251127-153000.md",
        task_dir=tmp_path,
        workspace=tmp_path,
        scratchpad=tmp_path / "scratchpad" / "test",
        base="c0ffee",
        branch="task/x",
        check_exit=0,
    )


def test_the_form_is_the_documents(order):
    artifact = order.task_dir / "artifacts" / "tests" / "f401.json"
    artifact.parent.mkdir(parents=True)
    artifact.touch()
    done = Report(
        "All is well.", verdict=Verdict.APPROVED, artifacts=(artifact, artifact.with_name("missing"))
    )
    assert report.render(done, order, NOW) == (
        "# Handoff: test\n"
        "**Timestamp:** 2025-11-27 15:45:00 PST\n"
        "**Status:** COMPLETE\n"
        "**Run:** r-1a2b3c4d\n"
        "**In reply to:** pm-20251127-153000.md\n"
        "**Verdict:** APPROVED\n"
        "\n"
        "## Completed Work\n"
        "All is well.\n"
        "\n"
        "## Artifacts Generated\n"
        "- artifacts/tests/f401.json\n"
    )


def test_only_what_is_blocked_has_blockers(order):
    blocked = report.render(Report("Nothing.", Status.BLOCKED, blockers="No ruff."), order, NOW)
    assert "**Status:** BLOCKED\n" in blocked
    assert "## Blockers\nNo ruff.\n" in blocked
    assert "Blockers" not in report.render(Report("All."), order, NOW)


def test_a_name_that_is_taken_makes_it_the_next_free_second(order):
    first, second = (report.deliver(Report(text), order, NOW) for text in ("one", "two"))
    assert [first.name, second.name] == ["test-20251127-154500.md", "test-20251127-154501.md"]
    assert "one" in first.read_text(encoding="utf-8")
    assert "**Timestamp:** 2025-11-27 15:45:01 PST" in second.read_text(encoding="utf-8")


def test_a_name_taken_at_the_last_moment_is_not_written_over(order, monkeypatch):
    link = os.link

    def slow_link(source, target):
        if target.name.endswith("00.md"):
            target.write_text("somebody else's", encoding="utf-8")
        link(source, target)

    monkeypatch.setattr(os, "link", slow_link)
    assert report.deliver(Report("mine"), order, NOW).name.endswith("01.md")
    assert (order.task_dir / "handoffs" / "test-20251127-154500.md").read_text(
        encoding="utf-8"
    ) == "somebody else's"


def test_a_file_system_without_hard_links_will_do(order, monkeypatch):
    def refuse(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert "mine" in report.deliver(Report("mine"), order, NOW).read_text(encoding="utf-8")


def test_nothing_but_the_report_is_left(order):
    report.deliver(Report("done"), order, NOW)
    assert list(order.scratchpad.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [({"TASK_DIR": ""}, "TASK_DIR is not set"), ({"ATTEMPT": "two"}, "should be a number")],
)
def test_an_environment_that_is_no_order_is_refused(change, message):
    names = ("RUN", "AGENT", "STEP", "TASK_DIR", "WORKSPACE", "SCRATCHPAD", "BASE", "BRANCH")
    environment = {f"ORCHESTRATOR_{name}": "x" for name in names}
    with pytest.raises(OrderError, match=message):
        Order.from_environment(
            environment | {f"ORCHESTRATOR_{name}": value for name, value in change.items()}
        )
