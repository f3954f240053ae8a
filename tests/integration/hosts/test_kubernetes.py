"""Agents as pods, by a real kubectl and an API server of the test: the suite, the queue, outcomes, kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.hosts.kubernetes import host as kubernetes_host
from orchestrator.hosts.kubernetes.host import KubernetesKind
from orchestrator.hosts.kubernetes.pod import pod_name
from orchestrator.model.errors import Unavailable
from orchestrator.ports.host import Standing
from orchestrator.testing.contracts.hosts import Bench, HostKindContract
from tests.kubernetes_api.cluster import Pod
from tests.kubernetes_api.node import UID
from tests.kubernetes_api.server import Server, own_kubernetes
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")

ALIVE = "echo up >up; while :; do sleep 0.1; done"
SAME = pytest.mark.thorough(reason="unit tests read each cause, and the other case goes the same way here")
SPEC = {"containers": [{"name": "work", "image": "agents:1", "resources": {"limits": {"cpu": "2"}}}]}


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> Iterator[tuple[Server, dict[str, str]]]:
    with own_kubernetes(tmp_path_factory.mktemp("kubernetes")) as made:
        made[0].cluster.add_template("small", SPEC)
        yield made


@pytest.fixture(autouse=True)
def api(started, monkeypatch) -> Iterator[Server]:
    """The API server; whatever a test sent it and got of it is as the schema says, and no pod is left."""
    server, variables = started
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server.down = server.cluster.full = False
    yield server
    try:
        wait_until(lambda: not server.cluster.pods)
        assert server.cluster.faults == []
    finally:
        server.cluster.close()
        server.cluster.faults.clear()


class Pods(HostKindContract):
    kind = "k8s"

    def name(self, folder: Path) -> str:
        return "agents/small"


class TestKubernetes(Pods):
    """The suite, as it is published."""


def pod_of(api: Server, folder: Path) -> Pod:
    return api.cluster.pods[pod_name(folder.name, folder)]


def kill_own(bench: Bench, *programs: str) -> None:
    """Kill the processes of the test's world here, not of its pods, that run one of these programs."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes()
            environ = (path / "environ").read_bytes()
            ours = str(bench.root).encode() in words + environ and UID.encode() not in environ
            if ours and Path(words.split(b"\0")[0].decode()).name in programs:
                os.kill(int(path.name), signal.SIGKILL)


# The queue ----------------------------------------------------------------------------------------


def test_pending_pod_says_why_and_begins_when_it_may(api) -> None:
    api.cluster.full = True
    with Pods().bench() as bench:
        folder = bench.run("r1", "echo up >up; exit 3")
        bench.until(folder, lambda seen: seen.queued == "Unschedulable")
        seen = bench.host.observe(folder)
        assert (seen.standing, seen.pid) == (Standing.ALIVE, None)
        api.cluster.make_room()
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert (seen.exit.code, seen.exit.cause) == (3, "")


def test_pending_pod_that_is_ended_never_begins(api) -> None:
    api.cluster.full = True
    with Pods().bench() as bench:
        folder = bench.run("r1", "echo up >up")
        bench.until(folder, lambda seen: seen.queued == "Unschedulable")
        bench.host.end(folder, kill=False)
        assert bench.until_gone(folder).pid is None
        wait_until(lambda: not api.cluster.pods)
        api.cluster.make_room()
        assert not (bench.tree / "up").exists()


def test_used_up_quota_is_a_queue(api) -> None:
    api.refusals.append(("Forbidden", "exceeded quota: agents, requested: pods=1"))
    with Pods().bench() as bench:
        folder = bench.run("r1", "exit 4")
        bench.until(folder, lambda seen: seen.queued == "ExceededQuota" or seen.exit)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.code == 4


def test_pod_that_is_refused_says_why(api) -> None:
    api.refusals.append(("Forbidden", "a policy wants another image"))
    with Pods().bench() as bench:
        seen = bench.until_gone(bench.run("r1", "exit 0"))
        assert seen.exit is not None
        assert "a policy wants another image" in seen.exit.cause


# Creation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [pytest.param("before", marks=SAME), "after"])
def test_creation_that_is_cut_makes_one_pod(api, cut) -> None:
    """The connection is cut before the pod is made, or after that: it is made once, whatever kubectl was told."""
    before = len(api.cluster.created)
    api.cuts.append(cut)
    with Pods().bench() as bench:
        seen = bench.until_gone(bench.run("r1", "echo x >>lives; exit 5"))
        assert seen.exit is not None
        assert seen.exit.code == 5
        assert (bench.tree / "lives").read_text() == "x\n"
    assert len(api.cluster.created) == before + 1


def test_pod_is_made_of_its_template(api) -> None:
    """Whatever the template says stays, the program's variables stand in no object, and it is never begun anew."""
    with Pods().bench() as bench:
        folder = bench.run("r1", 'printf %s "$WORD" >said')
        bench.until_gone(folder)
        assert (bench.tree / "said").read_text() == "a b"
    made = api.cluster.created[-1]
    assert made["spec"]["restartPolicy"] == "Never"
    assert made["metadata"]["labels"]["team"] == "night"
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}}
    assert "a b" not in json.dumps(made)


