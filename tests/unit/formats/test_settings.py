import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from orchestrator.formats.former_settings import FORMER_KEYS
from orchestrator.formats.prices import shipped_prices
from orchestrator.formats.setting_kinds import SECTIONS, TABLES, all_keys, class_of
from orchestrator.formats.settings import load_section, load_settings
from orchestrator.formats.settings_explained import Explained, explained
from orchestrator.model.errors import BadFile
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Policy
from orchestrator.model.prices import Price
from orchestrator.model.settings import Settings
from tests.another_user import by_root, give_away


@pytest.fixture
def write(tmp_path):
    def put(text, mode=0o600):
        path = tmp_path / "config.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    return put


def faults(path: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(BadFile) as refused:
        load_settings(path, environ or {})
    return str(refused.value).replace(str(path.parent), "")


def test_without_a_file_all_is_default(tmp_path):
    assert load_settings(tmp_path / "none.toml", {}) == Settings()


def test_a_file_that_the_variable_names_must_be_there(tmp_path):
    path = tmp_path / "none.toml"
    assert faults(path, {"ORCHESTRATOR_CONFIG": str(path)}) == (
        "/none.toml: does not exist: correct or unset ORCHESTRATOR_CONFIG"
    )


def test_every_section_is_read(write):
    settings = load_settings(
        write("""
            [limits]
            check_in_interval = "10 m"
            inactivity_timeout = 900
            max_rejections = 5
            [tmux]
            socket = "mine"
            [daemon]
            workers = 2
            [environment]
            pass = ["PATH", "LC_*"]
            [templates]
            folders = ["/srv/templates", "~/templates"]
            [git]
            timeout = "2 m"
        """),
        {},
    )
    assert settings.limits == Limits(check_in_interval=600.0, inactivity_timeout=900.0, max_rejections=5)
    assert settings.tmux.socket == "mine"
    assert (settings.daemon.workers, settings.daemon.heartbeat_interval) == (2, 5.0)
    assert settings.environment.passed == ("PATH", "LC_*")
    assert settings.templates.folders == ("/srv/templates", str(Path.home() / "templates"))
    assert settings.git.timeout == 120.0


def test_every_limit_can_be_set(write):
    given = {field.name: "none" if field.default is None else field.default for field in fields(Limits)}
    text = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    assert load_settings(write(f"[limits]\n{text}"), {}).limits == Limits()


def test_what_a_task_may_use_is_written_and_shown_as_in_task_md(write):
    path = write('[limits]\nmax_task_tokens = "2M tokens"\nmax_task_cost = 20\n')
    environ = {"ORCHESTRATOR_LIMITS__MAX_TASK_TIME": "8 h"}
    limits = load_settings(path, environ).limits
    assert (limits.max_task_tokens, limits.max_task_cost, limits.max_task_time) == (2_000_000, 20.0, 28_800.0)
    reported = {each.key: each.value for each in explained(path, environ)}
    shown = {name: reported[f"limits.max_task_{name}"] for name in ("tokens", "cost", "time")}
    assert shown == {"tokens": "2000000 tokens", "cost": "$20", "time": "8 h"}
    again = "\n".join(f'max_task_{name} = "{value}"' for name, value in shown.items())
    assert load_settings(write(f"[limits]\n{again}"), {}).limits == limits
    usual = {
        each.key: each.value for each in explained(write(""), {}) if each.key.startswith("limits.max_task_")
    }
    assert list(usual.values()) == ["300000000 tokens", "none", "none"]
    assert load_settings(write('[limits]\nmax_task_tokens = "none"'), {}).limits.max_task_tokens is None


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("max_task_tokens = 0", "limits.max_task_tokens is 0: give a number of tokens above 0"),
        ("max_task_cost = true", "limits.max_task_cost is True: give US dollars above 0"),
        ('max_task_time = "long"', "limits.max_task_time is 'long': give a time above 0"),
    ],
)
def test_invalid_amount_is_reported(write, line, reported):
    assert reported in faults(write(f"[limits]\n{line}"))


