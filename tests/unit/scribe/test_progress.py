import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.amounts import UNCOUNTED
from orchestrator.formats.text import local_minute, local_time
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.task import Phase, TaskState
from orchestrator.model.usage import Usage
from orchestrator.scribe.content import (
    Activity,
    AgentUsage,
    Artifact,
    Check,
    Commit,
    Limited,
    Milestone,
    OnDisk,
    OpenQuestion,
    PMView,
    Trouble,
)
from orchestrator.scribe.escaping import shown
from orchestrator.scribe.progress import render_progress, without_times

HUB = Path(__file__).parents[2] / "fixtures" / "hub"
AT = 1764286200.0
VIEW = PMView("dds", Phase.DEVELOPING, TaskState.RUNNING)
FULL = PMView(
    task="dds",
    phase=Phase.TESTING,
    state=TaskState.WAITING,
    last_checkin=AT - 600,
    milestones=(
        Milestone("Explore", "done", "explore-20251127-093000.md"),
        Milestone("Write the parser", "testing", "dev-20251127-113000.md", "attempt 2"),
    ),
    blockers=("Write the parser: no access to the device",),
    questions=(OpenQuestion("Which device shall be used?", "task answer dds q1 …", ("A", "B")),),
    steps="3 of 8 steps passed",
    runs=2,
)
DISK = OnDisk(
    activities=(
        Activity("dev-20251127-153000.md", "dev COMPLETE: It parses."),
        Activity("artifacts/code/parser.py"),
    ),
    more_activities=7,
    artifacts=(
        Artifact("artifacts/code/parser.py", AT - 60),
        Artifact("artifacts/design/plan.md", AT - 3600),
    ),
    more_artifacts=1200,
)


def test_task_is_written_in_the_set_form():
    assert render_progress(FULL, DISK, AT) == (
        "# Task Progress: dds\n"
        "**Last Updated:** 2025-11-27 23:30:00 UTC\n"
        "**Last Check-in:** 2025-11-27 23:20:00 UTC\n"
        "**Now:** waiting for an answer (see Current Blockers), phase TESTING; 3 of 8 steps passed; 2 agents running\n"
        "\n"
        "## Recent Activity (since last check-in)\n"
        "- dev-20251127-153000.md: dev COMPLETE: It parses.\n"
        "- New artifact: artifacts/code/parser.py\n"
        "- … and 7 more\n"
        "\n"
        "## Milestone Summary\n"
        "| Milestone | Status | Last Handoff | Notes |\n"
        "|-----------|--------|--------------|-------|\n"
        "| Explore | done | explore-20251127-093000.md |  |\n"
        "| Write the parser | testing | dev-20251127-113000.md | attempt 2 |\n"
        "\n"
        "## Current Blockers\n"
        "- Write the parser: no access to the device\n"
        "- Which device shall be used? (options: A, B)\n"
        "  Answer with: `task answer dds q1 …`\n"
        "\n"
        "## Artifacts Generated\n"
        "- artifacts/code/parser.py (2025-11-27 23:29:00 UTC)\n"
        "- artifacts/design/plan.md (2025-11-27 22:30:00 UTC)\n"
        "- … and 1200 more\n"
    )


def test_headings_and_columns_are_those_of_the_set_form():
    lines = iter(render_progress(FULL, DISK, AT).split("\n"))
    fixed = [
        line
        for line in (HUB / "progress.md").read_text().split("\n")
        if line.startswith(("## ", "| Milestone", "|--"))
    ]
    assert len(fixed) == 6
    for line in fixed:
        assert line in lines


def test_task_without_state_is_written():
    text = render_progress(VIEW, OnDisk(), AT)
    assert "**Last Check-in:** never\n**Now:** at work, phase DEVELOPING; no agent running\n" in text
    assert "## Recent Activity (since last check-in)\nNothing new.\n" in text
    assert "| (none yet) | | | |\n" in text
    text = render_progress(replace(VIEW, runs=2, unseen=1), OnDisk(), AT)
    assert "2 agents running, 1 of which cannot be seen now\n" in text
    assert "## Current Blockers\nNone\n" in text
    assert text.endswith("## Artifacts Generated\nNone\n")


def test_estimated_cost_has_the_day_of_its_prices():
    guess = Usage(1000, 10, estimate=3.4, prices="2025-11-01", unpriced=("<b>x",))
    usage = (AgentUsage("dev", 1, 60.0, guess), AgentUsage("plan", 1, 60.0, Usage(1000, 10, cost=1.0)))
    text = render_progress(replace(FULL, usage=usage), OnDisk(), AT)
    assert "| 1k | 10 | ~$3.40 |" in text
    assert "| 1k | 10 | $1 |" in text
    assert "| 2k | 20 | ~$4.40 |" in text
    assert "\nCosts with a ~ are estimated by prices of 2025-11-01, 26 days old; no price is known of" in text
    assert "<b>" not in text
    none = (AgentUsage("dev", 1, 60.0, Usage(1000, 10, unpriced=("x",))),)
    assert "\nNo price is known of x\n" in render_progress(replace(FULL, usage=none), OnDisk(), AT)


