import json
import os
import subprocess
import sys
import time

import pytest

from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.ports.host import Host

SHOWN = "SHA256:" + "a" * 43
KEPT = "SHA256:" + "b" * 43


def box(address="me@alpha", **other):
    """Return what the daemon tells of a box."""
    return {
        "address": address,
        "way": "reachable",
        "since": time.time() - 7200,
        "why": "ssh is connected",
        "advice": "",
        "offered": "",
        "known": "",
        "runs": 2,
        "tasks": ["shop", "tidy"],
        "pulled_at": time.time() - 40,
    } | other


@pytest.fixture
def boxes_seen(house):
    """Have the daemon show of these boxes."""
    folder = house.state / "boxes"
    folder.mkdir(mode=0o700)

    def show(*boxes):
        (folder / "boxes.json").write_text(json.dumps({"boxes": boxes}))
        (folder / "boxes.json").chmod(0o600)

    return show


def test_each_box_is_a_row(task, boxes_seen, daemon):
    boxes_seen(box(), box("beta", way="untried", since=None, why="", runs=0, tasks=[], pulled_at=None))
    said = task("hosts")
    assert (said.code, said.err) == (0, "")
    heading, alpha, beta = said.out.splitlines()
    assert heading.split() == ["BOX", "STATE", "SINCE", "RUNS", "TASKS", "FETCHED", "WHY"]
    assert alpha.split("  ")[:2] == ["me@alpha", "reachable"]
    for part in ("2 h ago", "shop, tidy", "40 s ago"):
        assert part in alpha
    assert beta.split() == ["beta", "untried", "-", "-", "no", "agents", "there"]


def test_box_that_floods_is_said_to(task, boxes_seen, daemon):
    boxes_seen(box("alpha", floods=True), box("beta"))
    said = task("hosts").out
    assert "alpha reports more file changes" in said
    assert "beta reports" not in said


def test_boxes_of_pools_say_which_and_how_many_runs_of_how_many(task, boxes_seen, daemon):
    boxes_seen(
        box("alpha", pool="farm", cap=4),
        box("beta", pool="farm", cap=4, runs=6),
        box("gamma", pool="farm", cap=4, way="untried", since=0, why="", runs=0, tasks=[], pulled_at=0),
        box("old"),
    )
    heading, *rows = task("hosts").out.splitlines()
    assert heading.split()[:3] == ["BOX", "POOL", "STATE"]
    at = heading.index("RUNS"), heading.index("TASKS")
    assert [row[slice(*at)].strip() for row in rows] == ["2 of 4", "4 of 4, 2 waiting", "0 of 4", "2"]
    assert [row.split()[1] for row in rows] == ["farm", "farm", "farm", "reachable"]
    shown = task("hosts", "--json").json["boxes"]
    assert [(each["pool"], each["cap"], each["runs"]) for each in shown][1:] == [
        ("farm", 4, 6),
        ("farm", 4, 0),
        (None, None, 2),
    ]


def test_refusing_box_is_shown_with_both_fingerprints(task, boxes_seen, daemon):
    boxes_seen(
        box(
            way="refused",
            why="Host key for alpha has changed.",
            advice="ask whoever runs it",
            offered=SHOWN,
            known=KEPT,
        )
    )
    said = task("hosts").out
    assert f"\n  its key    {SHOWN}\n  known key  {KEPT}\n  ask whoever runs it\n" in said


def test_one_that_does_not_answer_is_tried_again_by_itself(task, boxes_seen, daemon):
    boxes_seen(box(way="unreachable", why="timed out"))
    assert "me@alpha: timed out\n  retried automatically" in task("hosts").out


def test_nothing_is_promised_of_a_box_without_agents(task, boxes_seen, daemon):
    """Nobody tries it again, and there is nobody whose work goes on."""
    boxes_seen(box(way="unreachable", why="timed out", runs=0, tasks=[]))
    assert "retried" not in task("hosts").out
    boxes_seen(box(way="unreachable", why="timed out", runs=0, missing=1))
    assert "retried" in task("hosts").out


def test_where_there_is_none_it_says_so(task, boxes_seen):
    for _ in range(2):
        said = task("hosts")
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("no box is in use")
        boxes_seen()
    assert task("hosts", "--json").json["boxes"] == []


def test_the_document_has_moments_and_every_field_is_explained(task, boxes_seen, daemon):
    boxes_seen(box(since=1_764_254_100.0, pulled_at=None))
    document = task("hosts", "--json").json
    (only,) = document["boxes"]
    assert (only["since"], only["pulled_at"], only["offered"]) == ("2025-11-27T14:35:00Z", None, None)
    assert document["daemon"]["up"] is True
    explained = task("help", "json").out.replace("[]", "").split()
    assert set(only) <= set(explained)


def test_a_daemon_that_is_down_is_said(task, boxes_seen):
    boxes_seen(box())
    assert task("hosts").out.endswith("daemon down\n")


