"""The records of an archive: chain files and the index (C6)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from orchestrator.formats.coordination.fields import Others, handoff_id, time, unnamed, with_others
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES, refused
from orchestrator.formats.workflow.json_text import rewritten
from orchestrator.formats.workflow.nodes import Fields, json_node
from orchestrator.model.coordination import (
    CHAIN,
    ArchiveIndex,
    ChainLink,
    ChainMetrics,
    ChainOutcome,
    HandoffChain,
    PipelineRole,
    Transition,
)
from orchestrator.model.errors import BadFile, Fault

INDEX: Final = "index.json"
_GIVEN_UP: Final = "givenUp"
"""A field beside the document's: when a task was given up whose chain came to `complete` in another archive."""
_CHAIN_ID: Final = re.compile(rf"{CHAIN}[A-Za-z0-9][A-Za-z0-9_-]{{0,127}}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CHAIN_SHAPE: Final[dict[str, Any]] = {
    **dict.fromkeys(("chainId", "taskId", "created", "completed", "duration_minutes", "outcome", _GIVEN_UP)),
    "handoffs": [dict.fromkeys(("handoffId", "from", "to", "duration_minutes"))],
    "metrics": dict.fromkeys(("total_files_modified", "test_coverage", "issues_found", "issues_resolved")),
}


def read_chain(data: bytes, name: str, limit: int = FILE_BYTES) -> HandoffChain:
    """Return the chain in a file. Raises BadFile with every fault."""
    found, loaded, faults = _opened(data, name, limit)
    chain = _chain(found, unnamed(loaded, _CHAIN_SHAPE))
    if faults:
        raise refused(name, faults)
    return chain


def render_chain(chain: HandoffChain, base: bytes = b"") -> bytes:
    """Return a chain as a file. `base`, the file as it is, stays if it says the same."""
    made = {
        "chainId": chain.id,
        "taskId": chain.task,
        "created": chain.created,
        "completed": chain.completed,
        "duration_minutes": chain.minutes,
        "handoffs": [
            {"handoffId": each.id, "from": each.source, "to": each.target, "duration_minutes": each.minutes}
            for each in chain.links
        ],
        "outcome": chain.outcome,
        "metrics": {
            "total_files_modified": chain.metrics.files,
            "test_coverage": chain.metrics.coverage,
            "issues_found": chain.metrics.issues_found,
            "issues_resolved": chain.metrics.issues_resolved,
        },
    }
    if chain.given_up is not None and chain.outcome is not ChainOutcome.FAILURE:
        made[_GIVEN_UP] = chain.given_up
    return rewritten(
        chain, base, lambda data: read_chain(data, chain.id), lambda _: with_others(made, chain.others)
    )


def is_chain_id(value: str) -> bool:
    """Return whether a text is the id of a chain. Nothing else becomes the name of a file."""
    return _CHAIN_ID.fullmatch(value) is not None


def read_index(data: bytes, name: str = INDEX, limit: int = FILE_BYTES) -> ArchiveIndex:
    """Return the index of an archive. Raises BadFile with every fault."""
    found, _, faults = _opened(data, name, limit)
    index = ArchiveIndex(
        updated=time(found, "last_updated") or "",
        handoffs=found.integer("total_handoffs"),
        chains=found.integer("total_chains"),
        by_date=tuple(_counts(found, "by_date", _is_date, "write dates such as 2025-12-11")),
        by_type=tuple(
            (Transition(key), count)
            for key, count in _counts(found, "by_type", _is_type, f"there are {', '.join(Transition)}")
        ),
    )
    if faults:
        raise refused(name, faults)
    return index


def render_index(index: ArchiveIndex, base: bytes = b"") -> bytes:
    """Return an index as a file. `base`, the file as it is, stays if it says the same."""
    made = {
        "last_updated": index.updated,
        "total_handoffs": index.handoffs,
        "total_chains": index.chains,
        "by_date": dict(index.by_date),
        "by_type": {each.value: count for each, count in index.by_type},
    }
    return rewritten(index, base, read_index, lambda _: made)


def _opened(data: bytes, name: str, limit: int) -> tuple[Fields, dict[str, Any], list[Fault]]:
    loaded = load_json(data, name, limit)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    faults = list[Fault]()
    return Fields(json_node(loaded), "", faults), loaded, faults


def _chain(found: Fields, others: Others) -> HandoffChain:
    metrics = found.object("metrics") or Fields(json_node({}), "metrics", found.faults)
    links = tuple(
        ChainLink(
            handoff_id(each, "handoffId") or "",
            each.member("from", PipelineRole),
            each.member("to", PipelineRole),
            each.integer("duration_minutes"),
        )
        for each in found.objects("handoffs")
    )
    chain = HandoffChain(
        id=found.text("chainId", blank=False),
        task=found.text("taskId", blank=False),
        created=time(found, "created") or "",
        completed=time(found, "completed"),
        minutes=found.integer("duration_minutes"),
        links=links,
        outcome=found.member("outcome", ChainOutcome),
        metrics=ChainMetrics(
            files=metrics.integer("total_files_modified", 0),
            coverage=metrics.fraction("test_coverage") if metrics.has("test_coverage") else None,
            issues_found=metrics.integer("issues_found", 0),
            issues_resolved=metrics.integer("issues_resolved", 0),
        ),
        others=others,
        given_up=time(found, _GIVEN_UP),
    )
    if chain.outcome is ChainOutcome.FAILURE:
        chain = replace(chain, given_up=chain.completed)
    if chain.id and not (is_chain_id(chain.id) and chain.id == f"{CHAIN}{chain.task}"):
        found.fault(f"`chainId` is {chain.id[:80]!a}: write {CHAIN} and the taskId")
    return chain


def _counts(found: Fields, key: str, known: Any, hint: str) -> list[tuple[str, int]]:  # noqa: ANN401
    inner = found.object(key)
    counts = list[tuple[str, int]]()
    for name in inner.names_of_fields if inner else ():
        if known(name) and inner:
            counts.append((name, inner.integer(name)))
        else:
            found.fault(f"`{key}` has {name[:40]!a}: {hint}")
    return counts


def _is_date(value: str) -> bool:
    return _DATE.fullmatch(value) is not None


def _is_type(value: str) -> bool:
    return value in list(Transition)
