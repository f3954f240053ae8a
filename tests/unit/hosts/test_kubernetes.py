"""The pod that is made of a template, what is read of what Kubernetes says, and which settings are taken."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator.formats.settings import load_settings
from orchestrator.hosts.engine_host import CurrentSection
from orchestrator.hosts.kubernetes.host import KubernetesHost, KubernetesKind
from orchestrator.hosts.kubernetes.kubectl import client_variables
from orchestrator.hosts.kubernetes.pod import (
    arguments,
    container_of,
    manifest,
    options_of,
    pod_name,
    variables,
)
from orchestrator.hosts.kubernetes.status import ended_as, reason_of, seen_in
from orchestrator.model.errors import BadFile, Refused, Unavailable
from orchestrator.model.kubernetes_settings import KubernetesSettings
from orchestrator.model.run import Exit
from orchestrator.ports.host import LaunchSpec, Observation, Standing
from tests.kubernetes_api.schema import faults_of

FOLDER = Path("/state/tasks/t1-0123abcd/runs/r1")
SPEC = LaunchSpec(
    "r1",
    FOLDER,
    ("claude", "-p", "an 'order'"),
    Path("/state/trees/dev"),
    "s",
    "w",
    environment={"API_KEY": "it's\na secret", "PATH": "/my/bin", "HOME": "/home/me"},
)


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {
        "template": {"spec": {"containers": list(containers or [{"name": "c", "image": "i"}])} | spec}
    }
    return manifest(template, SPEC, 1000, 1001)


def main(made: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", made["spec"]["containers"][0])


# The pod ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"securityContext": {"runAsUser": 5, "fsGroup": 7}, "volumes": [{"name": "v", "emptyDir": {}}]},
        {"restartPolicy": "Always", "terminationGracePeriodSeconds": 3, "activeDeadlineSeconds": 60},
    ],
)
def test_pod_is_as_the_published_schema_says(spec) -> None:
    assert faults_of("Pod", pod(**spec)) == []


def test_schema_finds_what_is_wrong() -> None:
    """What holds the pods holds something."""
    assert faults_of("Pod", pod(retsartPolicy="Never"))
    assert faults_of("Pod", pod({"name": "c", "image": "i", "stdin": "yes"}, {"image": 5}))


def test_program_and_its_arguments_stand_last_as_they_are() -> None:
    made = main(pod({"name": "c", "image": "i", "command": ["x"], "args": ["y"]}))
    assert made["command"][-3:] == list(SPEC.argv)
    assert made["args"] == []


def test_pod_is_never_begun_anew() -> None:
    made = pod(
        {"name": "c", "image": "i", "livenessProbe": {"exec": {"command": ["x"]}}}, restartPolicy="Always"
    )
    assert made["spec"]["restartPolicy"] == "Never"
    assert "livenessProbe" not in main(made)


def test_template_says_what_it_wants() -> None:
    made = pod(
        {
            "name": "c",
            "image": "i",
            "securityContext": {"privileged": True},
            "env": [{"name": "A", "value": "1"}],
        },
        securityContext={"runAsUser": 5},
        terminationGracePeriodSeconds=3,
    )
    assert made["spec"]["securityContext"]["runAsUser"] == 5
    assert made["spec"]["terminationGracePeriodSeconds"] == 3
    assert {"name": "A", "value": "1"} in main(made)["env"]


def test_pod_is_confined_where_its_template_says_nothing() -> None:
    made = pod()
    assert made["spec"]["automountServiceAccountToken"] is False
    assert (
        made["spec"]["securityContext"] | {"runAsUser": 1000, "runAsGroup": 1001}
        == made["spec"]["securityContext"]
    )
    assert main(made)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def test_container_called_agent_has_the_program() -> None:
    made = pod({"name": "proxy", "image": "p"}, {"name": "agent", "image": "i"})
    assert container_of(made) == "agent"
    assert [("command" in each) for each in made["spec"]["containers"]] == [False, True]


def test_template_without_a_container_is_refused() -> None:
    with pytest.raises(Refused, match="no container"):
        manifest({"template": {"spec": {}}}, SPEC, 0, 0)


def test_variables_stand_in_a_file_and_not_in_the_pod(tmp_path) -> None:
    """They may be secrets; those of this machine are left to the image."""
    assert "secret" not in str(pod())
    (tmp_path / "v.sh").write_bytes(variables(SPEC.environment))
    done = subprocess.run(
        ["/bin/sh", "-c", '. "$0"; printf "%s|%s|%s" "$API_KEY" "$HOME" "$PATH"', str(tmp_path / "v.sh")],
        env={"PATH": "/image/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "it's\na secret|/home/me|/image/bin"


@pytest.mark.parametrize("run", ["r1", "A_Run-" + "x" * 100, "---"])
def test_pod_has_a_name_that_kubernetes_takes(run) -> None:
    name = pod_name(run, FOLDER)
    assert len(name) <= 63
    assert name.replace("-", "").isalnum()
    assert name == name.lower()
    assert name != pod_name(run, Path("/other/runs/r1"))


def test_settings_are_options_of_each_call() -> None:
    options = options_of("agents", KubernetesSettings("big", ("--kubeconfig", "/k")))
    assert options == ("--namespace=agents", "--context=big", "--kubeconfig", "/k")
    assert arguments(SPEC, pod(), options)[-len(options) :] == options


@pytest.mark.parametrize("name", ["agents", "agents/", "/small", "a b/c", "a/-x", "A/b", "a/b/c"])
def test_what_names_no_template_is_refused(name) -> None:
    with pytest.raises(Refused, match="NAMESPACE/TEMPLATE"):
        KubernetesKind({}).host(name, cast("Any", None))


# What Kubernetes says -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("Pending|||Unschedulable||||||", False),
        ("Running|||||t||||node-1", False),
        ("Running||||||3|Error||node-1", True),
        ("Failed||Evicted|||||||", True),
        ("Succeeded||||||0|Completed||node-1", True),
    ],
)
def test_pod_has_ended_when_its_container_has(line, ended) -> None:
    """A container beside it may run on."""
    seen = seen_in(line)
    assert seen is not None
    assert seen.has_ended is ended


def test_line_that_names_no_pod_is_submitted() -> None:
    assert seen_in("") is None
    assert reason_of("") == "Submitted"
    assert reason_of("a\x1bb\n") == "a?b"


@pytest.mark.parametrize(
    ("outcome", "said", "lost"),
    [
        (
            "Failed||||||137|OOMKilled||n",
            "its pod used more memory than it may, and was ended by Kubernetes",
            False,
        ),
        ("Failed||DeadlineExceeded|||||||", "its pod was ended by Kubernetes at its deadline", False),
        ("Failed||Evicted|||||||", "its pod was evicted by Kubernetes", True),
        (
            "Failed||||||143|Error|PreemptionByScheduler|n",
            "its pod was preempted by another one in Kubernetes",
            True,
        ),
        (
            "Failed|t|||||143|Error|DeletionByTaintManager|n",
            "the node on which its pod ran was lost",
            True,
        ),
        ("Failed||Terminated|||||||", "the node on which its pod ran was shut down", True),
        (
            "gone|Scheduled Started Preempted Killing",
            "its pod was preempted by another one in Kubernetes",
            True,
        ),
        ("gone|Scheduled Started Killing", "its pod was deleted in Kubernetes", False),
        (
            "refused|Error from server: no\x1b",
            "Kubernetes did not take its pod: Error from server: no?",
            False,
        ),
        (
            "Failed||||||78|Error||n",
            "its pod does not see the run's folder: its template must mount it at the same path",
            False,
        ),
        ("Failed||||||3|Error||n", "", False),
        ("", "", False),
        ("rubbish", "", False),
    ],
)
def test_outcome_is_said_as_the_cause(outcome, said, lost) -> None:
    """What is no fault of the agent's counts as lost, and is repeated as such."""
    how = ended_as(Exit(code=3), outcome)
    assert (how.cause, how.lost) == (said, lost)
    assert how.out_of_memory == ("OOMKilled" in outcome)


