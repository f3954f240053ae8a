"""The pages that people read: what they tell the reader to type or to write is understood by what is there."""

import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.cli.parser import VerbParser
from orchestrator.formats.durations import read_duration
from orchestrator.formats.settings import load_settings
from orchestrator.formats.task_file import read_brief
from orchestrator.model.settings import Settings

CHECKOUT = Path(__file__).parents[2]
CODE = CHECKOUT / "orchestrator"
WRITTEN = [
    CHECKOUT / name
    for name in ("README.md", "ARCHITECTURE.md", "SECURITY.md", "docs/glossary.md", "deploy/README.md")
]
WRITTEN += [
    page
    for folder in ("tutorials", "how-to", "explanation")
    for page in sorted((CHECKOUT / "docs" / folder).glob("*.md"))
]
TEXTS = {str(page.relative_to(CHECKOUT)): page.read_text(encoding="utf-8") for page in WRITTEN}
README = TEXTS["README.md"]

KILOBYTE = 1000
LARGEST = {"README.md": 9 * KILOBYTE, "ARCHITECTURE.md": 14 * KILOBYTE}
INSTALLERS = {"pipx install .", "uv tool install .", "python3 -m pip install ."}
OF_CODE = re.compile(r"`([a-z_]+/[\w./-]+\.(?:py|sh|toml|js|conf))`")
OF_CHECKOUT = re.compile(r"`((?:deploy|scripts|tests)/[\w./-]+)`")


def blocks(text, *languages):
    """Return what stands in the fenced blocks of these languages."""
    found = re.findall(r"^( *)```(\w+)\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    return [body for _indent, language, body in found if language in languages]


def typed(text):
    """Return the lines that a reader types into a shell."""
    lines = [line for body in blocks(text, "sh") for line in body.splitlines()]
    lines += [
        line[2:] for body in blocks(text, "console") for line in body.splitlines() if line.startswith("$ ")
    ]
    return lines


def commands(text):
    """Return each `task` command of a page: of its shell blocks, and those that stand in a line of prose."""
    found = [line for line in typed(text) if re.match(r"(scripts/)?task [a-z]", line)]
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    found += [each for each in re.findall(r"`(task [a-z][^`\n]*)`", prose) if "…" not in each]
    return [shlex.join(shlex.split(line.partition("|")[0], comments=True)) for line in found]


def understood(words):
    """Read the arguments of a verb as `task` does: an error ends the process."""
    module = import_module(f"orchestrator.cli.{words[0].replace('-', '_')}")
    parser = VerbParser(words[0], VERBS[words[0]], module.EXAMPLE)
    module.arguments(parser)
    parser.read(words[1:])


@pytest.mark.parametrize("page", TEXTS)
def test_no_page_is_too_long_to_read(page):
    assert len(TEXTS[page].encode()) <= LARGEST.get(page, 12 * KILOBYTE)


def test_the_readme_installs_it_by_pipx_uv_and_pip():
    assert {" ".join(shlex.split(line, comments=True)) for line in typed(README)[:3]} == INSTALLERS


def test_the_readme_shows_two_pictures_that_are_there():
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert len(pictures) == 2
    assert [picture for picture in pictures if not (CHECKOUT / picture).is_file()] == []


@pytest.mark.parametrize("page", TEXTS)
def test_a_script_that_a_page_runs_is_there(page):
    """No reader of a fresh clone ends in `command not found`."""
    scripts = [
        shlex.split(line, comments=True)[0] for line in typed(TEXTS[page]) if line.startswith("scripts/")
    ]
    assert [script for script in scripts if not os.access(CHECKOUT / script, os.X_OK)] == []


@pytest.mark.parametrize("line", sorted({line for text in TEXTS.values() for line in commands(text)}))
def test_a_command_of_a_page_is_understood(line):
    """A verb alone, as prose names it, need only be one; in a shell block it is a whole command like any other."""
    words = shlex.split(line)[1:]
    assert words[0] in VERBS
    if len(words) > 1:
        understood(words)


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if blocks(text, "toml")])
def test_settings_of_a_page_are_read(tmp_path, page):
    file = tmp_path / "config.toml"
    for settings in blocks(TEXTS[page], "toml"):
        file.write_text(settings, encoding="utf-8")
        file.chmod(0o600)
        assert isinstance(load_settings(file, {}), Settings)


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if blocks(text, "markdown")])
def test_task_files_of_a_page_are_read(page):
    """They are whole, or lines of the section Agent Config. Handoffs and definitions of agents are read elsewhere."""
    for lines in blocks(TEXTS[page], "markdown"):
        if not lines.startswith(("# Handoff", "---")):
            assert read_brief((lines if lines.startswith("# Task") else configured(lines)).encode()).goal