@pytest.mark.parametrize("value", ["handoffs", "../x", "a\\u0000b", 3, True])
def test_invalid_folder_is_reported(write, value):
    reported = faults(
        write(f"daemon.archive = {value if isinstance(value, int) else repr(value)}".replace("True", "true"))
    )
    assert "daemon.archive" in reported
    assert "give an absolute path, or one that begins with ~/" in reported


def test_folder_in_the_home_is_read(write, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert load_settings(write('daemon.archive = "~/handoffs"'), {}).daemon.archive == "/home/me/handoffs"
    assert load_settings(write(""), {}).daemon.archive == ""


@pytest.mark.parametrize(
    ("text", "read"), [("", ""), ("7:00", "07:00"), (" 23:59 ", "23:59"), ("00:00", "00:00")]
)
def test_time_of_day_is_read(write, text, read):
    assert load_settings(write(f"observer.daily = {text!r}"), {}).observer.daily == read


@pytest.mark.parametrize("value", ["8", "24:00", "07:60", "7 am", "07:00:00", 7, True, ["07:00"]])
def test_invalid_time_of_day_is_reported(write, value):
    reported = faults(write(f"observer.daily = {value!r}".replace("True", "true")))
    assert "observer.daily" in reported
    assert 'give a local time like "07:00"' in reported


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", ""),
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://otel.example.org/", "https://otel.example.org/v1/traces"),
        ("http://[::1]:4318/api/otlp?team=a", "http://[::1]:4318/api/otlp?team=a"),
    ],
)
def test_url_of_a_collector_is_read(write, text, read):
    """Without a path it is the one that OpenTelemetry's rule names."""
    assert load_settings(write(f"observer.traces = {text!r}"), {}).observer.traces == read


@pytest.mark.parametrize(
    "value",
    [
        "localhost:4318",
        "ftp://h/x",
        "http://",
        "http://h:0",
        "http://h:x",
        "http://h/#x",
        "http://h h/",
        "http://\u00fc/",
        7,
    ],
)
def test_what_is_no_url_of_a_collector_is_reported(write, value):
    reported = faults(write(f"observer.traces = {value!r}"))
    assert "observer.traces" in reported
    assert "give a URL such as" in reported


def test_a_login_in_the_url_of_a_collector_is_not_shown(write):
    reported = faults(write("observer.traces = 'http://me:hunter2@h:4318'"))
    assert "OTEL_EXPORTER_OTLP_HEADERS" in reported
    assert "hunter2" not in reported


def test_file_of_metrics_is_a_path(write, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert load_settings(write('observer.metrics = "~/a.prom"'), {}).observer.metrics == "/home/me/a.prom"
    assert "observer.metrics" in faults(write('observer.metrics = "a.prom"'))


def test_permissions_are_read_and_shown_as_they_are_written(write):
    path = write("""
        [permissions]
        rules = ["allow run uv *", "deny fetch"]
        otherwise = "deny"
        wait = "5 m"
    """)
    rules = (
        PermissionRule(PermissionDecision.ALLOW, Act.RUN, "uv *", "settings"),
        PermissionRule(PermissionDecision.DENY, Act.FETCH, "", "settings"),
    )
    assert load_settings(path, {}).permissions == Policy(rules, PermissionDecision.DENY, 300.0)
    reported = {each.key: each.value for each in explained(path, {})}
    assert reported["permissions.rules"] == '["allow run uv *", "deny fetch"]'
    assert (reported["permissions.otherwise"], reported["permissions.wait"]) == ("deny", "5 m")


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ('rules = "deny fetch"', "permissions.rules is 'deny fetch': give a list like"),
        ('rules = ["deny"]', "permissions.rules has the rule 'deny': write allow, deny, ask, then"),
        (f"rules = {['deny fetch'] * 201}", "permissions.rules has 201 rules: give at most 200"),
        ('otherwise = "never"', "permissions.otherwise is 'never': give one of allow, deny, ask"),
        ("otherwise = true", "permissions.otherwise is True: give one of allow, deny, ask"),
        ('wait = "soon"', "permissions.wait is 'soon': give a time above 0"),
    ],
)
def test_invalid_permission_rule_is_reported(write, line, reported):
    assert reported in faults(write(f"[permissions]\n{line}"))


