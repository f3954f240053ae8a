"""The pod of a run: what is made of a template for it, and the command that creates and follows it. Pure."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from orchestrator.hosts.launcher import quoted
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.kubernetes_settings import KubernetesSettings
    from orchestrator.ports.host import LaunchSpec

SCRIPT: Final = "pod.sh"
"""The script in the run's folder that creates the pod and follows it; it names the files beside it."""

MANIFEST: Final = "pod.json"
VARIABLES: Final = "variables.sh"
MARKER: Final = "pod"
QUEUE: Final = "queue"
PLACED: Final = "placed"
OVER: Final = "over"
OUTCOME: Final = "outcome"

CONTAINER: Final = "agent"
"""The container of a template in which the program runs; where none is called so, it is the first."""

GRACE: Final = 60
"""Seconds that a program has after TERM where the template does not say; the PM's own grace is shorter."""

LONGEST_PAUSE: Final = 30
"""Seconds between two calls of `kubectl` at most, where the cluster does not answer or refuses for its quota."""

INVISIBLE: Final = 78
"""The exit status of a pod that does not see the run's folder or its working directory."""

OWNER: Final = "agent-orchestrator"
FOLDER: Final = "agent-orchestrator/run-folder"
NODE: Final = "ORCHESTRATOR_NODE"

_OWN: Final = frozenset({"PATH", "SHELL", "TMPDIR"})
"""Variables whose values are of this machine: an image has its own."""

_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_TEMPLATE: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_NAMED: Final = 30

SHIELD: Final = """\
told=
trap : INT QUIT
trap told=1 TERM
folder=$1
if [ ! -w "$folder" ] || ! cd -- "$2"; then
    echo "This pod cannot write in $folder, or does not see $2."
    exit 78
fi
shift 2
read -r boot </proc/sys/kernel/random/boot_id
if ! (umask 077 && set -C && echo "${ORCHESTRATOR_NODE:-?} $boot" >"$folder/placed") 2>/dev/null; then
    echo 'This pod begins nothing: its run was given up, or began before.'
    exit 125
fi
unset ORCHESTRATOR_NODE
. "$folder/variables.sh"
if [ ! -w "${HOME:-/nowhere}" ]; then export HOME=/tmp; fi
looks=0
while [ "$(stty size 2>/dev/null)" = '0 0' ] && [ "$looks" -lt 50 ] && [ -z "$told" ]; do
    sleep 0.1
    looks=$((looks + 1))
done
if [ -n "$told" ]; then
    status=143
else
    sh -c '(umask 077 && echo "$$" >"$0/program.new") && mv -f "$0/program.new" "$0/program"; exec "$@"' "$folder" "$@"
    status=$?
fi
(umask 077 && echo "$status" >"$folder/over.new") && mv -f "$folder/over.new" "$folder/over"
exit "$status"
"""
"""What runs the program within the pod. A pod that comes late begins nothing.

It waits until somebody is attached: that gives the terminal its size, and what is printed before that nobody sees.
"""

ASK: Final = 'read -r pid <"$0/program" && kill -s TERM "$pid"'
"""What a pod that is to end runs first. TERM itself reaches only the shell above, which lets it pass."""


def cluster_place(name: str) -> tuple[str, str]:
    """Return the namespace and the template that `NAMESPACE/TEMPLATE` names. Raises Refused."""
    namespace, _, template = name.partition("/")
    if not _LABEL.fullmatch(namespace) or not _TEMPLATE.fullmatch(template):
        raise Refused(f"{name[:80]!a} names no pod template: write k8s:NAMESPACE/TEMPLATE")
    return namespace, template


