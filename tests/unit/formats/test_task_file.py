import re

import pytest
from hypothesis import given

from orchestrator.formats.permission_rules import from_source, read_permissions
from orchestrator.formats.task_file import blank_task, read_brief
from orchestrator.model.budget import Budget
from orchestrator.model.errors import BadFile
from orchestrator.model.task import (
    AcceptedEvidence,
    AfterRejections,
    AgentOverrides,
    Approval,
    Brief,
    Bring,
    Config,
    Location,
    Unanswered,
    WorkspaceKind,
)
from tests.unit.formats.texts import HUB, attempted, junk, names, prose

TOP = "# Task: X\n\n## Goal\nDo it.\n\n## Success Criteria\n- Done\n\n"


def read(text: str) -> Brief:
    return read_brief(text.encode())


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_brief(text if isinstance(text, bytes) else text.encode())
    return [str(fault) for fault in caught.value.faults]


def config(*lines: str) -> Config:
    return read(f"{TOP}## Agent Config\n" + "\n".join(lines)).config


def config_faults(*lines: str) -> list[str]:
    return faults("# X\n## Agent Config\n" + "\n".join(lines) + TOP.removeprefix("# Task: X\n"))


# The document ------------------------------------------------------------------------------------


def test_the_documents_generic_task_is_read():
    assert read_brief((HUB / "task_default_cwd.md").read_bytes()) == Brief(
        "Refactor logging module",
        "Improve logging performance across the codebase.",
        ("Reduce log overhead by 50%", "All tests pass"),
    )


def test_two_cwds_are_refused_with_both_lines():
    assert faults((HUB / "task_two_cwds.md").read_bytes()) == [
        "line 9: `cwd:` is in line 7 and in line 9: keep one of them"
    ]


def test_a_cwd_in_a_host_of_a_kind_says_both():
    read = config("cwd: podman:alpine:3:/srv/repo", "dev.cwd: slurm:night:/work")
    assert (read.host, read.cwd) == ("podman://alpine:3", Location("/srv/repo"))
    assert (read.agents["dev"].host, read.agents["dev"].cwd) == ("slurm://night", Location("/work"))


def test_a_cwd_in_a_host_beside_a_host_is_one_too_many():
    (fault,) = config_faults("cwd: podman:alpine:/srv/repo", "host: docker:alpine")
    assert "`host:` is in line" in fault


@pytest.mark.parametrize(
    ("taken_out", "place"),
    [(9, Location("/path/to/dds-module")), (7, Location("/path/to/repo", "user@remote"))],
)
def test_the_documents_task_with_either_cwd_is_read(taken_out, place):
    lines = (HUB / "task_two_cwds.md").read_text().split("\n")
    del lines[taken_out - 1]
    brief = read("\n".join(lines))
    assert brief.config == Config(cwd=place)
    assert brief.criteria == ("Reproduction test triggers crash", "Fix handles 100+ concurrent clients")


# Title, goal, criteria ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# Task: X\n## Goal\nDo it.\n## Success Criteria\n- Done\n",
        "# X\n## Goal\nDo it.\n## Success Criteria\n- Done",
        "\ufeff# Task: X\r\n## Goal  \r\nDo it.\r\n## Success Criteria \r\n- Done\r\n",
        "Task: X\n=======\n\nGoal\n----\nDo it.\n\nSuccess Criteria\n---\n- Done\n",
        "# task:X #\n##Goal\nDo it.\n##Success criteria:\n* Done\n",
        "# Task: X\n# Goal\nDo it.\n# Success Criteria\n1. Done\n",
        "# Task: X\n### Goal ###\nDo it.\n### Success Criteria (all)\n+ [ ] Done\n",
        "# Task: X\n## Success Criteria\n- [x] Done\n## Notes\n- not this\n## **Goal**\n\n\nDo it.\n\n",
        "# Task: X\n<!-- a -->\n## Goal\n<!-- b\nc --> Do it. <!-- d -->\n## Success Criteria\n- Done <!-- e -->",
    ],
)
def test_a_task_is_read_as_people_write_it(text):
    assert read(text) == Brief("X", "Do it.", ("Done",))


def test_a_goal_is_kept_as_it_is_written():
    goal = "First.\n\n### Details\n```sh\n## Goal\ncwd: /x <!-- y -->\n```\n* last"
    assert read(f"# X\n## Goal\n{goal}\n\n## Success Criteria\n- a").goal == goal