@pytest.mark.parametrize("value", ["0", "-1", '"ten"', '"10 q"', "nan", "true", "[1]", "1979-05-27", "{}"])
def test_a_bad_time_names_file_line_key_and_what_is_allowed(write, value):
    reported = faults(write(f"# settings\n[limits]\ncheck_in_interval = {value}\n"))
    assert reported.startswith("/config.toml, line 3: limits.check_in_interval is ")
    assert reported.endswith(
        'give a time above 0 in seconds, or as text like "90 s", "10 m", "4 h" '
        "(units: ms, s, m, h, d), at most 366 days"
    )


@pytest.mark.parametrize("value", ["0", "-1", "1.5", '"3"', "true", "1001"])
def test_a_bad_count_names_its_bounds(write, value):
    reported = faults(write(f"limits.max_rejections = {value}"))
    assert reported.startswith("/config.toml, line 1: limits.max_rejections is ")
    assert reported.endswith("give a whole number from 1 to 1000")


def test_unknown_key_is_reported_with_the_nearest_one(write):
    assert faults(write("[limits]\n\n  check-in-interval = 600")) == (
        "/config.toml, line 3: [limits] has no key 'check-in-interval': did you mean check_in_interval?"
    )
    assert (
        faults(write("[git]\nqqq = 1"))
        == "/config.toml, line 2: [git] has no key 'qqq': there are kept_refs, timeout"
    )


def test_former_name_of_a_key_is_read_and_shown(write):
    path = write("[limits]\nsilence = '7m'\n")
    environ = {"ORCHESTRATOR_LIMITS__RUNS_AT_ONCE": "9"}
    limits = load_settings(path, environ).limits
    assert (limits.inactivity_timeout, limits.max_concurrent_runs) == (420.0, 9)
    where = {each.key: each.where for each in explained(path, environ)}
    assert where["limits.inactivity_timeout"] == f"{path}:2 as silence"
    assert where["limits.max_concurrent_runs"].endswith(" as runs_at_once")


def test_former_keys_of_every_section_are_read(write):
    """`daemon.alarm` and the like: a settings file of an earlier version sets what it set then."""
    text = "".join(
        f"[{section}]\n" + "".join(f'{key} = "7 m"\n' for of, key in FORMER_KEYS if of == section)
        for section in ("daemon", "git", "notify")
    )
    settings = load_settings(write(text), {})
    assert (settings.daemon.heartbeat_timeout, settings.daemon.passivate_after) == (420.0, 420.0)
    assert (settings.git.timeout, settings.notify.timeout) == (420.0, 420.0)
    assert (settings.notify.retry_pause, settings.notify.max_retry_pause) == (420.0, 420.0)


@pytest.mark.parametrize(("text", "value"), [("3", 3), ('"none"', None)])
def test_a_cap_is_a_number_or_none(write, text, value):
    assert load_settings(write(f"[limits]\nmax_local_runs = {text}\n"), {}).limits.max_local_runs == value
    environ = {"ORCHESTRATOR_LIMITS__MAX_LOCAL_RUNS": text.strip('"')}
    assert load_settings(write(""), environ).limits.max_local_runs == value


@pytest.mark.parametrize("text", ["0", "true", '"many"', "1001"])
def test_what_is_no_cap_is_a_fault(write, text):
    assert "max_local_runs" in faults(write(f"[limits]\nmax_local_runs = {text}\n"))


def test_a_key_set_by_both_its_names_is_a_fault(write):
    assert "former name of limits.max_looks" in faults(write("[limits]\nlooks = 1\nmax_looks = 2\n"))


def test_every_former_key_stands_for_one_of_today():
    today = {(each.section, each.key) for each in all_keys()}
    assert all((section, new) in today for (section, _), new in FORMER_KEYS.items())
    assert not today & set(FORMER_KEYS)


