import tomllib

import pytest

from orchestrator.cli.diagnosis import findings, login_of
from orchestrator.cli.extras import OF_OBSERVER, is_installed
from orchestrator.cli.findings import Severity, can_run
from orchestrator.cli.machine_report import CliReport, Folder, MachineReport, VersionReply
from orchestrator.model.environment import PASSED
from orchestrator.runtimes.cli_inventory import AGENT_CLIS

CLAUDE, CODEX, *_ = AGENT_CLIS
TMUX = VersionReply("tmux", "/usr/bin/tmux", "tmux 3.6b")
GIT = VersionReply("git", "/usr/bin/git", "git version 2.39.5")


def claude(**other):
    return CliReport(CLAUDE, VersionReply("claude", "/bin/claude", "2.1.328 (Claude Code)"), **other)


def found(**seen):
    return findings(
        MachineReport(**{"clis": (claude(logins=("~/.claude/.credentials.json",)),), "version": "1"} | seen)
    )


def of(topic, **seen):
    return [each for each in found(**seen) if each.topic == topic]


def test_a_sound_machine_has_nothing_to_mend():
    reported = found(
        programs={"tmux": TMUX, "git": GIT}, daemon_up=True, daemon_version="1", synchronised=True
    )
    assert can_run(reported)
    assert {each.severity for each in reported} == {Severity.OK}
    assert not any(each.fix for each in reported)


@pytest.mark.parametrize(
    ("programs", "text"),
    [
        ({"tmux": VersionReply("tmux")}, "is not installed"),
        ({"git": VersionReply("git")}, "is not installed"),
        (
            {"git": VersionReply("git", "/bin/git", fault="did not print its version within 10 s")},
            "did not print",
        ),
        ({"tmux": VersionReply("tmux", "/bin/tmux", "tmux 2.8")}, "2.8 is too old"),
    ],
)
def test_without_tmux_or_git_no_task_runs(programs, text):
    reported = found(programs=programs)
    assert not can_run(reported)
    assert text in next(each.text for each in reported if each.severity is Severity.MISSING)


@pytest.mark.parametrize(
    ("said", "warned"),
    [("tmux 3.3a", True), ("tmux 3.5a", True), ("tmux 3.6", False), ("tmux next-3.7", False)],
)
def test_a_tmux_that_loses_exit_statuses_is_named(said, warned):
    (reported,) = of("tmux", programs={"tmux": VersionReply("tmux", "/bin/tmux", said)})
    assert said.removeprefix("tmux ") in reported.text
    assert ("exit statuses" in reported.text) is warned


@pytest.mark.parametrize(
    ("name", "said", "severity"),
    [
        ("git", "git version 2.30.9", Severity.MISSING),
        ("git", "git version 2.31.8", Severity.WARN),
        ("git", "git version 2.37.1 (Apple Git-137.1)", Severity.WARN),
        ("git", "git version 2.38.0", Severity.OK),
        ("git", "git version 10.1", Severity.OK),
        ("tmux", "tmux 2.9a", Severity.MISSING),
        ("tmux", "tmux 3.0a", Severity.OK),
        ("tmux", "tmux master", Severity.OK),
        ("rsync", "rsync  version 3.0.9  protocol version 30", Severity.WARN),
        ("rsync", "rsync  version 3.1.0  protocol version 31", Severity.OK),
    ],
)
def test_too_old_program_is_reported_with_the_version_needed(name, said, severity):
    (reported,) = of(name, programs={name: VersionReply(name, f"/bin/{name}", said)})
    assert reported.severity is severity
    assert reported.fix.startswith(f"install {name} ") is (severity is not Severity.OK)
    assert can_run([reported]) is (severity is not Severity.MISSING)


@pytest.mark.parametrize("name", ["ssh", "rsync"])
def test_what_only_boxes_need_keeps_nothing_from_running(name):
    (reported,) = of(name, programs={name: VersionReply(name)})
    assert reported.severity is Severity.NOTE


def test_untested_older_version_is_reported():
    old = CliReport(CLAUDE, VersionReply("claude", "/bin/claude", "2.0.9 (Claude Code)"), logins=("x",))
    (reported,) = of("claude", clis=(old,))
    assert (reported.severity, reported.fix) == (Severity.WARN, CLAUDE.install)
    assert "2.0.9 is older than any tested version (2.1.197)" in reported.text


def test_a_version_that_cannot_be_read_is_nothing_to_complain_of():
    odd = CliReport(CLAUDE, VersionReply("claude", "/bin/claude", "claude"), logins=("x",))
    assert of("claude", clis=(odd,)) == []


def test_missing_login_is_reported_with_its_command():
    (reported,) = of("claude", clis=(claude(),))
    assert (reported.severity, reported.fix) == (Severity.WARN, CLAUDE.login)
    assert login_of(claude()) == "not seen"
    assert login_of(claude(logins=("a", "B"))) == "a, B"
    assert login_of(CliReport(CLAUDE, VersionReply("claude"))) == ""


