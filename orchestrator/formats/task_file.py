"""task.md: what a user wants done (H3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from orchestrator.formats.agent_config import read_config
from orchestrator.formats.lines import Kind, Line, scan, unclosed, without_comments
from orchestrator.formats.lists import items
from orchestrator.formats.sections import Section, Shape, plain, sections
from orchestrator.formats.text import decoded, one_line, refused
from orchestrator.model.errors import Fault
from orchestrator.model.task import Brief, Config

_TITLES: Final = {"goal": "goal", "success criteria": "criteria", "agent config": "config"}
_WRITTEN: Final = {"goal": "## Goal", "criteria": "## Success Criteria", "config": "## Agent Config"}
_SHAPE: Final = Shape(_TITLES, commented=frozenset({"config"}))
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_TASK: Final = re.compile(r"task[ \t]*:[ \t]*(.*)", re.IGNORECASE)
_BOX: Final = re.compile(r"\[[ xX]?\][ \t]+(.*)")

_BLANK: Final = """\
# Task: {name}

## Goal
<!-- What shall be true when this is done, and why? Two or three sentences are enough.
     Write them below; this comment may stay. -->

## Success Criteria
<!-- How can anyone see that it is done? A list; a command or a look must be able to decide each line.
     The task is complete only when each is met, with evidence. For example:

- All tests pass
- The README shows the new option
-->

