"""The lists of a report: artifacts, subtasks, and the marks of success criteria (H6, H4, H10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from orchestrator.formats.handoff_parts import says_nothing
from orchestrator.formats.lines import Line
from orchestrator.formats.lists import Item, bulleted, items
from orchestrator.formats.sections import Section
from orchestrator.formats.text import neutral, one_line
from orchestrator.model.errors import BadName, Fault
from orchestrator.model.handoff import CriterionMark, Subtask
from orchestrator.model.names import checked_name

ARTIFACTS: Final = 2000
SUBTASKS: Final = 5000
MARKS: Final = 2000
LONGEST_ITEM: Final = 8192
LONGEST_PATH: Final = 4096
SUBTASK_FORM: Final = "`- [id] text (agent: dev; needs: other-id; files: path, folder/**)`"
SUBTASK_FILES: Final = 200
MARK_FORM: Final = "`- [x] criterion (evidence: path)` or `- [ ] criterion (reason: why not)`"

_SIMPLE_PATH: Final = re.compile(r"[A-Za-z0-9_./@+~=][A-Za-z0-9_./@+~=-]*")
_SPANS: Final = re.compile(r"`([^`]*)`|([^,`]+)")
_BRACKETED: Final = re.compile(r"\[([^\[\]]*)\][ \t]*(.*)")
_DONE: Final = re.compile(r"(?:[-*+] )?(?:\*\*)?done(?: when)?(?:\*\*)?:(?:\*\*)?(.*)", re.IGNORECASE)
_REASON: Final = re.compile(r"(?:[-*+] )?(?:\*\*)?reason(?:\*\*)?:(?:\*\*)?(.*)", re.IGNORECASE)
_PLAN_KEYS: Final = re.compile(r"(?:^|;)\s{0,9}(agent|needs|files|done when|done)\s{0,9}:", re.IGNORECASE)
_PLAN_GROUP: Final = re.compile(r"\((?=\s{0,9}(?:agent|needs|files|done when|done)\s{0,9}:)", re.IGNORECASE)
_MARK_KEYS: Final = re.compile(r"(?:^|;)\s{0,9}(evidence|reason)\s{0,9}:", re.IGNORECASE)
_MARK_GROUP: Final = re.compile(r"\((?=\s{0,9}(?:evidence|reason)\s{0,9}:)", re.IGNORECASE)


def read_artifacts(lines: Iterable[Line], faults: list[Fault]) -> list[str]:
    """Return the paths under `## Artifacts Generated`, as written; adds what is wrong to `faults`."""
    paths = list[tuple[int, str]]()
    for item in items(lines):
        none = "`" not in item.text and says_nothing(_bare_remark(item.text))
        paths.append((item.line, "" if none else _path(item.text)))
        for line in item.more:
            nested = bulleted(line.text)
            if nested and (nested[0] in "`[" or ("/" in nested and " " not in nested)):
                paths.append((line.number, _path(nested)))
    paths = [(line, path) for line, path in paths if path]
    for number, path in paths:
        if neutral(path) != path:
            faults.append(Fault(number, "the path holds a control character"))
        if len(path) > LONGEST_PATH:
            faults.append(Fault(number, f"the path is longer than {LONGEST_PATH} characters"))
    if len(paths) > ARTIFACTS:
        faults.append(Fault(paths[ARTIFACTS][0], f"more than {ARTIFACTS} artifacts: name their folder"))
    return [path for _, path in paths]


def render_artifacts(paths: Sequence[str]) -> str:
    """Return a list that `read_artifacts` reads back, or `None`."""
    return "\n".join(f"- {_code(path)}" for path in paths) or "None"


def read_subtasks(section: Section, faults: list[Fault]) -> tuple[Subtask, ...]:
    """Return the subtasks of a plan; adds what is wrong to `faults`. Does not look for cycles."""
    found, seen = list[Subtask](), dict[str, int]()
    listed = _listed(section, SUBTASK_FORM, faults)
    for item in listed[:SUBTASKS]:
        subtask = _subtask(item, faults)
        if not subtask:
            continue
        if subtask.id in seen:
            twice = f"the id {subtask.id!r} is in line {seen[subtask.id]} already"
            faults.append(Fault(item.line, f"{twice}: give each subtask its own"))
        seen.setdefault(subtask.id, item.line)
        found.append(subtask)
    if len(listed) > SUBTASKS:
        faults.append(Fault(listed[SUBTASKS].line, f"more than {SUBTASKS} subtasks"))
    return tuple(found)


def render_subtasks(subtasks: Sequence[Subtask]) -> str:
    """Return a list that `read_subtasks` reads back, or `None`."""
    lines = list[str]()
    for each in subtasks:
        needs = f"; needs: {', '.join(each.needs)}" if each.needs else ""
        files = f"; files: {', '.join(map(_code, each.files))}" if each.files else ""
        lines.append(f"- [{each.id}] {one_line(each.text)} (agent: {each.agent}{needs}{files})")
        if each.done_when:
            lines.append(f"  Done when: {one_line(each.done_when)}")
    return "\n".join(lines) or "None"


def read_marks(section: Section, faults: list[Fault]) -> tuple[CriterionMark, ...]:
    """Return a report's marks of the success criteria; adds what is wrong to `faults`."""
    listed = _listed(section, MARK_FORM, faults)
    if len(listed) > MARKS:
        faults.append(Fault(listed[MARKS].line, f"more than {MARKS} criteria"))
    marks = [_mark(item, faults) for item in listed[:MARKS]]
    return tuple(mark for mark in marks if mark)


