from pathlib import Path

import pytest

from orchestrator.formats.channels import quiet_minutes
from orchestrator.formats.settings import load_settings
from orchestrator.formats.settings_explained import explained
from orchestrator.model.errors import BadFile
from orchestrator.model.notification import Channel, NotificationRule
from orchestrator.model.notify_settings import NotifySettings

SECRET = "123456:AAsecretTOKEN"


@pytest.fixture
def write(tmp_path):
    def put(text):
        path = tmp_path / "config.toml"
        path.write_text(text)
        path.chmod(0o600)
        return path

    return put


def refused(path: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(BadFile) as error:
        load_settings(path, environ or {})
    return str(error.value).replace(str(path), "config.toml")


def test_all_of_notify_is_read(write):
    path = write(f"""
        [notify]
        channels = ["tmux://", "tgram://{SECRET}/42 name=phone rules=question,daemon", "json://a", "json://b"]
        rules = ["question", "complete", "question"]
        urgent = ["daemon"]
        quiet = "22:00 - 7:30"
        per_hour = 6
        digest = "5 m"
    """)
    notify = load_settings(path, {}).notify
    assert [channel.name for channel in notify.channels] == ["tmux", "phone", "json", "json-2"]
    assert notify.channels[1] == Channel(
        "phone", f"tgram://{SECRET}/42", (NotificationRule.QUESTION, NotificationRule.DAEMON)
    )
    assert notify.rules == (NotificationRule.QUESTION, NotificationRule.COMPLETE)
    assert (notify.urgent, notify.quiet, notify.per_hour, notify.digest) == (
        (NotificationRule.DAEMON,),
        "22:00-07:30",
        6,
        300,
    )
    assert quiet_minutes(notify.quiet) == (1320, 450)
    assert load_settings(write(""), {}).notify == NotifySettings()


def test_channels_from_the_environment_are_json_or_commas(write):
    for said in ('["json://a name=x rules=question,daemon", "json://b"]', "json://a name=x, json://b"):
        notify = load_settings(write(""), {"ORCHESTRATOR_NOTIFY__CHANNELS": said}).notify
        assert [(each.name, each.url) for each in notify.channels] == [
            ("x", "json://a"),
            ("json", "json://b"),
        ]


def test_what_is_shown_of_a_channel_holds_nothing_of_its_address(write):
    path = write(f'notify.channels = ["tgram://{SECRET}/42 name=phone rules=question"]')
    shown = {each.key: each.value for each in explained(path, {})}
    assert shown["notify.channels"] == '["tgram://… name=phone rules=question"]'
    assert SECRET not in repr(load_settings(path, {}))


@pytest.mark.parametrize(
    ("line", "notified"),
    [
        (f'channels = "{SECRET}"', "is no list of texts"),
        (f'channels = ["json://a", "{SECRET}"]', "holds as number 2 what is no address"),
        (
            f'channels = ["json://{SECRET} nmae=x"]',
            "holds as number 1 (json://…) an option that does not read",
        ),
        (f'channels = ["json://{SECRET} name=X"]', "holds as number 1 (json://…) name= that does not read"),
        (f'channels = ["json://{SECRET} name=x", "json://b name=x"]', "holds two channels named x"),
        (
            'channels = ["json://a rules=all"]',
            "holds 'all': there are complete, question, blocked, limited, daemon",
        ),
        ('rules = ["ask"]', "holds 'ask': there are complete, question"),
        ('rules = "question"', "give a list of complete, question"),
        ('quiet = "22:00"', 'give two different local times like "22:00-07:00"'),
        ('quiet = "07:00-07:00"', "give two different local times"),
        ('quiet = "24:00-07:00"', "give two different local times"),
        ("quiet = 22", "give two different local times"),
        ("per_hour = 0", "give a whole number from 1 to 1000"),
    ],
)
def test_invalid_channel_is_reported_without_secrets(write, line, notified):
    said = refused(write(f"[notify]\n{line}\n"))
    assert said.startswith(f"config.toml, line 2: notify.{line.split()[0]} ")
    assert notified in said
    assert "secret" not in said
    key, _, value = line.partition(" = ")
    if key == "channels" and value.startswith('["json'):
        said = refused(write(""), {"ORCHESTRATOR_NOTIFY__CHANNELS": value})
        assert said.startswith("environment: ORCHESTRATOR_NOTIFY__CHANNELS: ")
        assert notified in said
        assert "secret" not in said


def test_at_most_fifty_channels(write):
    many = ", ".join(f'"json://{n}"' for n in range(51))
    assert "has 51 channels: give at most 50" in refused(write(f"[notify]\nchannels = [{many}]"))
