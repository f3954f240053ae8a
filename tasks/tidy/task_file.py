"""What task.md says to this template: its criteria, and the settings of the section `## Tidy`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from errors import TidyError

TEST_SECONDS_NAME = "TIDY_TEST_SECONDS"
SETTING = re.compile(r"[-*]\s+([a-z-]+)\s*:\s*(.*)")
BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]?\]\s+)?(.+)")
RULE = re.compile(r"[A-Z]+[0-9]*")
FORM = "`- only: src, tests`, `- rules: F, UP`, `- leave: I001`, `- subtasks: 12`, `- test-seconds: 600`"


@dataclass(frozen=True)
class Settings:
    """What the user may set.

    `only` are the folders or files to look at (none: all), `rules` the beginnings of the rules to fix (none:
    all), `leave` of those to leave alone, `subtasks` the most to plan (0: by how long the tests take).
    """

    only: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    subtasks: int = 0
    test_seconds: int = 600
    criteria: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether a file is to be looked at."""
        return not self.only or any(path == part or path.startswith(f"{part}/") for part in self.only)

    def wants(self, code: str) -> bool:
        """Whether a rule's findings are to be fixed."""
        return code.startswith(self.rules or ("",)) and not (self.leave and code.startswith(self.leave))


def read(task_dir: Path) -> Settings:
    """Read the task's task.md.

    Raises:
        TidyError: it cannot be read, or says something that is not understood, with the line.
    """
    path = task_dir / "task.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TidyError(f"{path} cannot be read: {error}") from error
    return _timed(parse(text))


def parse(text: str) -> Settings:
    """What a task.md's text says.

    Raises:
        TidyError: a line of `## Tidy` is not understood.
    """
    settings, section = Settings(), ""
    criteria: list[str] = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            section = line[3:].strip().lower()
        elif section == "success criteria" and not fenced and (bullet := BULLET.fullmatch(line.rstrip())):
            criteria.append(bullet[1].strip())
        elif (
            section == "success criteria" and not fenced and criteria and line[:1].isspace() and line.strip()
        ):
            criteria[-1] += f" {line.strip()}"
        elif section == "tidy" and not fenced and line.lstrip().startswith(("-", "*")):
            settings = _set(settings, line.strip(), number)
    return replace(settings, criteria=tuple(criteria))


def _set(settings: Settings, line: str, number: int) -> Settings:
    wrong = TidyError(f"task.md:{number}: {line!r} is no setting of this template; they are {FORM}.")
    said = SETTING.fullmatch(line)
    if said is None:
        raise wrong
    words = tuple(word.strip().strip("`").rstrip("/") for word in said[2].split(",") if word.strip())
    match said[1]:
        case "only" if all(_is_inside(word) for word in words):
            return replace(settings, only=words)
        case "rules" | "leave" as name if all(RULE.fullmatch(word) for word in words):
            return replace(settings, rules=words) if name == "rules" else replace(settings, leave=words)
        case "subtasks" if _is_number(words):
            return replace(settings, subtasks=int(words[0]))
        case "test-seconds" if _is_number(words):
            return replace(settings, test_seconds=int(words[0]))
        case _:
            raise wrong


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


def _is_number(words: tuple[str, ...]) -> bool:
    return len(words) == 1 and re.fullmatch(r"[1-9][0-9]{0,5}", words[0]) is not None


def _timed(settings: Settings) -> Settings:
    """The bound of a test run, which the environment may set too."""
    said = os.environ.get(TEST_SECONDS_NAME, "")
    if not said:
        return settings
    if not _is_number((said,)):
        raise TidyError(f"{TEST_SECONDS_NAME} should be a number of seconds and is {said!r}.")
    return replace(settings, test_seconds=int(said))
