"""Calls of the user's `kubectl`, and what is asked of a cluster by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from orchestrator.hosts.engine_calls import call_engine
from orchestrator.hosts.kubernetes.pod import options_of, status_format
from orchestrator.hosts.kubernetes.status import PodSeen, seen_in
from orchestrator.model.errors import Refused, Unavailable

if TYPE_CHECKING:
    from orchestrator.model.kubernetes_settings import KubernetesSettings

_CLIENT: Final = (
    *(
        "HOME",
        "PATH",
        "LANG",
        "KUBECONFIG",
        "KUBECACHEDIR",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
    ),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    # What the programs that log in to clusters of the large providers read.
    *("CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_PROFILE", "AWS_CONFIG_FILE"),
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_REGION", "AZURE_CONFIG_DIR"),
)
"""The variables by which `kubectl` finds its cluster. Each call must have the same."""

_DEADLINE: Final = 15.0
_GONE: Final = "NotFound"
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Kubectl:
    """`kubectl` for one namespace, as the settings say."""

    def __init__(self, namespace: str, environ: Mapping[str, str], settings: KubernetesSettings) -> None:
        """Take a namespace and the daemon's environment."""
        self.options = options_of(namespace, settings)
        self._variables = client_variables(environ)

    def call(self, *words: str, deadline: float = _DEADLINE, said: bytes = b"") -> tuple[int, str, str]:
        """Call `kubectl`; return its exit status, its output, and the last line of its errors. Raises Unavailable."""
        return call_engine(("kubectl", *self.options, *words), self._variables, deadline, said)

    def template(self, name: str) -> dict[str, Any]:
        """Return a pod template of the namespace.

        Raises:
            Refused: there is none of this name.
            Unavailable: the cluster does not answer, or does not let it be read.

        """
        status, said, why = self.call("get", "podtemplate", name, "--request-timeout=10s", "--output=json")
        if status:
            raise (Refused if _GONE in why else Unavailable)(f"the pod template {name} cannot be read: {why}")
        try:
            read = json.loads(said)
        except ValueError as error:
            raise Unavailable(f"what kubectl says of the pod template {name} is no JSON") from error
        return read if isinstance(read, dict) else {}

    def may(self, verb: str, resource: str, part: str, namespace: str) -> bool:
        """Return whether the user may do something with a resource, or a part of it. Raises Unavailable."""
        wanted = {"verb": verb, "resource": resource, "subresource": part, "namespace": namespace}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {key: value for key, value in wanted.items() if value}},
        }
        words = ("create", "--raw", _REVIEWS, "--request-timeout=10s", "--filename=-")
        status, said, why = self.call(*words, said=json.dumps(review).encode())
        try:
            if status == 0:
                return json.loads(said)["status"]["allowed"] is True
        except (ValueError, LookupError, TypeError) as error:
            raise Unavailable("the cluster does not say what you may do") from error
        raise Unavailable(f"the cluster does not say what you may do: {why}")

    def seen(self, pod: str, container: str) -> tuple[PodSeen | None, str]:
        """Return what Kubernetes says of a pod, None if it has none of this name, and the line. Raises Unavailable."""
        status, said, why = self.call(
            *("get", "pod", pod, "--ignore-not-found", "--request-timeout=10s"),
            *("--output", status_format(container)),
        )
        if status:
            raise Unavailable(f"`kubectl get pod` failed: {why}")
        return seen_in(said), said.strip()

    def delete(self, pod: str, *, seconds: int) -> None:
        """Have a pod ended at once, and wait for that some seconds at most. Raises Unavailable."""
        self.call(
            *("delete", "pod", pod, "--ignore-not-found", "--now", "--request-timeout=10s"),
            *(f"--timeout={seconds}s", f"--wait={'true' if seconds else 'false'}"),
            deadline=_DEADLINE + seconds,
        )


def client_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return those of the variables that `kubectl` needs."""
    return {name: environ[name] for name in _CLIENT if name in environ}