def render_marks(marks: Sequence[CriterionMark]) -> str:
    """Return a list that `read_marks` reads back, or `None`."""
    lines = list[str]()
    for mark in marks:
        box, reason = "x" if mark.met else " ", one_line(mark.reason)
        below = "(" in reason or ";" in reason  # it would be read as a group of its own
        parts = list[str]()
        if mark.evidence or mark.met:
            parts.append(f"evidence: {', '.join(map(_code, mark.evidence)) or 'none'}")
        if reason or not mark.met:
            parts.append(f"reason: {'none' if below else reason or 'none'}")
        lines.append(f"- [{box}] {one_line(mark.text)} ({'; '.join(parts)})")
        lines += [f"  Reason: {reason}"] if below else []
    return "\n".join(lines) or "None"


def _listed(section: Section, form: str, faults: list[Fault]) -> list[Item]:
    """Return a section's items; an empty list is allowed only if the section says so."""
    found = items(section.lines)
    if len(found) == 1 and says_nothing(found[0].text):
        return []
    text = "\n".join(line.text for line in section.lines)
    if not found and not (text.strip() and says_nothing(text)):
        faults.append(Fault(section.line, f"lists nothing: write {form}, or `None`"))
    faults += [
        Fault(item.line, f"is longer than {LONGEST_ITEM} characters")
        for item in found
        if len(item.text) + sum(len(line.text) for line in item.more) > LONGEST_ITEM
    ]
    return found


def _subtask(item: Item, faults: list[Fault]) -> Subtask | None:
    text, done = _with_more(item, _DONE)
    found = _BRACKETED.fullmatch(text)
    if not found:
        faults.append(Fault(item.line, f"is not a subtask: write {SUBTASK_FORM}"))
        return None
    text, given, problem = _grouped(found[2], _PLAN_GROUP, _PLAN_KEYS)
    done = done or given.get("done when", "") or given.get("done", "")
    agent, needs = _unquoted(given.get("agent", "dev")), _names(given.get("needs", ""))
    problems = [problem] if problem else []
    problems += [] if text else [f"has no text: write {SUBTASK_FORM}"]
    problems += ["the id cannot be `none`"] if found[1].strip() == "none" else []
    for name, what in ((found[1].strip(), "id"), (agent, "agent"), *((need, "id") for need in needs)):
        try:
            checked_name(name, what)
        except BadName as refusal:
            problems.append(str(refusal))
    files = _paths(given.get("files", ""))
    problems += [fault for each in files if (fault := _unfit_claim(each))]
    if len(files) > SUBTASK_FILES:
        problems.append(f"names more than {SUBTASK_FILES} files: name their folder, as `folder/**`")
    faults += [Fault(item.line, each) for each in problems]
    return None if problems else Subtask(found[1].strip(), text, agent, tuple(needs), done, tuple(files))