def test_unknown_section_is_reported_with_the_nearest_one(write):
    assert faults(write("[limit]\nx = 1")) == "/config.toml, line 1: no section [limit]: did you mean limits?"
    assert faults(write("[host]")) == "/config.toml, line 1: no section [host]: did you mean hosts?"
    assert faults(write("limits = 3")) == "/config.toml, line 1: limits must be a section: [limits]"
    assert faults(write("[[limits]]")) == "/config.toml: limits must be a section: [limits]"


def test_all_faults_of_settings_are_reported_at_once(write):
    reported = faults(write('[limits]\nmax_rejections = 0\nchekin = 3\n[tmux]\nsocket = "a b"\n'))
    assert [part.split(":")[0] for part in reported.split("; ")] == [
        f"/config.toml, line {n}" for n in (2, 3, 5)
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("[limits]\nx = ", 2), ("[limits]\na = 1\na = 2", 3), (b"[limits]\n\n# \xff", 3), ("\0", 1)],
)
def test_invalid_toml_is_reported_with_its_line(write, text, line):
    assert f", line {line}: is not " in faults(write(text))


def test_deep_nesting_and_utf16_are_survived(write):
    assert "nested" in faults(write("[limits]\ncheck_in_interval = " + "[" * 100_000))
    assert "is not UTF-8" in faults(write("[limits]".encode("utf-16")))


def test_windows_line_ends_and_a_byte_order_mark_are_read(write):
    assert (
        load_settings(
            write(b"\xef\xbb\xbf[limits]\r\ncheck_in_interval = 60\r\n"), {}
        ).limits.check_in_interval
        == 60.0
    )


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_may_write_is_refused(write, mode):
    assert "/config.toml: can be written by others: chmod go-w" in faults(write("", mode))


def test_another_users_file_is_refused(write, monkeypatch):
    path = write("")
    os_stat = os.fstat
    monkeypatch.setattr(
        os, "fstat", lambda handle: os.stat_result((*os_stat(handle)[:4], 4711, *os_stat(handle)[5:]))
    )
    assert "belongs to user 4711" in faults(path)


def test_what_is_no_file_is_refused_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        assert "is not a plain file" in faults(path)


def test_a_huge_file_is_refused(write):
    assert "is larger than" in faults(write(b"#" * 2_000_000))


def test_variables_override_the_file(write):
    path = write('[limits]\ncheck_in_interval = 60\ninactivity_timeout = 90\n[environment]\npass = ["A"]\n')
    settings = load_settings(
        path,
        {
            "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL": "2 m",
            "ORCHESTRATOR_LIMITS__MAX_REJECTIONS": "7",
            "ORCHESTRATOR_TMUX__SOCKET": "mine",
            "ORCHESTRATOR_ENVIRONMENT__PASS": "PATH, LC_*",
            "ORCHESTRATOR_TEMPLATES__FOLDERS": '["/a,b"]',
            "ORCHESTRATOR_HOME": "/elsewhere",
            "ORCHESTRATOR_TASK": "x",
            "PATH": "/bin",
        },
    )
    assert settings.limits == Limits(check_in_interval=120.0, inactivity_timeout=90.0, max_rejections=7)
    assert settings.tmux.socket == "mine"
    assert settings.environment.passed == ("PATH", "LC_*")
    assert settings.templates.folders == ("/a,b",)