def pod_name(run: str, folder: Path) -> str:
    """Return the name of a run's pod. Ids of runs may coincide, in the folders of two users."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    readable = re.sub(r"[^a-z0-9]+", "-", run.lower())[:_NAMED].strip("-")
    return f"orchestrator-{readable}-{digest}"


def manifest(template: Mapping[str, Any], spec: LaunchSpec, uid: int, gid: int) -> dict[str, Any]:
    """Return the pod of a run, made of a `PodTemplate`: that says all that a run does not, such as image and volumes.

    Raises:
        Refused: it has no container.

    """
    made = copy.deepcopy(dict(template.get("template") or {}))
    pod, metadata = made.get("spec") or {}, made.get("metadata") or {}
    containers = pod.get("containers") or []
    if not containers:
        raise Refused("the pod template has no container")
    container = next((each for each in containers if each.get("name") == CONTAINER), containers[0])
    _confine(pod, container, uid, gid)
    pod["restartPolicy"] = "Never"
    container |= {
        "command": ["sh", "-c", SHIELD, "sh", str(spec.folder), str(spec.cwd), *spec.argv],
        "args": [],
        "stdin": True,
        "tty": True,
        "lifecycle": (container.get("lifecycle") or {})
        | {"preStop": {"exec": {"command": ["sh", "-c", ASK, str(spec.folder)]}}},
        "env": [
            *(each for each in container.get("env") or [] if each.get("name") != NODE),
            {"name": NODE, "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
    }
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        container.pop(probe, None)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(spec.run, spec.folder),
            "labels": (metadata.get("labels") or {}) | {"app.kubernetes.io/managed-by": OWNER},
            "annotations": (metadata.get("annotations") or {}) | {FOLDER: str(spec.folder)},
        },
        "spec": pod,
    }


def _confine(pod: dict[str, Any], container: dict[str, Any], uid: int, gid: int) -> None:
    """Give a pod what confines it, where its template says nothing else; files come out as the user's."""
    given: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE,
        "securityContext": {},
    }
    for key, value in given.items():
        pod.setdefault(key, value)
    identity = {"runAsUser": uid, "runAsGroup": gid, "seccompProfile": {"type": "RuntimeDefault"}}
    pod["securityContext"] = identity | pod["securityContext"]
    own = container.setdefault("securityContext", {})
    own.setdefault("allowPrivilegeEscalation", bool(own.get("privileged")))
    own.setdefault("capabilities", {"drop": ["ALL"]})


def container_of(pod: Mapping[str, Any]) -> str:
    """Return the name of the container in which the program of a pod runs."""
    names = [str(each.get("name")) for each in pod["spec"]["containers"]]
    return CONTAINER if CONTAINER in names else names[0]


def variables(environment: Mapping[str, str]) -> bytes:
    """Return the script that gives a program its variables. They may be secrets, and stand in no object of the API."""
    return b"".join(
        b"export %b=%b\n" % (name.encode(), quoted(value)) for name, value in _passed(environment)
    )


def _passed(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in (dict(environment) | {"TERM": "screen-256color"}).items():
        if name not in _OWN:
            yield name, value


def options_of(namespace: str, settings: KubernetesSettings) -> tuple[str, ...]:
    """Return the options that every call of `kubectl` has."""
    context = (f"--context={settings.context}",) if settings.context else ()
    return (f"--namespace={namespace}", *context, *settings.options)


def arguments(spec: LaunchSpec, pod: Mapping[str, Any], options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program of a run as it starts as a pod: `pod.sh` with its arguments."""
    name, container = pod["metadata"]["name"], container_of(pod)
    return (
        "sh",
        str(spec.folder / SCRIPT),
        name,
        container,
        str(LONGEST_PAUSE),
        status_format(container),
        *options,
    )


def files(spec: LaunchSpec, pod: Mapping[str, Any], script: bytes) -> dict[str, bytes]:
    """Return the files that a run in a pod has besides, by name."""
    return {
        SCRIPT: script,
        MANIFEST: json.dumps(pod, indent=1).encode(),
        VARIABLES: variables(spec.environment),
    }


def status_format(container: str) -> str:
    """Return how `kubectl get --output` tells of a pod in one line, whose fields `status.py` reads."""
    own = f'.status.containerStatuses[?(@.name=="{container}")].state'
    fields = (
        ".status.phase",
        ".metadata.deletionTimestamp",
        ".status.reason",
        '.status.conditions[?(@.type=="PodScheduled")].reason',
        f"{own}.waiting.reason",
        f"{own}.running.startedAt",
        f"{own}.terminated.exitCode",
        f"{own}.terminated.reason",
        '.status.conditions[?(@.type=="DisruptionTarget")].reason',
        ".spec.nodeName",
    )
    return "jsonpath=" + "|".join(f"{{{field}}}" for field in fields) + '{"\\n"}'