def test_what_a_box_says_of_itself_does_nothing_to_a_terminal(task, boxes_seen, daemon):
    hostile = "x\x1b[2Jy\n\u202ez\x9b"
    boxes_seen(
        box(way="refused", why=hostile, advice=hostile, offered=hostile, known=hostile, tasks=[hostile])
    )
    for words in (["hosts"], ["hosts", "--json"]):
        said = task(*words).out
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "\x9b" not in said


@pytest.mark.parametrize("text", ["{", "[]", '{"boxes": 3}', '{"boxes": [3]}', "[" * 100_000])
def test_what_does_not_read_is_one_sentence(house, task, boxes_seen, text):
    boxes_seen()
    (house.state / "boxes" / "boxes.json").write_text(text)
    said = task("hosts")
    assert (said.code, said.out) == (1, "")
    assert "boxes.json cannot be read" in said.err
    assert said.err.count("\n") == 1


def test_odd_fields_are_no_error(task, boxes_seen, daemon):
    boxes_seen({}, {"since": "x", "runs": "y", "tasks": 3, "way": None, "pulled_at": 1e300})
    assert task("hosts").code == 0
    assert len(task("hosts", "--json").json["boxes"]) == 2


def test_a_file_of_others_is_not_believed(house, task, boxes_seen):
    boxes_seen(box())
    (house.state / "boxes" / "boxes.json").chmod(0o666)
    said = task("hosts")
    assert said.code == 1
    assert "can be written by others" in said.err


def test_it_imports_nothing_heavy(house, boxes_seen):
    boxes_seen(box())
    script = "import sys; from orchestrator.cli.main import main; main(['hosts']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"pydantic", "libtmux", "paramiko", "platformdirs", "orchestrator.hosts.ssh.link"}


def test_what_fails_on_a_box_that_answers_is_said_with_cause(task, boxes_seen, daemon):
    failing = {
        "task": "shop",
        "task_id": "shop-0a1b2c3d",
        "what": "handoffs, events and exits",
        "since": time.time() - 90,
        "why": "no rsync: install it",
    }
    boxes_seen(box(failing=[failing], missing=2))
    said = task("hosts")
    for part in (
        "handoffs, events and exits of shop cannot be fetched since",
        "no rsync: install it",
        "task checkin shop-0a1b2c3d",
        "2 runs",
    ):
        assert part in " ".join(said.out.split())
    (shape,) = json.loads(task("hosts", "--json").out)["boxes"]
    assert (shape["missing"], shape["failing"][0]["why"]) == (2, failing["why"])
    assert shape["failing"][0]["since"].endswith("Z")


@pytest.mark.parametrize("odd", ["x", [1], [{}], {"a": 1}, None])
def test_odd_words_of_what_fails_are_shown_as_nothing(task, boxes_seen, daemon, odd):
    boxes_seen(box(failing=odd, missing=odd))
    assert task("hosts").code == 0
    assert task("hosts", "--json").code == 0


# Containers and clusters --------------------------------------------------------------------------


class Kind:
    """A host kind of which one name cannot be used."""

    def lacks(self, name: str) -> str:
        return "there is no image bad here" if name == "bad" else ""

    def host(self, name: str, local: Host) -> Host:
        return local


@pytest.fixture
def engine():
    HOST_KINDS.register("engine", Kind, "engine 1.0")
    yield
    HOST_KINDS.unregister("engine")


def agent(host, state="alive"):
    return {"name": "dev", "run": "r1", "agent": "dev", "step": "dev:one", "state": state, "host": host}


def test_containers_and_clusters_say_whether_they_can_be_used(task, house, daemon, engine):
    """They are tried now; those of all tasks are listed once, with how many runs live there."""
    house.task(
        "tidy-0a1b2c3d", agents=[agent("engine://good"), agent("engine://bad", "gone"), agent("local")]
    )
    house.task("shop-0a1b2c3d", agents=[agent("engine://good"), agent("me@box")])
    said = task("hosts").out
    heading, bad, good = said.splitlines()
    assert heading.split() == ["HOST", "STATE", "RUNS", "TASKS", "WHY"]
    assert bad.split("  ")[0] == "engine:bad"
    assert "not usable" in bad
    assert "no image bad" in bad
    assert good.split() == ["engine:good", "usable", "2", "shop,", "tidy"]
    shown = task("hosts", "--json").json["engines"]
    assert [(each["host"], each["usable"], each["runs"]) for each in shown] == [
        ("engine:bad", False, 0),
        ("engine:good", True, 2),
    ]


def test_kind_that_is_not_installed_any_more_is_said(task, house, daemon):
    house.task("tidy-0a1b2c3d", agents=[agent("vanished://x")])
    (only,) = task("hosts", "--json").json["engines"]
    assert not only["usable"]
    assert "vanished" in only["why"]


def test_boxes_and_containers_are_two_tables(task, house, boxes_seen, daemon, engine):
    boxes_seen(box())
    house.task("tidy-0a1b2c3d", agents=[agent("engine://good")])
    first, second = task("hosts").out.split("\n\n")
    assert first.startswith("BOX")
    assert second.startswith("HOST")