# Outcomes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "event", "said"),
    [
        ("PreemptionByScheduler", "Preempted", "preempted"),
        pytest.param("EvictionByEvictionAPI", "Evicted", "evicted", marks=SAME),
    ],
)
def test_disrupted_pod_says_so(api, reason, event, said) -> None:
    """Its object is let go of as it ends: events say why, and the run counts as lost. Its program heard TERM."""
    with Pods().bench() as bench:
        folder = bench.run("r1", f"trap 'echo bye >last; exit 9' TERM; {ALIVE}")
        bench.until_there(bench.tree / "up")
        api.cluster.disrupt(pod_of(api, folder).name, reason, event)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.lost
        assert said in seen.exit.cause
        assert (bench.tree / "last").read_text() == "bye\n"


@pytest.mark.parametrize(
    ("reason", "of_container", "said"),
    [
        ("OOMKilled", True, "more memory than it may"),
        pytest.param("DeadlineExceeded", False, "at its deadline", marks=SAME),
        pytest.param("Evicted", False, "evicted", marks=SAME),
    ],
)
def test_failed_pod_says_why(api, reason, of_container, said) -> None:
    with Pods().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        api.cluster.fail(pod_of(api, folder).name, reason, of_container=of_container)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert said in seen.exit.cause
        assert seen.exit.out_of_memory == (reason == "OOMKilled")


def test_pod_of_a_lost_node_is_not_gone_before_it_is_let_go_of(api, monkeypatch) -> None:
    for wait in ("KILL_WAIT", "REMOVE_WAIT"):
        monkeypatch.setattr(kubernetes_host, wait, 1)
    with Pods().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        pod = pod_of(api, folder)
        api.cluster.lose_node(pod.name)
        api.cut_attached()
        kill_own(bench, "sh", "kubectl")
        bench.until(folder, lambda seen: seen.standing is Standing.LEFT)
        with pytest.raises(Unavailable, match="node-1"):
            bench.host.end(folder, kill=True)
        assert bench.host.observe(folder).standing is Standing.LEFT
        api.cluster.forget(pod.name)
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)


# Kills --------------------------------------------------------------------------------------------


def test_cut_connection_is_attached_again(api) -> None:
    """The program goes on, and what is typed afterwards reaches it."""
    with Pods().bench() as bench:
        folder = bench.run("r1", 'echo up >up; read line; echo "$line" >typed; exit 6')
        bench.until_there(bench.tree / "up")
        wait_until(lambda: api.attached)
        api.cut_attached()
        wait_until(lambda: api.attached)
        (pane,) = [pane for pane in bench.host.panes() if pane.run == "r1"]
        assert bench.host.type_line(pane.id, "r1", "hello")
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.code == 6
        assert (bench.tree / "typed").read_text() == "hello\n"


def test_api_that_is_down_ends_no_run(api) -> None:
    with Pods().bench() as bench:
        folder = bench.run("r1", "echo up >up; until [ -e go ]; do sleep 0.1; done; exit 7")
        bench.until_there(bench.tree / "up")
        api.down = True
        api.cut_attached()
        (bench.tree / "go").touch()
        bench.until_there(folder / "over")
        assert bench.host.observe(folder).standing is Standing.ALIVE
        api.down = False
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert (seen.exit.code, seen.exit.cause) == (7, "")


def test_pod_that_nobody_follows_is_named_and_removed(api) -> None:
    """All that follows a pod here is killed: it counts as left behind, until it is known to be gone."""
    with Pods().bench() as bench:
        folder = bench.run("r1", f'trap "" TERM HUP; {ALIVE}')
        bench.until_there(bench.tree / "up")
        kill_own(bench, "sh", "kubectl")
        named = "agents/orchestrator-r1-"  # at first what was just killed may be left, too
        assert bench.until(folder, lambda seen: named in str(seen.left) or None)
        assert bench.host.observe(folder).standing is Standing.LEFT
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)


def test_pod_that_ended_unfollowed_is_known_by_what_it_wrote(api) -> None:
    """Nobody follows it, and its object is let go of: its own last word counts, and nothing is asked."""
    with Pods().bench() as bench:
        folder = bench.run("r1", "echo up >up; until [ -e go ]; do sleep 0.1; done; exit 8")
        bench.until_there(bench.tree / "up")
        kill_own(bench, "sh", "kubectl")
        (bench.tree / "go").touch()
        bench.until_there(folder / "over")
        wait_until(lambda: pod_of(api, folder).ended)
        api.cluster.forget(pod_of(api, folder).name)
        api.down = True
        bench.host.end(folder, kill=True)
        assert bench.until_gone(folder).exit is not None


def test_pod_that_comes_late_begins_nothing(api) -> None:
    """Its run was given up while its creation was under way."""
    api.cluster.full = True
    with Pods().bench() as bench:
        folder = bench.run("r1", "echo up >up")
        bench.until(folder, lambda seen: seen.queued == "Unschedulable")
        made = api.cluster.created[-1]
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)
        api.cluster.full = False
        api.cluster.create(made)
        wait_until(lambda: pod_of(api, folder).ended)
        assert not (bench.tree / "up").exists()
        api.cluster.forget(pod_of(api, folder).name)


# What is missing ----------------------------------------------------------------------------------


def test_template_that_is_not_there_is_reported() -> None:
    assert "nothing" in KubernetesKind().lacks("agents/nothing")


def test_what_may_not_be_done_is_reported(api) -> None:
    api.forbidden.add("pods/attach")
    try:
        assert "may not create pods/attach" in KubernetesKind().lacks("agents/small")
    finally:
        api.forbidden.clear()


def test_what_the_cluster_would_refuse_is_reported(api) -> None:
    api.refusals.append(("Forbidden", "violates PodSecurity"))
    assert "violates PodSecurity" in KubernetesKind().lacks("agents/small")