@pytest.mark.parametrize("used", [Usage(1000, 10, partial=True), Usage(partial=True)])
def test_usage_that_is_not_all_counted_is_said_to_be_so(used):
    for usage, said in ((used, True), (Usage(1000, 10), False)):
        text = render_progress(replace(FULL, usage=(AgentUsage("dev", 1, 60.0, usage),)), OnDisk(), AT)
        assert (f"{UNCOUNTED[1:]}" in text) is said


def test_what_a_usage_limit_holds_up_is_not_at_work():
    limited = Limited(AT - 3600, AT - 60, AT + 86_400, "resets 3pm | <b>", 2, AT + 86_370)
    text = render_progress(replace(VIEW, limited=limited), OnDisk(), AT)
    now = next(line for line in text.splitlines() if line.startswith("**Now:** "))
    until = local_minute(AT + 86_400)
    assert now.startswith(
        f"**Now:** held up by a usage limit since {local_time(AT - 3600)} until {until} (resets 3pm"
    )
    for said in (local_time(AT + 86_370), f"refused 2 times, at {local_time(AT - 60)}"):
        assert said in now
    assert "at work" not in now


def test_overdue_usage_limit_shows_no_end():
    limited = Limited(AT - 3600, AT - 30, AT - 60, "resets 3pm", 1, AT + 30)
    text = render_progress(replace(VIEW, limited=limited), OnDisk(), AT)
    assert f", which was to end at {local_minute(AT - 60)} (resets 3pm" in text
    assert " until " not in text


RESULT = (
    ("Asked", "Fix the pool: no exhaustion under load"),
    ("Outcome", "complete in part: 1 subtask set aside: Docs; 5 of 8 steps passed"),
    ("Work", "branch `task/dds` at 3f2a91c0aa: 1 commit, 2 files changed, +3 -1"),
    ("Not done", "Docs (rejected 3 times)"),
    ("Cost", "2 h at work. Next: `git -C '/a b' merge task/dds`"),
)


def ended(**more: Any) -> str:
    result: dict[str, Any] = {"outcome": RESULT, "looked_at": AT, "ended": True} | more
    return render_progress(PMView("dds", Phase.BLOCKED, TaskState.PARTIAL, **result), OnDisk(), AT)


def test_the_result_opens_it_in_five_lines():
    opening = ended().split("\n\n")[1].split("\n")
    assert opening == [
        "## Result",
        "- **Asked:** Fix the pool: no exhaustion under load",
        "- **Outcome:** complete in part: 1 subtask set aside: Docs; 5 of 8 steps passed",
        (
            "- **Work:** branch `task/dds` at 3f2a91c0aa: 1 commit, 2 files changed, +3 -1 "
            "(the branch as of 2025-11-27 23:30:00 UTC)"
        ),
        "- **Not done:** Docs (rejected 3 times)",
        "- **Cost:** 2 h at work. Next: `git -C '/a b' merge task/dds`",
    ]


def test_criteria_are_written_with_their_evidence():
    marks = (
        CriterionMark("All tests pass", met=True, evidence=("log.txt", "a.md"), details=("12 lines",)),
        CriterionMark("It is fast", met=True),
        CriterionMark("It is small", met=False, reason="it grew"),
        CriterionMark("It is neat", met=False),
    )
    assert section(ended(criteria=marks), "Success Criteria") == [
        "- [x] All tests pass (evidence: log.txt: 12 lines, a.md)",
        "- [x] It is fast",
        "- [ ] It is small (not met: it grew)",
        "- [ ] It is neat (not met: no reason given)",
    ]


def test_commits_checks_and_trouble_have_their_sections():
    text = ended(
        commits=(Commit("3f2a91c0aa", "dds: grow the pool", AT),),
        more_commits=2,
        checks=(Check("before any change (baseline)", 1, ("1 failed",)),),
        troubles=(
            Trouble("dev:a", 2, ("Rejected by test:a: it leaks",), "exited 7", ("```", "# Oh"), "r-1"),
        ),
    )
    assert section(text, "Commits") == [
        "- 2 earlier ones, then:",
        "- 3f2a91c0aa dds: grow the pool (2025-11-27 23:30:00 UTC)",
    ]
    assert section(text, "Tests") == [
        "- before any change (baseline): exited 1",
        "  ```",
        "  1 failed",
        "  ```",
    ]
    assert section(text, "Trouble") == [
        "- dev:a: 2 attempts",
        "  - Rejected by test:a: it leaks",
        "  - how its last run failed: exited 7 (`task logs dds r-1`)",
        "  ```",
        "  ’’’",
        "  # Oh",
        "  ```",
    ]