def test_program_that_ended_well_was_not_ended_by_kubernetes() -> None:
    assert ended_as(Exit(code=0), "gone|Preempted") == Exit(code=0)


# The host -----------------------------------------------------------------------------------------


class Local:
    """This machine, on which a run stands as the test says."""

    def __init__(self, seen: Observation) -> None:
        self.seen = seen

    def observe(self, folder: Path) -> Observation:
        return self.seen

    def end(self, folder: Path, *, kill: bool) -> None:
        """Do nothing."""


ALIVE = Observation(Standing.ALIVE, 7, "%1", start="s")
GONE = Observation(Standing.GONE, 7, exit=Exit(signal=signal.SIGKILL))


def host(local: Local, folder: Path, kubectl: str = "exit 1") -> KubernetesHost:
    """Return a host whose `kubectl` is a script, and a run's folder whose pod may live."""
    (folder / "kubectl").write_text(f"#!/bin/sh\n{kubectl}\n")
    (folder / "kubectl").chmod(0o755)
    (folder / "config.toml").touch(0o600)
    (folder / "pod").touch()
    environ = {"PATH": f"{folder}:{os.environ['PATH']}", "ORCHESTRATOR_CONFIG": str(folder / "config.toml")}
    options = CurrentSection[KubernetesSettings]("kubernetes", environ)
    return KubernetesHost(cast("Any", local), "agents", "small", environ, options)