@pytest.mark.parametrize(
    ("variable", "value", "reported"),
    [
        (
            "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL",
            "ten",
            "limits.check_in_interval is 'ten': give a time above 0",
        ),
        (
            "ORCHESTRATOR_LIMITS__CHEK_IN_INTERVAL",
            "1",
            "[limits] has no key 'chek_in_interval': did you mean check_in_interval?",
        ),
        ("ORCHESTRATOR_LIMTS__X", "1", "no section [limts]: did you mean limits?"),
        ("ORCHESTRATOR_DAEMON__WORKERS", "0", "daemon.workers is 0: give a whole number from 1 to 64"),
        ("ORCHESTRATOR_ENVIRONMENT__PASS", "[1", "environment.pass is '[1': give a list of names"),
        ("ORCHESTRATOR_ENVIRONMENT__PASS", "A B", "environment.pass holds 'A B': give names of variables"),
    ],
)
def test_invalid_variable_is_reported_by_name(tmp_path, variable, value, reported):
    assert faults(tmp_path / "none.toml", {variable: value}).startswith(
        f"environment: {variable}: {reported}"
    )


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_*", "TMUX", "TMUX_PANE", "ORCHESTRATOR_HOME", "DYLD_X"])
def test_some_variables_can_never_be_passed(write, name):
    assert "never pass" in faults(write(f'[environment]\npass = ["{name}"]'))


@pytest.mark.parametrize("folder", ["templates", "", "~other/x", "./x"])
def test_template_folders_are_absolute(write, folder):
    assert "give absolute paths" in faults(write(f'[templates]\nfolders = ["{folder}"]'))


def test_each_setting_shows_its_source(write):
    path = write("[limits]\ninactivity_timeout = 1800\n")
    reported = {each.key: each for each in explained(path, {"ORCHESTRATOR_GIT__TIMEOUT": "90"})}
    assert reported["limits.check_in_interval"] == Explained("limits.check_in_interval", "10 m", "default")
    assert reported["limits.inactivity_timeout"] == Explained(
        "limits.inactivity_timeout", "30 m", f"{path}:2"
    )
    assert reported["git.timeout"] == Explained("git.timeout", "90 s", "ORCHESTRATOR_GIT__TIMEOUT")
    assert reported["templates.folders"].value == "[]"
    assert "environment.pass" in reported
    keys = sum(
        len(fields(getattr(Settings(), each.name))) for each in fields(Settings) if each.name not in TABLES
    )
    assert len(reported) == keys + len(shipped_prices())


def test_prices_are_shown_with_day_and_source(write):
    path = write(
        '[prices."gpt-5.5"]\ninput = 7\noutput = 8.5\ndate = 2026-11-20\n'
        '[prices.own]\nmodels = ["Own-*", "ours"]\ninput = 1\noutput = 2\ncache_read = 0.5\ndate = "2026-11-21"\n'
    )
    first, second = load_settings(path, {}).prices
    assert first == Price("gpt-5.5", ("gpt-5.5",), 7.0, 8.5, 7.0, 7.0, 7.0, "2026-11-20")
    assert second == Price("own", ("own-*", "ours"), 1.0, 2.0, 0.5, 1.0, 1.0, "2026-11-21")
    reported = {each.key: each for each in explained(path, {})}
    assert reported["prices.gpt-5.5"].where == f"{path}:1"
    assert reported["prices.own"].where == f"{path}:5"
    assert reported["prices.own"].value == (
        "$1 in, $2 out, cached $0.5, written $1 or $1 for an hour; own-*, ours; of 2026-11-21"
    )
    assert reported["prices.claude-opus-5-5"].where == "default"
    assert sum(key.startswith("prices.") for key in reported) == len(shipped_prices()) + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("input = 1\noutput = 2", "has no date: give the day that the price is from"),
        ('output = 2\ndate = "2026-11-20"', "has no input: give US dollars for a million tokens"),
        ('input = -1\noutput = 2\ndate = "2026-11-20"', "input is -1: give US dollars"),
        ('input = nan\noutput = 2\ndate = "2026-11-20"', "input is nan: give US dollars"),
        ('input = true\noutput = 2\ndate = "2026-11-20"', "input is True: give US dollars"),
        ('input = 1\noutput = 2\ndate = "yesterday"', "date is 'yesterday': give the day"),
        ('input = 1\noutput = 2\ndate = "2026-11-20"\nmodels = []', "models is []: give a list of names"),
        ('input = 1\noutput = 2\ndate = "2026-11-20"\nmodels = [""]', "models holds something that is not"),
        ('input = 1\noutputs = 2\ndate = "2026-11-20"', "there is no key 'outputs'"),
    ],
)
def test_a_price_that_does_not_read_is_refused(write, text, reason):
    assert reason in faults(write(f"[prices.own]\n{text}\n"))