## Agent Config
# Where and how the agents work. Each line here begins with `#`, so it is a comment and the default applies;
# remove that `#` to use a line.
#
# cwd: /path/to/repo              # where dev and architect work; by default this project
# cwd: user@host:/path/to/repo    # the same on another machine, over SSH; keep only one `cwd:`
# bring: branch                   # exchange commits with it, to judge and merge them here; else code stays there
# template: tidy                  # agents and commands that ship with the orchestrator
# runtime: claude                 # the agent program that runs all agents
# prepare: npm ci                 # commands that make each worktree ready; `prepare.copy: .env` copies files
# workspace: worktree             # or shared (your own tree), or read_only (nothing is changed)
# architect: yes                  # have the design settled before the work begins
# rejections: set-aside           # after too many rejections: replan (the default), set-aside, or ask
# evidence: independent           # a judge's own word shows no criterion met: the task then ends complete in part
# approve: plan                   # ask me about the plan before anybody works on it
# permissions: allow run docker compose *; deny fetch; otherwise ask   # what agents may do without asking
# limits: 2M tokens; $20; 8 h     # the most it may use, as far as programs report; then the PM asks. Or: none
# unanswered: set-aside after 4 h # what to do about a question that nobody answers: retry, replan, abandon, …
#
# For one agent (dev, or explore, plan, architect, test, review, or one of your own):
#
# dev.model: opus
# dev.runtime: codex
# dev.cwd: user@host:/path        # only this agent works there
# dev.command: python3 my_agent.py --fast    # any program can be an agent
# test.check: python3 -m pytest -q           # the verdict is the exit status of this command
"""


def blank_task(name: str, family: str = "") -> str:
    """Return the task.md of a new task: its comments explain how to fill it in; it reads as `unfilled`.

    `family` is the plan family that it asks for; empty for the usual one.
    """
    return _BLANK.format(name=one_line(name)) + (f"\nfamily: {one_line(family)}\n" if family else "")


def read_brief(data: bytes, name: str = "task.md") -> Brief:
    """Return what a task.md asks for.

    Args:
        data: The file's bytes.
        name: The file as the user knows it, for messages.

    Raises:
        BadFile: with every fault and its line: no title, no goal, no criteria (these two are not required while
            the goal is still the blank template's), anything wrong under Agent Config, not UTF-8, too large.

    """
    lines = scan(decoded(data, name).split("\n"))
    found = sections(_underlined(_uncommented(lines)), _SHAPE)
    faults = _repeated(found)
    title = _title(found)
    goal, unfilled = _goal(found, lines)
    criteria = _criteria(found)
    config, wrong = Config(), list[Fault]()
    for section in found:
        if section.heading.key == "config":
            config, wrong = read_config(section.lines)
            faults += wrong
    if not title:
        faults.append(Fault(1, "has no title: begin with `# Task: what it is about`"))
    if not goal and not unfilled:
        faults.append(_missing("goal", "say what shall be true when it is done", found, lines))
    if not criteria and not unfilled:
        faults.append(_missing("criteria", "list how anyone can see that it is done", found, lines))
    if not any(section.heading.key == "config" for section in found) and (near := _near("config", found)):
        faults.append(Fault(near.line, f"did you mean `{_WRITTEN['config']}`?"))
    if faults:
        raise refused(name, faults)
    return Brief(title, goal, criteria, config, unfilled)


def _uncommented(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without comments; text after the end of a comment stays."""
    kept = list[Line]()
    for line in lines:
        if line.kind is Kind.COMMENT:
            kept.append(Line(line.number, without_comments(line.text.partition("-->")[2])))
        else:
            text = without_comments(line.text) if line.kind is Kind.TEXT else line.text
            kept.append(line._replace(text=text))
    return kept


def _underlined(lines: list[Line]) -> list[Line]:
    """Return the lines with `Title` over `=====` and `Goal` over `----` rewritten as `# Title` and `## Goal`."""
    for place, (line, below) in enumerate(pairwise(lines)):
        if line.kind is not Kind.TEXT or below.kind is not Kind.TEXT or not line.text.strip():
            continue
        if _UNDERLINE.fullmatch(below.text) and (below.text.strip()[0] == "=" or plain(line.text) in _TITLES):
            level = "#" if below.text.strip()[0] == "=" else "##"
            lines[place] = line._replace(text=f"{level} {line.text.strip()}")
            lines[place + 1] = below._replace(text="")
    return lines


def _title(found: Sequence[Section]) -> str:
    for section in found:
        if section.heading.level == 1 and not section.heading.key:
            named = _TASK.fullmatch(section.heading.title)
            return one_line(named[1] if named else section.heading.title)
    return ""


def _goal(found: Sequence[Section], lines: Sequence[Line]) -> tuple[str, bool]:
    """Return the goal, and whether it is still the blank template's."""
    for section in found:
        if section.heading.key == "goal":
            goal = "\n".join(line.text for line in section.lines).strip()
            written = lines[section.line : section.line + len(section.lines)]
            commented = any("<!--" in line.text for line in written)
            return goal, _placeholder(goal) or (not goal and commented)
    return "", False


def _criteria(found: Sequence[Section]) -> tuple[str, ...]:
    criteria = list[str]()
    for section in found:
        for item in items(section.lines) if section.heading.key == "criteria" else ():
            text = one_line(" ".join((item.text, *(line.text for line in item.more))))
            box = _BOX.fullmatch(text)
            text = box[1] if box else text
            if text and not _placeholder(text):
                criteria.append(text)
    return tuple(criteria)


def _placeholder(text: str) -> bool:
    """Return whether a text is all in brackets, like the placeholders of templates."""
    return len(text) > 1 and text[0] == "[" and text.find("]") == len(text) - 1


def _repeated(found: Sequence[Section]) -> list[Fault]:
    faults, first = list[Fault](), dict[str, int]()
    for section in found:
        key = section.heading.key
        if key and key in first:
            twice = f"`{_WRITTEN[key]}` is in line {first[key]} and in line {section.line}"
            faults.append(Fault(section.line, f"{twice}: keep one of them"))
        first.setdefault(key, section.line)
    return faults


def _missing(key: str, what: str, found: Sequence[Section], lines: Sequence[Line]) -> Fault:
    """Return the fault of a missing or empty section, with a hint at the likely cause."""
    for section in found:
        if section.heading.key == key:
            return Fault(section.line, f"`{_WRITTEN[key]}` is empty: {what}")
    near, opened = _near(key, found), unclosed(lines)
    hint = f"; did you mean the heading in line {near.line}?" if near else ""
    hint = hint or (f"; the code block opened in line {opened} is never closed" if opened else "")
    return Fault(0, f"has no `{_WRITTEN[key]}`: {what}{hint}")


def _near(key: str, found: Sequence[Section]) -> Section | None:
    """Return a section whose title resembles the one of `key`."""
    from difflib import get_close_matches

    wanted = next(title for title, each in _TITLES.items() if each == key)
    for section in found[:1000]:
        if not section.heading.key and get_close_matches(plain(section.heading.title), [wanted], 1, 0.75):
            return section
    return None
