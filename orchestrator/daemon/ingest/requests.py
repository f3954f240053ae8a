"""Requests of the user: files that `task` writes and the daemon answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.model.errors import BadFile, Fault
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files

REQUEST_BYTES: Final = 1_048_576
REPLY: Final = ".reply.json"


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `verb` is what the user typed, `arguments` are texts."""

    id: str
    verb: str
    arguments: dict[str, str] = field(default_factory=dict)


def waiting(files: Files, home: Path) -> list[str]:
    """Return the names of the requests that wait in a task's own folder, oldest first.

    Other things than plain files are included: reading one fails, and it is removed.
    """
    names = [entry.name for entry in files.entries(layout.task_requests(home)) if not entry.is_folder]
    return sorted(name for name in names if name.endswith(".json") and not name.endswith(REPLY))


def read_request(files: Files, home: Path, name: str) -> Request:
    """Read one request.

    Raises:
        BadFile: it is no request: not JSON, wrong fields, or an id that differs from its name.

    """
    try:
        data = json.loads(files.read(layout.task_requests(home) / name, REQUEST_BYTES))
        return _checked(name, data)
    except (ValueError, RecursionError, Unreadable) as error:
        raise BadFile(name, [Fault(0, f"is no request: {error}")]) from error


def answer(files: Files, home: Path, name: str, *, ok: bool, message: str, confirm: str = "") -> None:
    """Write the reply, then remove the request. If killed in between, the request is handled again, once.

    With `confirm` the reply asks for confirmation: the same request is granted if its `confirmed` has that value.
    """
    folder = layout.task_requests(home)
    reply = json.dumps({"ok": ok, "message": message} | ({"confirm": confirm} if confirm else {})).encode()
    files.write(folder / f"{name.removesuffix('.json')}{REPLY}", reply)
    files.remove(folder / name)


def _checked(name: str, data: Any) -> Request:  # noqa: ANN401 (whatever JSON gave)
    if not isinstance(data, dict) or not isinstance(data.get("arguments", {}), dict):
        raise ValueError("no object")  # noqa: TRY004 (all faults raise the same error)
    request, verb = data.get("id"), data.get("verb")
    if request != name.removesuffix(".json") or not isinstance(verb, str):
        raise ValueError("`id` differs from its name, or `verb` is missing")
    arguments = data.get("arguments", {})
    if not all(isinstance(value, str) for value in arguments.values()):
        raise ValueError("every argument must be text")
    if not all(map(_is_text, (request, verb, *arguments, *arguments.values()))):
        raise ValueError("it contains half a character, or a NUL: write it again as UTF-8")
    return Request(request, verb, arguments)


def _is_text(text: str) -> bool:
    """Return whether a text can be encoded: JSON, and words that are no UTF-8, may contain half a character."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)