def test_criteria_go_on_over_lines():
    listed = "These:\n\n- [ ] a\n  b\nc\n\n  d\n  - e\n### Later\n1) f\n\nProse.\n- [x] g\n"
    assert read(f"# X\n## Goal\ng\n## Success Criteria\n{listed}").criteria == ("a b c d - e", "f", "g")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            "",
            [
                "has no `## Goal`: say what shall be true when it is done",
                "has no `## Success Criteria`: list how anyone can see that it is done",
                "line 1: has no title: begin with `# Task: what it is about`",
            ],
        ),
        ("# X\n## Goal\n\n## Success Criteria\n- a\n", ["line 2: `## Goal` is empty: say what"]),
        ("# X\n## Goal\ng\n## Success Criteria\nAll is well.\n", ["line 4: `## Success Criteria` is empty: list how"]),
        ("# X\n## Goal\ng\n## Success Criteria\n- [how to know]\n", ["line 4: `## Success Criteria` is empty"]),
        (
            "# X\n## Goals\ng\n## Sucess Criteria\n- a\n",
            [
                "has no `## Goal`: say what …; did you mean the heading in line 2?",
                "has no `## Success Criteria`: list how …; did you mean the heading in line 4?",
            ],
        ),
        (
            "# X\n## Goal\ng\n```\n## Success Criteria\n- a\n",
            ["has no `## Success Criteria`: list how …; the code block opened in line 4 is never closed"],
        ),
        ("# X\n## Goal\ng\n## Success Criteria\n- a\n## Goal\nh\n", ["line 6: `## Goal` is in line 2"]),
        ("# X\n## Goal\ng\n## Success Criteria\n- a\n## Agents config\n", ["line 6: did you mean `## Agent Config`?"]),
    ],
)  # fmt: skip
def test_missing_section_is_reported_with_its_line(text, reported):
    for problem, expected in zip(faults(text), reported, strict=True):
        start, _, end = expected.partition("…")
        assert problem.startswith(start)
        assert problem.endswith(end)


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (TOP.encode("utf-16"), "line 1: is UTF-16: save it as UTF-8"),
        (TOP.encode() + b"\xff", "line 9: byte 0xff is not UTF-8"),
        (TOP.encode() + b"\0", "line 9: holds a NUL"),
    ],
)
def test_what_is_no_text_is_refused(data, reported):
    assert faults(data) == [reported]


# The blank template ------------------------------------------------------------------------------


@given(names)
def test_the_blank_template_reads_as_unfilled(name):
    assert read(blank_task(name)) == Brief(name, "", (), unfilled=True)


@pytest.mark.parametrize("goal", ["[What should be done]", "<!-- here -->", "  [ a\nb ]  ", "<!-- a\nb -->"])
def test_a_goal_that_is_a_placeholder_is_unfilled(goal):
    assert read(f"# X\n## Goal\n{goal}\n## Success Criteria\n- [how]\n").unfilled


@pytest.mark.parametrize("goal", ["[a](b)", "[a] b [c]", "a <!-- b -->", "a <!--", "<!-- a --> b"])
def test_a_goal_beside_brackets_and_comments_is_a_goal(goal):
    assert not read(f"# X\n## Goal\n{goal}\n## Success Criteria\n- a\n").unfilled


def test_filled_template_and_each_of_its_examples_work():
    text = (
        blank_task("x")
        .replace("may stay. -->", "may stay. -->\nDo it.")
        .replace("-->\n\n## Agent", "-->\n- a\n## Agent")
    )
    text = re.sub(r"(?m)^# ([a-z.]+: )", r"\1", text).replace("\ncwd: user@host", "\n# cwd: user@host")
    brief = read(text)
    assert (brief.goal, brief.criteria, brief.unfilled) == ("Do it.", ("a",), False)
    assert brief.config == Config(
        cwd=Location("/path/to/repo"),
        template="tidy",
        runtime="claude",
        workspace=WorkspaceKind.WORKTREE,
        architect=True,
        after_rejections=AfterRejections.SET_ASIDE,
        approve=(Approval.PLAN,),
        unanswered=Unanswered("set-aside", 14_400.0),
        permissions=read_permissions("allow run docker compose *; deny fetch; otherwise ask"),
        limits=Budget(2_000_000, 20.0, 28_800.0),
        bring=Bring.BRANCH,
        prepare=(("npm", "ci"),),
        evidence=AcceptedEvidence.INDEPENDENT,
        agents={
            "dev": AgentOverrides(
                runtime="codex",
                model="opus",
                command=("python3", "my_agent.py", "--fast"),
                cwd=Location("/path", "user@host"),
            ),
            "test": AgentOverrides(check=("python3", "-m", "pytest", "-q")),
        },
    )
    other = text.replace("cwd: /path", "# cwd: /path").replace("# cwd: user@host", "cwd: user@host")
    assert read(other).config.cwd == Location("/path/to/repo", "user@host")


