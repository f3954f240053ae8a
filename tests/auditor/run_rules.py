"""Rules of runs and of verification."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.rules import rule


@rule(13)
def _needs(folder: Folder) -> Iterator[str]:
    """Needs were verified at launch. The user may let a proof of concept pass, once its verifier has judged it."""
    for agent, plan in folder.workers.items():
        for order in folder.orders_to(agent)[:1]:
            for need in plan.get("needs") or []:
                said = folder.judged_of(need) if _user_may_pass(folder, need) else folder.passes_of(need)
                if not any(each.at <= order.at for each in said):
                    yield f"{order.path} starts {agent} before {need} was verified"


def _user_may_pass(folder: Folder, agent: str) -> bool:
    return bool(folder.agents[agent]["kind"] == "poc")


@rule(14)
def _dependencies(folder: Folder) -> Iterator[str]:
    """`dependencies` equal the plan."""
    for agent, plan in folder.workers.items():
        shown = folder.status.get("agents", {}).get(agent, {}).get("dependencies")
        if shown is not None and shown != list(plan.get("needs") or []):
            yield f"{agent} is shown with {shown}, and needs {plan.get('needs')}"


def _spans(folder: Folder) -> list[tuple[str, str, str]]:
    """Return the agent, the beginning and the end of each run that was reported on."""
    answered = ((order, folder.report_of(order)) for order in folder.orders)
    return [(order.agent, order.at, report.at) for order, report in answered if report is not None]


@rule(15)
def _caps(folder: Folder) -> Iterator[str]:
    """Caps were held, and overlapping files were never worked on at once."""
    spans = _spans(folder)
    groups = {name: each["at_once"] for name, each in (folder.plan.get("groups") or {}).items()}
    caps = [("all", set(folder.agents), folder.plan.get("max_parallel", 4))]
    caps += [
        (name, {each for each, plan in folder.agents.items() if plan.get("group") == name}, most)
        for name, most in groups.items()
    ]
    for name, members, most in caps:
        own = [(begin, end) for agent, begin, end in spans if agent in members]
        for moment, _ in own:
            at_once = sum(begin < moment < end for begin, end in own) + 1
            if at_once > most:
                yield f"at {moment} {at_once} of {name} were at work, and {most} may be"
    files = {each: set(plan.get("files") or []) for each, plan in folder.agents.items()}
    for agent, begin, end in spans:
        for other, since, until in spans:
            if agent < other and files[agent] & files[other] and begin < until and since < end:
                yield f"{agent} and {other} were at work at once on {', '.join(files[agent] & files[other])}"


@rule(16)
def _one_run(folder: Folder) -> Iterator[str]:
    """One run of an agent lives at a time."""
    spans = sorted(_spans(folder))
    for (agent, _, end), (other, begin, _) in pairwise(spans):
        if agent == other and begin < end:
            yield f"{agent} was started at {begin}, and was at work until {end}"


def _passed_by_user(folder: Folder, agent: str) -> bool:
    """Return whether the user may have let a proof of concept pass: its verifier has judged it."""
    return _user_may_pass(folder, agent) and bool(folder.judged_of(agent))


@rule(17)
def _by_its_verifier(folder: Folder) -> Iterator[str]:
    """What is verified was passed by the verifier that the plan names."""
    for agent in folder.workers:
        if (
            folder.stands(agent) in VERIFIED
            and not folder.passes_of(agent)
            and not _passed_by_user(folder, agent)
        ):
            yield f"{agent} is {folder.stands(agent)}, and no report of {folder.agents[agent]['verifier']} passes it"


@rule(18)
def _nothing_left(folder: Folder) -> Iterator[str]:
    """What is verified has no unresolved note, and no results file."""
    for agent in folder.workers:
        if folder.stands(agent) not in VERIFIED:
            continue
        if any(each.get("status") != "resolved" for each in folder.session(agent).get("notes", [])):
            yield f"{agent} is verified with an unresolved note"
        if f"orchestration/agents/{agent}/verification_results.json" in folder.files:
            yield f"{agent} is verified beside its verification_results.json"


@rule(19)
def _fails_name_evidence(folder: Folder) -> Iterator[str]:
    """Fails name the missing evidence."""
    for order in folder.orders:
        report = folder.report_of(order)
        if (
            report is not None
            and report.fields.get("Verdict") == "REJECTED"
            and not re.search(r"^- \S", report.text, re.MULTILINE)
        ):
            yield f"{report.path} rejects, and names nothing"


@rule(20)
def _fails_are_bounded(folder: Folder) -> Iterator[str]:
    """A fail leads to another run of the agent, or it is not verified."""
    for agent in folder.workers:
        judged = [each for each in folder.orders if agent in each.subjects and len(each.subjects) == 1]
        for order in judged:
            report = folder.report_of(order)
            if report is None or report.fields.get("Verdict") != "REJECTED":
                continue
            if folder.stands(agent) in VERIFIED and not any(
                each.at >= report.at for each in folder.orders_to(agent)
            ):
                yield f"{report.path} rejects {agent}, which is verified without another run"