@pytest.mark.parametrize(("value", "restart"), [("true", True), ("False", False), (" false ", False)])
def test_yes_and_no_are_read_from_file_and_variable(write, value, restart):
    variables = {"ORCHESTRATOR_DAEMON__RESTART": value}
    assert load_settings(write(""), variables).daemon.restart is restart
    assert load_settings(write(f"[daemon]\nrestart = {value.strip().lower()}"), {}).daemon.restart is restart
    shown = {each.key: each.value for each in explained(write(""), variables)}
    assert (shown["daemon.restart"], shown["daemon.heartbeat_timeout"]) == (str(restart).lower(), "2 m")


@pytest.mark.parametrize("value", ["1", '"true"', '"no"', "[]"])
def test_what_is_neither_yes_nor_no_is_refused(write, value):
    assert faults(write(f"[daemon]\nrestart = {value}")).endswith(": give true or false")


@by_root
def test_link_of_another_user_is_refused(write, tmp_path):
    """Even if it leads to a file of ours."""
    write("[limits]\n")
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "config.toml")
    assert load_settings(link, {}) == load_settings(tmp_path / "config.toml", {})
    give_away(link)
    with pytest.raises(BadFile, match="is a symbolic link of user 12345"):
        load_settings(link, {})


def test_sections_are_those_of_the_model():
    made = {each.name: each.default_factory for each in fields(Settings) if each.name not in TABLES}
    assert made == {section: class_of(section) for section in SECTIONS}
    assert list(made) == list(SECTIONS)


def test_one_section_is_read_without_the_others(write):
    """A command that needs one asks nothing of the others, and the daemon says what is wrong with them."""
    path = write("[git]\ntimeout = 5\n[limits]\nmax_crashes = -1\n")
    assert load_section(path, {}, "git") == replace(Settings().git, timeout=5.0)
    assert load_section(path, {"ORCHESTRATOR_TMUX__SOCKET": "mine"}, "tmux").socket == "mine"
    with pytest.raises(BadFile):
        load_section(path, {}, "limits")
    with pytest.raises(BadFile):
        load_settings(path, {})


# Profiles -----------------------------------------------------------------------------------------


def test_a_profile_goes_before_its_section(write):
    path = write('[containers]\nmemory = "1g"\nnetwork = "none"\n\n[containers.online]\nnetwork = "agents"\n')
    plain, online = (load_section(path, {}, "containers", profile) for profile in ("", "online"))
    assert (plain.memory, plain.network) == ("1g", "none")
    assert (online.memory, online.network) == ("1g", "agents")
    assert load_settings(path, {}).containers == plain
    (shown,) = [each for each in explained(path, {}) if each.key.startswith("containers.online")]
    assert (shown.key, shown.value) == ("containers.online.network", "agents")
    assert shown.where.endswith(":6")


def test_a_profile_without_its_section_is_one_all_the_same(write):
    path = write("[slurm.long]\ncores = 4\n")
    assert load_section(path, {}, "slurm", "long").cores == 4


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("memory = 1", "line 2: containers.online.memory"),
        ('netwerk = "x"', "line 2: [containers.online] has no key 'netwerk'"),
    ],
)
def test_a_fault_in_a_profile_is_reported_with_its_line(write, line, reported):
    assert reported in faults(write(f"[containers.online]\n{line}\n"))


def test_a_profile_that_is_missing_is_named_with_the_nearest(write):
    with pytest.raises(BadFile, match=r"has no \[containers.onlin\].*online"):
        load_section(write("[containers.online]\n"), {}, "containers", "onlin")


def test_other_sections_have_no_profiles(write):
    assert "daemon.x" in faults(write("[daemon.x]\nworkers = 2\n")).replace(
        "[daemon] has no key 'x'", "daemon.x"
    )