def test_unfilled_task_reports_faults_of_its_config():
    assert faults(blank_task("x") + "cdw: /x\n")[0].endswith("is not a setting: did you mean `cwd:`?")


# Agent Config ------------------------------------------------------------------------------------


def test_invalid_limit_is_reported_with_its_line():
    (reported,) = faults("# T\n## Goal\ng\n## Success Criteria\n- a\n## Agent Config\nlimits: 2M; $20\n")
    assert "line 7" in reported
    assert "write one or more of `2M tokens`, `$20`, `8 h`" in reported


def test_lines_are_read_as_people_write_them():
    assert config(
        "# a comment",
        "#another",
        "### and another",
        "```",
        "cwd: `/a b#c`   # in a block",
        "```",
        "<!-- runtime: x",
        "-->",
        "- template: tidy",
        "  workspace:shared\t# a tab",
        "---",
        "",
        "* architect : no",
        "rejections: ask",
        "parallel: 2",
    ) == Config(
        cwd=Location("/a b#c"),
        template="tidy",
        workspace=WorkspaceKind.SHARED,
        after_rejections=AfterRejections.ASK,
        parallel=2,
    )


def test_commands_are_split_as_in_a_shell():
    wish = config(
        'dev.command: sh -c \'echo "# no comment"; x\' \\# {python} "a # b"  # but this',
        "dev-2.check: make  test",
        "qa_1.model: qwen2.5:7b-instruct/x",
        "architect.cwd: ssh://me@box:22/repo",
    ).agents
    assert wish == {
        "dev": AgentOverrides(command=("sh", "-c", 'echo "# no comment"; x', "#", "{python}", "a # b")),
        "dev-2": AgentOverrides(check=("make", "test")),
        "qa_1": AgentOverrides(model="qwen2.5:7b-instruct/x"),
        "architect": AgentOverrides(cwd=Location("/repo", "me@box:22")),
    }


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("cdw: /x", "`cdw:` is not a setting: did you mean `cwd:`?"),
        ("Cwd: /x", "is not a setting: did you mean `cwd:`?"),
        ("dev.comand: x", "is not a setting: did you mean `dev.command:`?"),
        (
            "zzzzz: x",
            "is not a setting: the settings are cwd, host, family, handoffs, template, runtime, workspace",
        ),
        ("dev.zzzzzzzz: x", "is not a setting"),
        ("Dev.command: x", "'Dev' is no agent name"),
        (".command: x", "is not a setting"),
        ("a.b.command: x", "'a.b' is no agent name"),
        ("just words", "'just words' is not a setting: write `key: value`"),
        ("cwd", "'cwd' is not a setting: write `key: value`"),
        ("cwd:", "`cwd:` has no value"),
        ("cwd: # nothing", "`cwd:` has no value"),
        ("cwd: relative", "'relative' is no absolute path"),
        ("cwd: -oProxyCommand=x:/x", "names no host that we accept"),
        ("cwd: user@host$(x):/p", "control character or `$( )`"),
        ("cwd: /a\x1bb", "holds a control character"),
        ("template: ../x", "'../x' is no template name"),
        ("runtime: Claude", "'Claude' is no runtime name"),
        ("workspace: read-only", "write one of read_only, shared, worktree"),
        ("architect: maybe", "write yes or no"),
        ("parallel: 0", "write a whole number from 1 on"),
        ("parallel: two", "write a whole number from 1 on"),
        ("rejections: never", "write one of ask, set-aside, replan"),
        ("approve: everything", "write one of plan"),
        ("pm: Claude Code", "is no runtime name"),
        ("approve: plan, merge", "write one of plan"),
        ("unanswered: retry", "when: `set-aside after 4 h`"),
        ("unanswered: accept after 4 h", "write one of retry, replan, set-aside"),
        ("unanswered: retry after soon", "give a time above 0"),
        ("unanswered: retry after -1 h", "give a time above 0"),
        ("dev.listens: maybe", "write yes or no"),
        ("dev.hands: none", "write one of own, operations"),
        ("dev.deletes: yes", "write one of refuse, ask, allow"),
        ("skills: dds-testing, ../x", "'../x' is no skill name"),
        ("skills: a,,b", "'' is no skill name"),
        (f"skills: {', '.join(f's{n}' for n in range(21))}", "names 21 skills: name 20 at most"),
        (
            "permissions: run ls",
            "has the rule 'run ls': write allow, deny, ask, then read, write, run, fetch, ask or tool",
        ),
        ("permissions: allow runs x", "write allow, deny, ask, then read"),
        ("permissions: allow run", "say which command: `run npm test`, or `run *` for any"),
        ("permissions: allow run 'x", "has a quote that is not closed"),
        ("permissions: otherwise maybe", "has otherwise 'maybe': write one of allow, deny, ask"),
        ("permissions: otherwise ask; otherwise deny", "says `otherwise` twice"),
        ("permissions: allow write /a/../b", "give a path without `..`"),
        ("permissions: allow write ~other/x", "give a path without `..`, absolute or beginning with `~/`"),
        ("permissions: allow write /a b", "give one path, in quotes where it holds spaces"),
        ("permissions: allow fetch a b", "give one host like docs.python.org"),
        ("permissions: deny ask me", "`ask` takes no more"),
        ("permissions: allow tool", "give one tool's name"),
        ("dev.permissions: alow run x", "write allow, deny, ask"),
        ("dev.command: sh -c 'x", "does not read as a command: No closing quotation"),
        ("dev.model: --dangerously", "'--dangerously' is no model's name"),
        ("dev.model: a b", "is no model's name"),
        ("review.cwd: user@host:/x", "only dev and architect may work remotely, give a local path"),
        ("dev-2.cwd: user@host:/x", "only dev and architect may work remotely"),
    ],
)
def test_fault_is_reported_with_its_line(line, reported):
    problems = config_faults("# one", line)
    assert len(problems) == 1
    assert problems[0].startswith("line 4: ")
    assert reported in problems[0]


