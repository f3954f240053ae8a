"""Pods and what becomes of them: the objects of an API server, and one node that runs them."""

from __future__ import annotations

import copy
import json
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.kubernetes_api.node import Container
from tests.kubernetes_api.schema import faults_of

NODE: Final = "node-1"
NOW: Final = "2026-01-01T12:00:00Z"
DEFAULT_GRACE: Final = 30
Object = dict[str, Any]


class Pod:
    """A pod: its object, and the container that runs, if one does."""

    def __init__(self, made: Object) -> None:
        self.made = made
        self.container: Container | None = None
        self.grace = threading.Event()
        """Set when the time to end is over."""
        self.lost = False
        """Whether nobody hears of its node any more."""

    @property
    def name(self) -> str:
        return str(self.made["metadata"]["name"])

    @property
    def main(self) -> Object:
        """The container that is told of: the first."""
        found: Object = self.made["spec"]["containers"][0]
        return found

    @property
    def ended(self) -> bool:
        return self.made["status"]["phase"] in {"Succeeded", "Failed"}


class Cluster:
    """The objects, by name, and the ways in which pods end. `faults` are departures from the schema."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.created: list[Object] = []
        self.templates: dict[str, Object] = {}
        self.events: list[Object] = []
        self.faults: list[str] = []
        self.full = False
        """Whether no node takes another pod."""
        self.changed = threading.Condition(threading.RLock())
        self.history: list[Object] = []

    # Objects --------------------------------------------------------------------------------------

    def check(self, kind: str, made: Object) -> list[str]:
        found = faults_of(kind, made)
        self.faults += found
        return found

    @property
    def version(self) -> str:
        return str(len(self.history))

    def add_template(self, name: str, spec: Object) -> None:
        made = {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": name, "namespace": "agents"},
            "template": {"metadata": {"labels": {"team": "night"}}, "spec": spec},
        }
        self.check("PodTemplate", made)
        self.templates[name] = made

    def create(self, made: Object) -> Object:
        """Take a pod that a client made, and have it run."""
        made = copy.deepcopy(made)
        self.created.append(copy.deepcopy(made))
        made["metadata"] |= {"namespace": "agents", "uid": str(uuid.uuid4()), "creationTimestamp": NOW}
        made["status"] = {"phase": "Pending"}
        pod = Pod(made)
        with self.changed:
            self.pods[pod.name] = pod
            self._tell("ADDED", pod)
        threading.Thread(target=self._place, args=(pod,), daemon=True).start()
        return copy.deepcopy(made)

    def changes(self, name: str, since: int, lives: Callable[[], bool]) -> Iterator[bytes]:
        """Yield what a watch of one pod tells."""
        with self.changed:
            while lives():
                for event in self.history[since:]:
                    if not name or event["object"]["metadata"]["name"] == name:
                        yield json.dumps(event).encode() + b"\n"
                since = len(self.history)
                self.changed.wait(0.2)

    def delete(self, name: str, grace: int | None = None) -> Object | None:
        """Have a pod ended and then let go of; None if there is none."""
        with self.changed:
            pod = self.pods.get(name)
            if pod is None:
                return None
            seconds = (
                pod.made["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
                if grace is None
                else grace
            )
            before = "deletionTimestamp" in pod.made["metadata"]
            pod.made["metadata"] |= {"deletionTimestamp": NOW, "deletionGracePeriodSeconds": seconds}
            self._tell("MODIFIED", pod)
            if pod.container is None or pod.ended:
                self._let_go(pod)
            elif not pod.lost:
                timer = threading.Timer(seconds, pod.grace.set)
                timer.daemon = True
                timer.start()
                if not before:
                    threading.Thread(target=self._end, args=(pod, pod.container), daemon=True).start()
            return copy.deepcopy(pod.made)

    # What a cluster does --------------------------------------------------------------------------

    def make_room(self) -> None:
        with self.changed:
            self.full = False
            self.changed.notify_all()

    def disrupt(self, name: str, reason: str, event: str) -> None:
        """End a pod for a reason that is not its own: it is told so, ended by TERM, and let go of."""
        with self.changed:
            pod = self.pods[name]
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": reason,
                "lastTransitionTime": NOW,
            }
            pod.made["status"].setdefault("conditions", []).append(condition)
            self.say(name, event)
            self.delete(name)

    def fail(self, name: str, reason: str, *, of_container: bool = False) -> None:
        """Kill a pod as its node does for memory or at a deadline: its object stays."""
        with self.changed:
            pod = self.pods[name]
            container = pod.container
            if of_container:
                pod.made["test-reason"] = reason
            else:
                pod.made["status"]["reason"] = reason
        if container is not None:
            container.kill()

    def lose_node(self, name: str) -> None:
        """Hear nothing of a pod's node any more, and take the pod away from it: its object stays until forced."""
        with self.changed:
            self.pods[name].lost = True
            self.disrupt(name, "DeletionByTaintManager", "TaintManagerEviction")

    def forget(self, name: str) -> None:
        """Let go of an object, as a forced deletion does."""
        with self.changed:
            self._let_go(self.pods[name])

    def say(self, name: str, reason: str) -> None:
        made = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{len(self.events)}", "namespace": "agents"},
            "involvedObject": {"kind": "Pod", "name": name, "namespace": "agents"},
            "reason": reason,
            "type": "Warning",
        }
        self.check("Event", made)
        self.events.append(made)

    def close(self) -> None:
        """Kill all that runs, and let go of it."""
        with self.changed:
            pods = list(self.pods.values())
            self.pods.clear()
            self.changed.notify_all()
        for pod in pods:
            pod.grace.set()
            if pod.container is not None:
                pod.container.kill()

    # The life of a pod ----------------------------------------------------------------------------

    def _place(self, pod: Pod) -> None:
        with self.changed:
            while self.full and self.pods.get(pod.name) is pod:
                status = {"phase": "Pending", "conditions": [_scheduled("False", "Unschedulable")]}
                if pod.made["status"] != status:
                    pod.made["status"] = status
                    self._tell("MODIFIED", pod)
                self.changed.wait(0.2)
            if self.pods.get(pod.name) is not pod:
                return
            pod.made["spec"]["nodeName"] = NODE
            pod.made["status"]["conditions"] = [_scheduled("True")]
            self._state(pod, {"waiting": {"reason": "ContainerCreating"}})
            uid = pod.made["metadata"]["uid"]
            pod.container = Container(pod.main, uid, NODE, lambda status: self._ended(pod, status))
            pod.made["status"]["phase"] = "Running"
            self._state(pod, {"running": {"startedAt": NOW}})

    def _end(self, pod: Pod, container: Container) -> None:
        """End a container as a node does: its hook, TERM, and after the grace KILL."""
        hook = pod.main.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
        if hook:
            container.run_beside(hook)
        container.signal(signal.SIGTERM)
        pod.grace.wait()
        container.kill()

    def _ended(self, pod: Pod, status: int) -> None:
        with self.changed:
            if pod.lost:
                return
            code = status if status >= 0 else 128 - status
            own = pod.made.pop("test-reason", "")
            reason = own or ("Completed" if code == 0 else "Error")
            pod.made["status"]["phase"] = "Succeeded" if code == 0 else "Failed"
            self._state(pod, {"terminated": {"exitCode": code, "reason": reason, "finishedAt": NOW}})
            pod.grace.set()
            if "deletionTimestamp" in pod.made["metadata"] and pod.name in self.pods:
                self._let_go(pod)

    def _state(self, pod: Pod, state: Object) -> None:
        status = {
            "name": pod.main["name"],
            "state": state,
            "ready": "running" in state,
            "restartCount": 0,
            "image": pod.main["image"],
            "imageID": "",
        }
        pod.made["status"]["containerStatuses"] = [status]
        self._tell("MODIFIED", pod)

    def _let_go(self, pod: Pod) -> None:
        self.pods.pop(pod.name, None)
        self._tell("DELETED", pod)

    def _tell(self, kind: str, pod: Pod) -> None:
        pod.made["metadata"]["resourceVersion"] = str(len(self.history) + 1)
        made = copy.deepcopy(pod.made)
        made.pop("test-reason", None)
        self.check("Pod", made)
        self.history.append({"type": kind, "object": made})
        self.changed.notify_all()


def _scheduled(status: str, reason: str = "") -> Object:
    made = {"type": "PodScheduled", "status": status, "lastTransitionTime": NOW}
    return made | ({"reason": reason} if reason else {})
