import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from orchestrator import places
from orchestrator.model.errors import BadName, Refused


def test_the_state_folder_is_the_one_that_the_variable_names(tmp_path):
    assert places.state_folder({"ORCHESTRATOR_HOME": f"{tmp_path}/pm/"}) == f"{tmp_path}/pm"


def test_without_the_variable_it_is_the_platforms_own():
    assert places.state_folder({}).endswith("/agent-orchestrator")


@pytest.mark.parametrize("home", ["/home/me", "/home/me/", "/", "", "relative", None])
@pytest.mark.parametrize("given", [None, "", "relative", "/own", "/own/"])
def test_the_short_way_leads_where_platformdirs_does(monkeypatch, home, given):
    for variable, value in (("HOME", home), ("XDG_STATE_HOME", given), ("XDG_CONFIG_HOME", given)):
        monkeypatch.delenv(variable, raising=False)
        if value is not None:
            monkeypatch.setenv(variable, value)
    assert places.state_folder({}) == platformdirs.user_state_dir("agent-orchestrator", appauthor=False)
    config = platformdirs.user_config_dir("agent-orchestrator", appauthor=False)
    assert places.config_file({}) == f"{config}/config.toml"


@pytest.mark.parametrize(
    ("variable", "asked"),
    [("ORCHESTRATOR_HOME", places.state_folder), ("ORCHESTRATOR_CONFIG", places.config_file)],
)
def test_a_relative_path_is_refused(variable, asked):
    with pytest.raises(Refused, match=f"{variable} is 'pm': give an absolute path"):
        asked({variable: "pm"})


def test_templates_lie_beside_the_settings_file():
    environ = {"ORCHESTRATOR_CONFIG": "/etc/orchestrator/config.toml"}
    assert places.templates_folder(environ) == "/etc/orchestrator/templates"


def test_the_state_folder_is_made_for_its_user_alone(tmp_path):
    folder = tmp_path / "a" / "pm"
    places.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    places.make_state_folder(str(folder))


def test_one_that_was_open_to_others_is_closed(tmp_path):
    folder = tmp_path / "pm"
    folder.mkdir()
    folder.chmod(0o755)
    places.make_state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_naming_a_state_folder_makes_nothing(tmp_path):
    folder = tmp_path / "pm"
    assert places.check_state_folder(places.state_folder({"ORCHESTRATOR_HOME": str(folder)})) is False
    assert not folder.exists()


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "pm").symlink_to(tmp_path / "real")
    with pytest.raises(Refused, match="symbolic link"):
        places.make_state_folder(str(tmp_path / "pm"))


def test_a_file_is_refused(tmp_path):
    (tmp_path / "pm").touch()
    with pytest.raises(Refused, match="not a folder"):
        places.make_state_folder(str(tmp_path / "pm"))


def test_another_users_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(Refused, match="belongs to user"):
        places.check_state_folder(str(tmp_path))


def test_a_path_goes_out_as_it_came_in():
    assert places.task_home("/pm/", "demo-12345678") == "/pm/tasks/demo-12345678"
    assert places.task_home(Path("/pm"), "demo-12345678") == Path("/pm/tasks/demo-12345678")
    assert places.run_order(places.run_home("/h", "r1")) == "/h/runs/r1/order.md"
    assert places.artifacts(Path("/t"), "code") == Path("/t/artifacts/code")
    assert places.artifacts("/t") == "/t/artifacts"
    assert places.scratchpad("/t", "dev-2") == "/t/scratchpad/dev-2"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-R", "a\nb", "a\0b", "/etc"])
def test_no_name_leads_out(name):
    with pytest.raises(BadName):
        places.task_home("/pm", name)
    with pytest.raises(BadName):
        places.task_folder(Path("/project"), name)


def test_it_imports_next_to_nothing():
    asked = "import sys; b = set(sys.modules); import orchestrator.places; print(*(set(sys.modules) - b))"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(places.__file__).parents[1])},
    )
    assert set(done.stdout.split()) <= {"__future__", "orchestrator", "orchestrator.places"}