def test_every_fault_is_reported():
    problems = config_faults("a: 1", "cwd: x", "runtime: a", "runtime: b", "dev.model: -x")
    assert [problem.partition(":")[0] for problem in problems] == ["line 3", "line 4", "line 6", "line 7"]


def test_permissions_are_of_the_task_and_of_one_agent():
    made = config(
        "permissions: allow run sh -c 'a; b # c'; deny fetch # not this",
        "dev.permissions: allow write /data/**; otherwise deny",
    )
    assert made.permissions == read_permissions("allow run sh -c 'a; b # c'; deny fetch")
    said = read_permissions("allow write /data/**; otherwise deny")
    assert made.agents["dev"].permissions == from_source(said, "task.md, dev.permissions")


def test_a_title_like_line_in_the_config_is_a_comment():
    assert config("# Goal", "# OR", "cwd: /x").cwd == Location("/x")


def test_an_endless_config_is_refused():
    assert "is one of more than 2000 lines" in config_faults(*(f"a{n}.model: x" for n in range(2001)))[0]


# Properties --------------------------------------------------------------------------------------


@given(junk)
def test_any_bytes_are_a_task_or_a_bad_file(data):
    brief, reported = attempted(read_brief, data)
    assert reported or brief.title


@given(prose)
def test_any_config_is_read_or_reported_with_its_line(text):
    data = f"{TOP}## Agent Config\n{text}".encode("utf-8", "replace")
    brief, reported = attempted(read_brief, data)
    assert reported or brief.title == "X"
    assert all(fault.line for fault in reported)


def test_skills_are_asked_for_by_name_for_all_or_for_one_agent():
    asked = config("skills: dds-testing, device_access, dds-testing", "dev.skills: jtag  # only here")
    assert asked.skills == ("dds-testing", "device_access")
    assert asked.agents["dev"].skills == ("jtag",)
