"""What Kubernetes says of a run's pod, read from one line, and how a run whose pod it ended counts. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Final

from orchestrator.hosts.kubernetes.pod import INVISIBLE
from orchestrator.model.run import Exit

GONE: Final = "gone"
"""What stands in front of an outcome whose pod was gone before its end was seen; events may say why."""

REFUSED: Final = "refused"
"""What stands in front of an outcome whose pod Kubernetes did not take; its reason stands behind."""

SUBMITTED: Final = "Submitted"
"""What is said of a pod of which Kubernetes has not said yet why it is pending."""

_WORD: Final = 60
_SAID: Final = 200
_LINE: Final = re.compile(r"[^|]*\|.*")

_EVICTED: Final = "its pod was evicted by Kubernetes"
_PREEMPTED: Final = "its pod was preempted by another one in Kubernetes"
_LOST_NODE: Final = "the node on which its pod ran was lost"
_SHUT_DOWN: Final = "the node on which its pod ran was shut down"
_NO_PLACE: Final = "the node for its pod did not take it"
_DELETED: Final = "its pod was deleted in Kubernetes"
_DEADLINE: Final = "its pod was ended by Kubernetes at its deadline"
_MEMORY: Final = "its pod used more memory than it may, and was ended by Kubernetes"
_UNSEEN: Final = "its pod does not see the run's folder: its template must mount it at the same path"

_CAUSES: Final = {
    "OOMKilled": _MEMORY,
    "DeadlineExceeded": _DEADLINE,
    "Evicted": _EVICTED,
    "EvictionByEvictionAPI": _EVICTED,
    "TerminationByKubelet": _EVICTED,
    "Preempted": _PREEMPTED,
    "Preempting": _PREEMPTED,
    "PreemptionByScheduler": _PREEMPTED,
    "PreemptionByKubeScheduler": _PREEMPTED,
    "NodeLost": _LOST_NODE,
    "TaintManagerEviction": _LOST_NODE,
    "DeletionByTaintManager": _LOST_NODE,
    "DeletionByPodGC": _LOST_NODE,
    "NodeShutdown": _SHUT_DOWN,
    "Shutdown": _SHUT_DOWN,
    "Terminated": _SHUT_DOWN,
    "NodeAffinity": _NO_PLACE,
    "OutOfcpu": _NO_PLACE,
    "OutOfmemory": _NO_PLACE,
    "OutOfpods": _NO_PLACE,
    "UnexpectedAdmissionError": _NO_PLACE,
}
"""What the reasons of pods, containers, conditions and events say of an end, by the API's own words."""

_NOT_ITS_FAULT: Final = frozenset({_EVICTED, _PREEMPTED, _LOST_NODE, _SHUT_DOWN, _NO_PLACE})


@dataclass(frozen=True, slots=True)
class PodSeen:
    """The fields of the line that `pod.status_format` asks for, each empty where the API says nothing."""

    phase: str = ""
    deletion: str = ""
    reason: str = ""
    scheduled: str = ""
    waiting: str = ""
    running: str = ""
    code: str = ""
    ended: str = ""
    disruption: str = ""
    node: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the program's container has ended, or the pod without it."""
        return bool(self.code) or self.phase in {"Succeeded", "Failed"}


def seen_in(line: str) -> PodSeen | None:
    """Return what a line tells of a pod; None where it tells of none."""
    line = line.strip()
    if not _LINE.fullmatch(line):
        return None
    words = [word[:_WORD] for word in line.split("|")]
    return PodSeen(*words[: len(fields(PodSeen))])


def reason_of(text: str) -> str:
    """Return why a pod is pending, from what the script wrote down: one printable line."""
    said = text.strip().partition("\n")[0][:_WORD]
    return "".join(sign if sign.isprintable() else "?" for sign in said) or SUBMITTED


def ended_as(how: Exit, outcome: str) -> Exit:
    """Return how a run ended, with what Kubernetes says of its pod; its own words stay if that did not end it."""
    cause = "" if how.clean else _cause(outcome)
    if not cause:
        return how
    if cause in _NOT_ITS_FAULT:
        return Exit(lost=True, cause=cause)
    return replace(how, cause=cause, out_of_memory=how.out_of_memory or cause == _MEMORY)


def _cause(outcome: str) -> str:
    """Return what ended a pod, as a sentence; empty if it was its program."""
    kind, _, rest = outcome.strip().partition("|")
    if kind == REFUSED:
        said = "".join(sign if sign.isprintable() else "?" for sign in rest[:_SAID])
        return f"Kubernetes did not take its pod: {said}"
    if kind == GONE:
        known = [_CAUSES[word] for word in rest.split() if word in _CAUSES]
        return known[-1] if known else _DELETED
    seen = seen_in(outcome)
    if seen is None:
        return ""
    if seen.code == str(INVISIBLE):
        return _UNSEEN
    words = (seen.disruption, seen.ended, seen.reason)
    return next((_CAUSES[word] for word in words if word in _CAUSES), "")