def _unfit_claim(path: str) -> str:
    """Return why something cannot be a file that a subtask will change; empty if it can."""
    if neutral(path) != path or len(path) > LONGEST_PATH:
        return (
            f"has a path under `files:` that is too long or holds control characters: {neutral(path)[:60]!a}"
        )
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        return f"has {path[:60]!a} under `files:`, which is not a path inside the project"
    return ""


def _mark(item: Item, faults: list[Fault]) -> CriterionMark | None:
    text, reason = _with_more(item, _REASON)
    found = _BRACKETED.fullmatch(text)
    box = found[1].strip().casefold() if found else "?"
    if not found or box not in {"", "x"}:
        faults.append(Fault(item.line, f"is not a mark of a criterion: write {MARK_FORM}"))
        return None
    text, given, problem = _grouped(found[2], _MARK_GROUP, _MARK_KEYS)
    reason = reason or given.get("reason", "")
    evidence = tuple(_paths(given.get("evidence", "")))
    if problem or not text:
        faults.append(Fault(item.line, problem or f"names no criterion: write {MARK_FORM}"))
        return None
    return CriterionMark(text, box == "x", evidence, "" if says_nothing(reason) else reason)


def _with_more(item: Item, key: re.Pattern[str]) -> tuple[str, str]:
    """Return an item's text and that of a line `key: …` below it, each with the lines that follow."""
    parts: tuple[list[str], list[str]] = ([item.text], [])
    below = False
    for line in item.more:
        found = key.fullmatch(line.text.strip())
        below = below or bool(found)
        parts[below].append(found[1] if found else line.text)
    return one_line(" ".join(parts[0])), one_line(" ".join(parts[1]))


def _grouped(text: str, group: re.Pattern[str], keys: re.Pattern[str]) -> tuple[str, dict[str, str], str]:
    """Split `text (key: value; key: value)` into the text, the values, and what is wrong, if anything."""
    begins = [found.start() for found in group.finditer(text)]
    if not begins:
        return text, {}, ""
    text = text.removesuffix(".")
    if not text.endswith(")"):
        return text, {}, "ends after its `(key: value)`: close the parenthesis at the end"
    inner = text[begins[-1] + 1 : -1]
    found = list(keys.finditer(inner))
    ends = [*(each.start() for each in found[1:]), len(inner)]
    names = [each[1].casefold() for each in found]
    values = [inner[each.end() : end].strip() for each, end in zip(found, ends, strict=True)]
    problem = f"has {', '.join(sorted(names))}: give each only once" if len(set(names)) < len(names) else ""
    return text[: begins[-1]].rstrip(), dict(zip(names, values, strict=True)), problem


def _names(text: str) -> list[str]:
    if text.strip().casefold() in {"", "-", "none", "n/a"}:
        return []
    return [_unquoted(part.strip().removeprefix("[").removesuffix("]")) for part in text.split(",")]


def _unquoted(text: str) -> str:
    return text.strip().strip("`").strip()


def _paths(text: str) -> list[str]:
    """Return paths separated by commas; a path in backticks may hold commas."""
    if says_nothing(text) and "`" not in text:
        return []
    found = (quoted or bare.strip() for quoted, bare in _SPANS.findall(text))
    return [path for path in found if path]


def _code(path: str) -> str:
    """Return a path as a list shows it: bare if nothing in it is ambiguous."""
    return path if _SIMPLE_PATH.fullmatch(path) and not says_nothing(path) else f"`{neutral(path)}`"


def _path(text: str) -> str:
    """Return the path in an item of the list of artifacts, without markup and remarks."""
    text = text.removeprefix("**")
    if text.startswith("`") and "`" in text[1:]:
        return text[1 : text.index("`", 1)]
    if text.startswith("[") and "](" in text:
        return text[text.index("](") + 2 :].partition(")")[0].strip().strip("<>")
    return _bare_remark(text)


def _bare_remark(text: str) -> str:
    """Return a text without its remark: ` - …`, ` – …`, ` — …`, `: …` or ` (…)`."""
    for sign in (" - ", " – ", " — ", ": ", " ("):
        text = text.partition(sign)[0]
    return text.strip().removesuffix("**").removesuffix(":")
