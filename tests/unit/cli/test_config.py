import json


def test_each_setting_has_a_value_and_a_source(house, task, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL", "5m")
    said = task("config")
    assert said.code == 0
    assert "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL" in said.out
    assert f"settings file: {house.root}/config/agent-orchestrator/config.toml (does not exist)" in said.out
    settings = {each["key"]: each for each in task("config", "--json").json["settings"]}
    assert settings["limits.check_in_interval"]["source"] == "ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL"
    assert settings["tmux.socket"] == {
        "key": "tmux.socket",
        "value": "agent-orchestrator",
        "source": "default",
    }


def test_invalid_settings_are_reported_with_their_line(house, task):
    folder = house.root / "config" / "agent-orchestrator"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[tmux]\nsokcet = 'x'\n")
    said = task("config")
    assert said.code == 2
    assert f"{folder}/config.toml, line 2: " in said.err


def test_config_shows_lines_and_long_values_in_json(house, task):
    folder = house.root / "config" / "agent-orchestrator"
    folder.mkdir(parents=True)
    names = [f"VARIABLE_{number}" for number in range(20)]
    (folder / "config.toml").write_text(
        f"[limits]\ncheck_in_interval = '5m'\n[environment]\npass = {names}\n"
    )
    said = task("config")
    assert "config.toml:2" in said.out
    assert "config.toml:4" in said.out
    assert f"settings file: {folder}/config.toml\n" in said.out
    assert "`task config --json`" in said.out
    settings = {each["key"]: each for each in task("config", "--json").json["settings"]}
    assert json.loads(settings["environment.pass"]["value"]) == names
    assert settings["limits.check_in_interval"]["source"] == f"{folder}/config.toml:2"