def section(text, title):
    """Return the lines of one section."""
    return text.split(f"\n## {title}\n")[1].split("\n\n## ")[0].rstrip("\n").split("\n")


def test_earlier_handoffs_stay_listed():
    disk = OnDisk(earlier=(Activity("dev-20251127-093000.md", "dev COMPLETE: It parses."),))
    assert section(render_progress(VIEW, disk, AT), "Recent Activity (since last check-in)") == [
        "Nothing new.",
        "",
        "Before that, the newest first:",
        "- dev-20251127-093000.md: dev COMPLETE: It parses.",
    ]


def test_complete_on_a_word_says_so_at_the_top():
    """The page began with "complete", though nothing but its judge's own file showed any criterion to be met."""
    said = "2 of 2 success criteria rest on their judge's word alone"
    page = render_progress(PMView("x", Phase.COMPLETE, TaskState.COMPLETE, on_word=said), OnDisk(), AT)
    assert f"**Now:** complete, but {said}, phase COMPLETE; no agent running\n" in page


@pytest.mark.parametrize("state", TaskState)
def test_every_state_has_its_words(state):
    page = render_progress(PMView("x", Phase.BLOCKED, state), OnDisk(), AT)
    assert ("phase BLOCKED" in page) is (state not in {TaskState.PARTIAL, TaskState.FAILED})


def test_a_thousand_milestones_are_shown_and_the_rest_counted():
    view = PMView("x", Phase.PLANNING, TaskState.RUNNING, milestones=(Milestone("m", "s"),) * 1003)
    assert render_progress(view, OnDisk(), AT).count("| m | s |") == 1000
    assert "| … and 3 more | | | |" in render_progress(view, OnDisk(), AT)


def test_without_its_times_the_text_is_the_same_at_another_time():
    later = PMView("dds", Phase.DEVELOPING, TaskState.RUNNING, last_checkin=AT)
    assert without_times(render_progress(VIEW, DISK, AT)) == without_times(
        render_progress(later, DISK, AT + 9)
    )
    assert without_times(render_progress(VIEW, DISK, AT)) != without_times(render_progress(FULL, DISK, AT))
    assert without_times(render_progress(VIEW, DISK, AT)) != without_times(
        render_progress(VIEW, OnDisk(), AT)
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a | b", "a \\| b"),
        ("a\n## b\n| c |", "a ## b \\| c \\|"),
        ("<!-- x --> <script> a < b", "&lt;!-- x --> &lt;script> a < b"),
        ("![x](http://x/?q)", "\\![x]\\(http://x/?q)"),
        ("[Approve](http://x) [a][b] [c]: http://x", "\\[Approve]\\(http://x) [a]\\[b] [c]\\: http://x"),
        ("&#x202e;&lt;&nope a & b", "&amp;#x202e;&amp;lt;&nope a & b"),
        ("# Task: done", "\\# Task: done"),
        ("#12 and #", "#12 and #"),
        ("[x] all is met", "\\[x] all is met"),
        ("- none", "\\- none"),
        ("-x is a flag", "-x is a flag"),
        ("1. None", "1\\. None"),
        ("> None", "\\> None"),
        ("--- ***", "\\--- ***"),
        ("``` and ~~~", "\\``` and ~~~"),
        ("**bold** `code` snake_case 3.5", "\\**bold** `code` snake_case 3.5"),
        ("\x1b]52;c;x\x07\r\n\u202e", "␛]52;c;x␇ �"),
        ("the key is sk-ant-abcdefghijklmnop1234", "the key is [redacted]"),
        ("x" * 300, "x" * 199 + "…"),
        ("x" * 190 + " token=abcdefghijklmnop", "x" * 190 + " token=[r…"),
    ],
)
def test_text_of_others_is_one_harmless_line(text, line):
    assert shown(text) == line


anything = st.text() | st.text("|\n#<!-`\\[]*_ \x1b", max_size=30)