def configured(lines):
    """Return a whole task.md with these lines in its Agent Config."""
    lines = lines.removeprefix("## Agent Config\n")
    return f"# Task: One\n\n## Goal\nOne.\n\n## Success Criteria\n- One\n\n## Agent Config\n{lines}"


@pytest.mark.parametrize(
    "page", [page for page in TEXTS if page.startswith(("ARCHITECTURE", "docs/explanation/"))]
)
def test_each_file_of_the_code_that_a_page_names_is_there(page):
    named = [*OF_CODE.findall(TEXTS[page]), *OF_CHECKOUT.findall(TEXTS[page])]
    assert [name for name in named if not any((folder / name).exists() for folder in (CODE, CHECKOUT))] == []


def test_the_map_names_packages_and_files_that_are_there():
    rows = re.findall(r"^\| `([a-z]+/)` \|.*\| ([^|\n]+) \|$", TEXTS["ARCHITECTURE.md"], re.MULTILINE)
    named = [CODE / package / name for package, names in rows for name in re.findall(r"`([^`]+)`", names)]
    assert {package.rstrip("/") for package, _names in rows} == {
        path.parent.name for path in CODE.glob("*/__init__.py")
    }
    assert [path for path in named if not path.exists()] == []


@pytest.mark.parametrize("page", TEXTS)
def test_each_setting_that_a_page_names_is_one(tmp_path, page):
    settings = load_settings(tmp_path / "config.toml", {})
    named = re.findall(r"`\[(\w+)\] (\w+)`", TEXTS[page])
    named += [("limits", key) for key in re.findall(r"`limits\.(?!py`)(\w+)`", TEXTS[page])]
    assert [name for name in named if not hasattr(getattr(settings, name[0]), name[1])] == []


def test_each_limit_of_the_how_to_has_its_default(tmp_path):
    limits = load_settings(tmp_path / "config.toml", {}).limits
    rows = re.findall(r"^\| `(\w+)` \| ([^|\n]+) \|", TEXTS["docs/how-to/limits.md"], re.MULTILINE)
    shown = {key: value.strip() for key, value in rows if hasattr(limits, key)}
    assert len(shown) > 5
    counts = {key: value for key, value in shown.items() if isinstance(getattr(limits, key), int)}
    assert {key: str(getattr(limits, key)) for key in counts} == counts
    unlimited = {key for key in shown if getattr(limits, key) is None}
    assert {shown[key] for key in unlimited} <= {"none"}
    spans = {key: value for key, value in shown.items() if key not in counts and key not in unlimited}
    assert {key: getattr(limits, key) for key in spans} == {
        key: None if value == "none" else read_duration(value) for key, value in spans.items()
    }


def test_each_bound_of_the_table_of_signals_is_a_limit(tmp_path):
    limits = load_settings(tmp_path / "config.toml", {}).limits
    bounds = re.findall(r"^\| .* \| ([^|\n]+) \|$", TEXTS["docs/explanation/signals.md"], re.MULTILINE)
    named = {key for cell in bounds for key in re.findall(r"`(\w+)`", cell)} - {"unanswered"}
    assert len(named) > len(bounds) / 2
    assert [key for key in sorted(named) if not hasattr(limits, key)] == []
