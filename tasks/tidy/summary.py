"""The end of it, for a person: what changed, what did not and why, and what to do with the branch."""

from __future__ import annotations

from findings import by_code
from order import Order
from result import Ended, Result
from wording import count, plain

COMMITS_SHOWN = 60


def in_short(result: Result) -> str:
    """Two sentences."""
    before, after = result.before.total(), result.after.total()
    if not result.subtasks:
        found = f"{count(after, 'finding')}, none of which it can mend" if after else "nothing"
        return f"There was nothing to do: ruff finds {found}. {result.tests.summary()}"
    done = sum(ended.approved for ended in result.subtasks)
    findings = f"Ruff's findings: {before} before, {after} now; {done} of {count(len(result.subtasks), 'subtask')} done"
    aside = len(result.subtasks) - done
    return f"{findings}{f', {aside} set aside' if aside else ''}. {result.tests.summary()}"


def describe(result: Result, order: Order) -> str:
    """The summary's text."""
    parts = ["# Summary", in_short(result), "## Findings", _findings(result), "## Tests", _tests(result)]
    parts += ["## Subtasks", "\n".join(map(_ended, result.subtasks)) or "None were needed."]
    parts += ["## Left for a person", _left(result)]
    if result.commits:
        parts += ["## How to look at it, and how to take it", _commands(result, order)]
    return "\n\n".join(parts) + "\n"


def _findings(result: Result) -> str:
    before, after = by_code(result.before), by_code(result.after)
    if not before and not after:
        return "None, before and after."
    codes = sorted(before | after, key=lambda code: (after[code] - before[code], code))
    rows = [f"| {code} | {before[code]} | {after[code]} |" for code in codes]
    total = f"| **all** | **{before.total()}** | **{after.total()}** |"
    return "\n".join(["| rule | before | after |", "| --- | ---: | ---: |", *rows, total])


def _tests(result: Result) -> str:
    tests = f"Before the first change: {result.baseline.summary()}\n\nNow: {result.tests.summary()}"
    failing = [f"- {plain(test)}" for test in result.tests.newly_failing]
    return "\n".join([tests, *(["", "Newly failing:", *failing] if failing else [])])


def _ended(ended: Ended) -> str:
    about = f"`{ended.subtask.id}`: {ended.subtask.title}"
    if not ended.approved:
        return f"- **set aside** after {count(ended.attempts, 'attempt')}: {about}. {plain(ended.why)}"
    how = f"done in {count(ended.attempts, 'attempt')}" if ended.changed else "nothing was left to do"
    return f"- {how}: {about}"


def _left(result: Result) -> str:
    now, rows = by_code(result.after), []
    for left in result.left:
        if number := min(left.findings, now[left.code]):
            rows.append(f"| {left.code} | {plain(left.name)} | {number} | {left.why} |")
            now[left.code] -= number
    planned = {code for ended in result.subtasks for code in ended.subtask.rules}
    rows += [
        f"| {code} | | {now[code]} | tried and given up: see its subtask |"
        for code in sorted(planned)
        if now[code]
    ]
    return (
        "\n".join(["| rule | name | findings | why |", "| --- | --- | ---: | --- |", *rows])
        if rows
        else "Nothing."
    )


def _commands(result: Result, order: Order) -> str:
    commits = [f"    {plain(line)}" for line in result.commits[:COMMITS_SHOWN]]
    return "\n".join(
        [
            f"The branch `{order.branch}` has {count(len(result.commits), 'commit')}, one for each subtask:",
            "",
            *commits,
            "",
            "Look at it, take it, or throw it away:",
            "",
            f"    git diff {result.base[:12]} {order.branch}",
            f"    git merge {order.branch}",
            f"    git branch -D {order.branch}",
            "",
            "To take all but one commit: `git merge` first, then `git revert` that one.",
        ]
    )
