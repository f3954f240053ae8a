import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from orchestrator import layout, own_files
from orchestrator.model.errors import BadName, Refused


def test_the_state_folder_is_the_one_that_the_variable_names(tmp_path):
    assert layout.state_folder({"ORCHESTRATOR_HOME": f"{tmp_path}/pm/"}) == f"{tmp_path}/pm"


def test_without_the_variable_it_is_the_platforms_own():
    assert layout.state_folder({}).endswith("/agent-orchestrator")


@pytest.mark.parametrize("home", ["/home/me", "/home/me/", "/", "", "relative", None])
@pytest.mark.parametrize("given", [None, "", "relative", "/own", "/own/"])
def test_the_short_way_leads_where_platformdirs_does(monkeypatch, home, given):
    for variable, value in (("HOME", home), ("XDG_STATE_HOME", given), ("XDG_CONFIG_HOME", given)):
        monkeypatch.delenv(variable, raising=False)
        if value is not None:
            monkeypatch.setenv(variable, value)
    assert layout.state_folder({}) == platformdirs.user_state_dir("agent-orchestrator", appauthor=False)
    config = platformdirs.user_config_dir("agent-orchestrator", appauthor=False)
    assert layout.config_file({}) == f"{config}/config.toml"


@pytest.mark.parametrize(
    ("variable", "asked"),
    [("ORCHESTRATOR_HOME", layout.state_folder), ("ORCHESTRATOR_CONFIG", layout.config_file)],
)
def test_a_relative_path_is_refused(variable, asked):
    with pytest.raises(Refused, match=f"{variable} is 'pm': give an absolute path"):
        asked({variable: "pm"})


def test_templates_lie_beside_the_settings_file():
    environ = {"ORCHESTRATOR_CONFIG": "/etc/orchestrator/config.toml"}
    assert layout.templates_folder(environ) == "/etc/orchestrator/templates"


def test_the_state_folder_is_made_for_its_user_alone(tmp_path):
    folder = tmp_path / "a" / "pm"
    own_files.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    own_files.make_state_folder(str(folder))


def test_one_that_was_open_to_others_is_closed(tmp_path):
    folder = tmp_path / "pm"
    folder.mkdir()
    folder.chmod(0o755)
    own_files.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_naming_a_state_folder_makes_nothing(tmp_path):
    folder = tmp_path / "pm"
    assert own_files.check_state_folder(layout.state_folder({"ORCHESTRATOR_HOME": str(folder)})) is False
    assert not folder.exists()


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "pm").symlink_to(tmp_path / "real")
    with pytest.raises(Refused, match="symbolic link"):
        own_files.make_state_folder(str(tmp_path / "pm"))


def test_a_file_is_refused(tmp_path):
    (tmp_path / "pm").touch()
    with pytest.raises(Refused, match="not a folder"):
        own_files.make_state_folder(str(tmp_path / "pm"))


def test_another_users_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(Refused, match="belongs to user"):
        own_files.check_state_folder(str(tmp_path))


def test_a_path_goes_out_as_it_came_in():
    assert layout.task_home("/pm/", "demo-12345678") == "/pm/tasks/demo-12345678"
    assert layout.task_home(Path("/pm"), "demo-12345678") == Path("/pm/tasks/demo-12345678")
    assert layout.run_order(layout.run_home("/h", "r1")) == "/h/runs/r1/order.md"
    assert layout.artifacts(Path("/t"), "code") == Path("/t/artifacts/code")
    assert layout.artifacts("/t") == "/t/artifacts"
    assert layout.scratchpad("/t", "dev-2") == "/t/scratchpad/dev-2"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-R", "a\nb", "a\0b", "/etc"])
def test_no_name_leads_out(name):
    with pytest.raises(BadName):
        layout.task_home("/pm", name)
    with pytest.raises(BadName):
        layout.task_folder(Path("/project"), name)


