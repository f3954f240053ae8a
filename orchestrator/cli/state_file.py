"""A task's `state.json` and its pages, as the daemon writes them for commands."""

from __future__ import annotations

import os

from orchestrator import layout, own_files

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any

_WHOLE, _PAGED = 1, 2  # versions: all in one file, or the steps in pages beside it
_TRIES = 20
_LISTS = ("steps", "agents", "questions", "criteria", "notices")
_WORDS = ("task", "project", "phase", "state")


def read_state(home: str) -> tuple[dict[str, Any], str]:
    """Return the content of `state.json` and its pages. If a page is replaced meanwhile, read both again."""
    fault = ""
    try:
        own_files.check_own_folder(home)
    except own_files.Untrusted as error:
        return {}, error.reason
    except OSError as error:
        return {}, f"{home} cannot be read ({error.strerror})"
    for _ in range(_TRIES):
        view, fault = _read_head(layout.task_state(home))
        if fault or view["version"] != _PAGED:
            return view, fault
        try:
            view["steps"] = [step for page in view["pages"] for step in _read_page(home, page)]
            del view["pages"]
            view["version"] = _WHOLE  # callers do not see how the file was stored
        except FileNotFoundError as error:
            fault = f"{error.filename} is missing"
        except own_files.Untrusted as error:
            return {}, error.reason
        except (OSError, ValueError, TypeError, KeyError) as error:
            return {}, f"{layout.task_pages(home)} is damaged ({error})"
        else:
            return view, ""
    return {}, fault


def report_file(view: dict[str, Any]) -> tuple[str, float, bool] | None:
    """Return the path of a task's report, when it was written, and whether the task went on since.

    None if there is none. The time is in seconds since the epoch.
    """
    path = layout.task_report(layout.task_folder(f"{view['project']}", view["task"]))
    try:
        written = os.stat(path).st_mtime  # noqa: PTH116 (no pathlib here)
    except OSError:
        return None
    return path, written, any((step.get("since") or 0.0) > written for step in view.get("steps") or ())


def _read_page(home: str, page: str) -> list[dict[str, Any]]:
    steps = own_files.own_json(f"{layout.task_pages(home)}/{page}")
    if not isinstance(steps, list):
        raise TypeError(f"{page} holds no list")
    return steps


def _read_head(path: str) -> tuple[dict[str, Any], str]:
    try:
        view = own_files.own_json(path)
    except own_files.Untrusted as error:
        return {}, error.reason
    except OSError as error:
        return {}, f"{path} cannot be read ({error.strerror})"
    except (ValueError, RecursionError) as error:
        return {}, f"{path} is damaged ({error})"
    if not isinstance(view, dict):
        return {}, f"{path} is damaged (it holds no object)"
    if view.get("version") not in {_WHOLE, _PAGED}:
        return {}, f"{path} was written by another version of this program"
    wrong = [key for key in _WORDS if not isinstance(view.get(key), str)]
    wrong += [key for key in _LISTS if not isinstance(view.setdefault(key, []), list)]
    return ({}, f"{path} is damaged ({', '.join(wrong)})") if wrong else (view, "")
