"""The page about task.md, from the reader of that file."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, get_type_hints

from orchestrator.formats.agent_config import DEFAULTS, KEYS_OF_AGENT, KEYS_OF_TASK
from orchestrator.formats.task_file import blank_task
from orchestrator.model.task import AgentOverrides, Config
from scripts.reference.markdown import block, code, page, sentence, table
from scripts.reference.sources import meanings

_INTRODUCTION: Final = """\
`tasks/NAME/task.md` in the project says what is wanted. The program reads the title (`# Task: …` or `# …`) and these
three sections strictly, and reports every fault with its line; `## Agent Config` may be missing. Other
sections are passed on untouched. HTML comments do not count.

| section | holds |
| --- | --- |
| `## Goal` | What shall be true when this is done, and why. In brackets, or as a comment, it is unfilled. |
| `## Success Criteria` | A list; a command or a look can decide each item. `[ ]` may stand before one. |
| `## Agent Config` | Lines `key: value`. A `#` begins a comment. A key may stand once. |

A task whose goal is still unfilled is not started. A change of Agent Config in a task that has started takes effect
at the next `start`, which shows the change and asks."""

_EXAMPLE: Final = """\
# Task: Refactor logging module

## Goal
Improve logging performance across the codebase.

## Success Criteria
- Reduce log overhead by 50%
- All tests pass

## Agent Config
workspace: worktree
test.check: python -m pytest -q
limits: 2M tokens; $20; 8 h
unanswered: set-aside after 4 h
"""


def task_file_pages() -> Iterator[tuple[str, str]]:
    """Yield the page about task.md."""
    yield (
        "task-md.md",
        page(
            "task.md",
            _INTRODUCTION,
            block("markdown", _EXAMPLE),
            "## Keys of the task",
            _keys(Config, KEYS_OF_TASK, ""),
            f"Answers that `unanswered:` may give: {', '.join(map(code, DEFAULTS))}.",
            "## Keys of one agent",
            "`AGENT` names an agent: `explore`, `plan`, `architect`, `dev`, `test`, `review`, or one of your own.",
            _keys(AgentOverrides, KEYS_OF_AGENT, "AGENT."),
            "## The blank template",
            "`start` writes this file if there is none and no template was named:",
            block("markdown", blank_task("NAME")),
        ),
    )


def _keys(of: type, keys: dict[str, str], before: str) -> str:
    said, hints, default = meanings(of), get_type_hints(of), of()
    rows = [
        (code(f"{before}{key}:"), _values(hints[field], getattr(default, field)), sentence(said[field]))
        for key, field in keys.items()
    ]
    return table(("key", "values", "meaning"), rows)


def _values(hint: object, default: object) -> str:
    """Return the words that a key may have, where these are a closed set."""
    kinds = [hint, *getattr(hint, "__args__", ())]
    found = [each for each in kinds if isinstance(each, type) and issubclass(each, Enum)]
    words = (
        [f"{code(word.value)}{' (default)' if word is default else ''}" for word in found[0]] if found else []
    )
    return ", ".join(words)