@given(anything, anything, anything)
def test_no_text_adds_a_heading_a_row_or_a_comment(label, blocker, path):
    view = PMView(
        label,
        Phase.PLANNING,
        TaskState.FAILED,
        milestones=(Milestone(label, blocker, path, label),),
        blockers=(blocker,),
        questions=(OpenQuestion(label, blocker, (path,)),),
        criteria=(CriterionMark(label, met=True, evidence=(path,)),),
        outcome=(("Asked", label), ("Outcome", f"{blocker}; `{path}`")),
        commits=(Commit(path, label, AT),),
        checks=(Check(label, 1, (blocker, path)),),
        troubles=(Trouble(path, 2, (label,), blocker, (label, blocker), path),),
        ended=True,
    )
    disk = OnDisk((Activity(path),), 0, (Activity(label),), (Artifact(path, AT),), 0, (label,))
    text = render_progress(view, disk, AT)
    lines = text.split("\n")
    assert sum(line.startswith("#") for line in lines) == 10
    assert sum(line.lstrip().startswith("```") for line in lines) % 2 == 0
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 3
    assert rows[2].replace("\\\\", "").replace("\\|", "").count("|") == 5
    outside = re.split(r"^ *```", text, flags=re.MULTILINE)[::2]  # in a block of code nothing acts
    assert not any(line.lstrip().startswith("<") for part in outside for line in part.split("\n"))
    assert "\x1b" not in text
    assert text.encode()


def test_what_agents_used_stands_behind_the_four_sections():
    usage = (
        AgentUsage("dev", 3, 3900.0, Usage(1_200_000, 34_000, 0, 3.4, 90_000, 200_000)),
        AgentUsage("test", 2, 60.0, Usage()),
    )
    view = replace(FULL, usage=usage, by_phase={Phase.DEVELOPING: 3900.0, Phase.TESTING: 60.0}, idle=120.0)
    text = render_progress(view, DISK, AT)
    assert text.startswith(render_progress(FULL, DISK, AT))
    assert text.removeprefix(render_progress(FULL, DISK, AT)) == (
        "\n## Usage\n"
        "| Agent | Runs | Time | Tokens in | Tokens out | Cost | Context |\n"
        "|-------|------|------|-----------|------------|------|---------|\n"
        "| dev | 3 | 1 h 5 min | 1.2M | 34k | $3.40 | 90k (45%) |\n"
        "| test | 2 | 1 min |  |  |  |  |\n"
        "| all | 5 | 1 h 6 min | 1.2M | 34k | $3.40 |  |\n"
        "\n"
        "Time of agents by phase: DEVELOPING 1 h 5 min, TESTING 1 min; nobody at work: 2 min\n"
    )


def test_usage_section_is_missing_without_reports():
    view = replace(FULL, usage=(AgentUsage("dev", 3, 3900.0, Usage()),), by_phase={Phase.DEVELOPING: 3900.0})
    assert render_progress(view, DISK, AT) == render_progress(FULL, DISK, AT)


def test_what_is_taken_for_the_answer_is_said_with_its_time() -> None:
    asked = OpenQuestion("Which one?", "task answer dds q1 A", ("A", "B"), "set-aside", AT + 3600)
    page = render_progress(replace(VIEW, questions=(asked,)), OnDisk(), AT)
    when = local_time(AT + 3600)
    assert f"  Unanswered at {when}, it is taken to be: set-aside\n" in page


def test_what_was_said_again_and_again_stands_once():
    again = ("Rejected by test:a: it leaks", "Rejected by test:a: it is slow", "Rejected by test:a: it leaks")
    result = section(ended(troubles=(Trouble("dev:a", 4, again),)), "Trouble")
    assert result[0] == "- dev:a: 4 attempts"
    assert len(result) == 3
    assert "2 times" in result[1]
    assert result[2] == "  - Rejected by test:a: it is slow"


def test_runs_differ_from_attempts_where_there_were_more():
    """An attempt that crashed four times was told as one attempt, and as nothing else."""
    result = section(ended(troubles=(Trouble("dev:a", 1, failed="exited 7", runs=5),)), "Trouble")
    assert result[0] == "- dev:a: 1 attempt in 5 runs"


def test_notices_have_their_times():
    view = replace(
        VIEW, notices=("2025-11-27T14:35:03Z test:a was only to look", "14:35 of an older version")
    )
    page = render_progress(view, OnDisk(), AT)
    moment = local_time(1_764_254_103.0)
    assert f"## Notices\n- {moment}: test:a was only to look\n- 14:35 of an older version\n" in page
    assert "Notices" not in render_progress(VIEW, OnDisk(), AT)


def test_notices_that_are_not_shown_are_counted():
    """Only the last ten were there, as if they were all."""
    view = replace(VIEW, id="demo-1", notices=("2025-11-27T14:35:03Z dev runs again",), more_notices=40)
    said = section(render_progress(view, OnDisk(), AT), "Notices")
    assert said[0] == "- 40 earlier ones (`task why demo-1 noticed -n 41`), then:"
    assert len(said) == 2
