"""The host kind `k8s`: each run's program in a bare pod, on folders that the cluster's nodes share with this machine.

A pod is created once and never begun anew. One that nobody here follows any more counts as left behind by its run until
the API has no such pod or says that it ended: unlike a queue's listing, an object's absence is evidence, on which
Kubernetes' own at-most-one guarantees rest. A pod whose creation was still under way begins nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.hosts.engine_files import GIVEN_UP, create, give_up, text_of
from orchestrator.hosts.engine_host import PROFILE_MARK, CurrentSection, EngineHost
from orchestrator.hosts.kubernetes.kubectl import Kubectl, client_variables
from orchestrator.hosts.kubernetes.pod import (
    CONTAINER,
    MANIFEST,
    MARKER,
    OUTCOME,
    OVER,
    PLACED,
    QUEUE,
    SCRIPT,
    arguments,
    cluster_place,
    container_of,
    files,
    manifest,
    pod_name,
)
from orchestrator.hosts.kubernetes.status import ended_as, reason_of
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.host import Host, LaunchSpec, Observation, Standing

if TYPE_CHECKING:
    from orchestrator.hosts.kubernetes.status import PodSeen
    from orchestrator.model.kubernetes_settings import KubernetesSettings

_SOURCE: Final = package_files("orchestrator.hosts.kubernetes").joinpath(SCRIPT).read_bytes()
_TRIAL: Final = LaunchSpec("trial", Path("/trial"), ("true",), Path("/"), "", "")
_NEEDED: Final = (
    ("create", "pods", ""),
    ("watch", "pods", ""),
    ("delete", "pods", ""),
    ("create", "pods", "attach"),
)

KILL_WAIT: Final = 3
"""Seconds for a pod to end after KILL while the processes here still run."""

REMOVE_WAIT: Final = 8
"""Seconds for a pod to end that nobody here follows any more."""


class KubernetesKind:
    """The port `HostKind` by Kubernetes. A host's name is `NAMESPACE/TEMPLATE`, of an object `PodTemplate`.

    `#PROFILE` behind it names a profile of the settings.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Take an environment; by default that of this process."""
        self._environ = os.environ if environ is None else environ
        self.options: CurrentSection[KubernetesSettings] = CurrentSection("kubernetes", self._environ)
        """`[kubernetes]` of the settings, read anew at each call."""

    def lacks(self, name: str) -> str:
        """Return what keeps pods from being made of a template; the cluster judges one without keeping it."""
        if shutil.which("kubectl", path=self._environ.get("PATH")) is None:
            return "kubectl is not installed: install it, and let it reach your cluster"
        place, _, profile = name.partition(PROFILE_MARK)
        try:
            namespace, template = cluster_place(place)
            kubectl = Kubectl(namespace, self._environ, self.options.of(profile)())
            pod = manifest(kubectl.template(template), _TRIAL, os.geteuid(), os.getegid())
            for verb, resource, part in _NEEDED:
                if not kubectl.may(verb, resource, part, namespace):
                    named = f"{resource}/{part}" if part else resource
                    return f"you may not {verb} {named} in {namespace}: ask who runs the cluster for a role"
            words = (
                "create",
                "--dry-run=server",
                "--validate=false",
                "--request-timeout=10s",
                "--filename=-",
            )
            status, _, why = kubectl.call(*words, said=json.dumps(pod).encode())
        except (Unavailable, Refused) as problem:
            return f"{problem}: `kubectl get podtemplates` tells more"
        return f"Kubernetes would not take such a pod: {why}" if status else ""

    def host(self, name: str, local: Host) -> Host:
        """Return this machine, with each program in a pod made of a template. Raises Refused."""
        place, _, profile = name.partition(PROFILE_MARK)
        return KubernetesHost(local, *cluster_place(place), self._environ, self.options.of(profile))


class KubernetesHost(EngineHost):
    """This machine, with each program in a pod of its own, which may be pending before it begins."""

    marker = MARKER

    def __init__(
        self,
        local: Host,
        namespace: str,
        template: str,
        environ: Mapping[str, str],
        options: CurrentSection[KubernetesSettings],
    ) -> None:
        super().__init__(local)
        self._namespace = namespace
        self._template = template
        self._environ = environ
        self._options = options

    def wrap(self, spec: LaunchSpec) -> LaunchSpec:
        """Return the launch as a pod.

        Raises:
            Refused: the settings or the template cannot be used.
            Unavailable: the cluster does not answer.

        """
        kubectl = self._kubectl()
        pod = manifest(kubectl.template(self._template), spec, os.geteuid(), os.getegid())
        return replace(
            spec,
            argv=arguments(spec, pod, kubectl.options),
            environment=spec.environment | client_variables(self._environ),
            files=spec.files | files(spec, pod, _SOURCE),
        )

    def observe(self, folder: Path) -> Observation:
        """As `Host`. A run whose pod is pending has no pid yet; one whose pod Kubernetes ended says so."""
        seen = super().observe(folder)
        if seen.standing is Standing.ALIVE and not os.path.lexists(folder / PLACED):
            return replace(seen, pid=None, start="", queued=reason_of(text_of(folder / QUEUE)))
        if seen.exit is None:
            return seen
        never = seen.standing is Standing.GONE and text_of(folder / PLACED).startswith(GIVEN_UP)
        how = ended_as(seen.exit, text_of(folder / OUTCOME))
        return replace(seen, exit=how, pid=None if never else seen.pid)

    def called(self, folder: Path) -> str:
        """Return the pod of a run, and its node if it is known to have begun."""
        node = text_of(folder / PLACED).split(" ")[0]
        where = f" on {node}" if node and node != GIVEN_UP.split(" ")[0] else ""
        return f"pod {self._namespace}/{pod_name(folder.name, folder)}{where}"

    def kill(self, folder: Path) -> None:
        """Have the pod of a run ended at once, and let what follows it here see that."""
        self._kubectl().delete(pod_name(folder.name, folder), seconds=KILL_WAIT)

    def remove(self, folder: Path) -> None:
        """Delete the pod of a run, and see that it is gone.

        Raises:
            Unavailable: the cluster does not answer, or the pod has not ended.

        """
        name, kubectl = pod_name(folder.name, folder), self._kubectl()
        give_up(folder / PLACED)
        if os.path.lexists(folder / OVER) or os.path.lexists(folder / OUTCOME):
            # It has ended, and may have been let go of in between: what was written down counts.
            with suppress(Unavailable):
                kubectl.delete(name, seconds=0)
            return
        if (seen := self._seen(kubectl, folder, name)) is None:
            return
        if not seen.has_ended:
            kubectl.delete(name, seconds=REMOVE_WAIT)
            seen = self._seen(kubectl, folder, name)
        if seen is None:
            return
        if not seen.has_ended:
            where = f" on {seen.node}" if seen.node else ""
            raise Unavailable(
                f"pod {self._namespace}/{name} is {seen.phase}{where}, and was asked to end: if that node is lost for "
                f"good, `kubectl --namespace {self._namespace} delete pod {name} --force`"
            )
        kubectl.delete(name, seconds=0)

    def _seen(self, kubectl: Kubectl, folder: Path, name: str) -> PodSeen | None:
        """Return what Kubernetes says of a run's pod, and write it down once that has ended. Raises Unavailable."""
        seen, line = kubectl.seen(name, _container(folder))
        if seen is not None and seen.has_ended:
            with suppress(OSError):
                create(folder / OUTCOME, line)
        return seen

    def _kubectl(self) -> Kubectl:
        return Kubectl(self._namespace, self._environ, self._options())


def _container(folder: Path) -> str:
    """Return the container of a run's pod, as its manifest says it."""
    try:
        return container_of(json.loads(text_of(folder / MANIFEST, 1_000_000)))
    except (ValueError, LookupError, TypeError, AttributeError):
        return CONTAINER
