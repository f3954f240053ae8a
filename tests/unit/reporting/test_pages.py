"""The page in HTML and in Markdown: whatever agents wrote stays text."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import Environment
from markdown_it import MarkdownIt

from orchestrator.formats.text import names
from orchestrator.reporting.build import report_of
from orchestrator.reporting.compiled_template import CompiledTemplate
from orchestrator.reporting.html import code, page
from orchestrator.reporting.markdown import page as markdown
from orchestrator.reporting.task_report import CommitSeen
from tests.unit.reporting.journal import Lines

INJECTIONS = json.loads(Path(__file__).with_name("injections.json").read_text())
"""What may stand in titles, logs, file names and diffs."""

TAGS = names(
    "html head meta title style body main article h1 h2 h3 p span strong br time dl dt dd ul ol li details summary pre "
    "code div table thead tbody tr th td svg rect a"
)
VOID = {"meta", "br"}


class Seen(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, void):
        super().__init__(convert_charrefs=True)
        self.void = void
        self.tags, self.attributes, self.text, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links = getattr(self, "links", []) + [value for name, value in attrs if name in {"href", "src"}]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def hostile(text):
    lines = Lines()
    lines.begin()
    lines.open("r-1", step=text, instance=text)
    lines.say("time_passed", {"kind": "step_fed", "step": text, "feedback": [text]})
    lines.say("time_passed", {"kind": "step_reopened", "step": text, "attempt": 2, "why": text})
    lines.open("r-2", step=text, attempt=2, purpose="check")
    lines.end("r-2", 1, (text,))
    lines.say("time_passed", {"kind": "step_limited", "step": text, "limit": {"words": text}})
    lines.say("time_passed", {"kind": "question_asked", "question": {"id": text, "text": text, "step": text}})
    lines.say(
        "answered", {"kind": "question_answered", "question": text, "text": text, "by": text}, question=text
    )
    lines.say(
        "time_passed", {"kind": "step_troubled", "step": text, "cause": {"what": text, "lines": [text]}}
    )
    lines.say("report_landed", report={"run": "r-1", "artifacts": [text]}, name=text)
    lines.say("box_lost", box=text, why=text)
    outcome = dict.fromkeys(("asked", "outcome", "work", "not_done", "cost", "next"), text)
    view = {
        "task": text,
        "id": text,
        "project": text,
        "state": "waiting",
        "why": text,
        "outcome": outcome,
        "steps": [{"id": text, "agent": text, "title": text, "status": "failed", "why": text}],
        "criteria": [{"text": text, "met": True, "evidence": [text], "details": [text], "reason": text}],
        "questions": [{"id": text, "text": text, "options": [text]}],
        "usage": {"unpriced": [text]},
        "used_by": [
            {
                "agent": text,
                "runs": 1,
                "time": 1.0,
                "input": 1,
                "cached": 0,
                "output": 1,
                "cost": None,
                "estimate": None,
            }
        ],
    }
    commit = CommitSeen(text, 0.0, text, text, text, cut=True)
    return report_of(view, lines.history(), made_at=lines[-1]["at"], commits=[commit], gaps=[text])


def seen(html, more_void=frozenset()):
    made = Seen(VOID | more_void)
    made.feed(html)
    made.close()
    return made


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_stays_text_in_html(text):
    made = seen(page([hostile(text)], text))
    assert made.tags <= TAGS
    assert not [
        each for each in made.attributes if each.startswith("on") or each in {"src", "srcset", "srcdoc"}
    ]
    assert all(link.startswith(("#line-", "#task-")) for link in made.links)
    assert made.open == []
    assert " ".join(text.split())[:200] in " ".join("".join(made.text).split())


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_makes_no_markup_in_markdown(text):
    usual = kinds(markdown([hostile("word")], "x"))
    made = kinds(markdown([hostile(text)], "x"))
    assert made.count("heading_open") == usual.count("heading_open")
    assert not {"html_inline", "html_block", "link_open", "image", "blockquote_open", "fence"} & set(made)


def kinds(text):
    """Return what a Markdown reader makes of a text, in order."""
    tokens = MarkdownIt().parse(text)
    return [each.type for token in tokens for each in (token, *(token.children or ()))]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`task diff t1` shows it", "<code>task diff t1</code> shows it"),
        ("a ` alone", "a ` alone"),
        ("`a` and ` alone", "<code>a</code> and ` alone"),
        ("`<b>`&`", "<code>&lt;b&gt;</code>&amp;`"),
        (None, ""),
    ],
)
def test_commands_are_code_and_the_rest_is_text(text, shown):
    assert code(text) == shown


def test_a_step_that_took_more_than_one_attempt_is_open():
    """What was rejected, and why, is read without a click; what went well is folded."""
    lines = Lines()
    lines.begin()
    for step, attempt in (("dev:one", 1), ("dev:one", 2), ("dev:two", 1)):
        lines.open(f"r-{step}-{attempt}", step=step, attempt=attempt)
    steps = [
        {"id": each, "agent": "dev", "title": each, "status": "passed", "why": ""}
        for each in ("dev:one", "dev:two")
    ]
    html = page(
        [report_of({"task": "t", "state": "running", "steps": steps}, lines.history(), made_at=9e9)], "t"
    )
    assert "<details open><summary><strong>dev:one</strong>" in html
    assert "<details><summary><strong>dev:two</strong>" in html


def test_the_page_loads_and_runs_nothing():
    html = page([hostile("x")], "x")
    assert "default-src 'none'" in html
    assert not {"script", "link", "img", "iframe"} & seen(html).tags


def test_references_lead_to_a_line_of_the_page():
    html = page([hostile("x"), hostile("y")], "All tasks")
    made = seen(html)
    targets = {link[1:] for link in made.links}
    assert targets
    assert all(f'id="{each}"' in html for each in targets)


def test_a_page_of_a_long_night_is_small():
    """A hundred steps with three attempts each."""
    lines, steps = Lines(), []
    lines.begin()
    for number in range(100):
        name = f"dev:part-{number}"
        steps.append({"id": name, "agent": "dev", "title": "Do it " * 10, "status": "passed", "why": ""})
        for attempt in (1, 2, 3):
            lines.open(f"r-{number}-{attempt}", step=name, attempt=attempt)
            lines.end(f"r-{number}-{attempt}", 1, ("FAILED",) * 40)
            lines.say(
                "time_passed",
                {"kind": "step_reopened", "step": name, "attempt": attempt + 1, "why": "rejected"},
            )
    commits = [CommitSeen("c" * 40, 0.0, "Do it", "1 file", "+ line\n" * 200, cut=False) for _ in range(100)]
    made = report_of(
        {"task": "t", "state": "running", "steps": steps}, lines.history(), made_at=9e9, commits=commits
    )
    assert len(page([made], "t")) < 500_000


def test_an_empty_task_has_a_page():
    made = report_of({"task": "t", "state": "running"}, Lines().history(), made_at=0.0)
    assert seen(page([made], "t")).open == []
    assert "no plan" in markdown([made], "t")


def broken(path, data, mode=0o600):
    path.write_bytes(data)
    path.chmod(mode)


def test_the_template_is_compiled_once(tmp_path, monkeypatch):
    """To compile it took a third of the time of each report."""
    path, made = tmp_path / "template.bin", hostile("x")
    first = page([made], "t", CompiledTemplate(path))
    monkeypatch.setattr(Environment, "compile", None)
    assert page([made], "t", CompiledTemplate(path)) == first
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoil", ["cut", "of another version", "garbage", "open to others", "a folder"])
def test_a_kept_template_that_is_not_ours_is_made_anew(tmp_path, spoil):
    path, made = tmp_path / "template.bin", hostile("x")
    first = page([made], "t", CompiledTemplate(path))
    data = path.read_bytes()
    path.unlink()
    match spoil:
        case "cut":
            broken(path, data[: len(data) // 2])
        case "of another version":
            broken(path, data.replace(b"jinja2", b"jinja3"))
        case "garbage":
            broken(path, data[:20] + b"garbage" * 10)
        case "open to others":
            broken(path, data, 0o666)
        case _:
            path.mkdir()
    assert page([made], "t", CompiledTemplate(path)) == first
    if spoil != "a folder":
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.read_bytes() == data