@pytest.mark.parametrize("module", ["layout", "own_files"])
def test_it_imports_next_to_nothing(module):
    asked = f"import sys; b = set(sys.modules); import orchestrator.{module}; print(*(set(sys.modules) - b))"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(layout.__file__).parents[2])},
    )
    more = {name for name in done.stdout.split() if not name.startswith("orchestrator.layout")}
    assert more <= {"__future__", "orchestrator", f"orchestrator.{module}"}


# Trust --------------------------------------------------------------------------------------------


def found(path, **other):
    """Return what `lstat` says of a path, with some of it replaced."""
    true = os.lstat(path)
    return os.stat_result(
        [other.get("mode", true.st_mode), *true[1:4], other.get("uid", true.st_uid), *true[5:]]
    )


def test_what_is_ours_alone_is_believed(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    assert own_files.distrust("a", found(tmp_path / "a")) == ""
    assert own_files.distrust("a", found(tmp_path)) == ""
    assert own_files.own_bytes(str(tmp_path / "a")) == b"x"


@pytest.mark.parametrize("folder", [True, False])
def test_foreign_folder_is_refused_with_a_remedy(tmp_path, folder):
    """What belongs to another is refused and the message says what to do."""
    (tmp_path / "a").touch()
    other = found(tmp_path if folder else tmp_path / "a", uid=os.getuid() + 7)
    reported = own_files.distrust("/pm/a", other)
    assert f"/pm/a belongs to user {os.getuid() + 7}, not to you ({os.getuid()})" in reported
    assert "chown" in reported


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_folder_writable_by_others_is_refused_with_a_remedy(tmp_path, mode):
    """What others can write is refused and the message says what to do."""
    path = tmp_path / "a"
    path.touch()
    path.chmod(mode)
    assert "`chmod go-w " in own_files.distrust(str(path), os.lstat(path))
    with pytest.raises(own_files.Untrusted, match="can be written by others"):
        own_files.own_bytes(str(path))
    tmp_path.chmod(0o700 | mode & 0o022)
    with pytest.raises(own_files.Untrusted, match="can be written by others"):
        own_files.check_own_folder(str(tmp_path))


def test_a_link_is_refused_whatever_it_points_at(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "way").symlink_to(tmp_path)
    with pytest.raises(own_files.Untrusted, match="is a symbolic link"):
        own_files.own_bytes(str(tmp_path / "link"))
    with pytest.raises(own_files.Untrusted, match="is a symbolic link"):
        own_files.check_own_folder(str(tmp_path / "way"))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(own_files.Untrusted, match="is not a plain file"):
        own_files.own_bytes(str(tmp_path / "pipe"))
    with pytest.raises(own_files.Untrusted, match="is not a folder"):
        own_files.check_own_folder(str(tmp_path / "pipe"))


def test_what_is_not_there_is_no_matter_of_trust(tmp_path):
    with pytest.raises(FileNotFoundError):
        own_files.own_bytes(str(tmp_path / "a"))
    with pytest.raises(FileNotFoundError):
        own_files.check_own_folder(str(tmp_path / "a"))


def test_state_folder_open_to_others_is_refused_until_checked(tmp_path):
    """A state folder that others could fill is refused until it is looked at."""
    folder = tmp_path / "pm"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "planted").touch()
    with pytest.raises(Refused, match="can be written by others: look at it, then `chmod go-w"):
        own_files.make_state_folder(str(folder))
    with pytest.raises(Refused, match="can be written by others"):
        own_files.check_state_folder(str(folder))
    folder.chmod(0o755)
    own_files.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_an_empty_one_is_closed(tmp_path):
    folder = tmp_path / "pm"
    folder.mkdir()
    folder.chmod(0o777)
    own_files.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077, 0o777])
def test_no_umask_opens_or_shuts_the_state_folder(tmp_path, umask):
    before = os.umask(umask)
    try:
        own_files.make_state_folder(str(tmp_path / "pm"))
    finally:
        os.umask(before)
    assert (tmp_path / "pm").stat().st_mode & 0o777 == 0o700