def test_withheld_key_is_reported_with_its_setting():
    seen = {"clis": (claude(held_back=("ANTHROPIC_API_KEY",)),), "settings_file": "~/config.toml"}
    assert of("claude", **seen) == []
    (reported,) = of("agents", **seen)
    assert reported.severity is Severity.WARN
    assert reported.text == "set here, but reaches no agent of claude: ANTHROPIC_API_KEY"
    where, line = reported.fix.split("\n")
    assert "[environment] of ~/config.toml" in where
    assert tomllib.loads(line)["pass"] == [*PASSED, "ANTHROPIC_API_KEY"]


def test_key_that_reaches_one_runtime_is_reported_for_others():
    others = [
        CliReport(cli, VersionReply(cli.name, "/bin/x", "9.9"), held_back=("K",), driven=cli is CODEX)
        for cli in AGENT_CLIS[1:]
    ]
    (reported,) = of("agents", clis=(claude(logins=("K",)), *others))
    assert reported.text == "set here, but reaches no agent of codex: K"


def test_a_key_that_nobody_needs_is_a_note():
    (reported,) = of("agents", clis=(claude(logins=("x",), held_back=("ANTHROPIC_API_KEY",)),))
    assert reported.severity is Severity.NOTE


def test_key_missing_from_the_daemons_start_is_reported():
    (reported,) = of("agents", clis=(claude(unheard=("ANTHROPIC_API_KEY",)),))
    assert reported.text.endswith("the daemon was started without it: ANTHROPIC_API_KEY")
    assert reported.fix == "task daemon stop && task daemon start"


def test_of_a_cli_that_is_not_installed_nothing_is_said():
    absent = CliReport(CODEX, VersionReply("codex"), held_back=("CODEX_ACCESS_TOKEN",))
    assert of("codex", clis=(claude(logins=("x",)), absent)) == []
    assert of("agents", clis=(claude(logins=("x",)), absent)) == []


def test_without_any_agent_cli_tasks_of_programs_still_run():
    reported = found(clis=(CliReport(CLAUDE, VersionReply("claude")),))
    assert can_run(reported)
    assert "no agent CLI is installed" in reported[0].text


@pytest.mark.parametrize(
    ("room", "inodes", "severity"),
    [
        (50_000_000_000, 10**6, Severity.OK),
        (50_000_000_000, None, Severity.OK),
        (None, None, Severity.OK),
        (500_000_000, 10**6, Severity.WARN),
        (1_000_000, 10**6, Severity.MISSING),
        (50_000_000_000, 3, Severity.MISSING),
    ],
)
def test_room_on_the_disk(room, inodes, severity):
    (reported,) = of("state", folders=(Folder("state", "/s", room=room, inodes=inodes),))
    assert reported.severity is severity


def test_unusable_folder_or_settings_stop_everything():
    reported = found(folders=(Folder("state", "/s", "is a link"),), settings_fault="line 2: is not TOML")
    assert [each.text for each in reported if each.severity is Severity.MISSING] == [
        "line 2: is not TOML",
        "is a link",
    ]


def test_settings_whose_extra_is_missing():
    (reported,) = of("settings", extras_missing=("traces", "metrics"))
    assert (reported.severity, can_run([reported])) == (Severity.WARN, True)
    assert "observer.traces, observer.metrics" in reported.text
    assert "'.[traces,metrics]'" in reported.fix


@pytest.mark.parametrize("extra", OF_OBSERVER)
def test_an_extra_is_installed_or_not(monkeypatch, extra):
    """The SDK of MCP brings a part of OpenTelemetry, which is not enough."""
    assert is_installed(extra)
    monkeypatch.setitem(OF_OBSERVER, extra, "opentelemetry.nothing.of.this")
    assert not is_installed(extra)


def test_a_project_without_a_commit():
    (reported,) = of("project", repository=False)
    assert reported.severity is Severity.WARN
    assert reported.fix.startswith("git init")


def test_the_clock():
    assert "2.0 h behind" in of("clock", late_clock=7200.0, synchronised=True)[0].text
    assert of("clock", synchronised=False)[0].severity is Severity.NOTE
    assert of("clock", synchronised=None)[0].severity is Severity.OK


def test_low_system_limits_are_reported_with_their_remedy():
    reported = of("limits", limits={"open files": 256, "processes": 1 << 62, "inotify watches": 10})
    assert [each.text for each in reported] == [
        "256 open files; at least 1024 are needed",
        "10 inotify watches; at least 8192 are needed",
    ]
    assert all(each.fix for each in reported)
    (reported,) = of("limits", limits={"processes in its control group": 30})
    assert (reported.severity, "pids.max" in reported.fix) == (Severity.WARN, True)
    assert of("limits", limits={"processes": 1 << 62})[0].text == "any number of processes"


def test_the_daemon():
    assert of("daemon")[0].severity is Severity.NOTE
    assert "no heartbeat for 90 s" in of("daemon", daemon_up=True, daemon_silent=90.0)[0].text
    assert "version 0; 1 is installed" in of("daemon", daemon_up=True, daemon_version="0")[0].text
    left = of("daemon", manager="systemd", survives_logout=False)
    assert left[-1].fix == "loginctl enable-linger"


def test_a_cli_that_this_version_has_no_runtime_for_is_a_note():
    (reported,) = of("claude", clis=(claude(driven=False),))
    assert reported.severity is Severity.NOTE
    assert "no runtime for it" in reported.text
