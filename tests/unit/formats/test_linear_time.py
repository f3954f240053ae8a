"""Any junk is done with at once: a search that starts again at every place would take minutes.

CI takes a quarter of a megabyte, and the night a whole one: as much as a handoff may have.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.formats.agent_file import read_agent, read_kiro_agent
from orchestrator.formats.handoff import neutral, read_order, read_report
from orchestrator.formats.handoff_parts import written
from orchestrator.formats.redact import redacted, redacted_lines
from orchestrator.formats.skill_file import read_skill
from orchestrator.formats.task_file import read_brief
from tests.unit.formats.texts import attempted

MEGABYTE = 1_048_000
ENOUGH = 5.0
"""Seconds of processor time for a megabyte. On a quiet machine the slowest takes 1.5, and 0.6 for a quarter."""

SIZES = [
    pytest.param(
        MEGABYTE, marks=pytest.mark.thorough(reason="a quarter shows a square as well"), id="megabyte"
    ),
    pytest.param(MEGABYTE // 4, id="quarter"),
]
"""A search whose time grows by the square takes minutes for a megabyte, and so a sixteenth of that for a quarter: more
than the 2.5 s that it is allowed.
"""

REPORT = "# Handoff: dev\n**Status:** COMPLETE\n"
JUNK = {
    "": ["#", "\\", "`", "[", "é", "~~~ a\n", "<!--\n", "<!-- ", "**Status:** x\n", " \t", "=" * 70 + "\n"],
    "# X\n## Goal\n": ["<!-- ", "a\n", "## Goal\n"],
    "# X\n## Goal\ng\n## Success Criteria\n": ["- a", "- [ ] a\n", "  ", "1. "],
    "# X\n## Agent Config\n": ["a.cwd: /x\n", "cdw: ", "dev.command: '", "cwd: a@"],
    f"{REPORT}## Subtasks\n": ["- [a] b (agent:", "(agent: dev; needs: ", "- [a] b (agent: dev)\n", "  a\n"],
    f"{REPORT}## Success Criteria\n": ["- [x] (evidence: `a`, ", "- [ ] a (reason: ("],
    f"{REPORT}## Artifacts Generated\n": ["- a (", "- `a/b`\n", "  - `"],
    "---\nname: x\n": ["a: '", "- x\n", "tools: [", 'a: "\\'],
    "---\ndescription:\n": ["  a\n", "\n", "description: x\n", "  "],
    "{": ['"a":{', '"a":1,', '"', "[[", "1"],
    "-": [
        "-----BEGIN PRIVATE KEY-----",
        "eyJaaaaaaaaaa.",
        'password="',
        "password: a",
        "://a:",
        "sk-a",
        "bearer ",
        "a",
        "-",
        "a.",
        "8Q~a",
        "1:AA",
        "authorization: a ",
        "cookie: a",
        "cookie:a=",
        "machine a login b ",
        "login a\npassword ",
        "-u a",
        "--a-token ",
        "hooks.slack.com/services/",
        "?sig=",
        "pwd=a",
        "eyJ",
        "SG.aaaaaaaaaaaaaaaa.",
        "-----END ",
        "-----BEGIN RSA",
        "://:",
    ],
}
READERS: dict[str, list[Callable[[bytes], Any]]] = {
    "# X": [read_brief],
    "# H": [lambda data: read_report(data, "r")],
    "---": [
        lambda data: read_agent(data, "a", trusted=True),
        lambda data: read_skill(data, "s", "s"),
    ],
    "{": [lambda data: read_kiro_agent(data, "a", trusted=True)],
    "-": [lambda data: redacted(data.decode()), lambda data: "".join(redacted_lines([data.decode()]))],
}
EVERY: list[Callable[[bytes], Any]] = [
    read_brief,
    lambda data: read_report(data, "r"),
    lambda data: read_order(data, "o"),
    lambda data: written(data.decode()),
    lambda data: neutral(data.decode()),
]


def readers_of(head: str) -> list[Callable[[bytes], Any]]:
    return next((found for start, found in READERS.items() if start and head.startswith(start)), EVERY)


@pytest.mark.parametrize(("head", "junk"), [(head, junk) for head, each in JUNK.items() for junk in each])
@pytest.mark.parametrize("size", SIZES)
def test_a_megabyte_of_junk_is_done_with_at_once(head, junk, size):
    data = (head + junk * (size // len(junk.encode()))).encode()
    for read in readers_of(head):
        begun = time.process_time()
        _, reported = attempted(read, data)
        assert time.process_time() - begun < ENOUGH * (size / MEGABYTE) ** 0.5
        assert len(reported) <= 101