def test_pending_run_has_a_reason_and_no_pid(tmp_path) -> None:
    it = host(Local(ALIVE), tmp_path)
    assert it.observe(tmp_path).queued == "Submitted"
    (tmp_path / "queue").write_text("Unschedulable\n")
    assert it.observe(tmp_path) == Observation(Standing.ALIVE, None, "%1", queued="Unschedulable")
    (tmp_path / "placed").write_text("node-1 boot\n")
    assert it.observe(tmp_path) == ALIVE


def test_run_whose_pod_may_live_is_not_gone(tmp_path) -> None:
    it = host(Local(GONE), tmp_path)
    (tmp_path / "placed").write_text("node-1 boot\n")
    seen = it.observe(tmp_path)
    assert seen.standing is Standing.LEFT
    assert str(seen.left[0]).endswith("on node-1")


def test_cluster_that_does_not_answer_leaves_the_pod(tmp_path) -> None:
    it = host(Local(GONE), tmp_path, "echo 'Unable to connect to the server' >&2; exit 1")
    with pytest.raises(Unavailable, match="Unable to connect"):
        it.end(tmp_path, kill=False)
    assert it.observe(tmp_path).standing is Standing.LEFT


def test_pod_that_is_let_go_of_in_between_has_its_saved_end(tmp_path) -> None:
    """It had ended and was told so; when it is asked for, there is none any more, and nobody answers at all."""
    it = host(Local(GONE), tmp_path)
    (tmp_path / "placed").write_text("node-1 boot\n")
    (tmp_path / "outcome").write_text("Failed||||||137|OOMKilled||node-1\n")
    it.end(tmp_path, kill=False)
    seen = it.observe(tmp_path)
    assert seen.standing is Standing.GONE
    assert seen.exit is not None
    assert seen.exit.out_of_memory


def test_end_that_is_seen_is_written_down(tmp_path) -> None:
    it = host(Local(GONE), tmp_path, 'case "$*" in *" get "*) echo "Failed||Evicted|||||||" ;; esac')
    it.end(tmp_path, kill=False)
    assert it.observe(tmp_path).exit == Exit(lost=True, cause="its pod was evicted by Kubernetes")


def test_pod_that_is_not_there_is_gone(tmp_path) -> None:
    """Unlike a queue's listing, an absent object is evidence; what is created late begins nothing."""
    it = host(Local(GONE), tmp_path, "exit 0")
    it.end(tmp_path, kill=False)
    assert (tmp_path / "placed").read_text() == "given up\n"
    assert it.observe(tmp_path).pid is None


# What is missing, and settings --------------------------------------------------------------------


def test_missing_kubectl_is_named() -> None:
    assert KubernetesKind({"PATH": "/nowhere"}).lacks("agents/small").startswith("kubectl is not installed")


def test_only_what_kubectl_needs_reaches_it() -> None:
    environ = {"KUBECONFIG": "/k", "PATH": "/bin", "ANTHROPIC_API_KEY": "a secret"}
    assert client_variables(environ) == {"KUBECONFIG": "/k", "PATH": "/bin"}


@pytest.mark.parametrize("line", ["context = 5", 'context = "-x"', 'options = "--x"', 'options = [""]'])
def test_setting_with_a_fault_is_refused(tmp_path, line) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[kubernetes]\n{line}\n")
    path.chmod(0o600)
    with pytest.raises(BadFile, match=r"kubernetes\."):
        load_settings(path, {})


def test_settings_are_taken(tmp_path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[kubernetes]\ncontext = "big"\noptions = ["--kubeconfig", "/k"]\n')
    path.chmod(0o600)
    assert load_settings(path, {}).kubernetes == KubernetesSettings("big", ("--kubeconfig", "/k"))
