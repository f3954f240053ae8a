"""`[hosts.NAME]`: what reads, and what is wrong with the line where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.formats.location import read_box, render_box
from orchestrator.formats.settings import load_settings
from orchestrator.formats.settings_explained import Explained, explained
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.pools import Pool, pool_of

WHOLE = """\
[hosts.farm]
boxes = ["me@alpha", "ssh://me@beta:2222", "[::1]"]
cap = 2

[hosts.attic]
boxes = ["old"]
"""
FARM = Pool("farm", ("me@alpha", "me@beta:2222", "[::1]"), 2)


def settings(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_each_table_is_a_pool(tmp_path):
    pools = load_settings(settings(tmp_path, WHOLE), {}).hosts
    assert pools == (FARM, Pool("attic", ("old",), 4))
    assert pool_of(pools, "me@beta:2222") == FARM
    assert pool_of(pools, "me@beta") is None


def test_pools_are_shown_with_lines_and_default_cap(tmp_path):
    path = settings(tmp_path, WHOLE)
    shown = [each for each in explained(path, {}) if each.key.startswith("hosts.")]
    assert shown == [
        Explained("hosts.farm.boxes", '["me@alpha", "ssh://me@beta:2222", "[::1]"]', f"{path}:2"),
        Explained("hosts.farm.cap", "2", f"{path}:3"),
        Explained("hosts.attic.boxes", '["old"]', f"{path}:6"),
        Explained("hosts.attic.cap", "4", "default"),
    ]


WRONG = {
    "[hosts.farm]": "1: [hosts.farm] has no boxes: give a list of boxes like",
    '[hosts.farm]\nboxes = "alpha"': "2: [hosts.farm] boxes is 'alpha': give a list of boxes like",
    "[hosts.farm]\nboxes = []": "2: [hosts.farm] boxes is []: give a list",
    "[hosts.farm]\nboxes = [1]": "2: [hosts.farm] boxes is [1]: give a list",
    '[hosts.farm]\nboxes = ["a:/srv"]': "2: [hosts.farm] boxes 'a:/srv' is no box: write user@host or",
    '[hosts.farm]\nboxes = ["-oX"]': "2: [hosts.farm] boxes '-oX' is no box: write user@host or",
    '[hosts.farm]\nboxes = ["ssh://b:22", "ssh://b:022"]': "2: [hosts.farm] boxes holds b:22 twice",
    f"[hosts.farm]\nboxes = {[f'b{n}' for n in range(101)]}": "2: [hosts.farm] boxes has 101 boxes: give at most 100",
    '[hosts.farm]\nboxes = ["a"]\ncap = 0': "3: [hosts.farm] cap is 0: give a whole number from 1 to 1000",
    '[hosts.farm]\nboxes = ["a"]\ncap = true': "3: [hosts.farm] cap is True: give a whole number",
    '[hosts.farm]\nboxes = ["a"]\nkap = 1': "3: [hosts.farm] there is no key 'kap': did you mean cap?",
    '[hosts."A B"]\nboxes = ["a"]': "'A B' is no pool name: use a-z",
    '[hosts.a]\nboxes = ["me@a"]': "1: [hosts.a] has the same name as the box me@a: give the pool another name",
    '[hosts.f]\nboxes = ["g"]\n[hosts.g]\nboxes = ["h"]': "3: [hosts.g] has the same name as the box g",
    '[hosts.f]\nboxes = ["a"]\n[hosts.g]\nboxes = ["a"]': "4: [hosts.g] boxes holds a, which is in the pool f",
    "hosts = 3": "1: hosts holds tables only: [hosts.NAME]",
}


@pytest.mark.parametrize("text", WRONG)
def test_fault_is_reported_with_its_line(tmp_path, text):
    with pytest.raises(BadFile) as refused:
        load_settings(settings(tmp_path, text + "\n"), {})
    assert WRONG[text] in str(refused.value)


def test_a_variable_defines_none(tmp_path):
    with pytest.raises(BadFile, match=r"no section \[hosts\]"):
        load_settings(settings(tmp_path, ""), {"ORCHESTRATOR_HOSTS__FARM": "a"})


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("alpha", "alpha"),
        (" me@alpha ", "me@alpha"),
        ("ssh://me@beta:0022", "me@beta:22"),
        ("ssh://beta", "beta"),
        ("[fe80::1%eth0]", "[fe80::1%eth0]"),
        ("ssh://me@[::1]:22", "me@[::1]:22"),
    ],
)
def test_a_box_alone(text, box):
    assert read_box(text) == box
    assert read_box(render_box(box)) == box


@pytest.mark.parametrize(
    "text", ["", "/srv", "~", "a:22", "a:/x", "ssh://a/", "ssh://a:0", "ssh://", "a b", "a;b", "x://y"]
)
def test_what_is_no_box(text):
    with pytest.raises(Refused, match="is no box: write user@host or ssh://user@host:port"):
        read_box(text)
